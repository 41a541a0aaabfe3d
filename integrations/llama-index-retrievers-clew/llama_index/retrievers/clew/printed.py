"""The budget holds for what a response synthesizer prints: the text of each node with the metadata that its templates show a model.

clew counts the page that it renders itself, on which no metadata stands. Where the framework's page is longer than the budget, the
question is asked again with less room; what still does not fit is left out, as the last step of the trace says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from llama_index.core.schema import MetadataMode, NodeWithScore

import clew

BETWEEN = "\n\n"  # what synthesizers and chat engines put between two nodes
ATTEMPTS = 3  # a part of the room for metadata is a guess: so often is it made anew


def within(
    ask: Callable[[int | None], clew.Context],
    nodes: Callable[[clew.Context], list[NodeWithScore]],
    count: Callable[[str], int],
    budget: int | None,
    recipe: Any,
) -> clew.Context:
    """Return the context whose nodes are printed within the budget.

    Args:
        ask: budget -> context. nodes: context -> its nodes, one for each item, in their order. count: the tokenizer.

    Raises:
        BudgetError: not one of the chosen nodes fits with its metadata.
    """
    context = ask(budget)
    if budget is None or not len(context):
        return context
    pages = _Pages(_seen(nodes(context)), count, budget)
    first, rooms = pages.size(range(len(context))), list[int]()
    if first <= budget:
        return context
    while len(rooms) < ATTEMPTS and pages.size(pages.able) > budget:
        room = sum(context.items[i].tokens for i in pages.able) * budget // pages.size(pages.able)
        try:
            smaller = ask(max(1, room))
        except clew.BudgetError:
            break
        if not len(smaller):
            break
        rooms.append(room)
        context, pages = smaller, _Pages(_seen(nodes(smaller)), count, budget)
    kept = _fitting(context, pages)
    if not kept:
        least = min(pages.size([i]) for i in range(len(context)))
        raise clew.BudgetError(
            f"a budget of {budget} tokens holds none of the chosen nodes as a prompt shows them, with their metadata (the smallest takes "
            f"{least}); give a larger budget, or name in excluded_llm_metadata_keys what no model needs to read"
        )
    out = [item.id for i, item in enumerate(context) if i not in kept]
    context = replace(context, budget=budget)
    context = _only(context, kept, count, recipe) if out else context
    notes = {
        "tokens": pages.size(kept),
        "at first": first,
        "asked again with": tuple(rooms),
        "left out": tuple(out),
    }
    return replace(context, trace=(*context.trace, clew.Step("printed with metadata", 0.0, notes)))


@dataclass(frozen=True)
class _Pages:
    """The nodes' printed texts, and how much some of them take together."""

    texts: Sequence[str]
    count: Callable[[str], int]
    budget: int

    def size(self, some: Sequence[int]) -> int:
        return self.count(BETWEEN.join(self.texts[i] for i in some)) if some else 0

    @cached_property
    def able(self) -> list[int]:
        """Those that fit at least alone."""
        return [i for i in range(len(self.texts)) if self.size([i]) <= self.budget]


def _seen(nodes: Sequence[NodeWithScore]) -> list[str]:
    return [one.node.get_content(metadata_mode=MetadataMode.LLM) for one in nodes]


def _fitting(context: clew.Context, pages: _Pages) -> list[int]:
    """The items that fit together: without those that do not even alone, then without the lowest prizes, bridges last."""
    items, kept = context.items, list(pages.able)
    for i in sorted(pages.able, key=lambda i: (items[i].role == "bridge", items[i].score, -i)):
        if pages.size(kept) <= pages.budget:
            break
        kept.remove(i)
    return kept


def _only(
    context: clew.Context, kept: Sequence[int], count: Callable[[str], int], recipe: Any
) -> clew.Context:
    """The context of some of its items, rendered again as the recipe renders."""
    items = tuple(context.items[i] for i in kept)
    gone = set(context.ids) - {item.id for item in items}
    text = _rendered(items, getattr(clew.recipes.get(recipe), "render", clew.Render()))
    return replace(
        context,
        items=items,
        text=text,
        tokens=count(text),
        edges=tuple(tie for tie in context.edges if not {tie.tail, tie.head} & gone),
        value=float(sum(item.score for item in items)),
    )


def _rendered(items: Sequence[clew.Item], render: clew.Render) -> str:
    lines, above = [], ""
    for number, item in enumerate(items, render.first):
        heading = item.heading if render.headings else ""
        if heading and heading != above:
            lines.append(f"# {heading}")
        lines.append({"numbered": f"[{number}] ", "plain": ""}.get(render.style, "- ") + item.text)
        above = heading
    return "\n".join(lines)
