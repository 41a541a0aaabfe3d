"""A conversation: the last question is looked up, and a model answers from the numbered passages.

Without a model the answer is the sentences that answer, word for word. Either names its passages by
their numbers, in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from clew.cite import citations, quote_sources, without_citations
from clew.context import Context
from clew.conversation import (
    NOT_ASKED,
    NOTHING,
    Exchange,
    answer_prompt,
    referring,
    written_answer,
    written_in_full,
)
from clew.items import Item
from clew.model import Model
from clew.serve.served_index import AskedAnswer
from clew.show import location_of
from clew.text.courtesy import is_courtesy

MAX_REMEMBERED = 12  # messages before the last
MAX_QUESTION = 10_000  # characters
SOURCES_BELOW = re.compile(r"(?<!\n)(?:\n++\[\d+\] [^\n]*+)+\Z")  # what `source_lines` returns


class ChatMessage(NamedTuple):
    """One message: its role, "system", "user" or "assistant", and its text."""

    role: str
    text: str


def last_question(messages: Sequence[ChatMessage]) -> str:
    """Return the text of the last message of the user.

    Raises:
        ValueError: There is none with a word in it.

    Example:
        >>> last_question([ChatMessage("user", "Who?"), ChatMessage("assistant", "Anna.")])
        'Who?'
    """
    for message in reversed(messages):
        if message.role == "user" and message.text.strip():
            return message.text
    raise ValueError("a conversation has a message of the role 'user' with at least one word")


def standalone_question(messages: Sequence[ChatMessage], model: Model | None) -> str:
    """Return the last question as it can be looked up: with what it refers to.

    A model writes that out, where something came before it; where the model fails, the question is
    looked up as it stands. Without a model it is looked up with the names of the last answer, or
    behind the question before it, as `clew.Conversation` does.
    """
    question, before = last_question(messages), _before_last(messages)
    if not before:
        return question
    if model is None:
        return referring(question, _exchanges(before), MAX_QUESTION)
    return written_in_full(model, question, _lines(before)) or question


def answer_pieces(
    answer: AskedAnswer, messages: Sequence[ChatMessage], model: Model | None
) -> Iterator[str]:
    """Yield the answer, piece by piece: the model's, or quotes in one piece.

    Args:
        answer: What was looked up, with numbered items.
        messages: The conversation; the last question is answered.
        model: The model; None for quotes.

    Raises:
        ModelError: The model gave no answer, or an empty one.
    """
    if model is None and is_courtesy(last_question(messages)):
        yield NOT_ASKED
    elif not answer.context.items:
        yield NOTHING
    elif model is None:
        yield answer.quotes or ("" if answer.remark else NOTHING)
    else:
        yield from written_answer(model, _prompt(answer.context, messages, model))


def cited_items(text: str, context: Context, model: Model | None) -> dict[int, Item]:
    """Return the items that an answer cites, by number.

    Args:
        text: The answer.
        context: What it was made of.
        model: The model that wrote it; None for quotes.
    """
    return quote_sources(text, context) if model is None else citations(text, context)


def source_lines(cited: Mapping[int, Item]) -> str:
    r"""Return what an answer cites as lines to be shown below it; "" where it cites nothing.

    Example:
        >>> print(source_lines({1: Item("boats.md", "Ash.", 0.7, "seed", "passage", 5)}))
        [1] boats.md
    """
    return "\n".join(f"[{number}] {location_of(item)}" for number, item in cited.items())


def _prompt(context: Context, messages: Sequence[ChatMessage], model: Model) -> str:
    """Return the prompt; the oldest messages are left out first where it is too long."""
    wishes = [one.text for one in messages if one.role in ("system", "developer")]
    shown = [  # the numbers in an answer are those of other passages
        one._replace(text=without_citations(one.text)) if one.role == "assistant" else one
        for one in _before_last(messages)
    ]
    question = last_question(messages)
    return answer_prompt(model, context.text, question, _lines(shown), wishes)


def _before_last(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the latest messages of user and assistant before the last question."""
    talk = [one for one in messages if one.role in ("user", "assistant") and one.text.strip()]
    while talk and talk[-1].role != "user":
        talk.pop()
    return talk[:-1][-MAX_REMEMBERED:]


def _exchanges(messages: Sequence[ChatMessage]) -> list[Exchange]:
    """Return what was said as questions, what each was looked up with, and their answers."""
    found, is_asked = list[Exchange](), False
    for role, text in messages:
        said = text[:MAX_QUESTION]
        if role == "user" and is_courtesy(said):
            is_asked = False
        elif role == "user":
            is_asked = True
            found.append(Exchange(said, referring(said, found, MAX_QUESTION), ""))
        elif found and is_asked:
            found[-1] = found[-1]._replace(answer=SOURCES_BELOW.sub("", said))
    return found


def _lines(messages: Sequence[ChatMessage]) -> list[str]:
    return [f"{one.role}: {one.text}" for one in messages]
