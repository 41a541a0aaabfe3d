"""PageRank as a stage: prizes in, prizes out, over the chosen kinds of edge."""

from __future__ import annotations

import numpy as np
import pytest

from clew.algorithms.pagerank.full import WalkPart, pagerank
from clew.graph import Edges, Graph
from clew.spread import PageRank
from clew.types import Query, Seeds

EDGES = Edges.join([Edges.of("fact", [0], [1]), Edges.of("similar", [1, 0], [2, 2], [0.5, 1.0])])
GRAPH = Graph.of(list("abcd"), edges=EDGES)


def spread(stage, prizes):
    weights = np.array(prizes, np.float64)
    return stage.on(GRAPH)(Query("?"), Seeds(weights), weights)


def test_prizes_are_a_probability_and_reach_what_is_linked():
    found = spread(PageRank(), [1, 0, 0, 0])
    assert found.sum() == pytest.approx(1)
    assert found[0] > found[1] > 0
    assert found[3] == 0


def test_only_the_chosen_kinds_are_walked_by_their_factors():
    assert spread(PageRank(0.5, ("fact",)), [1, 0, 0, 0])[2] == 0
    assert (
        spread(PageRank(0.5, (("fact", 1.0), ("similar", 0.01))), [1, 0, 0, 0])[2]
        < spread(PageRank(), [1, 0, 0, 0])[2]
    )
    for stage in (
        PageRank(0.5, excluded_kinds=("similar",)),
        PageRank(0.5, ("fact", "similar"), excluded_kinds=("similar",)),
    ):
        assert spread(stage, [1, 0, 0, 0]) == pytest.approx(
            spread(PageRank(0.5, ("fact",)), [1, 0, 0, 0])
        )
    assert spread(PageRank(excluded_kinds=("similar", "fact")), [1, 0, 0, 0]).tolist() == [
        1,
        0,
        0,
        0,
    ]


def test_without_damping_the_seeds_stay_as_they_are_and_without_seeds_nothing_is_spread():
    assert spread(PageRank(0.0), [1, 3, 0, 0]) == pytest.approx([0.25, 0.75, 0, 0])
    assert spread(PageRank(), [0, 0, 0, 0]).tolist() == [0, 0, 0, 0]


def test_only_the_best_get_a_prize_if_so_wished_and_it_is_theirs():
    whole = spread(PageRank(), [1, 0.5, 0, 0])
    for top in (1, 2, 3, 4, 9):
        found = spread(PageRank(top=top), [1, 0.5, 0, 0])
        rows = np.argsort(-whole, kind="stable")[:top]
        assert found[rows] == pytest.approx(whole[rows], abs=1e-4)
        assert not np.delete(found, rows).any()
    with pytest.raises(ValueError, match="at least 1, or None for all; got 0"):
        PageRank(top=0)


def test_mass_that_is_spread_thin_is_not_moved_on_and_prizes_are_still_a_probability():
    ring = np.arange(1000)
    graph = Graph.of(list(map(str, ring)), edges=Edges.of("next", ring, (ring + 1) % 1000))
    prizes = np.zeros(1000)
    prizes[[3, 4]] = [1, 2]
    whole, near, nearer = (
        PageRank(0.7, tolerance=tolerance).on(graph)(Query("?"), Seeds(prizes), prizes)
        for tolerance in (None, 0.002, 0.05)
    )
    assert near == pytest.approx(whole, abs=2 * 0.7 * 0.002 * 2 + 0.02)  # and what it is scaled by
    assert near.sum() == pytest.approx(1)
    assert np.count_nonzero(nearer) < np.count_nonzero(near) < 40
    stays = PageRank(0.7, tolerance=9.0).on(graph)(Query("?"), Seeds(prizes), prizes)
    assert stays == pytest.approx(prizes / 3)


def test_a_graph_that_a_walk_near_its_start_may_go_over_is_walked_as_a_whole():
    whole = spread(PageRank(0.5), [1, 0.5, 0, 0])
    assert spread(PageRank(0.5, tolerance=0.33), [1, 0.5, 0, 0]).tolist() == whole.tolist()
    assert spread(PageRank(0.5, tolerance=0.34), [1, 0.5, 0, 0]).tolist() != whole.tolist()


def test_a_tolerance_that_means_nothing_is_named():
    with pytest.raises(ValueError, match="above 0, or None to move all; got 0"):
        PageRank(tolerance=0.0)
    with pytest.raises(ValueError, match="give one of them"):
        PageRank(tolerance=1e-4, top=3)


def test_a_directed_walk_goes_from_tail_to_head_alone():
    assert spread(PageRank(directed=True), [0, 0, 1, 0]) == pytest.approx([0, 0, 1, 0])
    assert spread(PageRank(directed=True, kinds=("fact",)), [1, 0, 0, 0]) == pytest.approx(
        [2 / 3, 1 / 3, 0, 0]
    )


def test_where_nothing_is_linked_the_walk_stays_as_the_solver_finds_it():
    graph, prizes = Graph.of(["a", "b", "c"]), np.array([3.0, 0.0, 1.0])
    stays = PageRank(0.5, ("fact",)).on(graph)(Query("?"), Seeds(prizes), prizes)
    assert stays == pytest.approx(pagerank(graph.part(WalkPart()), prizes, 0.5))


def test_by_itself_it_walks_in_both_directions_and_half_of_the_time():
    """With one edge, x = .5 r + .5 W' x gives two thirds to the end it starts at."""
    graph = Graph.of(["a", "b"], edges=Edges.of("next", [0], [1]))
    for start in ([1.0, 0.0], [0.0, 1.0]):
        prizes = np.array(start)
        found = PageRank().on(graph)(Query("?"), Seeds(prizes), prizes)
        assert found == pytest.approx([2 / 3 if one else 1 / 3 for one in start])
    nothing = PageRank(kinds=(("next", 0.5), "other")).on(graph)
    assert nothing(Query("?"), Seeds(prizes), prizes) == pytest.approx([1 / 3, 2 / 3])


def test_where_nothing_is_linked_only_the_best_get_a_prize_if_so_wished():
    graph, prizes = Graph.of(["a", "b", "c"]), np.array([1.0, 2.0, 1.0])
    found = PageRank(top=1).on(graph)(Query("?"), Seeds(prizes), prizes)
    assert found == pytest.approx([0, 0.5, 0])
