"""Columns that a graph database sent of some nodes, as rows that are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Labels, Ragged, Rows, offsets_of
from clew.graph.validate import validate_vectors
from clew.remote.cypher.kept_generation import KeptNeighbours
from clew.remote.cypher.texts import vectors_of_texts
from clew.remote.kept_columns import RowBlock, texts_of
from clew.remote.packed_rows import (
    HEAD,
    NEIGHBOUR,
    Ints,
    code_of_kind,
    codes_of_relations,
    pack_rows,
    stacked,
)
from clew.seed.in_own_words import LinkedWordsPart, count_beside_links
from clew.store.metadata_texts import parse_metadata

Columns = Mapping[str, Any]

NODE = {
    **{
        name: ("number", f"n.{name}")
        for name in ("number", "tokens", "document", "parent", "previous", "span_start", "span_end")
    },
    **{name: ("number", f"n.{name}") for name in ("mentions", "contents", "language")},
    **{name: ("text", f"n.{name}") for name in ("id", "kind", "text", "metadata", "data")},
    "generated": ("number", "CASE WHEN n.generated THEN 1 ELSE 0 END"),
    "links": ("texts", "n.links"),
    "read_from": ("numbers", "n.read_from"),
    "above": ("numbers", "n.above"),
}
"""The columns of nodes: what each is, and its expression."""

FACT = {
    **{name: ("number", f"f.{name}") for name in ("number", "subject", "object")},
    "text": ("text", "f.text"),
    "relation": ("text", "f.relation"),
    "read_from": ("numbers", "f.read_from"),
}
"""Those of facts, without their vectors."""

EDGE = {
    "number": ("number", "r.number"),
    "tail": ("number", "n.number"),
    "head": ("number", "m.number"),
    "bits": ("number", "r.bits"),
    "fact": ("number", "r.fact"),
    "kind": ("text", "r.kind"),
    "read_from": ("numbers", "r.read_from"),
}
"""Those of edges, where the weight is the bits of a float32: texts of it would be rounded."""


def block_of(node: Columns, fact: Columns, edge: Columns, dimension: int) -> RowBlock:
    """Return the rows of nodes: each has the facts and the edges from its node.

    Args:
        node: The columns of `NODE`, in any order.
        fact: Those of `FACT` of all facts whose subjects these nodes are.
        edge: Those of `EDGE` of all edges whose tails these nodes are.
        dimension: The width of vectors.

    Raises:
        ValueError: A vector is not finite.
    """
    numbers = node["number"]
    place_of = {number: place for place, number in enumerate(numbers.tolist())}
    of_facts = _owned([place_of[one] for one in fact["subject"].tolist()], len(numbers))
    of_edges = _owned([place_of[one] for one in edge["tail"].tolist()], len(numbers))
    sections = [
        _numbers(node["read_from"]),
        _numbers(node["above"]),
        *_edges(edge, of_edges),
        *_facts(fact, of_facts),
        _linked_words(node),
        (np.zeros(len(numbers), np.int64), np.zeros((0, 2), "<i4")),  # of strengths nobody says
    ]
    starts, packed = pack_rows(_head(node), sections)
    has_vector = np.array([bool(text) for text in node["data"]], np.bool_)
    vectors = vectors_of_texts(filter(None, node["data"]), dimension)
    validate_vectors("vectors", vectors, numbers[has_vector].tolist())
    parsed = {text: parse_metadata(text) for text in set(node["metadata"])}
    none = np.zeros(len(numbers), np.int64)
    return RowBlock(
        packed,
        np.diff(starts),
        np.zeros((0, NEIGHBOUR), "<i4"),
        none,
        none.astype(np.bool_),
        texts_of(node["id"]),
        texts_of(node["text"]),
        texts_of([parsed[text] for text in node["metadata"]]),
        texts_of(node["links"]),
        texts_of(fact["text"])[of_facts.values],
        texts_of(fact["relation"])[of_facts.values],
        of_facts.lengths,
        vectors,
        has_vector,
    )


def kept_neighbours_of(numbers: Rows, heads: Columns, tails: Columns) -> dict[int, KeptNeighbours]:
    """Return the neighbours of nodes, of each the strongest first.

    Args:
        numbers: int32 [n], the nodes.
        heads: Where edges from them lead: the columns `start`, `number` and `bits`.
        tails: Where edges to them come from, in the same way.
    """
    halves = []
    for half in (heads, tails):
        order = np.argsort(half["start"], kind="stable")
        entries = stacked((half["number"][order], _bits(half["bits"][order])))
        ends = np.searchsorted(half["start"][order], numbers, side="right")
        begins = np.searchsorted(half["start"][order], numbers, side="left")
        halves.append((entries, begins.tolist(), ends.tolist()))
    return {
        number: KeptNeighbours(*(entries[a[i] : b[i]].tobytes() for entries, a, b in halves))
        for i, number in enumerate(numbers.tolist())
    }


def read_neighbours(lists: Sequence[bytes]) -> Ints:
    """Return the entries of several lists of neighbours, one list after the other."""
    return np.frombuffer(b"".join(lists), "<i4").reshape(-1, 2)


def _owned(owners: Sequence[int], n: int) -> Ragged:
    """Return which rows of a column each of `n` nodes has."""
    places = np.array(owners, np.int64)
    order = np.argsort(places, kind="stable").astype(np.int32)
    return Ragged(offsets_of(np.bincount(places, minlength=n)), order)


def _head(node: Columns) -> NDArray[np.int64]:
    kinds = Labels.of(node["kind"])
    codes = np.array([code_of_kind(name) for name in kinds.names], np.int64)
    columns = {**node, "kind": codes[kinds.codes]}
    return np.stack([columns[name] for name in HEAD], axis=1).astype(np.int64)


def _numbers(lists: Ragged) -> tuple[NDArray[np.int64], Ints]:
    return lists.lengths, lists.values.astype("<i4")[:, None]


def _edges(edge: Columns, owned: Ragged) -> list[tuple[NDArray[np.int64], Ints]]:
    some, kinds = owned.values, Labels.of(edge["kind"])
    codes = np.array([code_of_kind(name) for name in kinds.names], np.int64)
    sources = edge["read_from"].take(some)
    columns = (
        *(edge[name][some] for name in ("number", "tail", "head")),
        codes[kinds.codes[some]] if len(some) else np.zeros(0, np.int64),
        _bits(edge["bits"][some]),
        edge["fact"][some],
        sources.lengths,
    )
    return [(owned.lengths, stacked(columns)), _sources(owned, sources)]


def _facts(fact: Columns, owned: Ragged) -> list[tuple[NDArray[np.int64], Ints]]:
    some, relations = owned.values, Labels.of(fact["relation"])
    codes = codes_of_relations(relations.names)
    sources = fact["read_from"].take(some)
    columns = (
        *(fact[name][some] for name in ("number", "subject", "object")),
        sources.lengths,
        *codes[relations.codes[some]].T,
    )
    return [(owned.lengths, stacked(columns)), _sources(owned, sources)]


def _sources(owned: Ragged, lists: Ragged) -> tuple[NDArray[np.int64], Ints]:
    """Return how many numbers the lists of each node have together, and these."""
    return np.diff(lists.starts[owned.starts]), lists.values.astype("<i4")[:, None]


def _linked_words(node: Columns) -> tuple[NDArray[np.int64], Ints]:
    """Return what `LinkedWordsPart` has of the passages with links: it depends on a text alone."""
    enough = LinkedWordsPart().enough
    found = [
        count_beside_links(text, enough=enough) if kind == "passage" else None
        for text, kind in zip(node["text"], node["kind"], strict=True)
    ]
    lengths = np.array([words is not None for words in found], np.int64)
    return lengths, np.array([words for words in found if words is not None], "<i4")[:, None]


def _bits(bits: NDArray[np.int64]) -> Ints:
    return bits.astype(np.uint32).view(np.int32) if len(bits) else bits.astype(np.int32)
