"""What the communities around the question have in common, before what single passages say.

Reports on communities (see `clew.generate.Reports`) are chosen by their likeness to the question, and by how much of the prizes lies in the
passages they were made of: the community that holds most of what is worth reading is the dominant one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.algorithms.cosines import cosines
from clew.algorithms.ranking import exceeds, reaches, top_k
from clew.graph import Floats, Graph, Rows, freeze
from clew.select.top import Top
from clew.types import Query, Seeds, Subgraph

BASES = ("question", "prizes", "both")
FIT = "fit"
ADVICE = "the graph has no reports{level}: make some with index.generate(clew.generate.Reports())"


@dataclass(frozen=True)
class TopReports:
    """Take the best reports for at most a share of the budget, and let another stage choose the rest with what they leave.

    A report says again what others have said if most of its passages are theirs: of such, as levels of one hierarchy make them, the
    better one is taken. Where the graph has no reports, the trace says so and `rest` has all of the budget. Of a question with a limit,
    reports are at most the same share. The prize of a report is such that the best one is worth as much as the best passage.

    Attributes:
        share: of the budget, in (0, 1].
        count: at most so many reports; None for as many as fit.
        level: only those of this level of the hierarchy (0 has the largest communities); "fit" for the finest whose reports fit all
            together, else the coarsest; None for all levels.
        by: "question" (cosine), "prizes" (the part of them that lies in the community) or "both" (the mean of the two, each scaled so
            that the best has 1).
        least: what a report must be worth beside the best one, from 0 to 1; 0 takes those that are worth nothing too, when there is room.
        among: how many of the highest prizes are asked where they lie.
        rest: the stage that chooses what else is read.
    """

    budget_share: float = 0.2
    max_reports: int | None = 3
    level: int | str | None = None
    by: str = "both"
    min_score: float = 0.5
    among: int = 20
    rest: Any = Top()

    def __post_init__(self) -> None:
        if not 0 < self.budget_share <= 1:
            raise ValueError(
                f"share is the part of the budget that reports may take, in (0, 1]; got {self.budget_share!r}"
            )
        if self.by not in BASES:
            raise ValueError(f"unknown by={self.by!r}; known: {', '.join(BASES)}")
        if isinstance(self.level, str) and self.level != FIT:
            raise ValueError(f"level is a number, {FIT!r} or None; got {self.level!r}")
        if not callable(getattr(self.rest, "on", None)):
            raise TypeError(
                f"rest is a select stage, such as Top(); got a {type(self.rest).__name__}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        rest, told = self.rest.on(graph), graph.part(ReportMembersPart())

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            others: Subgraph
            rows = self._of_level(graph, told, int(budget * self.budget_share))
            if not len(rows):
                others = rest(query, seeds, prizes, candidates, budget)
                note = ADVICE.format(
                    level="" if self.level in (None, FIT) else f" of level {self.level}"
                )
                return replace(
                    others, notes={**others.notes, "fallback": _joined(others.notes, note)}
                )
            near, held = _likeness(graph, rows, query), self._held(graph, rows, prizes)
            worth = {"question": near, "prizes": held}.get(
                self.by, (_of_best(near) + _of_best(held)) / 2
            )
            taken, dropped = self._taken(graph, rows, worth, query, budget)
            left = budget - int(graph.tokens[taken].sum())
            limit = None if query.limit is None else query.limit - len(taken)
            if left > 0 and limit != 0:
                others = rest(replace(query, limit=limit), seeds, prizes, candidates, left)
            else:
                others = replace(
                    candidates,
                    nodes=freeze(candidates.nodes[:0], np.int32),
                    edges=freeze([], np.int32),
                )
            direct = {
                row: (float(cosine), (row,))
                for row, cosine in zip(rows.tolist(), near.tolist(), strict=True)
            }
            place = {row: i for i, row in enumerate(rows.tolist())}
            top = (
                float(prizes[graph.content].max(initial=0)) / float(worth.max(initial=1))
                if len(taken)
                else 0.0
            )
            worths = {row: float(worth[place[row]]) * top for row in taken.tolist()}
            said = [
                {
                    "id": graph.ids[row],
                    "cosine": round(float(near[place[row]]), 4),
                    "of the prizes": round(float(held[place[row]]), 4),
                }
                for row in taken.tolist()
            ]
            return replace(
                others,
                nodes=freeze(
                    np.concatenate([taken, others.nodes[~np.isin(others.nodes, taken)]]), np.int32
                ),
                required=freeze(np.concatenate([others.required, taken]), np.int32),
                extra_prizes={**others.extra_prizes, **worths},
                paths={**others.paths, **(direct if self.by == "question" else {})},
                bound=None if others.bound is None else others.bound + sum(worths.values()),
                dropped=(*others.dropped, *dropped),
                notes={
                    **others.notes,
                    "reports": said,
                    "tokens of reports": int(graph.tokens[taken].sum()),
                },
            )

        return select

    def _of_level(self, graph: Graph, told: dict[int, Rows], room: int) -> Rows:
        """The reports to choose from."""
        if self.level is None:
            return freeze(np.sort(np.concatenate([*told.values()])) if told else [], np.int32)
        if self.level != FIT:
            return told.get(int(self.level), freeze([], np.int32))
        fitting = [
            level
            for level in sorted(told, reverse=True)
            if int(graph.tokens[told[level]].sum()) <= room
        ]
        return told[(fitting or sorted(told))[0]] if told else freeze([], np.int32)

    def _held(self, graph: Graph, rows: Rows, prizes: Floats) -> Floats:
        """The part of the highest prizes that lies in the passages of each report."""
        own = np.where(graph.content, prizes, 0.0)
        top = top_k(own, self.among)
        counted = np.zeros(len(graph))
        counted[top] = own[top]
        total = counted.sum()
        sums = np.array([counted[graph.read_from[row]].sum() for row in rows.tolist()])
        return sums / total if total > 0 else sums

    def _taken(
        self, graph: Graph, rows: Rows, worth: Floats, query: Query, budget: int
    ) -> tuple[Rows, list[tuple[int, str]]]:
        """The reports that fit, best first, and those between them that do not."""
        left = int(budget * self.budget_share)
        most = len(rows) if self.max_reports is None else self.max_reports
        if query.limit is not None:
            most = min(most, int(query.limit * self.budget_share))
        told, taken, dropped = np.zeros(len(graph), np.bool_), list[int](), list[tuple[int, str]]()
        top = float(worth.max(initial=0))
        good = exceeds(worth, 0.0, top) & reaches(worth, self.min_score * top, top) | (
            self.min_score == 0
        )
        for row in rows[top_k(worth)[: int(good.sum())]].tolist():
            if len(taken) >= most:
                break
            passages = graph.read_from[row]
            if 2 * int(told[passages].sum()) > len(passages):
                continue
            if (tokens := int(graph.tokens[row])) > left:
                dropped.append(
                    (
                        row,
                        f"its {tokens} tokens do not fit in the {left} left of the reports' share",
                    )
                )
                continue
            told[passages] = True
            taken.append(row)
            left -= tokens
        return freeze(taken, np.int32), dropped if len(taken) < most else []


@dataclass(frozen=True)
class ReportMembersPart:
    """The part that knows the rows of the reports of every level; one that names no level is of level 0."""

    def compute(self, graph: Graph) -> dict[int, Rows]:
        levels: dict[int, list[int]] = {}
        for row in graph.rows("report").tolist():
            levels.setdefault(int(graph.metadata[row].get("level", 0)), []).append(row)
        return {level: freeze(rows, np.int32) for level, rows in levels.items()}


def _likeness(graph: Graph, rows: Rows, query: Query) -> Floats:
    """The cosine of each report with the question, at least 0."""
    return (
        np.zeros(len(rows))
        if query.vector is None
        else np.maximum(cosines(graph.vectors[rows], query.vector), 0)
    )


def _of_best(scores: Floats) -> Floats:
    top = scores.max(initial=0)
    return scores / top if top > 0 else scores


def _joined(trace: Any, note: str) -> str:
    return "; ".join([str(trace["fallback"]), note] if "fallback" in trace else [note])
