"""The outline of plain text, which has no markup: a blank line ends a paragraph.

What stands above indented text is its heading (`indented_text`), and so is a line by itself that
looks like one (`headed_text`). Settings that do not fit into a passage are cut by what they are in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clew.read.formats.headed_text import headings_in
from clew.read.formats.indented_text import outline_by_indentation
from clew.read.formats.messages import messages_in
from clew.read.formats.outline import Block, Close, Heading, Outline, Share
from clew.text.spans import paragraphs, trim_span

if TYPE_CHECKING:
    from clew.text.settings import Setting

LONG = 1 / 2  # of a passage: an entry
MAX_LONG = 0.02  # of the entries


def outline(text: str, share: Share | None = None) -> Outline:
    """Return the headings, paragraphs and messages of a text, or what its indentation shows."""
    if share is not None and share(0, len(text)) > 1:
        from clew.text.settings import (
            settings_in,  # which few texts need: others fit into a passage
        )

        if settings := settings_in(text, 0, len(text)):
            return Outline(tuple(_parts_of_settings(text, settings, share)))
    return Outline(outline_by_indentation(text) or tuple(_parts(text, share)))


def _parts_of_settings(
    text: str, settings: Sequence[Setting], share: Share
) -> Sequence[Heading | Block | Close]:
    """Return the sections and keys that settings are in as headings, and the settings."""
    from clew.read.formats.statements import Statement, outline_parts

    def statements(among: Sequence[Setting]) -> list[Statement]:
        return [
            Statement(one.start, one.end, one.name or None, statements(one.children))
            for one in among
        ]

    return outline_parts(text, statements(settings), share)


def _parts(text: str, share: Share | None) -> Iterator[Heading | Block]:
    begin = 0
    for heading in headings_in(text):
        yield from blocks_in(text, begin, heading.start, share)
        yield heading
        begin = heading.end
    yield from blocks_in(text, begin, len(text), share)


def blocks_in(text: str, begin: int, end: int, share: Share | None) -> Iterator[Block]:
    """Yield the paragraphs of text[begin:end], each as `paragraph_block` has it."""
    start, end = trim_span(text, begin, end)
    for first, last in paragraphs(text[start:end]) if start < end else ():
        yield paragraph_block(text, start + first, start + last, share)


def paragraph_block(text: str, start: int, end: int, share: Share | None) -> Block:
    """Return a paragraph, with its messages or entries where it is a row of them.

    Where the entries are long, passages that end between two would be half empty.

    Args:
        text: The text.
        start: Where the paragraph starts.
        end: Where it ends.
        share: As `Format.outline` takes it; None where sizes do not matter.
    """
    messages = messages_in(text, start, end, share)
    if messages or share is None or share(start, end) <= 1:
        return Block(start, end, "list", messages) if messages else Block(start, end)
    from clew.text.entries import entries_in  # which few texts need: others fit into a passage

    entries = [] if messages_in(text, start, end) else entries_in(text, start, end)
    n_long = sum(share(*entry) > LONG for entry in entries)
    if not entries or n_long > MAX_LONG * len(entries):
        return Block(start, end)
    return Block(start, end, "list", tuple(Block(*entry) for entry in entries))


def find_links(text: str) -> tuple[str, ...]:  # noqa: ARG001  # whatever it says
    """Return no link targets: plain text has no markup."""
    return ()
