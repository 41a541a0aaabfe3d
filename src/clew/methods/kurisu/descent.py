"""Down through the documents' own structure to what answers the question, and back up while there is room.

Kurisu-G2 (ICLR 2026 submission 18441); see `path` for the way down, `gathered` for what is read of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats, Graph, Mask, freeze
from clew.methods.kurisu.branching import decay
from clew.methods.kurisu.gather import Gathered, gather, groups_of
from clew.methods.kurisu.hierarchy import DocumentTree, DocumentTreePart
from clew.methods.kurisu.path import Descents, DescentStep
from clew.methods.kurisu.surroundings import unit_vectors
from clew.select._shared import required_rows
from clew.types import Query, Seeds, Subgraph

LIKENESS = ("mean", "best")
Paths = list[tuple[DescentStep, ...]]
Rewards = list[tuple[int, int, float]]  # rows of tail and head, and the change of strength
Gone = tuple[Paths, Rewards]


@dataclass(frozen=True)
class Descent:
    """Walk from the root of the corpus to the likeliest children, fusing those that are alike, and read the path from its end.

    On a corpus without structure every passage is a child of the root: the best are fused, and the rest follows by prize.

    Attributes:
        max_depth: at most one step more than this.
        sim_threshold: children with a similarity of at least so much of the best one's may be fused and grafted.
        fgw_threshold, graft_threshold: the greatest squared fused Gromov-Wasserstein distance, between the surroundings before and after,
            of a fusion and of grafts.
        content_weight: of what nodes say in that distance; the rest is of how they hang together.
        sharpness: of an edge's length, exp(sharpness * (1 - cosine)) - 1.
        graft_rate, graft_similarity: a graft's strength moves by rate * (cosine - similarity).
        n_loc: the most nodes of the surroundings. semantic: edges of kind "similar" count from this weight on.
        reward, penalty_share: how much a question would change edges in all, and the share of it for penalties; see `Index.learn`. With
            its decay d no strength is ever further from what was built than the larger share of the reward divided by d: 0.3 of 0.5.
        likeness: a container is as similar to the question as the "mean" of what is in it, or as the "best" of it.
        bisect: find the longest fusion by bisection, as the paper's complexity has it, not one by one.
        paths: descend so often, each time to an end where none has been.
        last: read so many nodes of the path; 1 is the most to the point, None all of it and then the rest of the corpus.
        broad: read from the beginning of the path, not from its end. window: read so many neighbours of what the path ends with.
    """

    max_depth: int = 8
    sim_threshold: float = 0.9
    fgw_threshold: float = 0.02
    graft_threshold: float = 0.02
    content_weight: float = 0.5
    sharpness: float = 1.0
    graft_rate: float = 0.1
    graft_similarity: float = 0.5
    n_loc: int = 32
    semantic: float = 0.8
    reward: float = 0.03
    penalty_share: float = 0.5
    likeness: str = "best"
    bisect: bool = True
    paths: int = 10
    last: int | None = None
    broad: bool = False
    window: int = 0

    def __post_init__(self) -> None:
        if self.likeness not in LIKENESS:
            raise ValueError(f"unknown likeness {self.likeness!r}; known: {', '.join(LIKENESS)}")
        if self.n_loc < 2:
            raise ValueError(f"n_loc is at least 2, a node and one child; got {self.n_loc}")

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        tree: DocumentTree = graph.part(DocumentTreePart(self.semantic))
        content = graph.content
        latest: list[
            tuple[Query, Floats, Gone]
        ] = []  # a question that is asked again with less room goes the same way

        def descents(query: Query, prizes: Floats, offered: Mask, prized: Floats) -> Gone:
            whole = bool(offered.all())
            for asked, worth, gone in latest[:1]:  # a copy: other questions may be under way
                if asked is query and worth is prizes and whole:
                    return gone
            vector = query.vector if query.vector is not None and query.vector.any() else None
            if vector is None and not prized.any():
                return Paths(), Rewards()

            def cosine(rows: NDArray[np.int64]) -> Floats:
                if vector is None:
                    return np.zeros(len(rows))
                found: Floats = np.einsum(
                    "ij,j->i", unit_vectors(graph, tree, rows), vector
                ).astype(np.float64)
                return found

            visited, scores = (
                content & ~offered,
                _scores(self.likeness, graph, tree, prized, vector),
            )
            way, paths = Descents(self, graph, tree, scores, cosine), Paths()
            while len(paths) < self.paths and (path := way.path(visited)):
                paths.append(path)
                visited[list(path[-1].stop.rows)] = True
            rewards = [
                reward
                for path in paths[:1]
                for step in path
                for reward in step.children.rewards(step.ranked, scores, self)
            ]
            if whole:
                latest[:] = [(query, prizes, (paths, rewards))]
            return paths, rewards

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            offered = np.zeros(len(graph), np.bool_)
            offered[candidates.nodes] = True
            prized = np.where(offered, prizes, 0.0)
            paths, rewards = descents(query, prizes, offered, prized)
            kept = required_rows(candidates)
            kept = kept[content[kept]]
            places = min([len(graph), *([query.limit] if query.limit is not None else [])])
            found = Gathered(graph, tree, offered, budget, places)
            for row in kept.tolist():
                found.take(row)
            gather(
                graph,
                tree,
                paths,
                prized,
                found,
                last=self.last,
                broad=self.broad,
                window=self.window,
            )
            return Subgraph(
                freeze(list(found.rows), np.int32),
                required=candidates.required,
                groups=(*candidates.groups, *groups_of(paths, found.rows)),
                missing=candidates.missing,
                dropped=(*candidates.dropped, *found.dropped()),
                notes=_said(graph, paths, rewards),
                paths=_ways(tree, paths, list(found.rows), prizes),
            )

        return select


def _scores(likeness: str, graph: Graph, tree: DocumentTree, prizes: Floats, vector: Any) -> Floats:
    """How similar every node is to the question: content by its prize, a container by what is in it."""
    if likeness == "best" or vector is None:
        return tree.highest(prizes)
    scores = prizes.copy()
    bare = np.flatnonzero(tree.place >= 0)
    scores[bare] = np.maximum(0, np.einsum("ij,j->i", tree.means, vector))[tree.place[bare]]
    return scores


def _ways(
    tree: DocumentTree, paths: Paths, rows: list[int], prizes: Floats
) -> dict[int, tuple[float, tuple[int, ...]]]:
    """For every row the similarity of the outermost node on the way to it, and the rows from there."""
    came = {
        row: source
        for path in paths
        for step in path
        for row, source in zip(step.stop.rows, step.sources, strict=True)
    }
    score = {
        member: step.stop.score for path in paths for step in path for member in step.stop.rows
    }
    found = {}
    for row in rows:
        way = [row]
        while (above := came.get(way[-1], int(tree.above[way[-1]]))) >= 0 and above not in way:
            way.append(above)
        found[row] = score.get(way[-1], float(prizes[way[-1]])), tuple(reversed(way))
    return found


def _said(graph: Graph, paths: Paths, rewards: Rewards) -> dict[str, Any]:
    """The path with its scores, what decided the tests, how fast it narrowed, and how the edges would change."""
    if not paths:
        return {"fallback": "nothing is known of what the question is like: there is no path"}
    steps = list(dict.fromkeys(step for path in paths for step in path))
    successors, relevant = (
        [getattr(step, name) for step in paths[0]] for name in ("successors", "relevant")
    )
    return {
        "path": tuple(
            (tuple(graph.ids[row] for row in step.stop.rows), step.stop.score) for step in paths[0]
        ),
        "paths": len(paths),
        "tests": {
            by: sum(step.decided.get(by, 0) for step in steps)
            for by in ("bound", "lower bound", "solver")
        },
        "successors": tuple(successors),
        "relevant": tuple(relevant),
        "decay": (round(decay(successors)[1], 3), round(decay(relevant)[1], 3)),
        "grafts": tuple(
            (graph.ids[row], strength)
            for step in steps
            for row, strength in zip(
                step.grafts.rows.tolist(), step.grafts.strengths.tolist(), strict=True
            )
        ),
        "taken": tuple(
            (graph.ids[member], graph.ids[row], round(float(strength), 9))
            for before, step in pairwise(paths[0])
            for row, strength in zip(
                before.grafts.rows.tolist(), before.grafts.strengths.tolist(), strict=True
            )
            if row in step.stop.rows
            for member in before.stop.rows
        ),
        "rewards": tuple(
            (graph.ids[t] if t >= 0 else "", graph.ids[h], change) for t, h, change in rewards
        ),
    }
