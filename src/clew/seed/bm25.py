"""BM25: a passage scores by the question's rare words in it, with its length allowed for.

Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond" (2009), in
Lucene's form, by the library bm25s. Words are compared by their stems in the language of the
document (`clew.text.stems`). A heading is a field of its own (BM25F): its words count as if they
occurred `heading_weight` times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats, Graph, Rows, canonical_text, text_with_heading
from clew.graph.headings import titles_of
from clew.seed._languages import LanguagesPart
from clew.text.stems import identify_language, stem_words
from clew.text.words import terms
from clew.types import Query, Seeds


@dataclass(frozen=True)
class BM25:
    """Score nodes of the chosen kinds by BM25.

    Attributes:
        k1: how much a repeated word adds, >= 0.
        b: how far long passages are marked down, in [0, 1].
        kinds: the kinds of node that are searched.
        heading_weight: how often a word of a heading counts, >= 1.

    Example:
        >>> from clew import Graph, Query
        >>> graph = Graph.of(["red fox", "blue sky", "red sky at night"])
        >>> BM25().on(graph)(Query("a blue fox")).scores.round(2).tolist()
        [0.44, 0.44, 0.0]
    """

    k1: float = 1.5
    b: float = 0.75
    kinds: tuple[str, ...] = ("passage",)
    heading_weight: int = 2

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        index = graph.part(InvertedIndexPart(self))

        def find_seeds(query: Query) -> Seeds:
            scores = np.zeros(len(graph))
            known_stems = index.stems_in(canonical_text(graph, query.text))
            if not known_stems:
                note = "no word of the question occurs in the passages"
                return Seeds(scores, notes={"fallback": note})
            scores[index.rows] = index.scores(known_stems)
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
    """The stems of some nodes, and what each stem adds to the score of each node.

    Attributes:
        rows: the indexed nodes.
        vocabulary: every stem and its number.
        forms: every term, as it is written, and the number of its stem.
        languages: the languages of the nodes, the most frequent first.
        engine: the index of the library bm25s.
    """

    rows: Rows
    vocabulary: Mapping[str, int]
    forms: Mapping[str, int]
    languages: tuple[str, ...]
    engine: Engine

    def stems_in(self, text: str) -> list[str]:
        """Return the stems of a question, as often as they occur, that some node has.

        They are those of the question's own language, or else of another one of the corpus.
        """
        own = identify_language(text, self.languages)
        languages = dict.fromkeys([own, *self.languages])
        stems_of_terms = zip(*(stem_words(terms(text), one) for one in languages), strict=True)
        known = ([stem for stem in stems if stem in self.vocabulary] for stems in stems_of_terms)
        return [stems[0] for stems in known if stems]

    def scores(self, known_stems: list[str]) -> Floats:
        """Return the score of every indexed node for stems of the vocabulary."""
        return self.engine.get_scores(known_stems)


@dataclass(frozen=True)
class InvertedIndexPart:
    """The part that computes the `InvertedIndex` of a graph.

    Attributes:
        bm25: whose parameters hold.

    Example:
        >>> from clew import Graph
        >>> graph = Graph.of(["The foxes are in the red wood.", "The sky is red."])
        >>> graph.part(InvertedIndexPart(BM25())).stems_in("Is there a fox, or a cat?")
        ['is', 'fox']
    """

    bm25: BM25

    def compute(self, graph: Graph) -> InvertedIndex:
        import bm25s

        rows = graph.rows(*self.bm25.kinds)
        languages = graph.part(LanguagesPart())
        numbering = [_Numbering(name) for name in languages.names]
        vocabulary: dict[str, int] = {}
        ids = [
            numbering[languages.of_rows[row]].number(self._terms(graph, row), vocabulary)
            for row in rows.tolist()
        ]
        engine = bm25s.BM25(k1=self.bm25.k1, b=self.bm25.b, method="lucene")
        if vocabulary:
            engine.index((ids, vocabulary), show_progress=False)
        forms = {term: n for one in reversed(numbering) for term, n in one.number_of.items()}
        return InvertedIndex(rows, vocabulary, forms, languages.names, engine)

    def _terms(self, graph: Graph, row: int) -> list[str]:
        """The terms of a node, those of its heading as often as they count."""
        collected = terms(text_with_heading(graph, row))
        if self.bm25.heading_weight > 1 and (titles := titles_of(graph, row)):
            in_heading = terms(canonical_text(graph, "\n".join(titles)))
            collected += in_heading * (self.bm25.heading_weight - 1)
        return collected


class _Numbering:
    """The number of the stem of every term of one language, made as the terms are met."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.number_of: dict[str, int] = {}

    def number(self, text_terms: list[str], vocabulary: dict[str, int]) -> list[int]:
        """Return the numbers of the stems of a text; new stems get the next numbers."""
        new = [term for term in dict.fromkeys(text_terms) if term not in self.number_of]
        for term, stem in zip(new, stem_words(new, self.language), strict=True):
            self.number_of[term] = vocabulary.setdefault(stem, len(vocabulary))
        return [self.number_of[term] for term in text_terms]
