"""What is printed below a context: its sources, and why every item is there."""

from __future__ import annotations

from typing import Any

from clew.context import Context
from clew.index.index import Index
from clew.show import location_of, path_in_words

LONGEST_NOTE = 300
LEFT_OUT = 10  # lines for what was dropped, unless there are hardly more


def sources(context: Context, index: Index) -> str:
    """Return one line per item: its number, its file, lines and headings, its tokens; above them what the whole takes of the budget."""
    texts = {document.id: document.text for document in index.documents}
    used = (
        f"{context.tokens:,} tokens"
        if context.budget is None
        else f"{context.tokens:,} of {context.budget:,} tokens"
    )
    lines = [f"sources: {len(context)} {'item' if len(context) == 1 else 'items'}, {used}"]
    if not len(context) and not fallbacks(context):
        lines.append(
            "  nothing in it touches the question; try other words or another recipe (`clew recipes`)"
        )
    lines += [
        f"{number:>4}  {location_of(item, texts)}  ({item.tokens:,} tokens)"
        for number, item in enumerate(context, 1)
    ]
    return "\n".join(lines)


def fallbacks(context: Context) -> list[str]:
    """Return what a stage did in the place of what it should have done, as the trace records it, each once."""
    return list(
        dict.fromkeys(
            str(step.notes["fallback"]) for step in context.trace if "fallback" in step.notes
        )
    )


def explained(context: Context) -> str:
    """Return, in plain words, the role, score and way of every item, what was left out and why, and the time of every stage."""
    lines = ["why:"] if len(context) else ["why: there are no items"]
    for number, item in enumerate(context, 1):
        group = f", read as one with group {item.group}" if item.group else ""
        lines += [
            f"{number:>4}  {item.role}{group}, score {item.score:.3f}  {_line(item.id)}",
            f"        {_line(path_in_words(item))}",
        ]
    if context.dropped:
        most = len(context.dropped) if len(context.dropped) <= LEFT_OUT + 2 else LEFT_OUT
        lines += ["", f"left out: {len(context.dropped)}"]
        lines += [
            f"      {_line(dropped.id)}: {_line(dropped.reason)}"
            for dropped in context.dropped[:most]
        ]
        if most < len(context.dropped):
            lines.append(f"      and {len(context.dropped) - most} more (--json has all)")
    if context.missing:
        lines += [
            "",
            "could not be joined:",
            *(f"      {_line(one)} and {_line(other)}" for one, other in context.missing),
        ]
    lines += ["", "stages:"]
    for step in context.trace:
        notes = ", ".join(f"{name} {_short(value)}" for name, value in step.notes.items())
        lines.append(
            f"{1000 * step.seconds:>9.1f} ms  {_line(step.stage)}{': ' if notes else ''}{_line(notes)}"
        )
    if context.bound is not None and context.gap is not None:
        lines.append(
            f"worth {context.value:.3f} of at most {context.bound:.3f}: within {context.gap:.1%} of the best possible"
        )
    return "\n".join(lines)


def _short(value: Any) -> Any:
    """A long list by its length alone (--json has all of it)."""
    return (
        f"({len(value)} in all)"
        if isinstance(value, (list, tuple)) and len(str(value)) > LONGEST_NOTE
        else value
    )


def _line(text: str) -> str:
    return " ".join(text.split())
