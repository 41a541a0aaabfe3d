"""Reports on communities first: what many passages have in common, before what one of them says.

Reports (see `clew.generate.Reports`) are chosen by their likeness to the question, and by how much
of the prizes lies in the passages that they were generated from: the community that holds most of
the prizes is the dominant one.

Where no reports were generated, passages may stand for them: communities are found by modularity
(`clew.algorithms.community_detection`) and scored in the same way, and of the most central passages
of each the one with the highest prize is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.community_detection.modularity import CommunityDetection
from clew.algorithms.cosines import cosines
from clew.algorithms.pagerank.full import WalkPart, pagerank
from clew.algorithms.ranking import exceeds, reaches, top_k
from clew.graph import AnyVectors, Floats, Graph, Rows, Vectors, freeze, row_mask
from clew.select._shared import Dropped
from clew.select.top import Top
from clew.types import Query, Seeds, Select, Subgraph

CRITERIA = ("question", "prizes", "both")
FINEST_FITTING = "fit"
DAMPING = 0.85  # of the walk that says what is central
MADE_AT_ONCE = 8192  # vectors, some 10 MB
NO_REPORTS = (
    "the graph has no reports{level}: make some with index.generate(clew.generate.Reports()), "
    "as --reports does"
)


@dataclass(frozen=True)
class TopReports:
    """Take the best reports for a share of the budget; another stage chooses the rest.

    A report repeats others if most of its passages are theirs, as levels of one hierarchy do: of
    such reports the best is taken. Where the graph has no reports, the trace says so and `rest` has
    the whole budget. Of a question with a limit, reports are at most the same share. The best
    report has the prize of the best passage, and the others have theirs in proportion.

    Attributes:
        budget_share: the share of the budget that reports may take, in (0, 1].
        max_reports: take at most so many; None for as many as fit.
        level: only reports of this level of the hierarchy (0 has the largest communities); "fit"
            for the finest level whose reports fit all together, or else the coarsest; None for all.
        by: the score of a report: "question" (cosine), "prizes" (the share of the prizes that lies
            in its passages) or "both" (the mean of the two, each divided by its best).
        min_score: the lowest score that is taken, as a share of the best, in [0, 1]; 0 takes
            reports with a score of 0 too, where there is room.
        among: how many of the highest prizes count for "prizes".
        extracts: where the graph has no reports, central passages of the communities stand for
            them, under the same limits.
        rest: the stage that chooses the rest.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Seeds, Subgraph
        >>> kinds, vectors = ["passage", "report", "report"], [[1, 0], [1, 0], [0, 1]]
        >>> graph = Graph.of(list("abc"), kinds=kinds, vectors=vectors, generated=[0, 1, 1])
        >>> query, prizes = Query("?", np.float32([1, 0])), np.array([1.0, 0.0, 0.0])
        >>> select = TopReports(by="question").on(graph)
        >>> select(query, Seeds(prizes), prizes, Subgraph(np.arange(3)), 99).nodes.tolist()
        [1, 0]
    """

    budget_share: float = 0.2
    max_reports: int | None = 3
    level: int | str | None = None
    by: str = "both"
    min_score: float = 0.5
    among: int = 20
    extracts: bool = False
    rest: Select = Top()

    def __post_init__(self) -> None:
        if not 0 < self.budget_share <= 1:
            raise ValueError(
                "budget_share is the part of the budget that reports may take, in (0, 1]; "
                f"got {self.budget_share!r}"
            )
        if self.by not in CRITERIA:
            raise ValueError(f"unknown by={self.by!r}; known: {', '.join(CRITERIA)}")
        if isinstance(self.level, str) and self.level != FINEST_FITTING:
            raise ValueError(f"level is a number, {FINEST_FITTING!r} or None; got {self.level!r}")
        if not callable(getattr(self.rest, "on", None)):
            raise TypeError(
                f"rest is a select stage, such as Top(); got a {type(self.rest).__name__}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        select_rest, reports = self.rest.on(graph), graph.part(ReportMembersPart())

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            room = int(budget * self.budget_share)
            rows = self._of_level(graph, reports, room)
            if not len(rows):
                if self.extracts:
                    candidates, notes = self._with_extracts(graph, query, prizes, candidates, room)
                    others = select_rest(query, seeds, prizes, candidates, budget)
                    return replace(others, notes={**others.notes, **notes})
                return self._without_reports(select_rest(query, seeds, prizes, candidates, budget))
            scored = self._scored(graph, rows, query, prizes)
            members = [graph.read_from[row] for row in rows.tolist()]
            taken, dropped = self._take(graph, scored, members, room, query.limit)
            left = budget - int(graph.tokens[rows[taken]].sum())
            limit = None if query.limit is None else query.limit - len(taken)
            if left > 0 and limit != 0:
                rest_query = replace(query, limit=limit)
                others = select_rest(rest_query, seeds, prizes, candidates, left)
            else:
                no_rows = freeze([], np.int32)
                others = replace(candidates, nodes=no_rows, edges=no_rows)
            return self._with_reports(graph, others, scored, taken, dropped, prizes)

        return select

    def _of_level(self, graph: Graph, reports: Mapping[int, Rows], room: int) -> Rows:
        """Return the reports to choose from."""
        no_rows = freeze([], np.int32)
        if not reports:
            return no_rows
        if self.level is None:
            return freeze(np.sort(np.concatenate([*reports.values()])), np.int32)
        if self.level != FINEST_FITTING:
            return reports.get(int(self.level), no_rows)
        levels = sorted(reports)
        fitting = [level for level in levels if int(graph.tokens[reports[level]].sum()) <= room]
        return reports[fitting[-1] if fitting else levels[0]]

    def _with_extracts(
        self, graph: Graph, query: Query, prizes: Floats, candidates: Subgraph, room: int
    ) -> tuple[Subgraph, dict[str, object]]:
        """Return the candidates, a passage of each of the best communities required, and notes."""
        communities = graph.part(CentralPassagesPart())
        offered = row_mask(candidates.nodes, len(graph))
        offered &= prizes > 0
        extracts = [central[offered[central]] for central in communities.central]
        touched = [number for number, extract in enumerate(extracts) if len(extract)]
        rows = freeze(
            [extracts[number][top_k(prizes[extracts[number]], 1)[0]] for number in touched],
            np.int32,
        )
        cosine = np.zeros(len(rows))
        if query.vector is not None and len(rows):
            cosine = cosines(communities.vectors[touched], query.vector)
        members = [communities.passages[number] for number in touched]
        share = _prize_shares(graph, members, prizes, self.among)
        scored = self._by_criterion(rows, cosine, share)
        taken, _ = self._take(graph, scored, members, room, query.limit)
        chosen = rows[taken]
        places = [touched[place] for place in taken]
        notes: dict[str, object] = {
            "communities": [
                {**note, "passages": len(communities.passages[number])}
                for note, number in zip(scored.notes(graph, taken), places, strict=True)
            ],
            "reports by": "central passages: the graph has no reports",
        }
        required = freeze(np.union1d(candidates.required, chosen), np.int32)
        return replace(candidates, required=required), notes

    def _without_reports(self, others: Subgraph) -> Subgraph:
        """Return what the other stage chose, with a note that there are no reports."""
        level = "" if self.level in (None, FINEST_FITTING) else f" of level {self.level}"
        earlier = [str(others.notes["fallback"])] if "fallback" in others.notes else []
        note = "; ".join([*earlier, NO_REPORTS.format(level=level)])
        return replace(others, notes={**others.notes, "fallback": note})

    def _scored(self, graph: Graph, rows: Rows, query: Query, prizes: Floats) -> _ScoredReports:
        """Return the reports with their scores."""
        cosine = np.zeros(len(rows))
        if query.vector is not None:
            cosine = cosines(graph.vectors[rows], query.vector)
        members = [graph.read_from[row] for row in rows.tolist()]
        return self._by_criterion(rows, cosine, _prize_shares(graph, members, prizes, self.among))

    def _by_criterion(self, rows: Rows, cosine: Floats, share: Floats) -> _ScoredReports:
        alike = np.maximum(cosine, 0)
        by_both = (_over_best(alike) + _over_best(share)) / 2
        scores = {"question": alike, "prizes": share, "both": by_both}[self.by]
        # Of reports that are unlike the question, the least unlike comes first.
        ranking = top_k(cosine if self.by == "question" else scores)
        return _ScoredReports(rows, alike, share, scores, ranking)

    def _take(
        self,
        graph: Graph,
        reports: _ScoredReports,
        members: Sequence[Rows],
        room: int,
        limit: int | None,
    ) -> tuple[list[int], Dropped]:
        """Return the places of the reports that fit, best first, and those that do not fit."""
        scores = reports.scores
        places = len(scores) if self.max_reports is None else self.max_reports
        if limit is not None:
            places = min(places, int(limit * self.budget_share))
        highest = float(scores.max(initial=0))
        good = exceeds(scores, 0.0, highest) & reaches(scores, self.min_score * highest, highest)
        count = len(scores) if self.min_score == 0 else int(good.sum())
        covered, taken, dropped = np.zeros(len(graph), np.bool_), list[int](), Dropped()
        for place in reports.ranking[:count].tolist():
            if len(taken) >= places:
                break
            row = int(reports.rows[place])
            passages, tokens = members[place], int(graph.tokens[row])
            if 2 * int(covered[passages].sum()) > len(passages):
                continue
            if tokens > room:
                reason = f"its {tokens} tokens do not fit in the {room} left of the reports' share"
                dropped.append((row, reason))
                continue
            covered[passages] = True
            taken.append(place)
            room -= tokens
        return taken, dropped if len(taken) < places else Dropped()

    def _with_reports(
        self,
        graph: Graph,
        others: Subgraph,
        reports: _ScoredReports,
        taken: list[int],
        dropped: Dropped,
        prizes: Floats,
    ) -> Subgraph:
        """Return the reports that were taken, before what the other stage chose."""
        rows = reports.rows[taken]
        best_passage = float(prizes[graph.content].max(initial=0))
        scale = best_passage / (float(reports.scores.max(initial=0)) or 1.0)
        report_prizes = {
            row: score * scale
            for row, score in zip(rows.tolist(), reports.scores[taken].tolist(), strict=True)
        }
        paths = {}
        if self.by == "question":
            cosine_of_rows = zip(reports.rows.tolist(), reports.cosine.tolist(), strict=True)
            paths = {row: (cosine, (row,)) for row, cosine in cosine_of_rows}
        others_only = others.nodes[~np.isin(others.nodes, rows)]
        return replace(
            others,
            nodes=freeze(np.concatenate([rows, others_only]), np.int32),
            required=freeze(np.concatenate([others.required, rows]), np.int32),
            extra_prizes={**others.extra_prizes, **report_prizes},
            paths={**others.paths, **paths},
            bound=None if others.bound is None else others.bound + sum(report_prizes.values()),
            dropped=(*others.dropped, *dropped),
            notes={
                **others.notes,
                "reports": reports.notes(graph, taken),
                "tokens of reports": int(graph.tokens[rows].sum()),
            },
        )


@dataclass(frozen=True, eq=False)
class _ScoredReports:
    """Reports with their scores for a question.

    Attributes:
        rows: the rows of the reports.
        cosine: their cosines with the question, at least 0.
        share: the share of the prizes that lies in their passages.
        scores: the scores by which they are taken.
        ranking: their places, best first.
    """

    rows: Rows
    cosine: Floats
    share: Floats
    scores: Floats
    ranking: NDArray[np.integer]

    def notes(self, graph: Graph, places: list[int]) -> list[dict[str, object]]:
        """Return what the trace says of some of them."""
        return [
            {
                "id": graph.ids[self.rows[place]],
                "cosine": round(float(self.cosine[place]), 4),
                "of the prizes": round(float(self.share[place]), 4),
            }
            for place in places
        ]


@dataclass(frozen=True)
class ReportMembersPart:
    """The part that knows the rows of the reports of every level of the hierarchy.

    A report that names no level is of level 0.

    Example:
        >>> from clew import Graph
        >>> graph = Graph.of(["a", "b"], kinds=["passage", "report"])
        >>> {level: rows.tolist() for level, rows in graph.part(ReportMembersPart()).items()}
        {0: [1]}
    """

    def compute(self, graph: Graph) -> dict[int, Rows]:
        levels: dict[int, list[int]] = {}
        for row in graph.rows("report").tolist():
            levels.setdefault(int(graph.metadata[row].get("level", 0)), []).append(row)
        return {level: freeze(rows, np.int32) for level, rows in levels.items()}


@dataclass(frozen=True, eq=False)
class CommunityPassages:
    """Communities with enough passages, by what stands for them where no report was generated.

    Attributes:
        passages: the rows of the passages of each.
        central: of these the most central ones, best first.
        vectors: float32 [communities, d], the unit mean of the passages' vectors.
    """

    passages: tuple[Rows, ...]
    central: tuple[Rows, ...]
    vectors: Vectors


@dataclass(frozen=True)
class CentralPassagesPart:
    """The part that knows the communities of highest modularity, and their most central passages.

    Central is what PageRank without a start ranks high among all nodes.

    Attributes:
        min_passages: how many passages a community must have.
        max_central: how many of them are central.

    Example:
        >>> from clew import Graph
        >>> from clew.graph import Edges
        >>> graph = Graph.of(list("abcd"), edges=Edges.of("next", [0, 0, 0], [1, 2, 3]))
        >>> graph.part(CentralPassagesPart(max_central=1)).central[0].tolist()
        [0]
    """

    min_passages: int = 3
    max_central: int = 5

    def compute(self, graph: Graph) -> CommunityPassages:
        is_passage = graph.content & graph.kinds.mask("passage")
        centrality = pagerank(graph.part(WalkPart()), np.ones(len(graph)), DAMPING)
        found = graph.part(CommunityDetection()).members()
        rows = [freeze(found[i][is_passage[found[i]]], np.int32) for i in range(len(found))]
        passages = tuple(own for own in rows if len(own) >= self.min_passages)
        central = tuple(
            freeze(own[top_k(centrality[own] * len(graph), self.max_central)], np.int32)
            for own in passages
        )
        means = _means_of(graph.vectors, passages)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        return CommunityPassages(
            passages, central, freeze(means / np.where(lengths > 0, lengths, 1), np.float32)
        )


def _means_of(vectors: AnyVectors, groups: Sequence[Rows]) -> NDArray[np.float64]:
    """Return the mean vector of each group of rows: float64 [groups, d].

    The vectors of many groups are made at once, since some of them have to be.
    """
    means = np.zeros((len(groups), vectors.shape[1]))
    sizes = np.cumsum([0, *map(len, groups)])
    first = 0
    while first < len(groups):
        last = int(np.searchsorted(sizes, sizes[first] + MADE_AT_ONCE, "right")) - 1
        last = max(last, first + 1)
        made = vectors[np.concatenate(groups[first:last])]
        for group in range(first, last):
            start, end = (sizes[[group, group + 1]] - sizes[first]).tolist()
            means[group] = made[start:end].mean(axis=0)
        first = last
    return means


def _prize_shares(graph: Graph, members: Sequence[Rows], prizes: Floats, among: int) -> Floats:
    """Return the share of the `among` highest prizes that lies in each group of passages."""
    content_prizes = np.where(graph.content, prizes, 0.0)
    top = top_k(content_prizes, among)
    counted = np.zeros(len(graph))
    counted[top] = content_prizes[top]
    total = counted.sum()
    sums = np.array([counted[own].sum() for own in members], np.float64)
    return sums / total if total > 0 else sums


def _over_best(scores: Floats) -> Floats:
    """Return the scores divided by the highest of them; all zeros stay as they are."""
    highest = scores.max(initial=0)
    return scores / highest if highest > 0 else scores
