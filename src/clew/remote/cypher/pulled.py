"""Columns that a graph database sent, as a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from clew.graph import Edges, Facts, Graph, Labels, Ragged, Rows, freeze, offsets_of
from clew.remote.cypher.texts import vectors_of_texts
from clew.remote.protocol import PulledNodes
from clew.store.column_kinds import parse_metadata

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
}
"""The columns of nodes: what each is, and its expression."""

FACT = {
    **{name: ("number", f"f.{name}") for name in ("number", "subject", "object")},
    "text": ("text", "f.text"),
    "relation": ("text", "f.relation"),
    "data": ("text", "f.data"),
    "read_from": ("numbers", "f.read_from"),
}
NEAR_FACT = {
    **FACT,
    "data": (
        "text",
        "CASE WHEN f.number IN $vectors[f.number % $n_vectors] THEN f.data ELSE '' END",
    ),
}
"""Those of facts of which only some come with their vectors."""

EDGE = {
    "number": ("number", "r.number"),
    "tail": ("number", "n.number"),
    "head": ("number", "m.number"),
    "bits": ("number", "r.bits"),
    "fact": ("number", "r.fact"),
    "kind": ("text", "r.kind"),
    "read_from": ("numbers", "r.read_from"),
}


def weights_of_bits(bits: Rows) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the weights, float32, that numbers are the bits of: texts of them would be rounded."""
    return np.asarray(bits).astype(np.int32).view(np.float32)


def empty_nodes(
    dimension: int, count: Callable[[str], int], canonical: Callable[[str], str] | None
) -> PulledNodes:
    """Return no nodes."""
    empty = Graph.of([], vectors=np.zeros((0, dimension)), count=count, canonical=canonical)
    none = np.zeros(0, np.int64)
    return PulledNodes(freeze([], np.int32), empty, none, none, none.astype(np.int8))


def graph_of_columns(
    node: Columns,
    fact: Columns,
    edge: Columns,
    dimension: int,
    count: Callable[[str], int],
    canonical: Callable[[str], str] | None,
) -> PulledNodes:
    """Return the graph of what was read, in any order, in which numbers have become rows.

    Args:
        node: The columns of `NODE`, at least one row.
        fact: Those of `FACT`.
        edge: Those of `EDGE`.
        dimension: The width of vectors.
        count: As in `clew.graph.Graph`.
        canonical: As in `clew.graph.Graph`.
    """
    node, fact, edge = (_ordered(one) for one in (node, fact, edge))
    row_of = RowsOfNumbers(node["number"])
    metadata = node["metadata"]
    parsed = {text: parse_metadata(text) for text in set(metadata)}
    graph = Graph(
        ids=tuple(node["id"]),
        kinds=Labels.of(node["kind"]),
        texts=tuple(node["text"]),
        vectors=vectors_of_texts(node["data"], dimension),
        tokens=freeze(node["tokens"], np.int32),
        documents=row_of(node["document"]),
        parents=row_of(node["parent"]),
        previous=row_of(node["previous"]),
        spans=freeze(np.stack([node["span_start"], node["span_end"]], axis=1), np.int32),
        references=tuple(node["links"]),
        read_from=row_of.lists(node["read_from"]),
        generated=freeze(node["generated"], np.bool_),
        metadata=tuple(parsed[text] for text in metadata),
        originals=(None,) * len(metadata),
        facts=Facts(
            tuple(fact["text"]),
            vectors_of_texts(fact["data"], dimension),
            row_of(fact["subject"]),
            row_of(fact["object"]),
            Labels.of(fact["relation"]),
            row_of.lists(fact["read_from"]),
        ),
        edges=_edges(edge, row_of, RowsOfNumbers(fact["number"])),
        count=count,
        canonical=canonical,
    )
    return PulledNodes(
        freeze(node["number"], np.int32),
        graph,
        node["mentions"],
        node["contents"],
        node["language"].astype(np.int8),
    )


class RowsOfNumbers:
    """The row of each number; -1 for a number that is not there.

    Args:
        numbers: Ascending.
    """

    def __init__(self, numbers: Rows) -> None:
        self._numbers = numbers

    def __call__(self, numbers: Rows) -> Rows:
        if not len(self._numbers):
            return freeze(np.full(len(numbers), -1), np.int32)
        places = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return freeze(np.where(self._numbers[places] == numbers, places, -1), np.int32)

    def lists(self, lists: Ragged) -> Ragged:
        """Return lists of rows, without the numbers that are not there."""
        rows = self(lists.values)
        kept = rows >= 0
        left = np.bincount(lists.owners[kept], minlength=len(lists))
        return Ragged(offsets_of(left), freeze(rows[kept], np.int32))


def _ordered(columns: Columns) -> dict[str, Any]:
    """Return columns in the order of their numbers: a database has an order of its own."""
    order: Any = np.argsort(columns["number"], kind="stable")
    return {name: _taken(column, order) for name, column in columns.items()}


def _taken(column: Any, order: Rows) -> Any:  # noqa: ANN401 - an array, a list, or lists of rows
    if isinstance(column, Ragged):
        return column.take(order)
    if isinstance(column, list):
        return [column[row] for row in order.tolist()]
    return column[order]


def _edges(edge: Columns, row_of: RowsOfNumbers, fact_row_of: RowsOfNumbers) -> Edges:
    edges = Edges(
        row_of(edge["tail"]),
        row_of(edge["head"]),
        Labels.of(edge["kind"]),
        freeze(weights_of_bits(edge["bits"]), np.float32),
        fact_row_of(edge["fact"]),
        row_of.lists(edge["read_from"]),
    )
    # An edge that states a fact goes with the fact.
    return edges.take(np.flatnonzero((edge["fact"] < 0) | (edges.facts >= 0)))
