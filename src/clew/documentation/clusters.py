"""Questions in clusters, by their words or by what they do to the graph.

Kurisu-G2, section 2.4 and Algorithms 6 and 7.

- `by="words"`: k-means on the leading principal components of the questions' vectors.
- `by="graph"`: each question q gives every edge into a node v the length
  l_qv = exp(p (1 - cos(q, v))) - 1. It also fuses the most similar children on its way down, as a
  descent does (figure 2 of the paper): fused nodes are at distance 0 and share one content. The
  distance between two questions is the fused Gromov-Wasserstein distance between the graphs that
  they deform so. Its upper bound by the coupling that leaves every node in its place,

      w mean_i |a_i - b_i|^2 / 4 + (1 - w) mean_ik (D1[i, k] - D2[i, k])^2,

  with w the weight of content, has a closed form.
- `by="transport"`: from there on by conditional gradient, for every pair of questions.

By graph or transport, clusters are around medoids, and the map is by classical scaling. The paper
names t-SNE for the reduction too; clusters of its points would be clusters of its artefacts, so it
is not offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.algorithms.clustering import classical_scaling, k_medoids
from clew.algorithms.ranking import exceeds, top_k
from clew.algorithms.transport.fused_gromov_wasserstein import (
    TransportVerdict,
    conditional_gradient,
)
from clew.algorithms.transport.neighbourhood import Neighbourhood
from clew.documentation.branches import branch_vectors, find_branches
from clew.graph import Floats, Graph, Rows, distinct, freeze
from clew.methods.kurisu.traversal import longest_prefix

MAX_COMPONENTS = 32  # principal components of the questions' vectors
MAX_TRIES = 24  # numbers of clusters
N_STARTS = 5  # of k-means
# A branch whose cosine with a question is at least this share of the cosine of the question's own
# branch has something to do with the question.
NEAR_SHARE = 0.5
NODES = 96  # of the graph that questions deform: shortest paths cost its cube
CONTENT_WEIGHT = 0.5  # beside structure
SHORTEST = 1e-3  # an edge between equals is still a step
# As in `clew.methods.Descent`: children with this share of the best similarity may be fused, while
# the squared distance is at most this.
SIM_THRESHOLD, FGW_THRESHOLD = 0.9, 0.02

By = Literal["words", "graph", "transport"]
Integers = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of n questions.

    Attributes:
        labels: the cluster of each question, int32 [n]; numbered by the first question of each.
        pivots: the question in the middle of each cluster, int32 [k].
        points: a map of the questions, float64 [n, 2].
        silhouette: how well the clusters are separated, from -1 to 1; 0 for one cluster.
    """

    labels: Rows
    pivots: Rows
    points: Floats
    silhouette: float

    def __len__(self) -> int:
        return len(self.pivots)


def cluster_questions(
    vectors: ArrayLike,
    graph: Graph | None = None,
    *,
    by: By = "words",
    k: int | None = None,
    power: float = 1.0,
) -> Clusters:
    """Return the questions in clusters.

    Args:
        vectors: float [n, d], unit rows, one for each question.
        graph: what the questions are asked of; not needed for `by="words"`.
        by: see the module.
        k: the number of clusters; by words there are fewer where fewer questions differ. None tries
            numbers from 2 to the square root of n and takes the one with the best silhouette.
        power: p, how strongly a question deforms the graph.

    Raises:
        ValueError: no questions, a k out of 1 to n, an unknown `by`, no graph where it is needed.

    Example:
        >>> clusters = cluster_questions([[1, 0], [1, 0], [0, 1], [0, 1]], k=2)
        >>> clusters.labels.tolist(), clusters.pivots.tolist()
        ([0, 0, 1, 1], [0, 2])
    """
    rows = np.asarray(vectors, np.float64)
    n = len(rows)
    if not n:
        raise ValueError("there are no questions to cluster")
    if k is not None and not 1 <= k <= n:
        raise ValueError(
            f"the number of clusters is from 1 to {n}, the number of questions; got {k}"
        )
    if by == "words":
        points = _components(rows)
        return _best_clustering(points, [k] if k is not None else _tried_numbers(n))
    if by not in ("graph", "transport"):
        raise ValueError(
            f"questions are clustered by 'words', 'graph' or 'transport', not by {by!r}"
        )
    if graph is None:
        raise ValueError(f"clusters by {by} want the graph that the questions are asked of")
    distances = np.sqrt(deformation_distances(graph, rows, power, exact=by == "transport"))
    points = classical_scaling(distances)
    return _best_clustering(points, [k] if k is not None else _tried_numbers(n), distances)


def _best_clustering(
    points: Floats, numbers: Sequence[int], distances: Floats | None = None
) -> Clusters:
    """Return the clusters with the best silhouette: around medoids of distances, or by k-means."""
    best: tuple[float, Integers, Integers] | None = None
    for k in numbers:
        if distances is None:
            labels, pivots = _kmeans(points, k)
            value = _silhouette(points, labels)
        else:
            pivots, labels = k_medoids(distances, k)
            value = _silhouette(distances, labels, metric="precomputed")
        if best is None or exceeds(value, best[0]):
            best = value, labels, pivots
    assert best is not None
    silhouette, labels, pivots = best
    return _numbered_by_question(labels, pivots, points[:, :2], silhouette)


def split_by_topic(
    clusters: Clusters, vectors: Floats, contents: Floats, homes: Sequence[str]
) -> Clusters:
    """Return the clusters, each split into as many as it has topics.

    However few clusters separate the questions best, no question shares a cluster with questions
    that it has nothing to do with. Two questions are of one topic if they are on one document, if
    their branches are, in the mean of both, half as near to the other question as to their own, or
    if other questions join them. Nearness is relative to the question's own branch, since embedders
    differ in the cosine that they give to unlike texts.

    Args:
        clusters: of the questions.
        vectors: of the questions, float [n, d], unit rows.
        contents: of the branch that each question is on, float [n, d].
        homes: the document of each question.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    home = np.unique(np.asarray(homes), return_inverse=True)[1]
    rows = np.asarray(vectors, np.float64)
    cosines = rows @ rows.T
    with_branches = rows @ np.asarray(contents, np.float64).T
    shares = with_branches / np.maximum(np.diag(with_branches), 1e-9)[:, None]
    same_cluster = clusters.labels[:, None] == clusters.labels[None, :]
    same_home = home[:, None] == home[None, :]
    joined = same_cluster & (same_home | (shares + shares.T >= 2 * NEAR_SHARE))
    n_topics, labels = connected_components(csr_array(joined), directed=False)
    if n_topics == len(clusters):
        return clusters
    pivots, old_pivots = [], clusters.pivots.tolist()
    for topic in range(n_topics):
        inside = np.flatnonzero(labels == topic)
        is_pivot = np.isin(inside, old_pivots)
        nearness = cosines[np.ix_(inside, inside)].sum(axis=1) + len(inside) * is_pivot
        pivots.append(inside[top_k(nearness)[0]])
    distances = np.clip(1 - cosines, 0, 2) * (1 - np.eye(len(cosines)))
    silhouette = _silhouette(distances, labels, metric="precomputed")
    return _numbered_by_question(labels, np.array(pivots), clusters.points, silhouette)


def deformation_distances(
    graph: Graph, vectors: Floats, power: float = 1.0, *, exact: bool = False, fusing: bool = True
) -> Floats:
    """Return the squared distances between the graphs that questions deform, float64 [n, n].

    Args:
        graph: what the questions are asked of.
        vectors: of the questions, float [n, d], unit rows.
        power: p, how strongly a question deforms the graph.
        exact: go on from the bound of the module's docstring by conditional gradient, which finds
            a local minimum.
        fusing: False leaves the questions' fusions out, so that lengths alone are deformed.
    """
    ends, contents = _skeleton(graph)
    n, m = len(vectors), len(contents)
    shapes, deformed = np.empty((n, m, m)), np.empty((n, *contents.shape), np.float32)
    for row, vector in enumerate(np.asarray(vectors, np.float64)):
        groups = fused_groups(ends, contents, vector, power) if fusing else []
        shapes[row], deformed[row] = _deform(ends, contents, vector, power, groups)
    # A root stands above all, so that every path is finite.
    shapes /= max(float(shapes.max()), 1e-12)
    distances: Floats = (1 - CONTENT_WEIGHT) * _squared_distances(shapes.reshape(n, -1)) / m**2
    if fusing:
        of_content = sum(
            _squared_distances(deformed[:, node].astype(np.float64)) for node in range(m)
        )
        distances += CONTENT_WEIGHT / (4 * m) * of_content
    np.fill_diagonal(distances, 0)
    if exact:
        _minimise(distances, shapes, deformed)
    return distances


def _deform(
    ends: NDArray[np.int64],
    contents: Floats,
    vector: Floats,
    power: float,
    groups: Sequence[NDArray[np.int64]],
) -> tuple[Floats, Floats]:
    """Return the shortest paths [m, m] and contents [m, d] of the graph that a question deforms."""
    from clew.algorithms.transport.kernels.shortest import shortest

    m, deformed = len(contents), contents.copy()
    for group in groups:
        total = contents[group].sum(axis=0)
        deformed[group] = total / (np.linalg.norm(total) or 1.0)
    # The length of an edge into a node.
    into = np.exp(power * (1 - np.clip(deformed @ vector, -1, 1))) - 1 + SHORTEST
    lengths = np.full((m, m), np.inf)
    tails, heads = ends[:, 0], ends[:, 1]
    lengths[tails, heads] = lengths[heads, tails] = (into[tails] + into[heads]) / 2
    for group in groups:
        lengths[np.ix_(group, group)] = 0
    np.fill_diagonal(lengths, 0)
    shortest(lengths)
    return lengths, deformed


def _minimise(distances: Floats, shapes: Floats, contents: Floats) -> None:
    """Replace each distance by a local minimum over couplings, where that is lower."""
    n, m = len(shapes), shapes.shape[1]
    for i in range(n):
        for j in range(i):
            one, other = ((rows * rows).sum(axis=1) for rows in (contents[i], contents[j]))
            products = contents[i] @ contents[j].T
            squares = np.maximum(0, one[:, None] + other[None, :] - 2 * products)
            value, _ = conditional_gradient(
                squares.astype(np.float64) / 4,
                shapes[i],
                shapes[j],
                np.eye(m) / m,
                CONTENT_WEIGHT,
            )
            distances[i, j] = distances[j, i] = min(distances[i, j], value)


def fused_groups(
    ends: NDArray[np.int64], contents: Floats, vector: Floats, power: float = 1.0
) -> list[NDArray[np.int64]]:
    """Return the groups of nodes that a question fuses on its way down from node 0.

    Args:
        ends: int64 [edges, 2], from each node to its children.
        contents: float64 [nodes, d], unit rows or zeros.
        vector: the question's, float64 [d].
        power: p, how strongly the question deforms lengths.
    """
    joined = np.zeros((len(contents), len(contents)), np.bool_)
    joined[ends[:, 0], ends[:, 1]] = joined[ends[:, 1], ends[:, 0]] = True
    hood = Neighbourhood.of(np.round(contents @ contents.T, 9), joined, power)
    similarities = np.maximum(0, contents @ vector)
    nodes, groups = np.zeros(1, np.int64), list[NDArray[np.int64]]()
    while len(children := ends[np.isin(ends[:, 0], nodes), 1]):
        ranked = children[top_k(similarities[children])]
        best = similarities[ranked[0]]
        ranked = ranked[exceeds(similarities[ranked], SIM_THRESHOLD * best)]
        if not len(ranked):
            break
        nodes, _ = longest_prefix(ranked, partial(_may_fuse, hood), min_size=1)
        if len(nodes) > 1:
            groups.append(nodes)
            hood, _ = hood.fused(nodes)
    return groups


def _may_fuse(hood: Neighbourhood, members: NDArray[np.int64]) -> TransportVerdict:
    return hood.may_fuse(members, FGW_THRESHOLD, CONTENT_WEIGHT)


def _squared_distances(rows: Floats) -> Floats:
    """Return the squared distances between all pairs of rows."""
    squares = np.einsum("ij,ij->i", rows, rows)
    distances: Floats = np.maximum(squares[:, None] + squares[None, :] - 2 * rows @ rows.T, 0)
    return distances


def _skeleton(graph: Graph) -> tuple[NDArray[np.int64], Floats]:
    """Return the upper part of the hierarchy: its edges, [m, 2], and contents, float64 [nodes, d].

    A corpus root, node 0, stands above the documents. Where there are more than `NODES` nodes, the
    deepest ones are folded into those above; the documents of a flat corpus, into equal runs.
    """
    leaves = find_branches(graph)
    paths = [_path_to(graph, branch.node) for branch in leaves]
    depth = max(len(path) for path in paths)
    while depth > 1 and len({node for path in paths for node in path[:depth]}) + 1 > NODES:
        depth -= 1
    vectors = branch_vectors(graph, leaves)
    n_nodes = 1 + len({node for path in paths for node in path[:depth]})
    numbers: dict[int, int] = {-1: 0}
    ends, sums = set[tuple[int, int]](), np.zeros((n_nodes, vectors.shape[1]))
    for path, vector in zip(paths, vectors, strict=True):
        above = 0
        sums[0] += vector
        for node in path[:depth]:
            number = numbers.setdefault(node, len(numbers))
            ends.add((above, number))
            sums[number] += vector
            above = number
    if len(sums) > NODES:
        run = -(-(len(sums) - 1) // (NODES - 1))
        runs = np.add.reduceat(sums[1:], np.arange(0, len(sums) - 1, run), axis=0)
        sums = np.concatenate([sums[:1], runs])
        ends = {(0, number) for number in range(1, len(sums))}
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    contents = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    return np.array(sorted(ends), np.int64), contents


def _path_to(graph: Graph, node: int) -> list[int]:
    """Return the rows from a document down to a node."""
    path = list[int]()
    while node >= 0:
        path.insert(0, node)
        node = int(graph.parents[node])
    return path


def _components(vectors: Floats) -> Floats:
    """Return the leading principal components, at least two; the largest entry fixes a sign."""
    centred = vectors - vectors.mean(axis=0)
    left, values, right = np.linalg.svd(centred, full_matrices=False)
    k = min(MAX_COMPONENTS, len(values))
    signs = np.sign(right[np.arange(k), np.abs(right[:k]).argmax(axis=1)])
    points: Floats = left[:, :k] * values[:k] * signs
    return points if points.shape[1] > 1 else np.pad(points, ((0, 0), (0, 2 - points.shape[1])))


def _tried_numbers(n: int) -> list[int]:
    """Return numbers of clusters from 2 to the square root of n, at most `MAX_TRIES` of them."""
    if n < 3:
        return [1]
    largest = max(2, int(np.sqrt(n)))
    numbers = np.linspace(2, min(largest, n - 1), min(MAX_TRIES, largest - 1))
    return sorted(set(numbers.astype(int).tolist()))


def _kmeans(points: Floats, k: int) -> tuple[Integers, Integers]:
    """Return the label of each point, and the point nearest to the middle of each cluster."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    k = min(k, len(np.unique(np.round(points, 9), axis=0)))  # equal questions cannot be separated
    # Threads cost more than they bring where points are few, and still more on a busy machine.
    with threadpool_limits(1):
        labels = KMeans(k, n_init=N_STARTS, random_state=0).fit(points).labels_
    pivots = []
    for cluster in range(k):
        inside = np.flatnonzero(labels == cluster)
        distances = np.linalg.norm(points[inside] - points[inside].mean(axis=0), axis=1)
        pivots.append(inside[top_k(-distances, 1)[0]])
    return labels, np.array(pivots)


def _silhouette(
    values: Floats,
    labels: Integers,
    *,
    metric: Literal["euclidean", "precomputed"] = "euclidean",
) -> float:
    """Return the mean silhouette of points, or of distances that are `precomputed`."""
    from sklearn.metrics import silhouette_score

    if not 1 < len(distinct(labels)) < len(labels):
        return 0.0
    return float(silhouette_score(values, labels, metric=metric))


def _numbered_by_question(
    labels: Integers, pivots: Integers, points: Floats, silhouette: float
) -> Clusters:
    """Return the clusters in the order of their first questions, which is that of the documents."""
    first = [int(np.flatnonzero(labels == cluster)[0]) for cluster in range(len(pivots))]
    order = np.argsort(first, kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return Clusters(
        freeze(number[labels], np.int32),
        freeze(np.asarray(pivots)[order], np.int32),
        points,
        silhouette,
    )
