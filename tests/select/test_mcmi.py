"""The minimum-cost maximum-influence subgraph: its costs, its tree against an optimal one, what joins what, and what is read of it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.steiner.forest import steiner_forest
from clew.algorithms.steiner.kernels.prices import cheapest_edges, price_edges
from clew.graph import Edges, Facts, Graph, Labels, Ragged, freeze
from clew.order.facts_first import FactsFirst
from clew.select.mcmi import MCMI, _below_mean, _cheapest_first, edge_costs, slot_costs
from clew.types import UNLIMITED, Query, Seeds, Subgraph

QUESTION = np.float32([1, 0, 0])


def unit(rows):
    rows = np.asarray(rows, np.float64).reshape(len(rows), -1)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def graph_of(kinds, triples, more, seed=0, tokens=None):
    """Passages and entities by row; facts (entity, entity, passage); `more` edges (kind, tail, head)."""
    n, draw = len(kinds), np.random.default_rng(seed)
    vectors, said = (
        unit(draw.normal(size=(n, 3))),
        unit(draw.normal(size=(max(len(triples), 1), 3)))[: len(triples)],
    )
    subjects, objects, read_in = (freeze([t[i] for t in triples], np.int32) for i in range(3))
    sources = Ragged.of([[p] for p in read_in.tolist()])
    facts = Facts(
        tuple(f"fact {i}" for i in range(len(triples))), freeze(said.reshape(len(triples), 3), np.float32), subjects, objects,
        Labels.of(["is"] * len(triples)), sources,
    )  # fmt: skip
    told = Edges.of("fact", subjects, objects, facts=np.arange(len(triples)), read_from=sources)
    kinds_of = sorted({kind for kind, _, _ in more})
    others = [
        Edges.of(
            k, [t for kind, t, _ in more if kind == k], [h for kind, _, h in more if kind == k], 0.5
        )
        for k in kinds_of
    ]
    return Graph.of(
        [f"text {i}" for i in range(n)],
        kinds=kinds,
        vectors=vectors,
        tokens=tokens,
        facts=facts,
        edges=Edges.join([told, *others]),
    )


@st.composite
def cases(draw):
    passages, entities = draw(st.integers(1, 4)), draw(st.integers(2, 7))
    n = passages + entities
    entity, passage, any_row = (
        st.integers(passages, n - 1),
        st.integers(0, passages - 1),
        st.integers(0, n - 1),
    )
    triples = [
        t for t in draw(st.lists(st.tuples(entity, entity, passage), max_size=9)) if t[0] != t[1]
    ]
    more = draw(
        st.lists(
            st.tuples(st.just("mentions"), passage, entity)
            | st.tuples(st.just("synonym"), entity, entity),
            max_size=9,
        )
    )
    kinds = ["passage"] * passages + ["entity"] * entities
    graph = graph_of(kinds, triples, [e for e in more if e[1] != e[2]], draw(st.integers(0, 99)), draw(st.lists(st.integers(1, 9), min_size=n, max_size=n)))  # fmt: skip
    terminals = draw(st.lists(any_row, min_size=1, max_size=5, unique=True))
    scores = np.array(draw(st.lists(st.floats(0.01, 1), min_size=n, max_size=n)))
    return graph, terminals, scores


def select(stage, graph, terminals, scores, budget=UNLIMITED, limit=None, candidates=None):
    rows = freeze(np.arange(len(graph)) if candidates is None else candidates, np.int32)
    seeds = Seeds(np.zeros(len(graph)), freeze(terminals, np.int32))
    return stage.on(graph)(
        Query("?", QUESTION, limit=limit),
        seeds,
        np.asarray(scores, np.float64),
        Subgraph(rows),
        budget,
    )


def parts_of(graph, edges, rows):
    """The connected parts of the rows over the edges, as frozen sets."""
    part = {row: {row} for row in rows}
    for edge in edges:
        joined = part[int(graph.edges.tails[edge])] | part[int(graph.edges.heads[edge])]
        part |= dict.fromkeys(joined, joined)
    return {frozenset(rows) for rows in part.values()}


TREE = MCMI(max_steps=0, chords="none", max_passages=0)


def tree_edges(graph, found):
    place = {id: row for row, id in enumerate(graph.ids)}
    return [(place[step["from"]], place[step["to"]], step) for step in found.notes["tree"]]


def test_costs_are_by_what_an_edge_says_and_parallel_facts_cost_the_least():
    vectors = unit([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0.6, 0.8, 0]])
    facts = Facts(
        ("near", "far"), freeze(unit([[1, 0, 0], [-1, 0, 0]]), np.float32), freeze([1, 2], np.int32), freeze([2, 1], np.int32),
        Labels.of(["is", "is"]), Ragged.of([[0], [0]]),
    )  # fmt: skip
    edges = Edges.join([
        Edges.of("fact", [1, 2], [2, 1], facts=[0, 1]), Edges.of("mentions", [0], [1]), Edges.of("synonym", [1, 2], [2, 3]),
        Edges.of("similar", [0], [3], 0.5),
    ])  # fmt: skip
    graph = Graph.of(
        list("abcd"),
        kinds=["passage", "entity", "entity", "passage"],
        vectors=vectors,
        facts=facts,
        edges=edges,
    )

    each = edge_costs(graph, Query("?", QUESTION))
    assert each == pytest.approx([1e-6, 1.0, 1e-6, 0.5, 0.2, (1 - 0.5 * 0.8) / 2])
    links = graph.links(("fact",))
    found = slot_costs(graph, links, Query("?", QUESTION))
    assert found.costs == pytest.approx([1e-6, 1e-6])
    assert found.edges.tolist() == [0, 0]
    assert edge_costs(graph, Query("?")) == pytest.approx([0.5] * 6), (
        "without a vector nothing is like the question"
    )
    of_facts = edge_costs(graph, Query("?", QUESTION, fact_vector=-QUESTION))
    assert of_facts[:2] == pytest.approx([1.0, 1e-6])


@given(cases())
def test_costs_lie_in_their_range_and_are_the_same_both_ways(case):
    graph, _, _ = case
    links = graph.links()
    found = slot_costs(graph, links, Query("?", QUESTION)).costs
    assert ((found >= 1e-6) & (found <= 1)).all()
    both = {
        (a, b): c
        for a, b, c in zip(
            links.sources.tolist(), links.targets.tolist(), found.tolist(), strict=True
        )
    }
    assert all(both[b, a] == c for (a, b), c in both.items())


@pytest.mark.parametrize("steiner_weight", ["cost", "cost_over_score"])
@given(cases())
def test_the_tree_is_within_twice_the_optimum_and_its_leaves_are_terminals(steiner_weight, case):
    graph, terminals, scores = case
    found = select(
        MCMI(max_steps=0, chords="none", steiner_weight=steiner_weight), graph, terminals, scores
    )
    links = graph.links()
    lengths = slot_costs(graph, links, Query("?", QUESTION)).costs
    if steiner_weight == "cost_over_score":
        lengths = lengths / (scores[links.sources] + scores[links.targets])
    best = steiner_forest(links, lengths, terminals, "exact")
    tree = tree_edges(graph, found)
    cost = sum(
        s["cost"] / (sum(s["scores"]) if steiner_weight == "cost_over_score" else 1)
        for _, _, s in tree
    )

    assert cost <= 2 * (1 - 1 / len(terminals)) * best.cost + 1e-9
    assert cost >= best.cost - 1e-9
    ends = [row for a, b, _ in tree for row in (a, b)]
    assert all(row in terminals for row in ends if ends.count(row) == 1), "no leaf but a terminal"
    rows = {*terminals, *ends}
    assert set(found.required.tolist()) == rows - set(terminals)
    reach = parts_of(graph, range(len(graph.edges)), range(len(graph)))
    apart = {next(part for part in reach if row in part) for row in terminals}
    assert len(tree) == len(rows) - len(apart), (
        "a forest with one tree for each part that holds terminals"
    )
    assert len(found.missing) == len(apart) - 1
    assert all(
        a == terminals[0] and not any({a, b} <= part for part in reach) for a, b in found.missing
    )


@pytest.mark.parametrize("chords", ["none", "below_mean", "induced"])
@given(cases(), st.sampled_from(["mean", "ratio", "official"]))
def test_what_is_chosen_is_joined(chords, case, variant):
    graph, terminals, scores = case
    found = select(MCMI(variant, 4, chords=chords, max_passages=99), graph, terminals, scores)
    nodes, edges = set(found.nodes.tolist()), found.edges.tolist()
    assert set(terminals) <= nodes
    assert {int(graph.edges.tails[e]) for e in edges} | {
        int(graph.edges.heads[e]) for e in edges
    } <= nodes
    assert len(set(edges)) == len(edges)
    steps, grown = (
        found.notes["steps"],
        {id for step in found.notes["steps"] for id in (step["from"], step["to"])},
    )
    assert len(steps) == len(found.notes["ratios"]) - 1 <= 4
    joined = {
        *terminals,
        *(row for a, b, _ in tree_edges(graph, found) for row in (a, b)),
        *(graph.row(id) for id in grown),
    }
    over = [part for part in parts_of(graph, edges, nodes) if part & joined]
    assert len(over) == 1 + len(found.missing), "each part hangs together"
    links = graph.links()
    among = {
        tuple(sorted((a, b)))
        for a, b in zip(links.sources.tolist(), links.targets.tolist(), strict=True)
        if {a, b} <= joined
    }
    if chords == "none":
        assert len(edges) == len(joined) - len(over)
    elif chords == "induced":
        assert {
            tuple(sorted((int(graph.edges.tails[e]), int(graph.edges.heads[e])))) for e in edges
        } == among
    else:
        weights = [
            float(
                edge_costs(graph, Query("?", QUESTION))[e]
                / (scores[graph.edges.tails[e]] + scores[graph.edges.heads[e]])
            )
            for e in edges
        ]
        first = len(joined) - len(over)
        assert sorted(weights[first:]) == weights[first:]
        assert all(w < np.mean(weights[: first + i]) for i, w in enumerate(weights[first:]))


def test_a_triangle_of_terminals_is_a_circle_only_with_its_chords():
    graph = graph_of(["passage", *["entity"] * 3], [(1, 2, 0), (2, 3, 0), (1, 3, 0)], [])
    sizes = {
        chords: len(select(MCMI(chords=chords, max_steps=0), graph, [1, 2, 3], np.ones(4)).edges)
        for chords in ("none", "induced")
    }
    assert sizes == {"none": 2, "induced": 3}


def graph_facts_of(graph, passages):
    """The facts that were read from one of the passages."""
    own = set(passages.tolist())
    return {
        fact for fact in range(len(graph.facts)) if own & set(graph.facts.read_from[fact].tolist())
    }


@given(
    cases(),
    st.integers(0, 40),
    st.none() | st.integers(1, 5),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.booleans(),
)
def test_what_is_read_fits_and_a_fact_is_said_once(case, budget, limit, fact_share, repeat):
    graph, terminals, scores = case
    stage = MCMI(fact_share=fact_share, repeat=repeat)
    found = select(stage, graph, terminals, scores, budget, limit)
    passages = found.nodes[graph.content[found.nodes]]
    read = FactsFirst(repeat).on(graph)(Query("?", QUESTION, limit=limit), scores, found)
    facts = [fact for fact in read.facts.tolist() if fact >= 0]
    of_facts = sum(graph.count(f"- {graph.facts.texts[fact]}\n") for fact in facts)

    assert of_facts + graph.tokens[passages].sum() <= budget
    if limit is None and fact_share:  # no fact of the tree is left out that would have fitted
        every = select(stage, graph, terminals, scores, 10**6)
        missed = set(graph.edges.facts[every.edges].tolist()) - {-1, *facts}
        missed -= set() if repeat else graph_facts_of(graph, passages)
        left = budget - of_facts - int(graph.tokens[passages].sum())
        assert all(graph.count(f"- {graph.facts.texts[fact]}\n") > left for fact in missed)
    assert fact_share or not facts
    assert len(set(facts)) == len(facts)
    assert limit is None or (len(passages) <= limit and not facts)
    assert repeat or all(
        set(graph.facts.read_from[fact].tolist()).isdisjoint(passages.tolist()) for fact in facts
    )
    assert not set(passages.tolist()) & {row for row, _ in found.dropped}


def test_the_facts_of_a_tree_are_read_along_it_and_the_nearest_first_where_there_is_no_room_for_all():
    chain = [(2, 3, 0), (1, 2, 0), (3, 4, 0)]
    graph = graph_of(["passage", *["entity"] * 4], chain, [], seed=3)
    whole = select(MCMI(max_steps=0, chords="none", repeat=True), graph, [1, 4], np.ones(5))
    assert graph.edges.facts[whole.edges].tolist() == [1, 0, 2]
    each = edge_costs(graph, Query("?", QUESTION))[:3]
    one = graph.count("- fact 0\n")
    narrow = select(
        MCMI(max_steps=0, chords="none", repeat=True), graph, [1, 4], np.ones(5), budget=one
    )
    assert graph.edges.facts[narrow.edges].tolist() == [int(np.argmin(each))]
    assert narrow.notes["facts_without_room"] == 2


@given(cases(), st.data())
def test_only_candidates_are_chosen(case, data):
    graph, terminals, scores = case
    offered = data.draw(st.lists(st.sampled_from(range(len(graph))), unique=True, min_size=1))
    found = select(MCMI(), graph, terminals, scores, candidates=offered)
    assert set(found.nodes.tolist()) <= set(offered)
    assert {row for pair in found.missing for row in pair} <= set(offered) & set(terminals)
    assert set(terminals) & set(offered) <= set(found.nodes.tolist())


def test_what_nothing_joins_is_joined_over_passages_at_the_price_of_a_bridge():
    graph = graph_of(
        ["passage", "passage", "entity", "entity"], [], [("mentions", 0, 2), ("mentions", 1, 3)]
    )
    apart = select(TREE, graph, [2, 3], np.ones(4))
    assert apart.missing == ((2, 3),)
    assert apart.notes["tree"] == []
    bridged = select(MCMI(max_steps=0, chords="none", bridge_cost=10.0), graph, [2, 3], np.ones(4))
    assert {(a, b) for a, b, _ in tree_edges(graph, bridged)} in (
        {(2, 0), (3, 1)},
        {(0, 2), (1, 3)},
        {(0, 2), (3, 1)},
        {(2, 0), (1, 3)},
    )
    assert bridged.missing == ((2, 3),), "the graph itself does not join them"
    assert bridged.required.tolist() == [0, 1]


@given(cases())
def test_a_bridge_dearer_than_every_way_changes_no_cost(case):
    graph, terminals, scores = case
    plain, bridged = (
        select(MCMI(max_steps=0, bridge_cost=b), graph, terminals, scores) for b in (None, 1000.0)
    )
    if not plain.missing:
        assert bridged.notes["tree_cost"] == pytest.approx(plain.notes["tree_cost"])
        assert bridged.missing == ()


def test_without_terminals_the_passages_by_prize_and_the_trace_says_so():
    graph = graph_of(["passage"] * 3, [], [("next", 0, 1)])
    found = select(MCMI(), graph, [], [0.1, 0.3, 0.2])
    assert found.nodes.tolist() == [1, 2, 0]
    assert "fallback" in found.notes


def test_unknown_settings_are_refused_by_name():
    for wrong in (
        {"variant": "median"},
        {"chords": "all"},
        {"steiner_weight": "hops"},
        {"passages_by": "luck"},
    ):
        with pytest.raises(
            ValueError, match=f"unknown {next(iter(wrong))} '{next(iter(wrong.values()))}'; known: "
        ):
            MCMI(**wrong)


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan])
def test_a_share_for_facts_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match=f"fact_share is a share of the budget in .*; got {share}"):
        MCMI(fact_share=share)


@given(
    st.lists(st.integers(1, 12).map(lambda part: part / 8), min_size=1, max_size=9),
    st.integers(1, 4),
)
def test_chords_below_the_mean_are_all_that_lower_it_the_lightest_first(weights, tree_count):
    weights, slots = np.array(weights), np.arange(len(weights))
    tree, chords = slots[:tree_count], slots[tree_count:]
    chosen = list(tree)
    for slot in sorted(chords.tolist(), key=lambda slot: (weights[slot], slot)):
        if weights[slot] >= np.mean(weights[chosen]) - 1e-9:
            break
        chosen.append(slot)
    assert _below_mean(weights, tree, chords).tolist() == chosen[len(tree) :]


def test_the_best_of_every_kind_comes_first_where_there_is_no_room_for_all_facts():
    """Two slots of the tree, three that it grew by, two chords; of equal costs the lower slot."""
    costs = np.array([0.5, 0.2, 0.9, 0.1, 0.1, 0.3, 0.3])
    slots = np.array([7, 3, 1, 9, 2, 6, 4])
    assert _cheapest_first(costs, slots, 2, 5).tolist() == [1, 0, 4, 3, 2, 6, 5]


@given(st.integers(0, 2**32 - 1))
def test_the_loops_over_edges_and_their_plain_forms_agree(seed):
    chance = np.random.default_rng(seed)
    n, m, n_facts = 5, int(chance.integers(1, 30)), int(chance.integers(0, 4))
    ends = chance.integers(0, n, (2, m)).astype(np.int32)
    facts = chance.integers(-1, n_facts, m).astype(np.int32)
    rules = tuple(chance.permutation([-1, 0, 1])[:2].tolist())
    cosines = chance.uniform(-1, 1, n).round(2), chance.uniform(-1, 1, n_facts)
    arguments = (
        *ends, chance.random(m).astype(np.float32), chance.integers(0, 3, m).astype(np.int32), rules, chance.random(n) < 0.5, facts,
        cosines, (1e-6, 1.0),
    )  # fmt: skip
    costs, looped = price_edges.plain(*arguments), price_edges.function(*arguments)
    assert costs.tobytes() == looped.tobytes()
    costs = costs.round(1)  # some are equal
    lengths = chance.integers(1, 4, 8)
    slots = np.cumsum([0, *lengths]), chance.integers(0, m, lengths.sum()).astype(np.int32), costs
    for one, other in zip(
        cheapest_edges.plain(*slots), cheapest_edges.function(*slots), strict=True
    ):
        assert one.tobytes() == other.tobytes()
    wanted = [min((costs[e], e) for e in slots[1][a:b]) for a, b in pairwise(slots[0])]
    assert list(zip(*cheapest_edges.plain(*slots), strict=True)) == wanted
