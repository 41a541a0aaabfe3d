"""The budget is enforced here: a page is fitted to it, and never exceeds it.

What a page costs is known only when it is printed, since headings and line ends count too. So
`fit_to_budget` prints, and where the page is too large it

1. selects again with less room, at most three times;
2. leaves out whole items, the lowest prize first;
3. puts back what was wanted and fits after all;
4. where nothing that was chosen fits, reads the next passages that do: by prize, then by the score
   of the seed, then by similarity to the question.

Where a selector promises that its content is connected, what is left out and put back keeps that.

Every item that is left out is named, with the reason.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import dense_ranks, exceeds, top_k
from clew.deadline import current
from clew.explain import title_of
from clew.graph import Floats, Graph, Mask, freeze, products, seal
from clew.items import Dropped
from clew.overlap import DuplicatesPart, OverlapFilter, may_overlap, overlaps
from clew.render import Printed, Render
from clew.text.estimate import estimate_tokens
from clew.types import Connection, Query, Reading, Seeds, Subgraph

MAX_RESELECTIONS = 3
MAX_REFILLS = 16  # so many of the best that were left out are tried again

TOO_LARGE = "too_large"  # the attribute of a record of the log that says what was too large
UNKNOWN = -1  # tokens of an entry that was not counted yet

Measured = tuple[str, int, int]  # the line above an entry, and the tokens of the line and the entry
Select = Callable[[int], Subgraph]  # room in tokens -> subgraph
Arrange = Callable[[Subgraph], Reading]


class LeftOut(NamedTuple):
    """What was wanted and is not read.

    Attributes:
        node: the row of the node; -1 for a fact.
        fact: the row of the fact; -1 for a node.
        reason: why it is not read, in words.
    """

    node: int
    fact: int
    reason: str


class BudgetError(ValueError):
    """The budget holds no passage that the question may have."""


@dataclass(frozen=True)
class EntryTokensPart:
    """The part that keeps the estimated tokens of nodes as they are printed, once they are counted.

    It is int32 [n]. Most entries that a page is tried with are left out again, of one question
    after the other.

    Attributes:
        render: how they are printed; not numbered, since an entry then depends on its place.
    """

    render: Render

    def compute(self, graph: Graph) -> NDArray[np.int32]:
        return np.full(len(graph), UNKNOWN, np.int32)

    def grow(self, graph: Graph, base: Graph, before: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.append(before, np.full(len(graph) - len(base), UNKNOWN, np.int32))

    def shrink(
        self, graph: Graph, base: Graph, stays: Mask, before: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        return before[stays]


@dataclass(frozen=True, eq=False)
class PageRequest:
    """One question, its prizes, and how its page is printed.

    Attributes:
        graph: what is asked.
        query: the question.
        seeds: where it touches the graph.
        prizes: float64 [n], the prize of every node.
        render: how the page is printed.
        missing: pairs of nodes that could not be joined, of which the page may speak.
        excluded: bool [n], True for nodes that may not be read; None for none.
        printed: nodes that were printed before. Many pages of almost the same nodes are tried.
        estimates: tokens of pieces that were counted before, where they are estimated.
        measured: nodes whose entries were counted before, likewise.
    """

    graph: Graph
    query: Query
    seeds: Seeds
    prizes: Floats
    render: Render
    missing: tuple[tuple[int, int], ...] = ()
    excluded: Mask | None = None
    printed: Printed = field(default_factory=dict, repr=False)
    estimates: dict[str, int] = field(default_factory=dict, repr=False)
    measured: dict[int, Measured] = field(default_factory=dict, repr=False)

    def of_subgraph(self, subgraph: Subgraph) -> PageRequest:
        """Return it with the prizes and the missing links that only the selectors know."""
        request = replace(self, missing=subgraph.missing)
        if not subgraph.extra_prizes:
            vars(request)["max_prize"] = self.max_prize  # of as many prizes as there are nodes
            return request
        prizes = self.prizes.copy()
        prizes[list(subgraph.extra_prizes)] = list(subgraph.extra_prizes.values())
        return replace(request, prizes=prizes)

    @cached_property
    def max_prize(self) -> float:
        """The highest prize of all nodes, which decides when two prizes are equal."""
        return max(float(self.prizes.max(initial=0)), -float(self.prizes.min(initial=0)))

    def scores(self, reading: Reading) -> list[float]:
        """Return the prize of every entry."""
        entries = zip(reading.nodes.tolist(), reading.facts.tolist(), strict=True)
        return [
            float(self.prizes[node]) if node >= 0 else self._fact_score(fact)
            for node, fact in entries
        ]

    def _fact_score(self, fact: int) -> float:
        """Return the score by which the question was mapped to a fact, or its ends' mean prize."""
        at = np.flatnonzero(self.seeds.facts == fact)
        if len(at) and len(self.seeds.fact_scores):
            return float(self.seeds.fact_scores[at[0]])
        subject, object_ = self.graph.facts.subjects[fact], self.graph.facts.objects[fact]
        return float((self.prizes[subject] + self.prizes[object_]) / 2)

    def levels(self, reading: Reading) -> NDArray[np.int64]:
        """Return the level of every entry by its prize, 0 for the highest."""
        return dense_ranks(self.scores(reading), self.max_prize)

    def id_of(self, node: int, fact: int) -> str:
        """Return the id of a node, or of a fact where the node is -1."""
        return self.graph.ids[node] if node >= 0 else f"fact:{self.graph.facts.texts[fact]}"

    def pieces(self, reading: Reading) -> list[str]:
        """Return what is printed of a reading, entry by entry."""
        return self.render.pieces(self.graph, reading, self.printed)

    def tokens(self, reading: Reading) -> int:
        """Return what the printed page costs, by the caller's own counter."""
        if self._is_estimated:
            return self._estimated_tokens(reading)
        parts = self._parts(reading)
        return self.graph.count("\n".join(parts)) if parts else 0

    @property
    def _is_estimated(self) -> bool:
        """Whether tokens are estimated; no piece that is estimated spans a line end."""
        return self.graph.count is estimate_tokens

    def min_tokens(self, node: int) -> int:
        """Return what a node adds to any page at least; 0 where that is not known beforehand."""
        return self.graph.tokens.item(node) if self._is_estimated else 0

    def _estimated_tokens(self, reading: Reading) -> int:
        """Return what `tokens` returns, without putting the page together."""
        tokens = sum(self._estimated_sizes(reading))
        if len(reading):
            tokens += self._estimate(self.render.missing_line(self.graph, self.missing))
        return tokens

    def sizes(self, reading: Reading) -> list[int]:
        """Return what each of the pieces costs by itself, by the caller's own counter."""
        if self._is_estimated:
            return self._estimated_sizes(reading)
        return [self.graph.count(piece) for piece in self.pieces(reading)]

    def _estimated_sizes(self, reading: Reading) -> list[int]:
        """Return what `sizes` returns, without putting the pieces together."""
        if self.render.style == "numbered":  # an entry is another one in another place
            lines = self.render.lines_and_entries(self.graph, reading, self.printed)
            entries = [(line, self._estimate(line), self._estimate(entry)) for line, entry in lines]
        else:
            known = self.measured
            entries = [
                (known.get(node) or self._measure(node)) if node >= 0 else self._measure_fact(fact)
                for node, fact in zip(reading.nodes.tolist(), reading.facts.tolist(), strict=True)
            ]
        sizes, line_above = list[int](), ""
        for line, of_line, of_entry in entries:
            sizes.append(of_entry + of_line if line != line_above else of_entry)
            line_above = line
        return sizes

    def _measure(self, node: int) -> Measured:
        """Return the line above a node, and the tokens of both, which are then known."""
        graph, known = self.graph, self._entry_tokens
        line, tokens = self.render.heading_line(graph, node), known.item(node)
        if tokens == UNKNOWN:
            entry = self.render.node_entry(graph, node, 0)
            self.printed[node, 0] = line, entry
            tokens = known[node] = estimate_tokens(entry)
        measured = self.measured[node] = line, self._estimate(line), int(tokens)
        return measured

    def _measure_fact(self, fact: int) -> Measured:
        return "", 0, self._estimate(self.render.fact_entry(self.graph, fact, 0))

    @cached_property
    def _entry_tokens(self) -> NDArray[np.int32]:
        tokens: NDArray[np.int32] = self.graph.part(EntryTokensPart(self.render))
        return tokens

    def _estimate(self, part: str) -> int:
        known = self.estimates.get(part)
        if known is None:
            known = self.estimates[part] = estimate_tokens(part)
        return known

    def text(self, reading: Reading) -> str:
        """Return the page; empty where nothing is read."""
        return "\n".join(self._parts(reading))

    def _parts(self, reading: Reading) -> list[str]:
        """Return what line ends join to the page."""
        pieces = self.pieces(reading)
        line = self.render.missing_line(self.graph, self.missing) if pieces else ""
        return [*pieces, line] if line else pieces


@dataclass(frozen=True, eq=False)
class FittedPage:
    """What is read, and what is left out.

    Attributes:
        request: the question, with the prizes that the selectors added.
        subgraph: what was selected.
        reading: what is read of it, in order.
        left_out: what was left out, with the reasons.
        fill_rows: rows that only fill a list to the wanted number.
        bound: the selectors' bound at the full budget.
        is_substitute: nothing that was chosen fits, and what is read are the next passages.
    """

    request: PageRequest
    subgraph: Subgraph
    reading: Reading
    left_out: tuple[LeftOut, ...]
    fill_rows: frozenset[int]
    bound: float | None = None
    is_substitute: bool = False

    @cached_property
    def tokens(self) -> int:
        """What the page costs."""
        return self.request.tokens(self.reading)

    def dropped(self) -> tuple[Dropped, ...]:
        """Return what was left out, and the copies of what is read, each with its title."""
        request, graph = self.request, self.request.graph
        named = {one.node for one in self.left_out}
        duplicates = graph.part(DuplicatesPart())
        copies = (
            LeftOut(copy, -1, f"the same text as {graph.ids[row]!r}")
            for row in self.reading.nodes[self.reading.nodes >= 0].tolist()
            for copy in duplicates.copies_of(row)
            if copy not in named
        )
        return tuple(
            Dropped(request.id_of(node, fact), reason, title_of(graph, node) if node >= 0 else "")
            for node, fact, reason in (*self.left_out, *copies)
        )


def fit_to_budget(
    request: PageRequest, select: Select, arrange: Arrange, budget: int
) -> FittedPage:
    """Return a page of at most `budget` tokens.

    Args:
        request: the question, and how its page is printed.
        select: what is selected for so many tokens.
        arrange: the order in which it is read.
        budget: the tokens allowed, headings and line ends included.

    Raises:
        BudgetError: something was selected, and the budget holds neither that nor any other passage
            that is like the question.
    """
    first = _page(request, select(budget), arrange, budget)
    selected, wanted = _reselect_until_fitting(first, request, select, arrange, budget)
    page = _drop_until_fitting(selected, budget)
    if first.tokens > budget and not current().has_passed():
        cut = _drop_until_fitting(first, budget)
        # Of the same items in another order the values are equal.
        if exceeds(_value(cut), _value(page), request.max_prize):
            page = cut
    if not len(page.reading) and selected.request.missing:  # a line on it leaves no other room
        bare = replace(selected.request, missing=())
        page = _drop_until_fitting(replace(selected, request=bare), budget)
    if first.tokens > budget and page.tokens < budget:
        page = _refill(page, wanted, arrange, budget)
    if page.left_out and not len(page.reading):
        page = _substitute(page, arrange, budget)
    read = set(page.reading.nodes.tolist()) - {-1}  # some came back when others went
    left_out = tuple(one for one in page.left_out if one.node not in read)
    page = replace(page, left_out=left_out, bound=_bound_of(first, page))
    if page.left_out and not len(page.reading):
        raise BudgetError(_nothing_fits(request, budget, page.left_out[0]))
    _warn_if_best_too_large(page, budget)
    return page


def _bound_of(first: FittedPage, page: FittedPage) -> float | None:
    """Return the bound of the first selection, None where it is none of pages like this one.

    With less room the question may be linked to other passages than at first, and out of time to
    none: of what these lead to the bound says nothing.
    """
    bound, connection = first.subgraph.bound, first.subgraph.connection
    if bound is None or first.subgraph is page.subgraph:
        return bound
    if connection is None:
        return None if first.fill_rows else bound
    graph, nodes = page.request.graph, page.subgraph.nodes
    read = page.reading.nodes[page.reading.nodes >= 0]
    read, connectors = read[~graph.generated[read]], nodes[~graph.content[nodes]]
    is_joined = connection.reached(freeze(np.concatenate([read, connectors]), np.int32))
    return bound if is_joined[: len(read)].all() else None


def _reselect_until_fitting(
    page: FittedPage, request: PageRequest, select: Select, arrange: Arrange, budget: int
) -> tuple[FittedPage, set[int]]:
    """Select again, with less room each time, while the page is too large.

    Returns:
        The last page, or the one before it where the last is empty, and the content that any of
        the selections wanted.
    """
    wanted, room = _wanted(page), budget
    for _ in range(MAX_RESELECTIONS):
        if page.tokens <= budget or current().has_passed():
            break
        room = max(1, room - (page.tokens - budget))
        smaller = _page(request, select(room), arrange, room)
        wanted |= _wanted(smaller)
        if not len(smaller.reading):  # better to drop items of the page before
            break
        page = smaller
    return page, wanted


def _drop_until_fitting(page: FittedPage, budget: int) -> FittedPage:
    """Leave out the lowest prizes, one by one, until the page fits."""
    if page.tokens <= budget:
        return page
    if page.subgraph.connection is None and not len(page.subgraph.required):
        return _without_lowest(page, budget)
    while (excess := page.tokens - budget) > 0:
        page = without_entry(page, _every_entry(page), _over_budget(excess, budget))
    return page


def _without_lowest(page: FittedPage, budget: int) -> FittedPage:
    """Return what `without_entry` leaves of a page that fits, where no entry has to stay.

    The next entry to go is then always the one before it in one order: where the lowest of some
    prizes has gone, the others are equal or not as before, since equals have one leader above them.
    """
    request, reading = page.request, page.reading
    entries = np.arange(len(reading))
    stays, left_out = np.ones(len(reading), np.bool_), list[LeftOut]()
    remaining, tokens = reading, page.tokens
    for entry in np.lexsort((-entries, -request.levels(reading))).tolist():
        node, fact = reading.nodes.item(entry), reading.facts.item(entry)
        reason = _over_budget(tokens - budget, budget)
        left_out.append(LeftOut(node, -1 if node >= 0 else fact, reason))
        stays[entry] = False
        remaining = _entries(reading, np.flatnonzero(stays))
        tokens = request.tokens(remaining)
        if tokens <= budget:
            break
    fitting = replace(page, reading=remaining, left_out=(*page.left_out, *left_out))
    vars(fitting)["tokens"] = tokens
    return fitting


def _over_budget(excess: int, budget: int) -> str:
    return f"the rendered context was {excess} tokens over the budget of {budget}"


def _value(page: FittedPage) -> float:
    """Return the sum of the prizes that are read."""
    return sum(page.request.scores(page.reading))


def _refill(page: FittedPage, wanted: set[int], arrange: Arrange, budget: int) -> FittedPage:
    """Put back what was wanted and fits after all, the best first."""
    request = page.request
    rows = np.array(sorted(wanted - set(page.reading.nodes.tolist())), np.int64)
    rows = rows[request.prizes[rows] > 0]
    best = rows[top_k(request.prizes[rows], MAX_REFILLS, request.max_prize)]
    return _with_rows(page, best.tolist(), arrange, budget)


def _substitute(page: FittedPage, arrange: Arrange, budget: int) -> FittedPage:
    """Return a page of the next passages that fit; the page itself if there are none."""
    rows = _rows_in_question(page.request, budget)
    filled = _with_rows(page, rows, arrange, budget)
    return replace(filled, is_substitute=True) if len(filled.reading) else page


def _rows_in_question(request: PageRequest, budget: int) -> list[int]:
    """Return the best passages that are not larger than the budget, and like the question."""
    graph, prizes, scores = request.graph, request.prizes, request.seeds.scores
    similarities = np.zeros(len(graph))
    if request.query.vector is not None:
        similarities = products(graph.vectors, request.query.vector).astype(np.float64)
    may_be_read = graph.content & (graph.tokens <= budget)
    if request.excluded is not None:
        may_be_read &= ~request.excluded
    rows = np.flatnonzero(may_be_read & ((prizes > 0) | (scores > 0) | (similarities > 0)))
    ranks = (
        dense_ranks(similarities[rows]),
        dense_ranks(scores[rows]),
        dense_ranks(prizes[rows], request.max_prize),
    )
    best: list[int] = rows[np.lexsort(ranks)][:MAX_REFILLS].tolist()
    return best


def _with_rows(page: FittedPage, rows: list[int], arrange: Arrange, budget: int) -> FittedPage:
    """Return the page with those of some rows that fit, and with the reasons of the others."""
    limit = page.request.query.limit
    left_out = {(one.node, one.fact): one for one in page.left_out}
    for row in rows:
        if limit is not None and len(page.reading) >= limit:
            break
        if len(page.reading) and current().has_passed():  # late, something is read at least
            break
        if overlaps(page.request.graph, row, page.reading.nodes[page.reading.nodes >= 0]):
            continue
        found = _with_row(page, row, arrange, budget)
        if isinstance(found, FittedPage):
            page = found
            left_out.pop((row, -1), None)
        elif found:
            left_out.pop((row, -1), None)  # named anew, it is the last
            left_out[row, -1] = LeftOut(row, -1, found)
    return replace(page, left_out=tuple(left_out.values()))


def _with_row(page: FittedPage, row: int, arrange: Arrange, budget: int) -> FittedPage | str:
    """Return the page with one more row, or the reason why it does not fit; "" for no reason."""
    request, subgraph = page.request, page.subgraph
    tokens, left = request.min_tokens(row), budget - page.tokens
    if tokens > left and subgraph.connection is None:  # without trying the whole page
        return f"its {tokens} tokens do not fit in the {left} left"
    others = subgraph.nodes[subgraph.nodes != row]
    nodes = np.empty(len(others) + 1, np.int32)
    nodes[:-1], nodes[-1] = others, row
    subgraph = replace(subgraph, nodes=seal(nodes))
    everything = arrange(subgraph)  # also what was left out of the page
    nodes_read = {row, *page.reading.nodes.tolist()}  # sets: there are few, and many rows to try
    facts_read = set(page.reading.facts.tolist())
    entries = [
        entry
        for entry, (node, fact) in enumerate(
            zip(everything.nodes.tolist(), everything.facts.tolist(), strict=True)
        )
        if (node in nodes_read if node >= 0 else fact in facts_read)
    ]
    reading = everything
    if len(entries) < len(everything):
        reading = _entries(everything, np.array(entries, int))
    if not _is_connected(request.graph, subgraph, reading):
        return ""
    excess = request.tokens(reading) - budget
    if excess > 0:
        return f"with it the context would be {excess} tokens over the budget of {budget}"
    return replace(page, subgraph=subgraph, reading=reading)


def _page(request: PageRequest, subgraph: Subgraph, arrange: Arrange, room: int) -> FittedPage:
    """Return the page of a subgraph, filled up or cut to as many entries as the question wants."""
    request, limit = request.of_subgraph(subgraph), request.query.limit
    reading, overlapping = _without_overlap(request, arrange(subgraph))
    fill_rows: list[int] = []
    if limit is not None and len(reading) < limit:
        fill_rows = _fill_rows(request, subgraph, reading, room)
        nodes = np.concatenate([subgraph.nodes, np.array(fill_rows, np.int32)])
        subgraph = replace(subgraph, nodes=freeze(nodes, np.int32))
        if fill_rows:  # a question for so many items takes them, joined or not
            subgraph = replace(subgraph, connection=None)
        reading, overlapping = _without_overlap(request, arrange(subgraph))
    left_out = [LeftOut(row, -1, reason) for row, reason in subgraph.dropped]
    page = FittedPage(request, subgraph, reading, (*left_out, *overlapping), frozenset(fill_rows))
    page = without_unconnected(page)
    while limit is not None and len(page.reading) > limit:
        page = without_entry(page, _every_entry(page), f"beyond the limit of {limit}")
    return page


def _wanted(page: FittedPage) -> set[int]:
    """Return the content that was selected, and what the selectors had no room for."""
    subgraph = page.subgraph
    content = subgraph.nodes[page.request.graph.content[subgraph.nodes]]
    return {*content.tolist(), *(row for row, _ in subgraph.dropped)}


def _fill_rows(request: PageRequest, subgraph: Subgraph, reading: Reading, room: int) -> list[int]:
    """Return the best content that is not read yet, until there are as many entries as wanted."""
    graph, missing = request.graph, (request.query.limit or 0) - len(reading)
    read = reading.nodes[reading.nodes >= 0]
    overlap = OverlapFilter(graph)
    for row in read.tolist():
        overlap.accept(row)
    left = room - int(graph.tokens[read].sum())
    inside = np.zeros(len(graph), np.bool_)
    inside[subgraph.nodes] = True
    if request.excluded is not None:
        inside |= request.excluded
    outside = np.flatnonzero(graph.content & ~inside)
    by_prize = dense_ranks(request.prizes[outside], request.max_prize)
    by_seed = dense_ranks(request.seeds.scores[outside])
    rows: list[int] = []
    for row in outside[np.lexsort((by_seed, by_prize))].tolist():
        if len(rows) == missing:
            break
        if graph.tokens[row] <= left and overlap.accept(row):
            rows.append(row)
            left -= int(graph.tokens[row])
    return rows


def _without_overlap(request: PageRequest, reading: Reading) -> tuple[Reading, list[LeftOut]]:
    """Leave out what overlaps with something better that is read too."""
    if not may_overlap(request.graph, reading.nodes[reading.nodes >= 0]):
        return reading, []
    overlap, kept, left_out = OverlapFilter(request.graph), list[int](), list[LeftOut]()
    for entry in np.argsort(request.levels(reading), kind="stable").tolist():
        node = int(reading.nodes[entry])
        if node < 0 or overlap.accept(node):
            kept.append(entry)
        else:
            reason = "its text is part of, or contains, another item's"
            left_out.append(LeftOut(node, -1, reason))
    return (_entries(reading, np.array(sorted(kept), np.int64)) if left_out else reading), left_out


def _every_entry(page: FittedPage) -> Mask:
    return np.ones(len(page.reading), np.bool_)


def without_entry(page: FittedPage, among: Mask, reason: str) -> FittedPage:
    """Return the page without one entry, that of the lowest prize; required rows go last.

    Where the selector promises a connected choice, an entry that joins others stays as long as one
    that joins none is left.

    Args:
        page: has at least one of the entries.
        among: bool, True for every entry that may be left out.
        reason: why it is, in words.
    """
    request, reading, graph = page.request, page.reading, page.request.graph
    required = np.zeros(len(reading), np.bool_)
    if len(page.subgraph.required):
        required = np.isin(reading.nodes, page.subgraph.required) & (reading.nodes >= 0)
    entries = np.arange(len(reading))
    connection = page.subgraph.connection
    if connection is not None:  # it knows what joins the others, also after some have gone
        required = np.isin(reading.nodes, np.flatnonzero(graph.generated))
    by_prize = np.lexsort((-entries, -request.levels(reading), required))
    by_prize = by_prize[among[by_prize]].tolist()
    lowest = next(
        (
            entry
            for entry in by_prize
            if _is_connected(graph, page.subgraph, _entries(reading, np.delete(entries, entry)))
        ),
        by_prize[0],
    )
    node, fact = int(reading.nodes[lowest]), int(reading.facts[lowest])
    return replace(
        page,
        reading=_entries(reading, np.delete(entries, lowest)),
        left_out=(*page.left_out, LeftOut(node, -1 if node >= 0 else fact, reason)),
    )


def _is_connected(graph: Graph, subgraph: Subgraph, reading: Reading) -> bool:
    """Return whether a reading keeps the selector's promise, if there is one."""
    connection = subgraph.connection
    return connection is None or not len(_unconnected(graph, connection, reading))


def _unconnected(graph: Graph, connection: Connection, reading: Reading) -> NDArray[np.int64]:
    """Return the entries that are not connected with the others; a report joins nothing."""
    entries = np.flatnonzero((reading.nodes >= 0) & ~graph.generated[reading.nodes])
    return entries[~connection.reached(freeze(reading.nodes[entries], np.int32))]


def without_unconnected(page: FittedPage) -> FittedPage:
    """Leave out what was joined by an entry that overlaps with another and is not read."""
    connection = page.subgraph.connection
    if connection is None:
        return page
    request, reason = page.request, "what joins it is not read"
    entries = _unconnected(request.graph, connection, page.reading)
    if not len(entries):
        return page
    return replace(
        page,
        reading=_entries(page.reading, np.delete(np.arange(len(page.reading)), entries)),
        left_out=(
            *page.left_out,
            *(LeftOut(row, -1, reason) for row in page.reading.nodes[entries].tolist()),
        ),
    )


def _entries(reading: Reading, entries: NDArray[np.int64]) -> Reading:
    """Return some entries of a reading."""
    return Reading(seal(reading.nodes[entries]), seal(reading.facts[entries]))


def _nothing_fits(request: PageRequest, budget: int, first: LeftOut) -> str:
    """Return the message of the error that the budget holds nothing."""
    rows = np.flatnonzero(request.graph.content)
    rows = rows[np.argsort(request.graph.tokens[rows], kind="stable")[:MAX_REFILLS]]
    alone = replace(request, missing=())
    pages = [alone.tokens(Reading.of(nodes=[row])) for row in rows.tolist()]
    smallest = f"the smallest passage takes {min(pages)}" if pages else "there is nothing to read"
    return (
        f"a budget of {budget} tokens holds none of what was chosen, and nothing else that is like "
        f"the question ({smallest}); give a larger budget or split the documents smaller. "
        f"First: {request.id_of(first.node, first.fact)!r}, {first.reason}"
    )


@contextmanager
def without_warning() -> Iterator[list[int]]:
    """Say nothing within this block of content that is larger than the budget.

    Yields:
        The tokens of the best content of each question, where that alone is larger than its budget.

    Example:
        >>> with without_warning() as too_large:
        ...     too_large
        []
    """
    too_large = list[int]()
    token = _QUIET.set(too_large)
    try:
        yield too_large
    finally:
        _QUIET.reset(token)


_QUIET: ContextVar[list[int] | None] = ContextVar("quiet", default=None)


def _warn_if_best_too_large(page: FittedPage, budget: int) -> None:
    """Warn, once for a graph, where the best content alone is larger than the whole budget."""
    graph, instead = page.request.graph, _QUIET.get()
    if not (graph.tokens > budget).any():
        return
    prizes = np.where(graph.content, page.request.prizes, 0.0)
    best = int(top_k(prizes, 1)[0])
    if prizes[best] > 0 and graph.tokens[best] > budget and best not in page.reading.nodes:
        tokens = int(graph.tokens[best])
        if instead is None:
            graph.part(_WarningPart(graph.ids[best], tokens, budget))
        else:
            instead.append(tokens)


@dataclass(frozen=True)
class _WarningPart:
    """The part that logs a warning when it is computed, so once for a graph.

    No field counts when parts are compared: the first warning is the only one.
    """

    id: str = field(compare=False)
    tokens: int = field(compare=False)
    budget: int = field(compare=False)

    def compute(self, graph: Graph) -> None:
        fact = (
            f"{self.id!r} has the highest prize and was left out: it takes {self.tokens} tokens, "
            f"more than the whole budget of {self.budget}"
        )
        logging.getLogger("clew").warning(
            "%s; split documents, as splitter=clew.Splitter() does, or give a larger budget",
            fact,
            extra={TOO_LARGE: fact},  # whoever shows it may have other advice
        )
