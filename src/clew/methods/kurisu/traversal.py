r"""Algorithms 1 and 2 of Kurisu-G2: from the corpus root down to what answers the question.

Kurisu-G2 (ICLR 2026 submission 18441), appendix B.1. At each node of the path:

    line 6        successors C of the node                                  `children.successors`
    lines 9-11    the relevant ones, p_c s_c > tau max_j p_j s_j            `Traversal.rank`
    lines 12-22   S: as many of them, best first, as may be fused           `Traversal.fuse`
    lines 23-26   the fused node takes over all children of its members     `children.successors`
    lines 27-35   grandchildren through C \ S are grafted on to it          `Traversal.graft`
    lines 36-40   go on from the fused node, or from the best child         `Traversal.step`

A fusion or a graft is allowed while the squared fused Gromov-Wasserstein distance between the
surroundings before and after it is at most the threshold.

Where the paper errs or is silent:
- The distance is taken on the surroundings of the step. On the whole graph every test would cost
  the cube of the nodes.
- Distances between nodes are those of shortest paths. By embeddings alone (`structure`) no new edge
  changes anything, and the constraint on grafts is empty.
- A fused node has the sum of its members' masses. With uniform masses a harmless fusion is dear.
- The squared distance is compared with the threshold.
- Negative similarities count as 0. Where all are 0, the child with the highest cosine is taken.
- The strength of an edge weighs both sides of the threshold. Line 11 weighs one, by a wrong index,
  and line 39 none (`threshold="literal"`).
- A node is visited once, so that rings end.
- A path goes on as long as anything leads on, from the passage that answers to a worse one
  (`ends="last"`). Here it leaves a passage only for its sentences, or for what is no worse.
- Fused nodes and grafts belong to the question. The graph never changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from clew.algorithms.ranking import dense_ranks, exceeds, top_k
from clew.algorithms.transport.fused_gromov_wasserstein import TransportVerdict
from clew.deadline import current
from clew.graph import Floats, Graph, Mask, Vectors
from clew.methods.kurisu.children import (
    NO_CHILDREN,
    ROOT,
    Children,
    RankedChildren,
    successors,
)
from clew.methods.kurisu.hierarchy import DocumentTree, IntRows
from clew.methods.kurisu.parameters import DescentParameters
from clew.methods.kurisu.surroundings import Surroundings


@dataclass(frozen=True)
class PathNode:
    """A node of a path.

    Attributes:
        rows: one row, or several that were fused, best first.
        score: its similarity to the question.
    """

    rows: tuple[int, ...]
    score: float


@dataclass(frozen=True, eq=False)
class DescentStep:
    """One step of a path: the node that it reached, and why.

    Attributes:
        node: the node.
        sources: the row that each of its rows was reached from.
        grafts: what was grafted on to the node.
        ranked: the children that there were to choose from.
        verdicts: what decided each test of a fusion or graft: "bound", "lower bound" or "solver".
    """

    node: PathNode
    sources: tuple[int, ...]
    grafts: Children
    ranked: RankedChildren
    verdicts: tuple[str, ...] = ()

    @property
    def n_successors(self) -> int:
        return len(self.ranked.children.rows)

    @property
    def n_relevant(self) -> int:
        return self.ranked.n_relevant


Path = tuple[DescentStep, ...]


class Fusion(NamedTuple):
    """The children that a step fuses.

    Attributes:
        surroundings: of the step, before the fusion.
        slots: of the fused children in the surroundings; one slot is no fusion.
        verdicts: what decided the tests.
    """

    surroundings: Surroundings
    slots: IntRows
    verdicts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Traversal:
    """Paths from the root for one question.

    Attributes:
        parameters: what a step may do.
        graph: the graph.
        tree: its document hierarchy.
        scores: similarity of every node to the question, float64 [n], >= 0.
        cosine: rows -> their cosines with the question, which may be negative.
        start_row: where every path begins; -1 for the root.
        embed: texts -> unit rows, for the texts of fused nodes; None to take the mean vectors.
        question: the question's vector; None for none.
        problems: why the text of a fused node could not be embedded; it has the mean vector then.
    """

    parameters: DescentParameters
    graph: Graph
    tree: DocumentTree
    scores: Floats
    cosine: Callable[[IntRows], Floats]
    start_row: int = ROOT
    embed: Callable[[list[str]], Vectors] | None = None
    question: Vectors | None = None
    problems: list[str] = field(default_factory=list, repr=False)
    # A later path of the same question meets the same nodes with the same children.
    _children: dict[tuple[bytes, bytes], Children] = field(default_factory=dict, repr=False)
    _steps: dict[tuple[bytes, bytes], DescentStep] = field(default_factory=dict, repr=False)
    _text_vectors: dict[str, Vectors] = field(default_factory=dict, repr=False)

    def path(self, visited: Mask) -> Path:
        """Return the steps of a path that enters no node twice, and none that is `visited`.

        Args:
            visited: bool [n]; it is not changed.
        """
        entered, steps = visited.copy(), list[DescentStep]()
        rows, grafts = np.zeros(0, np.int64), NO_CHILDREN  # the root
        if self.start_row >= 0:
            rows = np.array([self.start_row])
            entered[rows] = True
        for _ in range(self.parameters.max_depth + 1):
            current().check()
            place = rows.tobytes(), grafts.rows.tobytes()
            if place not in self._children:
                self._children[place] = successors(self.tree, rows, grafts)
            children = self._children[place].not_visited(entered)
            if not len(children.rows):
                break
            situation = rows.tobytes(), children.rows.tobytes()
            if situation not in self._steps:
                self._steps[situation] = self.step(rows, children)
            step = self._steps[situation]
            if self.parameters.ends == "best" and self._leads_to_worse(rows, step):
                break
            steps.append(step)
            rows, grafts = np.array(step.node.rows), step.grafts
            entered[rows] = True
        return tuple(steps)

    def _leads_to_worse(self, rows: IntRows, step: DescentStep) -> bool:
        """Return whether a step leaves passages for what is less similar than these."""
        there = np.array(step.node.rows)
        if not len(rows) or not self.graph.content[rows].all():
            return False
        if np.isin(self.tree.containers[there], rows).all():  # their own sentences
            return False
        best = float(self.scores[rows].max())
        return exceeds(best, float(self.scores[there].max()), best)

    def with_scores(self, scores: Floats) -> Traversal:
        """Return the same traversal with other similarities of the nodes, float64 [n]."""
        return replace(self, scores=scores, _steps={})

    def step(self, rows: IntRows, children: Children) -> DescentStep:
        """Return the next node of a path: the body of the loop of Algorithms 1 and 2.

        Args:
            rows: the current node's; none is the root.
            children: where it may go, at least one.
        """
        ranked, relevant = self.rank(children)
        if not len(relevant):
            return self._least_unlike(children)
        if len(relevant) > 1:
            fusion = self.fuse(rows, ranked)
            if len(fusion.slots) > 1:
                return self._fused_step(ranked, fusion)
            verdicts = fusion.verdicts
        else:
            verdicts = ()
        best = children.rows[relevant[:1]]
        node = PathNode(tuple(best.tolist()), float(self.scores[best[0]]))
        return DescentStep(node, children.sources_of(best), NO_CHILDREN, ranked, verdicts)

    def rank(self, children: Children) -> tuple[RankedChildren, IntRows]:
        """Return the children by falling p s, and the places of the relevant ones (lines 9-11)."""
        similarities = self.scores[children.rows]
        weighted = children.strengths * similarities
        values = similarities if self.parameters.threshold == "literal" else weighted
        order, best = top_k(values), float(weighted.max())
        relevant = order[exceeds(values[order], self.parameters.sim_threshold * best, best)]
        return RankedChildren(children, order, len(relevant)), relevant

    def fuse(self, rows: IntRows, ranked: RankedChildren) -> Fusion:
        """Return S, the children that are fused (lines 12-22)."""
        rule = self.parameters
        surroundings = Surroundings.around(
            self.graph,
            self.tree,
            rows,
            ranked,
            self.scores,
            rule,
        )
        hood = surroundings.hood
        slots, verdicts = longest_prefix(
            1 + np.arange(min(ranked.n_relevant, rule.n_loc - 1)),
            lambda prefix: hood.may_fuse(
                prefix,
                rule.fgw_threshold,
                rule.content_weight,
                self._fused_products(surroundings, prefix),
            ),
            bisect=rule.bisect,
            min_size=1,
        )
        return Fusion(surroundings, slots, verdicts)

    def fused_vector(self, rows: IntRows) -> Vectors | None:
        """Return the vector of the text of a fused node; None where it is the members' mean.

        Args:
            rows: the members.
        """
        graph = self.graph
        if self.parameters.fused_vector == "mean" or self.embed is None or len(rows) < 2:
            return None
        if not graph.content[rows].all():
            return None
        in_order = np.lexsort((rows, graph.spans[rows, 0], graph.documents[rows]))
        text = "\n".join(graph.texts[row] for row in rows[in_order].tolist())
        if text not in self._text_vectors and not self.problems:
            try:
                self._text_vectors[text] = self.embed([text])[0]
            except RuntimeError as problem:  # an embedder of stored vectors knows no new texts
                self.problems.append(str(problem).partition("\n")[0])
        vector = self._text_vectors.get(text)
        return None if vector is None or not vector.any() else vector

    def _fused_products(self, surroundings: Surroundings, slots: IntRows) -> Floats | None:
        """Return the products of a fused node's vector with all slots; None for the mean's."""
        vector = self.fused_vector(surroundings.rows[slots - 1])
        return None if vector is None else surroundings.products_with(vector)

    def graft(self, ranked: RankedChildren, fusion: Fusion) -> tuple[Children, tuple[str, ...]]:
        """Return the grandchildren that are grafted on to the fused node (lines 27-35).

        The initial strength p0 of a graft, which the paper leaves open, is the product of the
        strengths along its strongest path. Also returned: what decided the tests.
        """
        rule = self.parameters
        candidates = self._grandchildren(ranked, fusion)
        if not len(candidates.rows):
            return NO_CHILDREN, ()
        slots = fusion.surroundings.slots_of(candidates.rows)
        similarities = self.scores[candidates.rows]
        order = top_k(similarities)
        best = float(similarities.max(initial=0))
        order = order[exceeds(similarities[order], rule.sim_threshold * best, best)]
        products = self._fused_products(fusion.surroundings, fusion.slots)
        hood, _ = fusion.surroundings.hood.fused(fusion.slots, products)
        allowed, verdicts = longest_prefix(
            slots[order],
            lambda to: hood.may_link(
                fusion.slots, to, rule.graft_fgw_threshold, rule.content_weight
            ),
            bisect=rule.bisect,
        )
        order = order[: len(allowed)]
        cosines = hood.products[fusion.slots[0], slots[order]]
        strengths = candidates.strengths[order] + rule.graft_rate * (
            cosines - rule.graft_similarity
        )
        grafts = Children(
            candidates.rows[order], np.clip(strengths, 0, 1), candidates.sources[order]
        )
        return grafts, verdicts

    def _least_unlike(self, children: Children) -> DescentStep:
        """Return the step to the child with the highest cosine, where no child is similar."""
        cosines = self.cosine(children.rows)
        best = children.rows[top_k(cosines, 1)]
        node = PathNode((int(best[0]),), float(cosines.max()))
        ranked = RankedChildren(children, np.zeros(0, np.int64), 1)
        return DescentStep(node, children.sources_of(best), NO_CHILDREN, ranked)

    def _fused_step(self, ranked: RankedChildren, fusion: Fusion) -> DescentStep:
        """Return the step to the fused node; its score is its vector's cosine."""
        size = len(fusion.slots)
        members = ranked.children.rows[ranked.order[:size]]
        vector = self.fused_vector(members)
        if vector is None or self.question is None:
            # A copy, so that the sum runs over contiguous numbers.
            products = fusion.surroundings.hood.products[1 : size + 1, 1 : size + 1].copy()
            score = float(self.cosine(members).sum() / np.sqrt(max(1e-12, products.sum())))
        else:
            score = float(vector.astype(np.float64) @ self.question)
        node = PathNode(tuple(members.tolist()), score)
        grafts, verdicts = self.graft(ranked, fusion)
        sources = ranked.children.sources_of(members)
        return DescentStep(node, sources, grafts, ranked, fusion.verdicts + verdicts)

    def _grandchildren(self, ranked: RankedChildren, fusion: Fusion) -> Children:
        """Return the grandchildren that may be grafted: children of unfused children.

        They stand in the surroundings and are not yet successors of the node or of the fused node.
        Each comes once, by its strongest path.
        """
        tree, children = self.tree, ranked.children
        members = children.rows[ranked.order[: len(fusion.slots)]]
        others = children.without(members)
        slots, sources = tree.slots(others.rows), tree.sources(others.rows)
        heads = tree.heads[slots].astype(np.int64)
        # Two edges as they were built make a graft as an edge is built.
        strengths = (
            others.strengths[np.searchsorted(others.rows, sources)]
            * tree.strengths[slots]
            / self.parameters.initial_strength
        )
        near = np.zeros(len(self.scores), np.bool_)
        near[members] = near[tree.heads[tree.slots(members)]] = near[children.rows] = True
        open_ = (fusion.surroundings.slots_of(heads) > 0) & ~near[heads]
        heads, sources, strengths = heads[open_], sources[open_], strengths[open_]
        if not len(heads):
            return NO_CHILDREN
        order = np.lexsort((dense_ranks(strengths, 1.0), heads))
        first = order[np.diff(heads[order], prepend=-1) > 0]
        return Children(heads[first], strengths[first], sources[first])


def longest_prefix(
    slots: IntRows,
    is_allowed: Callable[[IntRows], TransportVerdict],
    *,
    bisect: bool = True,
    min_size: int = 0,
) -> tuple[IntRows, tuple[str, ...]]:
    """Return the longest prefix of `slots` that is allowed, and what decided each test.

    Bisection supposes that a prefix of an allowed prefix is allowed, which nothing guarantees. What
    it returns was tested all the same, so that the constraint holds; it may not be the longest.

    Args:
        slots: candidates, best first.
        is_allowed: the test of a prefix.
        bisect: halve the range of sizes; False tests sizes one by one and stops at the first that
            is not allowed.
        min_size: so many slots are allowed without a test.

    Example:
        >>> at_most_3 = lambda prefix: TransportVerdict(len(prefix) <= 3, "bound", 0.0)
        >>> longest_prefix(np.arange(5), at_most_3)
        (array([0, 1, 2]), ('bound', 'bound', 'bound', 'bound'))
    """
    verdicts = list[str]()

    def test(size: int) -> bool:
        current().check()
        verdict = is_allowed(slots[:size])
        verdicts.append(verdict.by)
        return verdict.accepted

    low, high = min(min_size, len(slots)), len(slots)
    if not bisect:
        while low < high and test(low + 1):
            low += 1
        return slots[:low], tuple(verdicts)
    if low < high and test(high):
        return slots, tuple(verdicts)
    high = max(low, high - 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if test(middle) else (low, middle - 1)
    return slots[:low], tuple(verdicts)
