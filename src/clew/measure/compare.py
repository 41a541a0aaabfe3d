"""Methods side by side on one benchmark: what the best k passages hold, and what a context holds at a token budget.

Every k and every budget is asked for by itself, since a method may choose otherwise when it may choose more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from clew import recipes
from clew.budget import BudgetError
from clew.context import Context
from clew.index.index import Index
from clew.measure.benchmark import Benchmark, BenchmarkQuestion, Names
from clew.measure.metrics import by_score, everything, first_that_fit, recall, reciprocal_rank
from clew.measure.paired import Table, table
from clew.types import Generate, Method

KS, BUDGETS = (2, 5, 10), (256, 512, 1024, 2048)
FEW = 30  # questions; with fewer, drawing them anew says too little about others
BY_SCORE, RENDERED = "By score", "In the rendered context, tokens by the index's counter"
REFERENCE, FURTHER = (
    "Passages by score until one does not fit, tokens by the reference count",
    "Of the rendered context",
)
Figure = Callable[[Context, BenchmarkQuestion], float]


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` found.

    Attributes:
        benchmark, index: what was asked, in words. questions: how many. methods: the record (`repr`) of each, by its label.
        tables: by score, in the rendered context, and by the reference count, as far as these were wanted; see `Table`.
        milliseconds: median time of one ask with a budget (without budgets: with a limit), the question's vector known, by label.
        samples, seed: of the intervals. notes: what a reader of the tables must know.
    """

    benchmark: str
    index: str
    questions: int
    baseline: str
    methods: Mapping[str, str]
    tables: tuple[Table, ...]
    milliseconds: Mapping[str, float]
    samples: int
    seed: int
    notes: tuple[str, ...] = ()

    def with_table(self, more: Table) -> Comparison:
        """Return the comparison with another table, of the same methods, behind its own."""
        if more.methods != tuple(self.methods):
            raise ValueError(
                f"the table is of {', '.join(more.methods)}; wanted {', '.join(self.methods)}, in this order"
            )
        return replace(self, tables=(*self.tables, more))

    def mean(self, method: str, figure: str) -> float:
        """Return one figure of one method, by its name in the tables, for instance "R@5" or "all@512 tokens"."""
        for one in self.tables:
            if figure in one.figures:
                return one.mean(method, figure)
        raise KeyError(
            f"no figure {figure!r}; there are {', '.join(f for one in self.tables for f in one.figures)}"
        )

    def to_markdown(self, *, intervals: bool = False) -> str:
        """Return headed tables in Markdown. Args: `intervals` writes differences and their intervals beside the figures."""
        time = {"ms": {method: f"{value:.1f}" for method, value in self.milliseconds.items()}}
        parts = [f"{self.questions:,} questions. {self.benchmark}, {self.index}."]
        for i, one in enumerate(self.tables):
            parts += [
                f"### {one.title}",
                one.to_markdown(intervals=intervals, more=time if i == 0 else None),
            ]
        parts.append(
            f"Bold with ▲ or ▼: the 95 % interval of the paired difference from {self.baseline} excludes 0 (bootstrap over questions, "
            f"{self.samples:,} samples, seed {self.seed}), each by itself: of a hundred equal methods "
            f"about five would be marked. ms: median per question, its vector known."
        )
        return "\n\n".join((*parts, *(f"Note: {note}." for note in self.notes))) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain dictionaries, lists, texts and numbers, ready for JSON."""
        plain = {
            name: getattr(self, name)
            for name in ("benchmark", "index", "questions", "baseline", "samples", "seed")
        }
        plain |= {
            "methods": dict(self.methods),
            "milliseconds": dict(self.milliseconds),
            "notes": list(self.notes),
        }
        return plain | {"tables": [one.to_dict() for one in self.tables]}


def compare(
    benchmark: Benchmark,
    methods: Sequence[str] | Mapping[str, str | Method],
    ks: Sequence[int] = KS,
    budgets: Sequence[int] = BUDGETS,
    baseline: str = "dense",
    samples: int = 10_000,
    seed: int = 0,
    *,
    index: Index | None = None,
    count: Callable[[str], int] | None = None,
    figures: Mapping[str, Figure] | None = None,
    progress: bool = False,
) -> Comparison:
    """Return what the methods find, and how sure their differences from the baseline are.

    Args:
        methods: names of recipes, or recipes and methods by the label they shall have. The baseline is measured too, named or not.
        ks: recall and all-gold of the k best by score, asked with `limit=k` and no budget; reciprocal rank among the largest k.
        budgets: recall and all-gold of the context rendered at each; where the benchmark has reference lengths, also of the passages
            that fit by these, best first, up to the first that does not fit (asked with as many as could fit, no budget).
        index: the benchmark's, if it is made already. count: the tokenizer of the index that is made, None for clew's own.
        figures: further figures of the context at each budget and its question, by name, for another table.

    Raises:
        ValueError: no methods, ks and budgets; one of these below 1; an unknown recipe.
    """
    named = _named(methods, baseline)
    for name, numbers in (("ks", ks), ("budgets", budgets)):
        if any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in numbers):
            raise ValueError(f"{name} are whole numbers of at least 1, got {tuple(numbers)}")
    if not ks and not budgets:
        raise ValueError("give at least one of ks and budgets: there is nothing to measure")
    from tqdm import tqdm

    index = benchmark.index(count=count, progress=progress) if index is None else index
    notes = list(benchmark.notes)
    if len(benchmark.questions) < FEW:
        notes.append(
            f"{len(benchmark.questions)} questions are too few for intervals to be trusted"
        )
    columns: dict[str, dict[str, dict[str, list[float]]]] = {
        title: {label: {} for label in named} for title in _titles(benchmark, figures)
    }
    seconds: dict[str, list[float]] = {}
    with tqdm(
        total=len(named) * len(benchmark.questions),
        desc="asking",
        unit="question",
        disable=not progress,
    ) as bar:
        for label, method in named.items():
            run = _Run(index, label, method, {title: columns[title][label] for title in columns})
            run.ask(
                benchmark.questions[0], limit=1
            )  # what a method computes once per graph is not a question's time
            run.seconds.clear()
            for question in benchmark.questions:
                run.measure(question, benchmark.lengths, tuple(ks), tuple(budgets), figures or {})
                bar.update()
            seconds[label] = run.seconds
            notes += run.notes()
    tables = tuple(
        table(t, c, baseline, samples=samples, seed=seed) for t, c in columns.items() if c[baseline]
    )
    medians = {label: float(np.median(times)) * 1000 for label, times in seconds.items()}
    said = {label: repr(method) for label, method in named.items()}
    n = len(benchmark.questions)
    return Comparison(
        repr(benchmark),
        repr(index),
        n,
        baseline,
        said,
        tables,
        medians,
        samples,
        seed,
        tuple(notes),
    )


def compare_folder(
    folder: str | Path,
    recipe_names: Sequence[str] = (),
    *,
    ks: Sequence[int] = KS,
    budgets: Sequence[int] = BUDGETS,
    baseline: str = "dense",
    embedder: Any = None,
    vectors: bool | str = True,
    facts: Literal["any", "triples", "surface_triples", "none"] = "any",
    names: Names = "ascii",
    extractor: Any = None,
    writers: Sequence[Generate] = (),
    figures: Mapping[str, Figure] | None = None,
    samples: int = 10_000,
    seed: int = 0,
    progress: bool = False,
) -> Comparison:
    """Return the comparison that `clew measure FOLDER` prints: a folder opened (see `Benchmark.open`), its recipes compared.

    Args:
        recipe_names: the recipes; none for all of them. extractor: reads facts in the place of the folder's; the folder's vectors, which
            are of the folder's facts alone, are then left aside. writers: what is written about the passages before questions are asked,
            such as `clew.generate.Reports()`; its texts are embedded, for which stored vectors do not do. The rest is as in `Benchmark.open`
            and `compare`. A report that is read is no passage: among the k best it takes the place of one.
    """
    if extractor is not None:
        vectors, facts = False, "none"
    benchmark = Benchmark.open(folder, embedder=embedder, vectors=vectors, facts=facts, names=names)
    index = benchmark.index(extractor=extractor, progress=progress).generate(
        *writers, progress=progress
    )
    chosen = tuple(recipe_names) or recipes.names()
    found = compare(
        benchmark,
        chosen,
        ks,
        budgets,
        baseline,
        samples,
        seed,
        index=index,
        figures=figures,
        progress=progress,
    )
    notes = [] if extractor is None else [f"the facts were read by {extractor!r}"]
    notes += [f"written about the passages: {writer!r}" for writer in writers]
    return replace(found, notes=(*found.notes, *notes))


def _named(methods: Sequence[str] | Mapping[str, str | Method], baseline: str) -> dict[str, Method]:
    if isinstance(methods, str) or not all(isinstance(label, str) for label in methods):
        raise TypeError(
            "methods are names of recipes in a list, or a mapping from a label to a recipe's name or a method"
        )
    pairs = dict(methods) if isinstance(methods, Mapping) else {name: name for name in methods}
    if not pairs:
        raise ValueError(f"give at least one method; known recipes: {', '.join(recipes.names())}")
    if baseline not in pairs:
        pairs = {baseline: baseline, **pairs}
    return {label: recipes.get(method) for label, method in pairs.items()}


def _titles(benchmark: Benchmark, figures: Mapping[str, Figure] | None) -> list[str]:
    return [
        BY_SCORE,
        RENDERED,
        *([REFERENCE] if benchmark.lengths else []),
        *([FURTHER] if figures else []),
    ]


class _Run:
    """One method on its way through the questions."""

    def __init__(
        self,
        index: Index,
        label: str,
        method: Method,
        columns: Mapping[str, dict[str, list[float]]],
    ) -> None:
        self.index, self.label, self.method, self.columns = index, label, method, columns
        self.seconds: list[float] = []
        self.empty: dict[int, list[str]] = {}

    def measure(
        self,
        question: BenchmarkQuestion,
        lengths: Mapping[str, int],
        ks: Sequence[int],
        budgets: Sequence[int],
        figures: Mapping[str, Figure],
    ) -> None:
        vector = self.index.embedder.embed_question(question.text)
        best = {k: by_score(self.ask(question, vector, limit=k, timed=not budgets))[:k] for k in ks}
        self._add(BY_SCORE, question, {str(k): found for k, found in best.items()})
        if ks:
            self.columns[BY_SCORE].setdefault(f"MRR@{max(ks)}", []).append(
                reciprocal_rank(best[max(ks)], question.gold)
            )
        contexts = {budget: self.ask(question, vector, budget=budget) for budget in budgets}
        self._add(
            RENDERED,
            question,
            {f"{budget} tokens": by_score(context) for budget, context in contexts.items()},
        )
        for name, figure in figures.items():
            for budget, context in contexts.items():
                self.columns[FURTHER].setdefault(f"{name}@{budget} tokens", []).append(
                    figure(context, question)
                )
        if lengths and budgets:
            most = int((np.cumsum(np.sort(list(lengths.values()))) <= max(budgets)).sum()) + 1
            ranked = by_score(self.ask(question, vector, limit=most, timed=False))
            self._add(
                REFERENCE,
                question,
                {
                    f"{budget} reference": first_that_fit(ranked, lengths, budget)
                    for budget in budgets
                },
            )

    def ask(
        self,
        question: BenchmarkQuestion,
        vector: Any = None,
        *,
        budget: int | None = None,
        limit: int | None = None,
        timed: bool = True,
    ) -> Context:
        begun = time.perf_counter()
        try:
            context = self.index.ask(
                question.text, recipe=self.method, budget=budget, limit=limit, vector=vector
            )
        except BudgetError as error:
            self.empty.setdefault(budget or 0, []).append(str(error))
            context = Context((), "", 0, budget, question.text, repr(self.method))
        if timed:
            self.seconds.append(time.perf_counter() - begun)
        return context

    def notes(self) -> list[str]:
        return [
            f"{self.label} gave no context for {len(e)} questions at {b} tokens; the first time: {e[0]}"
            for b, e in self.empty.items()
        ]

    def _add(
        self, title: str, question: BenchmarkQuestion, found: Mapping[str, Sequence[str]]
    ) -> None:
        for name, figure in (("R", recall), ("all", everything)):
            for at, ids in found.items():
                self.columns[title].setdefault(f"{name}@{at}", []).append(
                    figure(ids, question.gold)
                )
