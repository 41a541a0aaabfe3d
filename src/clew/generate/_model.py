"""What the generators that ask a language model have in common."""

from __future__ import annotations

from collections.abc import Sequence

from clew.graph import Graph
from clew.model import AnswerSource, FittedPrompt, Model, ModelSource


def check_positive(generator: object, names: Sequence[str]) -> None:
    """Raise ValueError unless each of these fields is a number of at least 1."""
    for name in names:
        value = getattr(generator, name)
        if value < 1:
            raise ValueError(f"{name} is a whole number of at least 1; got {value!r}")


def remember_answers(generator: object, model: ModelSource, answers: AnswerSource | None) -> None:
    """Set a frozen generator's `model` to one that has a cache of answers."""
    object.__setattr__(generator, "model", Model.with_cache(model, answers))


def unread(prompt: FittedPrompt) -> dict[str, str]:
    """Return the metadata of a text whose prompt left something out: what the model has not read.

    Example:
        >>> unread(FittedPrompt("...", 3, left_out="2 of 5 passages"))
        {'unread': '2 of 5 passages'}
    """
    return {"unread": prompt.left_out} if prompt.left_out else {}


def first_that_fit(graph: Graph, rows: Sequence[int], max_tokens: int) -> list[int]:
    """Return the rows whose tokens fit together, in turn; one that does not fit is passed over."""
    chosen = list[int]()
    for row in rows:
        if (tokens := int(graph.tokens[row])) <= max_tokens:
            chosen.append(row)
            max_tokens -= tokens
    return chosen


def extract_reason(error: str) -> str:
    """Return the reason to record where an extract replaces what the model should have written."""
    return f"{error}: an extract stands in its place"


def one_line(text: str) -> str:
    """Return a text with every run of white space as one space."""
    return " ".join(text.split())
