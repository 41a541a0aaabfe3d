"""BM25: rare words of the question, found in the passage, with its length allowed for.

Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond" (2009), in Lucene's form, by the library bm25s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.graph import Graph, Rows, canonical_text, text_with_heading
from clew.text.words import terms
from clew.types import Query, Seeds


@dataclass(frozen=True)
class BM25:
    """Weights are BM25 scores of nodes of the chosen kinds, >= 0."""

    k1: float = 1.5
    b: float = 0.75
    kinds: tuple[str, ...] = ("passage",)

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        index = graph.part(InvertedIndex(self.k1, self.b, self.kinds))

        def touch(query: Query) -> Seeds:
            weights = np.zeros(len(graph))
            known = [
                word
                for word in terms(canonical_text(graph, query.text))
                if word in index.vocabulary
            ]
            if known:
                weights[index.rows] = index.scores(known)
            return Seeds(
                weights,
                notes={}
                if known
                else {"fallback": "no word of the question occurs in the passages"},
            )

        return touch


@dataclass(frozen=True, eq=False)
class Inverted:
    """The words of a graph's passages with their scores."""

    rows: Rows
    vocabulary: dict[str, int]
    engine: Any

    def scores(self, known: list[str]) -> Any:
        return self.engine.get_scores(known)


@dataclass(frozen=True)
class InvertedIndex:
    """The part that makes `Inverted`."""

    k1: float
    b: float
    kinds: tuple[str, ...]

    def compute(self, graph: Graph) -> Inverted:
        import bm25s

        rows = graph.rows(*self.kinds)
        vocabulary: dict[str, int] = {}
        ids = [
            [
                vocabulary.setdefault(word, len(vocabulary))
                for word in terms(text_with_heading(graph, row))
            ]
            for row in rows
        ]
        engine = bm25s.BM25(k1=self.k1, b=self.b, method="lucene")
        if vocabulary:
            engine.index((ids, vocabulary), show_progress=False)
        return Inverted(rows, vocabulary, engine)
