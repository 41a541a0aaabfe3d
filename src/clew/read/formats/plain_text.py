"""The outline of plain text, which has no markup: a blank line ends a paragraph.

What stands above indented text is its heading (`indented_text`).
"""

from __future__ import annotations

from clew.read.formats.indented_text import outline_by_indentation
from clew.read.formats.messages import messages_in
from clew.read.formats.outline import Block, Outline, Share
from clew.text.spans import paragraphs

LONG = 1 / 2  # of a passage: an entry
MAX_LONG = 0.02  # of the entries


def outline(text: str, share: Share | None = None) -> Outline:
    """Return the paragraphs of a text and their messages, or what its indentation shows."""
    parts = outline_by_indentation(text)
    return Outline(parts or tuple(paragraph_block(text, *span, share) for span in paragraphs(text)))


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
