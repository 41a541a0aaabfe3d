"""Questions in clusters, by their words and by what they do to the graph."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

import clew
from clew.documentation import clusters
from clew.documentation.branches import find_branches, short_title
from clew.documentation.clusters import (
    NODES,
    Clusters,
    _skeleton,
    cluster_questions,
    deformation_distances,
    fused_groups,
    split_by_topic,
)

TOPICS = {
    "sea": [
        "waves tide salt harbour",
        "tide salt boats nets",
        "harbour boats waves nets",
        "salt nets tide boats",
    ],
    "sky": [
        "clouds wind stars moon",
        "moon stars planets night",
        "wind clouds rain night",
        "stars night moon rain",
    ],
    "field": [
        "wheat plough barley soil",
        "soil seeds barley harvest",
        "harvest wheat plough soil",
        "seeds barley wheat harvest",
    ],
}


@pytest.fixture(scope="module")
def index():
    texts = {
        f"{topic}.md": f"# {topic}\n\n"
        + "\n\n".join(f"## {i}\n\n{text}" for i, text in enumerate(said))
        for topic, said in TOPICS.items()
    }
    documents = [clew.Document(id, text, format="markdown") for id, text in texts.items()]
    return clew.Index.from_documents(documents, splitter=clew.Splitter(tokens=16))


def asked(index):
    """One question per branch, in the branch's own words, and the topic of each."""
    found = [branch for branch in find_branches(index.graph) if len(branch.titles) > 1]
    texts = [index.graph.texts[branch.rows[0]] for branch in found]
    return np.stack([index.embedder.embed_question(text) for text in texts]).astype(float), [
        branch.titles[0] for branch in found
    ]


@pytest.mark.parametrize("by", ["words", "graph", "transport"])
def test_questions_of_one_topic_are_in_one_cluster(index, by):
    vectors, topics = asked(index)
    found = cluster_questions(vectors, index.graph, by=by)
    assert len(found) == 3
    for cluster in range(3):
        assert (
            len(
                {
                    topic
                    for topic, label in zip(topics, found.labels.tolist(), strict=True)
                    if label == cluster
                }
            )
            == 1
        )
        assert found.labels[found.pivots[cluster]] == cluster
    assert found.points.shape == (12, 2)
    assert found.silhouette > 0.2
    assert found.labels[0] == 0, "numbered from the first question on"
    again = cluster_questions(vectors, index.graph, by=by)
    assert (found.labels == again.labels).all()
    assert (found.points == again.points).all()


def test_questions_that_have_nothing_to_do_with_each_other_are_parted():
    vectors = np.eye(6)
    vectors[1] = [0.6, 0.8, 0, 0, 0, 0]  # like the first
    vectors[5] = vectors[4]
    points = np.zeros((6, 2))
    one = Clusters(np.zeros(6, np.int32), np.array([4], np.int32), points, 0.0)
    found = split_by_topic(one, vectors, vectors, ["a", "b", "c", "c", "d", "e"])
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2], "alike, or on one document"
    assert found.pivots.tolist() == [0, 2, 4]
    assert found.silhouette > 0.4
    assert len(split_by_topic(one, np.eye(6), np.eye(6), list("abcdef"))) == 6
    unlike = np.where(
        np.eye(6) > 0, 1.0, 0.7
    )  # an embedder to which all texts are alike, parts none that are not as unlike as can be
    assert len(split_by_topic(one, np.eye(6), unlike, list("abcdef"))) == 1
    two = Clusters(np.array([0, 1, 0, 1, 0, 1], np.int32), np.array([0, 1], np.int32), points, 0.0)
    assert split_by_topic(two, vectors, vectors, ["a"] * 6) is two, "clusters are never joined"


def test_deformations_are_a_distance_between_questions(index):
    vectors, _ = asked(index)
    apart = np.sqrt(deformation_distances(index.graph, vectors))
    assert apart == pytest.approx(apart.T)
    assert np.diag(apart).tolist() == [0] * 12
    for i in range(12):
        assert (apart <= apart[:, [i]] + apart[[i], :] + 1e-9).all()
    doubled = np.concatenate([vectors, vectors[:1]])
    assert deformation_distances(index.graph, doubled)[0, 12] == pytest.approx(0, abs=1e-12)


def test_the_bound_is_by_definition_that_of_the_coupling_which_moves_nothing(index):
    """Against the definition, over the documents alone: a star of the root and three documents."""
    flat = clew.Index.from_documents(
        [clew.Document(topic, " ".join(said)) for topic, said in TOPICS.items()]
    )
    vectors = np.stack(
        [flat.embedder.embed_question(text) for text in ("waves and tide", "stars at night")]
    ).astype(float)
    contents = flat.graph.vectors.astype(float)
    root = contents.sum(axis=0) / np.linalg.norm(contents.sum(axis=0))
    near = np.clip(vectors @ np.vstack([root, contents]).T, -1, 1)
    into = np.exp(1 - near) - 1 + 1e-3
    shapes = []
    for lengths in into:
        to_root = (lengths[0] + lengths[1:]) / 2
        D = to_root[:, None] + to_root[None, :]
        np.fill_diagonal(D, 0)
        D = np.block([[np.zeros((1, 1)), to_root[None, :]], [to_root[:, None], D]])
        shapes.append(D)
    longest = max(D.max() for D in shapes)
    wanted = np.mean(((shapes[0] - shapes[1]) / longest) ** 2) / 2
    assert deformation_distances(flat.graph, vectors)[0, 1] == pytest.approx(wanted)


def test_transport_is_never_above_the_bound_and_near_what_pot_finds(index):
    from ot.gromov import fused_gromov_wasserstein2

    vectors, _ = asked(index)
    bounds, exact = (
        deformation_distances(index.graph, vectors, exact=which, fusing=False)
        for which in (False, True)
    )
    assert (exact <= bounds + 1e-12).all()
    assert exact == pytest.approx(exact.T)
    ends, contents = _skeleton(index.graph)
    uniform = np.full(len(contents), 1 / len(contents))
    shapes = []
    for near in np.clip(vectors[:3] @ contents.T, -1, 1):
        lengths = np.exp(1 - near) - 1 + 1e-3
        network = networkx.Graph()
        network.add_weighted_edges_from(
            (a, b, (lengths[a] + lengths[b]) / 2) for a, b in ends.tolist()
        )
        ways = dict(networkx.all_pairs_dijkstra_path_length(network))
        shapes.append(
            np.array([[ways[a][b] for b in range(len(contents))] for a in range(len(contents))])
        )
    scale = np.sqrt(bounds[0, 1] / (np.mean((shapes[0] - shapes[1]) ** 2) / 2))
    unlike = (1 - contents @ contents.T) / 2
    for i, j in ((0, 1), (0, 2), (1, 2)):
        one, other = shapes[i] * scale, shapes[j] * scale
        found = fused_gromov_wasserstein2(
            unlike, one, other, uniform, uniform, alpha=0.5, G0=np.diag(uniform)
        )
        assert exact[i, j] == pytest.approx(float(found), abs=1e-6)


def figure():
    """The paper's figure 2, with more around it: B and C are alike, and D and E; two questions are on the one pair, one on the other."""
    contents = np.zeros((9, 8))
    contents[0, :7], contents[[1, 2], 0], contents[[3, 4], 1] = 1, 1, 1
    contents[[1, 2, 3, 4], [2, 3, 2, 3]] = 0.05
    contents[[5, 6, 7, 8], [4, 5, 6, 7]] = 1
    asked = np.zeros((3, 8))
    asked[[0, 1, 2], [0, 0, 1]], asked[[0, 1, 2], [4, 5, 4]] = 1, 0.2
    ends = np.array([[0, child] for child in range(1, 9)])
    return ends, *(rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (contents, asked))


def test_questions_that_fuse_the_same_nodes_are_near_each_other(monkeypatch):
    ends, contents, vectors = figure()
    groups = [
        [sorted(group.tolist()) for group in fused_groups(ends, contents, vector)]
        for vector in vectors
    ]
    assert groups == [[[1, 2]], [[1, 2]], [[3, 4]]]
    monkeypatch.setattr(clusters, "_skeleton", lambda graph: (ends, contents))
    bounds, exact, bare = (
        deformation_distances(None, vectors, **how)
        for how in ({}, {"exact": True}, {"fusing": False})
    )
    for apart in (bounds, exact):
        assert apart[0, 1] < apart[0, 2] / 4
        assert apart[0, 1] < apart[1, 2] / 4
    assert (exact <= bounds + 1e-12).all()
    assert bounds[0, 2] != pytest.approx(bare[0, 2], rel=1e-3), "fusions count beside lengths"


def test_fused_nodes_are_one_in_the_distances(monkeypatch):
    """Against networkx on the contracted graph, and the content by definition."""
    ends, contents, vectors = figure()
    monkeypatch.setattr(clusters, "_skeleton", lambda graph: (ends, contents))
    shapes, said = [], []
    for vector, group in zip(vectors[[0, 2]], ([1, 2], [3, 4]), strict=True):
        told = contents.copy()
        told[group] = contents[group].sum(axis=0) / np.linalg.norm(contents[group].sum(axis=0))
        into = np.exp(1 - told @ vector) - 1 + 1e-3
        one = {node: group[0] if node in group else node for node in range(9)}
        network = networkx.Graph()
        network.add_weighted_edges_from(
            (one[a], one[b], (into[a] + into[b]) / 2) for a, b in ends.tolist()
        )
        ways = dict(networkx.all_pairs_dijkstra_path_length(network))
        shapes.append(np.array([[ways[one[a]][one[b]] for b in range(9)] for a in range(9)]))
        said.append(told)
    longest = max(shape.max() for shape in shapes)
    structure = np.mean(((shapes[0] - shapes[1]) / longest) ** 2)
    content = np.mean(((said[0] - said[1]) ** 2).sum(axis=1)) / 4
    assert deformation_distances(None, vectors[[0, 2]])[0, 1] == pytest.approx(
        (structure + content) / 2, abs=1e-6
    )


def test_a_corpus_larger_than_can_be_afforded_is_folded():
    words = [f"w{i}" for i in range(50)]
    texts = [
        clew.Document(str(i), " ".join(words[(i * 7 + j * 3) % 50] for j in range(5)))
        for i in range(3 * NODES)
    ]
    index = clew.Index.from_documents(texts)
    vectors = np.stack([index.embedder.embed_question(f"w{i} w{i + 1}") for i in range(5)]).astype(
        float
    )
    apart = deformation_distances(index.graph, vectors)
    assert np.isfinite(apart).all()
    assert (apart[~np.eye(5, dtype=bool)] > 0).all()


def test_few_and_equal_questions(index):
    one = asked(index)[0][:1]
    for by in ("words", "graph"):
        assert cluster_questions(one, index.graph, by=by).labels.tolist() == [0]
        assert len(cluster_questions(np.repeat(one, 5, axis=0), index.graph, by=by)) <= 2


def test_what_cannot_be_is_refused(index):
    vectors, _ = asked(index)
    for wrong, message in (
        ({"k": 0}, "number of clusters"),
        ({"k": 13}, "number of clusters"),
        ({"by": "colour"}, "by 'colour'"),
    ):
        with pytest.raises(ValueError, match=message):
            cluster_questions(vectors, index.graph, **wrong)
    with pytest.raises(ValueError, match="no questions"):
        cluster_questions(vectors[:0])
    with pytest.raises(ValueError, match="want the graph"):
        cluster_questions(vectors, by="graph")


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("def f(a, b=1)", "f()"),
        ("async def g()", "g()"),
        ("class A(B, C)", "class A"),
        ("class A", "class A"),
        ("Default  of (x)", "Default of (x)"),
    ],
)
def test_a_definition_is_spoken_of_by_its_name(title, wanted):
    assert short_title(title) == wanted


@pytest.mark.parametrize(("nearness", "n_topics"), [(0.45, 2), (0.55, 1)])
def test_half_as_near_is_near_enough_to_be_one_topic(nearness, n_topics):
    vectors = np.array([[1, 0], [nearness, np.sqrt(1 - nearness**2)]])
    together = Clusters(np.int32([0, 0]), np.int32([0]), vectors, 0.0)
    assert len(split_by_topic(together, vectors, vectors, ["a", "b"])) == n_topics
