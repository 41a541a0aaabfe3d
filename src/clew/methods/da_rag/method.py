"""DA-RAG with the caller's language model, which scores each community and writes its report.

DA-RAG, arXiv 2602.08545, section 4. Without a model it is a plain pipeline around
`clew.methods.CommunitySearch`, which says what a community and a layer are. With the `model` of
`Index.ask`, each community goes into one prompt, whose answer is a score from 0 to 100 and a report
for this question. The communities of chunks are judged first; the fine search goes on from those
whose reports are retained. Reports are retained by falling score while they fit in the tokens for
reports. A report that is longer than one may be is cut, and says so; one that does not fit beside
better ones is passed over, and named in `Context.dropped`. They are read before the chunks, and in
their room: what they leave goes to chunks as `CommunitySearch` has it. With an answer cache
(`clew.Model.of(..., answers=...)`) no report is paid for twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from clew.algorithms.ranking import top_k
from clew.context import Context
from clew.graph import Edges, Floats, Generated, Graph, Overlay, freeze, overlay_generated, products
from clew.items import Dropped, Step
from clew.methods.da_rag.selection import CHUNKS, Candidate, CommunitySearch
from clew.model import FittedPrompt, Model, ModelAnswer, parse_json, read_score
from clew.order import FactsFirst
from clew.pipeline import Pipeline
from clew.render import Render
from clew.seed import Dense
from clew.select._shared import Offer
from clew.text.spans import sentences
from clew.types import Query, Reading, Seed, Seeds, Subgraph

PROMPT = """Question: {question}

Below is a group of {what} that belong together. Judge how far they help to answer the question, \
and report what in them bears on it: only
what they say, with the names they use, in at most {words} words.

{text}

Answer with JSON alone: {{"score": a number from 0 (no help) to 100 (answers it), \
"report": "the report"}}"""
WORDS_PER_TOKEN = 0.7
LIMITED = "a limit counts passages, so the language model was asked for no reports on communities"


class Judgement(NamedTuple):
    """What a model says of a community: how much it helps, from 0 to 100, and its report."""

    score: float
    report: str


CUT = " [cut]"  # at the end of a report of which the reader sees the beginning alone


class JudgedCommunity(NamedTuple):
    """A community with its report, as it is read.

    Attributes:
        candidate: the community.
        judgement: the score, and the report, cut where it was too long.
        full_tokens: the tokens of the whole report, where it was cut; else 0.
    """

    candidate: Candidate
    judgement: Judgement
    full_tokens: int = 0


class PackedReports(NamedTuple):
    """The reports that are read, best first, and those passed over with the reasons."""

    read: list[JudgedCommunity]
    dropped: list[Dropped]


@dataclass(frozen=True)
class DaRag:
    """Read the question's communities, then chunks.

    A question with a limit counts passages, so that no report is made for it; the trace says so
    where it has a model.

    Attributes:
        communities: the search for communities, and the tokens of reports and chunks.
        seed: where the question touches the chunks.
        workers: with a model, how many communities are judged at the same time.
        render: how the context is written.

    Example:
        >>> graph = Graph.of(["Anna knows Ben.", "The sun is hot."], vectors=[[1, 0], [0, 1]])
        >>> answer = DaRag().on(graph)
        >>> answer(Query("Who knows Ben?", np.float32([1, 0])), 50).ids
        ['0']
    """

    communities: CommunitySearch = field(default=CommunitySearch())
    seed: Seed = field(default=Dense())
    workers: int = 4
    render: Render = field(default=Render())
    asks_model: ClassVar[bool] = True

    def on(self, graph: Graph) -> Callable[[Query, int], Context]:
        """Bind the method to a graph and return the function (question, budget) -> context."""
        without_model = Pipeline(
            self.seed, selects=(self.communities,), order=FactsFirst(), render=self.render
        ).on(graph)
        seed, find = self.seed.on(graph), self.communities.finder(graph)
        everything, name = Subgraph(freeze(np.arange(len(graph)), np.int32)), repr(self)

        def answer(query: Query, budget: int) -> Context:
            if query.model is None or query.limit is not None:
                context = replace(without_model(query, budget), method=name)
                if query.model is None:
                    return context
                step = Step("language model", 0.0, {"fallback": LIMITED})
                return context.changed(trace=(*context.trace, step))
            begin = time.perf_counter()
            seeds = seed(query)
            judge = CommunityJudge(graph, query, self.communities, budget, self.workers)
            communities = find(query, seeds, everything, judge.choose_chunks)
            judge.ask([one for one in communities if one.layer != CHUNKS])
            packed = judge.pack()
            stage = f"{judge.model.name} on communities"
            step = Step(stage, time.perf_counter() - begin, judge.notes(packed))
            if packed.read:
                read = self._with_reports(graph, query, seeds, communities, packed.read, budget)
                context = read(query, budget)
            else:
                context = without_model(query, budget)
                fallback = "the model reported on no community: facts take the place of reports"
                step = replace(step, notes={**step.notes, "fallback": fallback})
            chunks, passed_over = context, packed.dropped
            return chunks.changed(method=name, trace=(step, *chunks.trace)).made_when_asked(
                dropped=lambda: (*chunks.dropped, *passed_over)
            )

        return answer

    def _with_reports(
        self,
        graph: Graph,
        query: Query,
        seeds: Seeds,
        communities: list[Candidate],
        reports: list[JudgedCommunity],
        budget: int,
    ) -> Callable[[Query, int], Context]:
        """Return the pipeline over the graph with the reports, bound to it."""
        overlay = overlay_reports(graph, reports)
        scores = np.array([one.judgement.score / 100 for one in reports])
        seeds = replace(seeds, scores=np.append(seeds.scores, scores))
        retained = {key_of(one.candidate) for one in reports}
        packed = [
            replace(one, retained=key_of(one) in retained, edges=freeze([], np.int32))
            for one in communities
        ]
        select = ReportedChunks(
            self.communities, graph, packed, self.communities.chunk_room(budget)
        )
        return Pipeline(
            KnownSeeds(seeds),
            selects=(select,),
            order=ReportsBeforeChunks(len(graph)),
            render=self.render,
        ).on(overlay)


def prompt_of(
    graph: Graph, query: Query, candidate: Candidate, report_tokens: int, *, model: Model
) -> FittedPrompt:
    """Return the prompt that asks a model to judge one community.

    What is above the model's ceiling is left out: of passages those least like the question, of
    names and facts the last ones.

    Args:
        graph: the graph.
        query: the question.
        candidate: the community.
        report_tokens: the most tokens of the report.
        model: the model that is asked.
    """
    rows = candidate.community.rows.tolist()
    order = range(len(rows))
    if candidate.layer == CHUNKS:
        what, lines = "passages", [graph.texts[row] for row in rows]
        if query.vector is not None:
            order = top_k(products(graph.vectors[rows], query.vector)).tolist()
    else:
        what = "names, and facts about them"
        facts = graph.edges.facts[candidate.edges].tolist()
        summaries = graph.part(EntitySummariesPart())
        lines = [f"Names: {', '.join(graph.texts[row] for row in rows)}"]
        lines += [f"{graph.texts[row]}: {summaries[row]}" for row in rows if row in summaries]
        lines += [graph.facts.texts[fact] for fact in facts]

    def build(shown: Sequence[str]) -> str:
        return PROMPT.format(
            question=query.text,
            what=what,
            text="\n".join(f"- {line}" for line in shown),
            words=max(10, int(report_tokens * WORDS_PER_TOKEN)),
        )

    return model.fit(build, lines, f"lines of {what}", order=order)


def read_judgement(text: str) -> Judgement:
    """Return the score and the report in a model's answer.

    Raises:
        ValueError: one of them is missing, or is not what was asked for.

    Example:
        >>> read_judgement('Sure: {"score": 70, "report": "Anna knows Ben."}')
        Judgement(score=70.0, report='Anna knows Ben.')
    """
    answer = parse_json(text)
    if not isinstance(answer, dict):
        raise ValueError("a list came; wanted an object with 'score' and 'report'")  # noqa: TRY004  # an answer, no argument
    score, report = read_score(answer.get("score"), 100), answer.get("report")
    if not isinstance(report, str) or not report.strip():
        raise ValueError(f"'report' must be a text; it is {report!r}")
    return Judgement(score, " ".join(report.split()))


@dataclass(frozen=True)
class EntitySummariesPart:
    """The part that is the summary of each entity's row, where `clew.generate.Summaries` wrote one.

    Example:
        >>> Graph.of(["Anna"], kinds="entity").part(EntitySummariesPart())
        {}
    """

    def compute(self, graph: Graph) -> Mapping[int, str]:
        rows = np.flatnonzero(graph.edges.kinds.mask("about"))
        pairs = zip(graph.edges.heads[rows].tolist(), graph.edges.tails[rows].tolist(), strict=True)
        return {entity: graph.texts[row] for entity, row in pairs if graph.kinds[row] == "summary"}


@dataclass(frozen=True)
class IdsPart:
    """The part that is the set of all ids.

    Example:
        >>> sorted(Graph.of(["one", "two"]).part(IdsPart()))
        ['0', '1']
    """

    def compute(self, graph: Graph) -> frozenset[str]:
        return frozenset(graph.ids)


def overlay_reports(graph: Graph, reports: Sequence[JudgedCommunity]) -> Overlay:
    """Return the graph with the reports behind its nodes, each linked to its community's nodes."""
    ids, sources = list[str](), list[list[int]]()
    tails, heads = list[int](), list[int]()
    known = graph.part(IdsPart())
    for i, (candidate, *_) in enumerate(reports):
        id = report_id(candidate)
        while id in known or id in ids:
            id += "+"
        ids.append(id)
        rows = candidate.community.rows.tolist()
        if candidate.layer == CHUNKS:
            passages = rows
        else:
            passages = sorted({p for row in rows for p in graph.read_from[row].tolist()})
        sources.append(passages or rows)
        tails += [len(graph) + i] * len(rows)
        heads += rows
    metadata = tuple(
        {"k": one.community.k, "layer": one.layer, "score": judgement.score}
        | ({"cut from tokens": full_tokens} if full_tokens else {})
        for one, judgement, full_tokens in reports
    )
    generated = Generated(
        ids=tuple(ids),
        kinds=("report",) * len(reports),
        texts=tuple(one.judgement.report for one in reports),
        read_from=sources,
        metadata=metadata,
        edges=Edges.of("summarises", tails, heads),
    )
    return overlay_generated(graph, generated)


@dataclass(frozen=True, eq=False)
class KnownSeeds:
    """A seed stage that returns what is known already."""

    seeds: Seeds

    def __repr__(self) -> str:
        return "KnownSeeds()"

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        return lambda _query: self.seeds


@dataclass(frozen=True, eq=False)
class ReportedChunks:
    """A select stage over an overlay: all reports, then the chunks of the communities reported on.

    Attributes:
        communities: reads the chunks, in what the reports leave of the budget.
        base: the graph without the reports.
        packed: the communities; those with a report are retained.
        chunk_room: the most tokens of chunks, as in `CommunitySearch.select`.
    """

    communities: CommunitySearch
    base: Graph
    packed: list[Candidate]
    chunk_room: int | None

    def __repr__(self) -> str:
        return f"{sum(one.retained for one in self.packed)} reports"

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        n = len(self.base)
        reports = np.arange(n, len(graph))
        tokens = int(graph.tokens[n:].sum())

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            offer = Offer(
                self.base,
                query,
                replace(seeds, scores=seeds.scores[:n]),
                prizes[:n],
                Subgraph(candidates.nodes[candidates.nodes < n]),
                max(0, budget - tokens),
            )
            chosen = self.communities.select(offer, self.packed, self.chunk_room)
            return replace(chosen, nodes=freeze(np.concatenate([reports, chosen.nodes]), np.int32))

        return select


@dataclass(frozen=True)
class ReportsBeforeChunks:
    """An order stage: the reports, which are the nodes from `first` on, then chunks by prize."""

    first: int

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        order_chunks = FactsFirst().on(graph)

        def order(query: Query, prizes: Floats, chosen: Subgraph) -> Reading:
            reports = chosen.nodes[chosen.nodes >= self.first]
            chunks = order_chunks(query, prizes, chosen).nodes
            return Reading.of(np.concatenate([reports, chunks]))

        return order


@dataclass(eq=False)
class CommunityJudge:
    """Asks the question's model for the score and the report of communities.

    Attributes:
        graph: the graph.
        query: the question, with a model.
        communities: the search, which knows the tokens for reports.
        budget: in tokens.
        workers: how many prompts are asked at the same time.
        judged: the communities that were asked about, each with the answer.
        choice: how the communities of chunks were chosen.
        left_out: what the prompts do not show, in words, where it is too long for them.
    """

    graph: Graph
    query: Query
    communities: CommunitySearch
    budget: int
    workers: int
    judged: list[tuple[Candidate, ModelAnswer[Judgement]]] = field(default_factory=list)
    choice: str = "by their reports"
    left_out: list[str] = field(default_factory=list)

    @property
    def model(self) -> Model:
        """The question's model."""
        return Model.of(self.query.model)

    def ask(self, candidates: list[Candidate]) -> None:
        """Ask about some communities, and keep the answers."""
        report_tokens = self.communities.rooms(self.budget).report
        model = self.model
        prompts = [
            prompt_of(self.graph, self.query, one, report_tokens, model=model) for one in candidates
        ]
        answers = model.ask_all(
            [prompt.text for prompt in prompts], read_judgement, workers=self.workers
        )
        self.left_out += [prompt.left_out for prompt in prompts if prompt.left_out]
        self.judged += zip(candidates, answers, strict=True)

    def choose_chunks(self, found: list[Candidate]) -> list[Candidate]:
        """Return communities of chunks with those marked whose reports are retained.

        Where the model reports on none, they are chosen as without a model.
        """
        self.ask(found)
        retained = {key_of(one.candidate) for one in self.pack().read}
        if found and not retained:
            self.choice = "the model reported on none of them: by relevance"
            return self.communities.choose_chunks(self.graph, found, self.budget)
        return [replace(one, retained=key_of(one) in retained) for one in found]

    def pack(self) -> PackedReports:
        """Return the reports so far that fit, by falling score, and the others."""
        rooms = self.communities.rooms(self.budget)
        judged = [(one, answer.value) for one, answer in self.judged if answer.value is not None]
        packed, room = PackedReports([], []), rooms.reports
        for one, judgement in sorted(judged, key=lambda pair: -pair[1].score):
            if judgement.score <= 0:
                continue
            report, most = judgement.report, min(rooms.report, rooms.reports)
            full = report_tokens_of(self.graph, report)
            if full > most:
                report = cut_report(self.graph, report, most)
            tokens = report_tokens_of(self.graph, report)
            if not report or tokens > room:
                reason = f"its {full} tokens do not fit in the {room} left of the reports' room"
                packed.dropped.append(Dropped(report_id(one), reason))
                continue
            cut = full if report != judgement.report else 0
            packed.read.append(JudgedCommunity(one, judgement._replace(report=report), cut))
            room -= tokens
        return packed

    def notes(self, packed: PackedReports) -> dict[str, Any]:
        """Return what the trace says of the answers."""
        answers = [answer for _, answer in self.judged]
        notes: dict[str, Any] = {
            "calls": sum(answer.calls for answer in answers),
            "levels": {one.layer: one.level for one, _ in self.judged},
            "chunks chosen": self.choice,
            "scores": [answer.value.score if answer.value else None for answer in answers],
            "reports": len(packed.read),
            "without_room": len(packed.dropped),
        }
        if cut := [report_id(one.candidate) for one in packed.read if one.full_tokens]:
            notes["cut"] = cut
        if self.left_out:
            notes["not shown to the model"] = self.left_out
        if failed := [answer.error for answer in answers if answer.value is None]:
            notes["failed"] = failed
        return notes


def key_of(candidate: Candidate) -> tuple[str, int, bytes]:
    """Return what tells a community from the others of a question."""
    return candidate.layer, candidate.community.k, candidate.community.rows.tobytes()


def report_id(candidate: Candidate) -> str:
    """Return the id of a community's report."""
    return f"report:{candidate.layer}:{candidate.community.k}"


def report_tokens_of(graph: Graph, report: str) -> int:
    """Return what a report costs on the page."""
    return graph.count(f"- {report}\n")


def cut_report(graph: Graph, report: str, max_tokens: int) -> str:
    """Return the beginning of a report that fits, marked as cut; "" where nothing fits.

    It ends behind a sentence, or else behind a word.

    Example:
        >>> graph = Graph.of(["Anna"])
        >>> cut_report(graph, "Anna knows Ben. Ben knows nobody at all in Rome.", 10)
        'Anna knows Ben. [cut]'
    """
    sentence_ends = [end for _, end in sentences(report, 0, len(report), "en")]
    word_ends = [at for at, sign in enumerate(report) if sign.isspace()]
    for ends in (sentence_ends[:-1], word_ends):
        low, high = 0, len(ends)  # the first `low` ends fit, none behind the first `high` does
        while low < high:
            middle = (low + high + 1) // 2
            fits = report_tokens_of(graph, report[: ends[middle - 1]] + CUT) <= max_tokens
            low, high = (middle, high) if fits else (low, middle - 1)
        if low:
            return report[: ends[low - 1]].rstrip() + CUT
    return ""
