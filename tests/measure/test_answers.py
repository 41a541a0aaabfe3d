"""Exact match and F1 of a model's answers: by definition, in any script, and as figures of a comparison."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.cli import main
from clew.measure import Benchmark, BenchmarkQuestion, compare
from clew.measure.answers import answer_figures, exact_match, f1, lenient_match, normalised
from clew.model import Model


@pytest.mark.parametrize(
    ("answer", "right", "exact", "overlap"),
    [
        ("The Eiffel Tower!", "eiffel tower", 1, 1),
        ("in Paris, France", "Paris", 0, 0.5),
        ("Θεσσαλονίκη.", "θεσσαλονίκη", 1, 1),
        ("北京", "北京。", 1, 1),
        ("no", "yes", 0, 0),
        ("the", "a", 1, 1),
        ("the", "yes", 0, 0),
        ("to be or not to be", "to be", 0, 0.5),
    ],
)
def test_exact_match_and_f1_by_hand(answer, right, exact, overlap):
    assert exact_match(answer, right) == exact
    assert f1(answer, right) == pytest.approx(overlap)


@pytest.mark.parametrize(
    ("answer", "right", "lenient"),
    [
        ("It is on Corfu.", "corfu", 1),
        ("Corfu", "the island of Cor fu", 1),
        ("Paxos", "Corfu", 0),
        ("Corfu!", "Corfu?", 0),  # punctuation stays, as in the script of ToG-2
        ("", "Corfu", 0),
    ],
)
def test_lenient_exact_match_by_hand(answer, right, lenient):
    assert lenient_match(answer, right) == lenient


@given(st.text(), st.text())
def test_f1_is_symmetric_and_one_exactly_where_the_words_are_the_same(one, other):
    assert f1(one, other) == f1(other, one)
    assert 0 <= f1(one, other) <= 1
    assert (f1(one, other) == 1) == (
        sorted(normalised(one).split()) == sorted(normalised(other).split())
    )


def test_as_figures_of_a_comparison_the_model_is_asked_once_for_each_context():
    texts = {"a": "Anna lives on Corfu.", "b": "Ben lives in Berlin.", "c": "Cats sleep."}
    documents = tuple(clew.Document(id, text) for id, text in texts.items())
    asked = (
        BenchmarkQuestion(
            "1", "Where does Anna live?", ("a",), {"answer": "Corfu", "answer_aliases": ["Kerkyra"]}
        ),
        BenchmarkQuestion("2", "Where does Ben live?", ("b",), {"answer": "Munich"}),
    )
    prompts = []

    def model(prompt):
        prompts.append(prompt)
        return "Kerkyra" if "Anna live?" in prompt else "in Berlin"

    found = compare(
        Benchmark("two", documents, asked, {}),
        ["dense"],
        ks=(),
        budgets=(20,),
        figures=answer_figures(model),
    )
    assert found.mean("dense", "EM@20 tokens") == 0.5
    assert found.mean("dense", "lenient EM@20 tokens") == 0.5
    assert found.mean("dense", "F1@20 tokens") == 0.5
    assert len(prompts) == 2


def test_a_model_that_remembers_goes_on_doing_so_where_it_does(tmp_path):
    prompts = []
    model = Model.of(lambda prompt: prompts.append(prompt) or "Corfu", answers=tmp_path / "answers")
    context = clew.Index.from_documents(["Anna lives on Corfu."]).ask("Where?")
    for _ in range(2):
        figures = answer_figures(Model.of(model, answers=tmp_path / "answers"))
        assert (
            figures["EM"](context, BenchmarkQuestion("1", "Where?", ("0",), {"answer": "Corfu"}))
            == 1
        )
    assert (
        answer_figures(model)["EM"](
            context, BenchmarkQuestion("1", "Where?", ("0",), {"answer": "Corfu"})
        )
        == 1
    )
    assert len(prompts) == 1


def test_a_question_without_an_answer_and_a_model_that_fails_are_said():
    context = clew.Index.from_documents(["Anna lives on Corfu."]).ask("Where?")
    with pytest.raises(ValueError, match=r"'1' has no answer in queries\.jsonl"):
        answer_figures(str.upper)["EM"](context, BenchmarkQuestion("1", "Where?", ("0",)))

    def down(prompt):
        raise OSError("no route")

    with pytest.raises(RuntimeError, match=r"no answer to the question '1'.*no route"):
        answer_figures(down)["F1"](
            context, BenchmarkQuestion("1", "Where?", ("0",), {"answer": "Corfu"})
        )


def test_the_command_takes_a_model(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = {
        "corpus.jsonl": [
            {"id": "a", "title": "", "text": "Anna lives on Corfu."},
            {"id": "b", "title": "", "text": "Ben lives in Berlin."},
        ],
        "queries.jsonl": [
            {"id": "1", "question": "Where does Anna live?", "gold_ids": ["a"], "answer": "Corfu"}
        ],
    }
    for name, records in lines.items():
        (tmp_path / name).write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    (tmp_path / "oracle.py").write_text(
        "def says(prompt):\n    return 'on Corfu'\n", encoding="utf-8"
    )
    assert (
        main(
            [
                "measure",
                ".",
                "--recipes",
                "dense",
                "--limits",
                "1",
                "--budgets",
                "30",
                "--model",
                "oracle:says",
                "--json",
            ]
        )
        == 0
    )
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert "F1@30 tokens" in json.dumps(tables)
    assert "0.66" in json.dumps(tables)
