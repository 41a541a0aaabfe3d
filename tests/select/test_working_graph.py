"""The working graph of the budgeted selector by its definition, what the question is linked to, and the notes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.budgeted.solve import WORK
from clew.algorithms.traversal.breadth_first import shortest_paths
from clew.graph import Edges, Graph, freeze
from clew.render import Render
from clew.select._page_costs import PageCosts
from clew.select.budgeted import Budgeted, _count_fitting, _links_among, working_graph
from clew.types import Query, Seeds, Subgraph


def random_graph(seed, n=30, share=0.08):
    rng = np.random.default_rng(seed)
    net = nx.gnp_random_graph(n, share, seed=seed)
    kinds = ["passage" if rng.random() < 0.5 else "entity" for _ in range(n)]
    edges = Edges.of("tie", *zip(*net.edges, strict=True)) if net.edges else Edges()
    return Graph.of(["text"] * n, kinds=kinds, tokens=[2] * n, edges=edges), net


@given(st.integers(0, 10**6), st.integers(1, 30))
def test_it_is_all_that_is_reached_or_the_best_their_paths_and_what_joins_them(seed, max_rows):
    graph, net = random_graph(seed)
    rng = np.random.default_rng(seed)
    roots = np.sort(rng.choice(30, 2, replace=False)).astype(np.int32)
    core = rng.permutation(np.flatnonzero(graph.content))[:12].astype(np.int32)
    links = graph.links()
    part = working_graph(graph, links, roots, core, max_rows)
    reached = set().union(*(nx.node_connected_component(net, int(root)) for root in roots))
    assert part.is_whole == (len(reached) <= max_rows)
    if part.is_whole:
        inside = reached
    else:
        some = core[: max(1, int(max_rows * 2 / 3 + 1e-9))].tolist()
        inside = {*roots.tolist(), *some}
        room = max_rows - len(inside)
        paths = shortest_paths(links, roots.tolist(), some, 4)
        for row in some:
            new = [
                step for step in links.targets[paths.get(row, [])].tolist() if step not in inside
            ]
            if len(new) <= room:
                inside |= set(new)
                room -= len(new)
        counts = {
            row: len(inside & set(net[row]))
            for row in range(30)
            if row not in inside and not graph.content[row]
        }
        joining = sorted((row for row in counts if counts[row] > 1), key=lambda r: (-counts[r], r))
        inside |= set(joining[: max(0, room)])
    assert part.rows.tolist() == sorted(inside)
    pairs = {
        (int(part.rows[a]), int(part.rows[b]))
        for a, b in zip(part.links.sources.tolist(), part.links.targets.tolist(), strict=True)
    }
    own = net.subgraph(inside)
    assert pairs == {pair for a, b in own.edges for pair in ((a, b), (b, a))}
    assert part.places(part.rows).tolist() == list(range(len(inside)))
    assert links.targets[part.slots].tolist() == part.rows[part.links.targets].tolist()


@given(st.integers(0, 10**6))
def test_links_among_offered_rows_are_those_with_both_ends_offered(seed):
    graph, net = random_graph(seed, 12, 0.3)
    offered = np.random.default_rng(seed).random(12) < 0.6
    links = _links_among(graph.links(), offered)
    pairs = set(zip(links.sources.tolist(), links.targets.tolist(), strict=True))
    own = net.subgraph(np.flatnonzero(offered).tolist())
    assert pairs == {pair for a, b in own.edges for pair in ((a, b), (b, a))}
    assert len(links) == 12


def select(stage, graph, prizes, budget, **question):
    prizes = np.array(prizes, np.float64)
    everything = Subgraph(freeze(np.arange(len(graph)), np.int32))
    return stage.on(graph)(Query("?", **question), Seeds(prizes), prizes, everything, budget)


def islands():
    """Four pairs of passages, each pair joined over an entity; three tokens a passage."""
    kinds = ["passage"] * 8 + ["entity"] * 4
    ends = [(2 * i + j, 8 + i) for i in range(4) for j in range(2)]
    edges = Edges.of("mentions", *zip(*ends, strict=True))
    return Graph.of([f"text {i}" for i in range(12)], kinds=kinds, tokens=[3] * 12, edges=edges)


def test_the_question_is_linked_to_the_best_and_to_more_where_all_they_reach_fits():
    graph, prizes = islands(), [0.9, 0.1, 0.8, 0.1, 0.7, 0.1, 0.6, 0.1, 0, 0, 0, 0]
    for links, extend, budget, linked in (
        (1, False, 99, 1),
        (2, False, 99, 2),
        (1, True, 5, 1),  # the first pair costs 6
        (1, True, 6, 2),  # the first pair fits, the first two do not
        (1, True, 11, 2),
        (1, True, 12, 4),  # both fit, and as many again are linked
        (2, True, 12, 4),
        (1, True, 99, 4),
        (9, False, 99, 8),
    ):
        stage = Budgeted("best", q_links=links, extend_links=extend)
        found = select(stage, graph, prizes, budget)
        assert found.notes["linked"] == linked, (links, extend, budget)
    alone = Budgeted("best", q_links=3, connected_without_query=True)
    found = select(alone, graph, prizes, 99)
    assert found.notes["linked"] == 1
    assert sorted(found.nodes.tolist()) == [0, 1, 8]


def test_by_itself_the_question_is_linked_to_five_rows():
    graph = Graph.of(["text"] * 8, tokens=[3] * 8)
    found = select(Budgeted(), graph, np.linspace(1, 0.3, 8), 99)
    assert sorted(found.nodes.tolist()) == [0, 1, 2, 3, 4]
    assert found.notes["linked"] == 5


def test_the_notes_count_the_working_graph_and_the_page():
    graph, prizes = islands(), [0.9, 0.1, 0.8, 0.1, 0.7, 0.1, 0.6, 0.0, 0, 0, 0, 0]
    notes = select(Budgeted("auto", q_links=2), graph, prizes, 9).notes
    assert notes["content"] == 3
    assert notes["working nodes"] == 6
    assert notes["working edges"] == 4
    assert notes["candidates"] == 7
    assert notes["tokens"] == 9
    assert notes["proved"] is True
    path = Graph.of(["text"] * 40, tokens=[1] * 40, edges=Edges.of("tie", range(39), range(1, 40)))
    for budget, nodes, proved in ((3, 6, False), (30, 40, True)):
        part = select(Budgeted(q_links=1, working=4), path, np.linspace(1, 0.5, 40), budget)
        assert part.notes["working nodes"] == nodes
        assert part.notes["proved"] is proved


def test_a_limit_counts_content_and_the_rest_is_left_out_from_the_least():
    graph = Graph.of(["text"] * 5, tokens=[3] * 5)
    prizes = [0.5, 0.9, 0.5, 0.7, 0.5]
    for limit, rows in ((1, [1]), (2, [1, 3]), (3, [0, 1, 3]), (5, [0, 1, 2, 3, 4])):
        found = select(Budgeted(), graph, prizes, 99, limit=limit)
        assert sorted(found.nodes.tolist()) == rows
        assert found.bound >= found.value
    tight = select(Budgeted(), graph, prizes, 5, limit=2)
    assert tight.nodes.tolist() == [1]
    large = Graph.of(["text"] * 40, tokens=[1] * 40, edges=Edges.of("tie", range(39), range(1, 40)))
    worth = np.linspace(1, 0.5, 40)
    found = select(Budgeted("density", q_links=1, working=4), large, worth, 10, limit=3)
    assert found.bound == pytest.approx(worth[:3].sum())


def test_as_many_fit_as_the_smallest_ones():
    assert _count_fitting(np.array([5, 1, 3]), 0) == 0
    assert _count_fitting(np.array([5, 1, 3]), 4) == 2
    assert _count_fitting(np.array([5, 1, 3]), 8) == 2
    assert _count_fitting(np.array([5, 1, 3]), 9) == 3
    assert _count_fitting(np.array([0, 0]), 0) == 2


def test_by_itself_the_selector_spends_on_a_proof_what_the_solver_does():
    assert Budgeted().work == WORK


@pytest.mark.parametrize("count", [lambda text: len(text), lambda text: -(-len(text) // 3)])
def test_a_page_is_priced_by_its_entries_its_headings_once_and_no_line_end_too_many(count):
    """Counted by letters, and by thirds of them: what is chosen is the best that can be printed."""
    style = Render()
    titles = ["The Moon", "The Moon", "The Sun and all that is around it", "Tides", "Tides"]
    texts = ["It is dry.", "It is grey and old.", "It is hot.", "They rise twice.", "So."]
    graph = Graph.of(
        texts, tokens=[count(text) for text in texts], metadata=[{"title": one} for one in titles]
    )
    graph = replace(graph, count=count)
    prizes = [0.9, 0.5, 0.8, 0.6, 0.3]
    costs = PageCosts(graph, style)

    def priced(rows):
        rows = np.array(rows, np.int64)
        _, lines = costs.headings(rows)
        return int(costs.entries(rows).sum() + lines.sum())

    choices = [list(rows) for size in range(6) for rows in combinations(range(5), size)]
    whole = priced(range(5))
    for budget in range(whole + 5):
        found = select(Budgeted(), graph, prizes, budget, style=style)
        rows = found.nodes.tolist()
        fitting = [one for one in choices if priced(one) <= budget + costs.line_end]
        best = max(sum(prizes[row] for row in one) for one in fitting)
        assert found.notes["tokens"] == priced(rows) <= budget + costs.line_end
        assert found.value == pytest.approx(best)
        assert found.bound == pytest.approx(best, rel=1e-6)
