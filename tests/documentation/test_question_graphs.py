"""Retrieval over the graphs that clusters of questions make: by definition, and what it finds."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

import clew
from clew import order, select
from clew.documentation import QuestionGraphs
from clew.documentation.clusters import SHORTEST
from clew.methods.kurisu.hierarchy import DocumentTreePart, node_vectors
from clew.pipeline import Pipeline
from tests.documentation.test_clusters import TOPICS, asked, index  # noqa: F401  # a fixture

Q = pytest.mark.parametrize("power", [1.0, 2.5])


@Q
def test_distances_are_shortest_paths_over_the_mean_lengths_of_the_clusters_questions(index, power):  # noqa: F811
    graph, (vectors, _) = index.graph, asked(index)
    graphs = QuestionGraphs.of(graph, vectors, k=3, power=power)
    tree = graph.part(DocumentTreePart())
    nodes = node_vectors(graph, tree, np.arange(len(graph)))
    extra = index.embedder.embed_question("salt and tide")
    for cluster in range(3):
        members = [*vectors[graphs.clusters.labels == cluster], extra]
        plain = networkx.DiGraph()
        ends = [(-1, int(row)) for row in tree.top_rows]
        for row in range(len(graph)):
            ends += [(row, int(head)) for head in tree.heads[tree.slots(np.array([row]))]]
        for tail, head in ends:
            lengths = [np.exp(power * (1 - float(nodes[head] @ one))) - 1 for one in members]
            plain.add_edge(tail, head, weight=np.mean(lengths) + SHORTEST)
        expected = networkx.single_source_dijkstra_path_length(plain, -1)
        found = graphs.distances(graph, cluster, extra)
        reached = sorted(set(expected) - {-1})
        assert [found[row] for row in reached] == pytest.approx(
            [expected[row] for row in reached], abs=1e-4
        )
        assert np.isinf(found[sorted(set(range(len(graph))) - set(reached))]).all()


def test_a_question_goes_to_the_cluster_on_its_topic_and_finds_passages_of_it(index):  # noqa: F811
    graph, (vectors, topics) = index.graph, asked(index)
    graphs = QuestionGraphs.of(graph, vectors, k=3)
    method = Pipeline(graphs, selects=(select.Top(4),), order=order.ByPrize())
    for topic, texts in TOPICS.items():
        vector = index.embedder.embed_question(texts[1])
        cluster = graphs.cluster_of(graph, vector)
        inside = {topics[i] for i in np.flatnonzero(graphs.clusters.labels == cluster)}
        assert inside == {topic}
        assert graphs.on(graph)(clew.Query(texts[1], vector)).notes == {"cluster": cluster}
        context = index.ask(texts[1], recipe=method)
        assert {item.document for item in context} == {f"{topic}.md"}


def test_a_question_without_a_vector_finds_nothing_and_says_so(index):  # noqa: F811
    graphs = QuestionGraphs.of(index.graph, asked(index)[0], k=2)
    seeds = graphs.on(index.graph)(clew.Query("?"))
    assert not seeds.scores.any()
    assert "has no vector" in seeds.notes["fallback"]
