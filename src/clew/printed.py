"""The budget holds for a page that a framework prints: its own words around each item, separators.

clew counts the page that it renders itself. A framework prints the same items with metadata, or by
a prompt of the user's. `fit_printed` asks the question, and where the printed page is too long,

1. asks again with a smaller budget, at most three times: what the framework adds takes a share of
   the page that is not known before. An answer counts only if it has the best of what fits before.
   Where nothing that was chosen fits, it asks for more once, so that there is more to choose from,
   and where a limit counts what does not fit even alone, for so many more;
2. keeps what fits, the highest prize first and bridges before all others, as many as the question
   wants. No source gets more than its share.

Every item that is left out is named, with the reason.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from clew import recipes
from clew.budget import BudgetError, without_warning
from clew.context import Context
from clew.deadline import Deadline
from clew.index.answer import NothingFitsWarning
from clew.index.question import QueryOptions
from clew.items import ContextEdge, Dropped, Item, Step
from clew.render import Render
from clew.usage import total_usage

MAX_REPEATS = 3
"""How often a question is asked again: the share that is not text is a guess."""

WIDER = 8
"""How many times the budget and the limit are asked for where nothing that was chosen fits."""

Ask = Callable[[QueryOptions], Context]


@dataclass(frozen=True)
class Printer:
    """How a framework prints the items of a context.

    Attributes:
        texts_of: Returns what is printed of each item of a context, in their order.
        count: The tokenizer.
        names: What is printed, and how, for the message that nothing fits.
        advice: What to do then, beside giving a larger budget.
        separator: What is printed between two items.
    """

    texts_of: Callable[[Context], Sequence[str]]
    count: Callable[[str], int]
    names: str
    advice: str
    separator: str = "\n\n"


def fit_printed(
    printer: Printer, ask: Ask, options: QueryOptions, first: Context | None = None
) -> Context:
    """Return the context whose items are printed within the budget, no source above its share.

    It is the first answer itself where that fits. The last step of its trace says else what was
    done.

    Args:
        printer: How the items are printed.
        ask: Asks the question with some options.
        options: What the question says. Its budget holds for what is printed.
        first: What `ask` returns for these options, where that is known already.

    Raises:
        BudgetError: None of the chosen items fits as it is printed, and the question is strict.

    Example:
        >>> from clew import Index
        >>> index = Index.from_documents(["Anna paints boats.", "Ben paints."], count=len)
        >>> def texts_of(context):
        ...     return [f"From an old letter: {item.text}" for item in context]
        >>> def ask(options):
        ...     return index.ask("Who paints?", options=options)
        >>> options = QueryOptions("bm25", budget=60)
        >>> sum(map(len, texts_of(ask(options))))
        69
        >>> printer = Printer(texts_of, len, "letters", "print less of each")
        >>> context = fit_printed(printer, ask, options)
        >>> len(context), context.trace[-1].notes["tokens"]
        (1, 31)
    """
    begin, budget, deadline = time.perf_counter(), options.budget, Deadline.after(options.deadline)
    first = ask(options) if first is None else first
    if budget is None:
        return first
    page = _PrintedPage.of(printer, first, options, budget, first.source_budget, options.limit)
    if page.is_whole:
        return first
    last, contexts, budgets = _ask_until_fitting(page, ask, options, deadline)
    step = Step(
        "printed page",
        time.perf_counter() - begin,
        {
            "tokens": last.tokens(last.kept),
            "at first": page.tokens(range(len(first))),
            "asked again with": tuple(budgets),
            "left out": tuple(last.context.items[i].id for i in last.left_out),
        },
    )
    context = last.context_of_kept(first)
    context = context.changed(
        trace=(*context.trace, step),
        usage=total_usage(one.usage for one in (first, *contexts)),
    )
    if last.kept:
        return context
    why = page.nothing_fits()
    if options.strict:
        raise BudgetError(why)
    warnings.warn(why, NothingFitsWarning, stacklevel=3)
    return context.changed(nothing_found=why)


def _ask_until_fitting(
    page: _PrintedPage, ask: Ask, options: QueryOptions, deadline: Deadline
) -> tuple[_PrintedPage, list[Context], list[int]]:
    """Return the last page that keeps the best of what fits, and what was asked for it.

    It is not asked again where less than half of the time for the question is left.
    """
    contexts, budgets = list[Context](), list[int]()
    while (page.is_too_long or page.is_short) and len(budgets) < MAX_REPEATS:
        left = deadline.remaining()
        if left < (options.deadline or 0) / 2:
            break
        budgets.append(page.other_budget())
        seconds, limit = None if options.deadline is None else left, page.other_limit()
        other_options = replace(
            options, budget=budgets[-1], limit=limit, deadline=seconds, strict=True
        )
        try:
            with without_warning():  # of a budget that nobody gave
                again = ask(other_options)
        except BudgetError:
            break
        contexts.append(again)
        other = _PrintedPage.of(
            page.printer, again, options, page.budget, page.share, other_options.limit
        )
        # What fits alone is kept where nothing else is: so something is kept where anything fits.
        if not other.kept or (page.fits_anything and page.best_kept not in other.kept_ids):
            break
        if not page.is_too_long and len(other.kept) < len(page.kept):
            break
        page = other
    return page, contexts, budgets


@dataclass(frozen=True, eq=False)
class _PrintedPage:
    """A context and its items as they are printed.

    Attributes:
        printer: how they are printed.
        context: the items.
        texts: what is printed of each.
        render: how clew itself prints them.
        budget: the tokens that the printed page may have.
        share: the tokens that one source may have of it; None without a cap.
        limit: how many items the question wants; None leaves that to the method.
        asked: how many this context was asked for.
    """

    printer: Printer
    context: Context
    texts: Sequence[str]
    render: Render
    budget: int
    share: int | None
    limit: int | None
    asked: int | None

    @classmethod
    def of(
        cls,
        printer: Printer,
        context: Context,
        options: QueryOptions,
        budget: int,
        share: int | None,
        asked: int | None,
    ) -> _PrintedPage:
        render, texts = getattr(recipes.get(options.recipe), "render", Render()), printer.texts_of
        return cls(printer, context, texts(context), render, budget, share, options.limit, asked)

    @property
    def is_whole(self) -> bool:
        """Whether everything fits, and no source has more than its share."""
        return self._holds(range(len(self.texts)), self.texts, self.printer.separator)

    @property
    def is_too_long(self) -> bool:
        """Whether what is wanted of what fits alone does not fit together, or nothing fits."""
        return not self._wanted or self.tokens(self._wanted) > self.budget

    @property
    def is_short(self) -> bool:
        """Whether a limit counts what does not fit even alone, and there may be others."""
        if self.limit is None or self.asked is None or len(self.texts) < self.asked:
            return False
        return len(self.kept) < self.limit and len(self._fitting) < len(self.texts)

    @cached_property
    def kept(self) -> list[int]:
        """The places of what fits together, bridges first and then the highest prizes."""
        if self._fits(self._wanted):  # as mostly when it was asked again: nothing is tried alone
            return self._wanted
        kept = list[int]()
        for i in self._best_first:
            if len(kept) == self.limit:
                break
            if self._fits(more := sorted([*kept, i])):
                kept = more
        return kept

    @cached_property
    def _best_first(self) -> list[int]:
        """The places of items that fit at least alone, bridges first, then the highest prizes."""
        items = self.context.items
        return sorted(self._fitting, key=lambda i: (items[i].role != "bridge", -items[i].score))

    @property
    def fits_anything(self) -> bool:
        """Whether an item fits at least alone."""
        return bool(self._fitting)

    @property
    def _wanted(self) -> list[int]:
        """The best of these, as many as the question wants, in the order of the page."""
        return sorted(self._best_first[: self.limit])

    @property
    def best_kept(self) -> str:
        """The id of the highest prize among what is kept, which is something."""
        first = self.context.items[self._best_first[0]]
        if first.role != "bridge":  # it is kept, whatever else is
            return first.id
        return max((self.context.items[i] for i in self.kept), key=lambda item: item.score).id

    @property
    def kept_ids(self) -> set[str]:
        """The ids of what is kept."""
        return {self.context.items[i].id for i in self.kept}

    @cached_property
    def left_out(self) -> list[int]:
        """The places of the others."""
        return sorted(set(range(len(self.texts))) - set(self.kept))

    def tokens(self, places: Sequence[int]) -> int:
        """Return what some items take as they are printed."""
        return self._count(self.printer.separator.join(self.texts[i] for i in places))

    def other_budget(self) -> int:
        """Return what is left for text, if what is printed beside it takes as large a share again.

        Where nothing fits it is a multiple, so that there is more to choose from. What will be too
        long alone has room of its own.
        """
        if not self._fitting:
            return WIDER * self.budget
        tokens = sum(self.context.items[i].tokens for i in self._wanted)
        room = max(1, tokens * self.budget // self.tokens(self._wanted))
        limit, fitting = self.other_limit(), {*self._fitting}
        if limit is None:
            return room
        in_vain = [one.tokens for i, one in enumerate(self.context.items) if i not in fitting]
        return room + sum(in_vain) * limit // len(self.texts)

    def other_limit(self) -> int | None:
        """Return how many items to ask for, if as large a share of them does not fit even alone."""
        if self.limit is None:
            return None
        if not self._fitting:
            return WIDER * self.limit
        return -(-self.limit * len(self.texts) // len(self._fitting))

    def context_of_kept(self, first: Context) -> Context:
        """Return the context of what is kept, rendered again as the recipe renders.

        Args:
            first: The first answer. What it has and this one has not is among the dropped.
        """
        context, text = self.context, self._rendered()
        items = tuple(context.items[i] for i in self.kept)
        read = {item.id for item in items}
        gone = [id for id in (*context.ids, *first.ids) if id not in read]

        def edges() -> tuple[ContextEdge, ...]:
            return tuple(one for one in context.edges if not {one.tail, one.head} & {*gone})

        def dropped() -> tuple[Dropped, ...]:
            reason = "as it is printed, it is beyond the budget, or the share of its source"
            named = {one.id: one for one in (*first.dropped, *context.dropped)}
            others = {
                context.items[i].id: f"beyond the limit of {self.limit}" for i in self._beyond
            }
            every = {id: Dropped(id, others.get(id, reason)) for id in gone}
            every |= {id: one for id, one in named.items() if id not in read}
            return tuple(every.values())

        return context.changed(
            items=items,
            text=text,
            tokens=self._count(text),
            budget=self.budget,
            source_budget=self.share,
            value=float(sum(item.score for item in items if item.role != "fact")),
            bound=None,  # it was proven for another page
        ).made_when_asked(edges=edges, dropped=dropped)

    def nothing_fits(self) -> str:
        """Return the message that nothing is kept."""
        smallest = min(self.tokens([i]) for i in range(len(self.texts)))
        share = "" if self.share is None else f", and one source may have {self.share}"
        return (
            f"a budget of {self.budget} tokens holds none of the chosen {self.printer.names} (the "
            f"smallest takes {smallest}{share}); give a larger budget, or {self.printer.advice}"
        )

    @cached_property
    def _fitting(self) -> list[int]:
        """The places of items that fit at least alone."""
        return [i for i in range(len(self.texts)) if self._fits([i])]

    @property
    def _beyond(self) -> list[int]:
        """The places of items that are left out because there are as many as wanted."""
        if len(self.kept) != self.limit:
            return []
        last = max(self._best_first.index(i) for i in self.kept)
        return self._best_first[last + 1 :]

    def _fits(self, places: Sequence[int]) -> bool:
        """Return whether some items fit, as the framework and as clew prints them."""
        printed = [self.texts[i] for i in places]
        return self._holds(places, printed, self.printer.separator) and self._holds(
            places, self._pieces(places), "\n"
        )

    def _holds(self, places: Sequence[int], texts: Sequence[str], separator: str) -> bool:
        """Return whether a page is within the budget, and each source on it within its share."""
        if self._count(separator.join(texts)) > self.budget:
            return False
        if self.share is None:
            return True
        own: dict[str | None, list[str]] = {}
        for place, text in zip(places, texts, strict=True):
            own.setdefault(self.context.items[place].source, []).append(text)
        own.pop(None, None)  # what is of several sources, or of none
        least = 2 if self.context.sources_have_one else 1
        capped = (separator.join(some) for some in own.values() if len(some) >= least)
        return all(self._count(text) <= self.share for text in capped)

    def _rendered(self) -> str:
        """Return clew's own page of what is kept, and what could not be joined, if it fits."""
        text = "\n".join(self._pieces(self.kept))
        line = self.render.missing_line_in(self.context.text)
        with_line = f"{text}\n{line}"
        return with_line if text and line and self._count(with_line) <= self.budget else text

    def _pieces(self, places: Sequence[int]) -> list[str]:
        return self.render.pieces_of(self._items_to_render[i] for i in places)

    @cached_property
    def _items_to_render(self) -> list[Item]:
        """The items, each fact as the page has it that they came with."""
        items = list(self.context)
        facts = [i for i, item in enumerate(items) if item.kind == "fact"]
        triples = self.render.triples_in(self.context.text)
        if len(triples) == len(facts):
            for i, triple in zip(facts, triples, strict=True):
                items[i] = replace(items[i], text=triple)
        return items

    def _count(self, text: str) -> int:
        return self.printer.count(text) if text else 0
