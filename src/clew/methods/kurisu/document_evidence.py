"""Prizes that count the similarity of the documents that passages stand in.

A passage is short, and says little of what it is about: that stands in the document around it. So
the similarity of the whole document counts beside that of the passage (Callan, "Passage-level
evidence in document retrieval", SIGIR 1994, combines the two for documents). Kurisu-G2 weighs the
same evidence by its way down: it compares documents with the question before what is in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from clew.graph import Floats, Graph
from clew.methods.kurisu.hierarchy import DocumentTree, DocumentTreePart, IntRows, node_vectors
from clew.types import BoundSpread, Query, Seeds


@dataclass(frozen=True)
class DocumentEvidence:
    """Take for each prize its mean with the similarity of the document that the node stands in.

    Similarities are cosines with the mean vector of a document's contents, 1 for the most similar
    document. A corpus that is a single document is taken by its chapters. A passage without a
    document is one by itself. What has no prize gets none, and where there are only such passages
    all stays as it is.

    Attributes:
        weight: of the document, beside 1 for the passage, >= 0.

    Example:
        >>> graph = Graph.of(["A", "one", "B", "two"], kinds=["document", "passage"] * 2,
        ...                  parents=[-1, 0, -1, 2], vectors=[[0, 0], [1, 0], [0, 0], [0, 1]])
        >>> query, prizes = Query("Which?", np.float32([1, 0])), np.array([0, 0.6, 0, 0.6])
        >>> DocumentEvidence().on(graph)(query, Seeds(prizes), prizes).round(2).tolist()
        [0.0, 0.6, 0.0, 0.4]
    """

    weight: float = 0.5

    def __post_init__(self) -> None:
        if self.weight < 0:
            raise ValueError(f"the weight of documents is at least 0; got {self.weight}")

    def on(self, graph: Graph) -> BoundSpread:
        tree = graph.part(DocumentTreePart())
        documents = _outermost_containers(tree)
        is_flat = (documents < 0).all()
        documents = np.where(documents >= 0, documents, np.arange(len(graph)))
        rows, places = np.unique(documents, return_inverse=True)
        vectors = node_vectors(graph, tree, rows)

        def spread(query: Query, _seeds: Seeds, prizes: Floats) -> Floats:
            if query.vector is None or is_flat:
                return prizes
            similarities = np.maximum(0, np.einsum("ij,j->i", vectors, query.vector))
            highest = similarities.max()
            if highest <= 0:
                return prizes
            shares = self.weight * prizes.max() * (similarities / highest)[places]
            raised: Floats = np.where(prizes > 0, (prizes + shares) / (1 + self.weight), 0.0)
            return raised

        return spread


def _outermost_containers(tree: DocumentTree) -> IntRows:
    """Return each node's outermost container, or -1; below that where all have the same."""
    n = len(tree.containers)
    path = [np.where(tree.containers >= 0, np.arange(n), -1)]  # of each node, from itself outwards
    while (path[-1] >= 0).any():
        around = np.where(path[-1] >= 0, tree.containers[path[-1]], -1)
        if not (around >= 0).any():
            break
        path.append(around.astype(np.int64))
    outermost = np.full(n, -1)
    for rows in path[1:]:
        outermost = np.where(rows >= 0, rows, outermost)
    documents = np.unique(outermost[outermost >= 0])
    tops = np.flatnonzero(tree.containers < 0)
    if len(documents) != 1 or len(tops) > 1:
        return outermost
    return _below(path, int(documents[0]))


def _below(path: list[IntRows], document: int) -> IntRows:
    """Return each node's container just below `document`, or -1."""
    chapters = np.full(len(path[0]), -1)
    for inner, outer in pairwise(path[1:]):
        chapters = np.where(outer == document, inner, chapters)
    return chapters
