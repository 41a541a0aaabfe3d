"""How good is what a language model answers from a context?  Exact match and F1, as SQuAD has them (Rajpurkar et al. 2016, section 6.1).

An answer and the right one are compared without case, punctuation, articles and runs of space: equal or not, and the harmonic mean of the
precision and recall of their words, the best over all the ways in which the right answer may be given.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Any

from clew.context import Context
from clew.measure.benchmark import BenchmarkQuestion
from clew.measure.compare import Figure
from clew.model import Model

ARTICLES = re.compile(r"\b(a|an|the)\b")


def answer_figures(model: Any, *, answers: Any = None) -> dict[str, Figure]:
    """Return the figures "EM" and "F1" for `compare(figures=...)`: the model is asked once for each context.

    Args:
        model: whatever `clew.model.Model.of` takes. answers: where its answers are kept, an `Answers` or a path; None for memory.

    Raises:
        ValueError: when a figure is taken of a question without an `answer` in the benchmark. RuntimeError: when the model fails twice.
    """
    asked = Model.remembering(model, answers)

    def said(context: Context, question: BenchmarkQuestion) -> str:
        answer = asked.ask(_prompt(context, question), _words)
        if answer.value is None:
            raise RuntimeError(f"no answer to the question {question.id!r}: {answer.error}")
        return answer.value

    def exact(context: Context, question: BenchmarkQuestion) -> float:
        return max(exact_match(said(context, question), right) for right in right_answers(question))

    def overlap(context: Context, question: BenchmarkQuestion) -> float:
        return max(f1(said(context, question), right) for right in right_answers(question))

    return {"EM": exact, "F1": overlap}


def right_answers(question: BenchmarkQuestion) -> tuple[str, ...]:
    """Return the ways in which the question may be answered: its `answer` and `answer_aliases` in the benchmark."""
    more: Mapping[str, Any] = question.more
    found = [more.get("answer"), *(more.get("answer_aliases") or [])]
    right = tuple(one for one in found if isinstance(one, str) and one.strip())
    if not right:
        raise ValueError(
            f"the question {question.id!r} has no answer in queries.jsonl: give it one, or measure without a model"
        )
    return right


def exact_match(answer: str, right: str) -> float:
    """Return 1 where both are the same once normalised, else 0."""
    return float(normalised(answer) == normalised(right))


def f1(answer: str, right: str) -> float:
    """Return the harmonic mean of precision and recall of the words, 0 to 1."""
    one, other = normalised(answer).split(), normalised(right).split()
    if not one or not other:
        return float(one == other)
    shared = sum((Counter(one) & Counter(other)).values())
    return 2 * shared / (len(one) + len(other))


def normalised(text: str) -> str:
    """Return the text without case, punctuation, the articles of English and runs of space; in any script."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    bare = "".join(sign for sign in folded if unicodedata.category(sign)[0] != "P")
    return " ".join(ARTICLES.sub(" ", bare).split())


def _prompt(context: Context, question: BenchmarkQuestion) -> str:
    wanted = "Answer from what is said above, with the answer alone, in as few words as it takes."
    return f"{context.text}\n\nQuestion: {question.text}\n\n{wanted}"


def _words(answer: str) -> str:
    if not answer.strip():
        raise ValueError("the answer is empty")
    return answer.strip()
