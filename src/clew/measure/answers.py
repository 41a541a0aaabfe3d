"""Exact match and F1 of what a language model answers from a context, as SQuAD defines them.

An answer is compared with the right one without case, punctuation, articles and runs of space.
Exact match says whether they are equal, lenient exact match whether one holds the other; F1 is the
harmonic mean of the precision and recall of their words. Where the right answer may be given in
several ways, the best value counts
(Rajpurkar et al. 2016, section 6.1).
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections import Counter
from os import PathLike

from clew.context import Context
from clew.measure.benchmark import BenchmarkQuestion
from clew.measure.compare import Figure
from clew.measure.judge import CUT_CONTEXT
from clew.model import AnswerCache, Model

ARTICLES = re.compile(r"\b(a|an|the)\b")
INSTRUCTION = "Answer from what is said above, with the answer alone, in as few words as it takes."


def answer_figures(
    model: object, *, answers: AnswerCache | str | PathLike[str] | None = None
) -> dict[str, Figure]:
    """Return the figures "EM", "lenient EM" and "F1" for `compare(figures=...)`.

    The model is asked once for each context. A context that is too long for its prompts is cut,
    with a warning. A figure raises ValueError for a question without an
    `answer` in the benchmark, and RuntimeError when the model fails twice.

    Args:
        model: Whatever `clew.Model.of` takes.
        answers: Where its answers are kept, a cache or the path of its file; None for memory.

    Example:
        >>> import clew
        >>> context = clew.Index.from_documents(["Anna lives on Corfu."]).ask("Where is Anna?")
        >>> question = BenchmarkQuestion("1", "Where is Anna?", ("0",), {"answer": "Corfu"})
        >>> answer_figures(lambda prompt: "on Corfu")["EM"](context, question)
        0.0
    """
    remembering = Model.with_cache(model, answers)

    def answer_to(context: Context, question: BenchmarkQuestion) -> str:
        prompt = remembering.fit(lambda shown: _prompt("".join(shown), question), [context.text])
        if prompt.left_out:
            warnings.warn(CUT_CONTEXT, stacklevel=2)
        answer = remembering.ask(prompt.text, _non_empty)
        if answer.value is None:
            raise RuntimeError(f"no answer to the question {question.id!r}: {answer.error}")
        return answer.value

    def best_exact_match(context: Context, question: BenchmarkQuestion) -> float:
        right_ones = right_answers(question)
        answer = answer_to(context, question)
        return max(exact_match(answer, right) for right in right_ones)

    def best_f1(context: Context, question: BenchmarkQuestion) -> float:
        right_ones = right_answers(question)
        answer = answer_to(context, question)
        return max(f1(answer, right) for right in right_ones)

    def best_lenient_match(context: Context, question: BenchmarkQuestion) -> float:
        right_ones = right_answers(question)
        answer = answer_to(context, question)
        return max(lenient_match(answer, right) for right in right_ones)

    return {"EM": best_exact_match, "lenient EM": best_lenient_match, "F1": best_f1}


def right_answers(question: BenchmarkQuestion) -> tuple[str, ...]:
    """Return the right answers: `answer` and `answer_aliases` of the question in the benchmark.

    Raises:
        ValueError: There is none.
    """
    candidates = [question.extra.get("answer"), *(question.extra.get("answer_aliases") or [])]
    right = tuple(text for text in candidates if isinstance(text, str) and text.strip())
    if not right:
        raise ValueError(
            f"the question {question.id!r} has no answer in queries.jsonl: give it one, or measure "
            "without a model"
        )
    return right


def exact_match(answer: str, right: str) -> float:
    """Return 1 where both are the same once normalised, else 0.

    Example:
        >>> exact_match("The Eiffel Tower!", "eiffel tower")
        1.0
    """
    return float(normalised(answer) == normalised(right))


def lenient_match(answer: str, right: str) -> float:
    """Return 1 where one holds the other, without spaces and in small letters, else 0.

    By this ToG-2 and Kurisu-G2 say "exact match" (the evaluation script of
    https://github.com/IDEA-FinAI/ToG-2). It lets an answer in a whole sentence pass, and one that
    names every possibility.

    Example:
        >>> lenient_match("It is on Corfu.", "corfu"), exact_match("It is on Corfu.", "corfu")
        (1.0, 0.0)
    """
    one, other = (text.replace(" ", "").strip().lower() for text in (answer, right))
    return float(bool(one) and bool(other) and (one in other or other in one))


def f1(answer: str, right: str) -> float:
    """Return the harmonic mean of the precision and recall of the words, in [0, 1].

    Example:
        >>> f1("in Paris, France", "Paris")
        0.5
    """
    words, right_words = normalised(answer).split(), normalised(right).split()
    if not words or not right_words:
        return float(words == right_words)
    shared = sum((Counter(words) & Counter(right_words)).values())
    return 2 * shared / (len(words) + len(right_words))


def normalised(text: str) -> str:
    """Return the text without case, punctuation, English articles and runs of space.

    Punctuation is that of any script.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    bare = "".join(sign for sign in folded if unicodedata.category(sign)[0] != "P")
    return " ".join(ARTICLES.sub(" ", bare).split())


def _prompt(context: str, question: BenchmarkQuestion) -> str:
    return f"{context}\n\nQuestion: {question.text}\n\n{INSTRUCTION}"


def _non_empty(answer: str) -> str:
    if not answer.strip():
        raise ValueError("the answer is empty")
    return answer.strip()
