"""What questions teach a graph: how strongly edges exist, in [0, 1], kept apart from those that the graph was built with.

Kurisu-G2 (ICLR 2026 submission 18441), section 2.3.2 and appendix B.3: strength <- clip(strength + rate * change, 0, 1), where the changes
are those that a descent leaves in its context; see `clew.methods.kurisu.edge_learning`. A way that a question took over a graft is kept as edges
from the members of the fused node. The rule as printed creeps to 1 with use, so that every strength also goes back towards the built one a
little with every question learnt: an edge of weight w is built at w / 2, where gains and losses both show, and a graft at 0.

The graph has what was learnt as edges of kind "learned" beside its own, which stay as they are; the root's lead from a node to itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from clew.context import Context
from clew.graph import Edges, Graph
from clew.methods.kurisu.edge_learning import BUILT_STRENGTH

Pair = tuple[str, str]  # ids of the tail, or "" for the root of the corpus, and of the head
LEARNED = "learned"
LED_BY = ("contains", "similar")  # the kinds of edge that a descent goes by
WEAKEST = 1e-6  # the weight of an edge of strength 0: what is unlikely is still there
FADED = 0.01  # a graft that is weaker than this is forgotten


@dataclass(frozen=True)
class Learned:
    """Strengths by pair of ids, and those of the same edges as they were built; a graft was built at 0."""

    strengths: Mapping[Pair, float] = field(default_factory=dict)
    built: Mapping[Pair, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.strengths)

    def after(self, context: Context, graph: Graph, rate: float, decay: float) -> Learned:
        """Return what is learnt with the rewards and grafts of one more context.

        `rate` multiplies the changes; `decay` is the share by which all that was learnt before goes back to what was built. Raises
        ValueError if the context has nothing to learn from, or is of nodes not in the graph.
        """
        changes, grafts = rewards(context), grafted(context)
        known = set(graph.ids) | {""}
        if strange := [id for pair in (*changes, *grafts) for id in pair if id not in known]:
            raise ValueError(
                f"this context is of another index: {strange[0]!r} is not in the graph"
            )
        built = {
            **self.built,
            **_built(graph, [pair for pair in (*changes, *grafts) if pair not in self.built]),
        }
        strengths = {
            pair: strength + decay * (built[pair] - strength)
            for pair, strength in self.strengths.items()
        }
        for pair, strength in grafts.items():
            strengths[pair] = max(strength, strengths.get(pair, built[pair]))
        for pair, change in changes.items():
            strengths[pair] = min(1.0, max(0.0, strengths.get(pair, built[pair]) + rate * change))
        return _without_faded(strengths, built)

    def on(self, graph: Graph) -> tuple[Graph, Learned]:
        """Return the built graph with these strengths, and what of them it has edges or nodes for."""
        graph, known = self.off(graph), set(graph.ids) | {""}
        pairs = [pair for pair in self.strengths if pair[0] in known and pair[1] in known]
        built = _built(graph, pairs)
        left = {
            pair: self.strengths[pair] for pair in pairs if built[pair] > 0 or self.built[pair] == 0
        }
        ends = [
            (graph.row(tail) if tail else graph.row(head), graph.row(head)) for tail, head in left
        ]
        if ends:
            rows, weights = np.array(ends), np.maximum(list(left.values()), WEAKEST)
            graph = graph.with_edges(
                Edges.join([graph.edges, Edges.of(LEARNED, rows[:, 0], rows[:, 1], weights)])
            )
        return graph, Learned(left, {pair: built[pair] for pair in left})

    def off(self, graph: Graph) -> Graph:
        """Return the graph as it was built."""
        taught = graph.edges.kinds.mask(LEARNED) if len(graph.edges) else np.zeros(0, np.bool_)
        return (
            graph.with_edges(graph.edges.take(np.flatnonzero(~taught))) if taught.any() else graph
        )


def rewards(context: Context) -> dict[Pair, float]:
    """Return the changes of strength that a context's trace has."""
    found = [step.notes["rewards"] for step in context.trace if "rewards" in step.notes]
    if not found:
        raise ValueError(
            f"nothing can be learnt from a context of {context.method}: ask with a method that descends, such as 'kurisu'"
        )
    return {
        (tail, head): change for tail, head, change in found[-1]
    }  # a selection that was made again went the same way


def grafted(context: Context) -> dict[Pair, float]:
    """Return the grafts that the first path went over, with their strengths."""
    found = [step.notes["taken"] for step in context.trace if "taken" in step.notes]
    return {(tail, head): strength for tail, head, strength in found[-1]} if found else {}


def _without_faded(strengths: Mapping[Pair, float], built: Mapping[Pair, float]) -> Learned:
    left = {
        pair: strength
        for pair, strength in strengths.items()
        if built[pair] > 0 or strength >= FADED
    }
    return Learned(left, {pair: built[pair] for pair in left})


def _built(graph: Graph, pairs: Iterable[Pair]) -> dict[Pair, float]:
    """How strongly each pair's edge was built; that of a pair which the documents' structure joins, or of the root, as one of weight 1."""
    found, ends = dict[Pair, float](), dict[int, Pair]()
    n, edges = len(graph), graph.edges
    for tail, head in pairs:
        row = graph.row(head)
        joined = not tail or (graph.parents[row] >= 0 and graph.ids[graph.parents[row]] == tail)
        found[tail, head] = BUILT_STRENGTH if joined else 0.0
        if not joined:
            ends[graph.row(tail) * n + row] = (tail, head)
    if ends and len(edges):
        rows = np.flatnonzero(edges.kinds.mask(*LED_BY))
        tails, heads = edges.tails[rows].astype(np.int64), edges.heads[rows].astype(np.int64)
        alike, wanted = ~edges.kinds.mask("contains")[rows], np.array(list(ends))
        for key, allowed in (
            (tails * n + heads, True),
            (heads * n + tails, alike),
        ):  # likeness has no direction
            for at in np.flatnonzero(allowed & np.isin(key, wanted)).tolist():
                pair = ends[int(key[at])]
                found[pair] = max(found[pair], BUILT_STRENGTH * float(edges.weights[rows[at]]))
    return found
