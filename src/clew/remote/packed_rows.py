"""What a question reads of a node, as two runs of bytes that are read by its number alone.

A row has all that a working subgraph needs of a node: its columns, its edges and its facts. An edge
is in the row of the end that has fewer of them, and so is a fact, so that the row of a hub stays
short: whoever has both ends has the edge. Beside it stand the neighbours, the strongest first, for
whoever follows edges: of each kind and direction the `STRONGEST`, and apart from them the others,
which few nodes have and few questions want. All numbers are int32, little-endian; a weight is the
bits of a float32.

A row is its head (`HEAD` names the numbers), and behind it the `SECTIONS`, each as many entries as
the head says. Its texts are one list in JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats, Graph, Ragged, Rows, expand_ranges, offsets_of
from clew.read.json_values import to_json
from clew.seed._shared import MentionCountsPart
from clew.seed.in_own_words import LinkedWordsPart
from clew.seed.languages import LanguagesPart
from clew.seed.section_sizes import SectionSizesPart

HEAD = (
    *("tokens", "document", "parent", "previous", "span_start", "span_end"),
    *("mentions", "contents", "language", "kind", "generated"),
)
"""The numbers that every row begins with; a document, parent or previous node of -1 is none."""

SECTIONS = {  # numbers of an entry; each section's count stands in the head, too
    "read_from": 1,
    "above": 1,
    "edges": 7,  # number, tail, head, kind, weight, fact or -1, how many sources
    "edge_sources": 1,
    "facts": 6,  # number, subject, object, how many sources, two that stand for the relation
    "fact_sources": 1,
    "linked_words": 1,  # of a passage with links, its words outside of these, up to enough
    "strengths": 2,  # kind, the sum of the weights of its edges
}
HEAD_SIZE = len(HEAD) + len(SECTIONS)
STRONGEST = 64
NEIGHBOUR = 3  # numbers of a neighbour: its number, the weight, and the kind, negative for a tail

Ints = NDArray[np.int32]
Slices = tuple[NDArray[np.int64], Ints]
"""Where the slice of each node begins, and all slices one after the other."""


def code_of_kind(kind: str) -> int:
    """Return the number that stands for a kind of node or edge, from 1 on.

    Example:
        >>> code_of_kind("passage") == code_of_kind("passage") > 0
        True
    """
    return (crc32(_bytes(kind)) & 0x7FFFFFFF) or 1


def names_of_kinds(graph: Graph) -> list[str]:
    """Return the kinds of nodes and edges of a graph.

    Raises:
        ValueError: Two of them have the same code.
    """
    names = sorted({*graph.kinds.names, *graph.edges.kinds.names})
    if len({code_of_kind(name) for name in names}) < len(names):
        raise ValueError(f"two of these kinds have the same code; rename one: {', '.join(names)}")
    return names


@dataclass(frozen=True, eq=False)
class PackedRows:
    """The rows of a whole graph.

    Attributes:
        graph: The graph.
        numbers: int32, all rows one after the other.
        starts: int64 [n + 1], where each begins.
        neighbours: The strongest of all nodes, and the others: each int32, one node after the
            other, and where those of each node begin, int64 [n + 1].
        facts: The facts in the row of each node.
    """

    graph: Graph
    numbers: Ints
    starts: NDArray[np.int64]
    neighbours: tuple[Slices, Slices]
    facts: Ragged

    def rows(self, some: NDArray[np.int64]) -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
        """Yield the numbers, the texts, the strongest and the other neighbours of some nodes."""
        metadata: dict[int, str] = {}
        for row in some.tolist():
            a, b = self.starts[row : row + 2].tolist()
            strongest, others = (
                values[starts[row] : starts[row + 1]].tobytes()
                for starts, values in self.neighbours
            )
            yield self.numbers[a:b].tobytes(), self._texts(row, metadata), strongest, others

    def _texts(self, row: int, metadata: dict[int, str]) -> bytes:
        graph, facts = self.graph, self.facts[row].tolist()
        texts = (
            graph.ids[row],
            graph.texts[row],
            metadata_text(graph, row, metadata),
            list(graph.references[row]),
            [graph.facts.texts[fact] for fact in facts],
            [graph.facts.relations[fact] for fact in facts],
        )
        text = json.dumps(texts, ensure_ascii=False, separators=(",", ":"))
        return _bytes(text)


@dataclass(frozen=True, eq=False)
class PackedRowsPart:
    """The part of a graph that is its packed rows.

    Attributes:
        nodes: int32 [n], the numbers of its nodes.
        facts: int32 [f], those of its facts.
        edges: int32 [e], those of its edges.
    """

    nodes: Rows
    facts: Rows
    edges: Rows

    def compute(self, graph: Graph) -> PackedRows:
        n = len(graph)
        facts = by_owner(graph.facts.subjects, graph.facts.objects, n)
        edges = by_owner(graph.edges.tails, graph.edges.heads, n)
        sections = [
            (graph.read_from.lengths, _numbers_of(self.nodes, graph.read_from.values)[:, None]),
            self._above(graph),
            *self._edges(graph, edges),
            *self._facts(graph, facts),
            _linked_words(graph),
            _strengths(graph),
        ]
        starts, numbers = pack_rows(self._head(graph), sections)
        return PackedRows(graph, numbers, starts, self._neighbours(graph), facts)

    def _head(self, graph: Graph) -> NDArray[np.int64]:
        kinds = np.array([code_of_kind(name) for name in graph.kinds.names], np.int64)
        columns = (
            graph.tokens,
            *(_numbers_of(self.nodes, rows) for rows in (graph.documents, graph.parents)),
            _numbers_of(self.nodes, graph.previous),
            *(graph.spans[:, 0], graph.spans[:, 1]),
            graph.part(MentionCountsPart()),
            graph.part(SectionSizesPart()),
            graph.part(LanguagesPart()).of_rows,
            kinds[graph.kinds.codes] if len(graph) else np.zeros(0),
            graph.generated,
        )
        return np.stack([np.asarray(column).astype(np.int64) for column in columns], axis=1)

    def _above(self, graph: Graph) -> tuple[NDArray[np.int64], Ints]:
        """Return what contains the nodes: the document of each, and its containers outwards."""
        lists = [_above(graph, row) for row in range(len(graph))]
        values = np.array([one for some in lists for one in some], np.int64)
        return np.array([len(some) for some in lists]), self.nodes[values][:, None]

    def _edges(self, graph: Graph, of_nodes: Ragged) -> Iterator[tuple[NDArray[np.int64], Ints]]:
        edges, some = graph.edges.take(of_nodes.values), of_nodes.values
        kinds = np.array([code_of_kind(name) for name in edges.kinds.names], np.int32)
        columns = (
            self.edges[some],
            _numbers_of(self.nodes, edges.tails),
            _numbers_of(self.nodes, edges.heads),
            kinds[edges.kinds.codes] if len(some) else np.zeros(0, np.int32),
            np.ascontiguousarray(edges.weights, "<f4").view("<i4"),
            _numbers_of(self.facts, edges.facts),
            edges.read_from.lengths,
        )
        yield of_nodes.lengths, stacked(columns)
        yield _sources(self.nodes, of_nodes, edges.read_from)

    def _facts(self, graph: Graph, of_nodes: Ragged) -> Iterator[tuple[NDArray[np.int64], Ints]]:
        facts, some = graph.facts, of_nodes.values
        codes = codes_of_relations(facts.relations.names)
        sources = facts.read_from.take(some)
        columns = (
            self.facts[some],
            _numbers_of(self.nodes, facts.subjects[some]),
            _numbers_of(self.nodes, facts.objects[some]),
            sources.lengths,
            *codes[facts.relations.codes[some]].T,
        )
        yield of_nodes.lengths, stacked(columns)
        yield _sources(self.nodes, of_nodes, sources)

    def _neighbours(self, graph: Graph) -> tuple[Slices, Slices]:
        """Return the strongest neighbours of the nodes, and the others."""
        edges, n = graph.edges, len(graph)
        kinds = np.array([code_of_kind(name) for name in edges.kinds.names], np.int32)
        codes = kinds[edges.kinds.codes] if len(edges) else np.zeros(0, np.int32)
        own = np.concatenate([edges.tails, edges.heads])
        other = _numbers_of(self.nodes, np.concatenate([edges.heads, edges.tails]))
        weights = np.tile(np.ascontiguousarray(edges.weights, "<f4"), 2)
        directed = np.concatenate([codes, -codes])
        columns = stacked((other, weights.view("<i4"), directed))
        by_group = np.lexsort((other, -weights, directed, own))
        is_first = np.ones(len(by_group), np.bool_)
        for key in (own[by_group], directed[by_group]):
            is_first[1:] &= key[1:] == key[:-1]
        is_first[1:] = ~is_first[1:]
        firsts = np.flatnonzero(is_first)
        ranks = np.arange(len(by_group)) - np.repeat(firsts, np.diff([*firsts, len(by_group)]))
        is_strong = np.zeros(len(by_group), np.bool_)
        is_strong[by_group] = ranks < STRONGEST
        order = np.lexsort((other, -weights, own))
        found = []
        for chosen in (order[is_strong[order]], order[~is_strong[order]]):
            starts = offsets_of(np.bincount(own[chosen], minlength=n)) * NEIGHBOUR
            found.append((starts, columns[chosen].ravel()))
        return found[0], found[1]


def pack_rows(
    head: NDArray[np.int64], sections: Sequence[tuple[NDArray[np.int64], Ints]]
) -> Slices:
    """Return where the row of each node begins, and all rows one after the other.

    Args:
        head: int64 [n, numbers], the numbers of `HEAD`.
        sections: Those of `SECTIONS`: how many entries each node has, and all entries, int32
            [entries, width].
    """
    counts = np.stack([lengths for lengths, _ in sections], axis=1)
    sizes = counts * np.array(list(SECTIONS.values()))
    starts = offsets_of(HEAD_SIZE + sizes.sum(axis=1))
    numbers = np.empty(int(starts[-1]), "<i4")
    numbers[starts[:-1, None] + np.arange(HEAD_SIZE)] = np.concatenate([head, counts], axis=1)
    begins = starts[:-1] + HEAD_SIZE
    for size, (_, values) in zip(sizes.T, sections, strict=True):
        numbers[expand_ranges(begins, size)] = values.ravel()
        begins = begins + size
    return starts, numbers


def stacked(columns: Iterable[NDArray[Any]]) -> Ints:
    """Return columns of numbers side by side, as they stand in a row."""
    return np.stack([np.asarray(column).astype("<i4") for column in columns], axis=1)


def _runs_at(numbers: Ints, starts: NDArray[np.int64], width: int) -> Ints:
    """Return so many consecutive numbers from each of some places on: int32 [n, width]."""
    if not len(starts):
        return np.zeros((0, width), "<i4")
    # A run is one thing that is copied: half the time of an index for each number.
    run = np.dtype((np.void, 4 * width))
    runs = np.ndarray((len(numbers) - width + 1,), run, numbers, 0, (4,))
    return runs[starts].view("<i4").reshape(-1, width)


def by_owner(one: Rows, other: Rows, n: int) -> Ragged:
    """Return which pairs of nodes go into the row of each node: that of the end with fewer."""
    degrees = np.bincount(one, minlength=n) + np.bincount(other, minlength=n)
    owners = np.where(degrees[one] <= degrees[other], one, other)
    return Ragged.grouped(owners, n)


def _sources(nodes: Rows, owned: Ragged, lists: Ragged) -> tuple[NDArray[np.int64], Ints]:
    """Return how many numbers the lists in each row have together, and these."""
    ends = lists.starts[owned.starts]
    return np.diff(ends), _numbers_of(nodes, lists.values)[:, None]


def _strengths(graph: Graph) -> tuple[NDArray[np.int64], Ints]:
    """Return the sum of the weights at each node, of every kind of edge that it has."""
    edges, n = graph.edges, len(graph)
    kinds = np.array([code_of_kind(name) for name in edges.kinds.names], np.int32)
    is_loop = edges.tails == edges.heads
    sums = np.zeros((n, len(kinds)))
    for code in range(len(kinds)):
        chosen = (edges.kinds.codes == code) & ~is_loop
        for ends in (edges.tails[chosen], edges.heads[chosen]):
            sums[:, code] += np.bincount(ends, edges.weights[chosen], n)
    rows, codes = np.nonzero(sums)
    values = np.ascontiguousarray(sums[rows, codes], "<f4").view("<i4")
    some = kinds[codes] if len(kinds) else np.zeros(0, np.int32)
    return np.bincount(rows, minlength=n), stacked((some, values))


def codes_of_relations(names: Sequence[str]) -> Ints:
    """Return two numbers for each relation, which no other relation has."""
    digests = (blake2b(_bytes(name), digest_size=8).digest() for name in names)
    return np.frombuffer(b"".join(digests), "<i4").reshape(-1, 2)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _linked_words(graph: Graph) -> tuple[NDArray[np.int64], Ints]:
    """Return what `LinkedWordsPart` has of the passages with links."""
    words = graph.part(LinkedWordsPart())
    return (words >= 0).astype(np.int64), words[words >= 0][:, None]


def _numbers_of(numbers: Rows, rows: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers of rows; -1 stays."""
    if not len(numbers):
        return np.full(len(rows), -1, np.int32)
    found: NDArray[Any] = np.where(rows >= 0, numbers[rows], -1)
    return found


def _above(graph: Graph, row: int) -> list[int]:
    found, parent = dict.fromkeys([int(graph.documents[row])]), int(graph.parents[row])
    while parent >= 0:
        found[parent], parent = None, int(graph.parents[parent])
    return [one for one in found if one >= 0 and one != row]


def metadata_text(graph: Graph, row: int, known: dict[int, str]) -> str:
    """Return the metadata of a node as JSON.

    Args:
        graph: The graph.
        row: The row of the node.
        known: The texts of mappings by their ids, of which many nodes share one.
    """
    metadata = graph.metadata[row]
    if id(metadata) not in known:
        values = to_json(metadata, f"node {graph.ids[row]!r}: metadata")
        known[id(metadata)] = json.dumps(values, allow_nan=False)
    return known[id(metadata)]


class UnpackedRows:
    """Packed rows of some nodes, of which each section is taken apart when it is asked for.

    Args:
        rows: What `PackedRows.rows` has made.
    """

    def __init__(self, rows: Sequence[bytes]) -> None:
        lengths = np.fromiter(map(len, rows), np.int64, len(rows)) // 4
        self._set(np.frombuffer(b"".join(rows), "<i4"), offsets_of(lengths)[:-1])

    @classmethod
    def at(cls, numbers: Ints, starts: NDArray[np.int64]) -> UnpackedRows:
        """Return rows that stand among others.

        Args:
            numbers: int32, all rows, one after the other.
            starts: int64 [n], where each of them begins.
        """
        rows = cls.__new__(cls)
        rows._set(numbers, starts)
        return rows

    def _set(self, numbers: Ints, starts: NDArray[np.int64]) -> None:
        self._numbers = numbers
        self.head: Ints = _runs_at(numbers, starts, HEAD_SIZE)
        self._counts = self.head[:, len(HEAD) :].T.astype(np.int64)
        self._begins = [starts + HEAD_SIZE]
        for width, counts in zip(SECTIONS.values(), self._counts, strict=True):
            self._begins.append(self._begins[-1] + width * counts)

    def column(self, name: str) -> Ints:
        """Return a number of every node by its name in `HEAD`."""
        return self.head[:, HEAD.index(name)]

    def section(self, name: str) -> Slices:
        """Return where the entries of each node begin, and all entries, int32 [entries, width]."""
        place, width = list(SECTIONS).index(name), SECTIONS[name]
        counts = self._counts[place]
        starts = offsets_of(counts)
        slots = np.repeat(self._begins[place] - width * starts[:-1], counts)
        slots += width * np.arange(len(slots))
        return starts, _runs_at(self._numbers, slots, width)

    def lists(self, name: str) -> Ragged:
        """Return a section whose entries are one number."""
        starts, entries = self.section(name)
        return Ragged(starts, entries[:, 0])

    def strengths(self, kinds: Sequence[str]) -> Floats:
        """Return the sum of the weights of every node's edges, of each of these kinds."""
        starts, entries = self.section("strengths")
        codes = np.array([code_of_kind(kind) for kind in kinds], np.int64)
        order = np.argsort(codes)
        owners = np.repeat(np.arange(len(self.head)), np.diff(starts))
        sums = np.zeros((len(self.head), len(kinds)))
        if len(codes) and len(entries):
            places = np.minimum(np.searchsorted(codes[order], entries[:, 0]), len(codes) - 1)
            known = codes[order][places] == entries[:, 0]
            values = np.ascontiguousarray(entries[:, 1]).view("<f4")
            sums[owners[known], order[places[known]]] = values[known]
        return sums
