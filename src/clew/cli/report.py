"""What is printed of a context: an answer, its sources, and why every item is there."""

from __future__ import annotations

from clew.cli.links import print_with_links
from clew.cli.terminal import print_piece, print_result
from clew.context import Context
from clew.conversation import Conversation
from clew.index.answer import NOTHING_TOUCHED
from clew.index.index import Index
from clew.items import Dropped, Item
from clew.show import path_in_words

MAX_NOTE = 300  # characters of a list in a note
MAX_DROPPED = 10  # lines on what was left out, unless there are hardly more


def print_sources(context: Context) -> None:
    """Print the size of the context, and a line for each item.

    A line has the item's number, where it is to be opened, its headings, and its tokens. Below what
    links lead to stands the path.
    """
    budget = "" if context.budget is None else f" of {context.budget:,}"
    items = "item" if len(context) == 1 else "items"
    print_result(f"sources: {len(context)} {items}, {context.tokens:,}{budget} tokens")
    for number, item in enumerate(context, 1):
        print_with_links(f"{number:>4}  ", item, f"  ({item.tokens:,} tokens)")
        _print_path(item, indent=6)


def print_answer(question: str, conversation: Conversation) -> None:
    """Print the answer as it is written, and what it cites.

    Raises:
        ModelError: The model failed.
    """
    try:
        for piece in conversation.ask(question):
            print_piece(piece)
    finally:
        print_result()
    for number, item in conversation.turns[-1].sources.items():
        print_with_links(f"[{number}] ", item)
        _print_path(item, indent=4)


def _print_path(item: Item, indent: int) -> None:
    """Print the path to what links alone lead to: it need not look like the question."""
    if len(item.why) > 1:
        print_result(f"{' ' * indent}{_on_one_line(path_in_words(item))}")


def rejects_all(context: Context) -> bool:
    """Return whether the question's filter allowed nothing, so that no stage was run."""
    return any(step.stage == "filter" for step in context.trace)


def nothing_in_words(context: Context, index: Index | None) -> str:
    """Return why nothing was found, and what to do; an index in a database is None."""
    if rejects_all(context):
        if index is None:
            return str(context.nothing_found)
        keys = sorted({str(key) for document in index.documents for key in document.metadata})
        return f"{context.nothing_found}; its metadata has {', '.join(keys) or 'no keys'}"
    if context.nothing_found == NOTHING_TOUCHED:
        return f"{context.nothing_found}; try other words or another recipe (`clew recipes`)"
    return f"{context.nothing_found}; --min-relevance 0 shows what is nearest"


def explanation(context: Context) -> str:
    """Return in plain words why the context is as it is.

    It has the role, score and path of every item, what was left out and why, and the time of every
    stage.
    """
    lines = _items_in_words(context)
    lines += _dropped_in_words(context)
    if context.missing:
        lines += ["", "could not be joined:"]
        lines += [
            f"      {_on_one_line(first)} and {_on_one_line(second)}"
            for first, second in context.missing
        ]
    lines += ["", "stages:"]
    for step in context.trace:
        notes = ", ".join(f"{name} {_short_note(value)}" for name, value in step.notes.items())
        colon = ": " if notes else ""
        stage = _on_one_line(step.stage)
        lines.append(f"{1000 * step.seconds:>9.1f} ms  {stage}{colon}{_on_one_line(notes)}")
    if context.bound is not None and context.gap is not None:
        lines.append(
            f"prizes of {context.value:.3f}; no connected page within the budget has more than "
            f"{context.bound:.3f} (this one: {context.gap:.1%} below it)"
        )
    return "\n".join(lines)


def _items_in_words(context: Context) -> list[str]:
    lines = ["why:"] if len(context) else ["why: there are no items"]
    for number, item in enumerate(context, 1):
        group = f", read as one with group {item.group}" if item.group else ""
        about = f"{item.role}{group}, score {item.score:.3f}"
        place = f"  ({item.location})" if item.location not in ("", item.id) else ""
        lines += [
            f"{number:>4}  {about}  {_on_one_line(item.id)}{place}",
            f"        {_on_one_line(path_in_words(item))}",
        ]
    return lines


def _dropped_in_words(context: Context) -> list[str]:
    count = len(context.dropped)
    if not count:
        return []
    shown = count if count <= MAX_DROPPED + 2 else MAX_DROPPED
    lines = ["", f"left out: {count}"]
    lines += [
        f"      {_on_one_line(dropped.id)}: {_on_one_line(dropped.reason)}{_beginning(dropped)}"
        for dropped in context.dropped[:shown]
    ]
    if shown < count:
        lines.append(f"      and {count - shown} more (--json has all)")
    return lines


def _beginning(dropped: Dropped) -> str:
    """On a line of its own, what was left out begins with."""
    return f"\n        {_on_one_line(dropped.title)}" if dropped.title else ""


def _short_note(value: object) -> object:
    """A long list by its length alone; --json has all of it."""
    if isinstance(value, (list, tuple)) and len(str(value)) > MAX_NOTE:
        return f"({len(value)} in all)"
    return value


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
