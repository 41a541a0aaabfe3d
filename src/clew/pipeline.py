"""Stages in a row, itself a method: seed, spread, select, order, and a page that never exceeds its budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from clew.context import Context, Dropped, Item, Step
from clew.explain import led, role_of, score_of_fact, ties, ways, ways_to_facts
from clew.graph import NOTHING, UNLIMITED, Floats, Graph, Prizes, Query, Reading, Seeds, Subgraph, frozen, heading_of
from clew.nesting import Apart
from clew.render import Render
from clew.stage import Order, Seed, Select, Spread

RESELECTIONS = 3  # rendering is not quite additive in tokens: an overflow selects again with less room, this many times


class BudgetError(ValueError):
    """The budget holds nothing of what a method chose; a caller may want to answer with nothing then."""


@dataclass(frozen=True)
class Pipeline:
    """A retrieval method as a row of stages; `repr` is its record, `dataclasses.replace` its sweep."""

    seed: Seed
    spreads: tuple[Spread, ...] = ()
    selects: tuple[Select, ...] = ()
    order: Order = field(kw_only=True)
    render: Render = field(default=Render(), kw_only=True)

    def on(self, graph: Graph) -> Callable[[Query, int], Context]:
        """Bind the stages to a graph and return the function that answers: (question, budget in tokens) -> context."""
        seed = self.seed.on(graph)
        spreads = [(repr(stage), stage.on(graph)) for stage in self.spreads]
        selects = [(repr(stage), stage.on(graph)) for stage in self.selects]
        order = self.order.on(graph)

        def answer(query: Query, budget: int) -> Context:
            trace: list[Step] = []
            with _timed(trace, repr(self.seed)) as notes:
                seeds = seed(query)
                notes |= {"touched": int((seeds.weights > 0).sum()), "facts": len(seeds.facts), **seeds.notes}
            prizes = seeds.weights
            for name, spread in spreads:
                with _timed(trace, name) as notes:
                    spreaded = spread(query, seeds, prizes)
                    prizes, said = (spreaded.values, spreaded.notes) if isinstance(spreaded, Prizes) else (spreaded, NOTHING)
                    notes |= {"prized": int(np.count_nonzero(prizes)), **said}

            def choose(room: int) -> Subgraph:
                chosen = Subgraph(frozen(np.arange(len(graph)), np.int32))
                for name, select in selects:
                    with _timed(trace, name) as notes:
                        before, chosen = chosen, select(query, seeds, prizes, chosen, room)
                        notes |= {**chosen.trace, **_sized(len(graph), before, chosen), "room": room}
                return chosen

            def read(chosen: Subgraph) -> Reading:
                with _timed(trace, repr(self.order)) as notes:
                    reading = _with_reports(graph, chosen, order(query, prizes, chosen))
                    notes |= {"entries": len(reading)}
                return reading

            return _printed(_Asked(self, graph, query, seeds, prizes), choose, read, budget, trace)

        return answer


@dataclass(frozen=True, eq=False)
class _Asked:
    """One question under way."""

    method: Pipeline
    graph: Graph
    query: Query
    seeds: Seeds
    prizes: Floats

    def knowing(self, chosen: Subgraph) -> _Asked:
        """With the prizes of what only the selectors know the worth of."""
        if not chosen.worth:
            return self
        prizes = self.prizes.copy()
        prizes[list(chosen.worth)] = list(chosen.worth.values())
        return replace(self, prizes=prizes)

    def scores(self, reading: Reading) -> Floats:
        """The prize of every entry, rounded so that float noise decides no tie."""
        pairs = zip(reading.nodes.tolist(), reading.facts.tolist(), strict=True)
        of_fact = (self.graph, self.query, self.seeds, self.prizes)
        return np.round([float(self.prizes[n]) if n >= 0 else score_of_fact(*of_fact, f) for n, f in pairs], 12)


def _printed(
    asked: _Asked, choose: Callable[[int], Subgraph], read: Callable[[Subgraph], Reading], budget: int, trace: list[Step]
) -> Context:
    """Select, order and render until the page fits; what still does not fit is dropped whole, the lowest prize first."""
    graph, render = asked.graph, asked.method.render
    room, bound, before = budget, None, None
    for attempt in range(RESELECTIONS + 1):
        chosen, filled = choose(room), frozenset[int]()
        asked = asked.knowing(chosen)
        bound = chosen.bound if attempt == 0 else bound  # the bound is of the full budget
        reading, nested = _without_nested(asked, read(chosen))
        if asked.query.limit is not None and len(reading) < asked.query.limit:
            chosen, filled = _filled(asked, chosen, reading, room)
            reading, nested = _without_nested(asked, read(chosen))
        dropped = [Dropped(graph.ids[row], reason) for row, reason in chosen.dropped] + nested
        if asked.query.limit is not None:
            while len(reading) > asked.query.limit:
                reading, last = _without_least(asked, reading, chosen)
                dropped.append(Dropped(last, f"beyond the limit of {asked.query.limit}"))
        pieces = render.pieces(graph, reading)
        over = _count(graph, pieces) - budget
        if not len(reading) and before is not None:  # the room that was left holds nothing: better drop from what was chosen before
            asked, chosen, filled, reading, dropped, pieces, over = before
            break
        if over <= 0:
            break
        before = asked, chosen, filled, reading, dropped, pieces, over
        room = max(1, room - over)
    while over > 0:
        reading, last = _without_least(asked, reading, chosen)
        dropped.append(Dropped(last, f"the rendered context was {over} tokens over the budget of {budget}"))
        pieces = render.pieces(graph, reading)
        over = _count(graph, pieces) - budget
    if dropped and not len(reading):
        raise BudgetError(_too_small(asked, budget, dropped))
    return _context(asked, reading, pieces, budget + over, chosen, filled, dropped, budget, bound, trace)


def _context(
    asked: _Asked,
    reading: Reading,
    pieces: list[str],
    tokens: int,
    chosen: Subgraph,
    filled: frozenset[int],
    dropped: list[Dropped],
    budget: int,
    bound: float | None,
    trace: list[Step],
) -> Context:
    graph, seeds = asked.graph, asked.seeds
    nodes, facts = [n for n in reading.nodes.tolist() if n >= 0], [f for f in reading.facts.tolist() if f >= 0]
    why = led(graph, chosen, nodes)
    why |= ways(graph, seeds, [node for node in nodes if node not in why])
    why_fact = ways_to_facts(graph, seeds, chosen, facts)
    group = {row: str(i) for i, rows in enumerate(chosen.groups, 1) for row in rows}
    items = []
    for node, fact, piece, score in zip(
        reading.nodes.tolist(), reading.facts.tolist(), pieces, asked.scores(reading).tolist(), strict=True
    ):
        costs = graph.count(piece)
        if node < 0:
            text = graph.facts.texts[fact]
            items.append(Item(f"fact:{text}", text, score, "fact", "fact", costs, why=why_fact[fact]))
            continue
        owner, (start, end) = int(graph.documents[node]), graph.spans[node].tolist()
        items.append(
            Item(
                graph.ids[node],
                graph.texts[node],
                score,
                role_of(node, seeds, chosen, graph.kinds[node], filled),
                graph.kinds[node],
                costs,
                document=graph.ids[owner] if owner >= 0 else None,
                heading=heading_of(graph, node),
                span=(start, end) if owner >= 0 else None,
                group=group.get(node),
                why=why[node],
                metadata=graph.metadata[node],
                original=graph.originals[node],
            )
        )
    return Context(
        items=tuple(items),
        text="\n".join(pieces),
        tokens=tokens,
        budget=None if budget == UNLIMITED else budget,
        question=asked.query.text,
        method=repr(asked.method),
        edges=ties(graph, frozen(nodes, np.int32), chosen),
        trace=tuple(trace),
        value=float(sum(item.score for item in items)),
        bound=None if filled else bound,  # what only filled the list was no part of what was bounded
        missing=tuple((graph.ids[a], graph.ids[b]) for a, b in chosen.missing),
        dropped=tuple(dropped),
    )


def _with_reports(graph: Graph, chosen: Subgraph, reading: Reading) -> Reading:
    """Put what was made of several passages, and must be kept, before all else, in the order of the choice, unless it has its place."""
    told = chosen.nodes[graph.made[chosen.nodes] & np.isin(chosen.nodes, chosen.kept) & ~np.isin(chosen.nodes, reading.nodes)]
    return Reading.join([Reading.of(told), reading]) if len(told) else reading


def _filled(asked: _Asked, chosen: Subgraph, reading: Reading, room: int) -> tuple[Subgraph, frozenset[int]]:
    """Add the best content that is not yet read, until there are as many entries as the question wants."""
    graph, wanted = asked.graph, (asked.query.limit or 0) - len(reading)
    read = reading.nodes[reading.nodes >= 0]
    inside = np.zeros(len(graph), np.bool_)
    inside[chosen.nodes] = True
    apart = Apart(graph)
    for row in read.tolist():
        apart.take(row)
    left = room - int(graph.tokens[read].sum())
    outside = np.flatnonzero(graph.content & ~inside)
    extra: list[int] = []
    worth, touch = (np.round(values[outside], 12) for values in (asked.prizes, asked.seeds.weights))  # of equals what the question touches
    for row in outside[np.lexsort((-touch, -worth))].tolist():
        if len(extra) == wanted:
            break
        if graph.tokens[row] <= left and apart.take(row):
            extra.append(row)
            left -= int(graph.tokens[row])
    nodes = frozen(np.concatenate([chosen.nodes, np.array(extra, np.int32)]), np.int32)
    return replace(chosen, nodes=nodes), frozenset(extra)


def _without_nested(asked: _Asked, reading: Reading) -> tuple[Reading, list[Dropped]]:
    """Leave out what lies inside something better that is read too."""
    apart, kept, dropped = Apart(asked.graph), list[int](), list[Dropped]()
    for entry in np.argsort(-asked.scores(reading), kind="stable").tolist():
        node = int(reading.nodes[entry])
        if node < 0 or apart.take(node):
            kept.append(entry)
        else:
            dropped.append(Dropped(asked.graph.ids[node], "its text is part of, or contains, another item's"))
    return (_entries(reading, sorted(kept)) if dropped else reading), dropped


def _without_least(asked: _Asked, reading: Reading, chosen: Subgraph) -> tuple[Reading, str]:
    """Take the entry of the lowest prize away, bridges last; return what is left and the id that went."""
    kept = np.isin(reading.nodes, chosen.kept) & (reading.nodes >= 0)
    worst = np.lexsort((-np.arange(len(reading)), asked.scores(reading), kept))[0]
    node, fact = int(reading.nodes[worst]), int(reading.facts[worst])
    rest = np.delete(np.arange(len(reading)), worst).tolist()
    return _entries(reading, rest), asked.graph.ids[node] if node >= 0 else f"fact:{asked.graph.facts.texts[fact]}"


def _entries(reading: Reading, entries: list[int]) -> Reading:
    return Reading(frozen(reading.nodes[entries], np.int32), frozen(reading.facts[entries], np.int32))


def _count(graph: Graph, pieces: list[str]) -> int:
    return graph.count("\n".join(pieces)) if pieces else 0


def _too_small(asked: _Asked, budget: int, dropped: list[Dropped]) -> str:
    tokens = asked.graph.tokens[asked.graph.content]
    least = f"the smallest passage takes {int(tokens.min())}" if len(tokens) else "there is nothing to read"
    advice = "give a larger budget or split the documents smaller"
    return f"a budget of {budget} tokens holds none of what was chosen ({least}); {advice}. First: {dropped[0].id!r}, {dropped[0].reason}"


def _sized(n: int, before: Subgraph, after: Subgraph) -> dict[str, int]:
    """What a selector left of its candidates among the n nodes, and what it brought in."""
    nodes = len(after.nodes)
    common = nodes if len(before.nodes) == n else len(np.intersect1d(before.nodes, after.nodes))
    more = {"added": nodes - common, "left out": len(before.nodes) - common, "kept": len(after.kept)}
    return {"nodes": nodes, "edges": len(after.edges), **more}


@contextmanager
def _timed(trace: list[Step], stage: str) -> Iterator[dict[str, Any]]:
    notes: dict[str, Any] = {}
    begun = time.perf_counter()
    yield notes
    trace.append(Step(stage, time.perf_counter() - begun, notes))
