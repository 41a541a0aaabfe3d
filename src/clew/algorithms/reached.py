"""Where a search outward begins, what it comes to, and the part of the graph that some rows span."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.rank import best
from clew.graph import NOTHING, Floats, Graph, Links, Rows, Seeds, Vectors, frozen

Kinds = tuple[str | tuple[str, float], ...] | None
LARGE = 2**31 - 1  # more than there are rows, hops or tokens


@dataclass(frozen=True, eq=False)
class Reached:
    """Rows in the order in which a search took them: a forest that is rooted at its sources.

    `depths` are hops from the root; `parents` are places in `rows`, -1 at a source; `slots` are those of the links by which the rows
    were reached, -1 at a source; `scores` are what they were taken for. `notes` say what was left out, and why.
    """

    rows: Rows
    depths: Rows
    parents: Rows
    slots: NDArray[np.int64]
    scores: Floats
    notes: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    def __len__(self) -> int:
        return len(self.rows)


def touched(seeds: Seeds, worth: Floats, most: int) -> Rows:
    """Return the rows that something begins from: the seed's terminals, where it names any, or else those worth most; best first."""
    if len(seeds.terminals):
        return seeds.terminals[:most]
    rows = best(worth, most).astype(np.int32)
    return rows[worth[rows] > 0]


def kinds_but(graph: Graph, kinds: Kinds, without: tuple[str, ...]) -> Kinds:
    """Return the kinds of edge, all of the graph's if None, without some; None where that leaves out nothing of all."""
    if kinds is None:
        kept = tuple(kind for kind in graph.edges.kinds.names if kind not in without)
        return None if len(kept) == len(graph.edges.kinds.names) else kept
    return tuple(kind for kind in kinds if (kind if isinstance(kind, str) else kind[0]) not in without)


def induced(links: Links, rows: Any) -> tuple[Links, NDArray[np.int64]]:
    """Return the links among some rows, numbered by their places in ascending order, and the slot that each of them was.

    Time and memory go with the links of these rows, not with the graph.
    """
    from clew.algorithms.kernels.reaching import induced as compiled

    starts, targets, slots = compiled(
        frozen(links.starts, np.int64), frozen(links.targets, np.int32), np.unique(np.asarray(rows, np.int64))
    )
    weights = links.weights[slots]
    return Links(frozen(starts, np.int64), frozen(targets, np.int32), frozen(weights, np.float32), links.edges.take(slots)), slots


def question_of(vectors: Vectors, question: Any) -> tuple[Vectors, NDArray[np.float32]]:
    """Return both as the compiled searches take them; to a question without a vector all rows are alike."""
    if question is None or not np.any(question):
        return frozen([], np.float32, (0, 0)), frozen([], np.float32)
    if vectors.shape[1] != len(question):
        raise ValueError(
            f"the question's vector has {len(question)} dimensions and the graph's have {vectors.shape[1]}: embed both with one"
        )
    return frozen(vectors, np.float32), frozen(question, np.float32)
