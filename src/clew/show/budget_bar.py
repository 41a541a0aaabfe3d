"""The budget as a bar: a segment for each item, what stands around them, and the free room."""

from __future__ import annotations

from typing import NamedTuple

from clew.show.drawable import Drawable
from clew.show.escaping import escaped
from clew.show.paths import display_name

MIN_LETTERED, MIN_ON_PHONE = 1.6, 5.0  # percent of the bar that a number needs


class BarSegment(NamedTuple):
    """A part of the bar: what it is, its tokens, its number or "", and its class."""

    name: str
    tokens: int
    number: str
    style: str


def bar_segments(context: Drawable) -> list[BarSegment]:
    """Return the segments of the bar: the items in reading order, headings and marks, free room.

    Their tokens add up to the budget, or, without one, to those of the context. Where the items
    have more by themselves than together, nothing stands around them.
    """
    segments = [
        BarSegment(display_name(item), item.tokens, str(rank), item.role)
        for rank, item in enumerate(context, 1)
    ]
    inside = sum(item.tokens for item in context)
    if context.tokens > inside:
        around = context.tokens - inside
        segments.append(BarSegment("headings and marks between the items", around, "", "around"))
    free = (context.budget or 0) - max(context.tokens, inside)
    if free > 0:
        segments.append(BarSegment("free", free, "", "free"))
    return [segment for segment in segments if segment.tokens > 0]


def budget_bar(context: Drawable) -> str:
    """Return the bar and the numbers below it as HTML; nothing where there is nothing to show."""
    segments = bar_segments(context)
    whole = sum(segment.tokens for segment in segments)
    if not whole:
        return ""
    parts, left = [], 0.0
    for segment in segments:
        share = 100 * segment.tokens / whole
        rank = f' data-rank="{segment.number}"' if segment.number else ""
        tight = ' class="tight"' if share < MIN_ON_PHONE else ""
        number = f'<text{tight} x="{left + share / 2:.2f}%" y="18">{segment.number}</text>'
        parts.append(
            f'<g class="{escaped(segment.style)}"{rank}>'
            f"<title>{escaped(segment.name)}: {segment.tokens:,} tokens</title>"
            f'<rect x="{left:.2f}%" width="{share:.2f}%" y="1" height="24"/>'
            f"{number if share >= MIN_LETTERED else ''}</g>"
        )
        left += share
    words = _in_words(context)
    return (
        f'<div class="budget"><svg class="bar" width="100%" height="26" role="img" '
        f'aria-label="{words}">{"".join(parts)}</svg><p class="note">{words}</p></div>'
    )


def _in_words(context: Drawable) -> str:
    if context.budget is None:
        return f"{context.tokens:,} tokens, without a budget"
    share = context.tokens / context.budget if context.budget else 1.0
    free = max(0, context.budget - context.tokens)
    return (
        f"{context.tokens:,} of {context.budget:,} tokens used ({share:.0%}), {free:,} tokens free"
    )
