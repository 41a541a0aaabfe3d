"""What stands beside the items as HTML: what was left out and why, the stages, the text as read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clew.items import Dropped, Step
from clew.show.drawable import Drawable
from clew.show.escaping import escaped
from clew.show.paths import display_name

MAX_OPEN = 8  # rows of a list that is not folded


def notes(context: Drawable) -> Iterator[str]:
    """Yield the sections beside the items; one without content is left out."""
    if context.dropped:
        rows = [(_named(dropped), dropped.reason) for dropped in context.dropped]
        yield _list("Left out", rows, "was selected and is not read")
    elif len(context):
        yield (
            '<section class="note-box"><h2>Left out</h2>'
            '<p class="note">Nothing that was selected was left out.</p></section>'
        )
    if context.missing:
        pairs = [(display_name(one), display_name(other)) for one, other in context.missing]
        yield _list("Could not be joined", pairs, "no path of links between both")
    if context.trace:
        yield _stages(context.trace)
    if context.method:
        yield _folded("The method", f"<pre tabindex='0'>{escaped(context.method)}</pre>")
    if context.text:
        yield _folded(
            "The text as a language model reads it",
            f"<pre tabindex='0' dir='auto'>{escaped(context.text)}</pre>",
        )


def _named(dropped: Dropped) -> str:
    """The id of what was left out, and what it begins with."""
    name = display_name(dropped.id)
    return f"{name}: {dropped.title}" if dropped.title else name


def _list(title: str, rows: Sequence[tuple[str, str]], meaning: str) -> str:
    """A list of pairs with its title and size; what is beyond the first rows is folded."""
    shown = len(rows) if len(rows) <= MAX_OPEN + 2 else MAX_OPEN
    more = ""
    if shown < len(rows):
        more = _folded(f"{len(rows) - shown} more", _pairs(rows[shown:]))
    return (
        f'<section class="note-box"><h2>{title} ({len(rows)})</h2>'
        f'<p class="note">{meaning}</p>{_pairs(rows[:shown])}{more}</section>'
    )


def _pairs(rows: Sequence[tuple[str, str]]) -> str:
    lines = "".join(
        f"<dt><bdi>{escaped(name)}</bdi></dt><dd><bdi>{escaped(reason)}</bdi></dd>"
        for name, reason in rows
    )
    return f"<dl>{lines}</dl>"


def _stages(trace: Sequence[Step]) -> str:
    """The stages with their times, folded; the parameters of each below its name."""
    rows = "".join(
        f"<tr><th scope='row'>{escaped(step.stage.partition('(')[0])}</th>"
        f"<td class='number'>{1000 * step.seconds:.1f} ms</td>"
        f"<td>{escaped(_in_words(step.notes))}</td></tr>"
        f"<tr><td colspan='3' class='parameters'>{escaped(step.stage)}</td></tr>"
        for step in trace
    )
    head = (
        "<thead><tr><th scope='col'>Stage</th><th scope='col'>Time</th>"
        "<th scope='col'>What it did</th></tr></thead>"
    )
    total = 1000 * sum(step.seconds for step in trace)
    table = f"<table>{head}<tbody>{rows}</tbody></table>"
    return _folded(f"Stages ({len(trace)}, {total:.1f} ms)", f"<div class='scroll'>{table}</div>")


def _folded(title: str, content: str) -> str:
    return f"<details class='note-box'><summary>{title}</summary>{content}</details>"


def _in_words(notes: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in notes.items())
