"""The parts of a Kurisu-G2 descent, each against its definition written out with plain loops."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.transport.fused_gromov_wasserstein import TransportVerdict
from clew.graph import Edges, Graph, freeze
from clew.methods import Descent
from clew.methods.kurisu import passages as reading
from clew.methods.kurisu.branching import ClusterBranching, expected_tests, fit_decay
from clew.methods.kurisu.children import NO_CHILDREN, Children, RankedChildren, successors
from clew.methods.kurisu.explanation import DescentResult, descent_notes, paths_to_rows
from clew.methods.kurisu.hierarchy import DocumentTreePart, node_vectors
from clew.methods.kurisu.passages import PassageSelection, fused_groups, read_paths
from clew.methods.kurisu.surroundings import Surroundings
from clew.methods.kurisu.traversal import (
    DescentStep,
    PathNode,
    Traversal,
    longest_prefix,
)
from clew.types import Query, Seeds, Subgraph

BELOW = {"document": "section", "section": "passage", "passage": "sentence"}


def tangle(seed, n=14):
    """Documents to sentences, names beside them, edges of all kinds, and some that were learnt."""
    rng = np.random.default_rng(seed)
    kinds, parents = ["document"], [-1]
    while len(kinds) < n:
        above = int(rng.integers(-3, len(kinds)))
        if above < 0:
            kinds.append(str(rng.choice(["document", "section", "entity", "passage"])))
        elif kinds[above] in BELOW:
            kinds.append(BELOW[kinds[above]])
        else:
            continue
        parents.append(max(above, -1))
    content = np.isin(kinds, ["passage", "sentence"])
    bare = [row for row in range(n) if parents[row] < 0 and kinds[row] != "entity"]
    pairs = {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(6)}
    similar = [pair for pair in sorted(pairs) if content[list(pair)].all()]
    held = [(row, row + 1) for row in bare if row + 1 in bare and rng.random() < 0.5]
    learnt = {tuple(rng.integers(0, n, 2).tolist()) for _ in range(4)}
    learnt |= {(parents[row], row) for row in range(n) if parents[row] >= 0 and rng.random() < 0.2}
    edges = [
        Edges.of(
            "contains",
            [above for above in parents if above >= 0],
            np.flatnonzero(np.array(parents) >= 0),
        ),
        *(Edges.of("contains", [a], [b]) for a, b in held),
        *(Edges.of("similar", [a], [b], float(rng.choice([0.7, 0.8, 0.9]))) for a, b in similar),
        *(
            Edges.of("learned", [a], [b], float(rng.choice([0.1, 0.6, 0.99])))
            for a, b in sorted(learnt)
        ),
    ]
    vectors = rng.normal(size=(n, 4)) * (content | (rng.random(n) < 0.2))[:, None]
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return Graph.of(
        [f"text {row}" for row in range(n)],
        kinds=kinds,
        parents=parents,
        documents=np.arange(n),
        spans=[(10 * row, 10 * row + 9) for row in range(n)],
        tokens=rng.integers(0, 9, n),
        vectors=vectors,
        edges=Edges.join(edges),
    )


TANGLES = st.builds(tangle, st.integers(0, 10**6))


def strengths_by_definition(graph, p, theta):
    """By (tail, head): the strength, and whether the tail contains the head; -1 is the root."""
    rows = range(len(graph.edges))
    kinds, tails, heads = (
        list(graph.edges.kinds),
        graph.edges.tails.tolist(),
        graph.edges.heads.tolist(),
    )
    built = {}
    for edge in rows:
        if kinds[edge] == "contains":
            built.setdefault((tails[edge], heads[edge]), (1.0, True))
    for row, above in enumerate(graph.parents.tolist()):
        if above >= 0:
            built.setdefault((above, row), (1.0, True))
    for one, other in ((tails, heads), (heads, tails)):
        for edge in rows:
            weight = float(graph.edges.weights[edge])
            if kinds[edge] == "similar" and weight >= theta - 1e-6:
                built.setdefault((one[edge], other[edge]), (weight, False))
    holders = dict(enumerate(graph.parents.tolist()))
    for (tail, head), (_, contains) in sorted(built.items()):
        if contains and holders[head] < 0:
            holders[head] = tail
    for row, above in holders.items():
        if above < 0 and graph.kinds[row] != "entity":
            built[-1, row] = (1.0, False)
    found = {pair: [p * weight, contains, weight] for pair, (weight, contains) in built.items()}
    for edge in rows:
        if kinds[edge] == "learned":
            pair = (tails[edge] if tails[edge] != heads[edge] else -1, heads[edge])
            if pair[0] == -1 and pair not in found:
                continue  # something else leads to it
            strength = found.setdefault(pair, [0.0, False, 0.0])
            strength[0] += float(graph.edges.weights[edge]) - 0.5 * strength[2]
    return {pair: (min(1.0, max(0.0, s)), c) for pair, (s, c, _) in found.items()}, holders


def below(holders, row):
    """The rows inside a row, itself included."""
    inside = {row}
    while new := {one for one, above in holders.items() if above in inside} - inside:
        inside |= new
    return inside


@given(TANGLES, st.sampled_from([0.5, 0.8, 1.0]), st.sampled_from([0.8, 0.95]))
def test_the_tree_has_the_edges_and_strengths_of_its_definition(graph, p, theta):
    tree = graph.part(DocumentTreePart(theta, initial_strength=p))
    expected, holders = strengths_by_definition(graph, p, theta)
    rows = np.arange(len(graph))
    pairs = list(zip(tree.sources(rows).tolist(), tree.heads.tolist(), strict=True))
    assert pairs == sorted(pair for pair in expected if pair[0] >= 0)
    assert tree.strengths == pytest.approx([expected[pair][0] for pair in pairs], abs=1e-6)
    assert tree.contains.tolist() == [expected[pair][1] for pair in pairs]
    assert tree.top_rows.tolist() == sorted(head for tail, head in expected if tail < 0)
    assert tree.top_strengths == pytest.approx(
        [expected[-1, row][0] for row in tree.top_rows.tolist()], abs=1e-6
    )
    assert tree.containers.tolist() == [holders[row] for row in rows.tolist()]
    depths = {}
    for row in rows.tolist():
        depths[row], above = 0, holders[row]
        while above >= 0:
            depths[row], above = depths[row] + 1, holders[above]
    levels = [
        sorted(row for row in depths if depths[row] == depth)
        for depth in range(max(depths.values()), 0, -1)
    ]
    assert [level.tolist() for level in tree.levels] == levels


def unit(vector):
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else vector


@given(TANGLES)
def test_a_container_without_a_vector_has_that_of_its_outermost_content_by_tokens(graph):
    tree = graph.part(DocumentTreePart())
    _, holders = strengths_by_definition(graph, 0.5, 0.8)
    weighted = graph.vectors * np.maximum(graph.tokens, 1)[:, None]
    outer = [
        row
        for row in range(len(graph))
        if graph.content[row] and not (holders[row] >= 0 and graph.content[holders[row]])
    ]
    expected = graph.vectors.astype(float)
    for row in range(len(graph)):
        inside = [one for one in outer if one != row and one in below(holders, row)]
        if inside and not graph.vectors[row].any():
            expected[row] = unit(weighted[inside].sum(axis=0))
            assert (tree.vector_rows[row] >= 0) == bool(expected[row].any())
        else:
            assert tree.vector_rows[row] == -1
    rows = np.arange(len(graph))
    assert node_vectors(graph, tree, rows) == pytest.approx(expected, abs=1e-5)
    assert tree.root_vector == pytest.approx(unit(weighted[outer].sum(axis=0)), abs=1e-5)


@given(TANGLES, st.integers(0, 10**6))
def test_prizes_and_passages_inside_are_those_of_all_that_is_below(graph, seed):
    rng = np.random.default_rng(seed)
    tree = graph.part(DocumentTreePart())
    expected, holders = strengths_by_definition(graph, 0.5, 0.8)
    n = len(graph)
    prizes = rng.integers(0, 9, n) / 10
    best = tree.best_prizes(prizes)
    assert best.tolist() == [max(prizes[one] for one in below(holders, row)) for row in range(n)]
    ended = rng.choice(n, int(rng.integers(1, 3)), replace=False)
    left = best.copy()
    left[ended] = 0
    around = {int(row) for row in ended}
    while around := {holders[row] for row in around if holders[row] >= 0}:
        for row in sorted(around):
            inside = [
                head for (tail, head), (_, contains) in expected.items() if tail == row and contains
            ]
            left[row] = max([left[one] for one in inside], default=0.0)
    assert tree.best_left(best, ended).tolist() == left.tolist()
    assert best.tolist() == tree.best_prizes(prizes).tolist(), "what is given does not change"
    for row in range(n):
        found, open_ = set(), {row}
        while open_:
            one = open_.pop()
            if graph.content[one]:
                found.add(one)
            else:
                open_ |= {h for (t, h), (_, contains) in expected.items() if t == one and contains}
        assert tree.content_within(np.array([row]), graph.content).tolist() == sorted(found)
    both = tree.content_within(np.array([n - 1, 0]), graph.content)
    one, other = (tree.content_within(np.array([row]), graph.content) for row in (0, n - 1))
    assert both.tolist() == sorted({*one.tolist(), *other.tolist()})


@given(TANGLES, st.integers(0, 10**6))
def test_a_fused_node_has_all_children_of_its_members_with_the_mean_strength(graph, seed):
    rng = np.random.default_rng(seed)
    tree = graph.part(DocumentTreePart())
    expected, _ = strengths_by_definition(graph, 0.5, 0.8)
    rows = rng.choice(len(graph), int(rng.integers(0, 4)), replace=False)
    heads = np.sort(rng.choice(len(graph), int(rng.integers(0, 3)), replace=False))
    grafts = (
        Children(heads, np.full(len(heads), 0.25), np.full(len(heads), 3))
        if len(rows)
        else NO_CHILDREN
    )
    reached = {}
    for source in rows.tolist() or [-1]:
        for (tail, head), (strength, _) in sorted(expected.items()):
            if tail == source:
                reached.setdefault(head, []).append((strength, source))
    for head in grafts.rows.tolist():
        reached.setdefault(head, []).append((0.25, 3))
    found = successors(tree, rows, grafts)
    assert found.rows.tolist() == sorted(reached)
    means = [np.mean([strength for strength, _ in reached[row]]) for row in sorted(reached)]
    assert found.strengths == pytest.approx(means, abs=1e-6)
    assert found.sources.tolist() == [reached[row][0][1] for row in sorted(reached)]
    hidden = rng.random(len(graph)) < 0.5
    visible = found.not_visited(hidden)
    assert visible.rows.tolist() == [row for row in sorted(reached) if not hidden[row]]
    assert visible.sources_of(visible.rows) == tuple(
        reached[row][0][1] for row in visible.rows.tolist()
    )
    some = found.rows[: len(found.rows) // 2]
    assert found.without(some).rows.tolist() == sorted(reached)[len(some) :]


def ranked_children(graph, tree, rows, scores, tau):
    """The children by falling p s, of equals the lower row, and how many pass the threshold."""
    children = successors(tree, rows)
    values = children.strengths * scores[children.rows]
    order = sorted(range(len(values)), key=lambda at: (-round(values[at], 7), at))
    best = values.max(initial=0)
    relevant = sum(values > tau * best + 1e-6 * best)
    return RankedChildren(children, np.array(order, np.int64), int(relevant))


@given(TANGLES, st.integers(0, 10**6), st.sampled_from([2, 3, 5, 30]))
def test_the_surroundings_are_the_relevant_children_and_the_most_similar_below(graph, seed, n_loc):
    rng = np.random.default_rng(seed)
    tree = graph.part(DocumentTreePart())
    scores = rng.integers(1, 10, len(graph)) / 10
    rows = rng.choice(len(graph), int(rng.integers(0, 3)), replace=False)
    ranked = ranked_children(graph, tree, rows, scores, 0.5)
    if not len(ranked.children.rows):
        return
    rule = Descent(n_loc=n_loc, sharpness=1.5)
    found = Surroundings.around(graph, tree, rows, ranked, scores, rule)
    children = ranked.children.rows.tolist()
    relevant = [children[at] for at in ranked.order[: ranked.n_relevant]][: n_loc - 1]
    leads = set(zip(tree.sources(np.arange(len(graph))).tolist(), tree.heads.tolist(), strict=True))
    near = {*children, *(head for tail, head in leads if tail in children)}
    others = sorted(near - set(relevant) - set(rows.tolist()), key=lambda row: (-scores[row], row))
    slots = relevant + others[: n_loc - 1 - len(relevant)]
    assert found.rows.tolist() == slots
    wanted = np.arange(len(graph))
    assert found.slots_of(wanted).tolist() == [
        slots.index(row) + 1 if row in slots else 0 for row in wanted.tolist()
    ]
    for i, one in enumerate(slots, 1):
        assert found.hood.joined[0, i] == found.hood.joined[i, 0] == (one in children)
        for j, other in enumerate(slots, 1):
            linked = (one, other) in leads or (other, one) in leads
            assert found.hood.joined[i, j] == linked
    own = node_vectors(graph, tree, rows)
    centre = unit(own.sum(axis=0)) if len(rows) else tree.root_vector
    vectors = np.array([centre, *node_vectors(graph, tree, np.array(slots))]).astype(float)
    assert found.hood.products == pytest.approx(vectors @ vectors.T, abs=1e-5)
    assert found.products_with(vectors[1]) == pytest.approx(vectors @ vectors[1], abs=1e-5)
    assert found.hood.sharpness == 1.5
    assert not found.hood.direct
    assert Surroundings.around(
        graph, tree, rows, ranked, scores, replace(rule, structure="embedding")
    ).hood.direct


def traversal(graph, scores, rule, **fields):
    tree = graph.part(
        DocumentTreePart(rule.similar_threshold, initial_strength=rule.initial_strength)
    )
    return Traversal(rule, graph, tree, scores, lambda rows: scores[rows] - 1.0, **fields)


@given(TANGLES, st.integers(0, 10**6), st.sampled_from([0.3, 0.9]), st.integers(3, 9))
def test_grafts_are_the_similar_grandchildren_that_unfused_children_lead_to(
    graph, seed, tau, n_loc
):
    """Every distance is allowed, so that the candidates of lines 27 to 35 can be written down."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 10, len(graph)) / 10
    rule = Descent(
        sim_threshold=tau,
        fgw_threshold=9.0,
        graft_fgw_threshold=9.0,
        n_loc=n_loc,
        graft_rate=0.0,
        initial_strength=0.8,
    )
    walk = traversal(graph, scores, rule)
    tree = walk.tree
    children = successors(tree, np.zeros(0, np.int64))
    ranked, _ = walk.rank(children)
    fusion = walk.fuse(np.zeros(0, np.int64), ranked)
    size = min(ranked.n_relevant, n_loc - 1)
    if ranked.n_relevant < 2 or size < 2:
        return
    assert fusion.slots.tolist() == list(range(1, size + 1)), "everything is allowed"
    grafts, _ = walk.graft(ranked, fusion)
    expected, _ = strengths_by_definition(graph, 0.8, 0.8)
    members = children.rows[ranked.order[:size]].tolist()
    unfused = [row for row in children.rows.tolist() if row not in members]
    own = {head for tail, head in expected if tail in members}
    paths = {}
    for source in unfused:
        for tail, head in sorted(expected):
            seen = fusion.surroundings.slots_of(np.array([head]))[0] > 0
            if tail == source and seen and head not in own | set(children.rows.tolist()):
                strength = expected[-1, source][0] * expected[tail, head][0] / 0.8
                if head not in paths or strength > paths[head][0] + 1e-6:
                    paths[head] = (strength, source)
    best = max((scores[head] for head in paths), default=0.0)
    wanted = [head for head in paths if scores[head] > tau * best + 1e-9]
    wanted.sort(key=lambda head: (-scores[head], head))
    assert grafts.rows.tolist() == wanted
    assert grafts.strengths == pytest.approx([min(1.0, paths[row][0]) for row in wanted], abs=1e-6)
    assert grafts.sources.tolist() == [paths[row][1] for row in wanted]


def test_a_path_has_at_most_one_node_more_than_its_depth_and_begins_where_it_is_told():
    n = 7
    graph = Graph.of(
        ["text"] * n,
        kinds=["section"] * (n - 1) + ["passage"],
        parents=range(-1, n - 1),
        vectors=[[1.0, 0.0]] * n,
    )
    nobody, scores = np.zeros(n, np.bool_), np.ones(n)
    for depth in range(n):
        steps = traversal(graph, scores, Descent(max_depth=depth)).path(nobody)
        assert [step.node.rows for step in steps] == [(row,) for row in range(min(depth + 1, n))]
        assert [step.sources for step in steps] == [(row - 1,) for row in range(min(depth + 1, n))]
        assert not nobody.any(), "what is given does not change"
    below_two = traversal(graph, scores, Descent(max_depth=1), start_row=2).path(nobody)
    assert [step.node.rows for step in below_two] == [(3,), (4,)]
    assert traversal(graph, scores, Descent(), start_row=n - 1).path(nobody) == ()
    hidden = nobody.copy()
    hidden[3] = True
    stopped = traversal(graph, scores, Descent()).path(hidden)
    assert [step.node.rows for step in stopped] == [(0,), (1,), (2,)]


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 2), st.booleans())
def test_a_prefix_is_found_in_few_tests_and_each_is_recorded(allowed, min_size, bisect):
    """One by one, all sizes to the first that is not allowed; halved, the whole and then log2."""
    n = len(allowed)
    size = allowed.index(False) if False in allowed else n
    tested = []

    def is_allowed(prefix):
        tested.append(len(prefix))
        return TransportVerdict(len(prefix) <= size, "bound", 0.0)

    found, verdicts = longest_prefix(np.arange(n), is_allowed, bisect=bisect, min_size=min_size)
    assert verdicts == ("bound",) * len(tested)
    assert len(found) == max(size, min(min_size, n))
    assert all(min_size < one <= n for one in tested)
    assert len(tested) == len(set(tested)), "no size twice"
    if bisect:
        assert tested[:1] == ([n] if n > min_size else [])
        assert len(tested) <= 1 + math.ceil(math.log2(max(1, n - min_size)))
    else:
        assert tested == list(range(min_size + 1, min(n, max(size, min_size) + 1) + 1))


def test_the_text_of_a_fused_node_is_embedded_once_and_not_where_a_container_is_in_it():
    graph = Graph.of(
        ["one", "two", "Head"],
        kinds=["passage", "passage", "section"],
        vectors=[[1.0, 0.0], [0.8, 0.6], [0.6, 0.8]],
    )
    calls = []

    def embed(texts):
        calls.append(texts)
        return np.float32([[0.0, 1.0]])

    rule, scores = Descent(fused_vector="text"), np.ones(3)
    walk = traversal(graph, scores, rule, embed=embed)
    for _ in range(2):
        assert walk.fused_vector(np.array([0, 1])).tolist() == [0.0, 1.0]
    assert calls == [["one\ntwo"]]
    for rows in ([0], [0, 2]):
        assert walk.fused_vector(np.array(rows)) is None
    assert traversal(graph, scores, rule).fused_vector(np.array([0, 1])) is None
    mean = traversal(graph, scores, Descent(), embed=embed)
    assert mean.fused_vector(np.array([0, 1])) is None
    empty = traversal(graph, scores, rule, embed=lambda texts: np.zeros((1, 2), np.float32))
    assert empty.fused_vector(np.array([0, 1])) is None
    assert len(calls) == 1


def step_to(
    *rows, sources=None, relevant=1, successors=1, grafts=NO_CHILDREN, verdicts=(), score=0.5
):
    children = Children(np.arange(successors), np.ones(successors), np.full(successors, -1))
    ranked = RankedChildren(children, np.arange(successors), relevant)
    return DescentStep(
        PathNode(rows, score), sources or (-1,) * len(rows), grafts, ranked, verdicts
    )


def shelf(n=10):
    """Two sections of three passages each, and the first passage has two sentences, or none."""
    kinds = ["section", "section", *["passage"] * 6, "sentence", "sentence"]
    parents = [-1, -1, 0, 0, 0, 1, 1, 1, 2, 2]
    return Graph.of(
        [f"text {row}" for row in range(n)],
        kinds=kinds[:n],
        parents=parents[:n],
        documents=[0, 1, 0, 0, 0, 1, 1, 1, 0, 0][:n],
        spans=([(0, 9)] * 2 + [(3 * i, 3 * i + 2) for i in range(8)])[:n],
        tokens=[0, 0, 5, 4, 6, 3, 8, 2, 2, 3][:n],
        vectors=np.ones((n, 1)),
    )


def selection(graph, tokens=1000, max_rows=100, offered=None):
    tree = graph.part(DocumentTreePart())
    offered = np.ones(len(graph), np.bool_) if offered is None else offered
    return PassageSelection(graph, tree, offered, tokens, max_rows)


def test_a_passage_takes_the_place_and_the_room_of_its_sentences():
    graph = shelf()
    chosen = selection(graph, tokens=7)
    assert chosen.add(8)
    assert chosen.add(9)
    assert chosen.tokens_left == 2
    assert not chosen.add(3)
    assert chosen.rejected == {3: "its 4 tokens do not fit in the 2 left"}
    assert chosen.add(2), "of its own sentences' 5 tokens"
    assert (list(chosen.rows), chosen.tokens_left) == ([2], 2)
    assert not chosen.add(8), "its passage is chosen"
    assert not chosen.add(2)
    assert not chosen.add(3), "it was rejected"
    assert chosen.add(7)
    assert chosen.tokens_left == 0, "all of it"
    offered = np.ones(10, np.bool_)
    offered[3] = False
    assert not selection(graph, offered=offered).add(3)
    narrow = selection(graph, tokens=2)
    assert narrow.add(8)
    assert not narrow.add(2)
    assert narrow.rejected[2] == "its 5 tokens do not fit in the 2 left"


def test_dropped_are_those_before_the_last_one_chosen_and_the_first_behind_it():
    chosen = selection(shelf(), tokens=5)
    chosen.add_all([6, 3, 4, 5, 2])  # 8 do not fit, 4 do, then none
    assert list(chosen.rows) == [3]
    assert [row for row, _ in chosen.dropped()] == [6, 4]
    assert selection(shelf()).dropped() == []


def test_rows_are_added_up_to_a_number_and_until_a_hundred_were_rejected():
    graph = shelf()
    chosen = selection(graph, max_rows=3)
    chosen.add_all([3, 4], 1)
    assert list(chosen.rows) == [3]
    assert not chosen.is_full
    chosen.add_all([3, 4, 5, 6, 7])
    assert list(chosen.rows) == [3, 4, 5]
    assert chosen.is_full
    n = 150
    many = Graph.of(["text"] * n, tokens=[9] * (n - 1) + [1])
    for first, fits in ((n - 101, True), (n - 102, False)):
        few = selection(many, tokens=8)
        few.add_all(range(first + 1, n))  # 99 or 100 rows that do not fit, and then one that does
        assert (n - 1 in few.rows) == fits


def test_a_hundred_rejected_rows_are_enough_and_so_are_more():
    chosen = selection(Graph.of(["text"] * 150, tokens=[9] * 150), tokens=8)
    for row in range(120):
        assert chosen.is_full == (row >= 100)
        assert not chosen.add(row)
    one = selection(shelf(), max_rows=1)
    assert one.add(3)
    assert one.add(4), "what is required is added all the same"
    assert one.is_full


def in_order(graph, paths, prizes, tokens=1000, max_rows=100, **fields):
    chosen = selection(graph, tokens, max_rows)
    rule = Descent(**fields)
    read_paths(chosen, paths, np.array(prizes, float), rule)
    return list(chosen.rows)


def test_paths_are_read_back_level_by_level_and_then_the_rest_by_prize():
    graph = shelf()
    one = (step_to(0), step_to(2, sources=(0,)), step_to(8, sources=(2,)))
    other = (step_to(1), step_to(6, sources=(1,)))
    prizes = [0, 0, 0.5, 0.2, 0.1, 0.7, 0.3, 0.4, 0.3, 0.3]
    # Ends first, by prize (equal ones in the paths' order); then what is around them.
    ends = in_order(graph, (one, other), prizes, max_path_nodes=1)
    assert ends == [8, 6]
    assert in_order(graph, (other, one), prizes, max_path_nodes=1) == [6, 8]
    assert in_order(graph, (one, other), prizes, max_path_nodes=2) == [2, 6, 5, 7]
    assert in_order(graph, (other,), prizes, max_path_nodes=1, window=1) == [6, 5, 7]
    assert in_order(graph, (one,), prizes, max_path_nodes=1, broad=True) == [2, 3, 4]
    assert in_order(graph, (one,), prizes, fill=False) == [2, 3, 4]
    assert in_order(graph, (one,), prizes) == [2, 3, 4, 5, 7, 6]
    assert in_order(graph, (), prizes, fill=False) == [5], "one passage where there is no path"
    assert in_order(graph, (), prizes, max_path_nodes=1) == []
    without = [*prizes[:7], 0.0, 0, 0]
    assert in_order(graph, (one,), without) == [2, 3, 4, 5, 6], "nothing without a prize"


PASSAGE_OF_FIVE = 5  # sentences


def three_passages():
    """Three passages of five sentences of four tokens each, one after the other."""
    size = 1 + PASSAGE_OF_FIVE
    tops = [row - row % size for row in range(3 * size)]
    is_top = [row % size == 0 for row in range(3 * size)]
    return Graph.of(
        [f"text {row}" for row in range(3 * size)],
        kinds=["passage" if top else "sentence" for top in is_top],
        parents=[-1 if top else tops[row] for row, top in enumerate(is_top)],
        documents=[0] * (3 * size),
        spans=[(100 * (row // size) + 10 * (row % size), 100 * (row // size) + 50 if top
                else 100 * (row // size) + 10 * (row % size) + 9)
               for row, top in enumerate(is_top)],
        tokens=[20 if top else 4 for top in is_top],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("tokens", "fields", "expected"),
    [
        # Two ends with a sentence on either side, 24 of 34, then the best of them whole.
        (34, {"end_share": 0.75}, [9, 8, 10, 0]),
        (34, {"end_share": 0.75, "fill": False}, [9, 8, 10, 0]),
        # A third end would leave less than 8.5, but not less than 3.4; nothing becomes whole.
        (36, {"end_share": 1.0}, [3, 2, 4, 9, 8, 10, 15, 14, 16]),
        # One end at least, however small its share is; all ends without what is around them.
        (23, {"end_share": 0.01}, [0]),
        (12, {"end_share": 0.01}, [3, 2, 4]),
        (22, {"sentence_window": 0, "end_share": 0.6}, [3, 9, 15]),
        (28, {"sentence_window": 0, "end_share": 0.6}, [9, 15, 0]),
        # The most precise nodes alone; all passages where they fit, or where some are wanted.
        (36, {"max_path_nodes": 1}, [3, 9, 15]),
        (60, {}, [0, 6, 12]),
        (59, {}, [15, 14, 16, 0, 6]),
        (40, {"max_rows": 2}, [0, 6]),
    ],
)
def test_where_room_is_short_sentences_leave_a_share_of_it_to_whole_passages(
    tokens, fields, expected
):
    graph = three_passages()
    paths = [(step_to(top), step_to(top + 3, sources=(top,))) for top in (0, 6, 12)]
    prizes = [0.0] * len(graph)
    for top, prize in ((0, 0.9), (6, 0.8), (12, 0.7)):
        prizes[top] = prizes[top + 3] = prize
    rows = in_order(graph, paths, prizes, tokens=tokens, **fields)
    assert sum(int(graph.tokens[row]) for row in rows) <= tokens
    assert rows == expected


@pytest.mark.parametrize("first", [1, 2, 5, 99])
def test_however_many_are_ranked_first_the_order_is_that_of_all(monkeypatch, first):
    monkeypatch.setattr(reading, "FIRST", first)
    prizes = np.array([0.1, 0.5, 0.3, 0.5, 0.0, 0.2])
    rows = np.array([5, 3, 1, 0, 2, 4])
    assert list(reading._best_first(rows, prizes)) == [3, 1, 2, 5, 0, 4]


def test_members_of_a_fused_node_that_are_read_are_a_group():
    paths = ((step_to(0, 1), step_to(4, 2, 3)), (step_to(4, 2, 3), step_to(5, 6)))
    assert fused_groups(paths, [4, 3, 2, 5, 0, 1]) == (
        (0, 1),
        (2, 3, 4),
    )
    assert fused_groups(paths, [4, 5]) == ()


def test_the_notes_say_the_first_path_and_what_all_paths_met():
    graph = shelf()
    grafts = Children(np.array([4]), np.array([0.4]), np.array([1]))
    first = step_to(
        0, 1, relevant=2, successors=4, grafts=grafts, verdicts=("bound", "solver"), score=0.9
    )
    second = step_to(4, sources=(1,), successors=2, verdicts=("bound",), score=0.8)
    other = step_to(5, sources=(1,), successors=1, verdicts=("lower bound",), score=0.7)
    result = DescentResult(
        ((first, second), (first, other)), ((-1, 0, 0.1), (0, 2, -0.2)), ("no vectors",)
    )
    notes = descent_notes(graph, result)
    assert notes["path"] == ((("0", "1"), 0.9), (("4",), 0.8))
    assert notes["paths"] == 2
    assert notes["tests"] == {"bound": 2, "lower bound": 1, "solver": 1}, "each step once"
    assert notes["successors"] == (4, 2)
    assert notes["relevant"] == (2, 1)
    assert notes["decay"] == (round(math.log(2), 3), round(math.log(2), 3))
    assert notes["grafts"] == (("4", 0.4),)
    assert notes["taken"] == (("0", "4", 0.4), ("1", "4", 0.4))
    assert notes["rewards"] == (("", "0", 0.1), ("0", "2", -0.2))
    assert notes["fallback"] == "fused nodes have mean vectors: no vectors"
    assert notes["expected tests"] == 2.0, "two paths of log2 2 and log2 1 tests"
    assert result.grafts == ((0, 4, 0.4), (1, 4, 0.4))
    assert DescentResult(((first, other),)).grafts == ()
    assert "fallback" not in descent_notes(graph, DescentResult(((first,),)))
    assert "there is no path" in descent_notes(graph, DescentResult())["fallback"]


def test_the_path_to_a_row_goes_over_what_it_was_reached_from_and_then_over_containers():
    graph = shelf()
    tree = graph.part(DocumentTreePart())
    prizes = np.arange(10) / 10
    paths = ((step_to(1, score=0.9), step_to(4, 6, sources=(1, 1), score=0.8)),)
    found = paths_to_rows(tree, paths, [4, 6, 8, 3], prizes)
    assert found[4] == (0.9, (1, 4)), "over the graft's source, not its container"
    assert found[6] == (0.9, (1, 6))
    assert found[8] == (0.0, (0, 2, 8)), "no path goes there: the prize of its outermost container"
    ring = ((step_to(4, sources=(6,)), step_to(6, sources=(4,))),)
    assert paths_to_rows(tree, ring, [6], prizes)[6][1] == (4, 6)


def test_branching_is_fitted_and_summed_as_appendix_c_has_it():
    assert fit_decay([8, 0, 2]) == (pytest.approx(8), pytest.approx(math.log(2)))
    assert fit_decay([0, 3, 0]) == (3.0, 0.0)
    assert fit_decay([1, 2]) == (pytest.approx(1), pytest.approx(-math.log(2)))
    assert expected_tests(4, -1.0, 2) == pytest.approx(6.0), "as many at every depth"
    assert expected_tests(0.5, 0.0, 2) == 0.0
    assert expected_tests(4, math.log(2), 1) == pytest.approx(3.0), "no further than it is deep"
    fitted = ClusterBranching.fit([[6, 3], [2], [4, 1, 1]])
    assert (fitted.mean, fitted.max_depth) == (4.0, 2)
    assert fitted.deviation == pytest.approx(np.std([6, 2, 4]))
    assert fitted.decay == pytest.approx(fit_decay([4, 2, 1])[1])
    certain = ClusterBranching(4.0, 0.0, 0.0, 1)
    assert certain.expected_tests() == 4.0
    nearly = ClusterBranching(4.0, 1e-6, 0.0, 1)
    assert nearly.expected_tests() == pytest.approx(4.0, abs=1e-4)
    assert ClusterBranching(0.25, 0.0, 0.0, 3).expected_tests() == 0.0


def descend(graph, rule, prizes, vector=None, **fields):
    query = Query("?", vector, **fields.pop("query", {}))
    candidates = fields.pop("candidates", Subgraph(freeze(np.arange(len(graph)), np.int32)))
    prizes = np.array(prizes, float)
    return rule.on(graph)(query, Seeds(prizes), prizes, candidates, fields.pop("budget", 1000))


def test_a_descent_reads_what_is_required_first_and_keeps_to_limit_budget_and_candidates():
    graph, prizes = shelf(8), [0, 0, 0.5, 0.2, 0.1, 0.7, 0.3, 0.4]
    rule = Descent(fgw_threshold=-1)
    everything = np.arange(8)
    required = Subgraph(
        freeze(everything, np.int32),
        required=freeze([0, 7], np.int32),
        groups=((1, 2),),
        missing=("x",),
        dropped=((1, "why"),),
    )
    found = descend(graph, rule, prizes, candidates=required)
    assert found.nodes.tolist() == [7, 5, 2, 6, 3, 4]
    assert found.required.tolist() == [0, 7]
    assert (found.groups, found.missing, found.dropped) == (((1, 2),), ("x",), ((1, "why"),))
    assert descend(graph, rule, prizes, query={"limit": 2}).nodes.tolist() == [5, 2]
    few = descend(graph, rule, prizes, budget=8)
    assert few.nodes.tolist() == [5, 2]
    assert [row for row, _ in few.dropped] == [7]
    some = Subgraph(freeze([2, 3, 4], np.int32))
    assert descend(graph, rule, prizes, candidates=some).nodes.tolist() == [2, 3, 4]
    without_best = Subgraph(freeze([row for row in range(8) if row != 5], np.int32))
    found = descend(graph, rule, prizes, candidates=without_best)
    assert found.notes["path"][0][0] == ("0",), "what may not be read draws no path"
    assert found.nodes.tolist() == [2, 7, 6, 3, 4]
    below = descend(graph, Descent(start_node="0", fgw_threshold=-1), prizes)
    assert below.nodes.tolist() == [2, 3, 4]


def test_a_descent_has_as_many_paths_as_it_may_and_each_ends_elsewhere():
    graph, prizes = shelf(8), [0, 0, 0.5, 0.2, 0.1, 0.7, 0.3, 0.4]
    for most in (1, 2, 3, 6):
        notes = descend(graph, Descent(fgw_threshold=-1, max_paths=most), prizes).notes
        assert notes["paths"] == most
    ends = descend(graph, Descent(fgw_threshold=-1, max_paths=6, max_path_nodes=1), prizes)
    assert ends.nodes.tolist() == [5, 2, 7, 6, 3, 4]
    only = descend(graph, Descent(fgw_threshold=-1, max_paths=9), [0] * 8, np.float32([-1]))
    assert only.notes["paths"] == 1, "only the first path goes on where nothing is similar"
    nothing = descend(graph, Descent(), [0] * 8)
    assert nothing.rewards is None


def test_rewards_are_those_of_the_steps_of_the_first_path_by_capped_similarities():
    graph, prizes = shelf(8), [0, 0, 0.5, 0.2, 0.1, 1.7, 0.3, 0.4]
    found = descend(graph, Descent(fgw_threshold=-1, reward=0.2, penalty_share=0.25), prizes)
    from clew.methods.kurisu.edge_learning import strength_changes

    expected = {}
    for source, heads, scores in ((-1, [0, 1], [0.5, 1.0]), (1, [5, 6, 7], [1.0, 0.3, 0.4])):
        changes = strength_changes(scores, reward=0.2, penalty_share=0.25)
        expected |= {(source, head): value for head, value in zip(heads, changes, strict=True)}
    assert {(tail, head): value for tail, head, value in found.rewards} == pytest.approx(expected)


def test_a_wrong_word_or_number_of_the_parameters_is_refused_and_the_limits_are_not():
    for name in ("threshold", "structure", "fused_vector", "container_similarity"):
        with pytest.raises(ValueError, match=f"unknown {name} 'x'; known: "):
            Descent(**{name: "x"})
    for name in ("reward_temperature", "penalty_temperature", "min_deviation"):
        with pytest.raises(ValueError, match=f"{name} is above 0; got 0"):
            Descent(**{name: 0})
        Descent(**{name: 0.5})
    with pytest.raises(ValueError, match=r"initial_strength .* got 1\.5"):
        Descent(initial_strength=1.5)
    Descent(initial_strength=1.0, n_loc=2)
    shape = Descent(
        reward_margin=1, penalty_cut=2, reward_temperature=3, penalty_temperature=4, min_deviation=5
    ).reward_shape
    assert tuple(shape) == (1, 2, 3, 4, 5)
