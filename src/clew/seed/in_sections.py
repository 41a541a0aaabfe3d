"""Passages that are found by their section: in a long one each counts for less.

The words of a heading, and what the document around says, count for every passage of a section. A
section of one passage is about what its heading says; of ten passages, few answer. So the score is
divided by a small power of their number, as pivoted normalization does with the length of a
document (Singhal, Buckley and Mitra, SIGIR 1996). A section that begins with a line of its own that
repeats its heading, as a definition in a reference begins with its signature, is an entry of the
section around, and no subject of its own: it counts as one of several passages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph
from clew.seed.in_documents import InDocuments
from clew.types import Query, Seed, Seeds

_WORDS = re.compile(r"(?:@|\w+ ){0,4}")  # before a name in its signature, such as "async with"
_SENTENCE_ENDS = (".", "!", "?", ":", ";", ",")
_BEHIND = ("", "(", "[", " ", ":", "=")  # a name in its signature
ENTRY = 3  # passages that an entry of a reference counts as
LEAD_IN = 8  # passages that the section of a lead-in counts as, for it
MAX_LEAD_IN = 24  # words of a lead-in


@dataclass(frozen=True)
class InSections:
    """Score by another seed, and passages of long sections lower: score / n ** exponent.

    n is the number of passages that are directly in the section, or in the document where it has no
    sections; of an entry at least `ENTRY`, for a lead-in at least `LEAD_IN`. A passage that is in
    neither keeps its score.

    Attributes:
        seed: the other seed.
        exponent: how much the length of a section counts, >= 0.
        most: from so many passages on sections are equally long, >= 1.

    Example:
        >>> from clew import Graph, Query
        >>> from clew.seed import BM25
        >>> graph = Graph.of(
        ...     ["Ferries", "They sail at ten.", "They berth.", "Trains", "They sail at ten."],
        ...     kinds=["section", "passage", "passage", "section", "passage"],
        ...     parents=[-1, 0, 0, -1, 3],
        ... )
        >>> InSections(BM25(), exponent=1).on(graph)(Query("sail")).scores.round(2).tolist()
        [0.0, 0.09, 0.0, 0.0, 0.18]
    """

    seed: Seed = InDocuments()
    exponent: float = 0.1
    most: int = 8

    def __post_init__(self) -> None:
        if not (self.exponent >= 0 and self.most >= 1):
            raise ValueError(
                "exponent is how much the length of a section counts, at least 0, and most the "
                f"passages of a long one, at least 1; got {self.exponent!r} and {self.most!r}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_alone = self.seed.on(graph)
        rows = graph.rows("passage")
        rows = rows[graph.parents[rows] >= 0]
        if not len(rows):
            return find_alone
        counts = graph.part(SectionSizesPart())
        passages = np.minimum(np.maximum(counts[graph.parents[rows]], counts[rows]), self.most)
        factors = np.ones(len(graph))
        factors[rows] = passages ** -float(self.exponent)

        def find_seeds(query: Query) -> Seeds:
            seeds = find_alone(query)
            return replace(seeds, scores=seeds.scores * factors)

        return find_seeds


@dataclass(frozen=True)
class SectionSizesPart:
    """The part that counts the passages that are directly in each node, int64 [n].

    An entry of a reference has at least `ENTRY`. A passage has `LEAD_IN` where it leads in the
    sections below its own, else 0. A graph that is a part of a corpus is given the counts of the
    whole.
    """

    def compute(self, graph: Graph) -> NDArray[np.int64]:
        rows = graph.rows("passage")
        parents = graph.parents[rows]
        counts = np.bincount(parents[parents >= 0], minlength=len(graph))
        for section in parents[(parents >= 0) & (parents == rows - 1)].tolist():
            if counts[section] < ENTRY and _is_entry(
                graph.texts[section], graph.texts[section + 1]
            ):
                counts[section] = ENTRY
        has_sections = np.zeros(len(graph) + 1, np.bool_)  # the last is for nodes that are in none
        has_sections[graph.parents[graph.rows("section")]] = True
        has_sections[-1] = False
        for row in rows[has_sections[parents]].tolist():
            if len(graph.texts[row].split(None, MAX_LEAD_IN)) < MAX_LEAD_IN:
                counts[row] = LEAD_IN
        return counts


def _is_entry(heading: str, text: str) -> bool:
    """Return whether a text begins with a signature, in a line of its own, of what is above it."""
    line, _, described = text.partition("\n\n")
    name, line = heading.partition(", ")[0].replace("`", ""), line.replace("`", "")
    if not name or " " in name or name not in line or "\n" in line or not described:
        return False
    if line.rstrip().endswith(_SENTENCE_ENDS):
        return False
    words_before, _, behind = line.partition(name)
    return _WORDS.fullmatch(words_before) is not None and behind[:1] in _BEHIND
