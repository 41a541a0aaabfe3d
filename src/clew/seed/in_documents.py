"""Passages that count the words of the whole document that they stand in.

A passage is short, and says little of what it is about: that stands in the document around it. So
the words of the whole document count beside those of the passage (Callan, "Passage-level evidence
in document retrieval", SIGIR 1994, combines the two for documents). Vectors do not: the mean of
what a long document says is near to nothing in particular.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.mixing import added_of_owners
from clew.algorithms.postings import GroupedPostings
from clew.graph import Graph, canonical_text
from clew.seed.blend import Blend, best_of, scale_to_best
from clew.seed.bm25 import InvertedIndex, InvertedIndexPart
from clew.seed.cohesion import Cohesion, measure_cohesion
from clew.types import Query, Seed, Seeds


@dataclass(frozen=True)
class InDocuments:
    """Score by another seed, and by BM25 of the document around each node.

    The score is a weighted mean of both, each scaled so that the best has 1. What the other seed
    does not score has no score. Where no node is in a document, its scores stay as they are. A
    corpus that is a single document is taken by its chapters. Where passages of one document
    have no more in common than any two (`Cohesion`), it counts for nothing.

    Attributes:
        seed: the other seed.
        weight: of the document, beside 1 for the node, >= 0; less where passages of one document
            have little in common.
        k1: as in `BM25`.
        b: as in `BM25`.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query
        >>> from clew.seed import BM25
        >>> graph = Graph.of(
        ...     ["Ferries", "They sail at ten.", "and at noon.", "Trains", "They run at ten."],
        ...     kinds=["document", "passage", "passage", "document", "passage"],
        ...     parents=[-1, 0, 0, -1, 3],
        ... )
        >>> query = Query("When do they sail: at noon?")
        >>> BM25().on(graph)(query).scores.round(2).tolist()
        [0.0, 0.5, 0.47, 0.0, 0.11]
        >>> InDocuments(BM25()).on(graph)(query).scores.round(2).tolist()
        [0.0, 1.0, 0.96, 0.0, 0.22]
    """

    seed: Seed = Blend()
    weight: float = 0.2
    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        if not self.weight >= 0:
            raise ValueError(
                f"weight is how much the document counts beside the passage, at least 0; "
                f"got {self.weight!r}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_alone = self.seed.on(graph)
        index, documents = graph.part(InvertedIndexPart()), graph.part(DocumentWordsPart())
        if documents is None or not self.weight:
            return find_alone
        owners = documents.of_nodes  # the last is that of a node in no document
        weight = self.weight * documents.cohesion.documents
        if not weight:
            return find_alone

        def find_seeds(query: Query) -> Seeds:
            seeds = find_alone(query)
            weights = index.weights_in(canonical_text(graph, query.text))
            if not weights:
                return seeds
            by_document = documents.postings.bm25(weights, self.k1, self.b)
            around = np.append(weight * scale_to_best(by_document), 0.0)
            alone = np.asarray(seeds.scores, np.float64)
            whole = 1 + weight
            scores = added_of_owners(alone, best_of(alone), around, owners, whole)
            return replace(seeds, scores=scores)

        return find_seeds


@dataclass(frozen=True, eq=False)
class DocumentWords:
    """The words of whole documents.

    Attributes:
        of_nodes: int64 [nodes], the number of the document that a node stands in, or -1.
        postings: how often each document has each stem of the `InvertedIndex`.
        cohesion: how far a document shows what its passages are about.
    """

    of_nodes: NDArray[np.int64]
    postings: GroupedPostings
    cohesion: Cohesion = Cohesion()


@dataclass(frozen=True)
class DocumentWordsPart:
    """The part that computes the `DocumentWords` of a graph; None where there are no documents."""

    def compute(self, graph: Graph) -> DocumentWords | None:
        index: InvertedIndex = graph.part(InvertedIndexPart())
        around = outermost_containers(graph)
        with_passages = around[index.rows]
        if (with_passages == index.rows).all():
            return None
        containers, places = np.unique(with_passages, return_inverse=True)
        number = np.full(len(graph), -1, np.int64)
        number[containers] = np.arange(len(containers))
        postings = index.postings.grouped(places, len(containers))
        return DocumentWords(number[around], postings, graph.part(CohesionPart()))


@dataclass(frozen=True)
class CohesionPart:
    """The part that computes the `Cohesion` of a graph, by the document around each passage."""

    of_vectors: ClassVar[bool] = False

    def compute(self, graph: Graph) -> Cohesion:
        rows = graph.part(InvertedIndexPart()).rows
        _, places = np.unique(outermost_containers(graph)[rows], return_inverse=True)
        return measure_cohesion(graph, rows, places)


def containers_at_the_top(graph: Graph) -> NDArray[np.int64]:
    """The outermost container of every node, or itself."""
    nodes = np.arange(len(graph))
    tops = np.where(graph.parents >= 0, graph.parents, nodes).astype(np.int64)
    while not np.array_equal(above := tops[tops], tops):
        tops = above
    return tops


def outermost_containers(graph: Graph) -> NDArray[np.int64]:
    """The outermost container of every node, or itself; below that where all have the same."""
    tops = containers_at_the_top(graph)
    passages = graph.rows("passage")
    top = tops[passages[0]] if len(passages) else -1
    if len(passages) < 2 or (tops[passages] != top).any():
        return tops
    nodes = np.arange(len(graph))
    parents = np.where(graph.parents >= 0, graph.parents, nodes).astype(np.int64)
    chapters = np.where(parents == top, nodes, parents)  # ends below the top
    while not np.array_equal(above := chapters[chapters], chapters):
        chapters = above
    return chapters
