"""What questions teach a graph: how strongly its edges exist, in [0, 1].

Kurisu-G2 (ICLR 2026 submission 18441), section 2.3.2 and appendix B.3:
strength <- clip(strength + rate * change, 0, 1). A descent computes the changes; see
`clew.methods.kurisu.edge_learning`. A path that a question took over a graft is kept as edges from
the members of the fused node.

The rule as printed creeps to 1 with use. So every strength also goes back a little towards the
strength it was built with, at every question that is learnt. An edge of weight w is built at w / 2,
where gains and losses have the same room. A graft is built at 0.

The graph has what was learnt as edges of kind "learned" beside its own edges, which stay as they
are. The edges of the root lead from a node to itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from clew.context import Context
from clew.graph import Edges, Graph
from clew.methods.kurisu.edge_learning import BUILT_STRENGTH

Pair = tuple[str, str]
"""Ids of an edge's tail, or "" for the root of the corpus, and of its head."""

LEARNED = "learned"
DESCENT_KINDS = ("contains", "similar")
"""The kinds of edge that a descent follows."""

MIN_WEIGHT = 1e-6
"""The weight of an edge of strength 0: an unlikely edge is still there."""

MIN_GRAFT = 0.01
"""A graft that is weaker than this is forgotten."""


@dataclass(frozen=True)
class Lesson:
    """What one context teaches.

    Attributes:
        rewards: Changes of strength, by pair.
        grafts: Strengths of the grafts that the first path went over, by pair.
    """

    rewards: Mapping[Pair, float]
    grafts: Mapping[Pair, float] = field(default_factory=dict)


def lesson_of(context: Context) -> Lesson:
    """Return what a context teaches: nothing, where nothing answered.

    Raises:
        ValueError: The method that made the context does not descend.
    """
    if context.nothing_found:
        return Lesson({})
    if context.rewards is None:
        raise ValueError(
            f"nothing can be learnt from a context of {context.method}: "
            "ask with a method that descends, such as 'kurisu'"
        )
    return Lesson(
        {(tail, head): change for tail, head, change in context.rewards},
        {(tail, head): strength for tail, head, strength in context.grafts},
    )


@dataclass(frozen=True)
class Learned:
    """Strengths of edges that were learnt, by pair of ids.

    Attributes:
        strengths: The strength of each edge now.
        built: The strength that the same edge was built with; 0 for a graft.

    Example:
        >>> graph = Graph.of(["the sea", "an island"], ids=["a", "b"])
        >>> learned = Learned().after(Lesson({("", "a"): 0.2}), graph, rate=1.0, decay=0.05)
        >>> learned.strengths
        {('', 'a'): 0.7}
    """

    strengths: Mapping[Pair, float] = field(default_factory=dict)
    built: Mapping[Pair, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.strengths)

    def after(self, lesson: Lesson, graph: Graph, rate: float, decay: float) -> Learned:
        """Return what is learnt with one more lesson.

        Args:
            lesson: What a context teaches.
            graph: The graph that was asked.
            rate: What the changes are multiplied by.
            decay: The share of the way back to the built strength that every earlier strength goes.

        Raises:
            ValueError: The lesson names a node that is not in the graph, the rate is not
                finite, or the decay no number from 0 to 1.
        """
        if not math.isfinite(rate):
            raise ValueError(f"rate is a finite number; got {rate!r}")
        if not 0 <= decay <= 1:
            raise ValueError(f"decay is a share from 0 to 1; got {decay!r}")
        pairs = (*lesson.rewards, *lesson.grafts)
        known = set(graph.ids) | {""}
        if unknown := [id for pair in pairs for id in pair if id not in known]:
            raise ValueError(
                f"this context is of another index: {unknown[0]!r} is not in the graph"
            )
        new = [pair for pair in pairs if pair not in self.built]
        built = {**self.built, **_built_strengths(graph, new)}
        strengths = {
            pair: strength + decay * (built[pair] - strength)
            for pair, strength in self.strengths.items()
        }
        for pair, strength in lesson.grafts.items():
            strengths[pair] = max(strength, strengths.get(pair, built[pair]))
        for pair, change in lesson.rewards.items():
            strengths[pair] = min(1.0, max(0.0, strengths.get(pair, built[pair]) + rate * change))
        return _without_faded(strengths, built)

    def on(self, graph: Graph) -> tuple[Graph, Learned]:
        """Return the built graph with these strengths, and the strengths that fit into it."""
        graph, known = self.off(graph), set(graph.ids) | {""}
        pairs = [pair for pair in self.strengths if pair[0] in known and pair[1] in known]
        built = _built_strengths(graph, pairs)
        strengths = {
            pair: self.strengths[pair] for pair in pairs if built[pair] > 0 or self.built[pair] == 0
        }
        ends = [
            (graph.row(tail) if tail else graph.row(head), graph.row(head))
            for tail, head in strengths
        ]
        if ends:
            rows, weights = np.array(ends), np.maximum(list(strengths.values()), MIN_WEIGHT)
            learned = Edges.of(LEARNED, rows[:, 0], rows[:, 1], weights)
            graph = graph.with_edges(Edges.join([graph.edges, learned]))
        return graph, Learned(strengths, {pair: built[pair] for pair in strengths})

    def off(self, graph: Graph) -> Graph:
        """Return the graph as it was built."""
        if not len(graph.edges):
            return graph
        learned = graph.edges.kinds.mask(LEARNED)
        if not learned.any():
            return graph
        return graph.with_edges(graph.edges.take(np.flatnonzero(~learned)))


def _without_faded(strengths: Mapping[Pair, float], built: Mapping[Pair, float]) -> Learned:
    remaining = {
        pair: strength
        for pair, strength in strengths.items()
        if built[pair] > 0 or strength >= MIN_GRAFT
    }
    return Learned(remaining, {pair: built[pair] for pair in remaining})


def _built_strengths(graph: Graph, pairs: Iterable[Pair]) -> dict[Pair, float]:
    """Return the strength that each pair's edge was built with, 0 where the graph has none.

    An edge of the root, and one between a container and its content, counts as one of weight 1.
    """
    built, pair_of_key = dict[Pair, float](), dict[int, Pair]()
    n, edges = len(graph), graph.edges
    for tail, head in pairs:
        row = graph.row(head)
        parent = int(graph.parents[row])
        is_structural = not tail or (parent >= 0 and graph.ids[parent] == tail)
        built[tail, head] = BUILT_STRENGTH if is_structural else 0.0
        if not is_structural:
            pair_of_key[graph.row(tail) * n + row] = (tail, head)
    if not pair_of_key or not len(edges):
        return built
    rows = np.flatnonzero(edges.kinds.mask(*DESCENT_KINDS))
    tails, heads = edges.tails[rows].astype(np.int64), edges.heads[rows].astype(np.int64)
    undirected = ~edges.kinds.mask("contains")[rows]
    wanted = np.array(list(pair_of_key))
    for keys, is_allowed in ((tails * n + heads, True), (heads * n + tails, undirected)):
        for i in np.flatnonzero(is_allowed & np.isin(keys, wanted)).tolist():
            pair = pair_of_key[int(keys[i])]
            built[pair] = max(built[pair], BUILT_STRENGTH * float(edges.weights[rows[i]]))
    return built
