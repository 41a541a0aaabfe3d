"""A report on every community: what the passages of one part of the corpus have in common, kept in the graph, to be read before details.

After Edge et al., "From local to global: a graph RAG approach to query-focused summarization", arXiv 2404.16130. There a language model
writes all of them; here one may, and without it a report is made of the most central names and the sentences nearest to the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.community_detection.modularity import CommunityDetection, CommunityHierarchy
from clew.algorithms.pagerank.full import WalkPart, pagerank
from clew.algorithms.ranking import top_k
from clew.generate.extracts import extract, in_order, nearest, telling
from clew.graph import Floats, Generated, Graph, heading_of
from clew.model import Model, ModelAnswer, parse_json

NAMES, SHOWN, FINDINGS, NEAR = 5, 20, 8, 60
FINER = 1.5  # a level that has hardly more communities than another says the same again

PROMPT = """The passages below belong together in a larger collection. Write a report on them for someone who has not read them and has \
questions about the collection as a whole. Say only what the passages say.

What they are about, by how often it is linked: {names}

{passages}

Answer with one JSON object and nothing else:
{{"title": a title of at most ten words that names what is central,
 "summary": what the passages have in common, in at most {words} words,
 "rating": a number from 0 to 10, how much this matters to someone who wants to understand the whole collection,
 "findings": a list of at most {findings} sentences, each one finding with the names and numbers that it rests on}}"""


@dataclass(frozen=True)
class Reports:
    """Write a report on every community of the chosen levels that has enough passages.

    A report is named `community:{level}:{id of its most central passage}`, so that it keeps its name while the middle of the community
    stays. Its metadata has the level (0 is the coarsest), `size` in nodes, `passages`, the ids of at most twenty `members` by centrality,
    `names`, `rank` within its level (1 for the highest rating or, without a model, for most passages), the model's `rating` or None, and
    `by`: "model" or "extract". Where the model's answer cannot be used, twice, the report is an extract, and the reason is in `failed`.

    Attributes:
        model: anything `clew.model.Model.of` takes, or None.
        level: a level of the hierarchy, or several; one deeper than there are is the finest. None for all that have at least half as many
            communities again as the one before.
        resolution: above 1 for more and smaller communities. kinds: kinds of edge, None for all.
        smallest: passages that a community must have. tokens: a report has at most so many, by the index's counter.
        reading: tokens of passages that one prompt shows, the most central first.
        workers: how many prompts are asked at the same time.
    """

    model: Any = None
    level: int | tuple[int, ...] | None = 0
    resolution: float = 1.0
    kinds: tuple[str | tuple[str, float], ...] | None = None
    smallest: int = 3
    tokens: int = 125
    reading: int = 4000
    workers: int = 4

    def __post_init__(self) -> None:
        for name in ("smallest", "tokens", "reading", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} is a whole number of at least 1; got {getattr(self, name)!r}"
                )
        if any(level < 0 for level in _levels(self.level)):
            raise ValueError(f"a level is a whole number from 0, the coarsest; got {self.level!r}")
        CommunityDetection(self.kinds, self.resolution)

    def on(self, graph: Graph) -> Generated:
        found = graph.part(CommunityDetection(self.kinds, self.resolution))
        central = (
            pagerank(graph.part(WalkPart(self.kinds)), np.ones(len(graph)), 0.85)
            if len(graph)
            else np.zeros(0)
        )
        groups = [
            group
            for level in self._wanted(found)
            for group in _groups(graph, found, level, central, self.smallest)
        ]
        texts, errors = [self._extract(graph, group) for group in groups], [""] * len(groups)
        ratings: list[float | None] = [None] * len(groups)
        written: list[ModelAnswer[_Told]] = []
        if self.model is not None and groups:
            prompts = [self._prompt(graph, group) for group in groups]
            written = Model.of(self.model).ask_all(
                prompts, self._read(graph), workers=self.workers, what="reports"
            )
        for i, answer in enumerate(written):
            if answer.value is None:
                errors[i] = answer.error
            else:
                texts[i], ratings[i] = answer.value.text, answer.value.rating
        ranks = _ranks(groups, ratings)
        return Generated(
            ids=tuple(group.id for group in groups),
            kinds=("report",) * len(groups),
            texts=tuple(texts),
            read_from=[group.passages for group in groups],
            metadata=tuple(
                {
                    "level": group.level,
                    "size": group.size,
                    "passages": len(group.passages),
                    "members": [graph.ids[row] for row in group.members],
                    "names": list(group.names),
                    "rank": rank,
                    "rating": rating,
                    "by": "extract" if self.model is None or error else "model",
                }
                for group, rank, rating, error in zip(groups, ranks, ratings, errors, strict=True)
            ),
            failed=tuple(
                (group.id, f"{error}: an extract stands in its place")
                for group, error in zip(groups, errors, strict=True)
                if error
            ),
        )

    def _wanted(self, found: CommunityHierarchy) -> list[int]:
        sizes = [int(level.max(initial=-1)) + 1 for level in found.levels]
        if self.level is not None:
            return sorted({min(level, len(sizes) - 1) for level in _levels(self.level)})
        wanted = [0]
        for level, size in enumerate(sizes):
            if size >= FINER * sizes[wanted[-1]]:
                wanted.append(level)
        return wanted

    def _extract(self, graph: Graph, group: _Group) -> str:
        """Names and the sentences nearest to the middle; where the limit is too small for that, the names that fit, at least one."""
        names = list(group.names)
        while True:
            head = f"{', '.join(names)} ({len(group.passages)} passages): "
            room = self.tokens - graph.count(head)
            if room > 0 or len(names) == 1:
                break
            names.pop()
        text = extract(graph, nearest(graph, group.passages, NEAR), max(room, 1))
        while (
            text and graph.count(head + text) > self.tokens and room > 1
        ):  # a tokenizer may join what stands at the seam
            room -= graph.count(head + text) - self.tokens
            text = extract(graph, nearest(graph, group.passages, NEAR), max(room, 1))
        return head + text if text else head.removesuffix(": ")

    def _prompt(self, graph: Graph, group: _Group) -> str:
        shown, left = list[int](), self.reading
        for row in group.passages:
            if (tokens := int(graph.tokens[row])) <= left:
                shown.append(row)
                left -= tokens
        passages = [
            f"[{number}] {_under_heading(graph, row)}"
            for number, row in enumerate(in_order(graph, shown), 1)
        ]
        return PROMPT.format(
            names="; ".join(group.names),
            passages="\n\n".join(passages),
            words=self.tokens // 4,
            findings=FINDINGS,
        )

    def _read(self, graph: Graph) -> Callable[[str], _Told]:
        def read(text: str) -> _Told:
            said = parse_json(text)
            if not isinstance(said, dict) or not all(
                isinstance(said.get(key), str) and said[key].strip() for key in ("title", "summary")
            ):
                raise ValueError('a JSON object with the texts "title" and "summary" is wanted')
            findings, rating = said.get("findings", []), said.get("rating")
            if not isinstance(findings, list) or not all(isinstance(one, str) for one in findings):
                raise ValueError('"findings" is not a list of sentences')
            if rating is not None and (
                isinstance(rating, bool)
                or not isinstance(rating, (int, float))
                or not 0 <= rating <= 10
            ):
                raise ValueError(f'"rating" is a number from 0 to 10; got {rating!r}')
            lines = [f"{_line(said['title'])}: {_line(said['summary'])}"]
            lines += [f"  * {_line(finding)}" for finding in findings[:FINDINGS] if finding.strip()]
            while len(lines) > 1 and graph.count("\n".join(lines)) > self.tokens:
                lines.pop()
            if (size := graph.count(lines[0])) > self.tokens:
                raise ValueError(
                    f"title and summary have {size} tokens; at most {self.tokens} are wanted"
                )
            return _Told("\n".join(lines), None if rating is None else float(rating))

        return read


@dataclass(frozen=True)
class _Told:
    """A model's report: its text and rating."""

    text: str
    rating: float | None


@dataclass(frozen=True)
class _Group:
    """A community: its name, level and size, its passages and its first members by centrality, and what it is about."""

    id: str
    level: int
    size: int
    passages: tuple[int, ...]
    members: tuple[int, ...]
    names: tuple[str, ...]


def _groups(
    graph: Graph, found: CommunityHierarchy, level: int, central: Floats, smallest: int
) -> list[_Group]:
    """The communities of a level with enough passages, those with most first."""
    communities, passage, groups = (
        found.members(level),
        graph.kinds.mask("passage") & graph.content,
        list[_Group](),
    )
    for number in range(len(communities)):
        rows = communities[number]
        if int(passage[rows].sum()) < smallest:
            continue
        rows = rows[top_k(central[rows] * len(graph))]
        passages = rows[passage[rows]].tolist()
        groups.append(
            _Group(
                f"community:{level}:{graph.ids[passages[0]]}",
                level,
                len(rows),
                tuple(passages),
                tuple(rows[:SHOWN].tolist()),
                _names(graph, rows.tolist(), passages),
            )
        )
    return sorted(groups, key=lambda group: (-len(group.passages), group.passages[0]))


def _names(graph: Graph, rows: Sequence[int], passages: Sequence[int]) -> tuple[str, ...]:
    """What a community is about: its most central entities, or else the headings of its passages, or else its telling words."""
    entities = [graph.texts[row] for row in rows if graph.kinds[row] == "entity"]
    headings = [heading for row in passages if (heading := heading_of(graph, row))]
    names = list(dict.fromkeys(entities or headings))[:NAMES]
    return tuple(names or telling(graph, passages, NAMES) or [graph.ids[passages[0]]])


def _ranks(groups: Sequence[_Group], ratings: Sequence[float | None]) -> list[int]:
    ranks, before = [0] * len(groups), dict[int, int]()
    for i in sorted(range(len(groups)), key=lambda i: (-(ratings[i] or 0.0), i)):
        before[groups[i].level] = ranks[i] = before.get(groups[i].level, 0) + 1
    return ranks


def _under_heading(graph: Graph, row: int) -> str:
    heading = heading_of(graph, row)
    return f"{heading}: {graph.texts[row]}" if heading else graph.texts[row]


def _line(text: str) -> str:
    return " ".join(text.split())


def _levels(level: int | tuple[int, ...] | None) -> tuple[int, ...]:
    return () if level is None else (level,) if isinstance(level, int) else level
