"""Passages that are found by their section: in a long one each counts for less.

The words of a heading, and what the document around says, count for every passage of a section. A
section of one passage is about what its heading says; of ten passages, few answer. So the score is
divided by a small power of their number, as pivoted normalization does with the length of a
document (Singhal, Buckley and Mitra, SIGIR 1996). A section that begins with a line of its own that
repeats its heading, as a definition in a reference begins with its signature, is an entry of the
section around, and no subject of its own: it counts as one of several passages. A passage of a list
of many subjects, such as the options of a command, counts as if it were alone.

A file or a class of source code is a section, too, and a long one has many functions, of which each
is a subject of its own. So where a question asks what something is or does, a passage of source
code is divided by a smaller power.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from clew.graph import Graph
from clew.seed._kinds_of_files import best_rows, kinds_of
from clew.seed._wanted import asks_what_is
from clew.seed.in_summaries import InSummaries
from clew.seed.section_sizes import OF_LIST, SectionSizesPart
from clew.types import Query, Seed, Seeds


@dataclass(frozen=True)
class InSections:
    """Score by another seed, and passages of long sections lower: score / n ** exponent.

    n is the number of passages that are directly in the section, or in the document where it has no
    sections; of an entry at least `ENTRY`, for a lead-in at least `LEAD_IN`, and 1 for one of many
    subjects. A passage that is in neither keeps its score. Where a question asks what something is,
    the exponent is smaller for passages of source code among the best, those of tests included.

    Attributes:
        seed: the other seed.
        exponent: how much the length of a section counts, >= 0.
        most: from so many passages on sections are equally long, >= 1.
        code_share: of the exponent that counts for source code there, in [0, 1].

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

    seed: Seed = InSummaries()
    exponent: float = 0.1
    most: int = 8
    code_share: float = 0.25

    def __post_init__(self) -> None:
        if not (self.exponent >= 0 and self.most >= 1):
            raise ValueError(
                "exponent is how much the length of a section counts, at least 0, and most the "
                f"passages of a long one, at least 1; got {self.exponent!r} and {self.most!r}"
            )
        if not 0 <= self.code_share <= 1:
            raise ValueError(
                "code_share is what source code keeps of the exponent, from 0 to 1; "
                f"got {self.code_share!r}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_alone = self.seed.on(graph)
        rows = graph.rows("passage")
        rows = rows[graph.parents[rows] >= 0]
        if not len(rows):
            return find_alone
        counts = graph.part(SectionSizesPart())
        passages = np.minimum(np.maximum(counts[graph.parents[rows]], counts[rows]), self.most)
        passages[counts[rows] == OF_LIST] = 1
        factors = np.ones(len(graph))
        factors[rows] = passages ** -float(self.exponent)

        def find_seeds(query: Query) -> Seeds:
            seeds = find_alone(query)
            scores = seeds.scores * factors
            if self.code_share < 1 and asks_what_is(query.text):
                best = best_rows(seeds)
                kinds = kinds_of(graph, best)
                of_code = best[[kind in ("code", "test") for kind in kinds]]
                scores[of_code] = seeds.scores[of_code] * factors[of_code] ** self.code_share
            return replace(seeds, scores=scores)

        return find_seeds
