"""The sentences that say most of what several passages have in common.

A sentence is a vector of its words, each weighted by how often it stands there times the logarithm of how rare it is among all passages;
the nearest to the mean of them all are taken, those at the beginning of a passage before later ones, none that repeats another (after
Radev, Jing, Styś and Tam, "Centroid-based summarization of multiple documents", Information Processing and Management 40 (2004)).
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

ALIKE = 0.6  # cosine above which a sentence says what another has said
LONGEST = 0.5  # of the room: a longer sentence leaves none for others
FEWEST = 4  # words: less is a heading or a fragment

Bag = dict[str, float]


@dataclass(frozen=True)
class Rarity:
    """The part that knows how rare every word of the content is: log(1 + passages / passages that have it)."""

    def compute(self, graph: Graph) -> Mapping[str, float]:
        rows = np.flatnonzero(graph.content).tolist()
        within = Counter(word for row in rows for word in set(words(graph.texts[row])))
        return {word: math.log(1 + len(rows) / number) for word, number in within.items()}


def nearest(graph: Graph, rows: Sequence[int], most: int) -> list[int]:
    """Return at most so many of the rows, those nearest to the mean of their vectors, ascending; without vectors the first."""
    taken = np.asarray(rows, np.int64)
    if len(taken) <= most:
        return sorted(taken.tolist())
    vectors = graph.vectors[taken].astype(np.float64)
    return sorted(taken[top_k(np.einsum("ij,j->i", vectors, vectors.mean(axis=0)), most)].tolist())


def extract(graph: Graph, rows: Sequence[int], room: int) -> str:
    """Return the sentences of the passages nearest to their mean, in the order of the documents, in at most `room` tokens."""
    rarity = graph.part(Rarity())
    placed = [
        pair for row in in_order(graph, rows) for pair in enumerate(_sentences(graph.texts[row]), 1)
    ]
    said = [text for _, text in placed]
    bags = [_bag(words(text), rarity) for text in said]
    mean = Counter[str]()
    for bag in bags:
        mean.update(bag)
    whole = _unit(mean)
    worth = np.array(
        [
            _cosine(bag, whole) / math.sqrt(place)
            for bag, (place, _) in zip(bags, placed, strict=True)
        ]
    )
    taken = list[int]()
    for at in top_k(worth).tolist():
        if (
            worth[at] <= 0
            or len(bags[at]) < FEWEST
            or (taken and graph.count(said[at]) > LONGEST * room)
        ):
            continue
        if any(exceeds(_cosine(bags[at], bags[other]), ALIKE) for other in taken):
            continue
        if graph.count(" ".join(said[i] for i in sorted([*taken, at]))) <= room:
            taken.append(at)
    return " ".join(said[i] for i in sorted(taken))


def telling(graph: Graph, rows: Iterable[int], most: int) -> list[str]:
    """Return the words that set the passages apart from others, the most telling first."""
    rarity = graph.part(Rarity())
    found = Counter(word for row in rows for word in set(words(graph.texts[row])) if len(word) > 2)
    known = sorted(found)
    return [
        known[i]
        for i in top_k(
            np.array([found[word] * rarity.get(word, 0.0) ** 2 for word in known]), most
        ).tolist()
    ]


def in_order(graph: Graph, rows: Iterable[int] | Rows) -> list[int]:
    """Return the rows as their documents have them."""
    return sorted(
        (int(row) for row in rows),
        key=lambda row: (int(graph.documents[row]), int(graph.spans[row, 0]), row),
    )


def _sentences(text: str) -> list[str]:
    return [" ".join(text[a:b].split()) for a, b in sentences(text, 0, len(text), "en")]


def _bag(found: Sequence[str], rarity: Mapping[str, float]) -> Bag:
    return _unit({word: number * rarity.get(word, 0.0) for word, number in Counter(found).items()})


def _unit(bag: Mapping[str, float]) -> Bag:
    norm = math.sqrt(sum(value * value for value in bag.values()))
    return {word: value / norm for word, value in bag.items()} if norm > 0 else {}


def _cosine(one: Bag, other: Bag) -> float:
    if len(other) < len(one):
        one, other = other, one
    return sum(value * other[word] for word, value in one.items() if word in other)
