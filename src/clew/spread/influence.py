"""Influence: how much a walk that starts again at the terminals comes by.

AGRAG (arXiv 2511.05549), equations 1 to 5. The printed product averages over neighbours; as its own references have it, the walk's
transpose is meant, and as its own scores lie in (0, 1), a reset vector of sum 1. The factor 0.05 on passages, which the paper applies after
the walk "following" HippoRAG 2, is there a factor on the passages' part of the reset vector; its authors' code applies none. All three can
be had.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.pagerank.full import Walk, WalkPart, build_walk, pagerank
from clew.algorithms.pagerank.uniform_jumps import JumpsPart, pagerank_over
from clew.algorithms.ranking import min_max_scale
from clew.graph import Floats, Graph, Links
from clew.types import Query, Seeds

MODES = ("post", "reset", "none")


@dataclass(frozen=True)
class Influence:
    """Prizes are the walk's probabilities from the terminals, those of passages times `factor` if so wished.

    Without terminals the prizes stay as they come.

    Attributes:
        damping: probability of following an edge.
        passage_mode: "post" multiplies the passages' scores by `factor`; "reset" lets the walk start at the passages too, by `factor`
            times the seed's scaled weights; "none" does neither.
        factor: see there.
        nonedge: "rank1" lets the walk jump to nodes that are not linked, see `clew.algorithms.pagerank.uniform_jumps`; None does not.
        kinds: the kinds of edge, or pairs of a kind and the factor on its weights; None for all.
        weighted: follow edges by their weights, not all alike.
    """

    damping: float = 0.5
    passage_mode: str = "post"
    factor: float = 0.05
    nonedge: str | None = None
    kinds: tuple[str | tuple[str, float], ...] | None = None
    weighted: bool = False

    def __post_init__(self) -> None:
        if self.passage_mode not in MODES:
            raise ValueError(
                f"unknown passage_mode {self.passage_mode!r}; known: {', '.join(MODES)}"
            )
        if self.nonedge not in (None, "rank1"):
            raise ValueError(f"nonedge is 'rank1' or None, not {self.nonedge!r}")

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Floats]:
        over = graph.part(WalkPart(self.kinds) if self.weighted else _AlikeOver(self.kinds))
        jumps, content = (
            graph.part(JumpsPart(self.kinds, self.damping)) if self.nonedge else None,
            graph.content,
        )

        def spread(query: Query, seeds: Seeds, prizes: Floats) -> Floats:
            if not len(seeds.terminals):
                return prizes
            reset = np.zeros(len(graph))
            reset[seeds.terminals] = 1
            if self.passage_mode == "reset":
                reset[content] += self.factor * min_max_scale(seeds.scores[content])
            found = (
                pagerank(over, reset, self.damping)
                if jumps is None
                else pagerank_over(jumps, reset)
            )
            return (
                np.where(content, self.factor * found, found)
                if self.passage_mode == "post"
                else found
            )

        return spread


@dataclass(frozen=True)
class _AlikeOver:
    """The part that makes a walk to which all edges are alike."""

    kinds: tuple[str | tuple[str, float], ...] | None

    def compute(self, graph: Graph) -> Walk:
        links = graph.links(self.kinds)
        return build_walk(_ones(links), np.diff(links.starts).astype(np.float64))


def _ones(links: Links) -> Any:
    return links.matrix(np.ones(len(links.targets)), np.float32)
