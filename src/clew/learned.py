"""What questions teach a graph: strengths of edges in [0, 1], kept apart from those that the edges were built with.

Kurisu-G2 (ICLR 2026 submission 18441), section 2.3.2 and appendix B.3: strength <- clip(strength + rate * change, 0, 1), where the changes
are those that a descent leaves in its context; see `clew.algorithms.evolution`. The rule as printed creeps to 1 with use, so that every
strength also goes back towards the built one a little with every question learnt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clew.context import Context
from clew.graph import Edges, Graph, frozen

Pair = tuple[str, str]  # ids of the tail, or "" for the root of the corpus, and of the head
TAUGHT = ("contains", "similar", "entrance")
WEAKEST = 1e-6  # the weight of an edge of strength 0: what is unlikely is still there


@dataclass(frozen=True)
class Learned:
    """Strengths by pair of ids, and those of the same edges as they were built."""

    strengths: Mapping[Pair, float] = field(default_factory=dict)
    built: Mapping[Pair, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.strengths)

    def after(self, context: Context, graph: Graph, rate: float, decay: float) -> Learned:
        """Return what is learnt with the rewards of one more context; raise ValueError if it has none, or of nodes not in the graph.

        Args: `rate` multiplies the changes; `decay` is the share by which all that was learnt before goes back to what was built.
        """
        changes = rewards(context)
        known = set(graph.ids) | {""}
        if strange := [id for pair in changes for id in pair if id not in known]:
            raise ValueError(f"this context is of another index: {strange[0]!r} is not in the graph")
        new = [pair for pair in changes if pair not in self.strengths]
        built = {**self.built, **dict(zip(new, _weights(graph, new), strict=True))}
        strengths = {pair: strength + decay * (built[pair] - strength) for pair, strength in self.strengths.items()}
        for pair, change in changes.items():
            strengths[pair] = min(1.0, max(0.0, strengths.get(pair, built[pair]) + rate * change))
        return Learned(strengths, built)

    def on(self, graph: Graph) -> tuple[Graph, Learned]:
        """Return the built graph with these strengths, and what of them it has edges or nodes for."""
        known = set(graph.ids) | {""}
        pairs = [pair for pair in self.strengths if pair[0] in known and pair[1] in known]
        strengths = {pair: self.strengths[pair] for pair in pairs}
        return _with(graph, strengths), Learned(strengths, dict(zip(pairs, _weights(graph, pairs), strict=True)))

    def off(self, graph: Graph) -> Graph:
        """Return the graph as it was built."""
        graph = _with(graph, self.built)
        return graph.linked(graph.edges.take(np.flatnonzero(~graph.edges.kinds.mask("entrance")))) if self.built else graph


def rewards(context: Context) -> dict[Pair, float]:
    """Return the changes of strength that a context's trace has."""
    found = [step.notes["rewards"] for step in context.trace if "rewards" in step.notes]
    if not found:
        raise ValueError(f"nothing can be learnt from a context of {context.method}: ask with a method that descends, such as 'kurisu'")
    return {(tail, head): change for tail, head, change in found[-1]}  # a selection that was made again went the same way


def _with(graph: Graph, strengths: Mapping[Pair, float]) -> Graph:
    """The graph with these weights on its edges; one that is in the documents' structure alone, or the root's, becomes an edge."""
    if not strengths:
        return graph
    weights, missing = graph.edges.weights.copy(), dict[Pair, float]()
    for (pair, strength), found in zip(strengths.items(), _edges(graph, list(strengths)), strict=True):
        weights[found] = max(strength, WEAKEST)
        if not len(found):
            missing[pair] = max(strength, WEAKEST)
    edges = graph.edges
    changed = Edges(edges.tails, edges.heads, edges.kinds, frozen(weights, np.float32), edges.facts, edges.read_from)
    more = [Edges.of("entrance", rows, rows, values) for rows, values in [_ends(graph, missing, root=True)] if len(rows)]
    inner, values = _ends(graph, missing, root=False)
    if len(inner):
        more.append(Edges.of("contains", graph.parents[inner], inner, values))
    return graph.linked(Edges.join([changed, *more]))


def _ends(graph: Graph, missing: Mapping[Pair, float], root: bool) -> tuple[list[int], list[float]]:
    """The heads of the root's edges, or of those from a parent, and their weights."""
    found = [(graph.row(head), tail, weight) for (tail, head), weight in missing.items() if (tail == "") == root]
    kept = [(row, weight) for row, tail, weight in found if root or (graph.parents[row] >= 0 and graph.ids[graph.parents[row]] == tail)]
    return [row for row, _ in kept], [weight for _, weight in kept]


def _weights(graph: Graph, pairs: list[Pair]) -> list[float]:
    """What each pair's edge weighs; 1 where it is in the documents' structure alone."""
    return [float(graph.edges.weights[edges].max(initial=0.0)) if len(edges) else 1.0 for edges in _edges(graph, pairs)]


def _edges(graph: Graph, pairs: list[Pair]) -> list[NDArray[np.int64]]:
    """The edges between the ends of each pair, by which a descent can go."""
    n, edges = len(graph), graph.edges
    ends = [(graph.row(tail) if tail else graph.row(head), graph.row(head)) for tail, head in pairs]
    keys = {min(ends_of) * n + max(ends_of) for ends_of in ends}
    low, high = np.minimum(edges.tails, edges.heads).astype(np.int64), np.maximum(edges.tails, edges.heads)
    at = np.flatnonzero(edges.kinds.mask(*TAUGHT) & np.isin(low * n + high, list(keys))) if len(edges) else np.zeros(0, np.int64)
    of: dict[int, list[int]] = {}
    for edge in at.tolist():
        of.setdefault(int(low[edge]) * n + int(high[edge]), []).append(edge)
    return [np.array(of.get(min(pair) * n + max(pair), []), np.int64) for pair in ends]
