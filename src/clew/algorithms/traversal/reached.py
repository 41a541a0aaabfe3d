"""Where a search outward begins, what it comes to, and the part of the graph that some rows span."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import EMPTY, Floats, Links, Rows, Vectors, freeze

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
    notes: Mapping[str, Any] = field(default_factory=lambda: EMPTY)

    def __len__(self) -> int:
        return len(self.rows)


def induced_links(links: Links, rows: Any) -> tuple[Links, NDArray[np.int64]]:
    """Return the links among some rows, numbered by their places in ascending order, and the slot that each of them was.

    Time and memory go with the links of these rows, not with the graph.
    """
    from clew.algorithms.traversal.kernels.search import induced as compiled

    starts, targets, slots = compiled(
        freeze(links.starts, np.int64),
        freeze(links.targets, np.int32),
        np.unique(np.asarray(rows, np.int64)),
    )
    weights = links.weights[slots]
    return Links(
        freeze(starts, np.int64),
        freeze(targets, np.int32),
        freeze(weights, np.float32),
        links.edges.take(slots),
    ), slots


def kernel_question(vectors: Vectors, question: Any) -> tuple[Vectors, NDArray[np.float32]]:
    """Return both as the compiled searches take them; to a question without a vector all rows are alike."""
    if question is None or not np.any(question):
        return freeze([], np.float32, (0, 0)), freeze([], np.float32)
    if vectors.shape[1] != len(question):
        raise ValueError(
            f"the question's vector has {len(question)} dimensions and the graph's have {vectors.shape[1]}: embed both with one"
        )
    return freeze(vectors, np.float32), freeze(question, np.float32)
