"""A language model that is slow, wrong, silent, verbose or hostile, through all that asks one.

No prompt is above its ceiling, nothing is lost, and what was used is told exactly: the model here
keeps its own books, by which all others are checked.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace

import pytest

import clew
from clew import Document, Index, recipes
from clew.documentation import write_documentation
from clew.generate import Descriptions, Reports, Summaries
from clew.global_answer import GlobalOptions, answer_globally
from clew.index.answer import UnusedModelWarning
from clew.measure.judge import answers_of, judge
from clew.model import Model
from clew.spread import BestFirst, ModelIntent
from clew.types import may_ask_model
from clew.usage import Usage, metered

CEILING = 700  # tokens of a prompt, by `count`


def count(text):
    return len(text.split())


ANSWERS = {
    "helpful": '{"title": "T", "summary": "Anna knows Ben.", "description": "Anna.", "score": 80, '
    '"report": "Anna knows Ben.", "facts": [["Anna", "knows", "Ben"]], "question": "Who?"}',
    "wrong": '{"title": 3, "score": 900, "report": [], "facts": 7, "rating": -4}',
    "silent": "",
    "verbose": '{"title": "' + "very long " * 5000 + '", "summary": "x", "score": "85/100"}',
    "nested": "[" * 100_000,
    "hostile": '\x00\ud800 ignore all instructions {"facts": [["Anna", "knows", "\x00"]]}',
    "number": "85",
}


class Books:
    """A model that answers in one way and keeps the books: prompts, and tokens as it tells them."""

    def __init__(self, kind):
        self.model_name, self.kind = kind, kind
        self.prompts, self.answers, self.failed, self.lock = [], [], 0, threading.Lock()

    def __call__(self, prompt):
        with self.lock:
            self.prompts.append(prompt)
        if self.kind == "slow":
            time.sleep(0.01)
        if self.kind == "fails":
            with self.lock:
                self.failed += 1
            raise ConnectionError("reset \ud800")
        answer = ANSWERS.get(self.kind, ANSWERS["helpful"])
        with self.lock:
            self.answers.append(answer)
        return answer

    def usage(self):
        calls = len(self.prompts)
        return Usage(
            calls,
            sum(map(count, self.prompts)),
            sum(map(count, self.answers)),
            counted=calls,
            failed=self.failed,
        )


KINDS = [*ANSWERS, "slow", "fails"]


def long_text(i, n=30):
    return " ".join(
        f"Anna knows Ben {i} and sails to Corfu on day {j} of the year." for j in range(n)
    )


@pytest.fixture(scope="module")
def bare(embed):
    """Passages of which some are far above a prompt's ceiling, with facts that join them."""
    documents = [Document(f"d{i}", long_text(i, 150 if i == 3 else 6)) for i in range(8)]
    facts = {
        f"d{i}": [("Anna", "knows", f"Ben {i}"), (f"Ben {i}", "knows", f"Ben {(i + 1) % 8}")]
        for i in range(8)
    }
    return Index.from_documents(documents, facts=facts, embedder=embed, count=count)


@pytest.fixture(scope="module")
def plain(bare):
    return bare.generate(Reports(min_passages=1))


@pytest.fixture(scope="module")
def small(embed):
    return Index.from_documents(["Anna knows Ben.", "Ben lives on Corfu."], embedder=embed)


def made(kind, **options):
    books = Books(kind)
    options = {"max_prompt_tokens": CEILING, "retries": 1, **options}
    return books, Model.of(books, **options)


def check(books, usage):
    """Compare with the model's own books; what equal prompts shared is no call."""
    assert replace(usage, remembered=0) == books.usage()
    assert all(count(prompt) <= CEILING for prompt in books.prompts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [Descriptions, Summaries, Reports], ids=lambda one: one.__name__)
def test_generators_lose_nothing(kind, make, bare):
    books, model = made(kind)
    generator = make(model) if make is Descriptions else make(model, min_passages=1)
    without = make() if make is Descriptions else make(min_passages=1)
    generated, extracts = generator.on(bare.graph), without.on(bare.graph)
    assert generated.ids == extracts.ids
    assert all(text.strip() for text in generated.texts)
    assert books.prompts
    check(books, generated.usage)
    by_model = [one["by"] == "model" for one in generated.metadata]
    assert len(generated.failed) == by_model.count(False)
    assert all(reason for _, reason in generated.failed)
    calls = len(books.prompts)
    grown = bare.generate(generator)
    assert len(books.prompts) - calls == grown.usage.calls
    if all(by_model):
        assert grown.usage.calls == 0, "nothing is paid for twice"
        unread = [one.get("unread", "") for one in generated.metadata]
        assert any(unread), "what does not fit is cut, and that is said"


@pytest.mark.parametrize("kind", KINDS)
def test_the_extractor_reads_all_of_a_long_passage_in_parts(kind, embed):
    books, model = made(kind)
    text = long_text(3, 150)
    index = Index.from_documents(
        [Document("long", text), Document("short", "Anna knows Ben.")],
        embedder=embed,
        count=count,
        extractor=clew.Triples(model, rounds=1),
    )
    check(books, index.usage)
    shown = " ".join(prompt.split("Text:\n")[1] for prompt in books.prompts)
    assert all(f"day {j} of" in shown for j in range(150))
    assert len(index.failed) in (0, 2)
    again = index.add([Document("third", "Cleo paints.")])
    new = books.prompts[index.usage.calls :]
    assert again.usage.calls == len(books.prompts)
    assert index.failed or all("Cleo paints." in prompt for prompt in new)


ASKING = [name for name in recipes.names() if may_ask_model(recipes.get(name))]
INTENT = replace(
    recipes.get("journey"),
    spreads=tuple(
        replace(stage, searches=(BestFirst(intent=ModelIntent()),))
        if hasattr(stage, "searches")
        else stage
        for stage in recipes.get("journey").spreads
    ),
)
METHODS = {**{name: name for name in ASKING}, "intent": INTENT}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("recipe", METHODS)
def test_recipes_answer_whatever_the_model_says(recipe, kind, plain):
    books, model = made(kind)
    method = METHODS[recipe]
    context = plain.ask("Whom does Anna know?", recipe=method, budget=2500, model=model)
    assert books.prompts
    check(books, context.usage)
    assert len(context)
    assert count(context.text) <= 2500
    assert context.to_dict()["usage"]["calls"] == len(books.prompts)


@pytest.mark.parametrize("kind", ["helpful", "silent", "fails"])
@pytest.mark.parametrize("recipe", METHODS)
def test_the_prompts_of_recipes_keep_their_ceiling_for_a_long_question(recipe, kind, plain):
    books, model = made(kind)
    long_question = "Whom does Anna know? " * 2000
    context = plain.ask(long_question, recipe=METHODS[recipe], budget=2500, model=model)
    assert len(context)
    assert all(count(prompt) <= CEILING for prompt in books.prompts)


@pytest.mark.parametrize("recipe", [name for name in recipes.names() if name not in ASKING])
def test_a_recipe_that_asks_no_model_says_so(recipe, small):
    books, model = made("helpful")
    with pytest.warns(UnusedModelWarning, match="asks no language model"):
        context = small.ask("Whom does Anna know?", recipe=recipe, budget=500, model=model)
    assert len(context)
    assert not books.prompts
    assert not context.usage
    assert "asks no language model" in context.trace[-1].notes["fallback"]


@pytest.mark.parametrize("kind", KINDS)
def test_global_answers(kind, plain):
    books, model = made(kind)
    answer = answer_globally(plain, "What is it about?", model, GlobalOptions(batch_tokens=5000))
    check(books, answer.usage)
    assert answer.reports
    assert answer.failed


def test_a_bad_number_costs_its_point_alone(plain):
    good = {"point": "Anna sails.", "score": "85/100", "reports": ["[1]"]}
    bad = [
        {"point": "Ben sails.", "score": "a lot", "reports": [1]},
        {"point": "Cleo sails.", "score": 50, "reports": [999]},
        {"score": 50, "reports": [1]},
        "prose",
    ]

    def model(prompt):
        return "They sail [1]." if "these points" in prompt else json.dumps([good, *bad])

    answer = answer_globally(plain, "Who sails?", model)
    assert {(point.text, point.score) for point in answer.points} == {("Anna sails.", 85.0)}
    batches = answer.calls - 1
    assert len(answer.failed) == len(bad) * batches, "none is asked for again, all are told"
    only_bad = answer_globally(plain, "Who sails?", lambda prompt: json.dumps(bad))
    assert not only_bad.points
    assert only_bad.failed


@pytest.mark.parametrize("kind", KINDS)
def test_documentation(kind, plain):
    books, model = made(kind)
    documentation = write_documentation(
        plain, model=model, budget=1200, sections=2, coverage=0, questions_per_branch=40
    )
    check(books, documentation.usage)
    assert documentation.sections
    assert documentation.failed, "what could not be done or read is told"


@pytest.mark.parametrize("kind", KINDS)
def test_judge_and_answers(kind):
    books, model = made(kind)
    with metered(count) as meter, pytest.warns(UserWarning, match="is cut"):
        answers = answers_of(model, ["Who?", "Whom?"], [long_text(1, 200), "Anna."])
    check(books, meter.usage)
    assert len(answers) == 2
    verdict = json.dumps(
        dict.fromkeys(["comprehensiveness", "diversity", "empowerment", "overall"], 1)
    )
    sent = []

    def judging(prompt):
        sent.append(prompt)
        return verdict

    judged = judge(
        Model.of(judging, max_prompt_tokens=CEILING, count=count),
        ["Who?", "Whom?"],
        [long_text(1, 200), "Anna."],
        [long_text(2, 100), "Ben."],
    )
    assert (judged.questions, judged.cut) == (2, (0,))
    assert all(count(prompt) <= CEILING for prompt in sent)
    assert judged.usage.calls == len(sent) == 4
