"""Places in files as a terminal shows them: text, and where it can, a link that opens."""

from __future__ import annotations

import sys

from clew.cli.terminal import show_controls
from clew.items import Item
from clew.show import location_of
from clew.show.source_link import file_of, fragment_of, source_link

LINK = "\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"
"""The hyperlink of terminals, OSC 8; what knows none shows the text alone."""


def linked_place(item: Item, *, links: bool | None = None) -> str:
    """Return where an item is to be opened, such as "guide.md:15-16 > Boats".

    Args:
        item: An item of a context.
        links: Whether it is a link to its file, where there is one. None: where a terminal reads
            it.

    Example:
        >>> linked_place(Item("a.md", "Oars are of ash.", 0.7, "seed", "passage", 5), links=True)
        'a.md'
    """
    text = show_controls(location_of(item))
    address = address_of(item)
    is_shown = sys.stdout.isatty() if links is None else links
    return LINK.format(address=address, text=text) if address and is_shown else text


def print_with_links(before: str, item: Item, behind: str = "") -> None:
    """Write a line with the place of an item to stdout."""
    sys.stdout.write(f"{before}{linked_place(item)}{behind}\n")


def address_of(item: Item) -> str:
    """Return where an item opens: on the web, or its file at its anchor, page or line; or ""."""
    if address := source_link(item):
        return address
    file = file_of(item)
    if file is None:
        return ""
    line = f"#L{item.lines[0]}" if item.lines else ""
    return f"{file.resolve().as_uri()}{fragment_of(item) or line}"
