"""The caller's language model: every kind of it, bad answers, stalls, and nothing paid for twice."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import threading
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from llama_index.core.llms import CompletionResponse, MockLLM

from clew import Index, Triples
from clew.model import AnswerCache, Model, ModelError, parse_json, read_score
from clew.usage import Usage, metered


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
    ("source", "wanted"), [(FakeListChatModel, "class"), (3, "wanted a function")]
)
def test_what_is_no_model_is_refused(source, wanted):
    with pytest.raises(TypeError, match=wanted):
        Model.of(source)


def test_an_object_without_text_is_an_error_of_that_call():
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
    answer = Model.of(lambda prompt: "prose", answers=cache).ask("p", parse_json)
    assert (answer.value, answer.error) == (None, "it could not be read: no JSON in 'prose'")
    assert answer.calls == 2

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


def test_a_stream_that_stalls_is_given_up_and_what_came_was_seen():
    release = threading.Event()

    def stalls(prompt):
        yield "Ben "
        release.wait(30)

    pieces = Model.of(stalls, timeout=0.2).stream("p")
    assert next(pieces) == "Ben "
    with pytest.raises(ModelError, match=r"TimeoutError: nothing came within 0\.2 seconds"):
        next(pieces)
    assert not release.is_set(), "the model still waits"
    release.set()


@pytest.mark.parametrize(
    ("before_failing", "calls"), [([], 3), (["Ben "], 1), (["", ""], 3)], ids=repr
)
def test_a_stream_is_begun_again_where_nothing_came_of_it(monkeypatch, before_failing, calls):
    monkeypatch.setattr("clew.model.model.sleep", lambda seconds: None)
    asked = []

    def busy(prompt):
        asked.append(prompt)
        yield from before_failing
        if len(asked) < 3:
            raise OSError("busy")
        yield "On Corfu."

    with metered() as meter:
        pieces = Model.of(busy).stream("Where is Ben?")
        if calls == 1:
            assert next(pieces) == "Ben "
            with pytest.raises(ModelError, match="busy"):
                next(pieces)
        else:
            assert list(pieces) == ["On Corfu."]
    assert asked == ["Where is Ben?"] * calls
    assert (meter.usage.calls, meter.usage.failed) == (calls, max(1, calls - 1))


def test_a_stream_whose_reader_goes_ends_at_its_next_piece():
    ended = threading.Event()

    def endless(prompt):
        try:
            while True:
                yield "and so on "
        finally:
            ended.set()

    pieces = Model.of(endless).stream("p")
    assert next(pieces) == "and so on "
    pieces.close()
    assert ended.wait(30)


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


@pytest.mark.parametrize("again", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy])
@pytest.mark.parametrize("where", ["memory", "file"])
def test_answers_are_pickled_with_what_asks_for_them(again, where, tmp_path):
    cache = AnswerCache(tmp_path / "answers.sqlite") if where == "file" else AnswerCache()
    cache.put("m", "Who?", "Anna.")
    extractor = again(Triples(Model("m", str.upper, cache)))
    other = extractor.answers
    assert (other is extractor.model.answers, other is cache) == (True, False)
    assert other.get("m", "Who?") == "Anna."
    other.put("m", "Where?", "Corfu.")  # which a lock that is gone would not let through
    assert cache.get("m", "Where?") == (None if where == "memory" else "Corfu.")
    index = again(Index.from_documents(["Anna met Ben."], extractor=extractor))
    assert index.add(["Ben met Cleo."]).config.extractor.answers.get("m", "Where?") == "Corfu."


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


ANSWER = 'By [2]: {"a": [1, 2]}'
THOUGHTS = 'Draft: {"a": 3}, says [1].\nOr </thin {"b": 1}?'


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        (ANSWER, ANSWER),
        (f"<think>{THOUGHTS}</think>{ANSWER}", ANSWER),
        (f"\n<think>\n{THOUGHTS}\n</think>\n\n{ANSWER}", ANSWER),
        (f"<think></think>\n{ANSWER} </think>", f"{ANSWER} </think>"),
        (f"<think>{THOUGHTS}", ""),
        ("<thinking> is no mark", "<thinking> is no mark"),
        ("<thi", "<thi"),
        ("The mark `</think>` ends them.", "The mark `</think>` ends them."),
        ("", ""),
    ],
)
def test_thoughts_before_an_answer_are_no_part_of_it(written, answer):
    model = Model.of(lambda prompt: written, answers=AnswerCache())
    told = [model.ask("p", str) for _ in range(2)]
    assert [one.value for one in told] == [answer, answer]
    assert [one.calls for one in told] == [1, 0]
    for size in range(1, len(written) + 1):

        def streams(prompt, size=size):
            for start in range(0, len(written), size):
                yield written[start : start + size]

        with metered(len) as meter:
            assert "".join(Model.of(streams).stream("p")) == answer
        assert meter.usage.completion_tokens == len(written), "thoughts are paid for"


def test_thoughts_whose_first_mark_is_in_the_prompt_end_with_a_line():
    written = f"{THOUGHTS}\n</think>\n\n{ANSWER}"
    assert Model.of(lambda prompt: written).ask("p", parse_json).value == {"a": [1, 2]}


def test_a_citation_before_json_is_not_taken_for_it():
    assert parse_json('By [1] and [2, 3]: [{"a": 1}]') == [{"a": 1}]
    assert parse_json("Facts [2, 3].") == [2, 3]
    assert parse_json("Nothing helps, says [1]: []") == []


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


class Refused(Exception):
    def __init__(self, status):
        super().__init__(f"HTTP {status}")
        self.status_code = status


@pytest.mark.parametrize(
    ("problem", "calls"),
    [
        (OSError("no route"), 4),
        (Refused(429), 4),
        (Refused(503), 4),
        (Refused(401), 1),
        (TypeError("two arguments"), 1),
    ],
    ids=str,
)
def test_a_call_that_fails_is_made_again_unless_it_fails_for_good(problem, calls, monkeypatch):
    pauses, asked = [], []
    monkeypatch.setattr("clew.model.model.sleep", pauses.append)

    def model(prompt):
        asked.append(prompt)
        if len(asked) <= 3:
            raise problem
        return "Anna."

    answer = Model.of(model, retries=3).ask("who?", str)
    assert len(asked) == answer.usage.calls == calls
    assert answer.usage.failed == min(calls, 3)
    assert len(pauses) == calls - 1
    assert all(later > earlier for earlier, later in pairwise(pauses))
    assert (answer.value == "Anna.") == (calls == 4)
    assert Model.of(model, retries=0).ask("who?", str).calls == 1


async def test_an_async_model_is_asked_from_everywhere(tmp_path):
    loops = set()

    class Async:
        async def __call__(self, prompt):
            loops.add(id(asyncio.get_running_loop()))
            await asyncio.sleep(0)
            return prompt.upper()

    class OnlyAsync:
        async def ainvoke(self, prompt):
            return AIMessage(content=prompt.upper())

    for source in (Async(), Async().__call__, lambda p: later(p.upper()), OnlyAsync()):
        assert Model.of(source).ask("abc", str).value == "ABC"  # within a running loop
        assert await asyncio.to_thread(Model.of(source).ask, "d", str)
        answers = Model.of(source, timeout=float("inf")).ask_all(["a", "b", "c"], str)
        assert [answer.value for answer in answers] == ["A", "B", "C"]
    assert len(loops) == 1, "a client's connections belong to one loop"


def test_an_async_model_that_stalls_is_cancelled():
    ended = threading.Event()

    async def stalls(prompt):
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()

    answer = Model.of(stalls, timeout=0.05, retries=0).ask("p", str)
    assert "no answer within 0.05 seconds" in answer.error
    assert ended.wait(10)


def test_an_async_model_that_asks_itself_is_an_error_and_no_deadlock():
    inner = Model.of(later, timeout=float("inf"), retries=0)

    async def asks(prompt):
        return inner.ask(prompt, str).error

    assert "asked another one" in Model.of(asks, timeout=20).ask("p", str).value


class Told:
    """A response with the tokens that a provider tells, in the place where it tells them."""

    def __init__(self, **fields):
        self.text = "Anna paints."
        for name, value in fields.items():
            setattr(self, name, value)


@pytest.mark.parametrize(
    "response",
    [
        AIMessage(
            content="Anna paints.",
            usage_metadata={"input_tokens": 70, "output_tokens": 9, "total_tokens": 79},
        ),
        CompletionResponse(
            text="Anna paints.", raw={"usage": {"prompt_tokens": 70, "completion_tokens": 9}}
        ),
        CompletionResponse(text="Anna paints.", raw={"prompt_eval_count": 70, "eval_count": 9}),
        CompletionResponse(
            text="Anna paints.", additional_kwargs={"prompt_tokens": 70, "completion_tokens": 9}
        ),
        Told(raw=Told(usage=Told(input_tokens=70, output_tokens=9))),
        Told(usage_metadata=Told(prompt_token_count=70, candidates_token_count=9)),
    ],
    ids=["langchain", "raw", "ollama", "additional", "objects", "gemini"],
)
def test_the_models_own_count_is_taken_where_it_tells_it(response):
    answer = Model.of(lambda prompt: response).ask("who paints?", str)
    assert answer.usage == Usage(1, 70, 9)


@pytest.mark.parametrize(
    "response",
    ["Anna paints.", Told(), Told(usage={"prompt_tokens": -1, "completion_tokens": "many"})],
    ids=["text", "nothing told", "nonsense told"],
)
def test_what_the_model_does_not_tell_is_counted_and_marked(response):
    model = Model.of(lambda prompt: response, count=len)
    assert model.ask("who paints?", str).usage == Usage(1, 11, 12, counted=1)


def test_a_meter_sees_every_call_and_equal_prompts_are_asked_once():
    calls = []

    def model(prompt):
        calls.append(prompt)
        return prompt

    with metered() as outer:
        with metered() as inner:
            answers = Model.of(model).ask_all(["a", "b", "a", "a"], str, workers=3)
        Model.of(model, retries=0).ask("c", int)
    assert sorted(calls[:2]) == ["a", "b"]
    assert inner.usage == Usage(2, 2, 2, counted=2, remembered=2)
    assert sum((answer.usage for answer in answers), Usage()) == inner.usage
    assert outer.usage.calls == len(calls) == 4
    assert outer.usage.prompt_tokens == sum(Model.of(model).tokens(prompt) for prompt in calls)


@given(
    st.lists(st.text(max_size=40), max_size=12), st.integers(1, 60), st.sampled_from([len, None])
)
def test_a_prompt_shows_the_longest_beginning_that_fits(parts, ceiling, count):
    model = Model.of(lambda prompt: prompt, count=count, max_prompt_tokens=ceiling)

    def build(shown):
        return "?" + "\n".join(f"- {part}" for part in shown)

    fitted = model.fit(build, parts)
    assert model.tokens(fitted.text) <= ceiling
    most = max(n for n in range(len(parts) + 1) if model.tokens(build(parts[:n])) <= ceiling)
    assert fitted.shown == most
    assert (fitted.left_out == "") == (most == len(parts))
    if not fitted.is_cut:
        assert fitted.text == build(parts[:most])
    else:
        assert most == 0
        assert fitted.text.startswith("?")
        assert fitted.text.endswith("[…]")


def test_a_prompt_above_the_ceiling_is_not_sent_and_neither_is_a_reason_that_lifts_it_above():
    sent = []

    def model(prompt):
        sent.append(prompt)
        return "prose"

    small = Model.of(model, max_prompt_tokens=10, count=len)
    assert "11 tokens" in small.ask("x" * 11, str).error
    assert not sent
    assert small.ask("x" * 10, parse_json).value is None
    assert sent == ["x" * 10] * 2


@pytest.mark.parametrize(
    ("value", "maximum", "score"),
    [
        (85, 100, 85), (8.5, 10, 8.5), ("85", 100, 85), ("8.5", 100, 8.5), ("8.5", 10, 8.5),
        ("85/100", 100, 85), ("85/100", 10, 8.5), ("8.5/10", 100, 85), ("8,5 / 10", 10, 8.5),
        ("Score: 85", 100, 85), ("**85**", 100, 85), ("7 out of 10", 100, 70), ("85 %", 10, 8.5),
        (0, 10, 0), ("0", 100, 0),
        (True, 10, None), (None, 10, None), ("high", 10, None), ("", 10, None), (101, 100, None),
        (-1, 100, None), ("-1", 100, None), ("70 to 80", 100, None), (float("nan"), 10, None),
        (float("inf"), 10, None), ("8/0", 10, None), ("12/10", 10, None), ([8], 10, None),
        (10**400, 10, None), ("9" * 5000, 10, None),
    ],
)  # fmt: skip
def test_a_score_is_read_however_it_is_written(value, maximum, score):
    if score is None:
        with pytest.raises(ValueError, match=f"from 0 to {maximum}"):
            read_score(value, maximum)
    else:
        assert read_score(value, maximum) == score


def test_options_of_a_model_stay_unless_others_are_given():
    model = Model.of(repr, timeout=7, max_prompt_tokens=50, retries=0, count=len)
    again = Model.of(model, count=lambda text: 1)
    assert (again.timeout, again.max_prompt_tokens, again.retries) == (7, 50, 0)
    assert again.tokens("four") == 4, "its own tokenizer stays"
    assert Model.of(model, max_prompt_tokens=60).max_prompt_tokens == 60
    for wrong in ({"max_prompt_tokens": 0}, {"retries": -1}, {"timeout": 0}, {"timeout": -1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Model.of(repr, **wrong)
