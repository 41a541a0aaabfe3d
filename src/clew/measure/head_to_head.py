"""Recipes judged against each other, with what each of them costs.

DA-RAG's own evaluation (arXiv 2602.08545, section 6, table 1 and figure 4): questions on a whole
corpus (`clew.measure.generate_questions`), an answer from the context of each recipe, a judge that
sees each pair of answers in both orders, and for each recipe the calls, tokens and seconds of a
question. `clew measure FOLDER --judge --model M` prints both tables.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from clew import recipes as known_recipes
from clew.budget import BudgetError
from clew.context import Context
from clew.index.index import Index
from clew.measure.judge import JudgeVerdict, answers_of, judge
from clew.measure.usage import ModelMeter, ModelUse
from clew.text.estimate import estimate_tokens
from clew.types import Method, may_ask_model


@dataclass(frozen=True)
class RecipeCosts:
    """What all questions cost with one recipe.

    Attributes:
        questions: How many questions were asked.
        retrieval: What the recipe asked a model for.
        retrieval_seconds: The time until the contexts were there.
        answering: What the answers took.
        answering_seconds: Their time, with as many prompts at a time as there are workers.
        context_tokens: The tokens of all contexts.
        failed: Questions without a context, each with the reason.
    """

    questions: int
    retrieval: ModelUse
    retrieval_seconds: float
    answering: ModelUse
    answering_seconds: float
    context_tokens: int
    failed: tuple[tuple[str, str], ...] = ()

    def rows(self) -> list[tuple[str, ModelUse, float]]:
        """Return the stages, with the use of the model and the seconds of each."""
        whole = self.retrieval + self.answering
        seconds = self.retrieval_seconds + self.answering_seconds
        return [
            ("retrieval", self.retrieval, self.retrieval_seconds),
            ("answer", self.answering, self.answering_seconds),
            ("both", whole, seconds),
        ]


@dataclass(frozen=True)
class HeadToHead:
    """The first recipe against each of the others.

    Attributes:
        first: The name of the first recipe.
        verdicts: The judge's verdict on it, by the name of the other recipe.
        costs: The costs of every recipe, by name.
        judging: What the judge was asked for, in all.
        budget: The tokens of a context, at most; None for no ceiling.
        notes: What else is to be known.
    """

    first: str
    verdicts: dict[str, JudgeVerdict]
    costs: dict[str, RecipeCosts]
    judging: ModelUse
    budget: int | None
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return it as dictionaries, lists, strings and numbers, ready for JSON."""
        return asdict(self)

    def to_markdown(self) -> str:
        """Return the tables of wins and of costs."""
        some = next(iter(self.verdicts.values()))
        names = list(some.wins)
        over = f"95 % intervals over {some.questions} questions"
        lines = [
            f"How often {self.first} wins, both orders; {over}",
            "",
            f"| against | {' | '.join(names)} | consistent |",
            f"|---|{'---|' * (len(names) + 1)}",
        ]
        for other, verdict in self.verdicts.items():
            wins = [
                f"{100 * verdict.wins[name]:.1f} % "
                f"({100 * verdict.low[name]:.1f} to {100 * verdict.high[name]:.1f})"
                for name in names
            ]
            lines.append(f"| {other} | {' | '.join(wins)} | {100 * verdict.consistency:.0f} % |")
        lines += [
            "",
            "A question's calls, tokens and seconds, in the mean",
            "",
            "| recipe | stage | calls | prompt tokens | answer tokens | seconds | context tokens |",
            "|---|---|---|---|---|---|---|",
        ]
        for name, costs in self.costs.items():
            n = costs.questions
            for stage, use, seconds in costs.rows():
                context = f"{costs.context_tokens / n:,.0f}" if stage == "retrieval" else ""
                lines.append(
                    f"| {name} | {stage} | {use.calls / n:.1f} | {use.prompt_tokens / n:,.0f} | "
                    f"{use.completion_tokens / n:,.0f} | {seconds / n:.2f} | {context} |"
                )
        judging = (
            f"The judge was asked {self.judging.calls:,} times, with "
            f"{self.judging.prompt_tokens:,} tokens."
        )
        return "\n".join([*lines, "", judging, *self.notes])


def judge_recipes(  # noqa: PLR0913  # the options of one call, each named by its caller
    index: Index,
    questions: Sequence[str],
    recipes: Sequence[str] | Mapping[str, Method],
    model: object,
    *,
    judge_model: object = None,
    budget: int | None = 8800,
    workers: int = 4,
    count: Callable[[str], int] = estimate_tokens,
    samples: int = 10_000,
    progress: bool = False,
) -> HeadToHead:
    """Return how often the first recipe's answers win over those of each other, and what all cost.

    Args:
        index: What is asked.
        questions: The questions.
        recipes: Names of recipes, or methods by name, at least two. The first is compared with each
            other one.
        model: Writes the answers, and the reports of recipes that ask for such: whatever
            `clew.Model.of` takes.
        judge_model: The judge; None for the same model.
        budget: The tokens of a context, at most. The default is DA-RAG's, for reports and chunks.
        workers: How many prompts are asked at a time.
        count: The tokenizer by which prompts and answers are counted.
        samples: As in `judge`.
        progress: Whether to show progress bars.

    Raises:
        ValueError: There are no questions, fewer than two recipes, one twice, or an unknown one; or
            the judge judged no question.

    Example:
        >>> index = Index.from_documents(["Oars are of ash."])
        >>> def model(prompt):
        ...     wanted = '"comprehensiveness": 1, "diversity": 1, "empowerment": 1, "overall": 1'
        ...     return f"{{{wanted}}}" if "Answer 1:" in prompt else "Of ash."
        >>> result = judge_recipes(index, ["Of what are oars?"], ["dense", "bm25"], model)
        >>> result.verdicts["bm25"].wins["overall"], result.costs["dense"].answering.calls
        (0.5, 1)
    """
    if not questions:
        raise ValueError("there are no questions to judge by")
    if len(recipes) < 2 or len(set(recipes)) < len(recipes):
        raise ValueError(f"judging takes at least two different recipes; got {', '.join(recipes)}")
    methods = recipes if isinstance(recipes, Mapping) else dict(zip(recipes, recipes, strict=True))
    costs, answers = dict[str, RecipeCosts](), dict[str, list[str]]()
    for name, recipe in methods.items():
        method, meter = known_recipes.get(recipe), ModelMeter(model, count)
        costs[name], answers[name] = _answered(
            index, questions, name, method, meter, budget, workers
        )
    judging = ModelMeter(model if judge_model is None else judge_model, count)
    first, *others = methods
    verdicts = {
        other: judge(
            judging.model,
            questions,
            answers[first],
            answers[other],
            workers=workers,
            samples=samples,
            progress=progress,
        )
        for other in others
    }
    notes = [
        f"{name}: {len(own.failed)} questions have no context; the first: {own.failed[0][1]}"
        for name, own in costs.items()
        if own.failed
    ]
    notes += [
        f"{first} against {other}: {len(verdict.failed)} questions were not judged; the first: "
        f"{verdict.failed[0][1]}"
        for other, verdict in verdicts.items()
        if verdict.failed
    ]
    return HeadToHead(first, verdicts, costs, judging.use, budget, tuple(notes))


def _answered(
    index: Index,
    questions: Sequence[str],
    name: str,
    method: Method,
    meter: ModelMeter,
    budget: int | None,
    workers: int,
) -> tuple[RecipeCosts, list[str]]:
    """Return what a recipe's answers cost, and the answers."""
    contexts, failed = list[Context](), list[tuple[str, str]]()
    model = meter.model if may_ask_model(method) else None
    begin = time.perf_counter()
    for question in questions:
        try:
            context = index.ask(question, recipe=method, budget=budget, model=model)
        except BudgetError as error:
            failed.append((question, str(error)))
            context = Context((), "", 0, budget, question, name)
        contexts.append(context)
    middle, retrieval = time.perf_counter(), meter.use
    answers = answers_of(meter.model, questions, contexts, workers=workers)
    end = time.perf_counter()
    costs = RecipeCosts(
        questions=len(questions),
        retrieval=retrieval,
        retrieval_seconds=middle - begin,
        answering=meter.use - retrieval,
        answering_seconds=end - middle,
        context_tokens=sum(context.tokens for context in contexts),
        failed=tuple(failed),
    )
    return costs, answers
