"""The caller's language model: every kind of it, bad answers, stalls, and nothing paid for twice."""

from __future__ import annotations

import json
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from llama_index.core.llms import MockLLM

from clew.model import AnswerCache, Model, ModelAnswer, parse_json


class Blocks:
    def invoke(self, prompt):
        return AIMessage(
            content=[{"type": "text", "text": "one "}, {"type": "text", "text": prompt}]
        )


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (lambda prompt: prompt[::-1], "cba"),
        (FakeListChatModel(responses=["said"]), "said"),
        (RunnableLambda(lambda prompt: prompt.upper()), "ABC"),
        (MockLLM(), "abc"),
        (Blocks(), "one abc"),
        (Model.of(lambda prompt: prompt * 2), "abcabc"),
    ],
    ids=["function", "chat model", "runnable", "llama_index", "blocks", "model"],
)
def test_every_kind_of_model_answers(source, text):
    assert Model.of(source).ask("abc", str).value == text


async def later(prompt):
    return prompt


@pytest.mark.parametrize(
    ("source", "wanted"), [(FakeListChatModel, "class"), (3, "wanted a function"), (later, "async")]
)
def test_what_is_no_model_is_refused(source, wanted):
    with pytest.raises(TypeError, match=wanted):
        Model.of(source)


def test_an_awaitable_or_an_object_without_text_is_an_error_of_that_call():
    assert "awaitable" in Model.of(lambda prompt: later(prompt)).ask("abc", str).error
    assert "returned a int" in Model.of(lambda prompt: 3).ask("abc", str).error


def test_a_bad_answer_is_asked_for_once_more_and_told_why():
    prompts = []

    def model(prompt):
        prompts.append(prompt)
        return "so to say" if len(prompts) == 1 else '{"a": 1}'

    answer = Model.of(model).ask("give JSON", parse_json)
    assert (answer.value, answer.calls, answer.error) == ({"a": 1}, 2, "")
    assert prompts[0] == "give JSON"
    assert prompts[1].startswith("give JSON")
    assert "no JSON in 'so to say'" in prompts[1]


def test_what_stays_bad_or_fails_is_recorded_and_not_kept():
    cache = AnswerCache()
    assert Model.of(lambda prompt: "prose", answers=cache).ask("p", parse_json) == ModelAnswer(
        None, "it could not be read: no JSON in 'prose'", 2
    )

    def down(prompt):
        raise OSError("no route")

    answer = Model.of(down, answers=cache).ask("p", str)
    assert answer.value is None
    assert answer.error == f"the model {down.__qualname__} failed: OSError: no route"
    assert not cache._in_memory


def test_a_stall_is_given_up():
    release = threading.Event()

    def stalls(prompt):
        release.wait(30)
        return prompt

    begun = time.monotonic()
    answer = Model.of(stalls, timeout=0.05).ask("p", str)
    release.set()
    assert "TimeoutError: no answer within 0.05 seconds" in answer.error
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("where", ["memory", "file"])
def test_nothing_is_paid_for_twice(where, tmp_path):
    calls = []

    def model(prompt):
        calls.append(prompt)
        return prompt.upper()

    def fresh():
        return AnswerCache(tmp_path / "kept" / "answers.sqlite")

    cache = fresh() if where == "file" else AnswerCache()
    prompts = [f"p{i % 7}" for i in range(30)]
    first = Model.of(model, answers=cache).ask_all(prompts[:7], str, workers=3)
    again = Model.of(model, answers=fresh() if where == "file" else cache).ask_all(
        prompts, str, workers=3
    )
    assert [answer.value for answer in again] == [prompt.upper() for prompt in prompts]
    assert sum(answer.calls for answer in first) == 7 == len(calls)
    assert sum(answer.calls for answer in again) == 0
    other = Model("another", model, cache).ask("p0", str)
    assert other.calls == 1, "another model's answers are not this one's"


def test_one_failure_stops_no_other_and_a_mistake_in_reading_is_raised():
    def model(prompt):
        if prompt == "3":
            raise RuntimeError("busy")
        return prompt

    answers = Model.of(model).ask_all([str(i) for i in range(8)], int, workers=4)
    assert [answer.value for answer in answers] == [0, 1, 2, None, 4, 5, 6, 7]
    with pytest.raises(ZeroDivisionError):
        Model.of(model).ask_all(["1", "2"], lambda text: 1 // 0)
    with pytest.raises(ValueError, match="workers"):
        Model.of(model).ask_all(["1"], int, workers=0)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(
    st.lists(values) | st.dictionaries(st.text(), values),
    st.sampled_from(["", "Here it is: ", "```json\n", "I think [so]. {maybe} "]),
)
def test_json_is_found_in_prose_and_fences(value, before):
    assert parse_json(
        f"{before}{json.dumps(value)}\n``` I hope that helps."
    ) == value or before.startswith("I think")
    if not before.startswith("I think"):
        with pytest.raises(ValueError, match=r"no JSON|empty"):
            parse_json(before)


def test_a_model_that_remembers_keeps_what_it_has_or_is_given_or_has_its_own(tmp_path):
    calls = []

    def model(prompt):
        calls.append(prompt)
        return "said"

    own = Model.with_cache(model)
    assert [own.ask("abc", str).calls for _ in range(2)] == [1, 0]
    cache = AnswerCache()
    assert Model.with_cache(Model.of(model, answers=cache)).answers is cache
    given = AnswerCache(tmp_path / "answers")
    assert Model.with_cache(own, given).answers is given
    assert [
        Model.with_cache(model, tmp_path / "answers").ask("abc", str).calls for _ in range(2)
    ] == [1, 0]
    assert Model.with_cache(model).answers is not Model.with_cache(model).answers
    assert len(calls) == 2
