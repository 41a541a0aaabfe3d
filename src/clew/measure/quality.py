"""How closely a part of a graph is joined, and how near to the question it is.

The figures of DA-RAG (arXiv 2602.08545, figure 5, appendix B.3):

    QRScore      mean cosine of the nodes with the question
    density      2 |E| / (|V| (|V| - 1)); the appendix leaves out the 2, which the theorem in the
                 same paper has
    diameter     the longest of the shortest paths between two nodes that can reach each other, in
                 edges
    similarity   mean cosine over all pairs of nodes

A mean over nodes favours small parts: the nearest passage alone has the highest QRScore, any edge
alone has density 1. Compare parts of equal size, and show the size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clew.algorithms.traversal.reached import induced_links
from clew.context import Context
from clew.graph import Graph, Links, Rows, Vectors, distinct, freeze


@dataclass(frozen=True)
class Quality:
    """The figures of one part of a graph; 0 where it has fewer than two nodes.

    Attributes:
        nodes: How many nodes it has.
        score: The QRScore.
        density: The density.
        diameter: The diameter, in edges.
        similarity: The mean cosine over all pairs.
        parts: How many pieces its own edges leave.
    """

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
        graph: The graph.
        rows: The nodes; each counts once.
        vector: The question's unit vector, [d].
        links: What joins the nodes; None for all links of the graph.
        inside: Whether paths follow the part's own edges alone, as the bound on a truss does; else
            all of the links, as in the paper.

    Example:
        >>> import clew
        >>> index = clew.Index.from_documents(["Oars are of ash.", "Sails are of flax."])
        >>> vector = index.embedder.embed_question("Of what are oars?")
        >>> quality(index.graph, index.graph.rows("passage"), vector).nodes
        2
    """
    from clew.algorithms.traversal.kernels import hops as kernel  # loads the compiler

    rows = freeze(distinct(rows), np.int32)
    n = len(rows)
    links = graph.links() if links is None else links
    induced, _ = induced_links(links, rows)
    units = graph.vectors[rows].astype(np.float64)
    score = float((units @ vector.astype(np.float64)).mean()) if n else 0.0
    if n < 2:
        return Quality(n, score, 0.0, 0, 0.0, n)

    def hops(within: Links, starts: Rows) -> Rows:
        distances: Rows = kernel.hops(
            np.array(within.starts, np.int64),
            np.array(within.targets, np.int32),
            np.array(starts, np.int32),
        )
        return distances

    own_rows = freeze(np.arange(n), np.int32)
    within_part = hops(induced, own_rows)
    distances = within_part if inside else hops(links, rows)
    pair_count = n * (n - 1)
    pair_sum = np.square(units.sum(axis=0)).sum() - np.square(units).sum()
    return Quality(
        n,
        score,
        len(induced.targets) / pair_count,
        int(distances.max(initial=0)),
        float(pair_sum / pair_count),
        len({row.tobytes() for row in within_part >= 0}),
    )


def quality_of(
    graph: Graph,
    context: Context,
    vector: Vectors,
    links: Links | None = None,
    *,
    inside: bool = False,
) -> Quality:
    """Return the figures of what a context reads.

    The nodes are its passages, and the subjects and objects of its facts.

    Args:
        graph: The graph that the context was made from.
        context: The context.
        vector: As in `quality`.
        links: As in `quality`.
        inside: As in `quality`.
    """
    has_facts = any(item.role == "fact" for item in context)
    fact_of = {text: fact for fact, text in enumerate(graph.facts.texts)} if has_facts else {}
    ids = set(graph.ids)
    rows = list[int]()
    for item in context:
        if item.role == "fact":
            fact = fact_of[item.text]
            rows += [int(graph.facts.subjects[fact]), int(graph.facts.objects[fact])]
        elif item.id in ids:  # a report that was made for the question is no node of the graph
            rows.append(graph.row(item.id))
    return quality(graph, freeze(rows, np.int32), vector, links, inside=inside)
