"""Facts read by a language model: one that fails, stalls, answers nonsense or prose is recorded, and nothing is paid for twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata

import clew
from clew import Document, Index, Splitter, Triples
from clew.model import AnswerCache, Model
from clew.read import Passage, is_corpus_wide
from clew.read.extract.language_model import parse_facts

TEXTS = {
    "anna": "Anna married Ben.",
    "ben": "Ben inhabits Corfu.",
    "corfu": "Corfu neighbours Albania.",
    "dora": "Dora paints Elba.",
    "elba": "Elba housed Napoleon.",
}
DOCUMENTS = [Document(id, text) for id, text in TEXTS.items()]


def shown(prompt):
    """The text that a prompt is about."""
    return (
        prompt.split("\nText:\n")[1].split("\n\n")[0].strip().partition("\nThese facts")[0].strip()
    )


def said(text):
    subject, *relation, object = text.strip(".").split()
    return [subject, " ".join(relation), object]


def answer(prompt):
    return json.dumps({"facts": [said(shown(prompt))]})


class Counting:
    """A model that answers well, but as it is told for some texts, and remembers what it was asked."""

    def __init__(self, **instead):
        self.instead, self.asked, self.lock = instead, [], threading.Lock()

    def __call__(self, prompt):
        with self.lock:
            self.asked.append(shown(prompt))
        first = shown(prompt).split()[0].lower()
        return self.instead[first](prompt) if first in self.instead else answer(prompt)


def facts(index):
    graph = index.graph
    return {
        text: tuple(graph.ids[row] for row in rows)
        for text, rows in zip(graph.facts.texts, graph.facts.read_from, strict=True)
    }


def whole(**without):
    return {text.strip("."): (id,) for id, text in TEXTS.items() if id not in without}


def down(prompt):
    raise ConnectionError("no route")


release = threading.Event()


def stalls(prompt):
    release.wait(30)
    return answer(prompt)


BAD = {
    "fails": (down, "ConnectionError: no route"),
    "stalls": (stalls, "no answer within 0.2 seconds"),
    "nonsense": (lambda prompt: '{"facts": 7}', 'wanted {"facts": [...]}'),
    "no facts": (
        lambda prompt: '{"facts": [["one"], 3, ["", "is", "x"], ["a", null, "b"]]}',
        "wanted facts as",
    ),
    "cut off": (
        lambda prompt: '{"facts": [["Anna", "married", "Ben"], ["Anna", "mar',
        "wanted facts as",
    ),
    "brackets": (lambda prompt: "[" * 200_000, "nested too deep"),
    "prose": (lambda prompt: "Anna is the wife of Ben, I believe.", "no JSON in 'Anna is the wife"),
    "silence": (lambda prompt: "", "the answer is empty"),
}


def test_a_call_is_given_up_when_the_model_says_unless_the_extractor_says_otherwise():
    def slow(prompt):
        time.sleep(0.3)
        return '{"facts": [["Anna", "met", "Ben"]]}'

    passage = [Passage("a", "Anna met Ben.")]
    (met,) = Triples(Model.of(slow)).triples(passage)
    assert met == (("Anna", "met", "Ben"),)
    hasty = Model.of(slow, timeout=0.05, retries=0)
    (given_up,) = Triples(hasty).triples(passage)
    assert "no answer within 0.05 seconds" in given_up.error
    (met_again,) = Triples(hasty, timeout=60).triples(passage)
    assert met_again == met


@pytest.mark.parametrize("kind", BAD)
def test_bad_answers_are_recorded_the_rest_is_usable_and_only_they_are_asked_for_again(
    kind, tmp_path
):
    bad, reason = BAD[kind]
    model = Counting(anna=bad, dora=bad)
    extractor = Triples(model, workers=3, timeout=0.2 if kind == "stalls" else 60)
    index = Index.from_documents(DOCUMENTS, extractor=extractor)
    assert [id for id, _ in index.failed] == ["anna", "dora"]
    assert all(reason in why for _, why in index.failed)
    assert "2 failed" in repr(index)
    assert facts(index) == whole(anna=True, dora=True)
    again = [TEXTS["anna"], TEXTS["dora"]] * (2 if kind in ("fails", "stalls") else 1)
    assert sorted(model.asked) == sorted([*TEXTS.values(), *again]), (
        "each bad answer was asked for twice, each call that failed made three times"
    )
    assert index.ask("What does Corfu neighbour?", recipe="hipporag", budget=100).ids

    index.save(tmp_path)
    model.instead, model.asked = {}, []
    assert (
        facts(index.add([])) == facts(Index.load(tmp_path, extractor=extractor).add([])) == whole()
    )
    assert index.add([]).failed == ()
    assert sorted(model.asked) == sorted([TEXTS["anna"], TEXTS["dora"]]), (
        "what was bad is asked for once, all else is known"
    )


def test_a_saved_index_needs_the_model_for_nothing_but_new_texts(tmp_path):
    bad = Counting(corfu=down)
    index = Index.from_documents(DOCUMENTS, extractor=Triples(bad))
    index.save(tmp_path)
    loaded = Index.load(tmp_path)
    assert loaded.failed == index.failed
    for one in (index, loaded):
        assert facts(one.delete("anna")) == whole(anna=True, corfu=True)
        assert one.delete("anna").failed == index.failed
        assert (
            one.ask("Who paints?", recipe="hipporag", where=lambda metadata: True).ids
            == index.ask("Who paints?", recipe="hipporag").ids
        )
    loaded.save(tmp_path)
    with pytest.raises(ValueError, match=r"extractor=Triples\('.*give it again"):
        Index.load(tmp_path).add([Document("f", "Flora sells figs.")])
    with pytest.raises(ValueError, match="give the same"):
        Index.load(tmp_path, extractor=Triples(bad, rounds=3))
    good = Counting()
    more = Index.load(tmp_path, extractor=Triples(good, workers=1)).add(
        [Document("f", "Flora sells figs.")]
    )
    assert facts(more) == whole() | {"Flora sells figs": ("f",)}
    assert sorted(good.asked) == ["Corfu neighbours Albania.", "Flora sells figs."]


def test_a_filter_asks_nothing_and_equals_an_index_of_what_it_allows(tmp_path):
    model = Counting(corfu=down)
    documents = [
        replace(document, metadata={"even": i % 2 == 0}) for i, document in enumerate(DOCUMENTS)
    ]
    index = Index.from_documents(documents, extractor=Triples(model))
    asked = len(model.asked)
    filtered = index.ask("Who lives where?", recipe="hipporag", where={"even": True})
    assert len(model.asked) == asked
    built = Index.from_documents(
        [d for d in documents if d.metadata["even"]], extractor=Triples(model)
    )
    assert [(item.id, item.score) for item in filtered] == [
        (item.id, item.score) for item in built.ask("Who lives where?", recipe="hipporag")
    ]


def test_the_index_is_the_same_whatever_the_order_of_the_answers():
    def late(prompt):
        time.sleep(random.random() / 50)
        return answer(prompt)

    built = [
        Index.from_documents(DOCUMENTS, extractor=Triples(late, workers=workers))
        for workers in (1, 2, 5, 5)
    ]
    assert (
        len(
            {
                (
                    tuple(i.graph.ids),
                    i.graph.facts.texts,
                    i.graph.vectors.tobytes(),
                    i.graph.edges.heads.tobytes(),
                )
                for i in built
            }
        )
        == 1
    )


def test_a_killed_process_has_kept_what_it_paid_for(tmp_path):
    script = """
        import sys, os, json
        from clew import Index, Triples, Document
        from tests_model import answer, TEXTS
        calls = 0
        def model(prompt):
            global calls
            calls += 1
            if calls == 4:
                os.kill(os.getpid(), 9)
            return answer(prompt)
        Index.from_documents([Document(id, text) for id, text in TEXTS.items()],
            extractor=Triples(model, workers=1, answers=sys.argv[1]))
    """
    (tmp_path / "tests_model.py").write_text(
        f"import json\nTEXTS = {TEXTS!r}\n"
        "def answer(prompt):\n"
        "    subject, *relation, object = prompt.split('Text:\\n')[1].strip().strip('.').split()\n"
        "    return json.dumps({'facts': [[subject, ' '.join(relation), object]]})\n"
    )
    kept = tmp_path / "answers.sqlite"
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(kept)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert run.returncode == -signal.SIGKILL
    model = Counting()
    model.__name__ = model.__qualname__ = "model"
    index = Index.from_documents(DOCUMENTS, extractor=Triples(model, answers=kept))
    assert facts(index) == whole()
    assert len(model.asked) == 2, "three of five answers were on the disk"


def test_gleaning_asks_for_more_until_nothing_is_missing():
    prompts = []

    def model(prompt):
        prompts.append(prompt)
        facts = [
            ["Anna", "married", "Ben"],
            ["Anna", "sails to", "Corfu"],
            ["Ben", "mends", "nets"],
        ]
        done = sum(json.dumps(fact) in prompt for fact in facts)
        return json.dumps({"facts": facts[done : done + 1]})

    passages = [Passage("a", "Anna, who married Ben, the mender of nets, sails to Corfu.")]
    for rounds, found, calls in ((0, 1, 1), (1, 2, 2), (2, 3, 3), (9, 3, 4)):
        prompts.clear()
        extractor = Triples(model, rounds=rounds)
        assert extractor.estimate(passages).calls == rounds + 1
        assert len(extractor.triples(passages)[0]) == found
        assert len(prompts) == calls
        assert extractor.estimate(passages).calls == 0


def test_what_was_read_before_a_later_round_failed_is_kept():
    def model(prompt):
        return down(prompt) if "known already" in prompt else answer(prompt)

    index = Index.from_documents(DOCUMENTS, extractor=Triples(model, rounds=1))
    assert facts(index) == whole()
    assert len(index.failed) == len(DOCUMENTS)


def test_a_long_passage_is_shown_in_parts_and_equal_ones_once():
    model = Counting()
    text = "\n\n".join(TEXTS.values())
    index = Index.from_documents(
        [Document("all", text), Document("again", text)], extractor=Triples(model, tokens=8)
    )
    assert sorted(model.asked) == sorted(TEXTS.values())
    assert facts(index) == {text.strip("."): ("all", "again") for text in TEXTS.values()}


def test_an_estimate_counts_what_is_then_asked(tmp_path):
    text = "\n\n".join(TEXTS.values())
    splitter = Splitter(8)
    lengths = []

    def model(prompt):
        lengths.append(clew.text.estimate.estimate_tokens(prompt))
        return answer(prompt)

    extractor = Triples(model, answers=tmp_path / "kept.sqlite", max_facts=1)
    expected = clew.estimate_extraction([Document("all", text)], extractor, splitter=splitter)
    assert (expected.passages, expected.calls, expected.calls_at_most) == (5, 5, 10)
    assert not lengths
    Index.from_documents([Document("all", text)], extractor=extractor, splitter=splitter)
    assert (len(lengths), sum(lengths)) == (expected.calls, expected.tokens_in)
    assert expected.tokens_out >= sum(
        clew.text.estimate.estimate_tokens(json.dumps({"facts": [said(t)]})) for t in TEXTS.values()
    )
    again = clew.estimate_extraction(
        [Document("all", text)], Triples(Model("other", model)), splitter=splitter
    )
    assert again.calls == 5, "another model's answers are not this one's"
    assert (
        clew.estimate_extraction([Document("all", text)], extractor, splitter=splitter).calls == 0
    )
    assert "5 passages: 5 calls of the model, 10 at most" in str(expected)


def test_kinds_and_relations_hold_and_what_the_text_does_not_say_is_left_out():
    prompts = []

    def model(prompt):
        prompts.append(prompt)
        if "kind of" in prompt:
            facts = [
                ["Anna", "person", "Married To", "Ben", "Person"],
                ["Anna", "person", "owns", "a boat", "thing"],
            ]
        else:
            facts = [
                ["Anna", "married to", "Ben"],
                ["Anna", "OWNS", "Zeus"],
                ["Anna", "knows", "Ben"],
            ]
        return json.dumps({"facts": facts})

    passages = [Passage("a", "She married Ben.", "Anna")]
    kinds = Triples(model, kinds=["person"], relations=["married to"])
    assert kinds.triples(passages) == [(("Anna", "married to", "Ben"),)]
    assert "person" in prompts[-1].partition("Title:")[0]
    assert Triples(model, relations=("owns",)).triples(passages) == [(("Anna", "owns", "Zeus"),)]
    assert Triples(model, verbatim=True).triples(passages) == [
        (("Anna", "married to", "Ben"), ("Anna", "knows", "Ben"))
    ]


class Llama(CustomLLM):
    @property
    def metadata(self):
        return LLMMetadata(model_name="llama")

    def complete(self, prompt, formatted=False, **kwargs):
        return CompletionResponse(text=answer(prompt))

    def stream_complete(self, prompt, formatted=False, **kwargs):
        raise NotImplementedError


@pytest.mark.parametrize(
    "model",
    [
        Llama(),
        RunnableLambda(lambda prompt: AIMessage(content=f"```json\n{answer(prompt)}\n```")),
        FakeListChatModel(
            responses=[json.dumps({"facts": [said(text)]}) for text in TEXTS.values()]
        ),
        Model("mine", answer, AnswerCache()),
    ],
    ids=["llama_index", "runnable", "chat model", "model"],
)
def test_either_frameworks_model_reads(model):
    extractor = Triples(model, workers=1)
    assert facts(Index.from_documents(DOCUMENTS, extractor=extractor)) == whole()
    assert not is_corpus_wide(extractor)
    assert hash(extractor) == hash(replace(extractor, workers=7))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"facts": [["Anna", "born in", 1926]]}', [("Anna", "born in", "1926")]),
        (
            'Here: [["Anna ", "met\\n", "Ben"], "x", ["Anna", "met", "Ben"]]',
            [("Anna", "met", "Ben")],
        ),
        (
            '{"triples": [{"head": "Anna", "relation": "met", "tail": "Ben"}]}',
            [("Anna", "met", "Ben")],
        ),
        (
            '{"facts": [{"subject": "A", "predicate": "b", "object": "C"}, {"subject": "A"}]}',
            [("A", "b", "C")],
        ),
        ('{"facts": []}', []),
        (json.dumps({"facts": [["a", "b", "c" * 301], ["a", "b", "c"]]}), [("a", "b", "c")]),
        (
            json.dumps({"facts": [["مدينة", "في", "مصر"], ["東京", "は", "首都"]]}),
            [("مدينة", "في", "مصر"), ("東京", "は", "首都")],
        ),
    ],
)
def test_facts_are_checked_one_by_one(text, found):
    assert parse_facts(text) == tuple(found)


@given(
    st.text(max_size=80)
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps)
)
def test_any_answer_is_facts_or_a_value_error(text):
    try:
        found = parse_facts(text)
    except ValueError:
        return
    assert all(len(fact) == 3 and all(part.strip() for part in fact) for fact in found)


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"rounds": -1}, ValueError, "rounds is a whole number of at least 0; got -1"),
        ({"workers": 0}, ValueError, "workers is a whole number of at least 1"),
        ({"kinds": "person"}, TypeError, "kinds are several texts"),
        ({"model": FakeListChatModel}, TypeError, "is the class FakeListChatModel"),
    ],
)
def test_what_cannot_be_is_refused(how, error, message):
    with pytest.raises(error, match=message):
        Triples(**{"model": answer, **how})
