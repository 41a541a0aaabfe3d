"""Verdicts of a language model in both orders, with models whose bias is known."""

from __future__ import annotations

import json
import re

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata, MockLLM

import clew
from clew.measure.judge import CRITERIA, OVERALL, answers_of, judge, parse_verdict

QUESTIONS = [f"question {i}" for i in range(8)]
GOOD, BAD = [f"a long and good answer {i}" for i in range(8)], [f"short {i}" for i in range(8)]


def says(choose):
    """A model that prefers by `choose(first answer, second answer)`, in all measures."""

    def model(prompt):
        first, second = re.search(
            r"Answer 1:\n(.*)\n\nAnswer 2:\n(.*)\n\nReply", prompt, re.DOTALL
        ).groups()
        return json.dumps(dict.fromkeys([*CRITERIA, OVERALL], choose(first, second)))

    return model


def longer(first, second):
    return 1 if len(first) > len(second) else 2


def test_the_better_wins_in_both_orders():
    found = judge(says(longer), QUESTIONS, GOOD, BAD)
    assert set(found.wins.values()) == set(found.low.values()) == {1.0}
    assert judge(says(longer), QUESTIONS, BAD, GOOD).wins[OVERALL] == 0.0
    assert (found.questions, found.consistency, found.failed) == (8, 1.0, ())


def test_a_model_that_always_prefers_the_first_place_decides_nothing():
    found = judge(says(lambda first, second: 1), QUESTIONS, GOOD, BAD)
    assert set(found.wins.values()) == {0.5}
    assert found.consistency == 0.0


def test_questions_that_could_not_be_judged_are_left_out_with_the_reason():
    def model(prompt):
        return "?" if "question 3" in prompt else says(longer)(prompt)

    found = judge(model, QUESTIONS, GOOD, BAD)
    assert found.questions == 7
    assert [place for place, _ in found.failed] == [3]
    assert "no JSON" in found.failed[0][1]
    with pytest.raises(ValueError, match="none of the 8 questions"):
        judge(lambda prompt: "?", QUESTIONS, GOOD, BAD)
    with pytest.raises(ValueError, match="as many answers"):
        judge(model, QUESTIONS, GOOD, BAD[1:])


def test_a_reply_is_read_as_it_is_likely_to_come():
    reply = {"Comprehensiveness": "1", "diversity": 2, "empowerment": "Answer 2", "overall": 1}
    assert parse_verdict(f"Here: {json.dumps(reply)}") == {
        "comprehensiveness": 1,
        "diversity": 2,
        "empowerment": 2,
        "overall": 1,
    }
    for wrong in ({}, {**reply, "overall": 3}, [1, 2]):
        with pytest.raises(ValueError, match=r"must be 1 or 2|wanted an object"):
            parse_verdict(json.dumps(wrong))


def test_answers_are_made_of_contexts():
    def model(prompt):
        return f"{prompt.split()[-1]} {prompt.partition('Context:')[2].split()[0]}"

    assert answers_of(model, ["q1", "q2"], ["a", "b"]) == ["q1 a", "q2 b"]


class Longer(CustomLLM):
    """A LlamaIndex model that prefers the longer answer."""

    @property
    def metadata(self):
        return LLMMetadata()

    def complete(self, prompt, formatted=False, **kwargs):
        return CompletionResponse(text=says(longer)(prompt))

    def stream_complete(self, prompt, formatted=False, **kwargs):
        raise NotImplementedError


@pytest.mark.parametrize(
    "model",
    [Longer(), RunnableLambda(lambda prompt: AIMessage(says(longer)(prompt)))],
    ids=["llama_index", "langchain"],
)
def test_from_documents_to_a_verdict_with_the_models_of_both_frameworks(model, embed):
    documents = [
        clew.Document(id, f"{name} knows {other}.")
        for id, name, other in [("a", "Anna", "Ben"), ("b", "Ben", "Cleo"), ("c", "Dora", "Emil")]
    ]
    index = clew.Index.from_documents(documents, embedder=embed)
    asked = ["Who knows Ben?", "Whom does Dora know?"]
    echo = MockLLM()  # answers with all that it was told
    much, little = (
        answers_of(
            echo, asked, [index.ask(q, recipe="da_rag", limit=most, budget=None) for q in asked]
        )
        for most in (3, 1)
    )
    assert all(question in answer for question, answer in zip(asked, much, strict=True))
    found, turned = judge(model, asked, much, little), judge(model, asked, little, much)
    assert set(found.wins.values()) == {1.0}
    assert set(turned.wins.values()) == {0.0}
    assert (found.questions, found.consistency, found.failed) == (2, 1.0, ())


def test_a_framework_model_that_says_the_same_to_both_orders_decides_nothing():
    reply = json.dumps(dict.fromkeys([*CRITERIA, OVERALL], 1))
    found = judge(FakeListChatModel(responses=[reply]), QUESTIONS, GOOD, BAD)
    assert (set(found.wins.values()), found.consistency) == ({0.5}, 0.0)
