"""Columns that PostgreSQL sent as runs of bytes, as a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from clew.graph import Edges, Facts, Graph, Labels, Ragged, Rows, freeze
from clew.remote.protocol import PulledNodes
from clew.remote.values import ARRAY_HEAD, read_lists, read_numbers, read_vectors, read_weights
from clew.store.column_kinds import parse_metadata


def graph_of_rows(
    node: Sequence[Any],
    fact: Sequence[Any],
    edge: Sequence[Any],
    dimension: int,
    count: Callable[[str], int],
    canonical: Callable[[str], str] | None,
) -> PulledNodes:
    """Return the graph of what was read, in which numbers have become rows.

    Args:
        node: The columns of the nodes, each in one value, as `PostgresStore.nodes` asks for them.
        fact: Those of the facts.
        edge: Those of the edges.
        dimension: The width of vectors.
        count: As in `clew.graph.Graph`.
        canonical: As in `clew.graph.Graph`.
    """
    if not node or node[0] is None:
        empty = Graph.of([], vectors=np.zeros((0, dimension)), count=count)
        none = np.zeros(0, np.int64)
        return PulledNodes(freeze([], np.int32), empty, none, none, none.astype(np.int8))
    numbers, tokens, documents, parents, previous, starts, ends, mentions, contents, language = map(
        read_numbers, node[:10]
    )
    ids, kinds, texts, generated, metadata, has, vectors, lengths, sources, n_links, links = node[
        10:
    ]
    row_of = _Rows(numbers)
    parsed = {text: parse_metadata(text) for text in set(metadata)}
    facts, fact_numbers = _facts(fact, row_of, dimension)
    graph = Graph(
        ids=tuple(map(_text, ids)),
        kinds=Labels.of(kinds),
        texts=tuple(map(_text, texts)),
        vectors=read_vectors(vectors, np.array(has, np.bool_), dimension),
        tokens=tokens,
        documents=row_of(documents),
        parents=row_of(parents),
        previous=row_of(previous),
        spans=freeze(np.stack([starts, ends], axis=1), np.int32),
        references=_links(n_links, links or []),
        read_from=_read_from(lengths, sources, row_of),
        generated=freeze(generated, np.bool_),
        metadata=tuple(parsed[text] for text in metadata),
        originals=(None,) * len(ids),
        facts=facts,
        edges=_edges(edge, row_of, _Rows(fact_numbers)),
        count=count,
        canonical=canonical,
    )
    return PulledNodes(
        numbers,
        graph,
        mentions.astype(np.int64),
        contents.astype(np.int64),
        language.astype(np.int8),
    )


class _Rows:
    """The row of each number; -1 for a number that is not there."""

    def __init__(self, numbers: Rows) -> None:
        self._numbers = numbers

    def __call__(self, numbers: Rows) -> Rows:
        if not len(self._numbers):
            return freeze(np.full(len(numbers), -1), np.int32)
        places = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return freeze(np.where(self._numbers[places] == numbers, places, -1), np.int32)


def _read_from(lengths: bytes | None, sources: bytes | None, row_of: _Rows) -> Ragged:
    n_each = read_numbers(lengths)
    starts = np.concatenate([[0], np.cumsum(n_each)])
    whole = Ragged(freeze(starts, np.int64), read_lists(sources, n_each))
    rows = row_of(whole.values)
    kept = rows >= 0
    left = np.bincount(whole.owners[kept], minlength=len(n_each))
    return Ragged(
        freeze(np.concatenate([[0], np.cumsum(left)]), np.int64), freeze(rows[kept], np.int32)
    )


def _facts(row: Sequence[Any], row_of: _Rows, dimension: int) -> tuple[Facts, Rows]:
    numbers, subjects, objects, texts, relations, has, vectors, lengths, sources = row
    numbers = read_numbers(numbers)
    return Facts(
        tuple(map(_text, texts or ())),
        read_vectors(vectors, np.array(has or [], np.bool_), dimension),
        row_of(read_numbers(subjects)),
        row_of(read_numbers(objects)),
        Labels.of(list(map(_text, relations or ()))),
        _read_from(lengths, sources, row_of),
    ), numbers


def _edges(row: Sequence[Any], row_of: _Rows, fact_row_of: _Rows) -> Edges:
    tails, heads, facts, weights, kinds, lengths, sources = row
    read = read_numbers(facts)
    edges = Edges(
        row_of(read_numbers(tails)),
        row_of(read_numbers(heads)),
        Labels.of(kinds or []),
        read_weights(weights),
        fact_row_of(read),
        _read_from(lengths, sources, row_of),
    )
    # An edge that states a fact goes with the fact.
    return edges.take(np.flatnonzero((read < 0) | (edges.facts >= 0)))


def _links(counts: Sequence[int], sent: Sequence[bytes]) -> tuple[tuple[str, ...], ...]:
    """Return the links of each node; `array_send` wrote those of the nodes that have some."""
    some = iter(sent)
    return tuple(tuple(_texts_of(next(some))) if count else () for count in counts)


def _texts_of(array: bytes) -> Iterator[str]:
    """Yield the texts of an array: behind its head, each is a word of its size and its bytes."""
    place = 4 * ARRAY_HEAD
    while place < len(array):
        start = place + 4
        place = start + int.from_bytes(array[place:start], "big")
        yield _text(array[start:place])


def _text(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")
