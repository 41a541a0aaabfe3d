"""Kurisu-G2 as a stage: descend from the corpus root to the answer, and read back from there.

Kurisu-G2 (ICLR 2026 submission 18441). `traversal` is the way down (Algorithms 1 and 2), `passages`
what is read of it, `edge_learning` what a question would teach the edges, `parameters` the symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from clew.algorithms.ranking import reaches
from clew.graph import Floats, Graph, Mask, Vectors, distinct, freeze
from clew.methods.kurisu.children import ROOT
from clew.methods.kurisu.edge_learning import MIN_CHANGE, strength_changes
from clew.methods.kurisu.explanation import (
    DescentResult,
    EdgeValue,
    descent_notes,
    paths_to_rows,
)
from clew.methods.kurisu.hierarchy import DocumentTree, DocumentTreePart, IntRows, node_vectors
from clew.methods.kurisu.parameters import DescentParameters
from clew.methods.kurisu.passages import (
    PassageSelection,
    fused_groups,
    neighbours,
    read_paths,
)
from clew.methods.kurisu.traversal import DescentStep, Path, Traversal
from clew.select._shared import required_rows
from clew.types import Query, Seeds, Subgraph


@dataclass(frozen=True)
class Descent(DescentParameters):
    """Walk from the corpus root to the most similar children, fusing similar ones, and read back.

    On a corpus without structure every passage is a child of the root: the best are fused, and the
    rest follows by prize. The parameters are those of `DescentParameters`.

    Example:
        >>> graph = Graph.of(["Moon", "The moon is dry.", "The sun is hot."],
        ...                  kinds=["section", "passage", "passage"], parents=[-1, 0, -1],
        ...                  vectors=[[0, 0], [1, 0], [0, 1]])
        >>> query, prizes = Query("Is it dry?", np.float32([1, 0])), np.array([0.0, 1.0, 0.0])
        >>> everything = Subgraph(freeze([0, 1, 2], np.int32))
        >>> select = Descent(max_path_nodes=1, max_paths=1).on(graph)
        >>> subgraph = select(query, Seeds(prizes), prizes, everything, 100)
        >>> subgraph.nodes.tolist(), [ids for ids, score in subgraph.notes["path"]]
        ([1], [('0',), ('1',)])
    """

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        tree = graph.part(
            DocumentTreePart(self.similar_threshold, initial_strength=self.initial_strength)
        )
        start_row = ROOT if self.start_node is None else _row_of(graph, self.start_node)
        content = graph.content
        # A question that is asked again with less room takes the same paths: they are kept with
        # the question, and go with it.
        results: WeakKeyDictionary[Query, tuple[Floats, DescentResult]] = WeakKeyDictionary()

        def descend(
            query: Query, prizes: Floats, offered: Mask, prized: Floats, budget: int
        ) -> DescentResult:
            if not offered.all():
                return self.descend(graph, tree, query, offered, prized, start_row, budget)
            before = results.get(query)
            if before is None or before[0] is not prizes:
                result = self.descend(graph, tree, query, offered, prized, start_row, budget)
                before = results[query] = prizes, result
            return before[1]

        def select(
            query: Query, _seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            offered = np.zeros(len(graph), np.bool_)
            offered[candidates.nodes] = True
            prized = np.where(offered, prizes, 0.0)
            result = descend(query, prizes, offered, prized, budget)
            max_rows = len(graph) if query.limit is None else min(len(graph), query.limit)
            selection = PassageSelection(graph, tree, offered, budget, max_rows)
            required = required_rows(candidates)
            for row in required[content[required]].tolist():
                selection.add(row)
            within = tree.content_within(np.array([start_row]), content) if start_row >= 0 else None
            read_paths(selection, result.paths, prized, self, within)
            return Subgraph(
                freeze(list(selection.rows), np.int32),
                required=candidates.required,
                groups=(*candidates.groups, *fused_groups(result.paths, selection.rows)),
                missing=candidates.missing,
                dropped=(*candidates.dropped, *selection.dropped()),
                notes=descent_notes(graph, result),
                paths=paths_to_rows(tree, result.paths, list(selection.rows), prizes),
                rewards=result.rewards if result.paths else None,
                grafts=result.grafts,
            )

        return select

    def descend(
        self,
        graph: Graph,
        tree: DocumentTree,
        query: Query,
        offered: Mask,
        prizes: Floats,
        start_row: int = ROOT,
        budget: int | None = None,
    ) -> DescentResult:
        """Return the question's paths, each to an end in a passage where no other path ended.

        They are as many as `max_paths`, or as have ends that fill their share of the room.

        Args:
            graph: the graph.
            tree: its document hierarchy.
            query: the question.
            offered: True for the nodes that may be entered, bool [n]; containers always may.
            prizes: of the offered nodes, float64 [n], 0 elsewhere.
            start_row: where every path begins; -1 for the root.
            budget: tokens for what is read; None for no limit. The question's limit counts, too.
        """
        vector = query.vector if query.vector is not None and query.vector.any() else None
        if vector is None and not prizes.any():
            return DescentResult()
        scores = self._similarities(tree, prizes, vector)
        cosines = _cosines(graph, tree, vector)
        traversal = Traversal(
            self, graph, tree, scores, cosines, start_row, query.embed, query.vector
        )
        visited, paths = graph.content & ~offered, list[Path]()
        ends = _Ends(self, tree, graph, prizes, budget, query.limit)
        while len(paths) < self.max_paths and not ends.fill and (path := traversal.path(visited)):
            if paths and not path[0].ranked.order.size:
                break  # only the first path goes on where nothing is similar
            paths.append(path)
            ended = np.array(path[-1].node.rows)
            ends.add(ended)
            ended = tree.with_sentences(tree.passages_of(ended, graph.content), graph.content)
            visited[ended] = True
            if self.container_similarity == "best":
                traversal = traversal.with_scores(tree.best_left(traversal.scores, ended))
        rewards = [
            reward for path in paths[:1] for step in path for reward in self._rewards(step, scores)
        ]
        return DescentResult(tuple(paths), tuple(rewards), tuple(traversal.problems))

    def _similarities(self, tree: DocumentTree, prizes: Floats, vector: Vectors | None) -> Floats:
        """Return every node's similarity: a passage's prize, or what a container's contents say."""
        if self.container_similarity == "best" or vector is None:
            return tree.best_prizes(prizes)
        scores = prizes.copy()
        rows = np.flatnonzero(tree.vector_rows >= 0)
        cosines = np.maximum(0, np.einsum("ij,j->i", tree.container_vectors, vector))
        scores[rows] = cosines[tree.vector_rows[rows]]
        return scores

    def _rewards(self, step: DescentStep, scores: Floats) -> list[EdgeValue]:
        """Return how the edges to the children of a step would change: tail, head, change."""
        children = step.ranked.children
        changes = strength_changes(
            np.minimum(scores[children.rows], 1),
            reward=self.reward,
            penalty_share=self.penalty_share,
            shape=self.reward_shape,
        )
        changed = np.abs(changes) >= MIN_CHANGE
        columns = children.sources, children.rows, changes
        return list(zip(*(column[changed].tolist() for column in columns), strict=True))


@dataclass(eq=False)
class _Ends:
    """What the paths so far end at.

    Each path ends at the best that is left, so that a later one finds nothing better than the best
    of the last. What is at least as good as that is read whatever comes.

    Attributes:
        parameters: `sentence_window` and `end_share` say what ends that are sentences take.
        tree: the hierarchy.
        graph: the graph.
        prizes: of all nodes.
        budget: tokens for what is read, or None.
        limit: the most passages, or None.
        rows: the content at or in the ends.
        fill: whether those that are read whatever comes fill the room, or their share of it.
    """

    parameters: DescentParameters
    tree: DocumentTree
    graph: Graph
    prizes: Floats
    budget: int | None
    limit: int | None
    rows: IntRows = field(default_factory=lambda: np.zeros(0, np.int64))
    fill: bool = False

    def add(self, ended: IntRows) -> None:
        """Add the content at or in these nodes, the ends of a further path."""
        content = self.graph.content
        inside = self.tree.content_within(ended, content)
        self.rows = np.union1d(self.rows, inside)
        prizes, best = self.prizes[self.rows], float(self.prizes[inside].max(initial=0))
        certain = self.rows[reaches(prizes, best, best)]
        passages = distinct(self.tree.passages_of(certain, content))
        self.fill = self.limit is not None and len(passages) >= self.limit
        if self.budget is not None and not self.fill:
            self.fill = self._tokens(certain, passages) >= self.budget

    def _tokens(self, certain: IntRows, passages: IntRows) -> float:
        """Return the tokens of these ends, in a room that they alone fill."""
        tokens, window = self.graph.tokens, self.parameters.sentence_window
        whole = int(tokens[passages].sum())
        parts = certain[self.tree.passages_of(certain, self.graph.content) != certain]
        if not len(parts):
            return whole
        around = [neighbours(self.graph, self.tree, row, window) for row in parts.tolist()]
        read = distinct(np.concatenate([certain, *around]).astype(np.int64))
        return min(whole, int(tokens[read].sum()) / self.parameters.end_share)


def _row_of(graph: Graph, start_node: str) -> int:
    try:
        return graph.row(start_node)
    except KeyError as error:
        raise ValueError(f"start_node is the id of a node of the graph: {error.args[0]}") from None


def _cosines(
    graph: Graph, tree: DocumentTree, vector: Vectors | None
) -> Callable[[IntRows], Floats]:
    """Return the function rows -> cosines with the question, 0 where it has no vector."""

    def cosines(rows: IntRows) -> Floats:
        if vector is None:
            return np.zeros(len(rows))
        products = np.einsum("ij,j->i", node_vectors(graph, tree, rows), vector)
        values: Floats = products.astype(np.float64)
        return values

    return cosines
