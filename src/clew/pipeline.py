"""Stages in a row, itself a method: seed, spread, select, order, and a page within its budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from clew.algorithms.ranking import top_k
from clew.budget import FittedPage, PageRequest, fit_to_budget
from clew.context import Context
from clew.deadline import Deadline, OutOfTime, current, until
from clew.explain import Path, context_edges, paths_to_facts, paths_to_nodes, role_of, with_ids
from clew.graph import Floats, Graph, SourcesPart, freeze, known_heading_of
from clew.items import Item, Step
from clew.order._shared import reports_outside
from clew.overlap import DuplicatesPart
from clew.render import Render
from clew.shares import Excluded, SharedPage, fit_to_share
from clew.types import (
    UNLIMITED,
    BoundOrder,
    BoundSeed,
    BoundSelect,
    BoundSpread,
    Order,
    Prizes,
    Query,
    Reading,
    Seed,
    Seeds,
    Select,
    Spread,
    Subgraph,
)

MAX_IN_HASTE = 1000  # passages that are selected by prize alone where the deadline has passed

PAGE_SECONDS = 0.15
"""Seconds that the order and the printing of a page may take where the deadline has passed."""

PAGE_PARTS = (DuplicatesPart(), SourcesPart())  # what every page needs of a graph


class _Names(NamedTuple):
    """What a trace calls a method and its stages."""

    own: str
    seed: str
    spreads: tuple[str, ...]
    selects: tuple[str, ...]
    order: str


@dataclass(frozen=True)
class Pipeline:
    """A retrieval method as a row of stages.

    `repr` is the record of an experiment, `dataclasses.replace` its sweep.

    Attributes:
        seed: where does the question touch the graph?
        spreads: what else is worth reading, given the links? Each replaces the prizes.
        selects: which part of the graph is worth the budget? Each narrows the one before.
        order: in what order is it read?
        render: how is it written?

    Example:
        >>> from clew import Index, order, seed, select
        >>> method = Pipeline(seed.BM25(), selects=(select.Top(1),), order=order.ByPrize())
        >>> index = Index.from_documents(["Anna paints.", "Ben sleeps."])
        >>> print(index.ask("Who paints?", recipe=method))
        - Anna paints.
    """

    seed: Seed
    spreads: tuple[Spread, ...] = ()
    selects: tuple[Select, ...] = ()
    order: Order = field(kw_only=True)
    render: Render = field(default=Render(), kw_only=True)

    def __post_init__(self) -> None:
        for name in ("spreads", "selects"):
            stages: object = getattr(self, name)
            if not isinstance(stages, tuple):
                raise TypeError(f"{name} is a tuple of stages, such as (stage,); got {stages!r}")
        for stage in (self.seed, *self.spreads, *self.selects, self.order):
            if isinstance(stage, type) or not hasattr(stage, "on"):
                raise TypeError(f"a stage is a value that has on(graph); got {stage!r}")
        if isinstance(self.render, type) or not hasattr(self.render, "node_entry"):
            raise TypeError(f"render is a clew.Render; got {self.render!r}")

    @cached_property
    def _names(self) -> _Names:
        """What the trace calls this method and its stages."""
        return _Names(
            repr(self),
            repr(self.seed),
            tuple(map(repr, self.spreads)),
            tuple(map(repr, self.selects)),
            repr(self.order),
        )

    def on(self, graph: Graph) -> Callable[[Query, int], Context]:
        """Bind the stages to a graph; return (question, budget in tokens) -> context."""
        names = self._names
        find_seeds = self.seed.on(graph)
        spreads = [stage.on(graph) for stage in self.spreads]
        selects = [stage.on(graph) for stage in self.selects]
        arrange = self.order.on(graph)
        for part in PAGE_PARTS:  # here, where no deadline waits for them
            graph.part(part)
        stages = _BoundStages(
            graph,
            names,
            find_seeds,
            list(zip(names.spreads, spreads, strict=True)),
            list(zip(names.selects, selects, strict=True)),
            arrange,
            self.render,
            Subgraph(freeze(np.arange(len(graph)), np.int32)),
        )

        def answer(query: Query, budget: int) -> Context:
            return stages.answer(query, budget)

        return answer


@dataclass(frozen=True, eq=False)
class _BoundStages:
    """The stages of a pipeline, bound to a graph.

    Attributes:
        graph: What is asked.
        names: What the trace calls the method and its stages.
        find_seeds: The seed.
        spreads: Each spread with its name.
        selects: Each selector with its name.
        arrange: The order.
        render: How a page is written.
        every_node: What the first selector chooses from where nothing is excluded.
    """

    graph: Graph
    names: _Names
    find_seeds: BoundSeed
    spreads: list[tuple[str, BoundSpread]]
    selects: list[tuple[str, BoundSelect]]
    arrange: BoundOrder
    render: Render
    every_node: Subgraph

    def answer(self, query: Query, budget: int) -> Context:
        """Return the context for a question."""
        trace: list[Step] = []
        query = replace(query, style=self.render)
        with _timed(trace, self.names.seed) as notes:
            seeds = _checked_seeds(self.find_seeds(query), len(self.graph), self.names.seed)
            notes |= _seed_notes(seeds)
        irrelevant = _irrelevant(self.graph, query)
        asked = _Asked(self, query, seeds, budget, trace, current(), irrelevant)
        if query.max_share is None:
            shared = SharedPage(asked.fit())
        else:
            may_have_one = not query.untrusted
            shared = fit_to_share(
                asked.fit, self.graph, query.max_share, budget, may_have_one=may_have_one
            )
        trace += _page_steps(shared)
        with until(Deadline()):
            return _context(shared, self.names.own, budget, trace)


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question whose seeds are found, for which one page or several are fitted.

    Attributes:
        stages: What is asked.
        query: The question.
        seeds: Where it touches the graph.
        budget: The tokens that a page may have.
        trace: What the stages report; each that is asked adds its step.
        in_time: Until when a selector may work.
        irrelevant: What has too little to do with the question to be read; None for nothing.
    """

    stages: _BoundStages
    query: Query
    seeds: Seeds
    budget: int
    trace: list[Step]
    in_time: Deadline
    irrelevant: Excluded | None

    def fit(self, excluded: Excluded | None = None) -> FittedPage:
        """Return a page within the budget, without what is excluded."""
        stages = self.stages
        excluded = _both(self.irrelevant, excluded)
        seeds = excluded.removed_from_seeds(self.seeds) if excluded else self.seeds
        prizes = self._prizes(seeds, excluded)
        everything = _without(excluded, stages.every_node)

        def select_for(room: int) -> Subgraph:
            return self._selected(seeds, prizes, everything, room)

        def arrange(subgraph: Subgraph) -> Reading:
            return self._arranged(prizes, subgraph, excluded)

        hidden = excluded.nodes if excluded else None
        request = PageRequest(
            stages.graph, self.query, seeds, prizes, stages.render, excluded=hidden
        )
        with until(self.in_time.later(PAGE_SECONDS)):
            return fit_to_budget(request, select_for, arrange, self.budget)

    def _prizes(self, seeds: Seeds, excluded: Excluded | None) -> Floats:
        """Return the prizes by which is selected."""
        graph, prizes = self.stages.graph, seeds.scores
        for name, spread in self.stages.spreads:
            with _timed(self.trace, name) as notes:
                given = _spread_in_time(spread, self.query, seeds, prizes, notes)
                prizes = _checked_scores(given, len(graph), name)
        if excluded:
            prizes = np.where(excluded.nodes, 0.0, prizes)
        return graph.part(DuplicatesPart()).without_lower_copies(prizes)

    def _selected(self, seeds: Seeds, prizes: Floats, everything: Subgraph, room: int) -> Subgraph:
        """Return what the selectors choose, one after the other, for so many tokens."""
        graph, subgraph = self.stages.graph, everything
        for name, select in self.stages.selects:
            with _timed(self.trace, name) as notes:
                before = subgraph
                with until(self.in_time):
                    subgraph = _select_in_time(
                        select, self.query, seeds, prizes, before, room, graph
                    )
                _check_subgraph(subgraph, len(graph), name)
                sizes = _select_notes(len(graph), before, subgraph)
                notes |= {**subgraph.notes, **sizes, "room": room}
        return subgraph

    def _arranged(self, prizes: Floats, subgraph: Subgraph, excluded: Excluded | None) -> Reading:
        """Return what is read of a selection, in order."""
        graph, name = self.stages.graph, self.stages.names.order
        with _timed(self.trace, name) as notes:
            reading = _arrange_in_time(self.stages.arrange, self.query, prizes, subgraph, notes)
            _check_reading(reading, graph, name)
            reading = _with_reports_first(graph, subgraph, reading)
            reading = excluded.removed_from(reading) if excluded else reading
            notes |= {"entries": len(reading)}
        return reading


def _checked_seeds(seeds: object, n: int, stage: str) -> Seeds:
    """Return the seeds of a stage, such as one of the caller's, with scores that are numbers."""
    if not isinstance(seeds, Seeds):
        raise TypeError(f"{stage} gives clew.Seeds(scores); got a {type(seeds).__name__}")
    scores = _checked_scores(seeds.scores, n, stage)
    return seeds if scores is seeds.scores else replace(seeds, scores=scores)


def _checked_scores(scores: object, n: int, stage: str) -> Floats:
    """Return the scores of a stage, such as one of the caller's, in float64.

    Raises:
        ValueError: They are not a number of at least 0 for every node.
    """
    if not isinstance(scores, np.ndarray) or scores.shape != (n,):
        got = scores.shape if isinstance(scores, np.ndarray) else f"a {type(scores).__name__}"
        raise ValueError(
            f"{stage} gives an array of shape ({n},), a score for each node; got {got}"
        )
    if scores.dtype.kind not in "fiub":
        raise ValueError(f"{stage} gives an array of numbers; got one of {scores.dtype}")
    numbers: Floats = scores.astype(np.float64, copy=False)  # a walk divides in place
    least = numbers.min(initial=0.0)
    if math.isnan(least):
        missing = np.count_nonzero(np.isnan(numbers))
        raise ValueError(f"{stage} gives every node a score; got NaN for {missing}")
    if least < 0:
        raise ValueError(
            f"{stage} gives every node a score of at least 0; got {least:g}: of cosines and the "
            "like, np.maximum(scores, 0) takes those above"
        )
    return numbers


def _check_subgraph(subgraph: object, n: int, stage: str) -> None:
    """Raise unless what a stage selects is a part of a graph of n nodes."""
    if not isinstance(subgraph, Subgraph):
        raise TypeError(f"{stage} gives clew.Subgraph(nodes); got a {type(subgraph).__name__}")
    _check_rows(subgraph.nodes, 0, n, f"{stage} selects nodes")


def _check_reading(reading: object, graph: Graph, stage: str) -> None:
    """Raise unless what a stage orders are nodes and facts of a graph."""
    if not isinstance(reading, Reading):
        raise TypeError(f"{stage} gives clew.Reading.of(nodes); got a {type(reading).__name__}")
    _check_rows(reading.nodes, -1, len(graph), f"{stage} orders nodes")
    _check_rows(reading.facts, -1, len(graph.facts), f"{stage} orders facts")
    if len(reading.nodes) != len(reading.facts):
        raise ValueError(
            f"{stage} gives each entry a node or a fact, and -1 in place of the other; got "
            f"{len(reading.nodes)} and {len(reading.facts)} rows: Reading.of(nodes, facts) adds -1"
        )


def _check_rows(rows: object, first: int, end: int, what: str) -> None:
    """Raise ValueError unless these are rows from `first` to below `end`, in an array."""
    if not isinstance(rows, np.ndarray):
        raise ValueError(f"{what} by an array of their rows; got a {type(rows).__name__}")  # noqa: TRY004  # as of scores
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"{what} by an array of their rows, whole numbers; got one of {rows.dtype} and shape "
            f"{rows.shape}"
        )
    least, most = rows.min(initial=first), rows.max(initial=first)
    if least < first or (len(rows) and most >= end):
        wrong = least if least < first else most
        raise ValueError(f"{what} by their rows, of which there are {end:,}; got {wrong}")


def _irrelevant(graph: Graph, query: Query) -> Excluded | None:
    """Return the passages that are less relevant than the question wants; None for none."""
    if query.relevance is None or not query.min_relevance:
        return None
    values = query.relevance.of(freeze(np.arange(len(graph)), np.int32))
    excluded = replace(Excluded.nothing(graph), nodes=values < query.min_relevance)
    return excluded or None


def _without(excluded: Excluded | None, every_node: Subgraph) -> Subgraph:
    """Return every node but those that are excluded."""
    if not excluded:
        return every_node
    return Subgraph(freeze(np.flatnonzero(~excluded.nodes), np.int32))


def _both(one: Excluded | None, other: Excluded | None) -> Excluded | None:
    """Return what either excludes."""
    if one is None or other is None:
        return other if one is None else one
    return one | other


def _page_steps(shared: SharedPage) -> Iterator[Step]:
    """Yield what the trace says of the page: how its shares were kept, and what is read instead."""
    if shared.notes:
        yield Step("max_share", 0.0, shared.notes)
    if shared.page.is_substitute:
        note = "nothing that was chosen fits the budget: the next passages that do"
        yield Step("budget", 0.0, {"fallback": note})


def _context(shared: SharedPage, method: str, budget: int, trace: list[Step]) -> Context:
    """Return the context of a page: its items, its text, and the reasons for both."""
    page = shared.page
    request, subgraph, reading = page.request, page.subgraph, page.reading
    graph = request.graph
    items = _items(page)
    rows = freeze(reading.nodes[reading.nodes >= 0], np.int32)
    context = Context(
        items=items,
        text=request.text(reading),
        tokens=page.tokens,
        budget=None if budget == UNLIMITED else budget,
        question=request.query.text,
        method=method,
        trace=tuple(trace),
        value=float(sum(item.score for item in items if item.role != "fact")),
        bound=None if page.fill_rows else page.bound,  # which knows nothing of rows that fill up
        missing=tuple((graph.ids[a], graph.ids[b]) for a, b in subgraph.missing),
        rewards=None if subgraph.rewards is None else with_ids(graph, subgraph.rewards),
        grafts=with_ids(graph, subgraph.grafts),
        source_budget=shared.source_budget,
        sources_have_one=not page.request.query.untrusted,
    )
    return context.made_when_asked(
        edges=lambda: context_edges(graph, rows, subgraph), dropped=page.dropped
    )


def _items(page: FittedPage) -> tuple[Item, ...]:
    """Return the items of a page, each with the path to it."""
    request, subgraph, reading = page.request, page.subgraph, page.reading
    graph, seeds = request.graph, request.seeds
    nodes, facts = reading.nodes.tolist(), reading.facts.tolist()
    rows = [node for node in nodes if node >= 0]
    paths = _Paths(graph, seeds, subgraph, rows, [fact for fact in facts if fact >= 0])
    groups = {row: str(i) for i, members in enumerate(subgraph.groups, 1) for row in members}
    items = []
    scores, sources = request.scores(reading), graph.part(SourcesPart())
    relevance = _relevance_of(request.query, rows)
    sizes = request.sizes(reading)
    for node, fact, tokens, score in zip(nodes, facts, sizes, scores, strict=True):
        if node < 0:
            text, source = graph.facts.texts[fact], sources.name(sources.of_facts[fact])
            item = Item(f"fact:{text}", text, score, "fact", "fact", tokens, source)
            items.append(item.explained_by(partial(paths.to_fact, fact)))
            continue
        owner, (start, end) = int(graph.documents[node]), graph.spans[node].tolist()
        item = Item(
            graph.ids[node],
            graph.texts[node],
            score,
            role_of(graph, seeds, subgraph, node, page.fill_rows),
            graph.kinds[node],
            tokens,
            sources.name(sources.of_nodes[node]),
            document=graph.ids[owner] if owner >= 0 else None,
            heading=known_heading_of(graph, node),
            span=(start, end) if owner >= 0 else None,
            group=groups.get(node),
            metadata=graph.metadata[node],
            original=graph.originals[node],
            relevance=relevance.get(node),
        )
        items.append(item.explained_by(partial(paths.to_node, node)))
    return tuple(items)


@dataclass(frozen=True, eq=False)
class _Paths:
    """The paths to what is read, all of them made when the first is asked for.

    Attributes:
        graph: The graph.
        seeds: Where the question touches it.
        subgraph: What was selected.
        rows: The nodes that are read.
        facts: The facts that are read.
    """

    graph: Graph
    seeds: Seeds
    subgraph: Subgraph
    rows: list[int]
    facts: list[int]

    @cached_property
    def _to_nodes(self) -> dict[int, Path]:
        return paths_to_nodes(self.graph, self.seeds, self.subgraph, self.rows)

    @cached_property
    def _to_facts(self) -> dict[int, Path]:
        return paths_to_facts(self.graph, self.seeds, self.subgraph, self.facts)

    def to_node(self, row: int) -> Path:
        """Return the path to a node."""
        return self._to_nodes[row]

    def to_fact(self, fact: int) -> Path:
        """Return the path to a fact."""
        return self._to_facts[fact]


def _relevance_of(query: Query, rows: list[int]) -> dict[int, float]:
    """Return the relevance of the passages among these rows, by row, where it is known."""
    if query.relevance is None:
        return {}
    values = query.relevance.of(freeze(rows, np.int32)).tolist()
    return {row: value for row, value in zip(rows, values, strict=True) if not math.isnan(value)}


def _with_reports_first(graph: Graph, subgraph: Subgraph, reading: Reading) -> Reading:
    """Put required reports before all else, unless the order has given them a place."""
    reports = reports_outside(graph, subgraph, reading)
    return Reading.join([Reading.of(reports), reading]) if len(reports) else reading


def _spread_in_time(
    spread: BoundSpread, query: Query, seeds: Seeds, prizes: Floats, notes: dict[str, Any]
) -> Floats:
    """Return the new prizes, or the old ones where the deadline passes before."""
    try:
        current().check()
        prizes, stage_notes = _plain_prizes(spread(query, seeds, prizes))
    except OutOfTime:
        stage_notes = {"fallback": "the deadline passed: the prizes are those from before"}
    notes |= {"prized": int(np.count_nonzero(prizes)), **stage_notes}
    return prizes


def _select_in_time(
    select: BoundSelect,
    query: Query,
    seeds: Seeds,
    prizes: Floats,
    candidates: Subgraph,
    room: int,
    graph: Graph,
) -> Subgraph:
    """Return what is selected, or the best prizes that fit where the deadline passes before."""
    try:
        current().check()
        return select(query, seeds, prizes, candidates, room)
    except OutOfTime:
        offered = candidates.nodes[graph.content[candidates.nodes] & (prizes[candidates.nodes] > 0)]
        rows = offered[top_k(prizes[offered], query.limit or MAX_IN_HASTE)]
        fitting = rows[np.cumsum(graph.tokens[rows]) <= room]
        notes = {"fallback": "the deadline passed: the passages of the highest prizes, unjoined"}
        return Subgraph(freeze(np.sort(fitting), np.int32), notes=notes)


def _arrange_in_time(
    arrange: BoundOrder, query: Query, prizes: Floats, subgraph: Subgraph, notes: dict[str, Any]
) -> Reading:
    """Return the reading, or that by falling prize where the deadline passes before."""
    try:
        return arrange(query, prizes, subgraph)
    except OutOfTime:
        notes["fallback"] = "the deadline passed: the passages by prize"
        return Reading.of(subgraph.nodes[np.argsort(-prizes[subgraph.nodes], kind="stable")])


def _plain_prizes(spread: Floats | Prizes) -> tuple[Floats, dict[str, Any]]:
    """Return the prizes that a spread stage gives, and its notes for the trace."""
    return (spread.values, dict(spread.notes)) if isinstance(spread, Prizes) else (spread, {})


def _seed_notes(seeds: Seeds) -> dict[str, Any]:
    """Return what the trace says of every seed."""
    return {"touched": int((seeds.scores > 0).sum()), "facts": len(seeds.facts), **seeds.notes}


def _select_notes(n: int, candidates: Subgraph, subgraph: Subgraph) -> dict[str, int]:
    """Return what the trace says of every selector: how it changed the candidates among n nodes."""
    nodes, common = len(subgraph.nodes), len(subgraph.nodes)
    if len(candidates.nodes) < n:
        common = int(np.isin(subgraph.nodes, candidates.nodes).sum())
    return {
        "nodes": nodes,
        "edges": len(subgraph.edges),
        "added": nodes - common,
        "left out": len(candidates.nodes) - common,
        "kept": len(subgraph.required),
    }


@contextmanager
def _timed(trace: list[Step], stage: str) -> Iterator[dict[str, Any]]:
    """Add a step to the trace with the time that the block takes, and the notes that it makes."""
    notes: dict[str, Any] = {}
    started = time.perf_counter()
    yield notes
    trace.append(Step(stage, time.perf_counter() - started, notes))
