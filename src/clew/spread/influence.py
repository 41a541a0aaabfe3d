"""AGRAG's influence: the probabilities of a random walk that restarts at the terminals.

AGRAG (arXiv 2511.05549), equations 1 to 5:

    s = (1 - d) p + d W^T s,   p = 1 / |T| on the terminals T, 0 elsewhere

What the paper prints, and what we do:

- Equation 1 multiplies by the row-normalised W itself, which averages over neighbours and is no
  walk. Its references and its authors' code walk, by the transpose; so do we.
- The reset vector p does not sum to 1 there, though the scores are said to lie in (0, 1). Here it
  does.
- Equation 4 gives 1/n to every pair that is not linked. Rows then sum to nearly 2, and the result
  is nearly uniform: `nonedge="rank1"` normalises them (`clew.algorithms.pagerank.uniform_jumps`).
  HippoRAG 2, which the paper says it follows, has no such term, nor has its code: the default.
- The factor 0.05 on passages is applied after the walk, "following" HippoRAG 2. There it is a
  factor on the passages' part of the reset vector; the authors' code applies none. `passage_mode`
  offers all three.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.pagerank.full import Walk, WalkPart, build_walk, pagerank
from clew.algorithms.pagerank.uniform_jumps import JumpsPart, pagerank_over
from clew.algorithms.ranking import min_max_scale
from clew.graph import Floats, Graph, Kinds
from clew.types import Query, Seeds

PASSAGE_MODES = ("post", "reset", "none")


@dataclass(frozen=True)
class Influence:
    """Replace the prizes by the influence of the terminals; without terminals they stay.

    Attributes:
        damping: the probability d of following an edge, in [0, 1).
        passage_mode: "post" multiplies the passages' influence by `factor`; "reset" lets the walk
            restart at passages too, by `factor` times the seed's scores, scaled to [0, 1]; "none"
            does neither.
        factor: the factor on passages, >= 0.
        nonedge: "rank1" lets the walk jump to nodes that are not linked; None does not.
        kinds: the kinds of edge that the walk follows, or pairs of a kind and the factor on its
            weights; None for all.
        weighted: follow edges by their weights; False follows all alike.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Seeds
        >>> from clew.graph import Edges
        >>> kinds = ["passage", "passage", "entity"]
        >>> edges = Edges.of("mentions", [0, 1], [2, 2])
        >>> graph = Graph.of(["a", "b", "Rome"], kinds=kinds, edges=edges)
        >>> seeds = Seeds(np.zeros(3), terminals=np.array([2]))
        >>> spread = Influence(passage_mode="none").on(graph)
        >>> spread(Query("?"), seeds, seeds.scores).round(2).tolist()
        [0.17, 0.17, 0.67]
    """

    damping: float = 0.5
    passage_mode: str = "post"
    factor: float = 0.05
    nonedge: str | None = None
    kinds: Kinds = None
    weighted: bool = False

    def __post_init__(self) -> None:
        if self.passage_mode not in PASSAGE_MODES:
            raise ValueError(
                f"unknown passage_mode {self.passage_mode!r}; known: {', '.join(PASSAGE_MODES)}"
            )
        if not 0 <= self.factor < np.inf:
            raise ValueError(f"factor is a number from 0 on; got {self.factor}")
        if self.nonedge not in (None, "rank1"):
            raise ValueError(f"nonedge is 'rank1' or None, not {self.nonedge!r}")

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Floats]:
        walk_part = WalkPart(self.kinds) if self.weighted else _UnweightedWalkPart(self.kinds)
        walk = graph.part(walk_part)
        jumps = graph.part(JumpsPart(self.kinds, self.damping)) if self.nonedge else None
        content = graph.content

        def spread(query: Query, seeds: Seeds, prizes: Floats) -> Floats:
            if not len(seeds.terminals):
                return prizes
            reset = np.zeros(len(graph))
            reset[seeds.terminals] = 1
            if self.passage_mode == "reset":
                reset[content] += self.factor * min_max_scale(seeds.scores[content])
            if jumps is None:
                influence = pagerank(walk, reset, self.damping)
            else:
                influence = pagerank_over(jumps, reset)
            if self.passage_mode == "post":
                return np.where(content, self.factor * influence, influence)
            return influence

        return spread


@dataclass(frozen=True)
class _UnweightedWalkPart:
    """The part that computes a walk in which all links weigh 1."""

    kinds: Kinds

    def compute(self, graph: Graph) -> Walk:
        links = graph.links(self.kinds)
        degrees = np.diff(links.starts).astype(np.float64)
        return build_walk(links.matrix(np.ones(len(links.targets)), np.float32), degrees)
