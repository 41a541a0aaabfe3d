"""Where the source of an item opens: an address on the web, or a file beside the page."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

from clew.items import Item

ADDRESS_KEYS = ("url", "source_url", "source", "link")  # of metadata, the first with an address
FILE_KEYS = ("path", "file_path", "source")  # of metadata, the first that names a file
SCHEMES = ("http", "https")


def source_link(item: Item, folder: Path | None = None) -> str:
    """Return the address where the source of an item opens, or "".

    An address of the web is taken from the metadata as it is. A file has an address relative to the
    folder of the page, with its page or anchor; the address does not show where that folder is.

    Args:
        item: An item of a context.
        folder: The folder that the page is in; without one no file has an address.

    Example:
        >>> sea = Item("sea", "Salt.", 1.0, "seed", "passage", 2, metadata={"url": "https://sea.org"})
        >>> source_link(sea)
        'https://sea.org'
        >>> hostile = {"url": "javascript:alert(1)"}
        >>> source_link(Item("sea", "Salt.", 1.0, "seed", "passage", 2, metadata=hostile))
        ''
    """
    for key in ADDRESS_KEYS:
        value = item.metadata.get(key)
        if isinstance(value, str) and _is_web_address(value):
            return value
    file = None if folder is None else file_of(item)
    if folder is None or file is None:
        return ""
    try:
        relative = os.path.relpath(file.resolve(), folder.resolve())
    except (OSError, ValueError):  # one on another drive
        return ""
    name = os.fsencode(Path(relative).as_posix())  # also one that is not UTF-8
    return "./" + quote(name) + fragment_of(item)


def file_of(item: Item) -> Path | None:
    """Return the file that an item is from; None where its metadata name no file that is there.

    Example:
        >>> file_of(Item("sea", "Salt.", 1.0, "seed", "passage", 2)) is None
        True
    """
    for key in FILE_KEYS:
        name = item.metadata.get(key)
        with suppress(OSError, ValueError):  # no name of a file here
            if isinstance(name, str) and Path(name).is_file():
                return Path(name)
    return None


def fragment_of(item: Item) -> str:
    """Return the place in its file as an address has it: the page or the anchor, or "".

    Example:
        >>> fragment_of(Item("sea", "Salt.", 1.0, "seed", "passage", 2, page=3))
        '#page=3'
    """
    if item.page is not None:
        return f"#page={item.page}"
    return f"#{quote(item.anchor)}" if item.anchor else ""


def _is_web_address(text: str) -> bool:
    if not text.isprintable() or any(sign in text for sign in " \\\"'<>"):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in SCHEMES and bool(parts.hostname)
    except ValueError:
        return False
