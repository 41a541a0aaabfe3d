"""Candidates: their scores, and where they lead."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from langchain_core.documents import Document as LangChainDocument

import clew
from clew.adapters import CANDIDATES, QueryOptions, ask_candidates
from clew.embedding.general import GeneralEmbedding
from clew.index import narrowing
from clew.index.leads import names_to_follow
from clew.read.split import whole

MIXED = clew.Pipeline(clew.seed.Blend(), selects=(clew.select.Top(),), order=clew.order.ByPrize())
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


@pytest.mark.parametrize("how", [{"recipe": "dense"}, {"recipe": "mmr"}, {"extractor": None}, {}])
def test_an_embedder_says_how_near_candidates_are_where_names_are_read_in_them(how):
    """Elsewhere those without scores count by the order in which they came."""
    embedder = clew.Embedder.of(
        lambda texts: [[1.0, text.count("s") / len(text)] for text in texts]
    )
    question, candidates = "s" * 9 + "?", ["Ann eats.", "Ben stresses.", "Cleo misses sessions."]
    found = clew.narrow(question, candidates, embedder=embedder, limit=3, **how)
    scores = {item.text: item.score for item in found if item.kind == "passage"}
    by_score = sorted(scores, key=scores.get, reverse=True)
    assert by_score == (candidates if how else candidates[::-1])


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

    def spy(index, *arguments, **options):
        graphs.append(weakref.ref(index.graph))
        return answer(index, *arguments, **options)

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


def test_the_vectors_of_candidates_that_have_scores_are_not_made(monkeypatch):
    """But where something compares them: a recipe, or the relevance of what came without a score."""
    texts = ["Anna Bell\nShe married Ben Okri.", "Ben Okri\nHe lives on Corfu.", *TEXTS]
    scored = [(text, 1 - i / 10) for i, text in enumerate(texts)]
    made, embed = set(), GeneralEmbedding.__call__
    monkeypatch.setattr(
        GeneralEmbedding,
        "__call__",
        lambda own, texts: (made.update(listed := list(texts)), embed(own, listed))[1],
    )
    question = "Where does the husband of Anna Bell live?"
    clew.narrow(question, scored)
    assert {question, "Anna Bell She married Ben Okri"} <= made
    assert not made & set(texts)
    clew.narrow(question, texts)
    assert made >= set(texts)
    made.clear()
    clew.narrow(question, scored, recipe="da_rag")
    assert made & set(texts)


def pieces(suffix, texts):
    """Pieces of files, as a framework has them, each with its score."""
    return [
        (LangChainDocument(text, id=f"{i}", metadata={"source": f"boat/{i}.{suffix}"}), 1 - i / 10)
        for i, text in enumerate(texts)
    ]


FUNCTIONS = [
    f'def {name}(path):\n    """Open the {part} of a boat."""\n    return {called}(path)\n'
    for name, part, called in (
        ("cut", "sails", "moor"),
        ("moor", "ropes", "tie"),
        ("tie", "knots", "cut"),
        ("row", "oars", "cut"),
    )
]
NOTES = ["The sails of a boat.", "Ropes that moor.", "Knots to tie.", "The oars of a boat."]


def test_candidates_of_code_are_joined_only_by_symbols_that_a_question_names():
    candidates = pieces("py", FUNCTIONS)
    asked = clew.narrow("Where is the function row defined?", candidates)
    assert asked.trace[0].notes["facts about symbols"] == 1
    assert max(asked, key=lambda item: item.score).id == "3"  # the lowest score came with it
    question = "Where are the oars of a boat?"
    found, alone, joined = (
        clew.narrow(question, candidates, **how)
        for how in ({}, {"extractor": None}, {"extractor": clew.Symbols()})
    )
    scores = [[(i.id, i.score) for i in context] for context in (found, alone, joined)]
    assert scores[0] == scores[1] != scores[2]


@pytest.mark.parametrize(("suffix", "weight"), [("txt", 1), ("rs", 3), ("PY", 3), ("md", 1)])
def test_vectors_count_thrice_beside_words_where_candidates_are_code(suffix, weight):
    """By definition: standard scores of both, vectors with so many shares of words' one."""
    question = "oars of a boat"
    candidates = pieces(suffix, NOTES)
    by_words = dict.fromkeys("0123", 0.0) | {
        item.id: item.score
        for item in clew.narrow(question, candidates, recipe="bm25", min_relevance=0)
    }
    words = np.array([by_words[id] for id in "0123"])
    near = np.array([score for _, score in candidates])
    words, near = words / words.max(), near / near.max()
    mixed = weight * near / near.std() + words / words.std()
    found = clew.narrow(question, candidates, recipe=MIXED, min_relevance=0)
    assert len(found) == 4
    scores = np.array([next(i.score for i in found if i.id == id) for id in "0123"])
    assert scores / scores.max() == pytest.approx(mixed / mixed.max())
