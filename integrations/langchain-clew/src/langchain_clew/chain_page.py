"""The budget holds for what a chain prints: each document by its prompt, a separator between them.

clew counts the page that it renders itself. Where the chain's page is longer than the budget, the
question is asked again with a smaller budget. What still does not fit, or gives one source more
than its share, is left out, as the last step of the trace says.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from langchain_core.documents import Document
from langchain_core.prompts import BasePromptTemplate, format_document

import clew
from clew.adapters import Dropped, NothingFitsWarning, QueryOptions

SEPARATOR = "\n\n"
"""What `create_stuff_documents_chain` prints between two documents."""

ATTEMPTS = 3
"""How often a smaller budget is tried: the share that a prompt takes of the page is a guess."""

WIDER = 8
"""How many times the budget is asked for once where nothing that was chosen fits alone."""

Ask = Callable[[QueryOptions], clew.Context]


@dataclass(frozen=True)
class ChainPage:
    """How a chain prints the documents of a context.

    Attributes:
        documents_of: Returns the documents of a context, one for each item, in their order.
        count: The tokenizer.
        prompt: How a document is printed; None for its text alone.
        separator: What stands between two.
    """

    documents_of: Callable[[clew.Context], list[Document]]
    count: Callable[[str], int]
    prompt: BasePromptTemplate[str] | None = None
    separator: str = SEPARATOR

    def fit(self, ask: Ask, options: QueryOptions) -> clew.Context:
        """Return the context whose documents are printed within the budget.

        Args:
            ask: Asks the question with some options.
            options: What the question says. Its budget holds for what is printed.

        Raises:
            BudgetError: None of the chosen documents fits as it is printed, and the question is
                strict.
        """
        return self.fit_first(ask(options), ask, options)

    def fit_first(self, first: clew.Context, ask: Ask, options: QueryOptions) -> clew.Context:
        """Return what `fit` returns, where the first answer is there already."""
        budget, share = options.budget, first.source_budget
        printed = _Printed.of(self, first)
        if budget is None or printed.is_within(budget):
            return first
        places, budgets = printed.places_within(budget), list[int]()
        last = printed
        while len(budgets) < ATTEMPTS and not last.is_within(budget):
            other = last.other_budget(budget)
            try:
                context = ask(replace(options, budget=other, strict=True))
            except clew.BudgetError:
                break
            if not len(context):
                break
            budgets.append(other)
            last = _Printed.of(self, replace(context, budget=budget, source_budget=share))
            if fitting := last.places_within(budget):
                printed, places = last, fitting
        if not places:
            smallest = min(map(self.count, printed.texts))
            why = (
                f"a budget of {budget} tokens holds none of the chosen documents as "
                f"document_prompt prints them (the smallest takes {smallest}); give a larger "
                "budget, or a document_prompt that prints less"
            )
            if options.strict:
                raise clew.BudgetError(why)
            warnings.warn(why, NothingFitsWarning, stacklevel=2)
            return replace(printed.with_items([], options), nothing_found=why)
        left_out = [item.id for i, item in enumerate(printed.context) if i not in places]
        context = printed.with_items(places, options)
        notes = {
            "tokens": printed.tokens(places),
            "asked again with": tuple(budgets),
            "left out": tuple(left_out),
        }
        step = clew.Step("printed by the chain", 0.0, notes)
        return replace(context, trace=(*context.trace, step))


@dataclass(frozen=True)
class _Printed:
    """A context and its documents as they are printed."""

    page: ChainPage
    context: clew.Context
    texts: Sequence[str]

    @classmethod
    def of(cls, page: ChainPage, context: clew.Context) -> _Printed:
        if page.prompt is None:
            return cls(page, context, [item.text for item in context])
        texts = [format_document(document, page.prompt) for document in page.documents_of(context)]
        return cls(page, context, texts)

    def tokens(self, places: Sequence[int]) -> int:
        text = self.page.separator.join(self.texts[i] for i in places)
        return self.page.count(text) if text else 0

    def is_within(self, budget: int) -> bool:
        """Return whether everything fits, and no source has more than its share."""
        everything = range(len(self.texts))
        one_of_each = {item.source: i for i, item in enumerate(self.context)}.values()
        return self.tokens(everything) <= budget and not any(
            self._is_above_share(everything, i) for i in one_of_each
        )

    def other_budget(self, budget: int) -> int:
        """Return what is left for text, if the prompt takes as large a share of the page again.

        Where nothing fits alone it is a multiple, so that there is more to choose from.
        """
        fitting = [i for i in range(len(self.texts)) if self.tokens([i]) <= budget]
        if not fitting:
            return WIDER * budget
        text_tokens = sum(self.context.items[i].tokens for i in fitting)
        return max(1, text_tokens * budget // max(self.tokens(fitting), budget, 1))

    def places_within(self, budget: int) -> list[int]:
        """Return the places of items that fit together, and of each source within its share.

        Those that do not fit alone go first, then those of the lowest prizes, bridges last.
        """
        items = self.context.items
        remaining = [i for i in range(len(items)) if self.tokens([i]) <= budget]
        by_prize = sorted(remaining, key=lambda i: (items[i].role == "bridge", items[i].score, -i))
        for i in by_prize:
            if self._is_above_share(remaining, i):
                remaining.remove(i)
        for i in by_prize:
            if self.tokens(remaining) <= budget:
                break
            if i in remaining:
                remaining.remove(i)
        return remaining

    def with_items(self, places: Sequence[int], options: QueryOptions) -> clew.Context:
        """Return the context of some of its items, rendered again as the recipe renders."""
        context = self.context
        if len(places) == len(context):
            return context
        items = tuple(context.items[i] for i in places)
        gone = set(context.ids) - {item.id for item in items}
        text = _rendered(items, getattr(clew.recipes.get(options.recipe), "render", clew.Render()))
        reason = "as the chain prints it, it is beyond the budget, or the share of its source"
        dropped = tuple(Dropped(item.id, reason) for item in context if item.id in gone)
        return replace(
            context,
            items=items,
            text=text,
            tokens=self.page.count(text) if text else 0,
            edges=tuple(edge for edge in context.edges if not {edge.tail, edge.head} & gone),
            value=float(sum(item.score for item in items)),
            bound=None,
            dropped=(*context.dropped, *dropped),
        )

    def _is_above_share(self, places: Sequence[int], place: int) -> bool:
        """Return whether the source of an item has more than its share of the page."""
        share, source = self.context.source_budget, self.context.items[place].source
        if share is None or source is None:
            return False
        own = [i for i in places if self.context.items[i].source == source]
        return len(own) > 1 and self.tokens(own) > share


def _rendered(items: Sequence[clew.Item], render: clew.Render) -> str:
    lines, heading_above = list[str](), ""
    for number, item in enumerate(items, render.first):
        is_fact = item.kind == "fact"
        heading = item.heading if render.headings and not is_fact else ""
        if heading and heading != heading_above:
            lines.append(f"# {heading}")
        lines.append(render.entry(item.text, number, is_fact=is_fact))
        heading_above = heading
    return "\n".join(lines)
