"""A report on every community: what the passages of one part of the corpus have in common.

After Edge et al., "From local to global: a graph RAG approach to query-focused summarization",
arXiv 2404.16130. There a language model writes all reports. Here one may; without it a report is
made of the most central names and the most central sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.community_detection.modularity import (
    CommunityDetection,
    CommunityHierarchy,
    modularity,
    propagate_labels,
)
from clew.algorithms.pagerank.full import WalkPart, pagerank
from clew.algorithms.ranking import top_k
from clew.generate._model import (
    check_positive,
    extract_reason,
    first_that_fit,
    one_line,
    unread,
)
from clew.generate.extracts import distinctive_words, extract, in_document_order, most_central
from clew.graph import Floats, Generated, Graph, heading_of
from clew.model import (
    AnswerSource,
    FittedPrompt,
    Model,
    ModelSource,
    parse_json,
    read_score,
)
from clew.usage import NO_USAGE, total_usage

MAX_NAMES, MAX_MEMBERS, MAX_FINDINGS, MAX_PASSAGES = 5, 20, 8, 60
MIN_GROWTH = 1.5  # a level with hardly more communities than another says the same again
DAMPING = 0.85
ID_BEGIN = "community:"

PROMPT = """The passages below belong together in a larger collection. Write a report on them for \
someone who has not read them and has \
questions about the collection as a whole. Say only what the passages say.

What they are about, by how often it is linked: {names}

{passages}

Answer with one JSON object and nothing else:
{{"title": a title of at most ten words that names what is central,
 "summary": what the passages have in common, in at most {words} words,
 "rating": a number from 0 to 10, how much this matters to someone who wants to understand the \
whole collection,
 "findings": a list of at most {findings} sentences, each one finding with the names and numbers \
that it rests on}}"""


@dataclass(frozen=True)
class Reports:
    """Write a report on every community of the chosen levels that has enough passages.

    The id is `community:{level}:{id of the most central passage}`, so that a report keeps it while
    the centre of the community stays. The metadata has the `level` (0 is the coarsest), the `size`
    in nodes, the number of `passages`, the ids of at most twenty `members` by centrality, the
    `names`, the `rank` within the level (1 has the highest rating or, without a model, the most
    passages), the model's `rating` or None, `by`: "model" or "extract", and in `unread` what the
    model has not read, if anything. Where the model's answer cannot be used, twice, the report is
    an extract, and the reason is in `failed`.

    Attributes:
        model: whatever `clew.model.Model.of` takes, or None.
        level: a level of the hierarchy, or several; one deeper than there are is the finest. None
            is every level with at least half as many communities again as the one before.
        resolution: above 1 for more and smaller communities.
        kinds: kinds of edges, or pairs of a kind and a factor; None for all kinds.
        method: how communities are found, "leiden" or "louvain".
        keep_communities: `Index.add` keeps the communities that there are, and what is new joins
            that which it is linked to most (label propagation). Reports on parts of the corpus to
            which nothing came then stay as they are. Such an index differs from one that is built
            of all documents at once, where False makes them equal: communities are never merged,
            split or moved, until the index is built anew. Passages in too small communities, of
            which there is no report, count as new.
        min_passages: how many passages a community must have.
        tokens: the most tokens of a report, by the index's counter.
        prompt_tokens: tokens of passages in one prompt, the most central ones.
        workers: how many prompts are asked at the same time.
        answers: the cache of answers, or the path of its file. None caches them as long as this
            object lives, so that a report is paid for again only when its passages change.

    Example:
        >>> from clew.graph import Edges
        >>> texts = ["The sea is deep and blue.", "The sea is deep and cold.", "The sea is salt."]
        >>> graph = Graph.of(texts, edges=Edges.of("similar", [0, 1], [1, 2]))
        >>> report = Reports(tokens=25).on(graph)
        >>> report.ids, report.texts[0].split(":")[0]
        (('community:0:1',), 'blue, cold, salt, and, deep (3 passages)')
    """

    model: ModelSource | None = None
    level: int | tuple[int, ...] | None = 0
    resolution: float = 1.0
    kinds: tuple[str | tuple[str, float], ...] | None = None
    method: str = "leiden"
    keep_communities: bool = False
    min_passages: int = 3
    tokens: int = 125
    prompt_tokens: int = 4000
    workers: int = 4
    # A saved index knows a generator by its `repr`: what changes no report is no part of it.
    answers: AnswerSource | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_positive(self, ("min_passages", "tokens", "prompt_tokens", "workers"))
        if self.model is not None:
            cached = Model.with_cache(self.model, self.answers)
            object.__setattr__(self, "answers", cached.answers)
        if any(level < 0 for level in _as_levels(self.level)):
            raise ValueError(f"a level is a whole number from 0, the coarsest; got {self.level!r}")
        assert self._detection  # which refuses wrong kinds, resolutions and methods

    @property
    def _detection(self) -> CommunityDetection:
        return CommunityDetection(self.kinds, self.resolution, self.method)

    def on(self, graph: Graph) -> Generated:
        return self._generate(graph, self._communities(graph))

    def update(self, graph: Graph, before: Graph) -> Generated:
        """Return the reports on a graph to which documents were added.

        Args:
            graph: the graph with the new documents, without reports.
            before: the graph without them, with its reports.
        """
        known = _known_communities(graph, before) if self.keep_communities else {}
        if not known:
            return self.on(graph)
        links = self._detection.links(graph)
        levels = {level: propagate_labels(links, number) for level, number in known.items()}
        # A level of which there are no reports stands in the hierarchy, and is not read.
        of_level = [
            levels.get(level, next(iter(levels.values()))) for level in range(max(levels) + 1)
        ]
        quality = tuple(modularity(links, number, self.resolution) for number in of_level)
        hierarchy = CommunityHierarchy(tuple(of_level), quality)
        return self._generate(graph, self._communities_of(graph, hierarchy, sorted(levels)))

    def _generate(self, graph: Graph, communities: list[ReportedCommunity]) -> Generated:
        reports = [Report(self._extract(graph, one)) for one in communities]
        errors = [""] * len(communities)
        left_out: list[dict[str, str]] = [{} for _ in communities]
        usage = NO_USAGE
        if self.model is not None and communities:
            model = Model.of(self.model, answers=self.answers, count=graph.count)
            prompts = [self._prompt(model, graph, one) for one in communities]
            left_out = [unread(prompt) for prompt in prompts]
            answers = model.ask_all(
                [prompt.text for prompt in prompts],
                self._reader(graph),
                workers=self.workers,
                label="reports",
            )
            usage = total_usage(answer.usage for answer in answers)
            errors = [answer.error if answer.value is None else "" for answer in answers]
            reports = [
                answer.value or known for known, answer in zip(reports, answers, strict=True)
            ]
        ranks = _ranks(communities, [report.rating for report in reports])
        by = ["extract" if self.model is None or error else "model" for error in errors]
        return Generated(
            ids=tuple(one.id for one in communities),
            kinds=("report",) * len(communities),
            texts=tuple(report.text for report in reports),
            read_from=[one.passages for one in communities],
            metadata=tuple(
                {**one.metadata(graph), "rank": rank, "rating": report.rating, "by": writer}
                | (missing if writer == "model" else {})
                for one, rank, report, writer, missing in zip(
                    communities, ranks, reports, by, left_out, strict=True
                )
            ),
            failed=tuple(
                (one.id, extract_reason(error))
                for one, error in zip(communities, errors, strict=True)
                if error
            ),
            usage=usage,
        )

    def _communities(self, graph: Graph) -> list[ReportedCommunity]:
        hierarchy = graph.part(self._detection)
        return self._communities_of(graph, hierarchy, self._chosen_levels(hierarchy))

    def _communities_of(
        self, graph: Graph, hierarchy: CommunityHierarchy, levels: Sequence[int]
    ) -> list[ReportedCommunity]:
        centrality = np.zeros(0)
        if len(graph):
            walk = graph.part(WalkPart(self.kinds))
            centrality = pagerank(walk, np.ones(len(graph)), DAMPING)
        return [
            community
            for level in levels
            for community in communities_of(graph, hierarchy, level, centrality, self.min_passages)
        ]

    def _chosen_levels(self, hierarchy: CommunityHierarchy) -> list[int]:
        sizes = [int(level.max(initial=-1)) + 1 for level in hierarchy.levels]
        if self.level is not None:
            return sorted({min(level, len(sizes) - 1) for level in _as_levels(self.level)})
        chosen = [0]
        for level, size in enumerate(sizes):
            if size >= MIN_GROWTH * sizes[chosen[-1]]:
                chosen.append(level)
        return chosen

    def _extract(self, graph: Graph, community: ReportedCommunity) -> str:
        """Return names and the most central sentences.

        Where there is no room for a sentence, it is the names that fit, at least one.
        """
        names = list(community.names)
        while True:
            head = f"{', '.join(names)} ({len(community.passages)} passages): "
            room = self.tokens - graph.count(head)
            if room > 0 or len(names) == 1:
                break
            names.pop()
        passages = most_central(graph, community.passages, MAX_PASSAGES)
        text = extract(graph, passages, max(room, 1))
        # A tokenizer may join what stands at the seam.
        while text and graph.count(head + text) > self.tokens and room > 1:
            room -= graph.count(head + text) - self.tokens
            text = extract(graph, passages, max(room, 1))
        return head + text if text else head.removesuffix(": ")

    def _prompt(self, model: Model, graph: Graph, community: ReportedCommunity) -> FittedPrompt:
        """Return the prompt with the most central passages, in document order."""
        fitting = first_that_fit(graph, community.passages, self.prompt_tokens)
        shown = in_document_order(graph, fitting or community.passages[:1])
        rank = {row: place for place, row in enumerate(community.passages)}

        def build(texts: Sequence[str]) -> str:
            return PROMPT.format(
                names="; ".join(community.names),
                passages="\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1)),
                words=self.tokens // 4,
                findings=MAX_FINDINGS,
            )

        texts = [_under_heading(graph, row) for row in shown]
        order = sorted(range(len(shown)), key=lambda place: rank[shown[place]])
        # One passage that is too long is cut, so that the model has something to read.
        most = None if fitting else model.tokens(build([])) + self.prompt_tokens
        prompt = model.fit(build, texts, order=order, max_tokens=most)
        n = len(community.passages)
        left_out = [prompt.left_out.partition(", and ")[0]] if prompt.is_cut else []
        if prompt.shown < n:
            left_out.append(f"{n - prompt.shown:,} of {n:,} passages")
        return prompt._replace(left_out=", ".join(left_out))

    def _reader(self, graph: Graph) -> Callable[[str], Report]:
        """Return the function that reads a model's answer, and raises ValueError for a bad one."""

        def read(text: str) -> Report:
            answer = parse_json(text)
            if not isinstance(answer, dict) or not all(
                isinstance(answer.get(key), str) and answer[key].strip()
                for key in ("title", "summary")
            ):
                raise ValueError('a JSON object with the texts "title" and "summary" is wanted')
            findings, rating = _findings(answer), _rating(answer)
            lines = [f"{one_line(answer['title'])}: {one_line(answer['summary'])}"]
            lines += [f"  * {one_line(finding)}" for finding in findings if finding.strip()]
            while len(lines) > 1 and graph.count("\n".join(lines)) > self.tokens:
                lines.pop()
            if (size := graph.count(lines[0])) > self.tokens:
                raise ValueError(
                    f"title and summary have {size} tokens; at most {self.tokens} are wanted"
                )
            return Report("\n".join(lines), rating)

        return read


class Report(NamedTuple):
    """A report's text, and how much it matters by the model, from 0 to 10."""

    text: str
    rating: float | None = None


@dataclass(frozen=True)
class ReportedCommunity:
    """A community with enough passages.

    Attributes:
        id: of its report.
        level: of the hierarchy, 0 for the coarsest.
        size: in nodes.
        passages: rows, the most central first.
        members: rows of the most central nodes.
        names: what it is about.
    """

    id: str
    level: int
    size: int
    passages: tuple[int, ...]
    members: tuple[int, ...]
    names: tuple[str, ...]

    def metadata(self, graph: Graph) -> dict[str, Any]:
        """Return what is known of it for the report's metadata."""
        return {
            "level": self.level,
            "size": self.size,
            "passages": len(self.passages),
            "members": [graph.ids[row] for row in self.members],
            "names": list(self.names),
        }


def communities_of(
    graph: Graph,
    hierarchy: CommunityHierarchy,
    level: int,
    centrality: Floats,
    min_passages: int,
) -> list[ReportedCommunity]:
    """Return the communities of a level with enough passages, those with most first."""
    members = hierarchy.members(level)
    is_passage = graph.kinds.mask("passage") & graph.content
    communities = list[ReportedCommunity]()
    for number in range(len(members)):
        rows = members[number]
        if int(is_passage[rows].sum()) < min_passages:
            continue
        rows = rows[top_k(centrality[rows] * len(graph))]
        passages = rows[is_passage[rows]].tolist()
        communities.append(
            ReportedCommunity(
                f"{ID_BEGIN}{level}:{graph.ids[passages[0]]}",
                level,
                len(rows),
                tuple(passages),
                tuple(rows[:MAX_MEMBERS].tolist()),
                _names(graph, rows.tolist(), passages),
            )
        )
    return sorted(communities, key=lambda one: (-len(one.passages), one.passages[0]))


def _known_communities(graph: Graph, before: Graph) -> dict[int, NDArray[np.int32]]:
    """Return by level the community of each node of a graph, by the reports of an earlier one.

    It is -1 for a node that no report was made of.
    """
    row_of = {id: row for row, id in enumerate(graph.ids)}
    known = dict[int, NDArray[np.int32]]()
    for report in before.rows("report").tolist():
        if not before.ids[report].startswith(ID_BEGIN):
            continue
        level = int(before.metadata[report]["level"])
        number = known.setdefault(level, np.full(len(graph), -1, np.int32))
        passages = [row_of.get(before.ids[row], -1) for row in before.read_from[report].tolist()]
        number[[row for row in passages if row >= 0]] = number.max(initial=-1) + 1
    return known


def _names(graph: Graph, rows: Sequence[int], passages: Sequence[int]) -> tuple[str, ...]:
    """Return the most central entities, else the headings, else the most distinctive words."""
    entities = [graph.texts[row] for row in rows if graph.kinds[row] == "entity"]
    headings = [heading for row in passages if (heading := heading_of(graph, row))]
    names = list(dict.fromkeys(entities or headings))[:MAX_NAMES]
    words = names or distinctive_words(graph, passages, MAX_NAMES)
    return tuple(words or [graph.ids[passages[0]]])


def _ranks(communities: Sequence[ReportedCommunity], ratings: Sequence[float | None]) -> list[int]:
    """Return the rank of each community within its level, 1 for the highest rating."""
    ranks, last_rank = [0] * len(communities), dict[int, int]()
    for i in sorted(range(len(communities)), key=lambda i: (-(ratings[i] or 0.0), i)):
        level = communities[i].level
        last_rank[level] = ranks[i] = last_rank.get(level, 0) + 1
    return ranks


def _findings(answer: dict[str, Any]) -> list[str]:
    findings = answer.get("findings", [])
    if not isinstance(findings, list) or not all(isinstance(one, str) for one in findings):
        raise ValueError('"findings" is not a list of sentences')
    return findings[:MAX_FINDINGS]


def _rating(answer: dict[str, Any]) -> float | None:
    rating = answer.get("rating")
    return None if rating is None else read_score(rating, 10)


def _under_heading(graph: Graph, row: int) -> str:
    heading = heading_of(graph, row)
    return f"{heading}: {graph.texts[row]}" if heading else graph.texts[row]


def _as_levels(level: int | tuple[int, ...] | None) -> tuple[int, ...]:
    if level is None:
        return ()
    return (level,) if isinstance(level, int) else level
