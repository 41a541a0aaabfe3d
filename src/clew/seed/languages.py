"""The language of every passage, for its words to be stemmed by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph, Rows
from clew.text.stems import MAX_LETTERS, identify_language

MAX_SAMPLE = 256  # documents, evenly spaced, whose languages are identified first
MAX_PASSAGES = 8  # whose letters are looked at, of a document
MIN_LETTERS = 64  # of a document whose language is identified by its own text
MIN_SHARE = 0.02  # of the sample, for a language to be one of the corpus


@dataclass(frozen=True, eq=False)
class Languages:
    """The languages of a corpus, and of each of its nodes.

    Attributes:
        names: ISO 639-1 codes, the most frequent first; "" for languages that are not stemmed.
        of_rows: int8 [nodes], each node's place among `names`.
    """

    names: tuple[str, ...]
    of_rows: NDArray[np.int8]


@dataclass(frozen=True)
class LanguagesPart:
    """The part that computes the `Languages` of a graph.

    A document has one language, which its first letters are identified by; a short one has that of
    the corpus as a whole. Where a sample of the documents has one language, all have: then the same
    rules stem a word on both sides, whatever the few others are in.

    Example:
        >>> graph = Graph.of(["The fox is in the wood.", "It is red, and the sky is blue."])
        >>> graph.part(LanguagesPart()).names
        ('en',)
    """

    def compute(self, graph: Graph) -> Languages:
        rows = graph.rows("passage")
        roots = _roots(graph)
        documents, first_rows = np.unique(roots[rows], return_index=True)
        places = np.linspace(0, len(documents) - 1, min(len(documents), MAX_SAMPLE))
        beginning = partial(_beginning, graph, rows, roots[rows])
        sample = [beginning(first) for first in first_rows[places.round().astype(np.int64)]]
        of_all = identify_language("\n".join(text[: MAX_LETTERS // 8] for text in sample))
        counts = Counter(
            identify_language(text) if len(text) >= MIN_LETTERS else of_all for text in sample
        )
        ranked = sorted(counts, key=lambda name: (-counts[name], name))
        names = tuple(name for name in ranked if counts[name] >= MIN_SHARE * len(sample))
        of_rows = np.zeros(len(graph), np.int8)
        if len(names) > 1:
            of_rows = _places_of(
                map(beginning, first_rows.tolist()), documents, roots, names, of_all
            )
        return Languages(names or ("",), of_rows)


def _places_of(
    beginnings: Iterable[str], documents: Rows, roots: Rows, names: tuple[str, ...], of_short: str
) -> NDArray[np.int8]:
    """The place among `names` of the language of every node, by the document that it stands in.

    Args:
        beginnings: how each document begins.
        documents: the outermost container of each.
        roots: the outermost container of every node.
        names: the languages to choose from.
        of_short: the language of a document that begins with too few letters.
    """
    place = {name: i for i, name in enumerate(names)}
    of_documents = np.zeros(len(roots), np.int8)
    of_documents[documents] = [
        place.get(identify_language(text, names) if len(text) >= MIN_LETTERS else of_short, 0)
        for text in beginnings
    ]
    return of_documents[roots]


def _roots(graph: Graph) -> Rows:
    """The outermost container of every node; itself where it has none."""
    roots = np.where(graph.parents >= 0, graph.parents, np.arange(len(graph)))
    while not np.array_equal(above := roots[roots], roots):
        roots = above
    return roots


def _beginning(graph: Graph, rows: Rows, roots: Rows, first: int) -> str:
    """The first letters of the document that begins at this place of the rows."""
    parts: list[str] = []
    some = slice(first, first + MAX_PASSAGES)
    for row in rows[some][roots[some] == roots[first]].tolist():
        parts.append(graph.texts[row])
        if sum(map(len, parts)) >= MAX_LETTERS:
            break
    return "\n".join(parts)
