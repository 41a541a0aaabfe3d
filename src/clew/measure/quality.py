"""How closely a part of a graph hangs together, and how near it is to the question (DA-RAG, arXiv 2602.08545, figure 5, appendix B.3).

    QRScore      mean cosine of its nodes with the question
    density      2 |E| / (|V| (|V| - 1)); the appendix leaves the 2 out, the theorem in the same paper has it
    diameter     the longest of the shortest ways between two of its nodes that can reach each other, in edges
    similarity   mean cosine over all pairs of its nodes

A mean over nodes flatters the few: the nearest passage alone has the highest QRScore, any edge alone has density 1. Compare parts of equal
size, and show the size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clew.algorithms.community_search.q_peel import induced_links
from clew.context import Context
from clew.graph import Graph, Links, Rows, Vectors, freeze


@dataclass(frozen=True)
class Quality:
    """The figures of one part; those of a part without two nodes are 0. `parts` are the pieces that its own edges leave."""

    nodes: int
    score: float
    density: float
    diameter: int
    similarity: float
    parts: int


def quality(
    graph: Graph, rows: Rows, vector: Vectors, links: Links | None = None, *, inside: bool = False
) -> Quality:
    """Return the figures of some nodes of a graph.

    Args:
        rows: the nodes, each counted once. vector: the question's unit vector. links: what joins them; None for all of the graph's.
        inside: measure ways along the part's own edges alone, as the bound on a truss does; otherwise in all of the links, as the paper.
    """
    from clew.algorithms.traversal.kernels import hops as reach

    rows = freeze(np.unique(rows), np.int32)
    n = len(rows)
    links = graph.links() if links is None else links
    inner, _ = induced_links(links, rows)
    units = graph.vectors[rows].astype(np.float64)
    score = float((units @ vector.astype(np.float64)).mean()) if n else 0.0
    if n < 2:
        return Quality(n, score, 0.0, 0, 0.0, n)
    everywhere, own = (inner, np.arange(n)) if inside else (links, rows)
    hops = reach.hops(
        np.array(everywhere.starts, np.int64),
        np.array(everywhere.targets, np.int32),
        np.array(own, np.int32),
    )
    near = reach.hops(
        np.array(inner.starts, np.int64),
        np.array(inner.targets, np.int32),
        np.arange(n, dtype=np.int32),
    )
    return Quality(
        n,
        score,
        len(inner.targets) / (n * (n - 1)),
        int(hops.max(initial=0)),
        float((np.square(units.sum(axis=0)).sum() - np.square(units).sum()) / (n * (n - 1))),
        len({row.tobytes() for row in near >= 0}),
    )


def quality_of(
    graph: Graph,
    context: Context,
    vector: Vectors,
    links: Links | None = None,
    *,
    inside: bool = False,
) -> Quality:
    """Return the figures of what a context of this graph reads: its passages, and the subjects and objects of its facts."""
    facts = (
        {text: row for row, text in enumerate(graph.facts.texts)}
        if any(item.role == "fact" for item in context)
        else {}
    )
    known, rows = set(graph.ids), list[int]()
    for item in context:
        if item.role == "fact":
            fact = facts[item.text]
            rows += [int(graph.facts.subjects[fact]), int(graph.facts.objects[fact])]
        elif item.id in known:  # a report that was made for the question is no node of the graph
            rows.append(graph.row(item.id))
    return quality(graph, freeze(rows, np.int32), vector, links, inside=inside)
