"""The fact filter: the question's language model says which of the nearest facts help to answer it.

HippoRAG 2 (arXiv 2502.14802), recognition memory, whose filter AGRAG (arXiv 2511.05549) takes over:
the nearest facts go into one prompt, and those that the model does not choose are left out. The
prompt has the published one's task in words of our own, and numbers in the place of triples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clew import model as models
from clew.graph import Graph, Mask, Rows, freeze
from clew.types import Query

MAX_TOKENS = 2000  # of the prompt, where the model's own ceiling is not lower
NONE_CHOSEN = "the language model chose none of the nearest facts"
MAX_CHOSEN = 4  # as the published prompt has it, of five facts

PROMPT = """Which of these facts help to answer the question? A fact helps that is about what the \
question names, or that is a step on the way from there to the answer. Answering may take several \
steps.

Question: {question}

Facts:
{facts}

Choose at most {most} facts, of these alone, and none where none helps.
Answer with JSON alone: {{"facts": [the numbers of the facts that help]}}"""


class FactChoice(NamedTuple):
    """What the question's language model chose.

    Attributes:
        mask: which facts remain, or None where no model has chosen.
        notes: for the trace.
    """

    mask: Mask | None
    notes: dict[str, Any]


def choose_facts(graph: Graph, query: Query, facts: Rows, *, asks: bool = True) -> FactChoice:
    """Let the question's language model choose among facts; one call.

    Where the answer cannot be read, no model has chosen, and the notes say so. Facts for which the
    prompt has no room remain.

    Args:
        graph: the graph of the facts.
        query: the question.
        facts: the facts nearest to the question, best first.
        asks: whether a model may be asked.

    Example:
        >>> graph = Graph.from_triples([("Anna", "met", "Ben"), ("Cleo", "paints", "cats")])
        >>> query = Query("Whom did Anna meet?", model=lambda prompt: '{"facts": [1]}')
        >>> choose_facts(graph, query, [0, 1]).mask
        array([ True, False])
    """
    if not asks or query.model is None or not len(facts):
        return FactChoice(None, {})
    model = models.Model.of(query.model)
    prompt = fact_prompt(model, query.text, [graph.facts.texts[fact] for fact in facts])
    shown = prompt.shown + prompt.is_cut
    answer = model.ask(prompt.text, lambda text: read_numbers(text, shown))
    notes: dict[str, Any] = {}
    if prompt.left_out:
        notes["not shown to the model"] = prompt.left_out
    if answer.value is None:
        notes["fallback"] = f"the language model has chosen no facts: {answer.error}"
        return FactChoice(None, notes)
    mask = np.arange(len(facts)) >= shown
    mask[[number - 1 for number in answer.value]] = True
    notes["facts chosen"] = f"{mask.sum()} of {len(mask)}, by the language model"
    return FactChoice(freeze(mask, np.bool_), notes)


def fact_prompt(model: models.Model, question: str, facts: Sequence[str]) -> models.FittedPrompt:
    """Return the prompt, with as many facts as fit. The question has at most half of the room.

    Args:
        model: the model that is asked.
        question: the question.
        facts: the facts' texts, best first.
    """
    ceiling = min(MAX_TOKENS, model.max_prompt_tokens)
    frame = model.tokens(PROMPT.format(question="", facts="", most=MAX_CHOSEN))
    room = (ceiling - frame) // 2
    shown = models.fit_text(question, lambda text: model.tokens(text) <= room)

    def build(parts: Sequence[str]) -> str:
        return PROMPT.format(question=shown, facts="\n".join(parts), most=MAX_CHOSEN)

    lines = [f"{number}. {' '.join(fact.split())}" for number, fact in enumerate(facts, 1)]
    prompt = model.fit(build, lines, "facts", max_tokens=ceiling)
    if shown == question:
        return prompt
    cut = f"the end of the question, of {len(question):,} characters"
    return prompt._replace(left_out=", ".join(filter(None, [cut, prompt.left_out])))


def read_numbers(text: str, n: int) -> list[int]:
    """Return the numbers of facts in a model's answer, each once.

    Args:
        text: the answer.
        n: how many facts the model was shown.

    Raises:
        ValueError: there is no list, or something in it is no number of a fact.

    Example:
        >>> read_numbers('Here: {"facts": [2, "3", 2]}', 3)
        [2, 3]
    """
    answer = models.parse_json(text)
    listed = answer.get("facts") if isinstance(answer, dict) else answer
    if not isinstance(listed, list):
        raise ValueError(f'wanted {{"facts": [numbers]}}; got {text[:80]!r}')  # noqa: TRY004  # an answer, no argument
    numbers = dict.fromkeys(str(number).strip() for number in listed)
    known = {str(number): number for number in range(1, n + 1)}
    for number in numbers:
        if number not in known:
            raise ValueError(f"there is no fact {number[:80]!r}; they are numbered from 1 to {n}")
    return [known[number] for number in numbers]
