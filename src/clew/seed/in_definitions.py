"""Passages that say what a term is, where a question asks for that.

"What is a blob?" shares one word with every passage that uses blobs, and the short ones win. The
one that is meant has the term as its heading or in a line by itself, or says "A blob is ..."
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Graph
from clew.seed.in_phrases import InPhrases
from clew.text.definitions import DefinitionQuestion
from clew.types import Query, Seed, Seeds


@dataclass(frozen=True)
class InDefinitions:
    """Score by another seed, and higher what defines the term that is asked for.

    Attributes:
        seed: the other seed.
        entry: what a line with the term alone, or a heading of it, adds to the factor 1, >= 0.
        sentence: what a sentence that says what the term is adds, >= 0.
        most: so many of the best passages are looked at, >= 1.

    Example:
        >>> from clew import Graph, Query
        >>> from clew.seed import BM25
        >>> graph = Graph.of(["See blob.", "A blob is the contents of a file."])
        >>> InDefinitions(BM25()).on(graph)(Query("blob")).scores.round(2).tolist()
        [0.1, 0.06]
        >>> InDefinitions(BM25()).on(graph)(Query("Define blob")).scores.round(2).tolist()
        [0.1, 0.11]
    """

    seed: Seed = InPhrases()
    entry: float = 2.0
    sentence: float = 1.0
    most: int = 300

    def __post_init__(self) -> None:
        if not (self.entry >= 0 and self.sentence >= 0 and self.most >= 1):
            raise ValueError(
                "entry and sentence are what a definition adds to the factor 1, at least 0, and "
                f"most the passages that are looked at, at least 1; got {self.entry!r}, "
                f"{self.sentence!r} and {self.most!r}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_alone = self.seed.on(graph)

        def find_seeds(query: Query) -> Seeds:
            seeds = find_alone(query)
            asked = DefinitionQuestion.of(query.text)
            if asked is None:
                return seeds
            scores = np.array(seeds.scores, dtype=np.float64)
            for row in top_k(scores, self.most).tolist():
                if scores[row] > 0:
                    scores[row] *= 1 + self._gain(asked, graph, row)
            return replace(seeds, scores=scores)

        return find_seeds

    def _gain(self, asked: DefinitionQuestion, graph: Graph, row: int) -> float:
        text, above = graph.texts[row], int(graph.parents[row])
        is_entry = asked.is_entry_in(text) or (
            above >= 0 and row == above + 1 and asked.is_named_by(graph.texts[above])
        )
        return self.entry * is_entry + self.sentence * asked.is_defined_in(text)
