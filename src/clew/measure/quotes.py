"""Recipes side by side on the caller's own documents, by questions and the places that answer them.

A place is a file and a few words that stand in it. It holds however the file is split, and a
person can note it while reading. A passage answers if it is of that file and holds these words.
Letters and digits are compared; markup, case and line ends are not. In a script without spaces
between words, such as Chinese, the quote may be any part of a sentence.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from clew.budget import BudgetError
from clew.context import Context, fallbacks
from clew.graph import Graph, SourcesPart
from clew.index.index import Index
from clew.items import Item
from clew.measure.compare import (
    BUDGETS,
    MIN_QUESTIONS,
    RENDERED,
    Columns,
    Comparison,
    check_numbers,
    fallback_notes,
    labelled_methods,
)
from clew.measure.files import list_field, malformed, read_lines, text_field
from clew.measure.paired import build_tables
from clew.progress import progress_bar
from clew.text.words import IDEOGRAPHS, UNSPACED, fold_case
from clew.types import Method

KS = (1, 3, 10)
BY_SCORE = "Among the k passages of the highest scores"
WITHOUT_SPACES = f"{IDEOGRAPHS}{UNSPACED}"  # scripts in which a quote may begin within a word
WORD = re.compile(rf"[{WITHOUT_SPACES}]|[^\W_{WITHOUT_SPACES}]+")
FIELDS = ("file", "quote")


def words_of(text: str) -> str:
    """Return the words of a text in one form of case and signs, a space between two.

    Where a script has no spaces between words, each sign stands for one.

    Example:
        >>> words_of("Use `--fast`, or *wait*."), words_of("早上九点")
        ('use fast or wait', '早 上 九 点')
    """
    return " ".join(WORD.findall(fold_case(text)))


@dataclass(frozen=True)
class Place:
    """A place that answers.

    Attributes:
        file: The file, by its path or the end of its path; "" for any file.
        quote: Words that stand there; "" for any passage of the file.
    """

    file: str = ""
    quote: str = ""

    def __post_init__(self) -> None:
        if not self.file and not words_of(self.quote):
            raise ValueError("a place has a file, a quote of at least one word, or both")

    def is_in(self, text: str, paths: Iterable[str]) -> bool:
        """Return whether a text of a file of these paths is of this place."""
        if not self.is_of(paths):
            return False
        return f" {words_of(self.quote)} " in f" {words_of(text)} " if self.quote else True

    def is_of(self, paths: Iterable[str]) -> bool:
        """Return whether one of these paths is that of the file."""
        return not self.file or any(f"/{path}".endswith(f"/{self.file}") for path in paths)


@dataclass(frozen=True)
class QuotedQuestion:
    """A question, and where it is answered.

    Attributes:
        text: The question.
        places: Where; any of them answers. None, where nothing does.
    """

    text: str
    places: tuple[Place, ...] = ()

    def is_answered_by(self, items: Iterable[Item]) -> bool:
        """Return whether one of these passages answers.

        Example:
            >>> from clew import Item
            >>> question = QuotedQuestion("When do ferries sail?", (Place(quote="at ten"),))
            >>> question.is_answered_by([Item("1", "They sail at ten.", 1.0, "seed", "passage", 5)])
            True
        """
        return any(
            place.is_in(item.text, [path for path in (item.document, item.source) if path])
            for item in items
            for place in self.places
        )

    def is_quoted_in(self, texts: Iterable[str]) -> bool:
        """Return whether one of these texts holds a quote of a place, in whichever file it stands.

        Example:
            >>> question = QuotedQuestion("When do ferries sail?", (Place("a.md", "at ten"),))
            >>> question.is_quoted_in(["They sail", "at *ten*, or later."])
            True
        """
        quotes = [f" {words_of(place.quote)} " for place in self.places if place.quote]
        read = [f" {words_of(text)} " for text in texts] if quotes else []
        return any(quote in text for text in read for quote in quotes)


def read_quoted_questions(path: str | Path) -> tuple[QuotedQuestion, ...]:
    """Return the questions of a file that has one in each line, as JSON.

    A line is `{"question": "...", "gold": [{"file": "guide.md", "quote": "at ten"}]}`. A place may
    have one of the two alone, and further fields only beside both. `"gold": []` says that nothing
    answers.

    Raises:
        ValueError: A line is malformed, or there is none. The error names file and line.
    """
    questions = tuple(quoted_question(*line) for line in read_lines(Path(path)))
    if not questions:
        raise ValueError(f"there are no questions in {path}")
    return questions


def quoted_question(where: str, record: Mapping[str, Any]) -> QuotedQuestion:
    """Return the question of a line of such a file.

    Args:
        where: The place of the line, for errors.
        record: The line.

    Raises:
        ValueError: The line is malformed.

    Example:
        >>> line = {"question": "When?", "gold": [{"quote": "at ten"}]}
        >>> quoted_question("questions.jsonl:1", line).places
        (Place(file='', quote='at ten'),)
    """
    places = list[Place]()
    for place in list_field(where, record, "gold"):
        if not isinstance(place, dict) or not _says_where(place):
            wanted = "an object with a text as 'file', as 'quote' or as both"
            raise malformed(where, "a place in 'gold'", wanted, place)
        file, quote = (place.get(name) or "" for name in FIELDS)
        try:
            places.append(Place(file.removeprefix("./"), quote))
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    return QuotedQuestion(text_field(where, record, "question"), tuple(places))


def _says_where(place: Mapping[str, Any]) -> bool:
    """Return whether the fields of a place are texts, and none may be a misspelt one of the two.

    A place without its quote would count every passage of its file.
    """
    named = set(place) & set(FIELDS)
    has_texts = all(isinstance(place[name], str | None) for name in named)
    return has_texts and (set(place) <= set(FIELDS) if len(named) < len(FIELDS) else True)


def compare_quotes(  # noqa: PLR0913  # the options of one call, each named by its caller
    index: Index,
    questions: Sequence[QuotedQuestion],
    methods: Sequence[str] | Mapping[str, str | Method],
    ks: Sequence[int] = KS,
    budgets: Sequence[int] = BUDGETS,
    baseline: str = "dense",
    samples: int = 10_000,
    seed: int = 0,
    *,
    progress: bool = False,
) -> Comparison:
    """Return for which share of the questions each method reads a passage that answers.

    Args:
        index: What is asked.
        questions: The questions. What comes of those that nothing answers is a note.
        methods: Names of recipes; or recipes and methods by the label that they shall have. The
            baseline is measured too, named or not.
        ks: Hit among the k best by score, asked with the largest k as the limit and no budget.
        budgets: Hit in the context that is rendered at each budget.
        baseline: The method that the others are compared with.
        samples: How often the questions are drawn for the intervals.
        seed: Of the draw.
        progress: Whether to show a progress bar.

    Raises:
        TypeError: `methods` is neither a list of names nor a mapping.
        ValueError: Nothing answers any of the questions; there are no methods, or neither ks nor
            budgets; one of these is below 1; a recipe is unknown.

    Example:
        >>> from clew import Document, Index
        >>> index = Index.from_documents([Document("a", "Oars are of ash."), Document("b", "No.")])
        >>> question = QuotedQuestion("Of what are oars?", (Place(quote="of ash"),))
        >>> found = compare_quotes(index, [question], ["bm25"], ks=(1,), budgets=(), samples=10)
        >>> found.mean("bm25", "hit@1")
        1.0
    """
    by_label = labelled_methods(methods, baseline)
    check_numbers(ks, budgets)
    answered = [question for question in questions if question.places]
    others = [question for question in questions if not question.places]
    if not answered:
        raise ValueError(
            f"none of the {len(questions)} questions has a place that answers it: give 'gold' of "
            "at least one"
        )
    notes = _notes(index, answered)
    runs = dict[str, _Run]()
    total = len(by_label) * len(questions)
    with progress_bar(shown=progress, total=total, label="asking", unit="question") as bar:
        for label, method in by_label.items():
            run = runs[label] = _Run(index, method, tuple(ks), tuple(budgets))
            run.ask(answered[0], limit=1)  # what is made once for an index is no question's time
            run.seconds.clear()
            for question in questions:
                run.measure(question)
                bar.update()
            notes += run.notes(label, len(others))
    fell_back = {label: run.fell_back for label, run in runs.items()}
    notes += fallback_notes(fell_back, len(questions))
    columns = {label: run.columns for label, run in runs.items()}
    return Comparison(
        benchmark=f"{len(answered):,} of them with a place that answers",
        index=repr(index),
        questions=len(questions),
        baseline=baseline,
        methods={label: repr(method) for label, method in by_label.items()},
        tables=build_tables((BY_SCORE, RENDERED), columns, baseline, samples=samples, seed=seed),
        milliseconds={label: float(np.median(run.seconds)) * 1000 for label, run in runs.items()},
        samples=samples,
        seed=seed,
        notes=tuple(notes),
    )


def lost_questions(index: Index, questions: Sequence[QuotedQuestion]) -> list[QuotedQuestion]:
    """Return the questions that no passage of an index can answer, since none holds a whole quote.

    A quote is looked for in the file that stands beside it.

    Example:
        >>> index = Index.from_documents(["They sail.", "At ten."])
        >>> lost = lost_questions(index, [QuotedQuestion("When?", (Place(quote="sail at ten"),))])
        >>> [question.text for question in lost]
        ['When?']
    """
    graph = index.graph
    rows = graph.rows("passage").tolist()
    texts = [f" {words_of(graph.texts[row])} " for row in rows]
    everything, sources = "\n".join(texts), graph.part(SourcesPart())

    def is_held(place: Place) -> bool:
        quote = f" {words_of(place.quote)} "
        if quote not in everything or not place.file:
            return quote in everything
        holding = (row for row, text in zip(rows, texts, strict=True) if quote in text)
        return any(
            place.is_of(
                filter(None, (_document_of(graph, row), sources.name(int(sources.of_nodes[row]))))
            )
            for row in holding
        )

    return [
        question
        for question in questions
        if question.places
        and all(place.quote for place in question.places)
        and not any(map(is_held, question.places))
    ]


def _document_of(graph: Graph, row: int) -> str:
    document = int(graph.documents[row])
    return graph.ids[document if document >= 0 else row]


def _questions_on_unknown_files(
    index: Index, questions: Sequence[QuotedQuestion]
) -> list[QuotedQuestion]:
    """Return the questions of which every place is in a file that no passage of an index is of."""
    graph = index.graph
    ids = {graph.ids[row] for row in graph.documents[graph.documents >= 0].tolist()}
    known = [*ids, *graph.part(SourcesPart()).names]
    named = {place.file for question in questions for place in question.places}
    is_known = {file: not file or Place(file).is_of(known) for file in named}
    return [
        question
        for question in questions
        if not any(is_known[place.file] for place in question.places)
    ]


def _notes(index: Index, questions: Sequence[QuotedQuestion]) -> list[str]:
    """Return what is to be known of the questions before any is asked."""
    notes = list[str]()
    if unknown := _questions_on_unknown_files(index, questions):
        notes.append(
            f"of {len(unknown)} questions the index has no file that 'gold' names, so that none "
            f"can answer; the first is {unknown[0].text!r}, in {unknown[0].places[0].file!r}"
        )
    if lost := lost_questions(index, [one for one in questions if one not in unknown]):
        notes.append(
            f"of {len(lost)} questions no passage holds a whole quote where 'gold' says that it "
            f"stands, so that none can answer; the first is {lost[0].text!r}"
        )
    if len(questions) < MIN_QUESTIONS:
        notes.append(f"{len(questions)} questions are too few for intervals to be trusted")
    return notes


@dataclass(eq=False)
class _Run:
    """One method on its way through the questions.

    Attributes:
        index: The index that is asked.
        method: The method.
        ks: As in `compare_quotes`.
        budgets: As in `compare_quotes`.
        columns: The figures so far, by the title of their table.
        seconds: The time of each question so far.
        unanswered: How many passages came where nothing answers, by question and budget.
        empty: By budget, how often nothing fitted.
        fell_back: The questions by what stages did instead of their own work.
    """

    index: Index
    method: Method
    ks: tuple[int, ...]
    budgets: tuple[int, ...]
    columns: dict[str, Columns] = field(default_factory=lambda: {BY_SCORE: {}, RENDERED: {}})
    seconds: list[float] = field(default_factory=list)
    unanswered: list[int] = field(default_factory=list)
    empty: dict[int, int] = field(default_factory=dict)
    fell_back: dict[str, set[str]] = field(default_factory=dict)

    def measure(self, question: QuotedQuestion) -> None:
        """Ask one question, and note the figures."""
        if self.ks:
            items = self.ask(question, limit=max(self.ks))
            best = sorted(items, key=lambda item: -item.score)
            for k in self.ks:
                self._add(BY_SCORE, f"hit@{k}", question, best[:k])
        for budget in self.budgets:
            items = self.ask(question, budget=budget)
            self._add(RENDERED, f"hit@{budget} tokens", question, items)
            if not question.places:
                self.unanswered.append(len(items))

    def ask(
        self, question: QuotedQuestion, *, budget: int | None = None, limit: int | None = None
    ) -> tuple[Item, ...]:
        """Return what is read; nothing where the budget is too small for any passage."""
        began = time.perf_counter()
        context: Context | None = None
        try:
            context = self.index.ask(question.text, recipe=self.method, budget=budget, limit=limit)
        except BudgetError:
            self.empty[budget or 0] = self.empty.get(budget or 0, 0) + 1
        self.seconds.append(time.perf_counter() - began)
        if context is None:
            return ()
        for reason in fallbacks(context):
            self.fell_back.setdefault(reason, set()).add(question.text)
        return context.items

    def notes(self, label: str, others: int) -> list[str]:
        """Return what the tables do not say of this method."""
        notes = [
            f"{label} read nothing for {count} questions at {budget} tokens: nothing fits"
            for budget, count in self.empty.items()
        ]
        if self.unanswered:
            notes.append(
                f"to the {others} questions that nothing answers, {label} read "
                f"{np.mean(self.unanswered):.1f} passages in the mean of the budgets, and none for "
                f"{np.mean(np.array(self.unanswered) == 0):.0%}"
            )
        return notes

    def _add(
        self, title: str, figure: str, question: QuotedQuestion, items: Sequence[Item]
    ) -> None:
        if question.places:
            hit = float(question.is_answered_by(items))
            self.columns[title].setdefault(figure, []).append(hit)
