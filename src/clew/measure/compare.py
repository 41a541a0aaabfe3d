"""Methods side by side on one benchmark: the best k passages, and contexts of a token budget.

Every k and every budget is asked for by itself, because a method may choose otherwise when it may
choose more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clew import recipes
from clew.budget import BudgetError
from clew.context import Context, fallbacks
from clew.embedding.embedder import EmbedderSource
from clew.index.config import ExtractorLike
from clew.index.index import Index
from clew.measure.benchmark import Benchmark, BenchmarkQuestion, FactFile, NameForm
from clew.measure.metrics import all_gold, by_score, first_that_fit, recall, reciprocal_rank
from clew.measure.paired import Table, build_tables
from clew.progress import progress_bar
from clew.types import Generate, Method
from clew.usage import metered

KS, BUDGETS = (2, 5, 10), (256, 512, 1024, 2048)
MIN_QUESTIONS = 30  # with fewer, the questions drawn anew say too little about others

# The titles of the tables.
BY_SCORE = "By score"
RENDERED = "In the rendered context, tokens by the index's counter"
REFERENCE = "Passages by score until one does not fit, tokens by the reference count"
FURTHER = "Of the rendered context"

Figure = Callable[[Context, BenchmarkQuestion], float]
Columns = dict[str, list[float]]  # a number for each question, by figure


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` found.

    Attributes:
        benchmark: What was asked, in words.
        index: The index that was asked, in words.
        questions: How many questions.
        baseline: The method that the others are compared with.
        methods: The record (`repr`) of each method, by its label.
        tables: By score, in the rendered context, and by the reference count, as far as these were
            wanted; see `Table`.
        milliseconds: By label, the median time of one question with a budget (without budgets:
            with a limit), its vector known.
        samples: How often the intervals' questions were drawn.
        seed: Of the draw.
        notes: What a reader of the tables must know.
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
        """Return the comparison with another table of the same methods behind its own.

        Raises:
            ValueError: The table has other methods, or in another order.
        """
        if more.methods != tuple(self.methods):
            raise ValueError(
                f"the table is of {', '.join(more.methods)}; wanted {', '.join(self.methods)}, in "
                "this order"
            )
        return replace(self, tables=(*self.tables, more))

    def mean(self, method: str, figure: str) -> float:
        """Return one figure of one method.

        Args:
            method: Its label.
            figure: A name in the tables, for instance "R@5" or "all@512 tokens".

        Raises:
            KeyError: No table has that figure.
        """
        for table in self.tables:
            if figure in table.figures:
                return table.mean(method, figure)
        known = ", ".join(name for table in self.tables for name in table.figures)
        raise KeyError(f"no figure {figure!r}; there are {known}")

    def to_markdown(self, *, intervals: bool = False) -> str:
        """Return headed tables in Markdown.

        Args:
            intervals: Whether to write differences and their intervals beside the figures.
        """
        times = {"ms": {method: f"{value:.1f}" for method, value in self.milliseconds.items()}}
        parts = [f"{self.questions:,} questions. {self.benchmark}, {self.index}."]
        for i, table in enumerate(self.tables):
            more = times if i == 0 else None
            parts += [f"### {table.title}", table.to_markdown(intervals=intervals, more=more)]
        parts.append(
            f"Bold with ▲ or ▼: the 95 % interval of the paired difference from {self.baseline} "
            f"excludes 0 (bootstrap over questions, {self.samples:,} samples, seed {self.seed}), "
            "each by itself: of a hundred equal methods about five would be marked. "
            "ms: median per question, its vector known."
        )
        parts += [f"Note: {note}." for note in self.notes]
        return "\n\n".join(parts) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as dictionaries, lists, texts and numbers, ready for JSON."""
        return {
            "benchmark": self.benchmark,
            "index": self.index,
            "questions": self.questions,
            "baseline": self.baseline,
            "samples": self.samples,
            "seed": self.seed,
            "methods": dict(self.methods),
            "milliseconds": dict(self.milliseconds),
            "notes": list(self.notes),
            "tables": [table.to_dict() for table in self.tables],
        }


def compare(  # noqa: PLR0913  # the options of one call, each named by its caller
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
        benchmark: The passages and questions.
        methods: Names of recipes; or recipes and methods by the label that they shall have. The
            baseline is measured too, named or not.
        ks: Recall and all-gold of the k best by score, asked with `limit=k` and no budget;
            reciprocal rank among the largest k.
        budgets: Recall and all-gold of the context rendered at each budget. Where the benchmark has
            reference lengths, also of the passages that fit by these, best first, up to the first
            that does not fit (asked with as many as could fit, and no budget).
        baseline: The method that the others are compared with.
        samples: How often the questions are drawn for the intervals.
        seed: Of the draw.
        index: The benchmark's index, if it is built already.
        count: The token counter of an index that is built here; None for clew's own.
        figures: Further figures for a table of their own: functions of the context at each budget
            and its question, by name.
        progress: Whether to show a progress bar.

    Raises:
        TypeError: `methods` is neither a list of names nor a mapping.
        ValueError: There are no methods, or neither ks nor budgets; one of these is below 1; a
            recipe is unknown.

    Example:
        >>> from clew import Document
        >>> oars = Document("oars", "Oars are of ash.")
        >>> sails = Document("sails", "Sails are of flax.")
        >>> question = BenchmarkQuestion("1", "Of what are oars?", ("oars",))
        >>> boats = Benchmark("boats", (oars, sails), (question,), facts={})
        >>> compare(boats, ["bm25"], ks=(1,), budgets=(), samples=10).mean("bm25", "R@1")
        1.0
    """
    labelled = labelled_methods(methods, baseline)
    check_numbers(ks, budgets)
    if index is None:
        index = benchmark.index(count=count, progress=progress)
    wanted = _Wanted(tuple(ks), tuple(budgets), benchmark.reference_tokens, figures or {})
    notes = list(benchmark.notes)
    if len(benchmark.questions) < MIN_QUESTIONS:
        notes.append(
            f"{len(benchmark.questions)} questions are too few for intervals to be trusted"
        )
    runs: dict[str, _Run] = {}
    total = len(labelled) * len(benchmark.questions)
    with progress_bar(shown=progress, total=total, label="asking", unit="question") as bar:
        for label, method in labelled.items():
            run = runs[label] = _Run(index, label, method, wanted)
            run.warm_up(benchmark.questions[0])
            with metered(index.graph.count) as meter:
                for question in benchmark.questions:
                    run.measure(question)
                    bar.update()
            notes += run.notes()
            if meter.usage:
                notes.append(f"{label} asked language models for {meter.usage}")
    fell_back = {label: run.fell_back for label, run in runs.items()}
    notes += fallback_notes(fell_back, len(benchmark.questions))
    columns = {label: run.columns for label, run in runs.items()}
    titles = (BY_SCORE, RENDERED, REFERENCE, FURTHER)
    return Comparison(
        benchmark=repr(benchmark),
        index=repr(index),
        questions=len(benchmark.questions),
        baseline=baseline,
        methods={label: repr(method) for label, method in labelled.items()},
        tables=build_tables(titles, columns, baseline, samples=samples, seed=seed),
        milliseconds={label: float(np.median(run.seconds)) * 1000 for label, run in runs.items()},
        samples=samples,
        seed=seed,
        notes=tuple(notes),
    )


def compare_folder(  # noqa: PLR0913  # the options of one call, each named by its caller
    folder: str | Path,
    recipe_names: Sequence[str] | Mapping[str, str | Method] = (),
    *,
    ks: Sequence[int] = KS,
    budgets: Sequence[int] = BUDGETS,
    baseline: str = "dense",
    embedder: EmbedderSource | None = None,
    vectors: bool | str = True,
    facts: FactFile = "any",
    names: NameForm = "ascii",
    extractor: ExtractorLike | None = None,
    generators: Sequence[Generate] = (),
    figures: Mapping[str, Figure] | None = None,
    samples: int = 10_000,
    seed: int = 0,
    progress: bool = False,
) -> Comparison:
    """Return the comparison that `clew measure FOLDER` prints.

    A report that is read is no passage: among the k best it takes the place of one.

    Args:
        folder: The folder of a benchmark.
        recipe_names: The recipes, or methods by label; none for all recipes.
        ks: As in `compare`.
        budgets: As in `compare`.
        baseline: As in `compare`.
        embedder: As in `Benchmark.open`.
        vectors: As in `Benchmark.open`.
        facts: As in `Benchmark.open`.
        names: As in `Benchmark.open`.
        extractor: Extracts facts instead of the folder's. The folder's vectors belong to the
            folder's facts alone, and are then ignored.
        generators: What is written about the passages before questions are asked, such as
            `clew.generate.Reports()`. Its texts are embedded, which stored vectors cannot do.
        figures: As in `compare`.
        samples: As in `compare`.
        seed: As in `compare`.
        progress: As in `compare`.
    """
    if extractor is not None:
        vectors, facts = False, "none"
    benchmark = Benchmark.open(folder, embedder=embedder, vectors=vectors, facts=facts, names=names)
    index = benchmark.index(extractor=extractor, progress=progress)
    index = index.generate(*generators, progress=progress)
    comparison = compare(
        benchmark,
        recipe_names or recipes.names(),
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
    notes += [f"written about the passages: {generator!r}" for generator in generators]
    return replace(comparison, notes=(*comparison.notes, *notes))


def labelled_methods(
    methods: Sequence[str] | Mapping[str, str | Method], baseline: str
) -> dict[str, Method]:
    """Return the methods by label, the baseline first where it is not named."""
    if isinstance(methods, str) or not all(isinstance(label, str) for label in methods):
        raise TypeError(
            "methods are names of recipes in a list, or a mapping from a label to a recipe's name "
            "or a method"
        )
    chosen: dict[str, str | Method] = (
        dict(methods) if isinstance(methods, Mapping) else {name: name for name in methods}
    )
    if not chosen:
        raise ValueError(f"give at least one method; known recipes: {', '.join(recipes.names())}")
    if baseline not in chosen:
        chosen = {baseline: baseline, **chosen}
    return {label: recipes.get(method) for label, method in chosen.items()}


def check_numbers(ks: Sequence[int], budgets: Sequence[int]) -> None:
    """Raise ValueError where there is nothing to measure, or a number is below 1."""
    for name, numbers in (("ks", ks), ("budgets", budgets)):
        if any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in numbers):
            raise ValueError(f"{name} are whole numbers of at least 1, got {tuple(numbers)}")
    if not ks and not budgets:
        raise ValueError("give at least one of ks and budgets: there is nothing to measure")


def fallback_notes(
    fell_back: Mapping[str, Mapping[str, Collection[str]]], questions: int
) -> list[str]:
    """Return what methods did in the place of their own work, those that did the same together.

    Args:
        fell_back: The questions by what was done instead, by the label of a method.
        questions: How many were asked.

    Example:
        >>> fallback_notes({"dense": {}, "agrag": {"there are no facts": {"Who?", "When?"}}}, 3)
        ['agrag, for 2 of 3 questions: there are no facts']
    """
    labels: dict[tuple[str, int], list[str]] = {}
    for label, found in fell_back.items():
        if found:
            most = max(found, key=lambda reason: len(found[reason]))
            labels.setdefault((most, len(found[most])), []).append(label)
    return [
        f"{', '.join(own)}, for {count:,} of {questions:,} questions: {reason}"
        for (reason, count), own in labels.items()
    ]


class _Wanted(NamedTuple):
    """What is measured; see `compare`."""

    ks: tuple[int, ...]
    budgets: tuple[int, ...]
    lengths: Mapping[str, int]
    figures: Mapping[str, Figure]


@dataclass(eq=False)
class _Run:
    """One method on its way through the questions.

    Attributes:
        index: The index that is asked.
        label: The method's name in the tables.
        method: The method.
        wanted: What is measured.
        columns: The figures so far, by the title of their table.
        seconds: The time of each question so far.
        empty: By budget, why there was no context, for each question without one.
        fell_back: The questions by what stages did instead of their own work.
    """

    index: Index
    label: str
    method: Method
    wanted: _Wanted
    columns: dict[str, Columns] = field(
        default_factory=lambda: {title: {} for title in (BY_SCORE, RENDERED, REFERENCE, FURTHER)}
    )
    seconds: list[float] = field(default_factory=list)
    empty: dict[int, list[str]] = field(default_factory=dict)
    fell_back: dict[str, set[str]] = field(default_factory=dict)

    def warm_up(self, question: BenchmarkQuestion) -> None:
        """Ask once, untimed: what a method computes once per graph is not a question's time."""
        self.ask(question, limit=1, timed=False)

    def measure(self, question: BenchmarkQuestion) -> None:
        """Ask one question with every k and every budget, and note the figures."""
        ks, budgets, lengths, figures = self.wanted
        vector = self.index.embedder.embed_question(question.text)
        best = {k: by_score(self.ask(question, vector, limit=k, timed=not budgets))[:k] for k in ks}
        self._add_recall(BY_SCORE, question, {str(k): ids for k, ids in best.items()})
        if ks:
            rank = reciprocal_rank(best[max(ks)], question.gold)
            self._add(BY_SCORE, f"MRR@{max(ks)}", rank)
        contexts = {budget: self.ask(question, vector, budget=budget) for budget in budgets}
        rendered = {f"{budget} tokens": by_score(own) for budget, own in contexts.items()}
        self._add_recall(RENDERED, question, rendered)
        for name, figure in figures.items():
            for budget, context in contexts.items():
                self._add(FURTHER, f"{name}@{budget} tokens", figure(context, question))
        if lengths and budgets:
            shortest_first = np.cumsum(np.sort(list(lengths.values())))
            could_fit = int((shortest_first <= max(budgets)).sum())
            context = self.ask(question, vector, limit=could_fit + 1, timed=False)
            ranked = by_score(context)
            fitting = {
                f"{budget} reference": first_that_fit(ranked, lengths, budget) for budget in budgets
            }
            self._add_recall(REFERENCE, question, fitting)

    def ask(
        self,
        question: BenchmarkQuestion,
        vector: ArrayLike | None = None,
        *,
        budget: int | None = None,
        limit: int | None = None,
        timed: bool = True,
    ) -> Context:
        """Return the context; an empty one where the budget is too small for any."""
        begin = time.perf_counter()
        try:
            context = self.index.ask(
                question.text, recipe=self.method, budget=budget, limit=limit, vector=vector
            )
        except BudgetError as error:
            self.empty.setdefault(budget or 0, []).append(str(error))
            context = Context((), "", 0, budget, question.text, repr(self.method))
        for reason in fallbacks(context):
            self.fell_back.setdefault(reason, set()).add(question.id)
        if timed:
            self.seconds.append(time.perf_counter() - begin)
        return context

    def notes(self) -> list[str]:
        """Return a note for each budget that was too small for some questions."""
        return [
            f"{self.label} gave no context for {len(errors)} questions at {budget} tokens; "
            f"the first time: {errors[0]}"
            for budget, errors in self.empty.items()
        ]

    def _add_recall(
        self, title: str, question: BenchmarkQuestion, found: Mapping[str, Sequence[str]]
    ) -> None:
        """Note recall and all-gold of what was found, by cutoff."""
        for name, metric in (("R", recall), ("all", all_gold)):
            for cutoff, ids in found.items():
                self._add(title, f"{name}@{cutoff}", metric(ids, question.gold))

    def _add(self, title: str, figure: str, value: float) -> None:
        self.columns[title].setdefault(figure, []).append(value)
