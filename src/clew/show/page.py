"""A context as one page of HTML that needs nothing else: no network, and no script to be read."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path

from clew.show.budget_bar import budget_bar
from clew.show.cards import cards
from clew.show.drawable import Drawable
from clew.show.drawing import Drawing, drawing_of
from clew.show.escaping import escaped
from clew.show.highlight import matching_spans
from clew.show.notes import notes
from clew.show.svg import to_svg
from clew.show.wording import role_of

MIN_SCALE = 0.82  # of the drawing on a narrow screen


def to_html(context: Drawable, *, max_edges: int = 24, folder: Path | None = None) -> str:
    """Return a page that shows a context.

    It has the question, the budget, a drawing of the paths, the items in reading order with the
    sentence that matches, what was left out and why, and the time of each stage. A script on the
    page lights paths, searches and jumps; without it all is there to be read. Nothing is loaded.

    Args:
        context: What to show.
        max_edges: How many edges beside the paths are drawn at most, the strongest first. The page
            says how many were left out, and every item lists all of its neighbours.
        folder: The folder that the page will be in: files that were read are linked from there.
            Without one, only addresses of the web are.

    Returns:
        The page.

    Example:
        >>> from clew.context import Context
        >>> from clew.items import Hop, Item
        >>> path = (Hop("question", "touches", "oars", weight=0.9),)
        >>> item = Item("oars", "Oars are of ash.", 0.7, "seed", "passage", 5, why=path)
        >>> page = to_html(Context((item,), item.text, 5, None, "What are oars of?", "dense"))
        >>> "the question touches it (0.90)." in page
        True
    """
    matches = matching_spans(context)
    drawing = drawing_of(context, max_edges, matches)
    items = "\n".join(cards(context, matches, folder))
    body = [
        _header(context),
        _figure(drawing) if len(context) else _nothing(context),
        '<div class="columns">',
        f'<section class="items" aria-label="Items">{_count(context)}{items}</section>'
        if items
        else "",
        f'<aside aria-label="About this context">{"".join(notes(context))}</aside>',
        "</div>",
    ]
    title = escaped(" ".join(context.question.split())) or "A context"
    main = "\n".join(part for part in body if part)
    return (
        f'<!doctype html>\n<html lang="en"><head>{_head(title, drawing)}</head>'
        f"<body><main>\n{main}\n</main>\n<script>{_asset('page.js')}</script></body></html>\n"
    )


def _head(title: str, drawing: Drawing) -> str:
    """The title, the style, and a policy that allows nothing but this style and this script."""
    min_width = MIN_SCALE * drawing.placed.width  # smaller letters are hard to read: it scrolls
    style = f"{_asset('page.css')}\nsvg.drawing {{ min-width: {min_width:.0f}px; }}"
    policy = (
        f"default-src 'none'; style-src '{digest(style)}'; script-src "
        f"'{digest(_asset('page.js'))}'; base-uri 'none'; form-action 'none'"
    )
    return (
        '<meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style>"
    )


def _header(context: Drawable) -> str:
    count = "1 item" if len(context) == 1 else f"{len(context)} items"
    proof = (
        ""
        if context.gap is None
        else f" · proven within {context.gap:.1%} of the best connected page"
    )
    question = escaped(context.question) or "No question"
    search = (
        '<p class="search" hidden><label for="search">Search</label> '
        '<input id="search" type="search" autocomplete="off" spellcheck="false"> '
        '<output id="found" for="search" aria-live="polite"></output></p>'
    )
    return (
        f'<header><p class="note">The question</p><h1 dir="auto">{question}</h1>'
        f'<p class="note">{count} to read{proof}</p>{budget_bar(context)}'
        f"{search if len(context) else ''}</header>"
    )


def _figure(drawing: Drawing) -> str:
    left_out = (
        f'<p class="note">{drawing.left_out} weaker edges are not drawn.</p>'
        if drawing.left_out
        else ""
    )
    roles = dict.fromkeys(box.role for box in drawing.boxes if box.role != "question")
    return (
        '<figure><div class="scroll" role="region" tabindex="0" aria-label="The drawing">'
        f"{to_svg(drawing)}</div>{left_out}<figcaption>{_legend(roles)}</figcaption></figure>"
    )


def _legend(roles: Iterable[str]) -> str:
    """The roles that occur with their meaning, and how to read lines, boxes and numbers."""
    spans = "".join(
        f'<li><span class="role {escaped(role)}">{escaped(role_of(role).name)}</span> '
        f"{escaped(role_of(role).meaning)}</li>"
        for role in roles
    )
    return (
        f'<ul class="legend">{spans}</ul>'
        "<p>Solid lines are the paths from the question to the items, dashed lines are other "
        "links. A line is wider the stronger the link is, from 0 to 1. A box has more colour "
        "the higher its prize is: what the method holds it to be worth for this question. "
        "Relevance says how well an item answers by itself, from 0 to 1. A token is a word or a "
        "piece of one, as a language model counts.</p>"
    )


def _nothing(context: Drawable) -> str:
    reason = escaped(context.nothing_found) or "no item was selected"
    reason = reason[0].upper() + reason[1:]
    return f'<section class="note-box nothing"><h2>Nothing was found</h2><p>{reason}.</p></section>'


def _count(context: Drawable) -> str:
    return f'<h2 class="items-title">What is read, in this order ({len(context)})</h2>'


@cache
def _asset(name: str) -> str:
    """Return a file of this package."""
    return files("clew.show").joinpath(name).read_text(encoding="utf-8").strip()


def digest(text: str) -> str:
    """Return the hash by which a policy allows a script or a style."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
