"""The part of a stored graph that a question may need, frontier by frontier and within bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Floats, Graph, Rows, Vectors, distinct, freeze
from clew.relevance import MAX_COVERING
from clew.remote.corpus import CorpusFigures, key_of_stem
from clew.remote.numbers import is_among
from clew.remote.protocol import FoundSeeds, GraphStore, Wanted
from clew.seed.bm25 import InvertedIndex

DAMPING = 0.5  # the probability that a walk goes on
SHARPNESS = 8.0  # the power of the passages' scores by which walks begin at them
EXPANDED = 8  # of so many nodes that are pulled, the edges of one are followed at each step
NEAREST_FACTS = 5  # at whose ends walks begin
LEAST_MASS = 1e-9  # of a seed at which no walk begins, so that its neighbours come at last


@dataclass(frozen=True)
class Bounds:
    """How much of a stored graph a question pulls at most.

    Attributes:
        passages: the nearest passages, and as many with the question's words, at least 1.
        facts: the nearest facts, at least 1.
        per_node: edges of a node that are followed in each direction, at least 1.
        nodes: nodes in all, at least 1; what contains them comes besides.
        hops: how often edges are followed, >= 0.
        without: kinds of edge that are not followed. What contains a node comes anyway, and what is
            similar to a passage that is near is mostly near itself.
    """

    passages: int = 200
    facts: int = 30
    per_node: int = 16
    nodes: int = 1000
    hops: int = 2
    without: tuple[str, ...] = ("contains", "similar")

    def __post_init__(self) -> None:
        for name in ("passages", "facts", "per_node", "nodes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is at least 1; got {getattr(self, name)}")
        if self.hops < 0:
            raise ValueError(f"hops is at least 0; got {self.hops}")


@dataclass(frozen=True, eq=False)
class WorkingSubgraph:
    """A part of a stored graph, which knows the frequencies of the whole.

    Attributes:
        graph: The part.
        version: The version of the index that it is a part of.
        notes: What the bounds have cut off, for the trace.
    """

    graph: Graph
    version: int
    notes: Mapping[str, Any]


async def pull(
    store: GraphStore,
    corpus: CorpusFigures,
    question: str,
    vector: Vectors | None,
    bounds: Bounds,
    where: Wanted | None = None,
    stems: Sequence[str] | None = None,
) -> WorkingSubgraph | None:
    """Return the working subgraph of a question, in `hops` + 3 round trips.

    None where the index was written since the figures of its corpus were read.

    Args:
        store: The database.
        corpus: What is known of the whole index.
        question: The text of the question.
        vector: Its vector, a unit row; None for none.
        bounds: How much is pulled at most.
        where: What may be read; None for everything.
        stems: Those of the question, where they are known.

    Raises:
        ValueError: The store cannot keep to `where`.
    """
    if where is not None and not store.capabilities.enforces_where:
        raise ValueError("this database cannot keep to a filter, so nothing is read from it")
    stems = corpus.stems_of(question) if stems is None else stems
    keys = [key_of_stem(stem) for stem in stems]
    found = await store.seeds(vector, keys, bounds.passages, bounds.facts, where)
    if found.version != corpus.version:
        return None
    words = corpus.words(stems, found.postings)
    weights = words.weights_in(corpus.searched(question))
    by_words, scores = _by_words(corpus, words, weights, bounds.passages, found.allowed)
    far = freeze([], np.int32)
    if vector is not None:
        far = corpus.farthest_passage(vector, found.allowed)
    seeds = np.concatenate([found.passages.numbers, found.facts.ends, by_words, far])
    pulled = freeze(list(dict.fromkeys(seeds.tolist())), np.int32)
    chosen = await _expand(store, pulled, _Masses.of(found, by_words, scores), bounds, where)
    numbers = np.concatenate([pulled, chosen.numbers])
    summaries = corpus.summaries_around(numbers, found.allowed)
    numbers = freeze(distinct(np.concatenate([numbers, summaries])), np.int32)
    nodes = await store.nodes(numbers, found.facts.numbers, where)
    corpus.put_on(nodes, words)
    notes = {"nodes": len(nodes.graph), "edges": len(nodes.graph.edges)}
    if chosen.cut:
        notes["nodes with edges that were cut"] = chosen.cut
    if chosen.beyond:
        notes["nodes beyond the bound"] = chosen.beyond
    return WorkingSubgraph(nodes.graph, found.version, notes)


@dataclass(frozen=True, eq=False)
class _Chosen:
    """The nodes that were chosen beside the seeds, and what was cut off.

    Attributes:
        numbers: int32, the nodes.
        cut: How many nodes had more edges than were followed.
        beyond: How many nodes were found that there was no room for.
    """

    numbers: Rows
    cut: int
    beyond: int


@dataclass(frozen=True, eq=False)
class _Masses:
    """Where a walk that begins at the seeds is, by estimate.

    Attributes:
        numbers: int32, ascending.
        values: float64, of each node.
    """

    numbers: Rows
    values: Floats

    @classmethod
    def of(cls, found: FoundSeeds, by_words: Rows, scores: Floats) -> _Masses:
        """Return how likely a walk begins at each seed, half of it at passages, half at facts.

        Recipes let walks begin at the passages by a power of their scores, and at the ends of the
        nearest facts.

        Args:
            found: What the question leads to.
            by_words: The passages that have its words.
            scores: float64, those of these passages.
        """
        near, facts = found.passages, found.facts
        dense = np.maximum(near.cosines, 0) if len(near.cosines) else np.ones(len(near.numbers))
        passages = _Masses.sum_of(
            [near.numbers, by_words], [0.5 * _to_best(dense), 0.5 * _to_best(scores)]
        )
        parts = [(passages.numbers, _shares(passages.values**SHARPNESS))]
        if len(facts.pairs):
            cosines = facts.cosines[:NEAREST_FACTS]
            lowest = facts.cosines.min()
            ends = facts.pairs[:NEAREST_FACTS].ravel()
            parts.append((ends, _shares(np.repeat(cosines - lowest, 2))))
        elif len(facts.ends):
            parts.append((facts.ends, np.full(len(facts.ends), 1 / len(facts.ends))))
        return _Masses.sum_of([one for one, _ in parts], [value for _, value in parts])

    @classmethod
    def sum_of(cls, numbers: Sequence[Rows], values: Sequence[Floats]) -> _Masses:
        """Return masses added up by node."""
        found, places = np.unique(np.concatenate(numbers), return_inverse=True)
        sums = np.bincount(places, np.concatenate(values), len(found))
        return cls(freeze(found, np.int32), freeze(sums, np.float64))

    def at(self, numbers: Rows) -> Floats:
        """Return the masses of some nodes; 0 where there is none."""
        if not len(self.numbers):
            return freeze(np.zeros(len(numbers)), np.float64)
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        there = self.numbers[places] == numbers
        return freeze(np.where(there, self.values[places], 0), np.float64)


async def _expand(
    store: GraphStore, seeds: Rows, masses: _Masses, bounds: Bounds, where: Wanted | None
) -> _Chosen:
    """Return the nodes that most of a walk comes to, of those within some steps of the seeds."""
    frontier, cut = _heaviest(seeds, masses, bounds.nodes // EXPANDED), 0
    room, known = max(0, bounds.nodes - len(seeds)), np.sort(seeds)
    reached, moving = _Masses(freeze([], np.int32), freeze([], np.float64)), masses
    for _ in range(bounds.hops):
        if not len(frontier) or not room:
            break
        if store.capabilities.spreads_masses:
            values = np.maximum(moving.at(frontier), LEAST_MASS)
            expansion = await store.expand(
                frontier, bounds.per_node, bounds.without, where, masses=DAMPING * values
            )
        else:
            expansion = await store.expand(frontier, bounds.per_node, bounds.without, where)
        cut += expansion.cut
        moving = _Masses(expansion.numbers, expansion.weights)
        is_old = is_among(expansion.numbers, known) | is_among(expansion.numbers, reached.numbers)
        reached = _Masses.sum_of(
            [reached.numbers, expansion.numbers], [reached.values, expansion.weights]
        )
        frontier = _heaviest(
            expansion.numbers[~is_old], moving, min(room, bounds.nodes // EXPANDED)
        )
    others = reached.numbers[~is_among(reached.numbers, known)]
    return _Chosen(_heaviest(others, reached, room), cut, max(0, len(others) - room))


def _heaviest(numbers: Rows, masses: _Masses, count: int) -> Rows:
    """Return so many of some nodes, those with the highest mass first."""
    order = np.lexsort((numbers, -masses.at(numbers)))
    return freeze(numbers[order[:count]], np.int32)


def _by_words(
    corpus: CorpusFigures,
    words: InvertedIndex,
    weights: Mapping[int, float],
    k: int,
    allowed: Rows | None,
) -> tuple[Rows, Floats]:
    """Return the best passages by BM25, and those with most of the question's words.

    Also returns their scores by BM25.
    """
    if not words.stems or not len(corpus.passages):
        return freeze([], np.int32), freeze([], np.float64)
    numbers = list(words.stems.values())
    scores, covered = words.postings.bm25(weights, 1.5, 0.75), words.postings.covered(numbers)[0]
    if allowed is not None:
        is_allowed = np.isin(corpus.passages, allowed)
        scores, covered = np.where(is_allowed, scores, 0), np.where(is_allowed, covered, 0)
    best = np.union1d(_best(scores, k), _best(covered, MAX_COVERING))
    return freeze(corpus.passages[best], np.int32), freeze(scores[best], np.float64)


def _best(scores: Floats, k: int) -> Rows:
    rows = top_k(scores, k)
    return freeze(rows[scores[rows] > 0], np.int32)


def _to_best(scores: Floats) -> Floats:
    """Return scores (>= 0) divided by the highest of them."""
    highest = scores.max(initial=0)
    return scores / highest if highest > 0 else scores


def _shares(scores: Floats) -> Floats:
    """Return scores divided by their sum."""
    total = scores.sum()
    return scores / total if total > 0 else scores
