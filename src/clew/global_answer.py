"""Questions on the whole of a corpus, which no few passages answer: every report is asked.

Each batch of reports gives points with a score. The best points within a budget become the answer
(Edge et al., "From local to global: a graph RAG approach to query-focused summarization", arXiv
2404.16130). Without a language model there is `index.ask(question, recipe="global")`, a context of
the reports most like the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Graph, Rows
from clew.model import FittedPrompt, Model, ModelAnswer, ModelSource, parse_json, read_score
from clew.select.top_reports import ReportMembersPart
from clew.usage import NO_USAGE, Usage, metered

if TYPE_CHECKING:
    from clew.index.index import Index

MAX_POINTS, MAX_SCORE = 5, 100

MAP = """Below are reports on parts of a collection, each with its number. What in them helps to \
answer this question about the whole \
collection?

Question: {question}

{reports}

Answer with one JSON list and nothing else, of at most {points} points, [] if nothing helps:
[{{"point": one statement that helps to answer, with the names and numbers it rests on,
  "score": how much it helps, from 0 (not at all) to 100 (it answers the question),
  "reports": the numbers of the reports that say so}}]"""

REDUCE = """Below are points that were gathered from reports on all parts of a collection, the \
most helpful first, each with the numbers \
of its reports in brackets. Answer the question from these points alone, and name the numbers \
behind what you say, in brackets. Where the \
points do not answer it, say so.

Question: {question}

{points}"""


@dataclass(frozen=True)
class Point:
    """A statement of one batch of reports.

    Attributes:
        text: the statement.
        score: how much it helps to answer the question, from 0 to 100.
        reports: ids of the reports that say so.
    """

    text: str
    score: float
    reports: tuple[str, ...]


@dataclass(frozen=True)
class GlobalAnswer:
    """The answer to a question on the whole.

    Attributes:
        question: what was asked.
        text: the answer, or the points themselves where the last call failed. It names reports by
            their numbers, from 1, in `reports`.
        points: what the answer was made of, the best first.
        reports: ids of all reports that were asked.
        omitted: how many points did not fit in the budget.
        failed: what could not be had, with the reasons: points that could not be read, too.
        usage: the calls of the model, and their tokens.
    """

    question: str
    text: str
    points: tuple[Point, ...]
    reports: tuple[str, ...]
    omitted: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    usage: Usage = NO_USAGE

    @property
    def calls(self) -> int:
        """How often the model was called."""
        return self.usage.calls


class PointsRead(NamedTuple):
    """The points of one answer, and why others of it could not be read."""

    points: list[Point]
    unreadable: list[str]


@dataclass(frozen=True)
class GlobalOptions:
    """How a question on the whole is answered. Tokens are by the index's counter.

    Attributes:
        level: the level whose reports are asked; where it has none, the next coarser that has,
            or else the coarsest.
        max_reports: the most reports, those most like the question; None is all.
        batch_tokens: of reports in one prompt.
        budget: tokens of points in the last prompt.
        workers: how many prompts are asked at the same time.
    """

    level: int = 0
    max_reports: int | None = None
    batch_tokens: int = 2000
    budget: int = 2000
    workers: int = 4


DEFAULT_OPTIONS = GlobalOptions()


def answer_globally(
    index: Index,
    question: str,
    model: ModelSource,
    options: GlobalOptions = DEFAULT_OPTIONS,
    *,
    progress: bool = False,
) -> GlobalAnswer:
    """Return a language model's answer to a question on the whole corpus, by its reports.

    Args:
        index: one with reports, as `index.generate(clew.generate.Reports())` makes them.
        question: on the whole of the corpus.
        model: whatever `clew.model.Model.of` takes.
        options: which reports are asked, and with how many tokens.
        progress: show a bar on stderr.

    Raises:
        ValueError: an empty question, an index without reports, a number below 1, a batch that is
            too small for one of the reports.

    Example:
        >>> import json, clew
        >>> from clew.generate import Reports
        >>> texts = ["The sea is deep.", "The sea is cold.", "The sea is salt."]
        >>> index = clew.Index.from_documents(texts).generate(Reports(min_passages=1))
        >>> point = {"point": "The sea is cold.", "score": 90, "reports": [1]}
        >>> def model(prompt):
        ...     return "Cold [1]." if "these points" in prompt else json.dumps([point])
        >>> answer_globally(index, "What is the sea like?", model).text
        'Cold [1].'
    """
    from clew.index.question import check_question

    question = check_question(question, options.budget, options.max_reports)
    graph = index.graph
    asked = Model.of(model, count=graph.count)
    ranked = _most_similar_reports(index, question, options)
    ids = tuple(graph.ids[row] for row in ranked)
    number = {row: i for i, row in enumerate(ranked, 1)}
    prompts = [
        fitted
        for batch in _batches(graph, ranked, options.batch_tokens)
        for fitted in _prompts_that_fit(graph, question, batch, number, asked)
    ]
    failed = [
        (_named(batch, number), f"not read: {prompt.left_out}")
        for batch, prompt in prompts
        if prompt.left_out
    ]
    with metered(graph.count) as meter:
        answers = asked.ask_all(
            [prompt.text for _, prompt in prompts],
            lambda text: _read_points(text, ids),
            workers=options.workers,
            progress=progress,
            label="reports",
        )
        for (batch, _), answer in zip(prompts, answers, strict=True):
            reasons = [answer.error] if answer.value is None else answer.value.unreadable
            failed += [(_named(batch, number), reason) for reason in reasons]
        helpful = _helpful_points(answers)
        points, lines = _points_that_fit(graph, helpful, ids, options.budget)
        if not points:
            return GlobalAnswer(question, "", (), ids, len(helpful), tuple(failed), meter.usage)
        final = asked.fit(
            lambda shown: REDUCE.format(question=question, points="\n".join(shown)), lines
        )
        shown = max(1, final.shown)
        points, lines = points[:shown], lines[:shown]
        reduced = asked.ask(final.text, _read_text)
    if reduced.value is None:
        failed.append(("the answer", f"{reduced.error}: the points stand in its place"))
    return GlobalAnswer(
        question,
        reduced.value or "\n".join(lines),
        tuple(points),
        ids,
        len(helpful) - len(points),
        tuple(failed),
        meter.usage,
    )


def _most_similar_reports(index: Index, question: str, options: GlobalOptions) -> list[int]:
    """Return the reports that are asked, those most like the question first."""
    rows = _reports_of_level(index.graph, options.level)
    vector = np.asarray(index.embed_question(question), np.float32)
    products = np.einsum("ij,j->i", index.graph.vectors[rows], vector)
    ranked: list[int] = rows[top_k(products, options.max_reports)].tolist()
    return ranked


def _named(batch: Sequence[int], number: Mapping[int, int]) -> str:
    return f"reports {number[batch[0]]} to {number[batch[-1]]}"


def _reports_of_level(graph: Graph, level: int) -> Rows:
    """Return the reports of a level, else of the next coarser one, else of the coarsest."""
    by_level = graph.part(ReportMembersPart())
    if not by_level:
        raise ValueError(
            "the index has no reports: make some with index.generate(clew.generate.Reports()), "
            "as --reports does"
        )
    rows: Rows = by_level[max([one for one in by_level if one <= level], default=min(by_level))]
    return rows


def _batches(graph: Graph, rows: Sequence[int], max_tokens: int) -> list[list[int]]:
    """Return the reports in their order, in batches of as many as fit."""
    batches, room = list[list[int]](), 0
    for row in rows:
        if (tokens := int(graph.tokens[row])) > max_tokens:
            raise ValueError(
                f"a batch of {max_tokens} tokens cannot hold the report {graph.ids[row]!r}, "
                f"which has {tokens}: give a larger batch"
            )
        if tokens > room or not batches:
            batches.append([])
            room = max_tokens
        batches[-1].append(row)
        room -= tokens
    return batches


def _prompts_that_fit(
    graph: Graph, question: str, batch: list[int], number: Mapping[int, int], model: Model
) -> Iterator[tuple[list[int], FittedPrompt]]:
    """Yield prompts on all reports of a batch, in as many as the model's ceiling makes of it.

    A report that is too long for a prompt of its own is cut.
    """

    def build(reports: Sequence[str]) -> str:
        return MAP.format(question=question, reports="\n\n".join(reports), points=MAX_POINTS)

    while batch:
        prompt = model.fit(build, [f"[{number[row]}] {graph.texts[row]}" for row in batch])
        shown = max(1, prompt.shown)
        if prompt.shown:
            prompt = prompt._replace(left_out="")  # the others have a prompt of their own
        elif prompt.left_out:
            prompt = prompt._replace(left_out=prompt.left_out.partition(", and ")[0])
        yield batch[:shown], prompt
        batch = batch[shown:]


def _helpful_points(answers: Sequence[ModelAnswer[PointsRead]]) -> list[Point]:
    """Return the points that help at all, best first; of equals those of the likest reports."""
    points = [point for answer in answers if answer.value for point in answer.value.points]
    return sorted((point for point in points if point.score > 0), key=lambda point: -point.score)


def _points_that_fit(
    graph: Graph, points: Sequence[Point], ids: Sequence[str], budget: int
) -> tuple[list[Point], list[str]]:
    """Return the points that fit in a budget, and their lines; one that does not is passed over."""
    chosen, lines = list[Point](), list[str]()
    number = {id: i for i, id in enumerate(ids, 1)}
    for point in points:
        line = f"- {point.text} [{', '.join(str(number[id]) for id in point.reports)}]"
        if graph.count("\n".join([*lines, line])) <= budget:
            chosen.append(point)
            lines.append(line)
    return chosen, lines


def _read_points(text: str, ids: Sequence[str]) -> PointsRead:
    """Return the points in a model's answer, those of the highest scores if they are too many.

    Raises:
        ValueError: there is no list of points, or none of them can be read.
    """
    answer = parse_json(text)
    if isinstance(answer, dict):  # a model may give its one point, or wrap the list in an object
        lists = [value for value in answer.values() if isinstance(value, list)]
        answer = (
            [answer] if "point" in answer else lists[0] if len(answer) == len(lists) == 1 else []
        )
        if not answer:
            raise ValueError("a JSON list of points is wanted")
    points, unreadable = list[Point](), list[str]()
    for item in answer:
        try:
            points.append(_read_point(item, ids))
        except ValueError as problem:
            unreadable.append(f"a point could not be read: {problem}")
    if unreadable and not points:
        raise ValueError(unreadable[0])
    points.sort(key=lambda point: -point.score)
    return PointsRead(points[:MAX_POINTS], unreadable)


def _read_point(item: object, ids: Sequence[str]) -> Point:
    fields = item if isinstance(item, dict) else {}
    point, score, numbers = (fields.get(key) for key in ("point", "score", "reports"))
    if not isinstance(point, str) or not point.strip():
        shown = repr(item)[:200]
        raise ValueError(f'a point is an object with "point", "score" and "reports"; got {shown}')
    value = read_score(score, MAX_SCORE)
    known = [i for one in _as_list(numbers) if (i := _report_number(one)) and i <= len(ids)]
    if not known:
        shown = repr(numbers)[:200]
        raise ValueError(f'"reports" are numbers of reports, from 1 to {len(ids)}; got {shown}')
    reports = tuple(ids[i - 1] for i in dict.fromkeys(known))
    return Point(" ".join(point.split()), value, reports)


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _report_number(value: object) -> int:
    """Return the number of a report, as 3, "3" or "[3]"; 0 for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return max(0, value)
    digits = value.strip(" []") if isinstance(value, str) else ""
    return int(digits) if digits.isdecimal() and len(digits) < 10 else 0


def _read_text(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text.strip()
