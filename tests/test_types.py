"""The types, frozen by four small pipelines that use them to the full: if one of these must change, every method must."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

from clew.graph import Edges, Facts, Graph, Labels, Ragged, freeze
from clew.order import ByPrize
from clew.pipeline import Pipeline
from clew.render import Render
from clew.select import Top
from clew.spread import PageRank
from clew.types import UNLIMITED, Query, Reading, Seeds, Subgraph


def rows(*values: int) -> np.ndarray:
    return freeze(values, np.int32)


@dataclass(frozen=True)
class Given:
    """A seed with fixed scores, terminals and facts."""

    weights: tuple[float, ...]
    terminals: tuple[int, ...] = ()
    facts: tuple[int, ...] = ()

    def on(self, graph):
        return lambda query: Seeds(
            freeze(self.weights, np.float64),
            rows(*self.terminals),
            rows(*self.facts),
            freeze([1.0] * len(self.facts), np.float64),
        )


@dataclass(frozen=True)
class Chosen:
    """A selector with a fixed choice."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    missing: tuple[tuple[int, int], ...] = ()

    def on(self, graph):
        return lambda query, seeds, prizes, candidates, budget: Subgraph(
            rows(*self.nodes),
            rows(*self.edges),
            rows(*self.kept),
            self.groups,
            value=2.0,
            bound=4.0,
            missing=self.missing,
        )


def three_entities() -> Graph:
    """Anna -married-> Ben -lives in-> Corfu, and Delos apart; each fact read from its own passage."""
    names = ["Anna", "Ben", "Corfu", "Delos"]
    passages = ["Anna married Ben.", "Ben lives in Corfu."]
    facts = Facts(
        ("Anna married Ben", "Ben lives in Corfu"),
        freeze(np.zeros((2, 0)), np.float32),
        rows(2, 3),
        rows(3, 4),
        Labels.of(["married", "lives in"]),
        Ragged.of([[0], [1]]),
    )
    edges = Edges.join(
        [
            Edges.of("fact", [2, 3], [3, 4], facts=[0, 1], read_from=Ragged.of([[0], [1]])),
            Edges.of(
                "mentions", [0, 0, 1, 1], [2, 3, 3, 4], read_from=Ragged.of([[0], [0], [1], [1]])
            ),
        ]
    )
    return Graph.of(
        [*passages, *names],
        ids=["p0", "p1", *names],
        kinds=["passage"] * 2 + ["entity"] * 4,
        read_from=Ragged.of([[], [], [0], [0, 1], [1], []]),
        facts=facts,
        edges=edges,
    )


def test_a_steiner_context_emits_the_facts_on_the_way_and_says_what_cannot_be_joined():
    graph = three_entities()
    tree = Chosen(nodes=(2, 3, 4, 1), edges=(0, 1), kept=(3,), missing=((2, 5),))
    method = Pipeline(
        Given((0, 0.5, 1, 0, 1, 1), terminals=(2, 4, 5), facts=(0,)),
        selects=(tree,),
        order=ByPrize(),
        render=Render("triples"),
    )

    context = method.on(graph)(Query("Where does Anna's husband live?"), UNLIMITED)

    assert context.text == "(Anna, married, Ben)\n(Ben, lives in, Corfu)\n- Ben lives in Corfu."
    assert [item.role for item in context] == ["fact", "fact", "expansion"]
    assert context.missing == (("Anna", "Delos"),)
    assert {(tie.tail, tie.kind, tie.head) for tie in context.edges} == {
        ("Anna", "fact", "Ben"),
        ("Ben", "fact", "Corfu"),
    }
    way = context.items[2].why
    assert (way[0].source, way[-1].target) == ("question", "p1")
    assert all(one.target == other.source for one, other in pairwise(way))
    assert context.bound == 4.0
    assert context.gap == pytest.approx((4.0 - context.value) / 4.0)


def test_a_fused_group_is_emitted_as_its_members():
    graph = Graph.of(["one", "two", "three"])
    method = Pipeline(
        Given((1, 2, 3)), selects=(Chosen((0, 1, 2), groups=((0, 1),)),), order=ByPrize()
    )

    items = {item.id: item for item in method.on(graph)(Query("?"), UNLIMITED)}

    assert items["0"].group == items["1"].group is not None
    assert items["2"].group is None


@pytest.mark.parametrize("budget", [7, 8, 12])
def test_a_bridge_survives_the_second_selector_and_the_ceiling(budget):
    graph = Graph.of(["alpha", "bridge", "gamma"], count=lambda text: len(text.split()))
    bridged = Chosen((0, 1, 2), kept=(1,))

    @dataclass(frozen=True)
    class Half:
        """A second selector that keeps bridges and may drop the rest."""

        def on(self, graph):
            def select(query, seeds, prizes, candidates, budget):
                best = max(
                    set(candidates.nodes.tolist()) - set(candidates.required.tolist()),
                    key=lambda row: prizes[row],
                )
                return replace(candidates, nodes=rows(best, *candidates.required))

            return select

    method = Pipeline(Given((1.0, 0.0, 2.0)), selects=(bridged, Half()), order=ByPrize())

    context = method.on(graph)(Query("?"), budget)

    assert context.ids == ["2", "1"]
    assert [item.role for item in context] == ["seed", "bridge"]
    assert len(context.trace) == 4
    assert [context.trace[i].stage for i in (0, 1, 3)] == [
        repr(method.seed),
        repr(bridged),
        repr(method.order),
    ]

    narrow = method.on(graph)(Query("?"), 2)
    assert narrow.ids == ["1"], "the bridge is what is left when only one fits"
    assert narrow.dropped[0].id == "2"


def test_a_filtered_graph_forgets_what_was_read_only_from_the_forbidden():
    graph = three_entities()
    allowed = np.ones(6, np.bool_)
    allowed[0] = False

    left = graph.filtered(allowed)

    assert left.ids == ("p1", "Ben", "Corfu", "Delos")
    assert left.facts.texts == ("Ben lives in Corfu",)
    assert sorted(left.edges.kinds) == ["fact", "mentions", "mentions"]
    assert [left.ids[row] for row in left.read_from[1]] == ["p1"]
    assert len(graph) == 6, "the graph itself stays as it was"
    context = Pipeline(Given((1, 0, 0, 0)), selects=(Top(),), order=ByPrize()).on(left)(
        Query("?"), UNLIMITED
    )
    assert context.ids == ["p1"]


def test_a_limit_is_kept_exactly_while_there_are_so_many():
    graph = Graph.of(["a", "b", "c", "d"])
    method = Pipeline(Given((1, 0, 3, 2)), selects=(Chosen((2, 3)),), order=ByPrize())
    answer = method.on(graph)

    assert answer(Query("?", limit=1), UNLIMITED).ids == ["2"]
    three = answer(Query("?", limit=3), UNLIMITED)
    assert three.ids == ["2", "3", "0"]
    assert three.items[-1].role == "fill"
    assert len(answer(Query("?", limit=9), UNLIMITED)) == 4


def test_a_reading_puts_facts_before_nodes():
    reading = Reading.of([3, 4], [7])
    assert reading.nodes.tolist() == [-1, 3, 4]
    assert reading.facts.tolist() == [7, -1, -1]


def test_the_vector_for_facts_is_the_own_one_or_else_the_questions():
    vector, other = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    assert Query("?").vector_for_facts is None
    assert Query("?", vector).vector_for_facts is vector
    assert Query("?", vector, other).vector_for_facts is other


def test_start_rows_are_the_terminals_or_else_the_most_relevant_rows():
    relevance = freeze([0.0, 2.0, 1.0, 3.0], np.float64)
    assert Seeds(relevance, rows(2, 0)).start_rows(relevance, 1).tolist() == [2]
    assert Seeds(relevance).start_rows(relevance, 2).tolist() == [3, 1]
    assert Seeds(relevance).start_rows(relevance, 9).tolist() == [3, 1, 2]


@dataclass(frozen=True)
class Spreading:
    """A spread with fixed prizes, of whatever kind."""

    prizes: object

    def on(self, graph):
        return lambda query, seeds, prizes: self.prizes


@pytest.mark.parametrize(
    ("seed", "spreads", "message"),
    [
        ((1.0, float("nan")), (), r"^Given\(.* gives every node a score; got NaN for 1$"),
        ((1.0,), (), r"^Given\(.* shape \(2,\), a score for each node; got \(1,\)$"),
        ((1.0, 2.0), (np.array([np.nan, np.nan]),), r"^Spreading\(.* got NaN for 2$"),
        ((1.0, 2.0), (np.ones(3),), r"^Spreading\(.* got \(3,\)$"),
        ((1.0, 2.0), ([1.0, 2.0],), r"^Spreading\(.* got a list$"),
        ((1.0, 2.0), (None,), r"^Spreading\(.* got a NoneType$"),
        ((1.0, -0.5), (), r"^Given\(.* a score of at least 0; got -0.5: of cosines and the like"),
        ((1.0, 2.0), (np.array([-1.0, -3.0]),), r"^Spreading\(.* at least 0; got -3: .*maximum"),
        ((1.0, 2.0), (np.array(["1", None]),), r"^Spreading\(.* numbers; got one of object$"),
    ],
)
def test_a_stage_that_gives_no_score_for_every_node_is_named(seed, spreads, message):
    graph = Graph.of(["alpha", "gamma"])
    stages = tuple(Spreading(prizes) for prizes in spreads)
    method = Pipeline(Given(seed), stages, (Top(),), order=ByPrize())
    with pytest.raises(ValueError, match=message):
        method.on(graph)(Query("?"), UNLIMITED)


@dataclass(frozen=True)
class Answering:
    """A seed, a selector or an order with a fixed answer."""

    answer: object

    def on(self, graph):
        return lambda *question: self.answer


@pytest.mark.parametrize(
    ("place", "answer", "error", "message"),
    [
        ("seed", np.ones(2), TypeError, r"gives clew.Seeds\(scores\); got a ndarray$"),
        ("seed", None, TypeError, r"gives clew.Seeds\(scores\); got a NoneType$"),
        ("selects", [0], TypeError, r"gives clew.Subgraph\(nodes\); got a list$"),
        ("selects", Subgraph([0]), ValueError, "selects nodes by an array of .* got a list$"),
        (
            "selects",
            Subgraph(np.array([True, False])),
            ValueError,
            "whole numbers; got one of bool",
        ),
        ("selects", Subgraph(rows(0, 7)), ValueError, "of which there are 2; got 7$"),
        ("selects", Subgraph(rows(-1)), ValueError, "of which there are 2; got -1$"),
        ("order", rows(0), TypeError, r"gives clew.Reading.of\(nodes\); got a ndarray$"),
        ("order", Reading.of([2]), ValueError, "orders nodes by .* there are 2; got 2$"),
        ("order", Reading.of([0], [0]), ValueError, "orders facts by .* there are 0; got 0$"),
        ("order", Reading(rows(0, 1), rows(-1)), ValueError, "each entry .* 2 and 1 rows"),
    ],
)
def test_a_stage_that_gives_something_else_is_named(place, answer, error, message):
    stage = Answering(answer)
    stages = {"seed": Given((2.0, 1.0)), "order": ByPrize()}
    method = Pipeline(**{**stages, place: (stage,) if place == "selects" else stage})
    with pytest.raises(error, match=r"^Answering\((.|\n)*" + message):
        method.on(Graph.of(["alpha", "gamma"]))(Query("?"), UNLIMITED)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, np.bool_])
def test_scores_of_another_type_mean_the_same_to_a_walk(dtype):
    graph = Graph.of(["a", "b", "c"], edges=Edges.of("next", [0, 1], [1, 2]))
    scores = np.array([1, 0, 0])

    def found(seed):
        method = Pipeline(seed, (PageRank(),), (Top(),), order=ByPrize())
        return [(one.id, one.score) for one in method.on(graph)(Query("?"), UNLIMITED)]

    assert found(Answering(Seeds(scores.astype(dtype)))) == found(Given((1.0, 0.0, 0.0)))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"render": None}, r"^render is a clew.Render; got None"),
        ({"render": Render}, r"^render is a clew.Render; got <class"),
        ({"selects": Top()}, r"^selects is a tuple of stages, .*; got Top\("),
        ({"selects": [Top()]}, r"^selects is a tuple of stages, .*; got \[Top\("),
        ({"spreads": Spreading(1)}, r"^spreads is a tuple of stages, .*; got Spreading\("),
        ({"selects": (Top,)}, r"^a stage is a value that has on\(graph\); got <class"),
        ({"seed": "dense"}, r"^a stage is a value that has on\(graph\); got 'dense'"),
    ],
)
def test_what_is_no_row_of_stages_is_refused_where_it_is_made(how, message):
    with pytest.raises(TypeError, match=message):
        Pipeline(**{"seed": Given((1.0,)), "order": ByPrize(), **how})
