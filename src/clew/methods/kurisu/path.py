"""From the root of a corpus down to what answers a question: the likeliest children of a node, fused into one while that changes little.

Kurisu-G2 (ICLR 2026 submission 18441), algorithms 1 and 2. At each step the children nearly as similar to the question as the best are
fused one by one, best first, until the neighbourhood would be further than `fgw_threshold` from what it was (fused Gromov-Wasserstein);
the fused node takes over all their children, and those of the others that are similar enough are grafted on to it, by the same test.

Where the paper errs or is silent: the distance is taken on the neighbourhood of the step (the whole graph would cost its cube) with
shortest ways (by vectors alone no new edge would change anything) and with a fused node's mass the sum of its members' (uniform masses
make a harmless fusion dear); the squared distance is compared; negative similarities count as 0, and where all do the highest is taken;
edges' strengths weigh both sides of the threshold; what was visited is never visited again, so that rings end. Fused nodes and grafts
belong to the question: the graph is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import exceeds, levels, top_k
from clew.algorithms.transport.fused_gromov_wasserstein import TransportVerdict
from clew.graph import Floats, Graph, Mask
from clew.methods.kurisu.edge_learning import BUILT_STRENGTH
from clew.methods.kurisu.hierarchy import DocumentTree
from clew.methods.kurisu.surroundings import NO_CHILDREN, Children, Surroundings, children_of

if TYPE_CHECKING:
    from clew.methods.kurisu.descent import Descent

IntRows = NDArray[np.int64]


@dataclass(frozen=True)
class Stop:
    """A node of the path: one row, or several that were fused, best first, and its similarity to the question."""

    rows: tuple[int, ...]
    score: float


@dataclass(frozen=True, eq=False)
class DescentStep:
    """What was found at one node: where to go, from how many children, by which tests.

    `grafts` are children beside those of the rows at `stop`; `decided` counts tests by what decided them; `children` is all that there
    was to choose from, `ranked` their places in it, best first, or nothing where nothing was similar.
    """

    stop: Stop
    sources: tuple[int, ...]
    grafts: Children
    successors: int
    relevant: int
    decided: Mapping[str, int]
    children: Children
    ranked: IntRows


@dataclass(frozen=True, eq=False)
class Descents:
    """Paths from the root for one question.

    Attributes:
        scores: similarity of every node to the question, float64 [n], >= 0. cosine: the bare cosine of some rows with the question.
        leads: what nodes lead to, by where and with which grafts.
        known: the steps that were taken, by where and with which children; a second path need not think again where the first has.
    """

    rule: Descent
    graph: Graph
    tree: DocumentTree
    scores: Floats
    cosine: Callable[[IntRows], Floats]
    leads: dict[tuple[bytes, bytes], Children] = field(default_factory=dict)
    known: dict[tuple[bytes, bytes], DescentStep] = field(default_factory=dict)

    def path(self, visited: Mask) -> tuple[DescentStep, ...]:
        """Return the steps of a path that enters nothing twice, and nothing that is `visited` (bool [n])."""
        inside, steps = visited.copy(), list[DescentStep]()
        at, grafted = np.zeros(0, np.int64), NO_CHILDREN
        for _ in range(self.rule.max_depth + 1):
            here = at.tobytes()
            if (lead := (here, grafted.rows.tobytes())) not in self.leads:
                self.leads[lead] = children_of(self.tree, at, grafted)
            children = self.leads[lead].outside(inside)
            if not len(children.rows):
                break
            key = here, children.rows.tobytes()
            if key not in self.known:
                self.known[key] = self.step(at, children)
            step = self.known[key]
            steps.append(step)
            at, grafted = np.array(step.stop.rows), step.grafts
            inside[at] = True
        return tuple(steps)

    def step(self, at: IntRows, children: Children) -> DescentStep:
        """Return where to go from the node `at` (rows; none is the root)."""
        rule, scores, rows = self.rule, self.scores, children.rows
        worth = children.strengths * scores[rows]
        ranked = top_k(worth)
        relevant = ranked[
            exceeds(worth[ranked], rule.sim_threshold * worth[ranked[0]], worth[ranked[0]])
        ]
        if not len(relevant):  # nothing is similar: the least unlike
            bare = self.cosine(rows)
            at_best = top_k(bare, 1)
            stop = Stop((int(rows[at_best[0]]),), float(bare.max()))
            return DescentStep(
                stop,
                children.of(rows[at_best]),
                NO_CHILDREN,
                len(rows),
                1,
                {},
                children,
                ranked[:0],
            )
        chosen, score, grafts, decided = (
            rows[relevant[:1]],
            float(scores[rows[relevant[0]]]),
            NO_CHILDREN,
            dict[str, int](),
        )
        if len(relevant) > 1:
            near = Surroundings.of(
                self.graph,
                self.tree,
                at,
                children,
                ranked,
                len(relevant),
                scores,
                rule.n_loc,
                rule.sharpness,
            )
            slots = 1 + np.arange(min(len(relevant), rule.n_loc - 1))
            members = longest_fusion(
                rule.bisect,
                slots,
                lambda m: near.hood.may_fuse(m, rule.fgw_threshold, rule.content_weight),
                decided,
                1,
            )
            if len(members) > 1:
                chosen = rows[ranked[: len(members)]]
                inner = near.hood.products[1 : len(members) + 1, 1 : len(members) + 1].copy()
                length = np.sqrt(max(1e-12, inner.sum()))
                score = float(self.cosine(chosen).sum() / length)
                grafts = self.grafts(near, children, chosen, members, decided)
        stop = Stop(tuple(chosen.tolist()), score)
        return DescentStep(
            stop, children.of(chosen), grafts, len(rows), len(relevant), decided, children, ranked
        )

    def grafts(
        self,
        near: Surroundings,
        children: Children,
        chosen: IntRows,
        members: IntRows,
        decided: dict[str, int],
    ) -> Children:
        """Return children of the unfused children that are similar enough, while linking them to the fused node changes little."""
        rule, tree, scores = self.rule, self.tree, self.scores
        others = children.without(chosen)
        slots, sources = tree.slots(others.rows), tree.sources(others.rows)
        heads = tree.heads[slots].astype(np.int64)
        through = (
            others.strengths[np.searchsorted(others.rows, sources)]
            * tree.strengths[slots]
            / BUILT_STRENGTH
        )  # of two as built: as built
        there = near.place(heads)
        taken = np.zeros(len(scores), np.bool_)
        taken[chosen] = taken[tree.heads[tree.slots(chosen)]] = taken[children.rows] = True
        open_ = (there > 0) & ~taken[heads]
        heads, sources, through, there = heads[open_], sources[open_], through[open_], there[open_]
        if not len(heads):
            return NO_CHILDREN
        order = np.lexsort((levels(through, 1.0), heads))
        first = order[np.diff(heads[order], prepend=-1) > 0]
        heads, sources, through, there = heads[first], sources[first], through[first], there[first]
        ranked = top_k(scores[heads])
        top = float(scores[heads].max(initial=0))
        ranked = ranked[exceeds(scores[heads[ranked]], rule.sim_threshold * top, top)]
        hood, _ = near.hood.fused(members)
        allowed = longest_fusion(
            rule.bisect,
            there[ranked],
            lambda to: hood.may_link(members, to, rule.graft_threshold, rule.content_weight),
            decided,
        )
        kept = ranked[: len(allowed)]
        strengths = through[kept] + rule.graft_rate * (
            hood.products[members[0], there[kept]] - rule.graft_similarity
        )
        return Children(heads[kept], np.clip(strengths, 0, 1), sources[kept])


def longest_fusion(
    bisect: bool,
    slots: IntRows,
    allowed: Callable[[IntRows], TransportVerdict],
    decided: dict[str, int],
    least: int = 0,
) -> IntRows:
    """Return the longest beginning of `slots` that is allowed, `least` of them untested: one by one, or by bisection.

    Bisection supposes that what is allowed stays so when it is made shorter; what it returns was tested all the same. `decided` counts
    the tests by what decided them.
    """

    def test(size: int) -> bool:
        verdict = allowed(slots[:size])
        decided[verdict.by] = decided.get(verdict.by, 0) + 1
        return verdict.accepted

    low, high = min(least, len(slots)), len(slots)
    if not bisect:
        while low < high and test(low + 1):
            low += 1
        return slots[:low]
    if low < high and test(high):
        return slots
    high = max(low, high - 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if test(middle) else (low, middle - 1)
    return slots[:low]
