"""The sentences that say most of what several passages have in common.

A sentence is a vector of its words. The weight of a word is how often it stands there, times the
logarithm of how rare it is among all passages. The sentences nearest to the mean of all are taken,
those at the beginning of a passage before later ones, and none that repeats another. After Radev,
Jing, Styś and Tam, "Centroid-based summarization of multiple documents", Information Processing and
Management 40 (2004).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clew.algorithms.ranking import exceeds, top_k
from clew.graph import Graph, Rows
from clew.text.spans import sentences
from clew.text.words import words

MAX_COSINE = 0.6  # above it a sentence repeats another
MAX_SHARE = 0.5  # of the limit: a longer sentence leaves no room for others
MIN_WORDS = 4  # fewer are a heading or a fragment

WordVector = dict[str, float]


@dataclass(frozen=True)
class RarityPart:
    """The part that is the rarity of every word: log(1 + passages / passages that have it).

    Example:
        >>> rarity = Graph.of(["red fish", "blue fish"]).part(RarityPart())
        >>> rarity["red"] > rarity["fish"]
        True
    """

    def compute(self, graph: Graph) -> Mapping[str, float]:
        rows = np.flatnonzero(graph.content).tolist()
        counts = Counter(word for row in rows for word in set(words(graph.texts[row])))
        return {word: math.log(1 + len(rows) / count) for word, count in counts.items()}


def most_central(graph: Graph, rows: Sequence[int], max_rows: int) -> list[int]:
    """Return at most `max_rows` of the rows, those nearest to the mean of their vectors, ascending.

    Without vectors they are the first.
    """
    array = np.asarray(rows, np.int64)
    if len(array) <= max_rows:
        return sorted(array.tolist())
    vectors = graph.vectors[array].astype(np.float64)
    products = np.einsum("ij,j->i", vectors, vectors.mean(axis=0))
    return sorted(array[top_k(products, max_rows)].tolist())


def extract(graph: Graph, rows: Sequence[int], max_tokens: int) -> str:
    """Return the sentences of passages that are nearest to their mean, in document order.

    Args:
        graph: the graph.
        rows: of the passages.
        max_tokens: the most tokens of the extract, by the graph's counter.

    Example:
        >>> graph = Graph.of(["The sea is deep and blue. The sea is deep and cold. Anna came."])
        >>> extract(graph, [0], 10)
        'The sea is deep and blue.'
    """
    rarity = graph.part(RarityPart())
    placed = [
        pair
        for row in in_document_order(graph, rows)
        for pair in enumerate(_sentences(graph.texts[row]), 1)
    ]
    texts = [text for _, text in placed]
    vectors = [_word_vector(words(text), rarity) for text in texts]
    total = Counter[str]()
    for vector in vectors:
        total.update(vector)
    mean = _unit(total)
    centrality = np.array(
        [
            _cosine(vector, mean) / math.sqrt(place)
            for vector, (place, _) in zip(vectors, placed, strict=True)
        ]
    )
    chosen = list[int]()
    for at in top_k(centrality).tolist():
        too_long = chosen and graph.count(texts[at]) > MAX_SHARE * max_tokens
        if centrality[at] <= 0 or len(vectors[at]) < MIN_WORDS or too_long:
            continue
        if any(exceeds(_cosine(vectors[at], vectors[other]), MAX_COSINE) for other in chosen):
            continue
        if graph.count(" ".join(texts[i] for i in sorted([*chosen, at]))) <= max_tokens:
            chosen.append(at)
    return " ".join(texts[i] for i in sorted(chosen))


def distinctive_words(graph: Graph, rows: Iterable[int], max_words: int) -> list[str]:
    """Return the words that set passages apart from others, the most distinctive first.

    Example:
        >>> graph = Graph.of(["red fish", "blue fish"])
        >>> distinctive_words(graph, [0], 1)
        ['red']
    """
    rarity = graph.part(RarityPart())
    counts = Counter(word for row in rows for word in set(words(graph.texts[row])) if len(word) > 2)
    known = sorted(counts)
    scores = np.array([counts[word] * rarity.get(word, 0.0) ** 2 for word in known])
    return [known[i] for i in top_k(scores, max_words).tolist()]


def in_document_order(graph: Graph, rows: Iterable[int] | Rows) -> list[int]:
    """Return the rows in the order of their documents and of the text in these."""
    return sorted(
        (int(row) for row in rows),
        key=lambda row: (int(graph.documents[row]), int(graph.spans[row, 0]), row),
    )


def _sentences(text: str) -> list[str]:
    return [" ".join(text[a:b].split()) for a, b in sentences(text, 0, len(text), "en")]


def _word_vector(text_words: Sequence[str], rarity: Mapping[str, float]) -> WordVector:
    counts = Counter(text_words)
    return _unit({word: count * rarity.get(word, 0.0) for word, count in counts.items()})


def _unit(vector: Mapping[str, float]) -> WordVector:
    norm = math.sqrt(sum(value * value for value in vector.values()))
    return {word: value / norm for word, value in vector.items()} if norm > 0 else {}


def _cosine(one: WordVector, other: WordVector) -> float:
    if len(other) < len(one):
        one, other = other, one
    return sum(value * other[word] for word, value in one.items() if word in other)
