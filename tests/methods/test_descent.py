"""Kurisu-G2: what Algorithms 1 and 2 say, what must hold of every path, and what is read of it."""

from __future__ import annotations

import os
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clew
from clew import Index, recipes
from clew.algorithms.transport.neighbourhood import SHORTEST, Neighbourhood
from clew.graph import Edges, Graph, freeze
from clew.methods import Descent
from clew.methods.kurisu import hierarchy
from clew.methods.kurisu.branching import (
    ClusterBranching,
    expected_tests,
    expected_tests_of_clusters,
    fit_decay,
)
from clew.methods.kurisu.children import Children, RankedChildren, successors
from clew.methods.kurisu.edge_learning import strength_changes
from clew.methods.kurisu.hierarchy import DocumentTreePart, node_vectors
from clew.methods.kurisu.surroundings import Surroundings
from clew.methods.kurisu.traversal import Traversal, longest_prefix
from clew.pipeline import Pipeline
from clew.types import UNLIMITED, Query, Seeds, Subgraph

KURISU = recipes.get("kurisu")


def kurisu(**fields):
    return replace(KURISU, selects=(replace(KURISU.selects[0], **fields),))


def forest(seed, n=40, d=6, spread=0.7):
    """Documents > sections > passages > sentences with vectors that are alike within a document, and some very similar passages."""
    rng = np.random.default_rng(seed)
    parents, kinds = [-1], ["document"]
    below = {"document": "section", "section": "passage", "passage": "sentence"}
    while len(kinds) < n:
        above = int(rng.integers(-1, len(kinds)))
        if above < 0 or kinds[above] in below:
            parents.append(above)
            kinds.append("document" if above < 0 else below[kinds[above]])
    documents, vectors = np.arange(n), np.zeros((n, d))
    for row, above in enumerate(parents):
        documents[row] = row if above < 0 else documents[above]
        vectors[row] = (
            rng.normal(size=d) if above < 0 else vectors[above] + spread * rng.normal(size=d)
        )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    content = np.isin(kinds, ["passage", "sentence"])
    rows = np.flatnonzero(np.array(parents) >= 0)
    edges = [Edges.of("contains", np.array(parents)[rows], rows)]
    passages = np.flatnonzero(np.array(kinds) == "passage")
    if len(passages) > 2:
        pairs = rng.choice(passages, size=(4, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        edges.append(Edges.of("similar", pairs[:, 0], pairs[:, 1], 0.9))
    spans = [(10 * row, 10 * row + 9) for row in range(n)]
    return Graph.of(
        [f"text {row}" for row in range(n)],
        kinds=kinds,
        vectors=vectors * content[:, None],
        parents=parents,
        documents=documents,
        spans=spans,
        edges=Edges.join(edges),
    )


def question(seed, d=6):
    vector = np.random.default_rng(seed).normal(size=d)
    return Query("text", (vector / np.linalg.norm(vector)).astype(np.float32))


def traversal(graph, query, parameters):
    tree = graph.part(DocumentTreePart(parameters.similar_threshold))
    cosines = np.maximum(0, graph.vectors @ query.vector).astype(np.float64)
    return Traversal(
        parameters,
        graph,
        tree,
        tree.best_prizes(cosines),
        lambda rows: (node_vectors(graph, tree, rows) @ query.vector).astype(float),
    )


FORESTS = st.builds(forest, st.integers(0, 10**6), st.integers(3, 60))
RULES = st.builds(
    Descent,
    max_depth=st.integers(0, 6),
    sim_threshold=st.sampled_from([0.0, 0.5, 0.9]),
    fgw_threshold=st.sampled_from([-1.0, 0.005, 0.05, 1.0]),
    n_loc=st.sampled_from([2, 5, 64]),
    bisect=st.booleans(),
    container_similarity=st.sampled_from(["mean", "best"]),
)


@pytest.mark.parametrize("height", [1, 7, 4096])
def test_vectors_of_containers_are_sums_in_the_order_of_rows(height, monkeypatch):
    graph = forest(3, n=200)
    monkeypatch.setattr(hierarchy, "BLOCK", height)
    tree = DocumentTreePart().compute(graph)
    parents, content = graph.parents, graph.content
    sums, root = {}, np.zeros(6, np.float32)
    for row in range(len(graph)):
        if not content[row] or (parents[row] >= 0 and content[parents[row]]):
            continue
        added = graph.vectors[row] * np.float32(max(graph.tokens[row], 1))
        root, around = root + added, parents[row]
        while around >= 0:
            sums[around] = sums.get(around, np.zeros(6, np.float32)) + added
            around = parents[around]
    assert sorted(sums) == np.flatnonzero(tree.vector_rows >= 0).tolist()
    for row, vector in [*sums.items(), (None, root)]:
        found = tree.root_vector if row is None else tree.container_vectors[tree.vector_rows[row]]
        assert found.tobytes() == (vector / np.linalg.norm(vector[None], axis=1)).tobytes()


@given(FORESTS, RULES, st.integers(0, 99))
def test_a_path_goes_down_the_graph_and_never_through_a_node_twice(graph, rule, seed):
    walk = traversal(graph, question(seed), rule)
    before = graph.edges.weights.copy(), graph.parents.copy()
    steps = walk.path(np.zeros(len(graph), np.bool_))
    assert 1 <= len(steps) <= rule.max_depth + 1
    rows = [row for step in steps for row in step.node.rows]
    assert len(rows) == len(set(rows)), "no node twice"
    leads = {
        (t, int(h))
        for t in range(len(graph))
        for h in walk.tree.heads[walk.tree.starts[t] : walk.tree.starts[t + 1]]
    }
    for above, step in zip([None, *steps], steps, strict=False):
        grafts = (
            dict(zip(above.grafts.rows.tolist(), above.grafts.sources.tolist(), strict=True))
            if above
            else {}
        )
        for row, source in zip(step.node.rows, step.sources, strict=True):
            assert (
                (source == -1 and row in walk.tree.top_rows)
                if above is None
                else (source, row) in leads
            )
            assert above is None or source in above.node.rows or grafts[row] == source
        assert ((step.grafts.strengths >= 0) & (step.grafts.strengths <= 1)).all()
        assert (
            len(step.node.rows) == 1 or len(step.node.rows) <= step.n_relevant <= step.n_successors
        )
    assert (graph.edges.weights == before[0]).all()
    assert (graph.parents == before[1]).all(), "the graph is never changed"


def plain_fgw(hood, members):
    """FGW between the neighbourhood and the one with a fused node, the long way round: networkx, POT, one node with all the mass."""
    os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")
    ot = pytest.importorskip("ot")
    values, axes = np.linalg.eigh(hood.products)
    vectors = axes * np.sqrt(np.maximum(values, 0))  # any with these products will do
    rest = [slot for slot in range(len(vectors)) if slot not in members]
    mean = vectors[members].sum(axis=0)
    after = np.array([*vectors[rest], mean / np.linalg.norm(mean)])
    of = {slot: place for place, slot in enumerate(rest)} | dict.fromkeys(members, len(rest))

    def distances(rows, pairs, scale):
        graph = nx.Graph()
        graph.add_nodes_from(range(len(rows)))
        graph.add_weighted_edges_from(
            (a, b, np.exp(1 - rows[a] @ rows[b]) - 1 + SHORTEST) for a, b in pairs if a != b
        )
        ways = dict(nx.all_pairs_dijkstra_path_length(graph))
        scale = scale or max(length for lengths in ways.values() for length in lengths.values())
        return np.array(
            [
                [ways[a][b] / scale if b in ways[a] else 1.0 for b in range(len(rows))]
                for a in range(len(rows))
            ]
        ), scale

    pairs = np.argwhere(hood.joined).tolist()
    one, scale = distances(vectors, pairs, None)
    other, _ = distances(after, {(of[a], of[b]) for a, b in pairs}, scale)
    costs = ((vectors[:, None] - after[None]) ** 2).sum(axis=2) / 4
    masses = np.bincount([of[slot] for slot in range(len(vectors))]) / len(vectors)
    start = np.zeros(costs.shape)
    start[np.arange(len(vectors)), [of[slot] for slot in range(len(vectors))]] = 1 / len(vectors)
    return ot.gromov.fused_gromov_wasserstein2(
        costs, one, other, ot.unif(len(vectors)), masses, "square_loss", alpha=0.5, G0=start
    )


@settings(max_examples=settings().max_examples // 4)
@given(st.integers(0, 10**6), st.integers(6, 20), st.sampled_from([0.01, 0.03, 0.08]))
def test_as_many_children_are_fused_as_the_distance_allows(seed, n, most):
    """Flat: the root's children, some of which are very similar; so the definition can be written down in full."""
    rng = np.random.default_rng(seed)
    vectors = np.abs(rng.normal(size=(n, 8)))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    graph = Graph.of(["text"] * n, vectors=vectors, edges=Edges.of("similar", [0, 2], [1, 3], 0.9))
    rule, query = (
        Descent(sim_threshold=0.5, fgw_threshold=most),
        Query("text", vectors[0].astype(np.float32)),
    )
    walk = traversal(graph, query, rule)
    step = walk.path(np.zeros(n, np.bool_))[0]
    children = successors(walk.tree, np.zeros(0, np.int64), step.grafts)
    ranked = np.argsort(-np.round(walk.scores[children.rows], 9), kind="stable")
    around = Surroundings.around(
        graph,
        walk.tree,
        np.zeros(0, np.int64),
        RankedChildren(children, ranked, step.n_relevant),
        walk.scores,
        Descent(n_loc=64),
    )
    hood, slots = around.hood, vectors[around.rows]
    assert np.abs(hood.products[1:, 1:] - slots @ slots.T).max() < 8e-7, "half of a millionth"
    values = [0.0] + [
        plain_fgw(hood, list(range(1, size + 1))) for size in range(2, step.n_relevant + 1)
    ]
    fits = [
        size
        for size in range(1, step.n_relevant + 1)
        if all(value <= most for value in values[:size])
    ]
    close = [
        size - 1 for size in range(2, step.n_relevant + 1) if abs(values[size - 1] - most) < 1e-5
    ]
    assert len(step.node.rows) in (fits[-1], *close, *(size + 1 for size in close))
    assert list(step.node.rows) == ranked[: len(step.node.rows)].tolist()


def test_a_graft_is_seen_by_the_shortest_ways_and_not_by_the_vectors():
    products = np.eye(5) * 0.5 + 0.5
    joined = np.zeros((5, 5), np.bool_)
    for a, b in [(0, 1), (0, 2), (2, 3), (3, 4)]:
        joined[a, b] = joined[b, a] = True
    hood = Neighbourhood.of(products, joined)
    grafted = hood.linked(np.array([1]), np.array([4]))
    assert (grafted.products == hood.products).all()
    assert grafted.distances[1, 4] < hood.distances[1, 4]
    assert hood.may_link(np.array([1]), np.array([4]), 0.5, 0.5).value > 0
    assert hood.distances.max() == 1
    assert (hood.distances.diagonal() == 0).all()


def test_fusing_what_says_the_same_costs_no_content_and_a_fused_node_has_all_the_mass():
    vectors = np.array([[1.0, 0], [0.6, 0.8], [0.6, 0.8], [0, 1]])
    joined = np.zeros((4, 4), np.bool_)
    joined[0, 1:] = joined[1:, 0] = True
    after, costs = Neighbourhood.of(vectors @ vectors.T, joined).fused(np.array([1, 2]))
    assert costs.diagonal() == pytest.approx(0)
    assert after.distances[1, 2] == 0
    assert (after.distances[1] == after.distances[2]).all(), "two slots of one node: mass 2/4"
    mean = (vectors[1] + vectors[3]) / np.linalg.norm(vectors[1] + vectors[3])
    unlike, costs = Neighbourhood.of(vectors @ vectors.T, joined).fused(np.array([1, 3]))
    assert costs[1, 3] == pytest.approx(((vectors[1] - mean) ** 2).sum() / 4)
    assert unlike.products[0, 1] == pytest.approx(vectors[0] @ mean)


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(0, 1))
def test_bisection_finds_what_counting_finds_where_shorter_is_easier(allowed, min_size):
    from clew.algorithms.transport.fused_gromov_wasserstein import TransportVerdict

    size = allowed.index(False) if False in allowed else len(allowed)
    slots = np.arange(len(allowed))
    found = [
        longest_prefix(
            slots,
            lambda prefix: TransportVerdict(len(prefix) <= size, "bound", 0.0),
            bisect=bisect,
            min_size=min_size,
        )[0]
        for bisect in (False, True)
    ]
    assert [len(prefix) for prefix in found] == [max(size, min_size)] * 2


def test_where_all_is_unlike_the_least_unlike_is_taken():
    graph = Graph.of(["a", "b", "c"], vectors=-np.array([[1.0, 0], [0.8, 0.6], [0.96, 0.28]]))
    steps = traversal(graph, Query("q", np.float32([1, 0])), Descent()).path(np.zeros(3, np.bool_))
    assert steps[0].node == replace(steps[0].node, rows=(1,))
    assert steps[0].node.score == pytest.approx(-0.8)


def test_a_container_is_as_similar_as_the_mean_of_its_contents_or_as_the_best_of_them():
    vectors = np.float32([[0, 0]] * 3 + [[1, 0], [-0.8, 0.6], [0.8, 0.6], [0.8, -0.6], [0, 1]])
    graph = Graph.of(
        [f"text {row}" for row in range(8)],
        kinds=["section"] * 3 + ["passage"] * 5,
        parents=[-1, -1, -1, 0, 0, 1, 1, 2],
        vectors=vectors,
    )
    query = Query("q", np.float32([1, 0]))
    prizes = np.array([0, 0, 0, 1, 0, 0.8, 0.8, 0])
    means = {0: np.float64([0.1, 0.3]), 1: np.float64([0.8, 0]), 2: np.float64([0, 0.5])}
    cosines = {row: mean[0] / np.linalg.norm(mean) for row, mean in means.items()}
    for similarity, row, score in (("best", 0, 1.0), ("mean", 1, cosines[1])):
        stage = Descent(container_similarity=similarity, sim_threshold=0.99, max_paths=1)
        chosen = stage.on(graph)(query, Seeds(prizes), prizes, everything(graph), 1000)
        first = chosen.notes["path"][0]
        assert first[0] == (str(row),)
        assert first[1] == pytest.approx(score)
    assert max(cosines, key=cosines.get) == 1


def test_rings_of_containers_and_of_likeness_end():
    ring = Edges.join(
        [
            Edges.of("contains", [0, 1, 2, 3], [1, 2, 0, 4]),
            Edges.of("similar", [4, 5, 6], [5, 6, 4], 0.95),
        ]
    )
    vectors = np.tile([[0.6, 0.8]], (7, 1))
    texts = [f"said {i} times" for i in range(7)]
    graph = Graph.of(texts, kinds=["section"] * 4 + ["passage"] * 3, vectors=vectors, edges=ring)
    tree = graph.part(DocumentTreePart())
    assert tree.top_rows.tolist() == [0, 3, 5, 6], "a ring is entered at its lowest row"
    steps = traversal(graph, Query("q", np.float32([0.6, 0.8])), Descent(max_depth=50)).path(
        np.zeros(7, np.bool_)
    )
    assert len(steps) <= 7
    assert {
        item.id for item in kurisu().on(graph)(Query("q", np.float32([0.6, 0.8])), UNLIMITED)
    } == {"4", "5", "6"}


MOON = """# Moon

## Seas

The seas of the moon are dry. No water is in the seas. Their dust is fine.

## Craters

Craters come from stones. The largest crater is wide.

# Sun

The sun is hot. It shines on craters and seas.
"""


@pytest.fixture(scope="module")
def moon(embed):
    documents = [
        clew.Document("sky", MOON, format="markdown"),
        clew.Document("cat", "# Cats\n\nCats sleep. Cats eat fish.", format="markdown"),
    ]
    return Index.from_documents(
        documents, embedder=embed, splitter=clew.Splitter(14, sentences=True)
    )


def test_a_fused_node_is_read_as_its_members_in_document_order(moon):
    method = kurisu(sim_threshold=0.3, fgw_threshold=0.2, max_path_nodes=1, max_paths=1)
    context = moon.ask("Is water or dust in the seas of the moon?", recipe=method)
    groups = [item.group for item in context]
    assert len(context) > 1
    assert set(groups) == {"1"}
    assert [item.span for item in context] == sorted(item.span for item in context)


def test_the_end_is_precise_and_the_beginning_broad(moon):
    asked = "Is water in the seas?"
    end = moon.ask(asked, recipe=kurisu(max_path_nodes=1, max_paths=1, fgw_threshold=-1))
    assert [item.text for item in end] == ["No water is in the seas."]
    whole = moon.ask(asked, recipe=kurisu(max_paths=1, fgw_threshold=-1))
    assert "No water is in the seas." in whole.text
    assert {item.kind for item in whole} == {"passage"}, (
        "with room for it the passage takes the place of its sentences"
    )
    broad = moon.ask(
        asked, recipe=kurisu(broad=True, max_path_nodes=1, max_paths=1, fgw_threshold=-1)
    )
    assert {item.document for item in broad} == {"sky"}
    assert len(broad) > len(end)
    wide = moon.ask(asked, recipe=kurisu(max_path_nodes=1, max_paths=1, window=1, fgw_threshold=-1))
    assert len(wide) > 1


def test_it_says_the_path_and_why(moon):
    context = moon.ask("Is water in the seas?", recipe="kurisu", budget=60)
    notes = next(step.notes for step in context.trace if "path" in step.notes)
    assert notes["path"][0][0] == ("sky",)
    assert all(-1 <= score <= 1.000001 for _, score in notes["path"])
    assert len(notes["successors"]) == len(notes["relevant"]) == len(notes["path"])
    item = next(item for item in context if "water" in item.text)
    assert [hop.kind for hop in item.why] == ["touches", *["contains"] * (len(item.why) - 1)]
    assert item.why[0].target == "sky"
    assert len(item.why) >= 3


@pytest.mark.parametrize(
    "text",
    [
        "One.",
        "Same. Same. Same. Same.",
        "# Head\n\n" + " ".join(f"Word {i} is here." for i in range(5000)),
    ],
)
def test_one_sentence_and_equal_ones_and_five_thousand(embed, text):
    index = Index.from_documents(
        [clew.Document("d", text, format="markdown")],
        embedder=embed,
        splitter=clew.Splitter(40, sentences=True),
    )
    context = index.ask("Where is word 77?", recipe="kurisu", budget=200)
    assert len(context) > 0
    assert context.tokens <= 200
    if len(text) > 1000:
        notes = next(step.notes for step in context.trace if "path" in step.notes)
        assert sum(notes["tests"].values()) > 0


def test_a_flat_corpus_is_the_best_fused_and_the_rest_by_prize(embed):
    texts = [f"Cats number {i} sleep." for i in range(30)] + ["Dogs bark at cats."]
    index = Index.from_documents(texts, embedder=embed, links=())
    context, dense = (
        index.ask("Which cats sleep, number 3?", recipe=recipe, limit=8)
        for recipe in ("kurisu", "dense")
    )
    assert set(context.ids) == set(dense.ids)


def test_without_a_vector_the_path_leads_to_the_highest_prize_and_without_prizes_nowhere():
    graph = forest(3)
    stage = KURISU.selects[0]
    passages = np.flatnonzero(graph.content)
    everything = Subgraph(freeze(np.arange(len(graph)), np.int32))
    for best in passages[::7].tolist():
        prizes = np.zeros(len(graph))
        prizes[best] = 1.0
        found = stage.on(graph)(Query("text"), Seeds(prizes), prizes, everything, UNLIMITED)
        assert best in found.nodes
        assert found.paths
    prizes = np.zeros(len(graph))
    for query in (Query("text"), Query("text", np.zeros(6, np.float32))):
        found = stage.on(graph)(query, Seeds(prizes), prizes, everything, UNLIMITED)
        assert not found.paths
        assert found.rewards is None


class TestTheRewards:
    def test_gains_are_their_share_and_losses_theirs_only_where_an_edge_is_far_below(self):
        low = strength_changes(np.array([0.9, 0.8, 0.85, 0.9, 0.0]), penalty_share=0.4)
        assert low[:4].sum() + max(low[4], 0) <= 0.06 + 1e-12
        assert low.sum() == pytest.approx(0.06 - 0.04)
        assert low[4] == low.min() < 0
        level = strength_changes(np.array([0.5, 0.52, 0.48]), penalty_share=0.4)
        assert level.sum() == pytest.approx(0.06), (
            "nothing is far below: the penalties are not given out"
        )
        assert (level > 0).all()

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
    def test_their_order_is_the_similarities(self, similarities):
        found = strength_changes(np.array(similarities))
        order = np.argsort(similarities, kind="stable")
        assert (np.diff(found[order]) >= -1e-12).all()
        assert found.sum() <= 0.05 + 1e-12
        if len(set(similarities)) == 1:
            assert found == pytest.approx(0.05 / len(similarities))
        if len(similarities) <= 2:
            assert (found > 0).all(), "of two none can be more than one deviation below"


def test_the_decay_of_what_decays_is_found():
    start, rate = fit_decay([40 * np.exp(-0.7 * depth) for depth in range(5)])
    assert (start, rate) == (pytest.approx(40), pytest.approx(0.7))
    assert fit_decay([5]) == (5.0, 0.0)
    assert fit_decay([]) == (0.0, 0.0)


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match="unknown container_similarity 'mode'; known: best, mean"):
        Descent(container_similarity="mode")
    with pytest.raises(ValueError, match="n_loc is at least 2"):
        Descent(n_loc=1)
    with pytest.raises(ValueError, match="initial_strength is above 0 and at most 1; got 0"):
        Descent(initial_strength=0)
    with pytest.raises(ValueError, match="min_deviation is above 0; got 0"):
        Descent(min_deviation=0)
    assert isinstance(KURISU, Pipeline)


def tree_of(graph, **fields):
    return graph.part(DocumentTreePart(**fields))


def shelves(seed, n_documents=4, n_passages=5, d=12, spread=1.0):
    """Documents of passages and nothing else."""
    rng = np.random.default_rng(seed)
    parents, vectors = [], []
    for number in range(n_documents):
        topic, above = rng.normal(size=d), number * (n_passages + 1)
        parents += [-1] + [above] * n_passages
        vectors += [np.zeros(d), *(topic + spread * rng.normal(size=(n_passages, d)))]
    vectors = np.array(vectors)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    kinds = (["document"] + ["passage"] * n_passages) * n_documents
    n = len(parents)
    return Graph.of(
        [f"text {row}" for row in range(n)],
        kinds=kinds,
        parents=parents,
        documents=[row if above < 0 else above for row, above in enumerate(parents)],
        spans=[(10 * row, 10 * row + 9) for row in range(n)],
        vectors=vectors,
    )


def everything(graph):
    return Subgraph(freeze(np.arange(len(graph)), np.int32))


def descend(graph, query, rule, prizes=None, budget=10**6):
    if prizes is None:
        prizes = np.maximum(0, graph.vectors @ query.vector).astype(float)
    return rule.on(graph)(query, Seeds(prizes), prizes, everything(graph), budget)


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("window", [0, 1, 2, 9])
def test_a_window_is_of_neighbours_on_both_sides_and_ends_with_their_container(place, window):
    vectors = np.tile(np.float32([0, 1]), (11, 1))
    vectors[0], vectors[1], vectors[2 + place] = 0, 0, [1, 0]
    n = len(vectors)
    graph = Graph.of(
        [f"text {row}" for row in range(n)],
        kinds=["document", "document", *["passage"] * 9],
        parents=[-1, -1, *[0] * 5, *[1] * 4],
        documents=[0, 1, *[0] * 5, *[1] * 4],
        spans=[(10 * row, 10 * row + 9) for row in range(n)],
        vectors=vectors,
    )
    rule = Descent(fgw_threshold=-1, max_paths=1, max_path_nodes=1, fill=False, window=window)
    chosen = descend(graph, Query("q", np.float32([1, 0])), rule).nodes.tolist()
    assert sorted(chosen) == [2 + at for at in range(5) if abs(at - place) <= window]


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_without_fusion_paths_end_at_the_best_passages_wherever_they_stand(seed, n_paths):
    graph, query = shelves(seed), question(seed, 12)
    prizes = np.maximum(0, graph.vectors @ query.vector).astype(float)
    rule = Descent(fgw_threshold=-1, max_paths=n_paths, max_path_nodes=1)
    if (prizes > 1e-3).sum() >= n_paths:
        chosen = descend(graph, query, rule).nodes
        assert sorted(chosen) == sorted(np.argsort(-prizes)[:n_paths])


@settings(max_examples=40)
@given(FORESTS, st.integers(0, 10**6))
def test_from_a_passage_a_path_leads_to_nothing_worse(graph, seed):
    asked = question(seed)
    one, other = (
        traversal(graph, asked, Descent(ends=ends)).path(np.zeros(len(graph), bool))
        for ends in ("best", "last")
    )
    best = [max(traversal(graph, asked, Descent()).scores[list(step.node.rows)]) for step in other]
    passages = [graph.content[list(step.node.rows)].all() for step in other]
    worse = [
        place
        for place in range(1, len(other))
        if passages[place - 1]
        and best[place] < best[place - 1] - 1e-6
        and not {graph.parents[row] for row in other[place].node.rows}
        <= set(other[place - 1].node.rows)
    ]
    assert [step.node for step in one] == [step.node for step in other[: (worse or [None])[0]]]


def test_a_graft_does_not_lead_away_from_the_passage_that_answers():
    vectors = np.float32([[0, 0], [1, 0], [0.6, 0.8]])
    edges = Edges.of("similar", [1], [2])
    graph = Graph.of(
        ["A", "It sails at ten.", "It sails."],
        kinds=["section", "passage", "passage"],
        parents=[-1, 0, -1],
        vectors=vectors,
        edges=edges,
    )
    query = Query("When does it sail?", np.float32([1, 0]))
    ends = [
        descend(graph, query, Descent(max_paths=1, max_path_nodes=1, ends=ends)).nodes.tolist()
        for ends in ("best", "last")
    ]
    assert ends == [[1], [2]]


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6))
def test_there_are_as_many_paths_as_have_ends_that_fill_the_room(seed, n_paths, n_fitting):
    graph, query = shelves(seed), question(seed, 12)
    prizes = np.maximum(0, graph.vectors @ query.vector).astype(float)
    if (prizes > 1e-3).sum() < n_paths:
        return
    rule = Descent(fgw_threshold=-1, max_paths=n_paths)
    by_prize = np.argsort(-prizes)
    tokens = int(graph.tokens[by_prize[:n_fitting]].sum())
    result = rule.descend(graph, graph.part(DocumentTreePart()), query, graph.content, prizes)
    assert len(result.paths) == n_paths, "without limits"
    limited = descend(graph, replace(query, limit=n_fitting), rule)
    assert limited.notes["paths"] == min(n_paths, n_fitting)
    full = descend(graph, query, rule, budget=tokens)
    assert full.notes["paths"] == min(n_paths, n_fitting)
    more = descend(graph, query, rule, budget=tokens + 1)
    assert more.notes["paths"] == min(n_paths, n_fitting + 1)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_each_path_ends_in_a_passage_of_its_own_by_its_best_sentence(seed, n_paths):
    chance = np.random.default_rng(seed)
    n_passages, n_sentences = 8, 3
    n = n_passages * (1 + n_sentences)
    parents = [-1 if row < n_passages else (row - n_passages) // n_sentences for row in range(n)]
    prizes = chance.permutation(n) / n + 0.1
    for passage in range(n_passages):
        inside = [row for row in range(n) if parents[row] == passage]
        prizes[passage] = max(prizes[row] for row in inside)  # as `InPassages` scores it
    graph = Graph.of(
        ["text"] * n,
        kinds=["passage" if parent < 0 else "sentence" for parent in parents],
        parents=parents,
    )
    rule = Descent(fgw_threshold=-1, max_paths=n_paths)
    tree = graph.part(DocumentTreePart())
    result = rule.descend(graph, tree, Query("q"), np.ones(n, bool), prizes)
    ends = [path[-1].node.rows for path in result.paths]
    by_prize = sorted(range(n_passages), key=lambda passage: -prizes[passage])[:n_paths]
    best = [max((row for row in range(n) if parents[row] == passage), key=lambda row: prizes[row])
            for passage in by_prize]  # fmt: skip
    assert ends == [(row,) for row in best]


@settings(max_examples=20)
@given(FORESTS, st.sampled_from([0.2, 0.5, 0.8, 0.95]), st.sampled_from(["weighted", "literal"]))
def test_relevant_children_are_those_of_line_11(graph, tau, threshold):
    rng = np.random.default_rng(len(graph))
    walk = traversal(graph, question(3), Descent(sim_threshold=tau, threshold=threshold))
    rows = np.arange(min(9, len(graph)))
    p, s = rng.uniform(0.05, 1, len(rows)), walk.scores[rows]
    ranked, relevant = walk.rank(Children(rows, p, rows))
    limit = tau * max(p * s)
    left = p * s if threshold == "weighted" else s
    assert {int(i) for i in relevant} == {i for i in range(len(rows)) if left[i] > limit + 1e-12}
    assert ranked.n_relevant == len(relevant)
    assert list(relevant) == sorted(relevant, key=lambda i: -left[i])


@pytest.mark.parametrize(("rate", "neutral"), [(0.4, 0.5), (0.4, -0.5), (0.0, 0.5)])
def test_a_graft_gains_as_its_ends_are_similar_beyond_the_neutral_similarity(rate, neutral):
    rule = Descent(
        sim_threshold=0.5,
        fgw_threshold=0.5,
        graft_fgw_threshold=1.0,
        graft_rate=rate,
        graft_similarity=neutral,
    )
    seen = 0
    for seed in range(30):
        graph = forest(seed, n=50)
        walk = traversal(graph, question(seed), rule)
        parent = None
        for step in walk.path(np.zeros(len(graph), np.bool_)):
            for row, strength, source in zip(
                step.grafts.rows, step.grafts.strengths, step.grafts.sources, strict=True
            ):
                if parent is not None and len(parent.node.rows) > 1:
                    break  # its own strengths are means of several edges
                members = node_vectors(graph, walk.tree, np.array(step.node.rows)).sum(axis=0)
                cosine = members @ node_vectors(graph, walk.tree, np.array([row]))[0]
                cosine /= np.linalg.norm(members)
                children = step.ranked.children
                first = children.strengths[children.rows.tolist().index(source)]
                slots = walk.tree.slots(np.array([source]))
                second = walk.tree.strengths[slots][walk.tree.heads[slots] == row][0]
                expected = np.clip(first * second / 0.5 + rate * (cosine - neutral), 0, 1)
                assert strength == pytest.approx(expected, abs=1e-5)
                seen += 1
            parent = step
    assert seen > 5


def test_the_printed_structure_is_the_length_between_any_two_vectors():
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(5, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    products, joined = vectors @ vectors.T, np.zeros((5, 5), np.bool_)
    joined[0, 1] = joined[1, 0] = True
    hood = Neighbourhood.of(products, joined, 2.0, direct=True)
    lengths = np.exp(2.0 * (1 - products)) - 1
    assert hood.distances == pytest.approx(lengths / lengths.max())
    grafted = hood.may_link(np.array([1]), np.array([4]), 0.0, 0.5)
    assert grafted.accepted
    assert grafted.value == pytest.approx(0), "by vectors alone no graft changes anything"
    own = vectors[3] + 0.2
    own /= np.linalg.norm(own)
    after, costs = hood.fused(np.array([1, 2]), vectors @ own)
    assert after.distances[1, 2] == 0
    assert after.products[1, 4] == pytest.approx(own @ vectors[4])
    assert costs[1, 1] == pytest.approx(((vectors[1] - own) ** 2).sum() / 4)


def test_the_text_of_a_fused_node_is_embedded_whole_in_document_order():
    vectors = np.array([[1.0, 0.1, 0], [1, 0, 0.1], [0, 0, 1]])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    graph = Graph.of(
        ["Second.", "First.", "Other."],
        vectors=vectors,
        documents=[0, 0, 0],
        spans=[(9, 12), (0, 5), (20, 25)],
    )
    asked, whole = [], np.float32([0.6, 0.8, 0])

    def embed(texts):
        asked.extend(texts)
        return np.array([whole] * len(texts))

    query = Query("?", np.float32([1, 0, 0]), embed=embed)
    rule = Descent(fused_vector="text", fgw_threshold=1.0, max_paths=1)
    note = descend(graph, query, rule).notes["path"][0]
    assert set(note[0]) == {"0", "1"}
    assert note[1] == pytest.approx(0.6), "the cosine of the whole text"
    assert set(asked) == {"First.\nSecond."}
    mean = descend(graph, query, replace(rule, fused_vector="mean")).notes["path"][0]
    assert mean[1] == pytest.approx(
        float(vectors[:2].sum(0)[0] / np.linalg.norm(vectors[:2].sum(0)))
    )


def test_a_whole_text_that_is_unlike_its_parts_is_not_fused():
    vectors = np.array([[1.0, 0.1, 0], [1, 0, 0.1], [0, 0, 1]])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    graph = Graph.of(["one", "two", "three"], vectors=vectors)
    rule = Descent(fused_vector="text", fgw_threshold=0.02, max_paths=1)
    sizes = []
    for whole in ([1, 0, 0], [-1, 0, 0]):
        query = Query(
            "?",
            np.float32([1, 0, 0]),
            embed=lambda texts, whole=whole: np.float32([whole] * len(texts)),
        )
        sizes.append(len(descend(graph, query, rule).notes["path"][0][0]))
    assert sizes == [2, 1]


def test_where_a_text_cannot_be_embedded_it_is_the_mean_and_the_trace_says_so():
    vectors = np.array([[1.0, 0.1, 0], [1, 0, 0.1], [0, 0, 1]])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    graph = Graph.of(["one", "two", "three"], vectors=vectors)

    def embed(texts):
        raise RuntimeError("the embedder knows stored vectors alone")

    query = Query("?", np.float32([1, 0, 0]), embed=embed)
    rule = Descent(fused_vector="text", fgw_threshold=1.0)
    notes = descend(graph, query, rule).notes
    assert "mean vectors: the embedder knows stored vectors alone" in notes["fallback"]
    assert notes["path"] == descend(graph, query, replace(rule, fused_vector="mean")).notes["path"]


def test_penalties_reach_all_children():
    rng = np.random.default_rng(0)
    vectors = np.abs(rng.normal(size=(60, 8)))
    vectors[-9:, 0] = 0
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    graph = Graph.of([f"text {row}" for row in range(60)], vectors=vectors)
    query = Query("?", np.float32([1] + [0] * 7))
    rule = Descent(
        n_loc=8,
        reward=0.2,
        penalty_share=0.3,
        reward_margin=0.1,
        penalty_cut=0.8,
        reward_temperature=2.0,
        penalty_temperature=0.5,
        min_deviation=0.01,
        max_paths=1,
    )
    changes = {head: change for _, head, change in descend(graph, query, rule).rewards}
    assert set(changes) == set(range(60))
    s = np.maximum(0, vectors[:, 0])
    z = (s - s.mean()) / max(s.std(), 0.01)
    gains = np.exp(np.maximum(0, z + 0.1) / 2.0)
    losses = np.where(z < -0.8, np.exp(-z / 0.5), 0)
    expected = 0.7 * 0.2 * gains / gains.sum() - 0.3 * 0.2 * losses / losses.sum()
    assert [changes[row] for row in range(60)] == pytest.approx(expected, abs=1e-6)
    assert max(changes[row] for row in range(51, 60)) < 0, "those that B.3 penalises"


def test_edges_exist_with_the_initial_strength_and_what_is_learnt_moves_them_from_there():
    edges = Edges.join(
        [
            Edges.of("similar", [1], [2], 0.9),
            Edges.of("learned", [0, 1, 1], [0, 2, 3], [0.7, 0.35, 0.2]),
        ]
    )
    kinds = ["document", "passage", "passage", "passage"]
    graph = Graph.of(["text"] * 4, kinds=kinds, parents=[-1, 0, 0, 0], edges=edges)
    for p in (0.5, 0.8, 1.0):
        tree = tree_of(graph, initial_strength=p)
        assert tree.top_strengths == pytest.approx([min(1, p + 0.2)])
        found = dict(
            zip(
                zip(tree.sources(np.arange(4)).tolist(), tree.heads.tolist(), strict=True),
                tree.strengths,
                strict=True,
            )
        )
        assert found[0, 1] == pytest.approx(p)
        assert found[2, 1] == pytest.approx(0.9 * p)
        assert found[1, 2] == pytest.approx(0.9 * p + 0.35 - 0.45)
        assert found[1, 3] == pytest.approx(0.2), "a graft is what was learnt"


def test_a_path_can_begin_at_any_node():
    graph, query = shelves(5), question(8, 12)
    result = descend(graph, query, Descent(start_node="6", max_paths=2))
    assert set(result.nodes.tolist()) <= set(range(7, 12))
    assert len(result.nodes) > 2, "the rest of what is below it fills the room"
    with pytest.raises(
        ValueError, match="start_node is the id of a node of the graph: no node with id 'x'"
    ):
        Descent(start_node="x").on(graph)


def test_nothing_but_the_path_is_read_where_the_room_is_not_filled():
    graph, query = shelves(5), question(8, 12)
    rule = Descent(max_paths=1, fill=False, sim_threshold=0.9999)
    result = descend(graph, query, rule)
    document = int(graph.parents[result.nodes[0]])
    assert document >= 0
    assert set(result.nodes.tolist()) <= {document + i for i in range(1, 6)}
    assert len(descend(graph, query, replace(rule, fill=True)).nodes) > len(result.nodes)


def test_the_published_setting_differs_from_ours_where_the_table_says_so():
    paper, ours = (recipes.get(name).selects[0] for name in ("kurisu_paper", "kurisu"))
    assert (paper.threshold, paper.structure, paper.fused_vector) == (
        "literal",
        "embedding",
        "text",
    )
    assert (paper.max_paths, paper.fill, paper.bisect, paper.initial_strength) == (
        1,
        False,
        False,
        1.0,
    )
    assert paper.graft_similarity == paper.sim_threshold == 0.8
    changed = [name for name in vars(paper) if getattr(paper, name) != getattr(ours, name)]
    assert len(changed) <= 1 + len(recipes.DEPARTURES["kurisu_paper"]) + 3


class TestExpectedTests:
    @given(st.floats(1, 500), st.floats(0, 2), st.integers(0, 12))
    def test_c1_is_the_sum_over_depths(self, start, decay, max_depth):
        total = 0.0
        for depth in range(max_depth + 1):
            logarithm = (np.log(start) - decay * depth) / np.log(2)
            total += max(0.0, logarithm)
        assert expected_tests(start, decay, max_depth) == pytest.approx(total, abs=1e-5)

    def test_c2_is_the_mean_over_normally_distributed_beginnings(self):
        clusters = [ClusterBranching(20, 6, 0.2, 3), ClusterBranching(3, 2, 0.0, 2)]
        rng, total = np.random.default_rng(0), 0.0
        for cluster in clusters:
            starts = np.maximum(1, rng.normal(cluster.mean, cluster.deviation, 200_000))
            for depth in range(cluster.max_depth + 1):
                total += float((np.log2(starts) - cluster.decay * depth / np.log(2)).mean())
        assert expected_tests_of_clusters(clusters) == pytest.approx(total, rel=0.01)


@pytest.mark.parametrize("tau", [0.9, 0.6])
def test_what_is_grafted_is_nearly_as_similar_as_the_best_of_it(tau):
    rule = Descent(sim_threshold=tau, fgw_threshold=0.5, graft_fgw_threshold=1.0)
    several = 0
    for seed in range(40):
        graph = forest(seed, n=60, spread=0.3)
        walk = traversal(graph, question(seed), rule)
        for step in walk.path(np.zeros(len(graph), np.bool_)):
            scores = walk.scores[step.grafts.rows]
            assert (scores > tau * scores.max(initial=0)).all()
            several += len(scores) > 1
    assert several > 3
