"""Retrieval over the graphs that clusters of questions make of a corpus.

Kurisu-G2 (ICLR 2026 submission 18441), section 2.4.1: questions deform the graph, those that deform
it alike are clustered, "and then the graphs obtained can be used to retrieve the relevant context
for these questions". A cluster's graph has for every edge into a node v the mean of the lengths
that its questions give it, exp(p (1 - cos(q, v))) - 1. A new question goes to the cluster whose
pivot deforms the graph most like it, joins that cluster's questions, and is answered by what is
nearest to the root of the corpus in the graph that they make: passages to which a short path leads,
through documents and sections that are like the questions too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from clew.documentation.clusters import (
    SHORTEST,
    By,
    Clusters,
    cluster_questions,
    deformation_distances,
)
from clew.graph import Floats, Graph, Vectors
from clew.methods.kurisu.hierarchy import DocumentTree, DocumentTreePart, node_vectors
from clew.types import Query, Seeds


@dataclass(frozen=True, eq=False)
class QuestionGraphs:
    """A seed: score by nearness to the root in the graph of the question's cluster.

    A passage at distance l from the root scores exp(-l).

    Attributes:
        vectors: of the clustered questions, float [n, d], unit rows.
        clusters: of these questions.
        power: p, how strongly a question deforms the graph.

    Example:
        >>> graph = Graph.of(["tides", "tables of tides", "boats", "boats for hire"],
        ...                  kinds=["section", "passage"] * 2, parents=[-1, 0, -1, 2],
        ...                  vectors=[[0, 0], [1, 0], [0, 0], [0, 1]])
        >>> asked = [[1, 0], [0.8, 0.6], [0, 1], [0.6, 0.8]]
        >>> seed = QuestionGraphs.of(graph, asked, k=2)
        >>> scores = seed.on(graph)(Query("When is high water?", np.float32([1, 0]))).scores
        >>> graph.texts[int(scores.argmax())]
        'tables of tides'
    """

    vectors: Vectors = field(repr=False)
    clusters: Clusters = field(repr=False)
    power: float = 1.0

    @classmethod
    def of(
        cls,
        graph: Graph,
        vectors: Sequence[Sequence[float]] | Vectors | Floats,
        *,
        by: By = "graph",
        k: int | None = None,
        power: float = 1.0,
    ) -> QuestionGraphs:
        """Return the graphs of questions, clustered.

        Args:
            graph: what the questions are asked of.
            vectors: of the questions, float [n, d], unit rows, at least one.
            by: what makes questions alike; see `clew.documentation.clusters`.
            k: the number of clusters; None for the best silhouette.
            power: as in the class.
        """
        rows = np.asarray(vectors, np.float32)
        return cls(rows, cluster_questions(rows, graph, by=by, k=k, power=power), power)

    def cluster_of(self, graph: Graph, vector: Vectors) -> int:
        """Return the cluster whose pivot deforms the graph most like a question.

        Args:
            graph: the graph.
            vector: the question's, float [d].
        """
        pivots = self.vectors[self.clusters.pivots]
        rows = np.concatenate([np.asarray(vector, np.float64)[None, :], pivots])
        distances = deformation_distances(graph, rows, self.power)[0, 1:]
        return int(np.round(distances, 9).argmin())

    def distances(self, graph: Graph, cluster: int, vector: Vectors | None = None) -> Floats:
        """Return each node's distance from the root in the graph of a cluster, float64 [n].

        Args:
            graph: the graph.
            cluster: the number of the cluster.
            vector: of one more question, which deforms the graph as well; None for none.
        """
        members = self.vectors[np.flatnonzero(self.clusters.labels == cluster)]
        if vector is not None:
            members = np.concatenate([members, np.asarray(vector, np.float32)[None, :]])
        tree = graph.part(DocumentTreePart())
        nodes = node_vectors(graph, tree, np.arange(len(graph)))
        cosines = np.clip(np.einsum("id,jd->ij", nodes, members), -1, 1).astype(np.float64)
        lengths: Floats = (np.exp(self.power * (1 - cosines)) - 1).mean(axis=1) + SHORTEST
        return _shortest_from_root(tree, lengths)

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        passages = graph.content

        def find_seeds(query: Query) -> Seeds:
            scores = np.zeros(len(graph))
            if query.vector is None or not query.vector.any():
                note = "the question has no vector: no cluster of questions is like it"
                return Seeds(scores, notes={"fallback": note})
            cluster = self.cluster_of(graph, query.vector)
            distances = self.distances(graph, cluster, query.vector)
            scores[passages] = np.exp(-distances[passages])
            return Seeds(scores, notes={"cluster": cluster})

        return find_seeds


def _shortest_from_root(tree: DocumentTree, lengths: Floats) -> Floats:
    """Return the lengths of the shortest paths from the root, where an edge into v has lengths[v].

    Nodes that no path reaches are infinitely far.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    n = len(lengths)
    heads = np.concatenate([tree.heads, tree.top_rows])
    starts = np.append(tree.starts, tree.starts[-1] + len(tree.top_rows))
    edges = csr_array((lengths[heads], heads, starts), shape=(n + 1, n + 1))
    distances: Floats = dijkstra(edges, directed=True, indices=np.array([n]))[0, :n]
    return distances
