"""BM25: a passage scores by the question's rare words in it, with its length allowed for.

Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond" (2009), in
Lucene's form, by the library bm25s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats, Graph, Rows, canonical_text, text_with_heading
from clew.text.words import terms
from clew.types import Query, Seeds


@dataclass(frozen=True)
class BM25:
    """Score nodes of the chosen kinds by BM25.

    Attributes:
        k1: how much a repeated word adds, >= 0.
        b: how far long passages are marked down, in [0, 1].
        kinds: the kinds of node that are searched.

    Example:
        >>> from clew import Graph, Query
        >>> graph = Graph.of(["red fox", "blue sky", "red sky at night"])
        >>> BM25().on(graph)(Query("a blue fox")).scores.round(2).tolist()
        [0.44, 0.44, 0.0]
    """

    k1: float = 1.5
    b: float = 0.75
    kinds: tuple[str, ...] = ("passage",)

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        index = graph.part(InvertedIndexPart(self.k1, self.b, self.kinds))

        def find_seeds(query: Query) -> Seeds:
            scores = np.zeros(len(graph))
            question_terms = terms(canonical_text(graph, query.text))
            known_terms = [term for term in question_terms if term in index.vocabulary]
            if not known_terms:
                note = "no word of the question occurs in the passages"
                return Seeds(scores, notes={"fallback": note})
            scores[index.rows] = index.scores(known_terms)
            return Seeds(scores)

        return find_seeds


class Engine(Protocol):
    """What is used of an index of the library bm25s.

    Attributes:
        scores: its compressed columns, by name.
    """

    scores: Mapping[str, NDArray[np.generic]]

    def get_scores(self, query_tokens_single: list[str]) -> Floats:
        """Return the score of every document for these terms."""
        ...


@dataclass(frozen=True, eq=False)
class InvertedIndex:
    """The terms of some nodes, and what each term adds to the score of each node.

    Attributes:
        rows: the indexed nodes.
        vocabulary: every term and its number.
        engine: the index of the library bm25s.
    """

    rows: Rows
    vocabulary: Mapping[str, int]
    engine: Engine

    def scores(self, known_terms: list[str]) -> Floats:
        """Return the score of every indexed node for terms of the vocabulary."""
        return self.engine.get_scores(known_terms)


@dataclass(frozen=True)
class InvertedIndexPart:
    """The part that computes the `InvertedIndex` of a graph.

    Attributes:
        k1: see `BM25`.
        b: see `BM25`.
        kinds: see `BM25`.

    Example:
        >>> from clew import Graph
        >>> graph = Graph.of(["red fox", "red sky"])
        >>> index = graph.part(InvertedIndexPart(1.5, 0.75, ("passage",)))
        >>> "fox" in index.vocabulary, "cat" in index.vocabulary
        (True, False)
    """

    k1: float
    b: float
    kinds: tuple[str, ...]

    def compute(self, graph: Graph) -> InvertedIndex:
        import bm25s

        rows = graph.rows(*self.kinds)
        vocabulary: dict[str, int] = {}
        ids = [
            [
                vocabulary.setdefault(term, len(vocabulary))
                for term in terms(text_with_heading(graph, row))
            ]
            for row in rows
        ]
        engine = bm25s.BM25(k1=self.k1, b=self.b, method="lucene")
        if vocabulary:
            engine.index((ids, vocabulary), show_progress=False)
        return InvertedIndex(rows, vocabulary, engine)
