"""An index in memory or in mapped files as a graph store: the numbers of nodes are their rows."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.cosines import cosines
from clew.algorithms.ranking import top_k
from clew.forking import MAX_WAIT, renew_after_fork
from clew.graph import (
    AnyVectors,
    Facts,
    Floats,
    Graph,
    Mask,
    Ragged,
    Rows,
    VectorColumn,
    Vectors,
    distinct,
    expand_ranges,
    freeze,
    has_vector,
    row_mask,
    take_vectors,
)
from clew.graph.filtering import new_numbers
from clew.graph.long_tuples import pick
from clew.index.contents import IndexContents
from clew.index.drift import drift_step
from clew.overlap import TextKeysPart, text_keys
from clew.remote.corpus import CorpusFigures, corpus_arrays, key_of_stem, sampled_places
from clew.remote.numbers import is_among
from clew.remote.packed_rows import by_owner
from clew.remote.protocol import Capabilities, Expansion, FoundSeeds, Near, PulledNodes, Wanted
from clew.seed._shared import MentionCountsPart
from clew.seed.bm25 import InvertedIndexPart
from clew.seed.cohesion import Cohesion
from clew.seed.in_own_words import LinkedWordsPart
from clew.seed.languages import LanguagesPart
from clew.seed.section_sizes import SectionSizesPart
from clew.sharded.late_rows import (
    FewVectors,
    NumberedLabels,
    TextsInColumns,
    VectorsInColumns,
    WordNumbers,
)
from clew.sharded.numbering import renumbered

SOURCES = 4  # passages that a near fact leads to, of all that it was read from


@dataclass(frozen=True, eq=False)
class IndexStore:
    """One index as a graph store.

    Attributes:
        index: The index.
        where: The filter that the index is already the result of, so that it can keep to this one
            and to no other.
        relations: Those of its facts, by numbers that several indexes have; None for its own.
        stems: The stems of a question by their keys; None where they are not known.
    """

    index: IndexContents
    where: Wanted | None = None
    relations: NumberedLabels | None = None
    stems: Mapping[bytes, str] | None = None

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return Capabilities(
            enforces_where=True,
            searches_vectors=True,
            snapshot=True,
            is_async=False,
            spreads_masses=True,
        )

    async def version(self) -> int:
        """Return 0: an index is immutable."""
        return 0

    async def seeds(
        self,
        vector: Vectors | None,
        stems: Sequence[bytes],
        passages: int,
        facts: int,
        where: Wanted | None = None,
    ) -> FoundSeeds:
        """Return what a question leads to directly; see `GraphStore`."""
        self._check(where)
        graph = self.index.graph
        has_vector = vector is not None and bool(vector.any())
        near = near_facts = Near(freeze([], np.int32), freeze([], np.int32))
        if vector is not None and has_vector:
            rows = graph.rows("passage")
            best, scores = _nearest(graph.vectors_of("passage"), vector, passages)
            near = Near(freeze(rows[best], np.int32), freeze([], np.int32), scores)
            near_facts = _near_facts(graph.facts, vector, facts)
        words, found = graph.part(InvertedIndexPart()), {}
        for key in stems:
            if self.stems is None:
                number = graph.part(_StemNumbersPart()).get(key)
            else:
                number = words.stems.get(self.stems[key])
            if number is not None:
                texts, counts = words.postings.of_term(number)
                found[key] = freeze(words.rows[texts], np.int32), counts
        return FoundSeeds(0, near, near_facts, found, None)

    async def expand(
        self,
        numbers: Rows,
        per_node: int,
        without: Sequence[str] = (),
        where: Wanted | None = None,
        masses: Floats | None = None,
    ) -> Expansion:
        """Return the nodes that edges join with these; see `GraphStore`."""
        self._check(where)
        weights_of = None
        ordered = self.index.graph.part(_OrderedEdgesPart(tuple(without)))
        if masses is not None:
            whole = ordered.strengths[numbers]
            weights_of = np.divide(masses, whole, out=np.zeros(len(whole)), where=whole > 0)
        ends, weights, cut = ordered.followed(numbers, per_node, weights_of)
        found, places = np.unique(ends, return_inverse=True)
        sums = np.bincount(places, weights, len(found)) if len(found) else np.zeros(0)
        return Expansion(freeze(found, np.int32), freeze(sums, np.float64), cut)

    async def nodes(
        self, numbers: Rows, fact_vectors: Rows | None = None, where: Wanted | None = None
    ) -> PulledNodes:
        """Return nodes with what contains them, and the facts and edges among them."""
        self._check(where)
        graph = self.index.graph
        rows = _with_containers(graph, numbers)
        part = induced(graph, rows, fact_vectors, self.relations)
        strengths = graph.part(_StrengthsByKindPart())
        return PulledNodes(
            rows,
            part,
            graph.part(MentionCountsPart())[rows].astype(np.int64),
            graph.part(SectionSizesPart())[rows].astype(np.int64),
            graph.part(LanguagesPart()).of_rows[rows],
            linked_words=graph.part(LinkedWordsPart())[rows],
        ).with_strengths(graph.edges.kinds.names, strengths[rows])

    def _check(self, where: Wanted | None) -> None:
        if where != self.where:
            raise ValueError(
                f"this index is what {self.where!r} allows, and cannot keep to {where!r}"
            )


def figures_of(index: IndexContents, number: int) -> CorpusFigures:
    """Return what is known of a whole index, as a database keeps it.

    Args:
        index: The index.
        number: The place of the shard.
    """
    graph = index.graph
    arrays = corpus_arrays(graph, np.arange(len(graph), dtype=np.int32))
    passages = arrays["passages"]
    sampled = passages[sampled_places(len(passages))]
    late = VectorsInColumns([graph.vectors], np.zeros(len(sampled), np.int8), sampled)
    return CorpusFigures(
        number=number,
        version=0,
        nodes=len(graph),
        embedder=index.embedder,
        languages=graph.part(LanguagesPart()).names,
        passages=freeze(passages, np.int32),
        lengths=freeze(arrays["lengths"], np.float64),
        documents=arrays["documents"].astype(np.int64),
        n_documents=int(arrays["n_documents"][0]),
        sample=VectorColumn([late]),  # of several shards, all together have no more
        sampled=freeze(sampled, np.int32),
        dimension=graph.vectors.shape[1],
        is_of_code=index.is_of_code,
        has_reports=bool(graph.kinds.mask("report").any()),
        untrusted=index.config.untrusted,
        count=graph.count,
        canonical=graph.canonical,
        n_entities=len(arrays["entities"]),
        entities=arrays["entities"],
        entity_keys=arrays["entity_keys"],
        summaries=freeze(arrays["summaries"], np.int32),
        runs=arrays["runs"],
        cohesion=Cohesion(*arrays["cohesion"].tolist()),
        has_bare_names=index.has_bare_names,
        drift=drift_step(index),
    )


def induced(
    graph: Graph,
    rows: Rows,
    fact_vectors: Rows | None = None,
    relations: NumberedLabels | None = None,
) -> Graph:
    """Return the graph of some nodes, and of the facts and edges whose two ends are among them.

    Its texts and vectors are made when they are asked for.

    Args:
        graph: The graph.
        rows: int32, the nodes, ascending.
        fact_vectors: The facts whose vectors stay; None for all. The others have rows of zeros.
        relations: Those of the facts, by the numbers of several graphs; None for the graph's own.

    Example:
        >>> graph = Graph.from_triples([("Anna", "knows", "Ben"), ("Ben", "knows", "Carl")])
        >>> part = induced(graph, np.array([0, 1], np.int32))
        >>> part.ids, part.facts.texts
        (('Anna', 'Ben'), ('Anna knows Ben',))
    """
    stays = row_mask(rows, len(graph))
    row_of = new_numbers(stays)
    facts, edges, wanted = graph.facts, graph.edges, rows.astype(np.int64)
    chosen, linked = (owned.inside(rows, stays) for owned in graph.part(_OwnedPart()))
    fact_of = new_numbers(row_mask(chosen, len(facts)))
    taken = edges.take(linked)
    alone = np.zeros(len(rows), np.int8)
    part = graph.unchecked(  # as the whole, which was checked
        ids=TextsInColumns([graph.ids], alone, wanted),
        kinds=graph.kinds.take(rows),
        texts=TextsInColumns([graph.texts], alone, wanted),
        vectors=VectorColumn([VectorsInColumns([graph.vectors], alone, wanted)]),
        tokens=freeze(graph.tokens[rows], np.int32),
        documents=renumbered(graph.documents[rows], row_of),
        parents=renumbered(graph.parents[rows], row_of),
        previous=renumbered(graph.previous[rows], row_of),
        spans=freeze(graph.spans[rows], np.int32),
        references=pick(graph.references, wanted),
        read_from=graph.read_from.take(rows).renumbered(row_of),
        generated=freeze(graph.generated[rows], np.bool_),
        metadata=pick(graph.metadata, wanted),
        originals=pick(graph.originals, wanted),
        facts=_facts_at(facts, chosen, row_of, fact_vectors, relations),
        edges=replace(
            taken,
            tails=renumbered(taken.tails, row_of),
            heads=renumbered(taken.heads, row_of),
            facts=renumbered(taken.facts, fact_of),
            read_from=taken.read_from.renumbered(row_of),
        ),
    )
    part.set_part(TextKeysPart(), graph.part(_KeptTextKeysPart()).at(graph, rows))
    return part


def _facts_at(
    facts: Facts,
    chosen: NDArray[np.int64],
    row_of: Rows,
    wanted: Rows | None,
    relations: NumberedLabels | None,
) -> Facts:
    if relations is None:
        relations = NumberedLabels(facts.relations, WordNumbers())
    near = chosen if wanted is None else chosen[is_among(chosen, wanted)]
    late = VectorsInColumns([facts.vectors], np.zeros(len(near), np.int8), near)
    there = np.flatnonzero(late.has_vector)
    places = np.searchsorted(chosen, near[there])
    return Facts(
        cast(
            "tuple[str, ...]",
            TextsInColumns([facts.texts], np.zeros(len(chosen), np.int8), chosen),
        ),
        VectorColumn([FewVectors(len(chosen), places, VectorColumn([late.take(there)]))]),
        renumbered(facts.subjects[chosen], row_of),
        renumbered(facts.objects[chosen], row_of),
        relations.at(chosen),
        facts.read_from.take(chosen).renumbered(row_of),
    )


def _with_containers(graph: Graph, numbers: Rows) -> Rows:
    """Return nodes with their documents and all that contains them, ascending."""
    found, frontier = np.zeros(len(graph), np.bool_), np.asarray(numbers, np.int64)
    while len(frontier):
        found[frontier] = True
        above = np.concatenate([graph.parents[frontier], graph.documents[frontier]])
        above = distinct(above[above >= 0])
        frontier = above[~found[above]]
    return freeze(np.flatnonzero(found), np.int32)


def _nearest(vectors: AnyVectors, vector: Vectors, k: int) -> tuple[Rows, Floats]:
    scores = cosines(vectors, vector)
    best = top_k(scores, k)
    return freeze(best, np.int32), freeze(scores[best], np.float64)


def _near_facts(facts: Facts, vector: Vectors, k: int) -> Near:
    """Return the nearest facts, the farthest as the last, and the nodes that belong to them."""
    scores = cosines(facts.vectors, vector)
    best = top_k(scores, k)
    best = best[has_vector(take_vectors(facts.vectors, best))]
    if not len(best):
        return Near(freeze([], np.int32), freeze([], np.int32))
    numbers = np.array(list(dict.fromkeys([*best.tolist(), int(scores.argmin())])), np.int64)
    pairs = np.stack([facts.subjects[numbers], facts.objects[numbers]], axis=1)
    passages = [facts.read_from[int(fact)][:SOURCES] for fact in best]
    ends = distinct(np.concatenate([pairs.ravel(), *passages]))
    return Near(
        freeze(numbers, np.int32),
        freeze(ends, np.int32),
        freeze(scores[numbers], np.float64),
        freeze(pairs, np.int32),
    )


@dataclass(frozen=True, eq=False)
class _Owned:
    """Facts or edges, each owned by that of its ends which has fewer: no hub has many.

    Attributes:
        tails: int32 [m], where each begins.
        heads: int32 [m], where each ends.
        of_nodes: Those of each node.
    """

    tails: Rows
    heads: Rows
    of_nodes: Ragged

    @classmethod
    def of(cls, tails: Rows, heads: Rows, n: int) -> _Owned:
        """Return those of a graph of n nodes."""
        return cls(tails, heads, by_owner(tails, heads, n))

    def inside(self, rows: Rows, stays: Mask) -> NDArray[np.int64]:
        """Return those whose two ends are among some rows, ascending.

        Args:
            rows: The rows.
            stays: bool [n], True for these.
        """
        own = self.of_nodes.take(rows).values
        own = own[stays[self.tails[own]] & stays[self.heads[own]]]
        return np.sort(own).astype(np.int64)


@dataclass(frozen=True)
class _OwnedPart:
    """The part that knows which facts and which edges each node owns."""

    def compute(self, graph: Graph) -> tuple[_Owned, _Owned]:
        facts, edges, n = graph.facts, graph.edges, len(graph)
        return (
            _Owned.of(facts.subjects, facts.objects, n),
            _Owned.of(edges.tails, edges.heads, n),
        )


@dataclass(frozen=True)
class _StemNumbersPart:
    """The part that knows the number of each stem by the key of the stem."""

    def compute(self, graph: Graph) -> Mapping[bytes, int]:
        return {key_of_stem(stem): n for stem, n in graph.part(InvertedIndexPart()).stems.items()}


class _OrderingLock:
    """A lock that nobody holds at a fork: edges that are half in order could not be mended."""

    def __init__(self) -> None:
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Renew the lock, which the forking thread holds."""
        self.lock, self._is_paused = threading.Lock(), False

    def pause(self) -> None:
        """Wait until no edges are being put in order."""
        self._is_paused = self.lock.acquire(timeout=MAX_WAIT)

    def resume(self) -> None:
        """Let edges be put in order again."""
        if self._is_paused:
            self._is_paused = False
            self.lock.release()


ORDERING = _OrderingLock()


class _EdgesOut:
    """The edges of every node in one direction, the strongest first.

    Those of a node are put in order when they are first asked for: that takes longest, and a
    question asks for those of few.

    Args:
        own: int32 [m], the node of each edge.
        other: int32 [m], where each leads.
        weights: float32 [m].
        n: The number of nodes.
    """

    def __init__(self, own: Rows, other: Rows, weights: Vectors, n: int) -> None:
        edges = Ragged.grouped(own, n)
        self.starts = edges.starts
        self._targets, self._weights = other[edges.values], weights[edges.values]
        self._is_ordered = np.diff(self.starts) < 2

    def strongest(self, numbers: Rows, most: int) -> tuple[Rows, Floats, NDArray[np.int64]]:
        """Return where the strongest edges of nodes lead, their weights, and how many each has.

        Args:
            numbers: The nodes.
            most: How many edges of each are wanted.
        """
        new = distinct(numbers[~self._is_ordered[numbers]])
        if len(new):
            with ORDERING.lock:
                self._put_in_order(new)
        lengths = self.starts[numbers + 1] - self.starts[numbers]
        slots = expand_ranges(self.starts[numbers], np.minimum(lengths, most))
        return self._targets[slots], self._weights[slots].astype(np.float64), lengths

    def _put_in_order(self, nodes: Rows) -> None:
        nodes = nodes[~self._is_ordered[nodes]]  # another thread may have done some
        lengths = self.starts[nodes + 1] - self.starts[nodes]
        slots = expand_ranges(self.starts[nodes], lengths)
        targets, weights = self._targets[slots], self._weights[slots]
        order = np.lexsort((targets, -weights, np.repeat(np.arange(len(nodes)), lengths)))
        self._targets[slots], self._weights[slots] = targets[order], weights[order]
        self._is_ordered[nodes] = True


@dataclass(frozen=True, eq=False)
class _OrderedEdges:
    """The edges of every node in each direction, the strongest first.

    Attributes:
        directions: The edges of each direction.
        strengths: float64 [n], the sum of the weights of all edges of each node.
    """

    directions: tuple[_EdgesOut, ...]
    strengths: Floats

    def followed(
        self, numbers: Rows, per_node: int, factors: Floats | None
    ) -> tuple[Rows, Floats, int]:
        """Return where the strongest edges lead, their weights, and how many nodes had more.

        Args:
            numbers: The nodes.
            per_node: How many edges of a node are followed in each direction.
            factors: float64, what the weights of the edges of each node are multiplied by.
        """
        ends, weights, cut = [], [], np.zeros(len(numbers), np.bool_)
        for direction in self.directions:
            targets, own, lengths = direction.strongest(numbers, per_node)
            cut |= lengths > per_node
            ends.append(targets)
            if factors is not None:
                own *= np.repeat(factors, np.minimum(lengths, per_node))
            weights.append(own)
        return np.concatenate(ends), np.concatenate(weights), int(cut.sum())


@dataclass(frozen=True)
class _OrderedEdgesPart:
    """The part that puts the edges of a graph in order, but those of some kinds."""

    without: tuple[str, ...]

    def compute(self, graph: Graph) -> _OrderedEdges:
        edges = graph.edges
        stays = np.flatnonzero(~edges.kinds.mask(*self.without))
        tails, heads, weights = edges.tails[stays], edges.heads[stays], edges.weights[stays]
        ends = ((tails, heads), (heads, tails))
        strengths = sum(
            (np.bincount(own, weights, len(graph)) for own, _ in ends),
            start=np.zeros(len(graph)),
        )
        return _OrderedEdges(
            tuple(_EdgesOut(own, other, weights, len(graph)) for own, other in ends),
            freeze(strengths, np.float64),
        )


class _KeptTextKeys:
    """The keys of texts of a graph, each made when it is first asked for."""

    def __init__(self, is_content: Mask) -> None:
        self._keys, self._is_made = np.zeros(len(is_content), np.int64), ~is_content

    def at(self, graph: Graph, rows: Rows) -> NDArray[np.int64]:
        """Return the keys of some rows of the graph: int64."""
        new = rows[~self._is_made[rows]]
        if len(new):
            self._keys[new] = text_keys(graph, new)
            self._is_made[new] = True
        return self._keys[rows]


@dataclass(frozen=True)
class _KeptTextKeysPart:
    """The part that keeps the keys of those texts that were asked for."""

    def compute(self, graph: Graph) -> _KeptTextKeys:
        return _KeptTextKeys(graph.content)


@dataclass(frozen=True)
class _StrengthsByKindPart:
    """The part that sums the weights of every node's edges by their kind, float64 [n, kinds]."""

    def compute(self, graph: Graph) -> Floats:
        edges = graph.edges
        n, kinds = len(graph), len(edges.kinds.names)
        cells = np.concatenate([edges.tails, edges.heads]).astype(np.int64) * kinds
        cells += np.tile(edges.kinds.codes, 2)
        sums = np.bincount(cells, np.tile(edges.weights, 2), n * kinds)
        return freeze(sums.reshape(n, kinds), np.float64)
