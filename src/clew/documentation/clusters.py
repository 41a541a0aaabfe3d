"""Questions in clusters, by what they say or by what they do to the graph (Kurisu-G2, section 2.4 and algorithms 6 and 7).

`by="words"`: k-means on the leading principal components of the questions' vectors. `by="graph"`: each question q gives every edge into
a node v the length l_qv = exp(p (1 - cos(q, v))) - 1, and fuses the likeliest children on its way down, as a descent does (figure 2 of the
paper): these are at no distance from each other, and say what they say together. Two questions are as far apart as the graphs that they
so deform: the fused Gromov-Wasserstein distance between them. Its upper bound by the coupling that leaves every node where it is,
w mean_i |a_i - b_i|^2 / 4 + (1 - w) mean_ik (D1[i, k] - D2[i, k])^2 with w the weight of content, has a closed form. `by="transport"` goes
on from there by conditional gradient, for every pair of questions. Clusters are around medoids, and the map is by classical scaling. The
paper names t-SNE for the reduction too; clusters of its points would be clusters of its artefacts, so it is not offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.clustering import classical_scaling, k_medoids
from clew.algorithms.ranking import exceeds, top_k
from clew.algorithms.transport.fused_gromov_wasserstein import conditional_gradient
from clew.algorithms.transport.neighbourhood import Neighbourhood
from clew.documentation.branches import branches, centres
from clew.graph import Floats, Graph, Rows, freeze
from clew.methods.kurisu.path import longest_fusion

COMPONENTS, TRIES, STARTS = 32, 24, 5
ALIKE = 0.5  # as near as its own branch is to a question, from which another document's has something to do with it
NODES = 96  # of the graph that questions deform: shortest paths cost its cube
CONTENT = 0.5  # the weight of content beside structure
LIKELY, SMALL = (
    0.9,
    0.02,
)  # children so similar beside the best may be fused, and so much may a fusion change: as in `clew.select.Descent`

By = Literal["words", "graph", "transport"]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of n questions.

    `labels` is the cluster of each, int32 [n], numbered from 0 by the first question of each; `pivots` the question in the middle of each
    cluster, int32 [k]; `points` a map of the questions, float64 [n, 2]; `silhouette` how well they are apart, -1 to 1, 0 for one cluster.
    """

    labels: Rows
    pivots: Rows
    points: Floats
    silhouette: float

    def __len__(self) -> int:
        return len(self.pivots)


def cluster_questions(
    vectors: Floats,
    graph: Graph | None = None,
    *,
    by: By = "words",
    k: int | None = None,
    power: float = 1.0,
) -> Clusters:
    """Return the questions in clusters.

    Args:
        vectors: float [n, d], unit rows, one per question. graph: what they are asked of; wanted unless `by="words"`.
        by: see the module. k: the number of clusters; None for that of the best silhouette among 2 to the root of n.
        power: p, how strongly a question deforms the graph.

    Raises:
        ValueError: no questions, a k out of 1 to n, an unknown `by`, no graph where it is wanted.
    """
    n = len(vectors)
    if not n:
        raise ValueError("there are no questions to cluster")
    if k is not None and not 1 <= k <= n:
        raise ValueError(
            f"the number of clusters is from 1 to {n}, the number of questions; got {k}"
        )
    if by == "words":
        points, distances = _components(np.asarray(vectors, np.float64)), None
    elif by in ("graph", "transport"):
        if graph is None:
            raise ValueError(f"clusters by {by} want the graph that the questions are asked of")
        distances = np.sqrt(deformations(graph, vectors, power, exact=by == "transport"))
        points = classical_scaling(distances)
    else:
        raise ValueError(
            f"questions are clustered by 'words', 'graph' or 'transport', not by {by!r}"
        )
    best: tuple[float, Any, Any] | None = None
    for tried in [k] if k is not None else _numbers(n):
        labels, pivots = (
            _kmeans(points, tried) if distances is None else k_medoids(distances, tried)[::-1]
        )
        value = _silhouette(
            points if distances is None else distances, labels, distances is not None
        )
        if best is None or exceeds(value, best[0]):
            best = value, labels, pivots
    assert best is not None
    return _ordered(best[1], best[2], points[:, :2], best[0])


def parted(found: Clusters, vectors: Floats, contents: Floats, homes: Sequence[str]) -> Clusters:
    """Return the clusters, each in as many as it has topics.

    However few clusters part the questions best, or however few there may be, no question is with others that it has nothing to do with.
    Questions are of one topic that are on one document, or on branches that are half as near to each other's question as to their own, or
    joined by such as are. What is near is told beside what is nearest, since embedders differ in what cosine they give to unlike texts.

    Args:
        vectors: float [n, d], unit rows. contents: float [n, d], of the branch that each question is on. homes: the document of each.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    home = np.unique(np.asarray(homes), return_inverse=True)[1]
    near = np.asarray(vectors, np.float64) @ np.asarray(vectors, np.float64).T
    told = np.asarray(vectors, np.float64) @ np.asarray(contents, np.float64).T
    own = np.maximum(np.diag(told), 1e-9)[:, None]
    joined = (found.labels[:, None] == found.labels[None, :]) & (
        (home[:, None] == home[None, :]) | (told / own + (told / own).T >= 2 * ALIKE)
    )
    k, labels = connected_components(csr_array(joined), directed=False)
    if k == len(found):
        return found
    pivots, old = [], set(found.pivots.tolist())
    for topic in range(k):
        inside = np.flatnonzero(labels == topic)
        middle = near[np.ix_(inside, inside)].sum(axis=1) + len(inside) * np.isin(inside, list(old))
        pivots.append(inside[top_k(middle)[0]])
    return _ordered(
        labels,
        np.array(pivots),
        found.points,
        _silhouette(np.clip(1 - near, 0, 2) * (1 - np.eye(len(near))), labels, True),
    )


def deformations(
    graph: Graph, vectors: Floats, power: float = 1.0, *, exact: bool = False, fusing: bool = True
) -> Floats:
    """Return the squared distances between the graphs that the questions deform: float64 [n, n].

    Args:
        exact: minimise over couplings by conditional gradient, which finds a local minimum, from the one whose value is the bound; else
            the bound itself. Both are of the module's docstring.
        fusing: False leaves the questions' fusions out: lengths alone are deformed.
    """
    from clew.algorithms.transport.kernels.shortest import shortest

    ends, contents = _skeleton(graph)
    n, m = len(vectors), len(contents)
    shapes, said = np.empty((n, m, m)), np.empty((n, *contents.shape), np.float32)
    for row, vector in enumerate(np.asarray(vectors, np.float64)):
        groups = fusions(ends, contents, vector, power) if fusing else []
        told = contents.copy()
        for group in groups:
            total = contents[group].sum(axis=0)
            told[group] = total / (np.linalg.norm(total) or 1.0)
        into = (
            np.exp(power * (1 - np.clip(told @ vector, -1, 1))) - 1 + 1e-3
        )  # length of an edge into a node
        between = np.full((m, m), np.inf)
        between[ends[:, 0], ends[:, 1]] = between[ends[:, 1], ends[:, 0]] = (
            into[ends[:, 0]] + into[ends[:, 1]]
        ) / 2
        for group in groups:
            between[np.ix_(group, group)] = 0
        np.fill_diagonal(between, 0)
        shortest(between)
        shapes[row], said[row] = between, told
    shapes /= max(
        float(shapes.max()), 1e-12
    )  # a root stands above all, so that every path is finite
    apart: Floats = (1 - CONTENT) * _squares(shapes.reshape(n, -1)) / m**2
    if fusing:
        apart += (
            CONTENT / (4 * m) * sum(_squares(said[:, node].astype(np.float64)) for node in range(m))
        )
    np.fill_diagonal(apart, 0)
    if exact:
        for i in range(n):
            for j in range(i):
                own, other = ((one * one).sum(axis=1) for one in (said[i], said[j]))
                unlike = (
                    np.maximum(0, own[:, None] + other[None, :] - 2 * said[i] @ said[j].T).astype(
                        np.float64
                    )
                    / 4
                )
                value, _ = conditional_gradient(
                    unlike, shapes[i], shapes[j], np.eye(m) / m, CONTENT
                )
                apart[i, j] = apart[j, i] = min(apart[i, j], value)
    return apart


def fusions(
    ends: NDArray[np.int64], contents: Floats, vector: Floats, power: float = 1.0
) -> list[NDArray[np.int64]]:
    """Return the groups of nodes that a question fuses on its way down from node 0.

    Args:
        ends: int64 [edges, 2], from each node to its children. contents: float64 [nodes, d], unit rows or zeros. vector: the question's.
    """
    joined = np.zeros((len(contents), len(contents)), np.bool_)
    joined[ends[:, 0], ends[:, 1]] = joined[ends[:, 1], ends[:, 0]] = True
    hood = Neighbourhood.of(np.round(contents @ contents.T, 9), joined, power)
    similar, at, groups = (
        np.maximum(0, contents @ vector),
        np.zeros(1, np.int64),
        list[NDArray[np.int64]](),
    )
    while len(children := ends[np.isin(ends[:, 0], at), 1]):
        ranked = children[top_k(similar[children])]
        ranked = ranked[exceeds(similar[ranked], LIKELY * similar[ranked[0]])]
        if not len(ranked):
            break
        at = longest_fusion(
            True, ranked, partial(hood.may_fuse, most=SMALL, content_weight=CONTENT), {}, 1
        )
        if len(at) > 1:
            groups.append(at)
            hood, _ = hood.fused(at)
    return groups


def _squares(rows: Floats) -> Floats:
    """The squared distances between all pairs of rows."""
    own = np.einsum("ij,ij->i", rows, rows)
    found: Floats = np.maximum(own[:, None] + own[None, :] - 2 * rows @ rows.T, 0)
    return found


def _skeleton(graph: Graph) -> tuple[Any, Floats]:
    """The upper part of the hierarchy with the branches in it: its edges, int [m, 2], and each node's content, float64 [nodes, d].

    A corpus root stands above the documents. Where there are more nodes than can be afforded, the deepest are folded into those above.
    """
    found = branches(graph)
    middle = centres(graph, found)
    paths = []
    for branch in found:
        path, node = list[int](), branch.node
        while node >= 0:
            path.insert(0, node)
            node = int(graph.parents[node])
        paths.append(path)
    depth = max(len(path) for path in paths)
    while depth > 1 and len({node for path in paths for node in path[:depth]}) + 1 > NODES:
        depth -= 1
    names: dict[int, int] = {-1: 0}
    ends, sums = (
        set[tuple[int, int]](),
        np.zeros((1 + len({node for path in paths for node in path[:depth]}), middle.shape[1])),
    )
    for path, vector in zip(paths, middle, strict=True):
        above = 0
        sums[0] += vector
        for node in path[:depth]:
            here = names.setdefault(node, len(names))
            ends.add((above, here))
            sums[here] += vector
            above = here
    if len(sums) > NODES:  # a flat corpus: its documents in equal runs
        run = -(-(len(sums) - 1) // (NODES - 1))
        sums = np.concatenate(
            [sums[:1], np.add.reduceat(sums[1:], np.arange(0, len(sums) - 1, run), axis=0)]
        )
        ends = {(0, here) for here in range(1, len(sums))}
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.array(sorted(ends), np.int64), np.divide(
        sums, lengths, out=np.zeros_like(sums), where=lengths > 0
    )


def _components(vectors: Floats) -> Floats:
    """The leading principal components, with a second where there is but one; signs are fixed by the largest entry."""
    centred = vectors - vectors.mean(axis=0)
    left, values, right = np.linalg.svd(centred, full_matrices=False)
    most = min(COMPONENTS, len(values))
    signs = np.sign(right[np.arange(most), np.abs(right[:most]).argmax(axis=1)])
    points: Floats = left[:, :most] * values[:most] * signs
    return points if points.shape[1] > 1 else np.pad(points, ((0, 0), (0, 2 - points.shape[1])))


def _numbers(n: int) -> list[int]:
    """The numbers of clusters that are tried: 2 to the root of n, at most so many of them."""
    most = max(2, int(np.sqrt(n)))
    return (
        [1]
        if n < 3
        else sorted(
            set(np.linspace(2, min(most, n - 1), min(TRIES, most - 1)).astype(int).tolist())
        )
    )


def _kmeans(points: Floats, k: int) -> tuple[Any, Any]:
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    k = min(k, len(np.unique(np.round(points, 9), axis=0)))  # equal questions cannot be apart
    with threadpool_limits(
        1
    ):  # threads cost more than they bring where points are few, and more still on a busy machine
        labels = KMeans(k, n_init=STARTS, random_state=0).fit(points).labels_
    pivots = []
    for cluster in range(k):
        inside = np.flatnonzero(labels == cluster)
        far = np.linalg.norm(points[inside] - points[inside].mean(axis=0), axis=1)
        pivots.append(inside[top_k(-far, 1)[0]])
    return labels, np.array(pivots)


def _silhouette(points: Floats, labels: Any, precomputed: bool) -> float:
    from sklearn.metrics import silhouette_score

    if not 1 < len(np.unique(labels)) < len(labels):
        return 0.0
    return float(
        silhouette_score(points, labels, metric="precomputed" if precomputed else "euclidean")
    )


def _ordered(labels: Any, pivots: Any, points: Floats, silhouette: float) -> Clusters:
    """Numbered by the first question of each cluster, so that they follow the documents."""
    first = [int(np.flatnonzero(labels == cluster)[0]) for cluster in range(len(pivots))]
    order = np.argsort(first, kind="stable")
    new = np.empty(len(order), np.int64)
    new[order] = np.arange(len(order))
    return Clusters(
        freeze(new[labels], np.int32),
        freeze(np.asarray(pivots)[order], np.int32),
        points,
        silhouette,
    )
