"""Passages that count the words of the passages before and behind them.

A text is cut where a passage is full, and what is asked about may stand on both sides of the cut: a
function and what it calls, a remark and its reply. So a passage and its neighbours are scored as
one text, too, in which the neighbours' words count for less the farther they are (Carmel, Shtok and
Kurland, "Position-based contextualization for passage retrieval", CIKM 2013). Neighbours follow
each other in one section, or in one document where one of them fills its section alone, as a
function of source code does.

An entry of a reference is a subject of its own, and what stands beside it is another: it keeps its
score. Where neighbours have no more in common than any two passages (`Cohesion`), they count for
nothing. They say where an answer is likelier to stand, and not that there is one: what is far below
the best without them stays so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.mixing import added_of_owners, keep_far
from clew.algorithms.kernels.postings import add_term_around
from clew.algorithms.postings import Postings
from clew.graph import Floats, Graph, Rows, canonical_text, freeze
from clew.seed.blend import best_of
from clew.seed.bm25 import InvertedIndex, InvertedIndexPart
from clew.seed.cohesion import Cohesion
from clew.seed.in_documents import DocumentWords, DocumentWordsPart, InDocuments
from clew.seed.section_sizes import OF_ENTRY, SectionSizesPart
from clew.types import Query, Seed, Seeds

MAX_SHARE = 0.5  # of the passages; a stem that more have is near nearly all, and takes most time


@dataclass(frozen=True)
class InNeighbours:
    """Score by another seed, and by BM25 of each passage and its neighbours as one text.

    The score is a weighted mean of both, each scaled so that the best has 1. What the other seed
    does not score has no score, and a passage of an entry has the other seed's alone. Where no
    passage has a neighbour in its document, and among the candidates of another retriever, which
    were not beside each other, the scores stay as they are.

    Attributes:
        seed: the other seed.
        weight: of the passage with its neighbours, beside 1 for the passage alone, >= 0; less where
            neighbours have little in common.
        shares: what a word counts there that is 1, 2, ... passages before or behind, each in
            [0, 1].
        far: a passage whose share of the best score is below this without its neighbours has no
            larger share with them, in [0, 1].
        k1: as in `BM25`.
        b: as in `BM25`.

    Example:
        >>> from clew import Graph, Query
        >>> from clew.seed import BM25
        >>> graph = Graph.of(
        ...     ["Ferries", "At ten.", "To Corfu.", "Trains", "To Corfu.", "Buses", "To Athens."],
        ...     kinds=["document", "passage", "passage", *["document", "passage"] * 2],
        ...     parents=[-1, 0, 0, -1, 3, -1, 5],
        ... )
        >>> query = Query("Corfu, ten")
        >>> BM25(b=0).on(graph)(query).scores.round(2).tolist()
        [0.0, 0.48, 0.28, 0.0, 0.28, 0.0, 0.0]
        >>> InNeighbours(BM25(b=0)).on(graph)(query).scores.round(2).tolist()
        [0.0, 1.0, 0.67, 0.0, 0.56, 0.0, 0.0]
    """

    seed: Seed = InDocuments()
    weight: float = 0.3
    shares: tuple[float, ...] = (1.0, 0.5)
    far: float = 0.4
    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        if not (self.weight >= 0 and all(0 <= share <= 1 for share in (*self.shares, self.far))):
            raise ValueError(
                "weight is how much a passage with its neighbours counts beside the passage, at "
                "least 0, shares what words 1, 2, ... passages away count, each from 0 to 1, and "
                "far the share of the best below which neighbours raise nothing, from 0 to 1; "
                f"got {self.weight!r}, {self.shares!r} and {self.far!r}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_alone, index = self.seed.on(graph), graph.part(InvertedIndexPart())
        sequence = graph.part(PassageSequencePart())
        weight = 0.0 if sequence is None else self.weight * sequence.cohesion.neighbours
        if sequence is None or not weight:
            return find_alone
        norms = sequence.neighbours.norms(self.shares, self.k1, self.b)
        of_entries = np.flatnonzero(graph.part(SectionSizesPart()) == OF_ENTRY)

        def find_seeds(query: Query) -> Seeds:
            seeds = find_alone(query)
            weights = index.weights_in(canonical_text(graph, query.text))
            if query.candidate_scores is not None or not weights:
                return seeds
            together = sequence.bm25(weights, self.shares, norms)
            around = np.append((weight / best_of(together)) * together, 0.0)
            alone = np.asarray(seeds.scores, np.float64)
            best, whole = best_of(alone), 1 + weight
            scores = added_of_owners(alone, best, around, sequence.places, whole)
            scores[of_entries] = alone[of_entries] / best
            keep_far(scores, alone, best, self.far)
            return replace(seeds, scores=scores)

        return find_seeds


@dataclass(frozen=True, eq=False)
class PassageNeighbours:
    """Which of all passages of a corpus, in their order, are neighbours.

    Attributes:
        runs: int64 [n], the number of the run that each is in (`runs_of`). Neighbours are passages
            of one run.
        lengths: float64 [n], how many words each has.

    Example:
        >>> neighbours = PassageNeighbours(np.array([0, 0, 1]), np.array([2.0, 4.0, 6.0]))
        >>> before, behind = neighbours.near(1)
        >>> before.tolist(), behind.tolist()
        ([0, 1, 0], [1, 0, 0])
        >>> neighbours.norms((1.0,), k1=1.5, b=1.0).tolist()
        [1.5, 1.5, 1.5]
    """

    runs: NDArray[np.int64]
    lengths: Floats

    @cached_property
    def _norms(self) -> dict[tuple[tuple[float, ...], float, float], Floats]:
        return {}

    def norms(self, shares: tuple[float, ...], k1: float, b: float) -> Floats:
        """Return what marks long texts down, each passage and its neighbours: float64 [n].

        Args:
            shares: as in `InNeighbours`.
            k1: as in `BM25`.
            b: as in `BM25`.
        """
        key = shares, k1, b
        if key not in self._norms:
            lengths = np.array(self.lengths, np.float64)
            for distance, share in enumerate(shares, 1):
                for step in (distance, -distance):
                    rows, beside = self._beside(step)
                    lengths[beside] += share * self.lengths[rows]
            norms = k1 * (1 - b + b * lengths / max(float(lengths.mean()), 1e-300))
            self._norms[key] = freeze(norms, np.float64)
        return self._norms[key]

    @cached_property
    def _near(self) -> dict[int, tuple[Rows, Rows]]:
        return {}

    def near(self, reach: int) -> tuple[Rows, Rows]:
        """Return how many neighbours are before and behind each, up to `reach`: int32 [n] each."""
        if reach not in self._near:
            before, behind = (np.zeros(len(self.runs), np.int32) for _ in range(2))
            for distance in range(1, reach + 1):
                for counts, step in ((before, -distance), (behind, distance)):
                    rows = self._beside(step)[0]
                    counts[rows[counts[rows] == distance - 1]] = distance
            self._near[reach] = freeze(before, np.int32), freeze(behind, np.int32)
        return self._near[reach]

    def _beside(self, step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the passages that have one so many places behind, and these."""
        every = np.arange(len(self.runs))
        rows = every[(every + step >= 0) & (every + step < len(every))]
        rows = rows[self.runs[rows] == self.runs[rows + step]]
        return rows, rows + step


def runs_of(documents: NDArray[np.int64], sections: Rows) -> NDArray[np.int64]:
    """Return the number of the run of neighbours that each passage is in: int64 [n], ascending.

    A passage is in the run of the one before it where both stand in one section, or in one document
    and one of the two fills its section alone.

    Args:
        documents: int64 [n], that of each passage; -1 for none.
        sections: int32 [n], what each one stands in directly.

    Example:
        >>> sections = np.array([1, 1, 2, 2, 3, 4, 4], np.int32)
        >>> runs_of(np.array([0, 0, 0, 0, 0, 1, 1]), sections).tolist()
        [0, 0, 1, 1, 1, 2, 2]
    """
    _, places, counts = np.unique(sections, return_inverse=True, return_counts=True)
    is_alone = counts[places] == 1
    together = (sections[1:] == sections[:-1]) | is_alone[1:] | is_alone[:-1]
    together &= (documents[1:] == documents[:-1]) & (documents[1:] >= 0)
    runs = np.zeros(len(documents), np.int64)
    np.cumsum(~together, out=runs[1:])
    return runs


@dataclass(frozen=True, eq=False)
class PassageSequence:
    """The words of all passages of a corpus in their order, of which some are neighbours.

    Attributes:
        places: int64 [nodes], the place of a node among the passages; -1 for what is none.
        neighbours: which they are.
        postings: how often each passage has each stem of the `InvertedIndex`.
        cohesion: how far neighbours show what a passage is about.
    """

    places: NDArray[np.int64]
    neighbours: PassageNeighbours
    postings: Postings
    cohesion: Cohesion = Cohesion()

    def bm25(self, weights: Mapping[int, float], shares: Sequence[float], norms: Floats) -> Floats:
        """Return the score of each passage and its neighbours by BM25: float64 [passages].

        Args:
            weights: the stems of a question, and how much each counts. How rare a stem is, is
                counted in passages; those that more than `MAX_SHARE` of them have are left out,
                where there are others.
            shares: as in `InNeighbours`.
            norms: see `PassageNeighbours.norms`.
        """
        n = len(norms)
        scores, sums = np.zeros(n), np.zeros(n)
        around, near = np.array(shares, np.float64), self.neighbours.near(len(shares))
        found = [(self.postings.of_term(stem), weight) for stem, weight in weights.items()]
        rare = [one for one in found if len(one[0][0]) <= MAX_SHARE * n]
        for of_term, weight in rare or found:
            idf = weight * self.postings.idf(len(of_term[0]))
            add_term_around(scores, sums, *of_term, *near, around, norms, idf)
        return scores


@dataclass(frozen=True)
class PassageSequencePart:
    """The part that computes the `PassageSequence` of a graph; None where there are no documents.

    A graph that is a part of a corpus is given that of the whole.
    """

    def compute(self, graph: Graph) -> PassageSequence | None:
        index: InvertedIndex = graph.part(InvertedIndexPart())
        documents: DocumentWords | None = graph.part(DocumentWordsPart())
        if documents is None:
            return None
        places = np.full(len(graph), -1, np.int64)
        places[index.rows] = np.arange(len(index.rows))
        runs = runs_of(documents.of_nodes[index.rows], graph.parents[index.rows])
        neighbours = PassageNeighbours(runs, index.postings.lengths)
        return PassageSequence(places, neighbours, index.postings, documents.cohesion)
