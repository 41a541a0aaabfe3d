"""What an edge costs for a question: little where what it says, or where it leads, is like the question.

AGRAG (arXiv 2511.05549), equation 6: (1 - cos(question, fact)) / 2. The paper prices facts alone; the rest follows its authors' code, on
the same scale: the passage of a mention, the more similar name of two synonyms. A link between passages costs by the mean of its ends, the
weaker the link the nearer to 0.5, the cost of what has no text. Costs lie in [1e-6, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.cosines import cosines
from clew.algorithms.ranking import coarse, summable
from clew.graph import Floats, Graph, Links, Rows
from clew.types import Query

LEAST, MOST = 1e-6, 1.0


@dataclass(frozen=True, eq=False)
class SlotCosts:
    """For every slot of the links its cost, and the edge that costs it: of parallel edges the cheapest, the first of equals."""

    of_slots: Floats
    edges: Rows


def slot_costs(graph: Graph, links: Links, query: Query) -> SlotCosts:
    """Return this question's costs on `links` of `graph`."""
    edges = graph.edges
    if not len(links.targets):
        return SlotCosts(np.zeros(0), np.zeros(0, np.int32))
    each = edge_costs(graph, query)
    values, starts = links.edges.values, links.edges.starts[:-1]
    lowest = np.minimum.reduceat(each[values], starts)
    first = np.minimum.reduceat(
        np.where(each[values] == np.repeat(lowest, links.edges.lengths), values, len(edges)), starts
    )
    return SlotCosts(lowest, first.astype(np.int32))


def edge_costs(graph: Graph, query: Query) -> Floats:
    """Return the cost of every edge of the graph, float64 in [1e-6, 1]."""
    edges, facts = graph.edges, graph.facts
    like = summable(similarities(graph.vectors, query.vector), 1.0)
    tail, head = like[edges.tails], like[edges.heads]
    alike = edges.weights * (tail + head) / 2
    mentions, synonym = edges.kinds.mask("mentions"), edges.kinds.mask("synonym")
    passage = np.where(graph.content[edges.tails], tail, head)
    alike = np.where(mentions, passage, np.where(synonym, np.maximum(tail, head), alike))
    stated = edges.facts >= 0
    if stated.any():
        said = summable(
            similarities(
                facts.vectors, query.vector if query.fact_vector is None else query.fact_vector
            ),
            1.0,
        )
        alike[stated] = said[edges.facts[stated]]
    found: Floats = np.clip(
        (1 - coarse(alike, 1.0)) / 2, LEAST, MOST
    )  # so that ways of equal edges are equally long
    return found


def similarities(vectors: NDArray[np.float32], vector: NDArray[np.float32] | None) -> Floats:
    """Return the cosine of every unit row with the question, 0 where either has no vector."""
    if vector is None or vectors.shape[1] != len(vector):
        return np.zeros(len(vectors))
    return cosines(vectors, vector)
