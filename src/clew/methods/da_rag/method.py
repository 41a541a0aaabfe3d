"""DA-RAG: communities around the question, told by the caller's language model where there is one (arXiv 2602.08545).

Without a model it is a plain row of stages around `clew.select.Communities`, which says what a community and a layer are. With one (the
`model` of `Index.ask`), each community that was found is put to it in one call, which gives a score from 0 to 100 and a report for this
question. Reports are kept by falling score while they fit in the room of all reports (one that does not is passed over), and read before
the chunks. Give the model a memory (`clew.Model.of(..., answers=...)`) and no report is paid for twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.context import Context, Step
from clew.graph import Edges, Floats, Generated, Graph, freeze, overlaid
from clew.methods.da_rag.selection import CHUNKS, Candidate, CommunitySearch
from clew.model import Model, ModelAnswer, parse_json
from clew.order import FactsFirst
from clew.pipeline import Pipeline
from clew.render import Render
from clew.seed import Dense
from clew.types import Query, Reading, Seeds, Subgraph

PROMPT = """Question: {question}

Below is a group of {what} that belong together. Judge how far they help to answer the question, and report what in them bears on it: only
what they say, with the names they use, in at most {words} words.

{text}

Answer with JSON alone: {{"score": a number from 0 (no help) to 100 (answers it), "report": "the report"}}"""
WORDS_PER_TOKEN = 0.7
Judged = tuple[float, str]


@dataclass(frozen=True)
class DaRag:
    """Communities, then chunks; `communities` has all parameters of the search and of the rooms.

    With a model, `seed` says where the question touches the chunks in the same way, and `workers` communities are judged at a time. A
    question with a limit counts passages, so that no report is made for it.
    """

    communities: CommunitySearch = CommunitySearch()
    seed: Any = Dense()
    workers: int = 4
    render: Render = Render()

    def on(self, graph: Graph) -> Callable[[Query, int], Context]:
        free = Pipeline(
            self.seed, selects=(self.communities,), order=FactsFirst(), render=self.render
        ).on(graph)
        seed, find = self.seed.on(graph), self.communities.finder(graph)
        everything, named = Subgraph(freeze(np.arange(len(graph)), np.int32)), repr(self)

        def answer(query: Query, budget: int) -> Context:
            if query.model is None or query.limit is not None:
                return replace(free(query, budget), method=named)
            begun = time.perf_counter()
            seeds = seed(query)
            found = find(query, seeds, everything)
            rooms = self.communities.rooms(budget)
            model = Model.of(query.model)
            prompts = [prompt_of(graph, query, one, rooms[1]) for one in found]
            answers = model.ask_all(prompts, judged, workers=self.workers)
            told, notes = _reports(graph, found, answers, rooms[0], rooms[1])
            step = Step(f"{model.name} on communities", time.perf_counter() - begun, notes)
            if not told:
                context = free(query, budget)
                note = {"fallback": "the model told of no community: facts in the place of reports"}
                return replace(
                    context,
                    method=named,
                    trace=(replace(step, notes={**notes, **note}), *context.trace),
                )
            wide, scores = _with(graph, told)
            stages = _Told(
                self,
                graph,
                wide,
                replace(seeds, scores=np.append(seeds.scores, scores)),
                found,
                told,
            )
            row = Pipeline(
                stages, selects=(stages,), order=_ReportsFirst(len(graph)), render=self.render
            )
            context = row.on(wide)(query, budget)
            return replace(context, method=named, trace=(step, *context.trace))

        return answer


def prompt_of(graph: Graph, query: Query, one: Candidate, room: int) -> str:
    """Return what the model is asked about one community."""
    rows = one.community.rows.tolist()
    if one.layer == CHUNKS:
        what, lines = "passages", [graph.texts[row] for row in rows]
    else:
        what = "names, and facts about them"
        facts = graph.edges.facts[one.edges].tolist()
        summaries = graph.part(_Summaries())
        lines = [f"Names: {', '.join(graph.texts[row] for row in rows)}"]
        lines += [f"{graph.texts[row]}: {summaries[row]}" for row in rows if row in summaries]
        lines += [graph.facts.texts[fact] for fact in facts]
    text = "\n".join(f"- {line}" for line in lines)
    return PROMPT.format(
        question=query.text,
        what=what,
        text=text,
        words=max(10, int(min(room, 3200) * WORDS_PER_TOKEN)),
    )


@dataclass(frozen=True)
class _Summaries:
    """The part that knows the summaries of entities, where `clew.generate.Summaries` wrote some."""

    def compute(self, graph: Graph) -> dict[int, str]:
        told = np.flatnonzero(graph.edges.kinds.mask("about"))
        pairs = zip(graph.edges.heads[told].tolist(), graph.edges.tails[told].tolist(), strict=True)
        return {entity: graph.texts[row] for entity, row in pairs if graph.kinds[row] == "summary"}


def judged(text: str) -> Judged:
    """Return the score, from 0 to 100, and the report in a model's answer; raise ValueError where one is missing."""
    came = parse_json(text)
    if not isinstance(came, dict):
        raise ValueError("a list came; wanted an object with 'score' and 'report'")  # noqa: TRY004  # an answer, no argument
    score, report = came.get("score"), came.get("report")
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score <= 100:
        raise ValueError(f"'score' must be a number from 0 to 100; it is {score!r}")
    if not isinstance(report, str) or not report.strip():
        raise ValueError(f"'report' must be a text; it is {report!r}")
    return float(score), " ".join(report.split())


def _reports(
    graph: Graph, found: list[Candidate], answers: list[ModelAnswer[Judged]], room: int, most: int
) -> tuple[list[tuple[Candidate, float, str]], dict[str, Any]]:
    """The communities whose reports are kept, best first, each with its score and report, and what is to be said of all."""
    scored = [(i, answer.value) for i, answer in enumerate(answers) if answer.value is not None]
    told, without_room = list[tuple[Candidate, float, str]](), 0
    for i, (score, report) in sorted(scored, key=lambda pair: (-pair[1][0], pair[0])):
        tokens = graph.count(f"- {report}\n")
        if score > 0 and tokens <= min(room, most):
            told.append((found[i], score, report))
            room -= tokens
        else:
            without_room += score > 0
    notes: dict[str, Any] = {
        "calls": sum(answer.calls for answer in answers),
        "levels": {one.layer: one.level for one in found},
        "scores": [answer.value[0] if answer.value else None for answer in answers],
        "reports": len(told),
        "without_room": without_room,
    }
    if failed := [answer.error for answer in answers if answer.value is None]:
        notes["failed"] = failed
    return told, notes


def _with(graph: Graph, told: list[tuple[Candidate, float, str]]) -> tuple[Graph, Floats]:
    """The graph with the reports, each linked to what it tells of, and their scores in [0, 1]."""
    n, ids, made_of, tails, heads = (
        len(graph),
        list[str](),
        list[list[int]](),
        list[int](),
        list[int](),
    )
    known = graph.part(_Ids())
    for i, (one, _, _) in enumerate(told):
        id = f"report:{one.layer}:{one.community.k}"
        while id in known or id in ids:
            id += "+"
        ids.append(id)
        rows = one.community.rows.tolist()
        passages = (
            rows
            if one.layer == CHUNKS
            else sorted({p for row in rows for p in graph.read_from[row].tolist()})
        )
        made_of.append(passages or rows)
        tails += [n + i] * len(rows)
        heads += rows
    written = Generated(
        ids=tuple(ids),
        kinds=("report",) * len(told),
        texts=tuple(report for _, _, report in told),
        read_from=made_of,
        metadata=tuple(
            {"k": one.community.k, "layer": one.layer, "score": score} for one, score, _ in told
        ),
        edges=Edges.of("summarises", tails, heads),
    )
    return overlaid(graph, written), np.array([score / 100 for _, score, _ in told])


@dataclass(frozen=True)
class _Ids:
    """The part that knows all ids."""

    def compute(self, graph: Graph) -> frozenset[str]:
        return frozenset(graph.ids)


@dataclass(frozen=True, eq=False)
class _Told:
    """What is known already, as the stages of a row: the seeds, and the reports with the chunks of the communities they tell of."""

    method: DaRag
    graph: Graph
    wide: Graph
    seeds: Seeds
    found: list[Candidate]
    told: list[tuple[Candidate, float, str]]

    def __repr__(self) -> str:
        return f"{len(self.told)} reports"

    def on(self, graph: Graph) -> Callable[..., Any]:
        def stage(query: Query, *rest: Any) -> Any:
            if not rest:
                return self.seeds
            _, prizes, candidates, budget = rest
            n, tokens = len(self.graph), self.wide.tokens[len(self.graph) :]
            kept = {id(one) for one, _, _ in self.told}
            packed = [
                replace(one, kept=id(one) in kept, edges=freeze([], np.int32)) for one in self.found
            ]
            left = max(0, budget - int(tokens.sum()))
            inner = Subgraph(candidates.nodes[candidates.nodes < n])
            seeds = replace(self.seeds, scores=self.seeds.scores[:n])
            chosen = self.method.communities.read(
                self.graph, query, seeds, prizes[:n], inner, left, packed
            )
            return replace(
                chosen,
                nodes=freeze(
                    np.concatenate([np.arange(n, len(self.wide)), chosen.nodes]), np.int32
                ),
            )

        return stage


@dataclass(frozen=True)
class _ReportsFirst:
    """The reports, which are the nodes from `first` on, and then the chunks by falling prize."""

    first: int

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        others = FactsFirst().on(graph)

        def read(query: Query, prizes: Floats, chosen: Subgraph) -> Reading:
            reports = chosen.nodes[chosen.nodes >= self.first]
            return Reading.of(np.concatenate([reports, others(query, prizes, chosen).nodes]))

        return read
