"""Which of two answers is better, by the caller's language model, in both orders.

The criteria are those of LightRAG and DA-RAG (arXiv 2410.05779; arXiv 2602.08545, section 6.1,
appendix B.2): comprehensiveness, diversity, empowerment, and overall. A model that judges prefers a
place as such (Wang et al., "Large language models are not fair evaluators", ACL 2024), so each pair
is judged twice, the second time with the answers exchanged. A win is the mean of both: against
itself an answer wins half of the time, whatever the model.

    first, second = ([index.ask(q, recipe=r) for q in questions] for r in ("da_rag", "dense"))
    answers = [answers_of(model, questions, contexts) for contexts in (first, second)]
    judge(model, questions, *answers).wins

The model is a function, or a model of LangChain or LlamaIndex. The judge asks twice for each
question, and `answers_of` once for each context. `clew measure --model` compares answers with those
that are known, and needs no judge.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clew.measure.paired import bootstrap_intervals
from clew.model import Model, fit_texts, parse_json
from clew.usage import NO_USAGE, Usage, total_usage

CRITERIA = {
    "comprehensiveness": "How much detail does the answer give to cover all sides of the question?",
    "diversity": "How varied and rich is it in perspectives and insights?",
    "empowerment": "How well does it help the reader to understand, and to judge the matter for "
    "themselves?",
}
OVERALL = "overall"

PROMPT = """Two answers were given to one question. Say for each measure which is better, and \
then which is better overall.

Question: {question}

{criteria}

Answer 1:
{first}

Answer 2:
{second}

Reply with JSON alone, 1 or 2 for each: {{{wanted}}}"""

CUT_CONTEXT = (
    "a context is cut, since it is too long for one prompt: Model.of(model, max_prompt_tokens=...) "
    "allows longer ones"
)
INSTRUCTION = "Answer the question out of the context alone. If the context does not say, say so."


@dataclass(frozen=True)
class JudgeVerdict:
    """How often the first method wins.

    Attributes:
        wins: By criterion, the share of questions that it wins, in [0, 1].
        low: The lower ends of the 95 % intervals (bootstrap over questions).
        high: The upper ends.
        questions: How many questions were judged in both orders.
        consistency: The share of overall verdicts that are the same in both orders.
        failed: The places of questions that were not judged, each with the reason.
        cut: The places of questions whose answers were too long for the model's prompts. Both
            answers of each were cut to one length, and judged so.
        usage: The calls and tokens of the model.
    """

    wins: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]
    questions: int
    consistency: float
    failed: tuple[tuple[int, str], ...] = ()
    cut: tuple[int, ...] = ()
    usage: Usage = NO_USAGE


def judge(
    model: object,
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
        model: Whatever `clew.Model.of` takes. With a cache, no answer is paid for twice.
        questions: The questions.
        first: An answer to each.
        second: Another answer to each.
        workers: How many prompts are asked at a time.
        samples: How often the bootstrap draws the questions.
        progress: Whether to show a progress bar.

    Raises:
        ValueError: There are no questions, other numbers of answers, or no question was judged in
            both orders.

    Example:
        >>> import json
        >>> def prefers_ash(prompt):
        ...     choice = 1 if "Of ash" in prompt.split("Answer 2:")[0] else 2
        ...     return json.dumps(dict.fromkeys([*CRITERIA, OVERALL], choice))
        >>> judge(prefers_ash, ["Of what are oars?"], ["Of ash."], ["Of flax."]).wins["overall"]
        1.0
    """
    n = len(questions)
    if not n or len(first) != n or len(second) != n:
        raise ValueError(
            "wanted as many answers as questions, and at least one; got "
            f"{n} questions, {len(first)} and {len(second)} answers"
        )
    asked, prompts, cut = Model.of(model), list[str](), dict[int, None]()
    for one, other in ((first, second), (second, first)):
        for i, (question, *both) in enumerate(zip(questions, one, other, strict=True)):
            prompt, n_cut = _fitted_prompt(asked, question, both)
            prompts.append(prompt)
            if n_cut:
                cut[i] = None
    answers = asked.ask_all(
        prompts, parse_verdict, workers=workers, progress=progress, label="judging"
    )
    verdicts = list[tuple[dict[str, int], dict[str, int]]]()
    failed = list[tuple[int, str]]()
    for i, (forward, exchanged) in enumerate(zip(answers[:n], answers[n:], strict=True)):
        if forward.value is None or exchanged.value is None:
            failed.append((i, forward.error or exchanged.error))
        else:
            verdicts.append((forward.value, exchanged.value))
    if not verdicts:
        raise ValueError(
            f"none of the {n} questions was judged in both orders; the first time: {failed[0][1]}"
        )
    names = [*CRITERIA, OVERALL]
    wins = np.array(
        [
            [((forward[name] == 1) + (exchanged[name] == 2)) / 2 for forward, exchanged in verdicts]
            for name in names
        ]
    )
    low, high = bootstrap_intervals(wins, samples=samples)
    same = [forward[OVERALL] != exchanged[OVERALL] for forward, exchanged in verdicts]
    return JudgeVerdict(
        dict(zip(names, wins.mean(axis=1).tolist(), strict=True)),
        dict(zip(names, low.tolist(), strict=True)),
        dict(zip(names, high.tolist(), strict=True)),
        len(verdicts),
        float(np.mean(same)),
        tuple(failed),
        tuple(cut),
        total_usage(answer.usage for answer in answers),
    )


def _fitted_prompt(model: Model, question: str, answers: Sequence[str]) -> tuple[str, int]:
    """Return the prompt on two answers, cut to one length where they are too long together."""

    def build(shown: Sequence[str]) -> str:
        return judge_prompt(question, shown[0], shown[1])

    return fit_texts(build, answers, model.max_prompt_tokens, model.tokens)


def judge_prompt(question: str, first: str, second: str) -> str:
    """Return what the model is asked about two answers, in this order."""
    criteria = "\n".join(f"- {name}: {meaning}" for name, meaning in CRITERIA.items())
    wanted = ", ".join(f'"{name}": 1 or 2' for name in (*CRITERIA, OVERALL))
    return PROMPT.format(
        question=question, criteria=criteria, first=first, second=second, wanted=wanted
    )


def parse_verdict(text: str) -> dict[str, int]:
    """Return 1 or 2 for every criterion in a model's reply.

    Raises:
        ValueError: One is missing.
    """
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError("a list came; wanted an object")  # noqa: TRY004  # an answer, no argument
    choices = {
        str(name).lower(): str(choice).strip().lower().removeprefix("answer ")
        for name, choice in value.items()
    }
    for name in (*CRITERIA, OVERALL):
        if choices.get(name) not in ("1", "2"):
            raise ValueError(f"{name!r} must be 1 or 2; it is {choices.get(name)!r}")
    return {name: int(choices[name]) for name in (*CRITERIA, OVERALL)}


def answers_of(
    model: object,
    questions: Sequence[str],
    contexts: Sequence[object],
    *,
    workers: int = 4,
    instruction: str = "",
) -> list[str]:
    """Return the model's answer to each question out of its context, for `judge` to compare.

    Args:
        model: Whatever `clew.Model.of` takes.
        questions: The questions.
        contexts: A context for each, or a text.
        workers: How many prompts are asked at a time.
        instruction: What the model is told to do; "" to answer from the context alone.

    Returns:
        The answers; "" where the model gave none. A context that is too long for the model's
        prompts is cut, with a warning.

    Example:
        >>> answers_of(lambda prompt: "Of ash.", ["Of what are oars?"], ["Oars are of ash."])
        ['Of ash.']
    """
    asked, prompts = Model.of(model), list[str]()
    for question, context in zip(questions, contexts, strict=True):
        end = f"Question: {question}"

        def build(shown: Sequence[str], end: str = end) -> str:
            return f"{instruction or INSTRUCTION}\n\nContext:\n{''.join(shown)}\n\n{end}"

        prompt = asked.fit(build, [str(context)])
        if prompt.left_out:
            warnings.warn(CUT_CONTEXT, stacklevel=2)
        prompts.append(prompt.text)
    answers = asked.ask_all(prompts, _strip, workers=workers)
    return [answer.value or "" for answer in answers]


def _strip(text: str) -> str:
    return text.strip()
