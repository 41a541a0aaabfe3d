"""Questions by a model, answers that a model judges, and what both cost: counted by models that count themselves."""

from __future__ import annotations

import json
import re

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from llama_index.core.llms import MockLLM

import clew
from clew.cli import main
from clew.graph import Graph
from clew.measure import (
    ModelMeter,
    generate_questions,
    judge_recipes,
    read_questions,
    write_questions,
)
from clew.measure.judge import CRITERIA, OVERALL
from clew.measure.questions import AskedQuestion, even_passages
from clew.text.estimate import estimate_tokens


class Scholar:
    """A model that names users, asks, reports, answers and judges; it keeps what it was asked."""

    def __init__(self, silent=()):
        self.prompts, self.answers, self.silent = [], [], silent

    def __call__(self, prompt):
        self.prompts.append(prompt)
        self.answers.append(self.answer(prompt))
        return self.answers[-1]

    def answer(self, prompt):
        if "at even distances" in prompt:
            users = [
                {"user": f"user {u}", "tasks": [f"task {u}{t}" for t in range(5)]} for u in range(5)
            ]
            return json.dumps({"description": "Ferries and ports.", "users": users})
        if "A task:" in prompt:
            task = re.search(r"A task: (.*)", prompt)[1]
            number = int(re.search(r"Ask (\d+) different", prompt)[1])
            if task in self.silent:
                return "I would rather not."
            return json.dumps({"questions": [f"Question {i} for {task}?" for i in range(number)]})
        if "Answer 1:" in prompt:  # the longer answer wins
            first, second = re.search(
                r"Answer 1:\n(.*)\n\nAnswer 2:\n(.*)\n\nReply", prompt, re.DOTALL
            ).groups()
            return json.dumps(
                dict.fromkeys([*CRITERIA, OVERALL], 1 if len(first) > len(second) else 2)
            )
        if "Below is a group" in prompt:
            return json.dumps({"score": 50, "report": "Ferries sail."})
        return "An answer from a report." if "Ferries sail." in prompt else "An answer."


def test_a_hundred_and_twenty_five_questions_are_asked_in_twenty_six_calls_for_every_task_alike(
    tmp_path,
):
    model, graph = Scholar(), Graph.of([f"Passage {i} on ferries." for i in range(500)])
    found = generate_questions(model, graph, prompt_tokens=200, workers=1)
    assert len({one.question for one in found.questions}) == len(found.questions) == 125
    assert len(model.prompts) == 26
    assert {(one.user, one.task) for one in found.questions} == {
        (f"user {u}", f"task {u}{t}") for u in range(5) for t in range(5)
    }
    assert "Ferries and ports." in model.prompts[1]
    few = generate_questions(Scholar(), graph, 30, workers=1)
    assert len(few.questions) == 30
    assert len({one.task for one in few.questions}) == 25  # each task has one before any has two
    write_questions(tmp_path / "asked.jsonl", found.questions)
    assert read_questions(tmp_path / "asked.jsonl") == found.questions


def test_a_line_of_questions_ends_where_the_file_has_a_line_end_and_nowhere_else(tmp_path):
    """JSON leaves U+2028 and U+0085 as they are, which are line ends elsewhere."""
    asked = (AskedQuestion("q1", "When\u2028do\x85they sail?", "Ann\u2029", "to\x0crow"),)
    write_questions(tmp_path / "asked.jsonl", asked)
    assert read_questions(tmp_path / "asked.jsonl") == asked
    (tmp_path / "asked.jsonl").write_bytes(b'{"question": "Who?"}\r\n\r\n{"question": "When?"}\r\n')
    assert [one.id for one in read_questions(tmp_path / "asked.jsonl")] == ["q1", "q3"]


def test_the_passages_shown_are_from_the_whole_corpus_and_within_their_tokens():
    graph = Graph.of([f"Passage {i} on ferries." for i in range(500)])
    rows = even_passages(graph, 200)
    assert (
        int(graph.tokens[rows].sum())
        <= 200
        < int(graph.tokens[rows].sum()) + int(graph.tokens.max())
    )
    gaps = {b - a for a, b in zip(rows, [*rows[1:], 500], strict=True)}
    assert max(gaps) - min(gaps) <= 1


def test_a_task_without_questions_is_named_and_nothing_of_the_others_is_lost():
    graph = Graph.of(["A passage on ferries."])
    found = generate_questions(Scholar(silent={"task 00", "task 44"}), graph, workers=2)
    assert [name for name, _ in found.failed] == ["user 0: task 00", "user 4: task 44"]
    assert len(found.questions) == 115
    for model, reason in (
        (lambda prompt: "no", "names no users"),
        (Scholar(silent={f"task {u}{t}" for u in range(5) for t in range(5)}), "asks no question"),
    ):
        with pytest.raises(ValueError, match=reason):
            generate_questions(model, graph)
    with pytest.raises(ValueError, match="need a corpus"):
        generate_questions(Scholar(), graph, prompt_tokens=1)


def ferries():
    return clew.Index.from_documents(
        [clew.Document(f"d{i}", f"Ferry {i} sails to port {i % 7}.") for i in range(30)]
    )


def test_the_costs_are_those_that_the_model_itself_has_seen():
    model = Scholar()
    questions = ["Which ferry sails to port 3?", "Which ferry sails to port 5?"]
    result = judge_recipes(ferries(), questions, ["da_rag", "dense"], model, budget=150)
    by_stage = {
        "retrieval": [i for i, prompt in enumerate(model.prompts) if "Below is a group" in prompt],
        "judge": [i for i, prompt in enumerate(model.prompts) if "Answer 1:" in prompt],
    }
    rest = set(range(len(model.prompts))) - set(by_stage["retrieval"]) - set(by_stage["judge"])
    da_rag, dense = result.costs["da_rag"], result.costs["dense"]

    def tokens(texts, places):
        return sum(estimate_tokens(texts[place]) for place in places)

    assert da_rag.retrieval.calls == len(by_stage["retrieval"]) > 0
    assert da_rag.retrieval.prompt_tokens == tokens(model.prompts, by_stage["retrieval"])
    assert da_rag.retrieval.completion_tokens == tokens(model.answers, by_stage["retrieval"])
    assert dense.retrieval.calls == 0
    assert da_rag.answering.calls == dense.answering.calls == 2
    answering = da_rag.answering + dense.answering
    assert answering.prompt_tokens == tokens(model.prompts, rest)
    assert result.judging.calls == len(by_stage["judge"]) == 4  # two questions in two orders
    assert result.judging.tokens == tokens(model.prompts, by_stage["judge"]) + tokens(
        model.answers, by_stage["judge"]
    )
    # The answers out of reports are longer, and win.
    assert result.verdicts["dense"].wins[OVERALL] == 1.0
    assert f"| da_rag | both | {(len(by_stage['retrieval']) + 2) / 2:.1f} |" in result.to_markdown()
    assert json.loads(json.dumps(result.to_dict()))["costs"]["dense"]["questions"] == 2


def test_a_failed_call_and_a_second_try_are_calls_and_an_answer_out_of_the_cache_is_none():
    said = iter(["no number", "7"])
    meter = ModelMeter(lambda prompt: next(said))
    asked = clew.Model.with_cache(meter.model)
    assert asked.ask("How many?", int).value == 7
    assert meter.use.calls == 2
    assert asked.ask("How many?", int).value == 7
    assert meter.use.calls == 2
    broken = ModelMeter(lambda prompt: 1 / 0)
    assert broken.model.ask("How many?", int).value is None
    assert (broken.use.calls, broken.use.completion_tokens) == (3, 0)  # the call and two retries
    assert broken.use.prompt_tokens == 3 * estimate_tokens("How many?")


def test_models_of_both_frameworks_are_metered():
    for model in (FakeListChatModel(responses=["Of ash."]), MockLLM(max_tokens=5)):
        meter = ModelMeter(model)
        assert meter.model.ask("Of what are oars?", str).value
        assert (meter.use.calls, meter.use.prompt_tokens) == (
            1,
            estimate_tokens("Of what are oars?"),
        )


def test_what_cannot_be_judged_is_refused():
    index = ferries()
    for questions, recipes, reason in (
        ([], ["dense", "bm25"], "no questions"),
        (["Which?"], ["dense"], "at least two"),
        (["Which?"], ["dense", "dense"], "at least two"),
    ):
        with pytest.raises(ValueError, match=reason):
            judge_recipes(index, questions, recipes, Scholar())


def test_the_command_asks_judges_and_prints_both_tables(tmp_path, monkeypatch, capsys):
    (tmp_path / "scholar.py").write_text(
        "from tests_scholar import Scholar\nanswer = Scholar()\n", encoding="utf-8"
    )
    monkeypatch.setitem(
        __import__("sys").modules, "tests_scholar", __import__(__name__, fromlist=["Scholar"])
    )
    monkeypatch.chdir(tmp_path)
    ferries().save(tmp_path / "ferries.clew")
    model, asked = ("--model", "scholar:answer"), tmp_path / "asked.jsonl"
    source = str(tmp_path / "ferries.clew")
    assert main(["measure", source, "--generate-questions", "10", *model, "-o", str(asked)]) == 0
    assert "10 questions in 26 calls" in capsys.readouterr().out
    questions = [{"question": f"Which ferry sails to port {port}?"} for port in (3, 5)]
    asked.write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    how = ["measure", source, "--judge", *model, "--asked", str(asked), "--questions", "2"]
    assert main([*how, "--recipes", "da_rag,dense,bm25", "--budgets", "150"]) == 0
    out = capsys.readouterr().out
    assert "How often da_rag wins" in out
    assert "| bm25 | retrieval | 0.0 |" in out
    assert main([*how, "--recipes", "da_rag,dense", "--budgets", "150", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["costs"]["da_rag"]["retrieval"]["calls"] > 0
    for wrong in (["--judge"], ["--generate-questions", "5"], ["--asked", str(asked)]):
        assert main(["measure", source, *wrong]) != 0
