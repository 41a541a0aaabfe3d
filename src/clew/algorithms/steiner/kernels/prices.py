"""Compiled loops over all edges and slots of a graph: what each costs for a question."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled, tick
from clew.algorithms.ranking import round_for_sums

UNIT = 2.0**31  # `round_for_sums` rounds cosines to multiples of 1 / UNIT
BLOCK = 2**18  # edges or slots that a form of whole arrays goes over at once, of some 50 bytes each


def _price_at_once(tails, heads, weights, kinds, rules, content, facts, cosines, limits):
    (mentions, synonym), (of_nodes, of_facts), (lowest, highest) = rules, cosines, limits
    costs = np.empty(len(tails))
    for start in range(0, len(tails), BLOCK):
        tick()
        some = slice(start, start + BLOCK)
        tail, head, kind = of_nodes[tails[some]], of_nodes[heads[some]], kinds[some]
        found = weights[some] * (tail + head) / 2
        found = np.where(kind == synonym, np.maximum(tail, head), found)
        found = np.where(kind == mentions, np.where(content[tails[some]], tail, head), found)
        stated = np.flatnonzero(facts[some] >= 0)
        found[stated] = of_facts[facts[some][stated]]
        costs[some] = np.clip((1 - round_for_sums(found, 1.0)) / 2, lowest, highest)
    return costs


@compiled(at_once=_price_at_once)
def price_edges(tails, heads, weights, kinds, rules, content, facts, cosines, limits):
    """Return the cost of every edge, (1 - cosine) / 2 within limits: float64 [m].

    Args:
        tails: int32 [m].
        heads: int32 [m].
        weights: float32 [m], what the mean cosine of both ends is multiplied by.
        kinds: int32 [m], the number of each edge's kind.
        rules: the number of the kind that has its passage's cosine, and of the one that has the
            higher cosine of both ends; -1 for none.
        content: bool [n], which nodes are passages.
        facts: int32 [m], the fact that an edge states, whose cosine it has; -1 for none.
        cosines: float64 [n] of the nodes, and float64 of the facts.
        limits: the lowest cost and the highest.
    """
    (mentions, synonym), (of_nodes, of_facts), (lowest, highest) = rules, cosines, limits
    costs = np.empty(len(tails))
    for edge in range(len(tails)):
        tail, head = of_nodes[tails[edge]], of_nodes[heads[edge]]
        if facts[edge] >= 0:
            found = of_facts[facts[edge]]
        elif kinds[edge] == mentions:
            found = tail if content[tails[edge]] else head
        elif kinds[edge] == synonym:
            found = max(tail, head)
        else:
            found = weights[edge] * (tail + head) / 2
        costs[edge] = min(max((1 - np.rint(found * UNIT) / UNIT) / 2, lowest), highest)
    return costs


def _cheapest_at_once(starts, edges, costs):
    lowest, first = np.empty(len(starts) - 1), np.empty(len(starts) - 1, np.int32)
    for begin in range(0, len(lowest), BLOCK):
        tick()
        bounds = starts[begin : begin + BLOCK + 1]
        own, begins = edges[bounds[0] : bounds[-1]], bounds[:-1] - bounds[0]
        of_own = costs[own]
        least = np.minimum.reduceat(of_own, begins)
        is_lowest = of_own == np.repeat(least, np.diff(bounds))
        some = slice(begin, begin + len(begins))
        lowest[some] = least
        first[some] = np.minimum.reduceat(np.where(is_lowest, own, len(costs)), begins)
    return lowest, first


@compiled(at_once=_cheapest_at_once)
def cheapest_edges(starts, edges, costs):
    """Return the cost of every slot's cheapest edge, and that edge, the first of equals.

    Args:
        starts: int64 [slots + 1], where the edges of each slot start; none is without.
        edges: int32, the edges of all slots.
        costs: float64, the cost of every edge.
    """
    lowest, first = np.empty(len(starts) - 1), np.empty(len(starts) - 1, np.int32)
    for slot in range(len(lowest)):
        edge = edges[starts[slot]]
        cost = costs[edge]
        for place in range(starts[slot] + 1, starts[slot + 1]):
            other = edges[place]
            if costs[other] < cost or (costs[other] == cost and other < edge):
                edge, cost = other, costs[other]
        lowest[slot], first[slot] = cost, edge
    return lowest, first
