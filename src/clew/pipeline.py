"""Stages in a row, itself a method: seed, spread, select, order, and a page that never exceeds its budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clew.budget import FittedPage, PageRequest, fit_to_budget
from clew.context import Context, Item, Step
from clew.explain import context_edges, paths_from_question, paths_to_facts, role_of, selector_paths
from clew.graph import EMPTY, Graph, freeze, heading_of
from clew.overlap import DuplicatesPart
from clew.render import Render
from clew.types import UNLIMITED, Order, Prizes, Query, Reading, Seed, Select, Spread, Subgraph


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
                notes |= {
                    "touched": int((seeds.scores > 0).sum()),
                    "facts": len(seeds.facts),
                    **seeds.notes,
                }
            prizes = seeds.scores
            for name, spread in spreads:
                with _timed(trace, name) as notes:
                    spreaded = spread(query, seeds, prizes)
                    prizes, said = (
                        (spreaded.values, spreaded.notes)
                        if isinstance(spreaded, Prizes)
                        else (spreaded, EMPTY)
                    )
                    notes |= {"prized": int(np.count_nonzero(prizes)), **said}

            prizes = graph.part(DuplicatesPart()).best_alone(prizes)

            def choose(room: int) -> Subgraph:
                chosen = Subgraph(freeze(np.arange(len(graph)), np.int32))
                for name, select in selects:
                    with _timed(trace, name) as notes:
                        before, chosen = chosen, select(query, seeds, prizes, chosen, room)
                        notes |= {
                            **chosen.notes,
                            **_sized(len(graph), before, chosen),
                            "room": room,
                        }
                return chosen

            def read(chosen: Subgraph) -> Reading:
                with _timed(trace, repr(self.order)) as notes:
                    reading = _with_reports(graph, chosen, order(query, prizes, chosen))
                    notes |= {"entries": len(reading)}
                return reading

            noted = PageRequest(graph, query, seeds, prizes, self.render)
            return _context(fit_to_budget(noted, choose, read, budget), repr(self), budget, trace)

        return answer


def _context(page: FittedPage, method: str, budget: int, trace: list[Step]) -> Context:
    asked, chosen, reading, filled = page.asked, page.chosen, page.reading, page.filled
    graph, seeds, pieces = asked.graph, asked.seeds, asked.pieces(reading)
    nodes, facts = (
        [n for n in reading.nodes.tolist() if n >= 0],
        [f for f in reading.facts.tolist() if f >= 0],
    )
    why = selector_paths(graph, chosen, nodes)
    why |= paths_from_question(graph, seeds, [node for node in nodes if node not in why])
    why_fact = paths_to_facts(graph, seeds, chosen, facts)
    group = {row: str(i) for i, rows in enumerate(chosen.groups, 1) for row in rows}
    items = []
    for node, fact, piece, score in zip(
        reading.nodes.tolist(), reading.facts.tolist(), pieces, asked.scores(reading), strict=True
    ):
        costs = graph.count(piece)
        if node < 0:
            text = graph.facts.texts[fact]
            items.append(
                Item(f"fact:{text}", text, score, "fact", "fact", costs, why=why_fact[fact])
            )
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
        tokens=asked.over(reading, 0),
        budget=None if budget == UNLIMITED else budget,
        question=asked.query.text,
        method=method,
        edges=context_edges(graph, freeze(nodes, np.int32), chosen),
        trace=tuple(trace),
        value=float(sum(item.score for item in items)),
        bound=None
        if filled
        else page.bound,  # what only filled the list was no part of what was bounded
        missing=tuple((graph.ids[a], graph.ids[b]) for a, b in chosen.missing),
        dropped=tuple(page.dropped),
    )


def _with_reports(graph: Graph, chosen: Subgraph, reading: Reading) -> Reading:
    """Put what was made of several passages, and must be kept, before all else, in the order of the choice, unless it has its place."""
    told = chosen.nodes[
        graph.generated[chosen.nodes]
        & np.isin(chosen.nodes, chosen.required)
        & ~np.isin(chosen.nodes, reading.nodes)
    ]
    return Reading.join([Reading.of(told), reading]) if len(told) else reading


def _sized(n: int, before: Subgraph, after: Subgraph) -> dict[str, int]:
    """What a selector left of its candidates among the n nodes, and what it brought in."""
    nodes = len(after.nodes)
    common = nodes if len(before.nodes) == n else len(np.intersect1d(before.nodes, after.nodes))
    more = {
        "added": nodes - common,
        "left out": len(before.nodes) - common,
        "kept": len(after.required),
    }
    return {"nodes": nodes, "edges": len(after.edges), **more}


@contextmanager
def _timed(trace: list[Step], stage: str) -> Iterator[dict[str, Any]]:
    notes: dict[str, Any] = {}
    begun = time.perf_counter()
    yield notes
    trace.append(Step(stage, time.perf_counter() - begun, notes))
