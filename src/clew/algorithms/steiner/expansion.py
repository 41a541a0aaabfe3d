"""Grow a tree by the neighbours that are cheap for the score they bring, as long as they make the whole better.

The second half of AGRAG's search for a subgraph of minimum cost and maximum influence (arXiv 2511.05549, Algorithm 1, lines 11 to 15). For
an edge (u, v) of cost c, u inside and v outside, and scores s, a rule says what is compared:

| rule      | r, the cost-score ratio of the whole        | key of the edge |
|-----------|---------------------------------------------|-----------------|
| mean      | mean of c / (s_u + s_v) over the edges      | c / s_v         |
| mean_edge | the same                                    | c / (s_u + s_v) |
| ratio     | sum of c over the edges / sum of s          | c / s_v         |
| sum       | sum of c / (s_u + s_v), as printed          | c / s_v         |
| official  | mean of (s_u + s_v) c / 2 over the first edges, never renewed | - s_v / c |

The least key is taken while it is below r. For the first three r then falls at every step: a value below a mean lowers the mean, and
c / (s_u + s_v) <= c / s_v; for `ratio` by the mediant inequality. For `sum`, the paper's equation 10, it rises at every step, against its
Theorem 3: with s_a = s_b = 0.3 and an edge of cost 0.2, r is 1/3; x with s_x = 0.2 at cost 0.05 has key 0.25 and is taken, and r becomes
0.43. Line 12 asks for the highest key, which would add the worst neighbour; the lowest is meant. `official` is what the authors' code
compares. Both are kept for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import exceeds, reaches
from clew.graph import Floats, Links, Rows, freeze

RULES = ("mean", "mean_edge", "ratio", "sum", "official")
Offer = tuple[float, int, int, int]  # key, row, the row it is offered by, slot
LEAST_SCORE = 1e-300  # in the place of a score of 0, so that ratios stay finite and ordered


@dataclass(frozen=True, eq=False)
class ExpandedTree:
    """A grown forest: `nodes` with the new ones last, `slots` likewise, one per edge; `ratios` are r at first and after every step."""

    nodes: Rows
    slots: NDArray[np.int64]
    ratios: tuple[float, ...]


def expand(
    links: Links,
    costs: Floats,
    scores: Floats,
    nodes: Any,
    slots: Any,
    rule: str = "mean",
    most: int = 20,
) -> ExpandedTree:
    """Return the forest with at most `most` more nodes, each joined by one edge.

    Args:
        links: undirected adjacency. costs: float64, one per slot, > 0, the same both ways; inf forbids an edge.
        scores: float64 [n], >= 0; a node of score 0 is not taken, except by "mean_edge".
        nodes, slots: the forest, one slot per edge. Without an edge r is infinite, so that the best neighbour is taken.
        rule: see above. Of equal keys (see `clew.algorithms.ranking`) the lower row is taken.
    """
    if rule not in RULES:
        raise ValueError(f"unknown rule {rule!r}; known: {', '.join(RULES)}")
    inside = dict.fromkeys(np.asarray(nodes, np.int64).tolist())
    chosen = np.asarray(slots, np.int64).tolist()
    whole = _Whole(rule)
    for row in inside:
        whole.score += float(scores[row])
    for slot in chosen:
        whole.add(
            float(costs[slot]),
            float(scores[_source(links, slot)]),
            float(scores[links.targets[slot]]),
        )
    whole.freeze()
    heap: list[Offer] = []

    def offer(row: int) -> None:
        for slot in range(links.starts[row], links.starts[row + 1]):
            other, cost = int(links.targets[slot]), float(costs[slot])
            if other not in inside and cost < np.inf:
                key = whole.key(cost, float(scores[row]), float(scores[other]))
                heappush(heap, (key, other, row, slot))

    for row in inside:
        offer(row)
    ratios = [whole.ratio()]
    while heap and len(ratios) <= most:
        if not whole.better(heap[0][0]):
            break
        row, source, slot = _first(heap)
        if row in inside:
            continue
        inside[row] = None
        chosen.append(slot)
        whole.score += float(scores[row])
        whole.add(float(costs[slot]), float(scores[source]), float(scores[row]))
        ratios.append(whole.ratio())
        offer(row)
    return ExpandedTree(freeze(list(inside), np.int32), freeze(chosen, np.int64), tuple(ratios))


def _first(heap: list[Offer]) -> tuple[int, int, int]:
    """Take the offer of the lowest row among those whose keys are equal to the lowest; return (row, source, slot)."""
    lowest, equal = heap[0][0], list[Offer]()
    while heap and reaches(-heap[0][0], -lowest, lowest):
        equal.append(heappop(heap))
    chosen = min(equal, key=lambda one: one[1:])
    for one in equal:
        if one is not chosen:
            heappush(heap, one)
    return chosen[1:]


def edge_weight(costs: Any, one: Any, other: Any) -> Any:
    """Return c / (s_u + s_v), the paper's cost-score ratio of an edge."""
    return costs / np.maximum(one + other, LEAST_SCORE)


class _Whole:
    """The running sums of the forest."""

    def __init__(self, rule: str) -> None:
        self.rule, self.edges = rule, 0
        self.weight = self.cost = self.score = self.product = 0.0
        self.frozen: float | None = None

    def add(self, cost: float, one: float, other: float) -> None:
        self.edges += 1
        self.cost += cost
        self.weight += float(edge_weight(cost, one, other))
        self.product += (one + other) / 2 * cost

    def freeze(self) -> None:
        self.frozen = self.product / self.edges if self.edges else -np.inf

    def ratio(self) -> float:
        if self.rule == "official":
            return self.frozen if self.frozen is not None else -np.inf
        if not self.edges:
            return float(np.inf)
        if self.rule == "sum":
            return self.weight
        return (
            self.cost / max(self.score, LEAST_SCORE)
            if self.rule == "ratio"
            else self.weight / self.edges
        )

    def key(self, cost: float, one: float, other: float) -> float:
        if self.rule == "official":
            return -other / cost
        if self.rule == "mean_edge":
            return float(edge_weight(cost, one, other))
        return cost / other if other > 0 else float(np.inf)

    def better(self, key: float) -> bool:
        if self.rule == "official":
            return bool(reaches(-key, self.ratio(), self.ratio()))
        return bool(
            exceeds(self.ratio(), key, key)
        )  # relative, so that the scale of the scores is of no account


def _source(links: Links, slot: int) -> int:
    return int(np.searchsorted(links.starts, slot, side="right")) - 1
