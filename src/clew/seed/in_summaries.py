"""Passages that count what the summary of their document says.

The summary says in a few words what a whole document is about: the abstract of a paper or a
proposal, and NAME of a manual page, which is all that `apropos` searches. An option of a command
does not say what the command is for. So the score of the summary counts beside that of each
passage of its document; what the summary itself gains by that is less, since it says little else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from clew.algorithms.kernels.mixing import raised_by_others
from clew.graph import Graph
from clew.seed.in_documents import DocumentWordsPart
from clew.seed.in_neighbours import InNeighbours
from clew.seed.section_sizes import SUMMARY, SectionSizesPart
from clew.types import Query, Seed, Seeds


@dataclass(frozen=True)
class InSummaries:
    """Score by another seed, and by the summary of the document around: their weighted mean.

    A passage of a document without a summary keeps its score, and so does what has none.

    Attributes:
        seed: the other seed.
        weight: of the summary, beside 1 for the passage, >= 0.
        own: what the summary's score counts for itself, in [0, 1].

    Example:
        >>> from clew import Graph, Query
        >>> from clew.seed import BM25
        >>> graph = Graph.of(
        ...     ["uniq", "NAME", "Omit repeated lines.", "-c Count lines.", "-c Count lines."],
        ...     kinds=["document", "section", "passage", "passage", "passage"],
        ...     parents=[-1, 0, 1, 0, -1],
        ... )
        >>> query = Query("count repeated lines")
        >>> BM25().on(graph)(query).scores.round(2).tolist()
        [0.0, 0.0, 0.38, 0.24, 0.29]
        >>> InSummaries(BM25()).on(graph)(query).scores.round(2).tolist()
        [0.0, 0.0, 0.32, 0.28, 0.29]
    """

    seed: Seed = InNeighbours()
    weight: float = 0.4
    own: float = 0.5

    def __post_init__(self) -> None:
        if not (self.weight >= 0 and 0 <= self.own <= 1):
            raise ValueError(
                "weight is how much a summary counts beside the passage, at least 0, and own how "
                f"much for itself, from 0 to 1; got {self.weight!r} and {self.own!r}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_alone, documents = self.seed.on(graph), graph.part(DocumentWordsPart())
        if documents is None or not self.weight:
            return find_alone
        passages = graph.rows("passage")
        summaries = passages[graph.part(SectionSizesPart())[passages] == SUMMARY]
        if not len(summaries):
            return find_alone
        owners = documents.of_nodes[passages]
        summary_of = np.full(int(owners.max()) + 2, -1, np.int64)  # the last is that of no document
        summary_of[documents.of_nodes[summaries]] = summaries
        summary_of[-1] = -1
        rows, of_rows = passages[summary_of[owners] >= 0], summary_of[owners]
        of_rows = of_rows[of_rows >= 0]
        weights = np.where(of_rows == rows, self.weight * self.own, self.weight)

        def find_seeds(query: Query) -> Seeds:
            seeds = find_alone(query)
            alone = np.asarray(seeds.scores, np.float64)
            scores = raised_by_others(alone, rows, of_rows, weights, 1 + self.weight)
            return replace(seeds, scores=scores)

        return find_seeds
