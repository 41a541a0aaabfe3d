"""Which of two answers is better, by the caller's language model, in both orders.

Four measures, as LightRAG and DA-RAG take them (arXiv 2410.05779; arXiv 2602.08545, section 6.1, appendix B.2): comprehensiveness,
diversity, empowerment, and overall. A model that judges prefers a place as such (Wang et al., "Large language models are not fair
evaluators", ACL 2024), so each pair is judged twice, the second time with the answers exchanged; a win is the mean of both. Against itself
an answer wins half of the time, whatever the model.

    one, other = ([index.ask(q, recipe=r) for q in questions] for r in ("da_rag", "dense"))
    judge(model, questions, answers_of(model, questions, one), answers_of(model, questions, other)).wins

The model is a function, or one of LangChain's or LlamaIndex's. The judge asks twice for each question, and `answers_of` once for each
context; `clew measure --model` compares answers with those that are known, and needs no judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.measure.paired import intervals
from clew.model import Model, parse_json

MEASURES = {
    "comprehensiveness": "How much detail does the answer give to cover all sides of the question?",
    "diversity": "How varied and rich is it in perspectives and insights?",
    "empowerment": "How well does it help the reader to understand, and to judge the matter for themselves?",
}
OVERALL = "overall"

PROMPT = """Two answers were given to one question. Say for each measure which is better, and then which is better overall.

Question: {question}

{measures}

Answer 1:
{first}

Answer 2:
{second}

Reply with JSON alone, 1 or 2 for each: {{{wanted}}}"""


@dataclass(frozen=True)
class JudgeVerdict:
    """How often the first method wins, by measure: the share of questions in [0, 1] and its 95 % interval (bootstrap over questions).

    `questions` were judged in both orders; `failed` have the reason why one was not, by its place. `steady` is the share of overall
    verdicts that both orders agree on.
    """

    wins: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]
    questions: int
    steady: float
    failed: tuple[tuple[int, str], ...] = ()


def judge(
    model: Any,
    questions: Sequence[str],
    first: Sequence[str],
    second: Sequence[str],
    *,
    workers: int = 4,
    samples: int = 10_000,
    progress: bool = False,
) -> JudgeVerdict:
    """Return how often the `first` answers win over the `second`.

    Args:
        model: anything `clew.model.Model.of` takes; give it a memory and nothing is paid for twice.
        questions, first, second: as many of each. workers: prompts that are asked at a time. samples: of the bootstrap.

    Raises:
        ValueError: no questions, other numbers of answers, or none of which was judged in both orders.
    """
    n = len(questions)
    if not n or len(first) != n or len(second) != n:
        raise ValueError(
            f"wanted as many answers as questions, and at least one; got {n} questions, {len(first)} and {len(second)} answers"
        )
    prompts = [prompt_of(*three) for three in zip(questions, first, second, strict=True)]
    prompts += [prompt_of(*three) for three in zip(questions, second, first, strict=True)]
    answers = Model.of(model).ask_all(
        prompts, verdict, workers=workers, progress=progress, what="judging"
    )
    pairs = list(zip(answers[:n], answers[n:], strict=True))
    failed = tuple(
        (i, one.error or other.error)
        for i, (one, other) in enumerate(pairs)
        if one.value is None or other.value is None
    )
    both = [
        (one.value, other.value)
        for one, other in pairs
        if one.value is not None and other.value is not None
    ]
    if not both:
        raise ValueError(
            f"none of the {n} questions was judged in both orders; the first time: {failed[0][1]}"
        )
    names = [*MEASURES, OVERALL]
    wins = np.array(
        [[((one[name] == 1) + (other[name] == 2)) / 2 for one, other in both] for name in names]
    )
    low, high = intervals(wins, samples=samples)
    return JudgeVerdict(
        dict(zip(names, wins.mean(axis=1).tolist(), strict=True)),
        dict(zip(names, low.tolist(), strict=True)),
        dict(zip(names, high.tolist(), strict=True)),
        len(both),
        float(np.mean([one[OVERALL] != other[OVERALL] for one, other in both])),
        failed,
    )


def prompt_of(question: str, first: str, second: str) -> str:
    """Return what the model is asked about two answers, in this order."""
    measures = "\n".join(f"- {name}: {asked}" for name, asked in MEASURES.items())
    wanted = ", ".join(f'"{name}": 1 or 2' for name in (*MEASURES, OVERALL))
    return PROMPT.format(
        question=question, measures=measures, first=first, second=second, wanted=wanted
    )


def verdict(text: str) -> dict[str, int]:
    """Return 1 or 2 for every measure in a model's reply; raise ValueError where one is missing."""
    came = parse_json(text)
    if not isinstance(came, dict):
        raise ValueError("a list came; wanted an object")  # noqa: TRY004  # an answer, no argument
    said = {
        str(name).lower(): str(value).strip().lower().removeprefix("answer ")
        for name, value in came.items()
    }
    if wrong := [name for name in (*MEASURES, OVERALL) if said.get(name) not in ("1", "2")]:
        raise ValueError(f"{wrong[0]!r} must be 1 or 2; it is {said.get(wrong[0])!r}")
    return {name: int(said[name]) for name in (*MEASURES, OVERALL)}


def answers_of(
    model: Any,
    asked: Sequence[str],
    contexts: Sequence[Any],
    *,
    workers: int = 4,
    instruction: str = "",
) -> list[str]:
    """Return the model's answer to each question out of each context, "" where it gave none; what `judge` can then compare."""
    rule = (
        instruction
        or "Answer the question out of the context alone. If the context does not say, say so."
    )
    prompts = [
        f"{rule}\n\nContext:\n{context}\n\nQuestion: {question}"
        for question, context in zip(asked, contexts, strict=True)
    ]
    read: Callable[[str], str] = str.strip
    return [
        answer.value or "" for answer in Model.of(model).ask_all(prompts, read, workers=workers)
    ]
