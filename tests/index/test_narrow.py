"""Candidates: their scores, and where they lead."""

from __future__ import annotations

import gc
import weakref

import pytest

import clew
from clew.adapters import CANDIDATES, QueryOptions, ask_candidates
from clew.index import narrowing
from clew.index.leads import names_to_follow
from clew.read.split import whole

TEXTS = ["The ferry sails at nine.", "Nobody sails.", "Ben likes tea."]


@pytest.mark.parametrize(
    ("scores", "shares"),
    [
        ([0.8, 0.6, 0.2], [1, 0.75, 0.25]),
        ([0, -1, -4], [1, 5 / 6, 1 / 3]),  # logits: 1 / 3 for the lowest, and the same distances
        ([0.8, 0.5, -0.1], [1, 7 / 9, 1 / 3]),
        ([-2, -2, -2], [1, 1, 1]),
        ([0, 0, 0], [1, 1, 1]),
        (None, [1, 2 / 3, 1 / 3]),  # ranks
    ],
)
def test_scores_of_candidates_count_from_the_best(scores, shares):
    candidates = TEXTS if scores is None else list(zip(TEXTS, scores, strict=True))
    found = clew.narrow("When does it sail?", candidates, recipe="dense", limit=3)
    assert [item.score for item in found] == pytest.approx(shares)


def test_programs_lead_to_no_names():
    text = "Anna Bell\nShe married Ben Okri in 1990."
    prose = [clew.Document(str(i), text) for i in range(2)]
    code = [
        clew.Document(f"c{i}", "class Ferry:\n    def sail(self): ...", format="python")
        for i in range(3)
    ]
    asked = "Where does the husband of Anna Bell live?"
    assert names_to_follow(asked, [*prose, *code[:2]])[0] == "Ben Okri"
    assert names_to_follow(asked, [*prose, *code]) == ()


def test_the_links_of_a_candidate_are_looked_for_once_in_each_format(monkeypatch):
    text = "See [the tides](tides.md), which narrow reads."
    documents = [clew.Document("a", text, format=format) for format in ("markdown", "python")]
    looked = []
    find = whole.find_links
    monkeypatch.setattr(whole, "find_links", lambda *one: (looked.append(one), find(*one))[1])
    whole.LINKS.clear()
    for _ in range(2):
        [linked], [program] = map(clew.read.keep_whole, documents)
        assert (linked.references, program.references) == (("tides.md",), ())
    assert looked == [(text, "markdown"), (text, "python")]


def test_candidates_that_are_asked_again_answer_as_if_they_came_anew():
    people = ["Anna Bell", "Ben Okri", "Cleo Hart", "Dan Ek"]
    texts = [
        f"{people[i % 4]}\n{people[i % 4]} met {people[i * 3 % 4]} in year {i} at sea."
        for i in range(12)
    ]
    question = "Whom did Anna Bell meet?"
    ask = ask_candidates(question, texts, CANDIDATES)
    for options in (
        QueryOptions("hipporag", budget=60),
        QueryOptions("hipporag", budget=30),
        QueryOptions("fused", limit=3),
        QueryOptions("hipporag", limit=5),
    ):
        again, anew = ask(options), clew.narrow(question, texts, options=options)
        assert [(item.id, item.score) for item in again] == [(item.id, item.score) for item in anew]
        assert again.text == anew.text


def test_facts_of_candidates_may_be_lists():
    texts = [clew.Document("a", "They met."), clew.Document("b", "He sails.")]
    facts = {
        "a": [["Anna Bell", "met", "Ben Okri"]],
        "b": [("Ben Okri", "sails", "the sea"), [" ", "", "x"]],
    }
    for _ in range(2):
        found = clew.narrow("Whom did Anna Bell meet?", texts, facts=facts, recipe="agrag")
        assert "Anna Bell met Ben Okri" in found.text


@pytest.mark.parametrize("recipe", ["hipporag", "agrag", "da_rag", "dense"])
def test_what_is_made_of_candidates_goes_with_the_context(recipe, monkeypatch):
    graphs, answer = [], narrowing.answer

    def spy(index, *arguments):
        graphs.append(weakref.ref(index.graph))
        return answer(index, *arguments)

    monkeypatch.setattr(narrowing, "answer", spy)
    texts = ["Anna Bell married Ben Okri.", "Ben Okri lives on Corfu.", *TEXTS]
    gc.collect()
    gc.disable()  # so that nobody looks for what holds itself
    try:
        found = clew.narrow("Where does the husband of Anna Bell live?", texts, recipe=recipe)
        assert [item.why for item in found]
        assert [graph() is None for graph in graphs] == [False]
        del found
        assert [graph() is None for graph in graphs] == [True]
    finally:
        gc.enable()
