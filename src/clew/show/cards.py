"""The items of a context as HTML: what each is, why it is there, its text and its neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from clew.items import Item
from clew.show.drawable import Drawable
from clew.show.escaping import escaped
from clew.show.neighbours import Neighbour, neighbours_of
from clew.show.paths import display_name, path_in_words, shorten
from clew.show.source_link import source_link
from clew.show.wording import role_of, share_in_words
from clew.text.spans import Span

MAX_TITLE = 60  # letters of a neighbour's title
MAX_BEYOND = 8  # items behind a name that are listed: a name of all items would fill the page
ALIGNED = re.compile(r"^(?: {2,}|\t|\|)\S?", re.MULTILINE)  # code and tables stand in columns
BUTTON = (  # the script shows it: without one it does nothing
    '<p class="actions"><button type="button" class="light" aria-pressed="false" hidden>'
    'Show its path<span class="spoken"> to item {rank}</span></button></p>'
)


def cards(context: Drawable, matches: Mapping[int, Span], folder: Path | None) -> Iterator[str]:
    """Yield an article of HTML for each item, in reading order.

    Args:
        context: The items and what joins them.
        matches: Where the sentence that matches the question stands, by the item's number.
        folder: The folder that the page will be in, which links to files start from.
    """
    near = neighbours_of(context)
    entries = {item.id: (rank, item) for rank, item in enumerate(context, 1)}
    names = {item.id: display_name(item) for item in context if item.role != "fact"}
    for rank, item in enumerate(context, 1):
        role = escaped(item.role)
        parts = [
            _heading(rank, item),
            f'<p class="note">{_numbers(item)}</p>',
            "" if item.role == "fact" else f'<p class="note place">{_place(item, folder)}</p>',
            f'<p class="why"><b>Why:</b> {escaped(path_in_words(item, names))}.</p>',
            "" if item.role == "fact" else _text(item, matches.get(rank)),
            BUTTON.format(rank=rank),
            _neighbours(near[item.id], entries),
        ]
        yield (
            f'<article id="item-{rank}" class="{role}" data-rank="{rank}" '
            f'data-id="{escape(item.id)}">{"".join(parts)}</article>'
        )


def _heading(rank: int, item: Item) -> str:
    role, words = escaped(item.role), role_of(item.role)
    return (
        f'<h3><span class="rank">{rank}</span> <bdi>{escaped(_title(item))}</bdi> '
        f'<span class="role {role}" title="{escaped(words.meaning)}">'
        f"{escaped(words.name)}</span></h3>"
    )


def _title(item: Item) -> str:
    """The title of an item; a fact is its own title."""
    return item.text if item.role == "fact" else display_name(item)


def _numbers(item: Item) -> str:
    relevance = ""
    if item.relevance is not None:
        relevance = f"relevance {escaped(share_in_words(item.relevance))} · "
    tokens = "1 token" if item.tokens == 1 else f"{item.tokens:,} tokens"
    return f"{relevance}prize {item.score:.3g} · {tokens}"


def _place(item: Item, folder: Path | None) -> str:
    """The location, as a link where it opens; the place in the text; the id where it is another."""
    place = escaped(item.location or item.id)
    address = source_link(item, folder)
    if address:
        place = (
            f'<a class="open" href="{escape(address)}" target="_blank" '
            f'rel="noopener noreferrer">{place}</a>'
        )
    if item.span:
        place += f", characters {item.span[0]:,} to {item.span[1]:,}"
    return place + (f" · {escaped(item.id)}" if item.location else "")


def _text(item: Item, match: Span | None) -> str:
    text = item.text
    if match is None:
        inner = escaped(text.strip())
    else:
        start, end = match
        inner = (
            f"{escaped(text[:start].lstrip())}<mark>{escaped(text[start:end])}</mark>"
            f"{escaped(text[end:].rstrip())}"
        )
    style = "text aligned" if ALIGNED.search(text) else "text"
    return f'<div class="{style}" dir="auto">{inner}</div>'


def _neighbours(near: Sequence[Neighbour], entries: Mapping[str, tuple[int, Item]]) -> str:
    if not near:
        return ""
    rows = "".join(
        f"<li>{escaped(one.words)} {_end(one.id, entries)}{_further(one.beyond)}</li>"
        for one in near
    )
    count = "1 neighbour" if len(near) == 1 else f"{len(near)} neighbours"
    return f'<details class="near"><summary>{count}</summary><ul>{rows}</ul></details>'


def _end(id: str, entries: Mapping[str, tuple[int, Item]]) -> str:
    if id not in entries:
        return f"<b><bdi>{escaped(display_name(id))}</bdi></b>"
    rank, item = entries[id]
    title = shorten(_title(item), MAX_TITLE)
    return f'<a href="#item-{rank}">{rank} · <bdi>{escaped(title)}</bdi></a>'


def _further(ranks: Sequence[int]) -> str:
    if not ranks:
        return ""
    links = ", ".join(f'<a href="#item-{rank}">{rank}</a>' for rank in ranks[:MAX_BEYOND])
    more = f" and {len(ranks) - MAX_BEYOND} more" if len(ranks) > MAX_BEYOND else ""
    return f" (joins item{'s' if len(ranks) > 1 else ''} {links}{more} too)"
