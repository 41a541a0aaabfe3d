"""Growing a tree by influence, against the definition and what is proved of it; the walk with jumps, against the dense matrix."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.pagerank import pagerank_with_jumps
from clew.algorithms.steiner import RULES, expand_tree, slot_sources, steiner_forest
from clew.graph import Edges, Graph

FALLING = ("mean", "mean_edge", "ratio")


def graph_of(n, pairs):
    return Graph.of(
        [str(i) for i in range(n)],
        edges=Edges.of("next", [a for a, _ in pairs], [b for _, b in pairs]),
    ).links()


def symmetric(links, cost_of):
    return np.array(
        [
            cost_of[tuple(sorted(pair))]
            for pair in zip(links.sources.tolist(), links.targets.tolist(), strict=True)
        ]
    )


@st.composite
def cases(draw):
    n = draw(st.integers(2, 11))
    ends = st.integers(0, n - 1)
    pairs = sorted(
        {
            tuple(sorted(p))
            for p in draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=24))
            if p[0] != p[1]
        }
    )
    links = graph_of(n, pairs)
    costs = symmetric(links, {pair: draw(st.floats(0.01, 1)) for pair in pairs})
    scores = np.array(draw(st.lists(st.floats(0.001, 1) | st.just(0.0), min_size=n, max_size=n)))
    terminals = draw(st.lists(ends, min_size=1, max_size=4, unique=True))
    return links, costs, scores, terminals


def ends_of(links, slots):
    return [(int(slot_sources(links, slot)), int(links.targets[slot])) for slot in slots]


def grown(case, rule, most=20):
    links, costs, scores, terminals = case
    tree = steiner_forest(links, costs, terminals)
    return tree, expand_tree(links, costs, scores, tree.nodes, tree.slots, rule, most)


def by_definition(links, costs, scores, tree, rule, most):
    """Scan every edge out of the whole at every step, and compute r anew."""
    inside, edges, ratios = set(tree.nodes.tolist()), list(tree.slots.tolist()), list[float]()

    def weight(slot):
        (u, v), cost = ends_of(links, [slot])[0], float(costs[slot])
        return cost / max(float(scores[u] + scores[v]), 1e-300)

    first = [float(costs[s]) * float(scores[list(ends_of(links, [s])[0])].sum()) / 2 for s in edges]
    while True:
        weights = [weight(slot) for slot in edges]
        r = (
            {
                "mean": lambda w=weights: sum(w) / len(w),
                "mean_edge": lambda w=weights: sum(w) / len(w),
                "sum": lambda w=weights: sum(w),
                "ratio": lambda: (
                    sum(float(costs[s]) for s in edges)
                    / max(sum(float(scores[v]) for v in inside), 1e-300)
                ),
                "official": lambda: sum(first) / len(first) if first else -np.inf,
            }[rule]()
            if edges or rule == "official"
            else np.inf
        )
        ratios.append(r)
        frontier = []
        for slot in range(len(links.targets)):
            (u, v), cost = ends_of(links, [slot])[0], float(costs[slot])
            if u in inside and v not in inside:
                own = cost / float(scores[v]) if scores[v] > 0 else np.inf
                key = {"mean_edge": weight(slot), "official": -float(scores[v]) / cost}.get(
                    rule, own
                )
                frontier.append((float(f"{key:.9g}"), v, u, slot))
        good = frontier and len(ratios) <= most
        if good:
            key, v, _, slot = min(frontier)
            good = -key >= r * (1 - 1e-8) if rule == "official" else key < r * (1 - 1e-8)
        if not good:
            return inside, edges, ratios
        inside.add(v)
        edges.append(slot)


@pytest.mark.parametrize("rule", RULES)
@given(cases(), st.integers(0, 6))
def test_growth_is_the_definition(rule, case, most):
    links, costs, scores, _ = case
    tree, found = grown(case, rule, most)
    nodes, edges, ratios = by_definition(links, costs, scores, tree, rule, most)
    assert found.ratios == pytest.approx(ratios)
    assert set(found.nodes.tolist()) == nodes
    assert found.slots.tolist() == edges


@pytest.mark.parametrize("rule", FALLING)
@given(cases())
def test_every_step_makes_the_whole_better_and_was_a_candidate_from_the_start(rule, case):
    links, costs, scores, _ = case
    tree, found = grown(case, rule)
    assert all(after < before for before, after in pairwise(found.ratios))
    accepted = found.slots[len(tree.slots) :].tolist()
    first = found.ratios[0]

    def key(slot):
        (u, v), cost = ends_of(links, [slot])[0], costs[slot]
        if rule == "mean_edge":
            return cost / max(scores[u] + scores[v], 1e-300)
        return min(cost / s if s > 0 else np.inf for s in (scores[u], scores[v]))

    candidates = {
        frozenset(ends_of(links, [slot])[0])
        for slot in range(len(links.targets))
        if key(slot) < first
    }
    assert {frozenset(pair) for pair in ends_of(links, accepted)} <= candidates
    assert len(accepted) <= min(len(candidates), len(links) - len(tree.nodes))


@pytest.mark.parametrize("rule", RULES)
@given(cases(), st.integers(0, 5))
def test_steps_are_bounded_and_a_forest_stays_one(rule, case, most):
    links = case[0]
    tree, found = grown(case, rule, most)
    assert (
        len(found.ratios) - 1
        == len(found.nodes) - len(tree.nodes)
        == len(found.slots) - len(tree.slots)
        <= most
    )
    part = {row: {row} for row in found.nodes.tolist()}
    for one, other in ends_of(links, found.slots.tolist()):
        assert part[one] is not part[other], "no edge closes a circle"
        joined = part[one] | part[other]
        part |= dict.fromkeys(joined, joined)
    assert len(found.slots) == len(found.nodes) - len({id(rows) for rows in part.values()})


@pytest.mark.parametrize("rule", RULES)
@given(cases(), st.sampled_from([2.0**-20, 0.05, 3.0, 1e6]))
def test_the_scale_of_the_scores_changes_nothing(rule, case, factor):
    links, costs, scores, terminals = case
    _, found = grown(case, rule)
    _, other = grown((links, costs, scores * factor, terminals), rule)
    assert found.nodes.tolist() == other.nodes.tolist()
    assert found.slots.tolist() == other.slots.tolist()


def test_only_the_authors_code_depends_on_the_scale_of_the_costs():
    links = graph_of(3, [(0, 1), (1, 2)])
    costs, scores = symmetric(links, {(0, 1): 0.9, (1, 2): 0.9}), np.array([1.0, 1.0, 0.5])
    for rule in RULES:
        sizes = [
            len(expand_tree(links, costs * scale, scores, [0, 1], [0], rule).nodes)
            for scale in (1.0, 0.1)
        ]
        assert (sizes == [2, 3]) if rule == "official" else len(set(sizes)) == 1


def test_the_printed_sum_rises_where_it_is_said_to_fall():
    """Theorem 3's counter-example: r = 1/3, a neighbour with key 0.25 < 1/3 is taken, and r becomes 0.433."""
    links = graph_of(3, [(0, 1), (1, 2)])
    costs, scores = symmetric(links, {(0, 1): 0.2, (1, 2): 0.05}), np.array([0.3, 0.3, 0.2])
    tree = steiner_forest(links, costs, [0, 1])
    assert expand_tree(links, costs, scores, tree.nodes, tree.slots, "sum").ratios == pytest.approx(
        [1 / 3, 1 / 3 + 0.05 / 0.5]
    )
    assert expand_tree(
        links, costs, scores, tree.nodes, tree.slots, "mean"
    ).ratios == pytest.approx([1 / 3, (1 / 3 + 0.1) / 2])


def test_a_single_terminal_takes_its_best_neighbour_first():
    links = graph_of(4, [(0, 1), (0, 2), (0, 3)])
    costs, scores = (
        symmetric(links, {(0, 1): 0.5, (0, 2): 0.5, (0, 3): 0.5}),
        np.array([0.5, 0.1, 0.3, 0.0]),
    )
    found = expand_tree(links, costs, scores, [0], [], "mean")
    assert found.ratios[0] == np.inf
    assert found.nodes.tolist()[:2] == [0, 2]
    assert 3 not in found.nodes, "no influence, no place"
    assert expand_tree(links, costs, np.array([1.0, 0, 0, 0]), [0], [], "mean").nodes.tolist() == [
        0
    ]


def test_an_unknown_rule_is_refused_by_name():
    links = graph_of(2, [(0, 1)])
    with pytest.raises(ValueError, match="unknown rule 'median'; known: mean"):
        expand_tree(links, np.ones(2), np.ones(2), [0], [], "median")


@given(cases(), st.sampled_from([0.0, 0.5, 0.85]))
def test_the_walk_with_jumps_is_the_printed_matrix_with_rows_of_sum_one(case, damping):
    links, _, _, terminals = case
    n = len(links)
    adjacency = links.matrix(np.ones(len(links.targets)))
    dense = adjacency.toarray()
    degree = dense.sum(axis=1)
    printed = np.where(dense > 0, 1 / np.maximum(degree, 1)[:, None], 1 / n)
    walk = printed / printed.sum(axis=1, keepdims=True)
    reset = np.zeros(n)
    reset[terminals] = 1 / len(terminals)

    found = pagerank_with_jumps(adjacency, reset, damping)

    assert found == pytest.approx(
        np.linalg.solve(np.eye(n) - damping * walk.T, (1 - damping) * reset), abs=1e-9
    )
    assert found.sum() == pytest.approx(1)
