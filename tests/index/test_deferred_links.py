"""When edges between similar passages are made changes nothing but when: answers, files and changes are the same."""

from __future__ import annotations

import pickle
import secrets
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import clew
from clew import Document, Index, recipes
from clew.index.config import DEFAULT_LINKS
from clew.link import Similar
from tests.conftest import hashed_words
from tests.graph.test_deferred_edges import check_alike

HARBOUR = Path(__file__).parents[2] / "examples" / "harbour"
QUESTIONS = (
    "When does the first ferry leave, and who decides it?",
    "What is the relation between the harbour office and the museum?",
    "Give an overview of the main themes.",
)
LINKED = {"extractor": clew.Names(), "embedder": hashed_words}
VARIANTS = {
    "as it comes": {},
    "facts": LINKED,
    "a caller's links": {**LINKED, "links": (Similar(k=2), *DEFAULT_LINKS[::-1])},
    "reports": {**LINKED, "generators": [clew.generate.Reports()]},
}


@pytest.fixture
def at_once(monkeypatch):
    """Return the index that makes all edges when it is built."""

    def make(documents, **keywords):
        with monkeypatch.context() as patch:
            patch.setattr(Similar, "deferred", False)
            return Index.from_documents(documents, **keywords)

    return make


@pytest.fixture
def makings(monkeypatch):
    """The graphs that links between similar passages were made of."""
    graphs, on = [], Similar.on

    def make(link, graph):
        graphs.append(graph)
        return on(link, graph)

    monkeypatch.setattr(Similar, "on", make)
    return graphs


def is_made(index):
    return getattr(index.graph.edges, "is_made", True)


def told(context):
    """All that a context says but the seconds."""
    items = [(item.id, item.score, item.role, item.text, item.why) for item in context.items]
    steps = [(step.stage, dict(step.notes)) for step in context.trace]
    rest = context.text, context.tokens, context.value, context.missing, context.dropped
    return items, context.edges, steps, rest


@pytest.fixture(scope="module")
def known_by_variant():
    """The indexes that make all edges when they are built."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Similar, "deferred", False)
        return {name: Index.from_documents(HARBOUR, **how) for name, how in VARIANTS.items()}


# One of each way to the edges: trees and PageRank over all of them, communities, and reports.
FOLLOWERS = ("agrag", "budgeted", "kurisu", "da_rag", "router")


@pytest.mark.parametrize(
    ("recipe", "variant"),
    [(recipe, "facts") for recipe in recipes.names()]
    + [(recipe, variant) for variant in VARIANTS if variant != "facts" for recipe in FOLLOWERS],
)
def test_every_recipe_answers_the_same_to_the_bit(recipe, variant, known_by_variant):
    known, index = known_by_variant[variant], Index.from_documents(HARBOUR, **VARIANTS[variant])
    assert is_made(known)
    assert is_made(index) == ("generators" in VARIANTS[variant])  # reports are made of edges
    for question in QUESTIONS:
        for keywords in ({"budget": 300}, {"limit": 4}):
            asked = [each.ask(question, recipe=recipe, **keywords) for each in (index, known)]
            assert asked[0].items
            assert repr(told(asked[0])) == repr(told(asked[1]))


# What these are asked for does not follow links between similar passages, or no links.
NONE_MADE = (
    *("dense", "bm25", "fused", "mmr", "hipporag", "baseline", "lightweight", "hipporag2_paper"),
)


@pytest.mark.parametrize("facts", [None, clew.Names()])
@pytest.mark.parametrize("recipe", [None, *NONE_MADE])
def test_who_follows_no_such_edges_makes_none(recipe, facts, makings):
    index = Index.from_documents(HARBOUR, extractor=facts)
    for question in QUESTIONS:
        context = index.ask(question, **({} if recipe is None else {"recipe": recipe}))
        assert context.items
        assert context.text
    assert not makings
    assert not is_made(index)
    assert index.graph.links().targets.size
    assert len(makings) == 1
    index.ask(QUESTIONS[0], recipe="agrag")
    len(index.graph.edges)
    assert len(makings) == 1


def test_the_shortlist_of_a_retriever_needs_none(makings):
    texts = [path.read_text(encoding="utf-8")[:400] for path in sorted(HARBOUR.rglob("*.md"))]
    assert clew.narrow(QUESTIONS[0], texts, recipe="hipporag").items
    assert not makings
    assert clew.narrow(QUESTIONS[0], texts, recipe="budgeted").items
    assert len(makings) == 1


def files_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("variant", VARIANTS)
def test_saved_files_are_the_same_to_the_byte(variant, at_once, tmp_path, monkeypatch):
    monkeypatch.setattr(secrets, "token_hex", lambda _: "0" * 16)
    known, index = (make(HARBOUR, **VARIANTS[variant]) for make in (at_once, Index.from_documents))
    index.save(tmp_path / "late")
    known.save(tmp_path / "early")
    late, early = files_of(tmp_path / "late"), files_of(tmp_path / "early")
    assert late.keys() == early.keys()
    assert {name for name in late if late[name] != early[name]} == set()


NEW = Document("new", "Nadia Roth keeps the lighthouse. The first ferry leaves at six in winter.")
CHANGES = {
    "add": lambda index: index.add([NEW]),
    "delete": lambda index: index.delete("guide.md"),
    "upsert": lambda index: index.upsert([Document("guide.md", "# Guide\n\nNo ferry leaves.")]),
    "sync": lambda index: index.sync([NEW, *index.documents[:5]]),
    "filter": lambda index: index.filtered(lambda metadata: "html" not in str(metadata)),
    "compact": lambda index: index.compact(),
    "generate": lambda index: index.generate(clew.generate.Reports()),
    "learn": lambda index: index.learn(index.ask(QUESTIONS[0], recipe="kurisu")),
    "copy": lambda index: replace(index, graph=replace(index.graph)),
    "pickle": lambda index: replace(index, graph=pickle.loads(pickle.dumps(index.graph))),
}


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_before_and_after_they_are_made(change, in_place, at_once, monkeypatch):
    if in_place:
        monkeypatch.setattr("clew.index.in_place.MIN_PASSAGES", 1)
        monkeypatch.setattr("clew.index.in_place.MAX_CHANGED", 1.0)
    known, late, made = (
        make(HARBOUR, **LINKED) for make in (at_once, Index.from_documents, Index.from_documents)
    )
    assert len(made.graph.edges)
    assert not is_made(late)
    known, late, made = map(CHANGES[change], (known, late, made))
    for index in (late, made):
        assert index.graph.ids == known.graph.ids
        check_alike(index.graph.edges, known.graph.edges)


class Held:
    """Holds whoever makes the edges, until it may go on."""

    def __init__(self, monkeypatch, error=None):
        self.begun, self.go_on, self.times, on = threading.Event(), threading.Event(), 0, Similar.on

        def make(link, graph):
            self.times += 1
            self.begun.set()
            if error is not None and self.times == 1:
                raise error
            assert self.go_on.wait(60)
            return on(link, graph)

        monkeypatch.setattr(Similar, "on", make)


def test_many_questions_at_once_make_them_once(at_once, monkeypatch):
    known, index = (make(HARBOUR, **LINKED) for make in (at_once, Index.from_documents))
    wanted = ("agrag", "budgeted", "kurisu", "hipporag", "agentic", "router")
    held, found = Held(monkeypatch), {}

    def ask(recipe):
        found[recipe] = index.ask(QUESTIONS[0], recipe=recipe).ids

    threads = [threading.Thread(target=ask, args=(recipe,)) for recipe in wanted]
    for thread in threads:
        thread.start()
    assert held.begun.wait(60)
    held.go_on.set()
    for thread in threads:
        thread.join(60)
    assert found == {recipe: known.ask(QUESTIONS[0], recipe=recipe).ids for recipe in wanted}
    assert held.times == 1


def test_a_deadline_passes_and_the_next_question_has_them(at_once, monkeypatch):
    known, index = (make(HARBOUR, **LINKED) for make in (at_once, Index.from_documents))
    index.ask(QUESTIONS[0], recipe="dense")
    held = Held(monkeypatch)
    hasty = index.ask(QUESTIONS[0], recipe="agrag", deadline=1.0)
    assert "the deadline passed" in str([step.notes for step in hasty.trace])
    assert hasty.items
    assert held.begun.wait(60)
    assert not is_made(index)
    held.go_on.set()
    assert (
        index.ask(QUESTIONS[0], recipe="agrag").ids == known.ask(QUESTIONS[0], recipe="agrag").ids
    )
    assert held.times == 1


def test_an_interrupted_question_leaves_the_index_as_it_was(at_once, monkeypatch, tmp_path):
    known, index = (make(HARBOUR, **LINKED) for make in (at_once, Index.from_documents))
    held = Held(monkeypatch, KeyboardInterrupt())
    held.go_on.set()
    with pytest.raises(KeyboardInterrupt):
        index.ask(QUESTIONS[0], recipe="agrag")
    assert not is_made(index)
    assert index.ask(QUESTIONS[0]).ids == known.ask(QUESTIONS[0]).ids
    assert held.times == 1
    assert (
        index.ask(QUESTIONS[0], recipe="agrag").ids == known.ask(QUESTIONS[0], recipe="agrag").ids
    )
    assert held.times == 2


def test_an_interrupted_save_saves_nothing(monkeypatch, tmp_path):
    index, held = Index.from_documents(HARBOUR), Held(monkeypatch, KeyboardInterrupt())
    held.go_on.set()
    with pytest.raises(KeyboardInterrupt):
        index.save(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()
    index.save(tmp_path / "saved")
    check_alike(Index.load(tmp_path / "saved").graph.edges, index.graph.edges)


def test_an_index_keeps_no_more_once_they_are_made(at_once):
    texts = [f"Ferry {i} sails at {i % 24} to the island {i % 17}." for i in range(2000)]
    known, index = (make(texts, extractor=None) for make in (at_once, Index.from_documents))
    for each in (known, index):
        each.graph.links()
        each.ask(
            "Which ferry sails to the island?", recipe="dense"
        )  # by what the edges needed, too
    assert abs(index.graph.kept_bytes - known.graph.kept_bytes) < 50_000


@pytest.mark.parametrize("wrong", [{"k": "five"}, {"min_similarity": "low"}])
def test_what_is_no_number_is_an_error_when_the_index_is_built(wrong):
    with pytest.raises(TypeError):
        Index.from_documents(["Anna met Ben.", "Ben lives on Corfu."], links=[Similar(**wrong)])
