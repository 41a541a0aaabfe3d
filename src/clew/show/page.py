"""A context as one page of HTML that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from clew.items import Item
from clew.show.drawable import Drawable
from clew.show.network import network_to_draw
from clew.show.paths import display_name, path_in_words
from clew.show.style import STYLE
from clew.show.svg import to_svg

ROLES = {
    "seed": "the question touches it",
    "expansion": "the links lead to it",
    "bridge": "it joins others",
    "fact": "a fact that is stated",
    "report": "a report on a community",
    "fill": "fills the wanted number",
}


def to_html(context: Drawable, *, max_edges: int = 60) -> str:
    """Return a page that shows a context.

    It has the question, a drawing of the paths, the items in reading order, what was left out, and
    the time of each stage.

    Args:
        context: What to show.
        max_edges: How many edges beside the paths are drawn at most, the strongest first. The page
            says how many were left out.

    Returns:
        The page.

    Example:
        >>> from clew.context import Context
        >>> from clew.items import Hop, Item
        >>> path = (Hop("question", "touches", "oars", weight=0.9),)
        >>> item = Item("oars", "Oars are of ash.", 0.7, "seed", "passage", 5, why=path)
        >>> page = to_html(Context((item,), item.text, 5, None, "What are oars of?", "dense"))
        >>> "Why: the question touches it (0.90)." in page
        True
    """
    network, left_out = network_to_draw(context, max_edges)
    note = f"<p class='note'>{left_out} weaker edges are not drawn.</p>" if left_out else ""
    stages = [
        (step.stage, f"{1000 * step.seconds:.1f} ms, {_notes_in_words(step.notes)}")
        for step in context.trace
    ]
    parts = [
        f"<header><h1>{escape(context.question)}</h1>{_summary(context)}</header>",
        f"<figure>{to_svg(network)}{note}{_legend({item.role for item in context})}</figure>",
        *(_article(rank, item) for rank, item in enumerate(context, 1)),
        _table("Left out", [(dropped.id, dropped.reason) for dropped in context.dropped]),
        _table("Could not be joined", context.missing),
        _table("Stages", stages),
        _folded("The text as a language model reads it", f"<pre>{escape(context.text)}</pre>"),
    ]
    body = "\n".join(part for part in parts if part)
    title = f"<title>{escape(context.question)}</title>"
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<head><meta charset="utf-8">{viewport}{title}<style>{STYLE}</style></head>'
    return f'<!doctype html>\n<html lang="en">{head}<body><main>\n{body}\n</main></body></html>\n'


def _summary(context: Drawable) -> str:
    budget = "" if context.budget is None else f" of {context.budget:,}"
    proof = (
        ""
        if context.gap is None
        else f" · proven within {context.gap:.1%} of the best connected page"
    )
    return (
        f"<p>{len(context)} items · {context.tokens:,}{budget} tokens{proof}</p>"
        f"<p class='method'>{escape(context.method)}</p>"
    )


def _legend(roles: set[str]) -> str:
    """The roles that occur, each with its colour and meaning."""
    spans = "".join(
        f"<span class='role {role}'>{role}</span> {escape(meaning)} "
        for role, meaning in ROLES.items()
        if role in roles
    )
    return f"<figcaption>{spans}</figcaption>"


def _article(rank: int, item: Item) -> str:
    role = escape(item.role)
    place = escape(item.location or item.id)
    if item.span:
        place += f", characters {item.span[0]:,} to {item.span[1]:,}"
    id = f" · {escape(item.id)}" if item.location else ""
    return (
        f"<article id='item-{rank}' class='{role}'>"
        f"<h2><span class='rank'>{rank}</span> {escape(display_name(item))} "
        f"<span class='role {role}'>{role}</span></h2>"
        f"<p class='note'>{place}{id} · prize {item.score:.3f}"
        f" · {item.tokens} tokens</p>"
        f"<p class='path'>Why: {escape(path_in_words(item))}.</p>"
        f"<pre>{escape(item.text.strip())}</pre></article>"
    )


def _table(title: str, pairs: Sequence[tuple[str, str]]) -> str:
    """A folded table of two columns; nothing where it has no rows."""
    if not pairs:
        return ""
    rows = "".join(
        f"<tr><td>{escape(left)}</td><td>{escape(right)}</td></tr>" for left, right in pairs
    )
    return _folded(f"{title} ({len(pairs)})", f"<table>{rows}</table>")


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>{content}</details>"


def _notes_in_words(notes: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in notes.items())
