"""Maximal marginal relevance: worth reading, and not like what is read already.

    next = argmax  share * prize(v) - (1 - share) * max over chosen u of cos(u, v)

Carbonell and Goldstein, SIGIR 1998. The first pick is the highest prize; prizes are scaled to [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.rank import DECIMALS, best, scaled
from clew.graph import Floats, Graph, Query, Seeds, Subgraph
from clew.select.narrowed import bridges, narrowed


@dataclass(frozen=True)
class MMR:
    """Take candidates one by one by marginal relevance while they fit; nodes that must be kept (bridges) come first and for sure.

    Attributes:
        share: 1 is prize alone, 0 is difference alone.
        k: take at most so many; None for as many as fit.
        fetch: look among so many of the best candidates; None for all.
    """

    share: float = 0.5
    k: int | None = None
    fetch: int | None = 200

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        content = graph.content

        def select(query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int) -> Subgraph:
            inside = candidates.nodes
            kept = bridges(candidates)
            rows = inside[content[inside] & (prizes[inside] > 0) & ~np.isin(inside, kept)]
            rows = rows[best(prizes[rows], self.fetch)]
            limits = [k for k in (self.k, query.limit) if k is not None]
            most = min([len(rows), *(max(0, k - int(content[kept].sum())) for k in limits)])
            left = budget - int(graph.tokens[kept[content[kept]]].sum())
            chosen, dropped = _picked(graph, rows, scaled(prizes[rows]), kept, self.share, most, left)
            return narrowed(graph, candidates, chosen, dropped)

        return select


def _picked(
    graph: Graph,
    rows: np.ndarray,
    worth: Floats,
    kept: np.ndarray,
    share: float,
    most: int,
    left: int,
) -> tuple[list[int], list[tuple[int, str]]]:
    """The greedy rule with the largest similarity so far kept up to date: one product per pick."""
    vectors = graph.vectors[rows]
    likeness = np.full(len(rows), -np.inf)
    if len(kept):
        likeness = np.einsum("ij,kj->ik", vectors, graph.vectors[kept]).max(axis=1).astype(np.float64)
    open_, chosen = np.ones(len(rows), np.bool_), list[int]()
    dropped: list[tuple[int, str]] = []
    while len(chosen) < most and open_.any():
        marginal = worth if np.isneginf(likeness).all() else share * worth - (1 - share) * likeness
        i = int(np.argmax(np.where(open_, np.round(marginal, DECIMALS), -np.inf)))
        open_[i] = False
        row, tokens = int(rows[i]), int(graph.tokens[rows[i]])
        if tokens > left:
            dropped.append((row, f"its {tokens} tokens do not fit in the {left} left"))
            continue
        chosen.append(row)
        left -= tokens
        likeness = np.maximum(
            likeness, np.einsum("ij,j->i", vectors, vectors[i]).astype(np.float64)
        )  # not BLAS: see `cosines` of the seeds
    return chosen, dropped
