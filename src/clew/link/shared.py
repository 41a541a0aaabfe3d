"""Passages that mention the same entities.

weight(p, q) = 1 - product over shared entities e of (1 - 1 / number of passages that mention e)

The rarer a shared entity is, the heavier is the edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clew.graph import Edges, Graph


@dataclass(frozen=True)
class Shared:
    """Between passages that mention the same entity.

    Attributes:
        max_passages: an entity in more passages joins none: a hub does not tell passages apart.

    Example:
        >>> from clew.graph import Ragged
        >>> graph = Graph.of(
        ...     ["Anna left.", "Anna came.", "Anna"],
        ...     kinds=["passage", "passage", "entity"],
        ...     read_from=Ragged.of([[], [], [0, 1]]),
        ... )
        >>> Shared().on(graph).weights
        array([0.5], dtype=float32)
    """

    max_passages: int = 20

    kind: ClassVar[str] = "shared"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        n = len(graph)
        entities = graph.rows("entity")
        read_from = graph.read_from.take(entities)
        mentions = np.unique(read_from.owners * n + read_from.values)  # each once, in order
        owners, passages = np.divmod(mentions, max(n, 1))
        lengths = np.bincount(owners, minlength=len(entities))
        keys, orders, factors = [], [], []
        for size in np.unique(lengths[(lengths >= 2) & (lengths <= self.max_passages)]).tolist():
            chosen = np.flatnonzero(lengths == size)
            groups = passages[lengths[owners] == size].reshape(-1, size)
            tails, heads = np.triu_indices(size, 1)
            keys.append((groups[:, tails] * n + groups[:, heads]).ravel())
            orders.append(np.repeat(chosen, len(tails)))
            factors.append(np.full(keys[-1].shape, 1 - 1 / size))
        if not keys:
            return Edges.of(self.kind, [], [], [])
        pairs, order = np.concatenate(keys), np.concatenate(orders)
        by_pair = np.lexsort((order, pairs))  # every product in the order of the entities
        pairs = pairs[by_pair]
        starts = np.flatnonzero(np.diff(pairs, prepend=-1))
        products = np.multiply.reduceat(np.concatenate(factors)[by_pair], starts)
        return Edges.of(self.kind, pairs[starts] // n, pairs[starts] % n, 1 - products)
