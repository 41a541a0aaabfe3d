"""The chatbots: what they remember, stream, cite and look up, with the frameworks' own mock models and with none."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

import clew
from clew.show import lines_of

EXAMPLES = Path(__file__).parents[1] / "examples"
HARBOUR = EXAMPLES / "harbour"
ASKED = {  # in the scripts of Latin (Markdown, HTML, Python), Cyrillic, Greek, Arabic, Devanagari, Han and Kana
    "Who is the coxswain of the lifeboat?": ("Jonas Lund", "guide.md:15-16"),
    "How far does the sea rise at spring tide?": ("five\\s+metres", "tides.html"),
    "Which berths has nobody taken?": ("nobody has taken", "berths.py:28-31"),
    "Когда построили маяк?": ("1871", "lighthouse.ru.txt"),
    "Τι σερβίρει η Ελένη την Παρασκευή;": ("σαρδέλες", "tavern.el.txt"),
    "متى يفتح سوق السمك؟": ("الخامسة", "market.ar.txt"),
    "पक्षियों की गिनती कौन करता है?": ("मीरा", "birds.hi.txt"),
    "渡轮早上几点出发？": ("七点", "ferry.zh.txt"),
    "造船所の見学はいつですか？": ("土曜日", "shipyard.ja.txt"),
}


def example(name, wanted):
    for module in wanted:
        pytest.importorskip(module)
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its dataclass looks itself up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def index():
    return clew.Index.from_documents(HARBOUR, splitter=clew.Splitter(), extractor=clew.Names())


@pytest.fixture
def langchain():
    return example("chat_langchain", ("langchain", "langchain_clew"))


@pytest.fixture
def llama_index():
    return example("chat_llama_index", ("llama_index.retrievers.clew",))


@pytest.mark.parametrize("name", ["langchain", "llama_index"])
def test_every_script_is_asked_and_the_answer_is_cited_where_it_stands(
    name, request, tmp_path, capsys
):
    main = request.getfixturevalue(name).main
    asked = [
        "--index",
        str(tmp_path / "kept"),
        *(part for question in ASKED for part in ("--ask", question)),
    ]
    main([str(HARBOUR), *asked])
    first = capsys.readouterr()
    for said, (question, (answer, place)) in zip(
        first.out.split("\n> ")[1:], ASKED.items(), strict=True
    ):
        assert said.startswith(question)
        assert re.search(answer, said.partition("\n\n")[0]), said
        assert place in said.partition("\n\n")[2]
    assert "reading" in first.err
    main(asked)  # opened, not read again
    again = capsys.readouterr()
    assert again.out == first.out
    assert "reading" not in again.err


UNSAID = (
    "Who is the president of France?",
    "Is there a dog policy?",
    "Кто президент Франции?",
    "Ποιος είναι ο πρόεδρος της Γαλλίας;",
)
UNSAID += (
    "من هو رئيس فرنسا؟",
    "法国的总统是谁？",
    "भारत की राजधानी क्या है?",
    "How many people live in Tokyo?",
)


@pytest.mark.parametrize("name", ["langchain", "llama_index"])
def test_what_the_files_do_not_say_is_said_to_be_so(name, request, capsys):
    request.getfixturevalue(name).main(
        [str(HARBOUR), *(part for question in UNSAID for part in ("--ask", question))]
    )
    for said, question in zip(capsys.readouterr().out.split("\n> ")[1:], UNSAID, strict=True):
        assert said.strip() == f"{question}\nThe files say nothing about that."


def langchain_model(*answers):
    """LangChain's own fake model, which streams word by word, and streams calls of tools too; what it is asked is kept."""
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessageChunk
    from langchain_core.outputs import ChatGenerationChunk

    class Model(GenericFakeChatModel):
        asked: list
        calls: int

        def _generate(self, messages, stop=None, run_manager=None, **how):
            self.asked.append(messages)
            return super()._generate(messages, stop, run_manager, **how)

        def _stream(self, messages, stop=None, run_manager=None, **how):
            message = next(iter(self.messages)) if self.calls else None
            if message is None:
                yield from super()._stream(messages, stop, run_manager, **how)
                return
            self.asked.append(messages)
            self.calls -= 1
            wanted = [
                {
                    "name": call["name"],
                    "args": json.dumps(call["args"]),
                    "id": call["id"],
                    "index": 0,
                }
                for call in message.tool_calls
            ]
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=wanted))

        def bind_tools(self, tools, **how):
            return self

    return Model(
        messages=iter(answers),
        calls=sum(not isinstance(answer, str) for answer in answers),
        asked=[],
    )


def test_langchain_remembers_streams_and_cites(langchain, index):
    answers = (
        "A metre and a night cost 1.5 crowns [1].",
        "What does electricity cost at Lindow?",
        "Two crowns a day [1], [99].",
    )
    model = langchain_model(*answers)
    chat = langchain.Chat(
        langchain.ClewRetriever(index=index, recipe="budgeted", budget=300), model
    )
    pieces = list(chat.ask("What does a berth cost?"))
    assert len(pieces) > 5
    assert "".join(pieces) == chat.answer == answers[0]
    assert chat.sources == {1: chat.contexts[0].items[0]}
    assert chat.contexts[0].text in model.asked[0][0].text
    assert "".join(chat.ask("And electricity?")) == answers[2]
    condensed = [message.text for message in model.asked[1]]
    assert condensed[:3] == ["What does a berth cost?", answers[0], "And electricity?"]
    assert chat.query == chat.contexts[0].question == answers[1]
    assert [message.text for message in model.asked[2]][1:] == [
        "What does a berth cost?",
        answers[0],
        "And electricity?",
    ]
    assert list(chat.sources) == [1]
    assert "Electricity" in chat.contexts[0].text


def test_langchain_lets_its_agent_look_up_as_often_as_it_likes(langchain, index):
    from langchain_core.messages import AIMessage, ToolMessage

    calls = [
        AIMessage("", tool_calls=[{"name": "look_up", "args": {"question": q}, "id": q}])
        for q in list(ASKED)[:2]
    ]
    model = langchain_model(*calls, "Jonas Lund [1], and five metres [4].")
    chat = langchain.Chat(
        langchain.ClewRetriever(index=index, recipe="bm25", budget=150), model, agent=True
    )
    said = "".join(chat.ask("Who is the coxswain, and how high is the tide?"))
    assert said == chat.answer == "Jonas Lund [1], and five metres [4]."
    assert [context.question for context in chat.contexts] == list(ASKED)[:2]
    assert [m.text for m in model.asked[-1] if isinstance(m, ToolMessage)] == [
        context.text for context in chat.contexts
    ]
    found = [item for context in chat.contexts for item in context]
    assert chat.sources == {1: found[0], 4: found[3]}
    assert f"[{len(chat.contexts[0]) + 1}] " in chat.contexts[1].text


def test_langchain_prints_once_what_its_agent_says_whether_it_streams_or_not(langchain, index):
    from langchain_core.messages import AIMessage

    for at_once in (True, False):
        calls = AIMessage(
            "",
            tool_calls=[
                {"name": "look_up", "args": {"question": "Who is the coxswain?"}, "id": "1"}
            ],
        )
        model = langchain_model(calls, "Jonas Lund [1].", "Nobody.").model_copy(
            update={"disable_streaming": at_once}
        )
        chat = langchain.Chat(langchain.ClewRetriever(index=index), model, agent=True)
        pieces = list(chat.ask("Who is the coxswain?"))
        assert "".join(pieces) == chat.answer == "Jonas Lund [1]."
        assert (len([piece for piece in pieces if piece]) == 1) == at_once
        assert list(chat.sources) == [1]
        assert (
            "".join(chat.ask("And who was it before?")) == "Nobody."
        )  # and nothing of what is remembered


@pytest.mark.parametrize("name", ["langchain", "llama_index"])
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # the workflow looks at what its own models have deprecated
@pytest.mark.parametrize(
    ("asked", "budget", "wrong"),
    [("", 150, "at least one word"), ("Who is the coxswain?", 10, "a budget of 10 tokens")],
)
def test_an_agent_is_told_what_was_wrong_with_a_look_up_and_goes_on(
    name, asked, budget, wrong, request, index
):
    module = request.getfixturevalue(name)
    if name == "langchain":
        from langchain_core.messages import AIMessage

        call = AIMessage(
            "", tool_calls=[{"name": "look_up", "args": {"question": asked}, "id": "1"}]
        )
        model = langchain_model(call, "I do not know.")
        chat = module.Chat(
            module.ClewRetriever(index=index, recipe="bm25", budget=budget), model, agent=True
        )
        assert "".join(chat.ask("Well?")) == "I do not know."
        heard = model.asked[-1][-1].text
    else:
        from llama_index.core.llms import ChatMessage

        call = of_llama_index("base.llms.types", "ToolCallBlock")(
            tool_name="look_up", tool_kwargs={"question": asked}, tool_call_id="1"
        )
        model, said = llama_model(ChatMessage(role="assistant", blocks=[call]), "I do not know.")
        chat = module.Chat(index, "bm25", budget, model, agent=True)
        assert "".join(answered(chat, "Well?")) == "I do not know."
        heard = said[-1][-1].content
    assert wrong in heard
    assert not chat.contexts
    assert not chat.sources


@pytest.mark.parametrize("name", ["langchain", "llama_index"])
@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ([HARBOUR, "--ask", "  "], "at least one word"),
        ([HARBOUR, "--ask", "+"], "at least one word"),
        ([HARBOUR, "--budget", "0", "--ask", "Who is the coxswain?"], "at least 1"),
        ([HARBOUR, "--budget", "10", "--ask", "Who is the coxswain?"], "a budget of 10 tokens"),
        ([HARBOUR / "nowhere", "--ask", "Who?"], "no file or folder"),
        (["--index", HARBOUR, "--ask", "Who?"], "not a saved index"),
    ],
)
def test_a_mistake_is_said_in_a_line(name, arguments, wrong, request, capsys):
    with pytest.raises(SystemExit) as left:
        request.getfixturevalue(name).main([str(argument) for argument in arguments])
    assert left.value.code == 2
    assert wrong in capsys.readouterr().err.splitlines()[-1]


def test_langchain_says_what_to_install(langchain, capsys):
    if importlib.util.find_spec("langchain_openai") is None:
        with pytest.raises(SystemExit):
            langchain.main([str(HARBOUR), "--model", "openai:gpt-4o-mini", "--ask", "x"])
        said = capsys.readouterr().err.replace(" -U", "")  # as older releases have it
        assert "pip install langchain-openai" in said
    with pytest.raises(SystemExit):
        langchain.main([str(HARBOUR), "--agent"])
    assert "--agent needs a --model" in capsys.readouterr().err


def test_langchain_main_shows_the_context(langchain, capsys):
    question = "Who is the coxswain of the lifeboat?"
    langchain.main(
        [str(HARBOUR), "--ask", question, "--ask", "/context", "--show-context"],
        langchain_model("Jonas Lund [1]."),
    )
    shown = capsys.readouterr().out
    assert shown.startswith(f"\n> {question}\nJonas Lund [1].\n\n[1] guide.md:15-16 ")
    assert shown.count("# A guide to Lindow harbour > Storms") == 2


def answered(chat, question):
    async def pieces():
        return [piece async for piece in chat.ask(question)]

    return asyncio.run(pieces())


def of_llama_index(module, name):
    """What LlamaIndex 0.14 has to play a model that calls functions, and older ones have not."""
    found = getattr(importlib.import_module(f"llama_index.core.{module}"), name, None)
    return found or pytest.skip(f"this LlamaIndex has no {name}")


def llama_model(*answers):
    """LlamaIndex's own mock model, which says the answers in turn, word by word; what it is asked is kept."""
    from llama_index.core.llms import ChatMessage

    asked, left = [], list(answers)

    def said(messages, **how):
        asked.append(list(messages))
        answer = left.pop(0)
        return answer if isinstance(answer, ChatMessage) else ChatMessage(answer, role="assistant")

    return of_llama_index("llms.mock", "MockFunctionCallingLLM")(
        response_generator=said, is_chat_model=True
    ), asked


def test_llama_index_remembers_streams_and_cites(llama_index, index):
    answers = (
        "A metre and a night cost 1.5 crowns [1].",
        "What does electricity cost at Lindow?",
        "Two crowns a day [1], [99].",
    )
    model, asked = llama_model(*answers)
    chat = llama_index.Chat(index, budget=300, model=model)
    assert "".join(answered(chat, "What does a berth cost?")) == chat.answer == answers[0]
    assert chat.sources == {1: chat.contexts[0].items[0]}
    assert chat.contexts[0].text in asked[0][0].content
    assert "".join(answered(chat, "And electricity?")) == answers[2]
    assert [message.content for message in asked[1]][:3] == [
        "What does a berth cost?",
        answers[0],
        "And electricity?",
    ]
    assert chat.query == chat.contexts[0].question == answers[1]
    assert [message.content for message in asked[2]][1:] == [
        "What does a berth cost?",
        answers[0],
        "And electricity?",
    ]
    assert list(chat.sources) == [1]


def test_llama_index_streams_what_its_model_streams(llama_index, index):
    from llama_index.core.llms import MockLLM

    chat = llama_index.Chat(index, budget=100, model=MockLLM(max_tokens=7))
    pieces = answered(chat, "What does a berth cost?")
    assert len(pieces) == 7
    assert "".join(pieces) == chat.answer
    assert chat.answer.split() == ["text"] * 7


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # the workflow looks at what its own models have deprecated
def test_llama_index_lets_its_agent_look_up_as_often_as_it_likes(llama_index, index):
    from llama_index.core.llms import ChatMessage

    calls = [
        ChatMessage(
            role="assistant",
            blocks=[
                of_llama_index("base.llms.types", "ToolCallBlock")(
                    tool_name="look_up", tool_kwargs={"question": q}, tool_call_id=q
                )
            ],
        )
        for q in list(ASKED)[:2]
    ]
    model, asked = llama_model(*calls, "Jonas Lund [1], and five metres [4].")
    chat = llama_index.Chat(index, "bm25", 200, model, agent=True)
    assert (
        "".join(answered(chat, "Who is the coxswain, and how high is the tide?"))
        == "Jonas Lund [1], and five metres [4]."
    )
    assert [context.question for context in chat.contexts] == list(ASKED)[:2]
    assert [m.content for m in asked[-1] if m.role == "tool"] == [
        context.text for context in chat.contexts
    ]
    found = [item for context in chat.contexts for item in context]
    assert chat.sources == {1: found[0], 4: found[3]}


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # the workflow looks at what its own models have deprecated
def test_a_model_that_calls_no_functions_looks_up_too(llama_index, index):
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata

    said = [
        'Thought: I look it up.\nAction: look_up\nAction Input: {"question": "Who is the coxswain of the lifeboat?"}',
        "Thought: I can answer.\nAnswer: Jonas Lund [1].",
    ]

    class Thinking(CustomLLM):
        @property
        def metadata(self):
            return LLMMetadata(is_chat_model=True)

        def complete(self, prompt, formatted=False, **how):
            return CompletionResponse(text=said.pop(0))

        def stream_complete(self, prompt, formatted=False, **how):
            text = said.pop(0)
            return (
                CompletionResponse(text=text[: i + 4], delta=text[i : i + 4])
                for i in range(0, len(text), 4)
            )

    chat = llama_index.Chat(index, model=Thinking(), agent=True)
    assert "".join(answered(chat, "Who is the coxswain?")).endswith("Jonas Lund [1].")
    assert [context.question for context in chat.contexts] == [
        "Who is the coxswain of the lifeboat?"
    ]
    assert not said


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # the workflow looks at what its own models have deprecated
@pytest.mark.parametrize("agent", [False, True])
def test_llama_index_hears_a_model_that_says_all_at_once(llama_index, index, agent):
    from llama_index.core.llms import ChatMessage, ChatResponse

    class AtOnce(of_llama_index("llms.mock", "MockFunctionCallingLLM")):
        async def astream_chat(self, messages, **how):
            async def whole():
                yield ChatResponse(message=ChatMessage("Jonas Lund [1].", role="assistant"))

            return whole()

    chat = llama_index.Chat(index, model=AtOnce(is_chat_model=True), agent=agent)
    assert "".join(answered(chat, "Who is the coxswain?")) == chat.answer == "Jonas Lund [1]."


def test_llama_index_says_what_to_install(llama_index, capsys):
    for model, hint in (
        ("llama_index.llms.nowhere:Nothing:x", "pip install llama-index-llms-nowhere"),
        ("llama_index.core.llms:Nothing", "module:Class:model"),
    ):
        with pytest.raises(SystemExit):
            llama_index.main([str(HARBOUR), "--model", model, "--ask", "x"])
        assert hint in capsys.readouterr().err
    assert type(llama_index.model_of("llama_index.core.llms:MockLLM")).__name__ == "MockLLM"


@pytest.mark.parametrize("name", ["langchain", "llama_index"])
def test_without_a_model_a_follow_up_is_asked_behind_what_it_follows(name, request, index):
    module = request.getfixturevalue(name)
    chat = module.Chat(module.ClewRetriever(index=index) if name == "langchain" else index)
    for question in (
        "What does a berth cost?",
        "+ and electricity?",
        "+ in winter?",
        "Когда построили маяк?",
    ):
        list(chat.ask(question)) if name == "langchain" else answered(chat, question)
        assert chat.answer
        if question.startswith("+ and"):
            assert chat.query == "What does a berth cost?  and electricity?"
            assert "Electricity costs" in chat.answer
    assert chat.query == "Когда построили маяк?"


def test_the_lines_of_a_citation_are_those_of_the_file(index):
    context = index.ask("Who is the coxswain of the lifeboat?", recipe="bm25", budget=200)
    item = context.items[0]
    lines = (HARBOUR / "guide.md").read_text(encoding="utf-8").splitlines()
    first, last = lines_of(item, next(d.text for d in index.documents if d.id == "guide.md"))
    assert lines[first - 1 : last] == item.text.splitlines()
