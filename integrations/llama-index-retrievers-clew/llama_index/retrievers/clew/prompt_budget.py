"""The budget holds for what a response synthesizer prints: each node with the metadata for a model.

clew counts the page that it renders itself, on which no metadata stands. Where the framework's page
is longer than the budget, the question is asked again with a smaller budget. What still does not
fit, or gives one source more than its share, is left out, as the last step of the trace says.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from llama_index.core.node_parser.text.sentence_window import (
    DEFAULT_OG_TEXT_METADATA_KEY,
    DEFAULT_WINDOW_METADATA_KEY,
)
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

import clew
from clew.adapters import Dropped, NothingFitsWarning, QueryOptions

SEPARATOR = "\n\n"
"""What synthesizers and chat engines put between two nodes."""

WINDOW, ORIGINAL = DEFAULT_WINDOW_METADATA_KEY, DEFAULT_OG_TEXT_METADATA_KEY
"""Keys of metadata by which a `SentenceWindowNodeParser` keeps the window and the sentence."""

ATTEMPTS = 3
"""How often a smaller budget is tried: the share that metadata take is a guess."""


class Ask(Protocol):
    """Asks one question with these options."""

    def __call__(self, *, options: QueryOptions) -> clew.Context:
        """Return the context."""
        ...


def within_budget(
    ask: Ask,
    nodes_of: Callable[[clew.Context], list[NodeWithScore]],
    count: Callable[[str], int],
    options: QueryOptions,
) -> clew.Context:
    """Return the context whose nodes are printed within the budget.

    Args:
        ask: Asks the question.
        nodes_of: Returns the nodes of a context, one for each item, in their order.
        count: The tokenizer.
        options: What the question says. Its budget holds for the printed nodes.

    Raises:
        BudgetError: Not one of the chosen nodes fits with its metadata, and the question is strict.
    """
    context, budget = ask(options=options), options.budget
    if budget is None or not len(context):
        return context
    prompt = _Prompt.of_nodes(nodes_of(context), count, budget)
    first_tokens, source_budget = prompt.tokens(range(len(context))), context.source_budget
    everything = list(range(len(context)))
    if (
        first_tokens <= budget
        and _within_share(context, prompt, everything, source_budget) == everything
    ):
        return context
    budgets = list[int]()
    while len(budgets) < ATTEMPTS and prompt.tokens(prompt.fitting_alone) > budget:
        smaller_budget = _share_of_text(context, prompt)
        try:
            smaller = ask(options=replace(options, budget=smaller_budget, strict=True))
        except clew.BudgetError:
            break
        if not len(smaller):
            break
        budgets.append(smaller_budget)
        context, prompt = smaller, _Prompt.of_nodes(nodes_of(smaller), count, budget)
    remaining = _within_share(context, prompt, _fitting_together(context, prompt), source_budget)
    if not remaining:
        smallest = min(prompt.tokens([i]) for i in range(len(context)))
        why = (
            f"a budget of {budget} tokens holds none of the chosen nodes as a prompt shows them, "
            f"with their metadata (the smallest takes {smallest}); give a larger budget, or name "
            "in excluded_llm_metadata_keys what no model needs to read"
        )
        if options.strict:
            raise clew.BudgetError(why)
        warnings.warn(why, NothingFitsWarning, stacklevel=3)
        return replace(_with_items(context, [], count, options), nothing_found=why)
    left_out = [item.id for i, item in enumerate(context) if i not in remaining]
    context = replace(context, budget=budget)
    if left_out:
        context = _with_items(context, remaining, count, options)
        reason = "with its metadata it is beyond the budget, or the share of its source"
        dropped = (Dropped(id, reason) for id in left_out)
        context = replace(context, dropped=(*context.dropped, *dropped))
    notes = {
        "tokens": prompt.tokens(remaining),
        "at first": first_tokens,
        "asked again with": tuple(budgets),
        "left out": tuple(left_out),
    }
    step = clew.Step("printed with metadata", 0.0, notes)
    return replace(context, trace=(*context.trace, step))


@dataclass(frozen=True)
class _Prompt:
    """The nodes as they are printed, and how many tokens some of them take together."""

    texts: Sequence[str]
    count: Callable[[str], int]
    budget: int

    @classmethod
    def of_nodes(
        cls, nodes: Sequence[NodeWithScore], count: Callable[[str], int], budget: int
    ) -> _Prompt:
        return cls([_printed(scored.node) for scored in nodes], count, budget)

    def tokens(self, places: Sequence[int]) -> int:
        return self.count(SEPARATOR.join(self.texts[i] for i in places)) if places else 0

    @cached_property
    def fitting_alone(self) -> list[int]:
        """The places of the nodes that fit at least alone."""
        return [i for i in range(len(self.texts)) if self.tokens([i]) <= self.budget]


def _printed(node: BaseNode) -> str:
    """Return a node as a prompt shows it; one of a sentence window with the window in its place.

    Such nodes are found by their sentence and read by their window, which a
    `MetadataReplacementPostProcessor` puts there behind this.
    """
    window = node.metadata.get(WINDOW)
    if isinstance(window, str) and ORIGINAL in node.metadata:
        node = node.model_copy(deep=True)
        node.set_content(window)
    return node.get_content(metadata_mode=MetadataMode.LLM)


def _share_of_text(context: clew.Context, prompt: _Prompt) -> int:
    """Return the part of the budget that is left for text, if metadata take as large a share."""
    text_tokens = sum(context.items[i].tokens for i in prompt.fitting_alone)
    return max(1, text_tokens * prompt.budget // prompt.tokens(prompt.fitting_alone))


def _fitting_together(context: clew.Context, prompt: _Prompt) -> list[int]:
    """Return the places of items that fit together.

    Items that do not fit alone go first, then those of the lowest prizes, bridges last.
    """
    items, remaining = context.items, list(prompt.fitting_alone)
    by_prize = sorted(remaining, key=lambda i: (items[i].role == "bridge", items[i].score, -i))
    for i in by_prize:
        if prompt.tokens(remaining) <= prompt.budget:
            break
        remaining.remove(i)
    return remaining


def _within_share(
    context: clew.Context, prompt: _Prompt, places: list[int], source_budget: int | None
) -> list[int]:
    """Return the places without the lowest prizes of a source that has more than its share."""
    if source_budget is None or context.source_budget is None:
        return places
    remaining = list(places)
    for i in sorted(places, key=lambda i: (context.items[i].score, -i)):
        source = context.items[i].source
        own = [j for j in remaining if context.items[j].source == source]
        if source is not None and prompt.tokens(own) > source_budget:
            remaining.remove(i)
    return remaining


def _with_items(
    context: clew.Context,
    places: Sequence[int],
    count: Callable[[str], int],
    options: QueryOptions,
) -> clew.Context:
    """Return the context of some of its items, rendered again as the recipe renders."""
    items = tuple(context.items[i] for i in places)
    removed = set(context.ids) - {item.id for item in items}
    render = getattr(clew.recipes.get(options.recipe), "render", clew.Render())
    text = _rendered(items, render)
    return replace(
        context,
        items=items,
        text=text,
        tokens=count(text) if text else 0,
        edges=tuple(edge for edge in context.edges if not {edge.tail, edge.head} & removed),
        value=float(sum(item.score for item in items)),
    )


def _rendered(items: Sequence[clew.Item], render: clew.Render) -> str:
    lines, previous_heading = list[str](), ""
    for number, item in enumerate(items, render.first):
        heading = item.heading if render.headings else ""
        if heading and heading != previous_heading:
            lines.append(f"# {heading}")
        lines.append(render.entry(item.text, number))
        previous_heading = heading
    return "\n".join(lines)
