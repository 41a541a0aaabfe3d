"""No source takes more than its share of a page.

Who writes a document decides what it says: one that repeats the words of many questions comes first
for each of them, and a page that holds nothing else has nothing that contradicts it. `fit_to_share`
fits a page, and where a source has more than its share,

1. keeps the best of its entries that are within the share, and spreads the prizes and selects again
   without its others;
2. does so for every source that then has too much, at most four times, and not after the question's
   deadline;
3. leaves out whole entries of such a source, the lowest prize first.

Every entry that is left out is named, with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from clew.budget import BudgetError, FittedPage, LeftOut, without_entry, without_unconnected
from clew.graph import Graph, Mask, Sources, SourcesPart, distinct, freeze
from clew.types import UNLIMITED, Reading, Seeds

MAX_ROUNDS = 4
SLACK = 1e-9  # a share of a number of entries is a whole number, but for rounding


@dataclass(frozen=True, eq=False)
class Excluded:
    """What a page may not hold.

    Attributes:
        nodes: bool [n].
        facts: bool [m].
    """

    nodes: Mask
    facts: Mask

    @classmethod
    def nothing(cls, graph: Graph) -> Excluded:
        """Return what excludes nothing of a graph."""
        return cls(np.zeros(len(graph), np.bool_), np.zeros(len(graph.facts), np.bool_))

    def __or__(self, other: Excluded) -> Excluded:
        return Excluded(self.nodes | other.nodes, self.facts | other.facts)

    def __bool__(self) -> bool:
        return bool(self.nodes.any() or self.facts.any())

    def removed_from_seeds(self, seeds: Seeds) -> Seeds:
        """Return what the question leads to without what is excluded."""
        facts = ~self.facts[seeds.facts] if len(seeds.facts) else np.zeros(0, np.bool_)
        scored = len(seeds.fact_scores) == len(seeds.facts)
        return replace(
            seeds,
            scores=np.where(self.nodes, 0.0, seeds.scores),
            terminals=seeds.terminals[~self.nodes[seeds.terminals]],
            facts=seeds.facts[facts],
            fact_scores=seeds.fact_scores[facts] if scored else seeds.fact_scores,
        )

    def removed_from(self, reading: Reading) -> Reading:
        """Return a reading without what is excluded."""
        left_out = np.where(
            reading.nodes >= 0,
            self.nodes[reading.nodes],
            self.facts[reading.facts] if len(self.facts) else False,
        )
        nodes, facts = reading.nodes[~left_out], reading.facts[~left_out]
        return Reading(freeze(nodes, np.int32), freeze(facts, np.int32))


@dataclass(frozen=True)
class SharedPage:
    """A page on which no source has more than its share.

    Attributes:
        page: what is read, and what is left out.
        source_budget: the tokens that one source may have; None without a cap.
        notes: what was done, for the trace; empty where nothing was.
    """

    page: FittedPage
    source_budget: int | None = None
    notes: dict[str, object] = field(default_factory=dict)


def fit_to_share(
    fit: Callable[[Excluded], FittedPage],
    graph: Graph,
    max_share: float,
    budget: int,
    *,
    may_have_one: bool = False,
) -> SharedPage:
    """Return a page on which no source has more than its share, where others have a prize.

    A source has at most this share of the budget, by its entries and their headings as they are
    printed, and at most this share of the entries that the page would have without a cap, but one
    at least.

    Args:
        fit: excluded nodes and facts -> a page within the budget.
        graph: what is asked.
        max_share: in (0, 1].
        budget: the tokens allowed. Where it is `UNLIMITED`, the share is one of the page without a
            cap, and a page of one entry stays as it is.
        may_have_one: whether every source may have one entry, however large: on a small page the
            passage that answers is often more than a share of it.

    Raises:
        BudgetError: the share holds nothing of what was chosen.
    """
    begin, excluded = time.perf_counter(), Excluded.nothing(graph)
    first = fit(excluded)
    if not len(first.reading):
        return SharedPage(first)
    if budget == UNLIMITED and len(first.reading) == 1:
        return SharedPage(first, notes={"no cap": "one entry is the whole page"})
    tokens = first.tokens if budget == UNLIMITED else budget
    shares = _Shares(
        graph.part(SourcesPart()),
        max_tokens=int(max_share * tokens + SLACK),
        max_entries=max(1, int(max_share * len(first.reading) + SLACK)),
        may_have_one=may_have_one,
    )
    over = shares.sources_over(first)
    if not over:
        return SharedPage(first, shares.max_tokens)
    if not shares.others_have_prize(first):
        alone = ", ".join(shares.sources.names[source] for source in over)
        return SharedPage(first, notes={"no cap": f"nothing outside {alone} has a prize"})
    page, rounds, capped, deadline = first, 0, set[int](over), first.request.query.deadline
    while over and rounds < MAX_ROUNDS:
        if deadline is not None and time.perf_counter() - begin > deadline:
            break
        capped.update(over)
        for source in over:
            excluded |= shares.excess(page, source)
        try:
            page, rounds = fit(excluded), rounds + 1
        except BudgetError:
            break
        over = shares.sources_over(page)
    page = _drop_excess(page, shares, max_share)
    page = _with_reasons(page, first, shares, max_share)
    if not len(page.reading):
        raise BudgetError(
            f"a share of {max_share:g} of {tokens} tokens for each source (max_share) holds none "
            f"of what was chosen; give a larger share or budget, or split the documents smaller. "
            f"First: {page.request.id_of(*page.left_out[0][:2])!r}"
        )
    names = tuple(shares.sources.names[source] for source in sorted(capped))
    notes: dict[str, object] = {"over their share": names, "selected again": rounds}
    return SharedPage(page, shares.max_tokens, notes)


@dataclass(frozen=True)
class _Shares:
    """What every source may have of a page."""

    sources: Sources
    max_tokens: int
    max_entries: int
    may_have_one: bool

    def of_entries(self, reading: Reading) -> list[int]:
        """Return the source of every entry."""
        entries = zip(reading.nodes.tolist(), reading.facts.tolist(), strict=True)
        nodes, facts = self.sources.of_nodes, self.sources.of_facts
        return [int(nodes[node]) if node >= 0 else int(facts[fact]) for node, fact in entries]

    def sources_over(self, page: FittedPage) -> list[int]:
        """Return the sources that have more of a page than they may."""
        pieces: dict[int, list[str]] = {}
        printed = page.request.pieces(page.reading)
        for source, piece in zip(self.of_entries(page.reading), printed, strict=True):
            pieces.setdefault(source, []).append(piece)
        pieces.pop(-1, None)
        return [
            source
            for source, some in pieces.items()
            if len(some) > self.max_entries or self._are_too_long(page, some)
        ]

    def _are_too_long(self, page: FittedPage, printed: list[str]) -> bool:
        """Return whether entries of a source, as they are printed, have too many tokens."""
        is_one = self.may_have_one and len(printed) == 1
        return not is_one and page.request.graph.count("\n".join(printed)) > self.max_tokens

    def others_have_prize(self, page: FittedPage) -> bool:
        """Return whether content of more than one source has a prize, or a score of the seeds."""
        request = page.request
        found = request.graph.content & ((request.prizes > 0) | (request.seeds.scores > 0))
        return len(distinct(self.sources.of_nodes[found])) > 1

    def excess(self, page: FittedPage, source: int) -> Excluded:
        """Return all that is of a source but the best of its entries that are within its share."""
        request, reading = page.request, page.reading
        levels = request.levels(reading)
        own = np.flatnonzero(np.array(self.of_entries(reading)) == source)
        kept: list[int] = []
        for entry in own[np.argsort(levels[own], kind="stable")].tolist():
            if len(kept) == self.max_entries:
                break
            some = np.array(sorted([*kept, entry]))
            printed = request.pieces(Reading(reading.nodes[some], reading.facts[some]))
            if not self._are_too_long(page, printed):
                kept.append(entry)
        nodes, facts = reading.nodes[kept], reading.facts[kept]
        readable = request.graph.content | request.graph.generated
        excluded = Excluded(
            readable & (self.sources.of_nodes == source), self.sources.of_facts == source
        )
        excluded.nodes[nodes[nodes >= 0]] = False
        excluded.facts[facts[nodes < 0]] = False
        return excluded


def _drop_excess(page: FittedPage, shares: _Shares, max_share: float) -> FittedPage:
    """Leave out the lowest entries of every source that has too much, one by one."""
    while over := shares.sources_over(page):
        own = np.array(shares.of_entries(page.reading)) == over[0]
        page = without_entry(page, own, _reason(shares, over[0], max_share))
    return without_unconnected(page)


def _with_reasons(
    page: FittedPage, first: FittedPage, shares: _Shares, max_share: float
) -> FittedPage:
    """Return the page, with what the cap has left out of the first one."""
    read = set(_entries_of(page.reading))
    left_out = {(one.node, one.fact): one for one in page.left_out}
    sources = shares.of_entries(first.reading)
    for entry, source in zip(_entries_of(first.reading), sources, strict=True):
        if entry not in read and source >= 0:
            left_out.setdefault(entry, LeftOut(*entry, _reason(shares, source, max_share)))
    return replace(page, left_out=tuple(left_out.values()))


def _entries_of(reading: Reading) -> list[tuple[int, int]]:
    """Return (node, -1) of every entry that is a node, (-1, fact) of every other."""
    entries = zip(reading.nodes.tolist(), reading.facts.tolist(), strict=True)
    return [(node, -1) if node >= 0 else (-1, fact) for node, fact in entries]


def _reason(shares: _Shares, source: int, max_share: float) -> str:
    return f"more than {max_share:.0%} of the page would be from {shares.sources.names[source]!r}"
