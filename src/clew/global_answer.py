"""Questions on the whole of a corpus, which no few passages answer: every report is asked, and what they say is brought together.

The points that each batch of reports gives, with a score, are ranked, and the best of them within a budget become the answer (Edge et al.,
"From local to global: a graph RAG approach to query-focused summarization", arXiv 2404.16130). Without a language model the reports most
like the question, packed into a context, are what there is to read: `index.ask(question, recipe="global")`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Graph
from clew.model import Model, parse_json
from clew.select.top_reports import ReportMembersPart

if TYPE_CHECKING:
    from clew.index.index import Index

POINTS, TOP = 5, 100

MAP = """Below are reports on parts of a collection, each with its number. What in them helps to answer this question about the whole \
collection?

Question: {question}

{reports}

Answer with one JSON list and nothing else, of at most {points} points, [] if nothing helps:
[{{"point": one statement that helps to answer, with the names and numbers it rests on,
  "score": how much it helps, from 0 (not at all) to 100 (it answers the question),
  "reports": the numbers of the reports that say so}}]"""

REDUCE = """Below are points that were gathered from reports on all parts of a collection, the most helpful first, each with the numbers \
of its reports in brackets. Answer the question from these points alone, and name the numbers behind what you say, in brackets. Where the \
points do not answer it, say so.

Question: {question}

{points}"""


@dataclass(frozen=True)
class Point:
    """What one batch of reports has to say: a statement, how much it helps (0 to 100), and the ids of the reports that say so."""

    text: str
    score: float
    reports: tuple[str, ...]


@dataclass(frozen=True)
class GlobalAnswer:
    """The answer to a question on the whole.

    `text` is the answer, or the points themselves where the last call failed. It names reports by their numbers, from 1, in `reports`,
    the ids of all that were asked. `points` are those that it was made of, the best first; `left` how many did not fit in the budget.
    `calls` is how often the model was called, and `failed` what could not be had, with the reasons.
    """

    question: str
    text: str
    points: tuple[Point, ...]
    reports: tuple[str, ...]
    left: int = 0
    calls: int = 0
    failed: tuple[tuple[str, str], ...] = ()


def answer_globally(
    index: Index,
    question: str,
    model: Any,
    *,
    level: int = 0,
    most: int | None = None,
    batch: int = 2000,
    budget: int = 2000,
    workers: int = 4,
    progress: bool = False,
) -> GlobalAnswer:
    """Return a language model's answer to a question on the whole corpus, by way of its reports.

    Args:
        index: one with reports, as `index.generate(clew.generate.Reports())` makes them. model: anything `clew.model.Model.of` takes.
        level: the level whose reports are asked; where there is none, the next coarser, or else the coarsest. most: only so many, those
            most like the question; None for all.
        batch: tokens of reports in one prompt. budget: tokens of points in the last prompt. Both by the index's counter.
        workers: how many prompts are asked at the same time. progress: show a bar on stderr.

    Raises:
        ValueError: an empty question, an index without reports, a number below 1, a batch that holds none of the reports.
    """
    from clew.index.question import check_question

    question, graph, asked = check_question(question, budget, most), index.graph, Model.of(model)
    told = graph.part(ReportMembersPart())
    if not told:
        raise ValueError(
            "the index has no reports: make some with index.generate(clew.generate.Reports())"
        )
    rows = told[max([one for one in told if one <= level], default=min(told))]
    vector = np.asarray(index.embedder.embed_question(question), np.float32)
    rows = rows[top_k(np.einsum("ij,j->i", graph.vectors[rows], vector), most)]
    number = {int(row): i for i, row in enumerate(rows.tolist(), 1)}
    batches = _batches(graph, rows.tolist(), batch)
    prompts = [
        MAP.format(
            question=question,
            reports="\n\n".join(f"[{number[row]}] {graph.texts[row]}" for row in some),
            points=POINTS,
        )
        for some in batches
    ]
    ids = tuple(graph.ids[row] for row in rows.tolist())
    answers = asked.ask_all(
        prompts, lambda text: _points(text, ids), workers=workers, progress=progress, what="reports"
    )
    failed = [
        (f"reports {number[some[0]]} to {number[some[-1]]}", one.error)
        for some, one in zip(batches, answers, strict=True)
        if one.value is None
    ]
    calls, points = (
        sum(one.calls for one in answers),
        [point for one in answers for point in one.value or []],
    )
    ranked = sorted(
        (point for point in points if point.score > 0), key=lambda point: -point.score
    )  # of equals the first: of the likest report
    kept, lines = list[Point](), list[str]()
    place = {id: i for i, id in enumerate(ids, 1)}
    for point in ranked:
        line = f"- {point.text} [{', '.join(str(place[id]) for id in point.reports)}]"
        if graph.count("\n".join([*lines, line])) <= budget:
            kept.append(point)
            lines.append(line)
    if not kept:
        return GlobalAnswer(question, "", (), ids, len(ranked), calls, tuple(failed))
    last = asked.ask(REDUCE.format(question=question, points="\n".join(lines)), _said)
    if last.value is None:
        failed.append(("the answer", f"{last.error}: the points stand in its place"))
    return GlobalAnswer(
        question,
        last.value or "\n".join(lines),
        tuple(kept),
        ids,
        len(ranked) - len(kept),
        calls + last.calls,
        tuple(failed),
    )


def _batches(graph: Graph, rows: list[int], batch: int) -> list[list[int]]:
    """The reports in their order, as many together as fit."""
    batches, left = list[list[int]](), 0
    for row in rows:
        if (tokens := int(graph.tokens[row])) > batch:
            raise ValueError(
                f"a batch of {batch} tokens cannot hold the report {graph.ids[row]!r}, which has {tokens}: give a larger batch"
            )
        if tokens > left or not batches:
            batches.append([])
            left = batch
        batches[-1].append(row)
        left -= tokens
    return batches


def _points(text: str, ids: tuple[str, ...]) -> list[Point]:
    said = parse_json(text)
    if not isinstance(said, list):
        raise ValueError("a JSON list of points is wanted")  # noqa: TRY004  # a bad answer, not a bad argument
    points = list[Point]()
    for one in said:
        point, score, numbers = (
            (one.get(key) for key in ("point", "score", "reports"))
            if isinstance(one, dict)
            else (None, None, None)
        )
        if not isinstance(point, str) or not point.strip():
            raise ValueError(
                f'a point is an object with "point", "score" and "reports"; got {one!r}'
            )
        if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score <= TOP:
            raise ValueError(f'"score" is a number from 0 to {TOP}; got {score!r}')
        if (
            not isinstance(numbers, list)
            or not numbers
            or not all(type(i) is int and 1 <= i <= len(ids) for i in numbers)
        ):
            raise ValueError(
                f'"reports" are numbers of reports, from 1 to {len(ids)}; got {numbers!r}'
            )
        points.append(
            Point(
                " ".join(point.split()),
                float(score),
                tuple(ids[i - 1] for i in dict.fromkeys(numbers)),
            )
        )
    return points[:POINTS]


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text.strip()
