"""Choose, order and print until the page fits its budget: what a page takes is known only when it is printed.

An overflow chooses again with less room; what still does not fit is dropped whole, the lowest prize first, and what was wanted and fits
after all is put back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import levels, top_k
from clew.context import Dropped
from clew.explain import fact_score
from clew.graph import Floats, Graph, freeze
from clew.overlap import DuplicatesPart, OverlapFilter
from clew.render import Render
from clew.types import Query, Reading, Seeds, Subgraph

RESELECTIONS = 3  # rendering is not quite additive in tokens: an overflow selects again with less room, this many times
REFILLS = 16  # so many of what was wanted are tried again where room is left then


class BudgetError(ValueError):
    """The budget holds nothing of what a method chose; a caller may want to answer with nothing then."""


@dataclass(frozen=True, eq=False)
class PageRequest:
    """One question under way, and how its page is printed."""

    graph: Graph
    query: Query
    seeds: Seeds
    prizes: Floats
    render: Render

    def knowing(self, chosen: Subgraph) -> PageRequest:
        """With the prizes of what only the selectors know the worth of."""
        if not chosen.extra_prizes:
            return self
        prizes = self.prizes.copy()
        prizes[list(chosen.extra_prizes)] = list(chosen.extra_prizes.values())
        return replace(self, prizes=prizes)

    @cached_property
    def largest(self) -> float:
        """The highest prize of all, by which equal ones are told."""
        return float(np.abs(self.prizes).max(initial=0))

    def scores(self, reading: Reading) -> list[float]:
        """The prize of every entry."""
        pairs = zip(reading.nodes.tolist(), reading.facts.tolist(), strict=True)
        of_fact = (self.graph, self.query, self.seeds, self.prizes)
        return [float(self.prizes[n]) if n >= 0 else fact_score(*of_fact, f) for n, f in pairs]

    def levels(self, reading: Reading) -> NDArray[np.int64]:
        """The level of every entry by its prize: 0 for the highest."""
        return levels(self.scores(reading), self.largest)

    def pieces(self, reading: Reading) -> list[str]:
        """What is printed of a reading, entry by entry."""
        return self.render.pieces(self.graph, reading)

    def over(self, reading: Reading, budget: int) -> int:
        """By how many tokens the page would exceed the budget; below 0 where room is left."""
        pieces = self.pieces(reading)
        return (self.graph.count("\n".join(pieces)) if pieces else 0) - budget


@dataclass(frozen=True, eq=False)
class FittedPage:
    """What is read, and what was left out for it.

    `filled` are rows that only fill a list; `bound` is the selectors' bound at the full budget.
    """

    asked: PageRequest
    chosen: Subgraph
    reading: Reading
    dropped: list[Dropped]
    filled: frozenset[int]
    bound: float | None


def fit_to_budget(
    asked: PageRequest,
    choose: Callable[[int], Subgraph],
    read: Callable[[Subgraph], Reading],
    budget: int,
) -> FittedPage:
    """Return a page of at most `budget` tokens.

    Args:
        choose: what is chosen for so much room. read: in what order.

    Raises:
        BudgetError: something was chosen, and the budget holds none of it.
    """
    room, bound, before, wanted = budget, None, None, set[int]()
    for attempt in range(RESELECTIONS + 1):
        page = _page(asked, choose(room), read, room)
        bound = page.chosen.bound if attempt == 0 else bound
        wanted |= {*_content(asked.graph, page.chosen), *(row for row, _ in page.chosen.dropped)}
        over = page.asked.over(page.reading, budget)
        if (
            not len(page.reading) and before is not None
        ):  # the room that was left holds nothing: better drop from what was chosen before
            page, over = before
            break
        if over <= 0:
            break
        before = page, over
        room = max(1, room - over)
    while over > 0:
        reading, last = _without_least(page.asked, page.reading, page.chosen)
        reason = f"the rendered context was {over} tokens over the budget of {budget}"
        page = replace(page, reading=reading, dropped=[*page.dropped, Dropped(last, reason)])
        over = page.asked.over(reading, budget)
    if before is not None and over < 0:
        page = _refilled(page, wanted, read, budget)
    page = replace(page, dropped=[*page.dropped, *_copies(page)], bound=bound)
    if page.dropped and not len(page.reading):
        raise BudgetError(_too_small(asked, budget, page.dropped))
    _warn_of_the_best(page, budget)
    return page


@dataclass(frozen=True)
class _Warned:
    """The part that remembers whether it was said that a graph's passages are too large."""

    def compute(self, graph: Graph) -> set[int]:
        return set()


def _warn_of_the_best(page: FittedPage, budget: int) -> None:
    """Say, once a graph, that what is worth most is larger than the whole budget, and so cannot be read."""
    graph, prizes = page.asked.graph, np.where(page.asked.graph.content, page.asked.prizes, 0.0)
    first, said = int(top_k(prizes, 1)[0]), graph.part(_Warned())
    if (
        prizes[first] > 0
        and graph.tokens[first] > budget
        and first not in page.reading.nodes
        and not said
    ):
        said.add(first)
        logging.getLogger("clew").warning(
            "%r is worth most and was left out: it takes %d tokens, more than the whole budget of %d; split documents, as "
            "splitter=clew.Splitter() does, or give a larger budget",
            graph.ids[first],
            graph.tokens[first],
            budget,
        )


def _page(
    asked: PageRequest, chosen: Subgraph, read: Callable[[Subgraph], Reading], room: int
) -> FittedPage:
    """What is chosen, in order, filled up or cut to as many entries as the question wants."""
    asked, limit, filled = asked.knowing(chosen), asked.query.limit, frozenset[int]()
    reading, nested = _without_nested(asked, read(chosen))
    if limit is not None and len(reading) < limit:
        chosen, filled = _filled(asked, chosen, reading, room)
        reading, nested = _without_nested(asked, read(chosen))
    dropped = [Dropped(asked.graph.ids[row], reason) for row, reason in chosen.dropped] + nested
    while limit is not None and len(reading) > limit:
        reading, last = _without_least(asked, reading, chosen)
        dropped.append(Dropped(last, f"beyond the limit of {limit}"))
    return FittedPage(asked, chosen, reading, dropped, filled, None)


def _refilled(
    page: FittedPage, wanted: set[int], read: Callable[[Subgraph], Reading], budget: int
) -> FittedPage:
    """Put back what was wanted and fits after all, the best first."""
    asked = page.asked
    graph, limit = asked.graph, asked.query.limit
    left = np.array(sorted(wanted - set(page.reading.nodes.tolist())), np.int64)
    left = left[asked.prizes[left] > 0]
    for row in left[top_k(asked.prizes[left], REFILLS, asked.largest)].tolist():
        if limit is not None and len(page.reading) >= limit:
            break
        chosen, now = page.chosen, page.reading
        more = replace(chosen, nodes=freeze([*chosen.nodes[chosen.nodes != row], row], np.int32))
        whole = read(more)  # with what was dropped, too
        stays = np.where(
            whole.nodes >= 0,
            np.isin(whole.nodes, [row, *now.nodes.tolist()]),
            np.isin(whole.facts, now.facts),
        )
        again, nested = _without_nested(asked, _entries(whole, np.flatnonzero(stays).tolist()))
        if nested:
            continue
        over = asked.over(again, budget)
        dropped = [one for one in page.dropped if one.id != graph.ids[row]]
        if over <= 0:
            page = replace(page, chosen=more, reading=again, dropped=dropped)
        else:
            reason = f"with it the context would be {over} tokens over the budget of {budget}"
            page = replace(page, dropped=[*dropped, Dropped(graph.ids[row], reason)])
    return page


def _copies(page: FittedPage) -> list[Dropped]:
    """What is not read since something that is read says the same."""
    ids, copies, known = (
        page.asked.graph.ids,
        page.asked.graph.part(DuplicatesPart()),
        {one.id for one in page.dropped},
    )
    pairs = (
        (row, other)
        for row in page.reading.nodes[page.reading.nodes >= 0].tolist()
        for other in copies.others(row)
    )
    return [
        Dropped(ids[other], f"the same text as {ids[row]!r}")
        for row, other in pairs
        if ids[other] not in known
    ]


def _content(graph: Graph, chosen: Subgraph) -> list[int]:
    found: list[int] = chosen.nodes[graph.content[chosen.nodes]].tolist()
    return found


def _filled(
    asked: PageRequest, chosen: Subgraph, reading: Reading, room: int
) -> tuple[Subgraph, frozenset[int]]:
    """Add the best content that is not yet read, until there are as many entries as the question wants."""
    graph, wanted = asked.graph, (asked.query.limit or 0) - len(reading)
    read = reading.nodes[reading.nodes >= 0]
    inside = np.zeros(len(graph), np.bool_)
    inside[chosen.nodes] = True
    apart = OverlapFilter(graph)
    for row in read.tolist():
        apart.take(row)
    left = room - int(graph.tokens[read].sum())
    outside = np.flatnonzero(graph.content & ~inside)
    extra: list[int] = []
    worth, touch = (
        levels(asked.prizes[outside], asked.largest),
        levels(asked.seeds.scores[outside]),
    )  # of equals what the question touches
    for row in outside[np.lexsort((touch, worth))].tolist():
        if len(extra) == wanted:
            break
        if graph.tokens[row] <= left and apart.take(row):
            extra.append(row)
            left -= int(graph.tokens[row])
    nodes = freeze(np.concatenate([chosen.nodes, np.array(extra, np.int32)]), np.int32)
    return replace(chosen, nodes=nodes), frozenset(extra)


def _without_nested(asked: PageRequest, reading: Reading) -> tuple[Reading, list[Dropped]]:
    """Leave out what lies inside something better that is read too."""
    apart, kept, dropped = OverlapFilter(asked.graph), list[int](), list[Dropped]()
    for entry in np.argsort(asked.levels(reading), kind="stable").tolist():
        node = int(reading.nodes[entry])
        if node < 0 or apart.take(node):
            kept.append(entry)
        else:
            dropped.append(
                Dropped(asked.graph.ids[node], "its text is part of, or contains, another item's")
            )
    return (_entries(reading, sorted(kept)) if dropped else reading), dropped


def _without_least(asked: PageRequest, reading: Reading, chosen: Subgraph) -> tuple[Reading, str]:
    """Take the entry of the lowest prize away, bridges last; return what is left and the id that went."""
    kept = np.isin(reading.nodes, chosen.required) & (reading.nodes >= 0)
    worst = np.lexsort((-np.arange(len(reading)), -asked.levels(reading), kept))[0]
    node, fact = int(reading.nodes[worst]), int(reading.facts[worst])
    rest = np.delete(np.arange(len(reading)), worst).tolist()
    return _entries(reading, rest), asked.graph.ids[
        node
    ] if node >= 0 else f"fact:{asked.graph.facts.texts[fact]}"


def _entries(reading: Reading, entries: list[int]) -> Reading:
    return Reading(
        freeze(reading.nodes[entries], np.int32), freeze(reading.facts[entries], np.int32)
    )


def _too_small(asked: PageRequest, budget: int, dropped: list[Dropped]) -> str:
    tokens = asked.graph.tokens[asked.graph.content]
    least = (
        f"the smallest passage takes {int(tokens.min())}"
        if len(tokens)
        else "there is nothing to read"
    )
    advice = "give a larger budget or split the documents smaller"
    return f"a budget of {budget} tokens holds none of what was chosen ({least}); {advice}. First: {dropped[0].id!r}, {dropped[0].reason}"
