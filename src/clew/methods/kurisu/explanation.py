"""What a descent tells its reader: notes for the trace, and the path that led to each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from clew.explain import with_ids
from clew.graph import Floats, Graph
from clew.methods.kurisu.branching import ClusterBranching, fit_decay
from clew.methods.kurisu.hierarchy import DocumentTree
from clew.methods.kurisu.traversal import Path

EdgeValue = tuple[int, int, float]  # tail row (-1 for the root), head row, value


@dataclass(frozen=True, eq=False)
class DescentResult:
    """What one question's descents found.

    Attributes:
        paths: the paths, the first one best.
        rewards: how the first path would change the strength of edges: tail row (-1 for the root),
            head row, change.
        problems: why texts of fused nodes could not be embedded.
        grafts: the grafts that the first path followed: tail row, head row, strength.
    """

    paths: tuple[Path, ...] = ()
    rewards: tuple[EdgeValue, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def grafts(self) -> tuple[EdgeValue, ...]:
        return tuple(
            (member, row, round(strength, 9))
            for before, step in pairwise(self.paths[0] if self.paths else ())
            for row, strength in zip(
                before.grafts.rows.tolist(), before.grafts.strengths.tolist(), strict=True
            )
            if row in step.node.rows
            for member in before.node.rows
        )


def descent_notes(graph: Graph, result: DescentResult) -> dict[str, Any]:
    """Return notes for the trace, with ids in the place of rows.

    They are the first path with its scores, the number of paths, what decided the tests, how many
    tests of fusions appendix C.2 of the paper expects, how fast the path narrowed, all grafts, the
    grafts that were followed (`taken`) and the rewards.
    """
    if not result.paths:
        return {
            "fallback": "there is no path: the question has no vector and no prizes, or nothing "
            "may be entered"
        }
    first = result.paths[0]
    steps = list(dict.fromkeys(step for path in result.paths for step in path))
    tests = Counter(verdict for step in steps for verdict in step.verdicts)
    n_successors = [step.n_successors for step in first]
    n_relevant = [step.n_relevant for step in first]
    fallbacks = [f"fused nodes have mean vectors: {problem}" for problem in result.problems]
    return {
        **({"fallback": fallbacks[0]} if fallbacks else {}),
        "path": tuple(
            (tuple(graph.ids[row] for row in step.node.rows), step.node.score) for step in first
        ),
        "paths": len(result.paths),
        "tests": {by: tests[by] for by in ("bound", "lower bound", "solver")},
        "successors": tuple(n_successors),
        "relevant": tuple(n_relevant),
        "expected tests": round(_expected_tests(result.paths), 1),
        "decay": (round(fit_decay(n_successors)[1], 3), round(fit_decay(n_relevant)[1], 3)),
        "grafts": tuple(
            (graph.ids[row], strength)
            for step in steps
            for row, strength in zip(
                step.grafts.rows.tolist(), step.grafts.strengths.tolist(), strict=True
            )
        ),
        "taken": with_ids(graph, result.grafts),
        "rewards": with_ids(graph, result.rewards),
    }


def _expected_tests(paths: Sequence[Path]) -> float:
    """Return the tests that C.2 expects, with what stands under one first node as a cluster."""
    counts: dict[tuple[int, ...], list[list[float]]] = {}
    for path in paths:
        numbers = [float(step.n_relevant) for step in path]
        counts.setdefault(path[0].node.rows, []).append(numbers)
    return sum(
        len(of_paths) * ClusterBranching.fit(of_paths).expected_tests()
        for of_paths in counts.values()
    )


def paths_to_rows(
    tree: DocumentTree, paths: Sequence[Path], rows: Iterable[int], prizes: Floats
) -> Mapping[int, tuple[float, tuple[int, ...]]]:
    """Return for every row the path to it: the similarity of its first node, and its rows."""
    reached_from = {
        row: source
        for path in paths
        for step in path
        for row, source in zip(step.node.rows, step.sources, strict=True)
    }
    scores = {row: step.node.score for path in paths for step in path for row in step.node.rows}
    paths_by_row = {}
    for row in rows:
        path = [row]
        while True:
            above = reached_from.get(path[-1], int(tree.containers[path[-1]]))
            if above < 0 or above in path:
                break
            path.append(above)
        outermost = path[-1]
        paths_by_row[row] = scores.get(outermost, float(prizes[outermost])), tuple(reversed(path))
    return paths_by_row
