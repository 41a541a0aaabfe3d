"""The index: bad input is refused at the border, and every way to the same documents gives the same answers."""

from __future__ import annotations

import asyncio
import copy
import pickle
import re
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import clew
from clew import Document, Index, Pipeline, recipes
from clew.index.filtering import filtered_index
from clew.order import ByPrize
from clew.select import Top
from clew.types import Seeds

SENTENCES = [
    "Anna moved to Rome. She paints there.",
    "Ben married Anna in Paris.",
    "Paris lies on the Seine.",
    "Rome lies on the Tiber.",
    "Cats sleep all day long.",
    "The Tiber floods Rome in winter.",
    "Anna and Ben paint cats.",
    "東京は日本の首都。",
]
FACTS = {
    "d0": [("Anna", "moved to", "Rome")],
    "d1": [("Ben", "married", "Anna"), ("Anna", "married", "Ben")],
    "d2": [("Paris", "lies on", "Seine")],
    "d3": [("Rome", "lies on", "Tiber")],
    "d5": [("Tiber", "floods", "Rome"), ("Rome", "lies on", "Tiber")],
    "d6": [("Anna", "paints", "cats"), ("Ben", "paints", "cats")],
}
DOCUMENTS = [
    Document(f"d{i}", text, {"number": i, "even": i % 2 == 0}) for i, text in enumerate(SENTENCES)
]
QUESTIONS = ["Where does the husband of Anna live?", "Which river floods Rome?", "zebra"]


def facts_of(ids):
    return {id: said for id, said in FACTS.items() if id in ids}


@cache
def built(numbers, embedder):
    """The index of some of the documents: a value, so that one serves every test that asks for it."""
    return Index.from_documents(
        [DOCUMENTS[i] for i in numbers],
        embedder=embedder,
        facts=facts_of({f"d{i}" for i in numbers}),
    )


ALL_RECIPES = frozenset(recipes.names())


def answers(index, names=ALL_RECIPES, **how):
    return {
        (name, q): index.ask(q, recipe=name, budget=60, **how)
        for name in sorted(names)
        for q in QUESTIONS
    }


# Some recipes for an example. That all of them do so with some documents has tests of its own.
SOME_RECIPES = st.sets(st.sampled_from(sorted(ALL_RECIPES)), min_size=4, max_size=6)


def same(ones, others):
    assert ones.keys() == others.keys()
    for key, one in ones.items():
        other = others[key]
        assert one.ids == other.ids, key
        assert [item.score for item in one] == pytest.approx(
            [item.score for item in other], abs=1e-6
        ), key
        assert one.text == other.text
        assert [item.role for item in one] == [item.role for item in other]


@pytest.fixture(scope="module")
def index(embed):
    return built((*range(8),), embed)


def raising(texts):
    if len(texts) > 1:
        raise RuntimeError("the service is down")
    return np.ones((len(texts), 3))


def constant(rows):
    return lambda texts: rows[: len(texts)]


UNKNOWN = replace(DOCUMENTS[0], vector=np.float32([np.nan, 0]))
BUILDS = {
    "no documents": (ValueError, "no documents came", {"documents": []}),
    "no text": (ValueError, "'empty' has no text", {"documents": [Document("empty", " \n")]}),
    "duplicate ids": (
        ValueError,
        "an id of its own.*'d0'",
        {"documents": [DOCUMENTS[0], DOCUMENTS[0]]},
    ),
    "not a document": (TypeError, "int", {"documents": [42]}),
    "NaN": (ValueError, "Anna moved.*NaN", {"embedder": constant([[np.nan, 1.0], [1.0, 0.0]])}),
    "infinite": (
        ValueError,
        "Anna moved.*infinite",
        {"embedder": constant([[np.inf, 1.0], [1.0, 0.0]])},
    ),
    "zero": (ValueError, "Ben married.*zeros", {"embedder": constant([[1.0, 0.0], [0.0, 0.0]])}),
    "too few": (ValueError, "1 vectors for 2 texts", {"embedder": constant([[1.0, 0.0]])}),
    "raising": (RuntimeError, "the service is down", {"embedder": raising}),
    "no embedder": (TypeError, "cannot embed with a float", {"embedder": 1.5}),
    "facts of a stranger": (ValueError, "'stranger'", {"facts": {"stranger": [("a", "b", "c")]}}),
    "a fact of two": (ValueError, "three strings.*'d0'", {"facts": {"d0": [("a", "b")]}}),
    "a fact of numbers": (ValueError, "three strings.*'d0'", {"facts": {"d0": [("a", "b", 3)]}}),
    "a document's own vector": (
        ValueError,
        "'d0'|Anna",
        {"documents": [UNKNOWN, DOCUMENTS[1]], "embedder": constant([[1.0, 0.0]])},
    ),
}


@pytest.mark.parametrize(("error", "message", "given"), BUILDS.values(), ids=BUILDS)
def test_an_index_of_bad_input_is_refused_by_name(error, message, given):
    how = {"documents": DOCUMENTS[:2]} | given
    with pytest.raises(error, match=message):
        Index.from_documents(how.pop("documents"), **how)


def test_ragged_vectors_are_refused_by_name():
    with pytest.raises(ValueError, match=r"Ben married.*1 dimensions; wanted 2"):
        Index.from_documents(DOCUMENTS[:2], embedder=constant([[1.0, 0.0], [1.0]]))


ASKS = {
    "budget zero": ({"budget": 0}, "budget.*at least 1.*got 0"),
    "budget negative": ({"budget": -5}, "budget.*got -5"),
    "budget a float": ({"budget": 10.0}, "budget.*got 10.0"),
    "budget a bool": ({"budget": True}, "budget.*got True"),
    "limit zero": ({"limit": 0}, "limit.*got 0"),
    "limit negative": ({"limit": -1}, "limit.*got -1"),
    "limit a float": ({"limit": 2.5}, "limit.*got 2.5"),
    "limit a bool": ({"limit": False}, "limit.*got False"),
    "recipe": ({"recipe": "delicious"}, "'delicious'; known: .*" + ".*".join(recipes.names())),
    "vector NaN": ({"vector": np.full(24, np.nan)}, "the question.*NaN"),
    "vector zero": ({"vector": np.zeros(24)}, "the question.*zeros"),
    "vector of another dimension": (
        {"vector": np.ones(3)},
        "the question.*3 dimensions; wanted 24",
    ),
}


@pytest.mark.parametrize(("how", "message"), ASKS.values(), ids=ASKS)
def test_a_bad_question_is_refused_and_the_index_goes_on(index, how, message):
    with pytest.raises(ValueError, match=message):
        index.ask("Who paints?", **how)
    assert len(index.ask("Who paints?")) > 0


@pytest.mark.parametrize("recipe", recipes.names())
def test_a_filter_that_allows_nothing_gives_nothing_and_says_so(index, recipe):
    context = index.ask("Who paints?", recipe=recipe, where={"number": 99}, limit=3)
    assert (context.ids, context.text, context.tokens) == ([], "", 0)
    assert "allows none" in str(context.to_dict()["trace"])


def test_a_graph_without_passages_gives_nothing_and_speaks_of_no_filter():
    index = clew.Index.from_graph(clew.Graph.from_triples([("Anna", "knows", "Ben")]))
    context = index.ask("Who knows Ben?")
    assert (context.items, context.trace[0].stage) == ((), "index")
    assert context.nothing_found == "there are no passages that may be read"
    assert "filter" in index.ask("Who knows Ben?", where={"year": 1}).nothing_found


@pytest.mark.parametrize("question", ["", "  \n", None, 7])
def test_a_question_is_a_text(index, question):
    with pytest.raises(ValueError, match="at least one word"):
        index.ask(question)


def test_something_that_is_no_recipe_is_refused(index):
    with pytest.raises(TypeError, match="not a int"):
        index.ask("Who?", recipe=5)


def test_unknown_ids_cannot_be_deleted_nor_all_of_them(index):
    before = answers(index)
    with pytest.raises(ValueError, match="'nine'"):
        index.delete(["d1", "nine"])
    with pytest.raises(ValueError, match="without documents"):
        index.delete([d.id for d in DOCUMENTS])
    with pytest.raises(ValueError, match="'d3'"):
        index.add([DOCUMENTS[3]])
    same(answers(index), before)


def test_documents_are_deleted_by_their_metadata(embed):
    years = {"a": [1, 2], "b": 2, "c": 3, "d": None}
    documents = [
        clew.Document(id, f"Ferry {id} sails.", {} if year is None else {"year": year})
        for id, year in years.items()
    ]
    index = clew.Index.from_documents(documents, embedder=embed)
    kept = lambda where: [one.id for one in index.delete(where=where).documents]  # noqa: E731
    assert kept({"year": 2}) == ["c", "d"]
    assert kept({"year": [1, 3]}) == ["b", "d"]
    assert kept(lambda metadata: "year" in metadata) == ["d"]
    assert index.delete(where={"year": 9}) is index
    same(answers(index.delete(where={"year": 3})), answers(index.delete("c")))
    with pytest.raises(ValueError, match="without documents"):
        index.delete(where=lambda metadata: True)
    for wrong in ({}, {"ids": "a", "where": {"year": 1}}, {"where": "year"}):
        with pytest.raises(TypeError):
            index.delete(**wrong)
    of_a_graph = clew.Index.from_graph(clew.Graph.of(["A ferry."]))
    with pytest.raises(ValueError, match="made of a graph"):
        of_a_graph.delete(where={"year": 1})
    with pytest.raises(ValueError, match="made of a graph"):
        of_a_graph.delete(of_a_graph.graph.ids)


def test_an_embedder_that_fails_half_way_leaves_the_index_as_it_was(embed):
    calls = []

    def flaky(texts):
        calls.append(texts)
        if any("The Tiber floods" in text for text in texts):
            raise RuntimeError("the service is down")
        return embed(texts)

    index = Index.from_documents(DOCUMENTS[:4], embedder=flaky)
    before = answers(index)
    with pytest.raises(RuntimeError, match="the service is down"):
        index.add(DOCUMENTS[4:])
    same(answers(index), before)
    assert len(index) == 4


@pytest.mark.parametrize("recipe", recipes.names())
def test_ask_aask_and_ask_many_answer_alike(index, recipe):
    one = [index.ask(q, recipe=recipe) for q in QUESTIONS]
    many = index.ask_many(QUESTIONS, recipe=recipe)

    async def all_at_once():
        return await asyncio.gather(*(index.aask(q, recipe=recipe) for q in QUESTIONS))

    for a, b, c in zip(one, many, asyncio.run(all_at_once()), strict=True):
        assert a.items == b.items == c.items
        assert a.text == b.text == c.text


@pytest.mark.parametrize("own", [True, False], ids=["given embedder", "default embedder"])
@settings(max_examples=settings().max_examples // 4)
@given(st.sets(st.integers(0, 7), min_size=1), SOME_RECIPES)
def test_a_filter_gives_what_an_index_of_the_allowed_alone_gives(embed, own, numbers, names):
    embedder = embed if own else None
    whole, alone = built((*range(8),), embedder), built((*sorted(numbers),), embedder)
    same(answers(whole, names, where={"number": sorted(numbers)}), answers(alone, names))
    for question in QUESTIONS:
        by_function = whole.ask(question, where=lambda metadata: metadata["number"] in numbers)
        assert by_function.items == whole.ask(question, where={"number": sorted(numbers)}).items


@pytest.mark.parametrize("own", [True, False], ids=["given embedder", "default embedder"])
@settings(max_examples=settings().max_examples // 4)
@given(st.sets(st.integers(0, 7), min_size=1))
def test_the_graph_a_filter_leaves_is_linked_as_one_of_the_allowed_alone(embed, own, numbers):
    whole, alone = (
        built((*range(8),), embed if own else None),
        built((*sorted(numbers),), embed if own else None),
    )
    left = filtered_index(whole, {"number": sorted(numbers)}).graph

    def said(graph):
        edges, facts = graph.edges, graph.facts
        ties = zip(edges.tails, edges.heads, edges.kinds, edges.weights, edges.facts, strict=True)
        return sorted(
            (graph.ids[t], graph.ids[h], k, round(float(w), 5), facts.texts[f] if f >= 0 else "")
            for t, h, k, w, f in ties
        )

    assert said(left) == said(alone.graph)
    assert sorted(left.ids) == sorted(alone.graph.ids)
    assert sorted(left.facts.texts) == sorted(alone.graph.facts.texts)


@pytest.mark.parametrize("own", [True, False], ids=["given embedder", "default embedder"])
@settings(max_examples=settings().max_examples // 4)
@given(
    st.lists(
        st.tuples(st.booleans(), st.sets(st.integers(0, 7), min_size=1, max_size=4)), max_size=4
    ),
    SOME_RECIPES,
)
@example([(True, {1, 2, 5, 6}), (False, {0, 2}), (True, {0, 3})], ALL_RECIPES)
def test_any_sequence_of_additions_and_deletions_is_the_index_built_at_once(
    embed, own, steps, names
):
    index, held = built((0,), embed if own else None), [0]
    for adds, numbers in steps:
        numbers = sorted(numbers - set(held)) if adds else sorted(numbers & set(held))
        if not numbers or (not adds and len(numbers) == len(held)):
            continue
        ids = [f"d{i}" for i in numbers]
        index = (
            index.add([DOCUMENTS[i] for i in numbers], facts=facts_of(ids))
            if adds
            else index.delete(ids)
        )
        held = held + numbers if adds else [i for i in held if i not in numbers]
    at_once = Index.from_documents(
        [DOCUMENTS[i] for i in held],
        embedder=embed if own else None,
        facts={f"d{i}": FACTS[f"d{i}"] for i in held if f"d{i}" in FACTS},
    )
    assert index.graph.ids == at_once.graph.ids
    same(answers(index, names), answers(at_once, names))


def test_documents_with_arrays_and_nan_are_the_same_until_a_value_changes():
    def document(**metadata):
        return clew.Document("sea", "The sea is salt.", metadata)

    index = clew.Index.from_documents(
        [document(depth=np.arange(3), seen=float("nan"), at=[{"x": float("nan")}])]
    )
    again = document(depth=np.arange(3), seen=float("nan"), at=[{"x": float("nan")}])
    assert index.upsert([again]) is index
    assert index.sync([again]) is index
    for other in (
        document(depth=np.arange(4), seen=float("nan"), at=[{"x": float("nan")}]),
        document(depth=np.arange(3), seen=1.0, at=[{"x": float("nan")}]),
        document(depth=np.arange(3), seen=float("nan"), at=({"x": float("nan")},)),
    ):
        (kept,) = index.sync([other]).documents
        assert kept is other


def test_the_spelling_of_what_is_forbidden_is_forbidden_too(embed):
    documents = [
        Document("secret", "ANNA is a spy.", {"open": False}),
        Document("open", "Anna paints Rome.", {"open": True}),
    ]
    facts = {"secret": [("ANNA", "is", "spy")], "open": [("Anna", "paints", "Rome")]}
    whole = Index.from_documents(documents, embedder=embed, facts=facts)
    alone = Index.from_documents(documents[1:], embedder=embed, facts={"open": facts["open"]})
    same(answers(whole, where={"open": True}), answers(alone))
    seen = []
    whole.ask(
        "Who paints?",
        recipe=Pipeline(Watch(seen.append), selects=(Top(),), order=ByPrize()),
        where={"open": True},
    )
    texts = [*seen[0].texts, *seen[0].facts.texts]
    assert not any("ANNA" in text for text in texts)


@pytest.mark.parametrize("own", [True, False], ids=["given embedder", "default embedder"])
def test_the_order_of_names_in_what_is_forbidden_decides_no_tie(embed, own):
    embedder = embed if own else None
    whole, alone = built((*range(8),), embedder), built((0, 2, 4, 6), embedder)
    same(answers(whole, where={"number": [0, 2, 4, 6]}), answers(alone))


def test_a_vector_known_by_a_title_is_not_taken_for_that_of_a_name(embed):
    """A container has no vector; an entity that is called the same, and comes later, has."""
    from clew.read import Piece

    def halves(document):
        middle = len(document.text) // 2
        return [
            Piece("passage", document.text[:middle], 0, middle),
            Piece("passage", document.text[middle:], middle, len(document.text)),
        ]

    first = Document("one", "Anna moved to Rome. She paints there.", {"title": "Rome"})
    second = Document("two", "Rome lies on the Tiber, and it floods.", {})
    facts = {"two": [("Rome", "lies on", "Tiber")]}
    added = Index.from_documents([first], embedder=embed, splitter=halves).add(
        [second], facts=facts
    )
    at_once = Index.from_documents([first, second], embedder=embed, splitter=halves, facts=facts)
    assert np.allclose(added.graph.vectors, at_once.graph.vectors)


def test_what_is_embedded_in_the_place_of_a_text_stays_so_over_a_change_and_a_filter(embed):
    said = [
        Document("a", "Anna", {"n": 0}, embedded_as="the painter of cats"),
        Document("b", "Anna paints", {"n": 1}),
        Document("c", "Ben", {"n": 2}),
    ]
    at_once = Index.from_documents(said, embedder=embed)
    assert np.allclose(
        Index.from_documents(said[:1], embedder=embed).add(said[1:]).graph.vectors,
        at_once.graph.vectors,
    )
    for embedder in (embed, None):
        whole, alone = (
            Index.from_documents(said, embedder=embedder),
            Index.from_documents(said[:2], embedder=embedder),
        )
        same(answers(whole, where={"n": [0, 1]}), answers(alone))


@dataclass(frozen=True)
class Watch:
    """A seed that shows what it was given."""

    see: object = None

    def on(self, graph):
        def touch(query):
            if self.see:
                self.see(graph)
                self.see(query)
            return Seeds(np.ones(len(graph)))

        return touch


def test_deadline_model_and_limit_reach_the_method(index):
    seen = []
    method = Pipeline(Watch(seen.append), selects=(Top(),), order=ByPrize())
    model = object()
    index.ask("Who paints?", recipe=method, deadline=0.25, model=model, limit=3)
    query = seen[1]
    assert (query.text, query.deadline, query.model, query.limit) == ("Who paints?", 0.25, model, 3)
    assert query.vector.shape == (24,)
    assert np.allclose(query.embed(["Who paints?"])[0], query.vector)


@pytest.mark.parametrize("deadline", [-1, 0, float("nan"), True, "soon"])
def test_a_deadline_is_a_positive_number_of_seconds(index, deadline):
    with pytest.raises(ValueError, match="deadline"):
        index.ask("Who paints?", deadline=deadline)


@pytest.mark.parametrize("recipe", recipes.names())
def test_the_callers_objects_come_back_untouched(embed, recipe):
    metadata = {"title": "Anna", "tags": ["a", "b"], "page": 3}
    documents, facts = (
        [Document("x", "Anna paints.", metadata), Document("y", "Ben sleeps.")],
        {"x": [("Anna", "paints", "cats")]},
    )
    before = copy.deepcopy((metadata, facts))
    index = Index.from_documents(documents, embedder=embed, facts=facts)
    context = index.ask(
        "Who paints?", recipe=recipe, where=lambda metadata: metadata.get("page", 3) == 3
    )
    item = next(item for item in context if item.id == "x")
    assert item.metadata is metadata
    _ = index.add([Document("z", "Cleo sings.")], facts={"z": [("Cleo", "sings", "songs")]}).delete(
        ["y"]
    )
    assert (metadata, facts) == before
    assert len(index) == 2


def test_narrow_reads_the_candidates_alone_and_keeps_their_scores(embed):
    candidates = [(DOCUMENTS[3], 4.0), (DOCUMENTS[0], 2.0), (DOCUMENTS[4], 0.0)]
    context = clew.index.narrow("Who paints?", candidates, recipe="dense", embedder=embed)
    assert context.ids == ["d3", "d0"]
    assert [item.score for item in context] == [1.0, 0.5]
    ranked = clew.index.narrow(
        "Who paints?", [document for document, _ in candidates], recipe="dense", embedder=embed
    )
    assert [(item.id, item.score) for item in ranked] == [
        ("d3", 1.0),
        ("d0", pytest.approx(2 / 3)),
        ("d4", pytest.approx(1 / 3)),
    ]


@pytest.mark.parametrize("recipe", recipes.names())
def test_narrow_keeps_budget_and_limit_for_every_recipe(embed, recipe):
    assert (
        len(
            clew.index.narrow(
                "Who paints?", DOCUMENTS, recipe=recipe, embedder=embed, limit=3, facts=FACTS
            )
        )
        == 3
    )
    assert (
        clew.index.narrow(
            "Who paints?", DOCUMENTS, recipe=recipe, embedder=embed, budget=40, count=len
        ).tokens
        <= 40
    )


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([], "no candidates"),
        ([(DOCUMENTS[0], float("nan"))], "finite"),
        ([(DOCUMENTS[0], "high")], "high"),
        ([DOCUMENTS[0], replace(DOCUMENTS[1], id=DOCUMENTS[0].id)], "'d0'"),
    ],
)
def test_bad_candidates_are_refused(embed, candidates, message):
    with pytest.raises(ValueError, match=message):
        clew.index.narrow("Who paints?", candidates, embedder=embed)


def test_equal_filters_are_answered_by_one_index_and_other_graphs_by_their_own(index):
    assert (
        index.ask("Who paints?", where={"even": True}).ids
        == index.ask("Who paints?", where=lambda m: m["even"]).ids
    )
    smaller = index.delete(["d0"])
    assert "d0" not in smaller.ask("Where did Anna move?", where={"even": True}).ids


class Meanwhile:
    """Does something while it is pickled, as another thread may."""

    do = None

    def __reduce__(self):
        if self.do is not None:
            self.do()
        return Meanwhile, ()


def test_an_index_is_pickled_while_questions_are_asked():
    """What questions add to an index and to its embedder is not pickled."""
    meanwhile = Meanwhile()
    index = Index.from_documents(
        [*DOCUMENTS, Document("m", "Anna swims.", {"meanwhile": meanwhile})]
    )
    filter_by = {"number": 1, "even": False}
    meanwhile.do = lambda: (index.ask(QUESTIONS[0], where=filter_by), index.document_of)
    other = pickle.loads(pickle.dumps(index))
    assert other.ask(QUESTIONS[0]).ids == index.ask(QUESTIONS[0]).ids
    assert set(vars(pickle.loads(pickle.dumps(index)))) < set(vars(index))
    static = index.embedder.fitted
    assert set(vars(pickle.loads(pickle.dumps(static)))) < set(vars(static))


def test_a_graph_of_an_index_can_be_pickled(index):
    other = pickle.loads(pickle.dumps(index.graph))
    assert other.ids == index.graph.ids


def test_a_selector_that_leaves_the_budget_to_the_page_still_fills_it(embed):
    """It passes all on, the page is far too long, and what room is left then holds nothing: the best of what it passed on is printed."""
    index = Index.from_documents(
        [f"Anna met Ben for the {i}th time in Rome." for i in range(60)], embedder=embed
    )
    method = clew.Pipeline(
        clew.seed.Dense(), selects=(clew.select.Bridges(),), order=clew.order.ByPrize()
    )
    context = index.ask("When did Anna meet Ben?", recipe=method, budget=100)
    assert context.tokens <= 100
    assert context.tokens >= 90, "no room is left for another"
    assert any("over the budget" in dropped.reason for dropped in context.dropped)


class DataFrame(list):
    """A table, in which Python sees the names of columns, as it does in one of pandas."""

    columns = property(list)
    iterrows = enumerate


TABLE = DataFrame(["text", "year"])


@dataclass(frozen=True)
class Returning:
    """A link or generator that returns the wrong thing."""

    result: object
    kind = "returned"
    corpus_wide = False

    def on(self, graph):
        return self.result


@pytest.mark.parametrize(("given", "said"), [
    (lambda: Index.from_documents([Document(1, "Anna")]), "the id of a document is a text; got 1 of the type int"),
    (lambda: Index.from_documents([Document("a", "Anna", "meta")]), "the metadata of a document is a mapping"),
    (lambda: Index.from_documents(["Anna"], facts=[("Anna", "met", "Ben")]), "facts are triples by document id"),
    (lambda: Index.from_documents(["Anna"], splitter=object()), "a splitter is `clew.Splitter()`"),
    (lambda: Index.from_documents(["Anna"]).ask_many("Anna?"), "several questions"),
    (lambda: clew.index.narrow("Anna?", "Anna met Ben."), "candidates are a list"),
    (lambda: clew.index.narrow("Anna?", {"Anna met Ben.": 0.5}), "pairs with a score each; got a dict"),
    (lambda: clew.index.narrow("Anna?", TABLE), "pairs with a score each; got a DataFrame"),
    (lambda: Index.from_documents(["Anna"]).ask("Anna?", options={}), "options is a clew.QueryOptions; got a dict"),
    (lambda: clew.index.narrow("Anna?", ["Anna."], options={"budget": 9}), "options is a clew.QueryOptions; got a dict"),
    (lambda: Index.from_documents(["Anna"], config={"count": len}), "config is a clew.IndexConfig; got a dict"),
    (lambda: Index.from_documents(TABLE), "got a DataFrame: make a clew.Document of each row"),
    (lambda: Index.from_documents(["Anna"]).add(TABLE), "got a DataFrame: make a clew.Document of each row"),
    (lambda: Index.from_documents(["Anna"], links=None), "links are a list, such as [clew.link.Next()]; got None"),
    (lambda: Index.from_documents(["Anna"], links=clew.link.Next()), "links are a list, such as [clew.link.Next()]; got Next()"),
    (lambda: Index.from_documents(["Anna"], links=[clew.link.Next]), "links are values with on(graph), such as clew.link.Next(); got <class"),
    (lambda: Index.from_documents(["Anna"], generators=[clew.generate.Reports]), "generators are values with on(graph)"),
    (lambda: Index.from_documents(["Anna"]).generate(clew.generate.Reports), "got <class 'clew.generate.reports.Reports'>"),
    (lambda: Index.from_documents(["Anna"]).generate(Returning(["Anna"])), "Returning returned a list"),
    (lambda: Index.from_documents(["Anna"], links=[Returning(None)]), "Returning returned a NoneType"),
])  # fmt: skip
def test_what_is_of_another_type_is_said_at_once(given, said):
    with pytest.raises(TypeError, match=re.escape(said)):
        given()


def test_a_text_that_comes_again_without_an_id_is_left_out_and_one_with_an_id_is_refused():
    index = Index.from_documents(["Anna met Ben.", "Cleo.", "Anna met Ben."])
    assert [document.text for document in index.documents] == ["Anna met Ben.", "Cleo."]
    assert [reason for _, reason in index.skipped] == ["this text came already"]
    assert index.add(["Cleo."]).graph.ids == index.graph.ids
    with pytest.raises(ValueError, match="an id of its own"):
        Index.from_documents([Document("a", "Anna"), Document("a", "Anna")])


def test_candidates_that_come_again_count_once_with_their_best_score():
    context = clew.index.narrow(
        "Who met Ben?", [("Anna met Ben.", 0.2), ("Cleo met Dan.", 0.4), ("Anna met Ben.", 0.5)]
    )
    assert [item.text for item in context] == ["Anna met Ben.", "Cleo met Dan."]
    assert [(one.id, one.reason[-12:]) for one in context.dropped] == [
        ("candidate 3", "came already")
    ]
    assert (
        len(
            clew.index.narrow(
                "Who met Ben?", [Document("a", "Anna met Ben."), Document("a", "Anna met Ben.")]
            )
        )
        == 1
    )


def test_an_embedder_that_has_no_vector_for_the_question_is_named():
    class Silent:
        def embed_documents(self, texts):
            return [[1.0, float(len(text))] for text in texts]

        def embed_query(self, text):
            return None

        async def aembed_query(self, text):
            return None

    index = Index.from_documents(["Anna met Ben.", "Cleo."], embedder=Silent())
    with pytest.raises(TypeError, match="Silent returned None for the question"):
        index.ask("Who met Ben?")
    with pytest.raises(TypeError, match="Silent returned None for the question"):
        asyncio.run(index.aask("Who met Ben?"))
