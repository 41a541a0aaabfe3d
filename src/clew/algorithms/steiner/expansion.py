"""Grow a tree by the neighbours that are cheap for their score, while that makes it better.

This is the second half of AGRAG's search for a subgraph of minimum cost and maximum influence
(arXiv 2511.05549, Algorithm 1, lines 11 to 15). An edge (u, v) has a cost c; u is inside and v
outside; s are the scores. A rule says what is compared:

| rule      | r, the cost-score ratio of the whole      | key of the edge |
|-----------|-------------------------------------------|-----------------|
| mean      | mean of c / (s_u + s_v) over the edges    | c / s_v         |
| mean_edge | the same                                  | c / (s_u + s_v) |
| ratio     | sum of c over the edges / sum of s        | c / s_v         |
| sum       | sum of c / (s_u + s_v), as printed        | c / s_v         |
| official  | mean of (s_u + s_v) c / 2 over the first  | - s_v / c       |
|           | edges, never updated                      |                 |

The edge of the lowest key is taken while that key is below r.

For the first three rules r falls at every step. A value below a mean lowers the mean, and
c / (s_u + s_v) <= c / s_v; for `ratio` by the mediant inequality.

For `sum`, the paper's equation 10, r rises at every step, against the paper's Theorem 3. A
counter-example: s_a = s_b = 0.3 and an edge of cost 0.2 give r = 1/3. A row x with s_x = 0.2 at
cost 0.05 has key 0.25, so it is taken, and r becomes 0.43.

Line 12 of the paper asks for the highest key, which would add the worst neighbour; the lowest is
meant. `official` is what the authors' code compares. Both are here for comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import overload

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import exceeds, reaches
from clew.graph import Floats, Links, Rows, freeze

RULES = ("mean", "mean_edge", "ratio", "sum", "official")
MIN_SCORE = 1e-300  # in place of a score of 0, so that ratios stay finite and ordered

Offer = tuple[float, int, int, int]  # key, row, the row inside that offers it, slot


@dataclass(frozen=True, eq=False)
class ExpandedTree:
    """A grown forest.

    Attributes:
        nodes: its rows, the new ones last.
        slots: one per edge, the new ones last.
        ratios: r at first and after every step.
    """

    nodes: Rows
    slots: NDArray[np.int64]
    ratios: tuple[float, ...]


def expand_tree(
    links: Links,
    costs: Floats,
    scores: Floats,
    nodes: Sequence[int] | Rows,
    slots: Sequence[int] | NDArray[np.int64],
    rule: str = "mean",
    max_steps: int = 20,
) -> ExpandedTree:
    """Return the forest with at most `max_steps` more rows, each joined by one edge.

    Of equal keys (see `clew.algorithms.ranking`) the lower row is taken.

    Args:
        links: undirected adjacency.
        costs: float64, one per slot, > 0, the same for both slots of an edge; inf forbids an edge.
        scores: float64 [n], >= 0. Only "mean_edge" takes a row of score 0.
        nodes: rows of the forest.
        slots: its edges, one slot each. Without an edge r is infinite: the best neighbour is taken.
        rule: one of `RULES`, see the module.
        max_steps: greatest number of new rows.

    Raises:
        ValueError: an unknown rule.

    Example:
        >>> import numpy as np
        >>> from clew.graph import Links, Ragged
        >>> starts, targets = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
        >>> links = Links(starts, targets, np.ones(4, np.float32), Ragged.empty(4))
        >>> scores = np.array([0.5, 0.5, 2.0])
        >>> expand_tree(links, np.full(4, 0.1), scores, [0, 1], [0]).nodes.tolist()
        [0, 1, 2]
    """
    if rule not in RULES:
        raise ValueError(f"unknown rule {rule!r}; known: {', '.join(RULES)}")
    inside = dict.fromkeys(np.asarray(nodes, np.int64).tolist())
    chosen = np.asarray(slots, np.int64).tolist()
    forest = _ForestSums(rule)
    for row in inside:
        forest.score += float(scores[row])
    for slot in chosen:
        tail = int(np.searchsorted(links.starts, slot, side="right")) - 1
        forest.add(float(costs[slot]), float(scores[tail]), float(scores[links.targets[slot]]))
    forest.fix_first_ratio()
    heap: list[Offer] = []
    offers_of = {row: _offers(row, inside, links, costs, scores, forest) for row in inside}
    for offers in offers_of.values():
        _push_next(heap, offers)
    ratios = [forest.ratio()]
    while heap and len(ratios) <= max_steps:
        if not forest.is_improved_by(heap[0][0]):
            break
        row, source, slot = _pop_lowest(heap, offers_of)
        if row in inside:
            continue
        inside[row] = None
        chosen.append(slot)
        forest.score += float(scores[row])
        forest.add(float(costs[slot]), float(scores[source]), float(scores[row]))
        ratios.append(forest.ratio())
        offers_of[row] = _offers(row, inside, links, costs, scores, forest)
        _push_next(heap, offers_of[row])
    return ExpandedTree(freeze(list(inside), np.int32), freeze(chosen, np.int64), tuple(ratios))


@overload
def edge_weight(costs: float, tail_scores: float, head_scores: float) -> float: ...
@overload
def edge_weight(costs: Floats, tail_scores: Floats, head_scores: Floats) -> Floats: ...
def edge_weight(
    costs: float | Floats, tail_scores: float | Floats, head_scores: float | Floats
) -> float | Floats:
    """Return c / (s_u + s_v), the paper's cost-score ratio of an edge.

    Args:
        costs: the cost of each edge.
        tail_scores: the score of its one end.
        head_scores: the score of its other end.

    Example:
        >>> float(edge_weight(0.2, 0.3, 0.2))
        0.4
    """
    ratios: float | Floats = costs / np.maximum(tail_scores + head_scores, MIN_SCORE)
    return ratios


def _offers(
    row: int,
    inside: Iterable[int],
    links: Links,
    costs: Floats,
    scores: Floats,
    forest: _ForestSums,
) -> Iterator[Offer]:
    """Return an offer for every neighbour of a row that is not inside, the lowest key first."""
    slots = np.arange(links.starts[row], links.starts[row + 1])
    outside = ~np.isin(links.targets[slots], list(inside))
    slots = slots[outside & (costs[slots] < np.inf)]
    others = links.targets[slots]
    keys = forest.keys(costs[slots], float(scores[row]), scores[others])
    order = np.lexsort((slots, others, keys))
    ranked = keys[order].tolist(), others[order].tolist(), slots[order].tolist()
    return ((key, other, row, slot) for key, other, slot in zip(*ranked, strict=True))


def _push_next(heap: list[Offer], offers: Iterator[Offer]) -> None:
    """Push the next offer of a row, of which a hub has many, and few are looked at."""
    if (offer := next(offers, None)) is not None:
        heappush(heap, offer)


def _pop_lowest(
    heap: list[Offer], offers_of: Mapping[int, Iterator[Offer]]
) -> tuple[int, int, int]:
    """Take the lowest row of those whose keys equal the lowest; return (row, source, slot)."""
    lowest, equal = heap[0][0], list[Offer]()
    while heap and reaches(-heap[0][0], -lowest, lowest):
        equal.append(heappop(heap))
        _push_next(heap, offers_of[equal[-1][2]])
    chosen = min(equal, key=lambda offer: offer[1:])
    for offer in equal:
        if offer is not chosen:
            heappush(heap, offer)
    return chosen[1:]


class _ForestSums:
    """The running sums of the forest, from which a rule computes r."""

    def __init__(self, rule: str) -> None:
        self.rule, self.edges = rule, 0
        self.weight = self.cost = self.score = self.product = 0.0
        self.first_ratio = -np.inf  # of the rule "official"

    def add(self, cost: float, tail_score: float, head_score: float) -> None:
        """Add an edge."""
        self.edges += 1
        self.cost += cost
        self.weight += float(edge_weight(cost, tail_score, head_score))
        self.product += (tail_score + head_score) / 2 * cost

    def fix_first_ratio(self) -> None:
        """Compute r of the rule "official", which later edges do not change."""
        self.first_ratio = self.product / self.edges if self.edges else -np.inf

    def ratio(self) -> float:
        """Return r."""
        if self.rule == "official":
            return self.first_ratio
        if not self.edges:
            return float(np.inf)
        if self.rule == "sum":
            return self.weight
        if self.rule == "ratio":
            return self.cost / max(self.score, MIN_SCORE)
        return self.weight / self.edges

    def keys(self, costs: Floats, tail_score: float, head_scores: Floats) -> Floats:
        """Return the keys of edges from one row to rows outside, their heads."""
        keys: Floats = np.full(len(costs), np.inf)
        if self.rule == "official":
            keys = -head_scores / costs
        elif self.rule == "mean_edge":
            keys = edge_weight(costs, np.full(len(costs), tail_score), head_scores)
        else:
            np.divide(costs, head_scores, out=keys, where=head_scores > 0)
        return keys

    def is_improved_by(self, key: float) -> bool:
        """Return whether an edge of this key is taken.

        The tolerance is relative to the key, so the scale of the scores changes nothing.
        """
        if self.rule == "official":
            return bool(reaches(-key, self.ratio(), self.ratio()))
        return bool(exceeds(self.ratio(), key, key))
