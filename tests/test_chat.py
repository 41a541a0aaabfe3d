"""The chatbots: what they remember, cite and look up, with the frameworks' own fake models and with none."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from clew.conversation import STANDALONE

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


@pytest.fixture
def langchain():
    return example("chat_langchain", ("langchain", "langchain_classic", "langchain_clew"))


@pytest.fixture
def llama_index():
    return example("chat_llama_index", ("llama_index.retrievers.clew",))


BOTH = pytest.mark.parametrize("name", ["langchain", "llama_index"])


def said(capsys, main, *questions, model=None, options=()):
    """What a chatbot prints behind each question."""
    main([str(HARBOUR), *options, *(part for one in questions for part in ("--ask", one))], model)
    printed = capsys.readouterr().out.split("\n> ")[1:]
    for one, question in zip(printed, questions, strict=True):
        assert one.startswith(f"{question}\n")
    return [one.partition("\n")[2].strip() for one in printed]


@BOTH
def test_every_script_is_asked_and_the_answer_is_cited_where_it_stands(name, request, capsys):
    main = request.getfixturevalue(name).main
    for printed, (answer, place) in zip(said(capsys, main, *ASKED), ASKED.values(), strict=True):
        text, *sources = re.split(r"\n(?=\[\d+\] )", printed)
        assert re.search(answer, text), printed
        assert any(place in source for source in sources), printed


@BOTH
def test_a_follow_up_question_is_looked_up_with_whom_it_means(name, request, capsys):
    main = request.getfixturevalue(name).main
    first, second, third = said(
        capsys,
        main,
        "Who is the coxswain of the lifeboat?",
        "Whose brother is he?",
        "+ And when may no boat leave?",
    )
    assert "Jonas Lund" in first
    assert re.search(r"Marta's\s+brother, is its coxswain", second)
    assert "guide.md:15-16" in second
    assert "red flag" in third


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


@BOTH
def test_what_the_files_do_not_say_is_said_to_be_so(name, request, capsys):
    main = request.getfixturevalue(name).main
    assert set(said(capsys, main, *UNSAID)) == {"The files say nothing about that."}


TALK = ("Who is the coxswain of the lifeboat?", "Whose brother is he?")
WRITTEN = ("Jonas Lund [1].", "Whose brother is Jonas Lund?", "Marta's [1], and Ann's [99].")
STORMS = re.compile(r"\[1\] .*Jonas Lund, Marta's\s+brother, is its coxswain", re.DOTALL)


OF_FACTS = "Which of these facts help"  # what the recipe asks, of the facts in the source code
NO_FACT = '{"facts": []}'


def langchain_model(*answers):
    """LangChain's own fake model, which streams word by word; what else it is asked is kept."""
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Model(GenericFakeChatModel):
        asked: list

        def _generate(self, messages, stop=None, run_manager=None, **how):
            if OF_FACTS in messages[-1].text:
                return ChatResult(generations=[ChatGeneration(message=AIMessage(NO_FACT))])
            self.asked.append([str(message.content) for message in messages])
            return super()._generate(messages, stop, run_manager, **how)

    model = Model(messages=iter(answers), asked=[])
    return model, model.asked


def llama_model(*answers):
    """A model of LlamaIndex's; what it is asked but for facts is kept."""
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata

    asked, left = [], list(answers)

    class Model(CustomLLM):
        @property
        def metadata(self):
            return LLMMetadata()

        def complete(self, prompt, formatted=False, **how):
            if OF_FACTS in prompt:
                return CompletionResponse(text=NO_FACT)
            asked.append([prompt])
            return CompletionResponse(text=left.pop(0))

        def stream_complete(self, prompt, formatted=False, **how):
            text = self.complete(prompt).text
            return (
                CompletionResponse(text=text[: i + 4], delta=text[i : i + 4])
                for i in range(0, len(text), 4)
            )

    return Model(), asked


@pytest.mark.parametrize("own", [False, True], ids=["clew's conversation", "the framework's chat"])
@BOTH
def test_a_model_writes_the_question_in_full_and_its_answer_is_cited(name, own, request, capsys):
    module = request.getfixturevalue(name)
    model, asked = (langchain_model if name == "langchain" else llama_model)(*WRITTEN)
    option = {"langchain": "--chain", "llama_index": "--engine"}[name]
    first, second = said(capsys, module.main, *TALK, model=model, options=[option] * own)
    assert first.splitlines()[0] == WRITTEN[0]
    assert second.splitlines()[0] == WRITTEN[2]
    for printed in (first, second):
        cited = printed.splitlines()[1:]
        assert [line[:13] for line in cited if line] == [
            "[1] guide.md:" if not own else "[1] guide.md#"
        ]
    *_, standalone, answered = ["\n".join(messages) for messages in asked]
    assert STORMS.search("\n".join(asked[0])), "the numbered passages"
    assert TALK[0] in standalone
    assert WRITTEN[0] in standalone
    assert TALK[1] in standalone
    assert STANDALONE in standalone or (name == "llama_index" and own), "LlamaIndex has its own"
    assert STORMS.search(answered), "looked up by the question as the model wrote it"
    assert TALK[1] in answered


@BOTH
def test_the_frameworks_own_chat_needs_a_model(name, request, capsys):
    option = {"langchain": "--chain", "llama_index": "--engine"}[name]
    with pytest.raises(SystemExit):
        request.getfixturevalue(name).main([str(HARBOUR), option])
    assert f"{option} needs a --model" in capsys.readouterr().err
