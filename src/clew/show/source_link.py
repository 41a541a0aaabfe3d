"""Where the source of an item opens: an address on the web, or a file beside the page."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote, urlsplit

from clew.items import Item

ADDRESS_KEYS = ("url", "source_url", "source", "link")  # of metadata, the first with an address
FILE_KEYS = ("path", "file_path", "source")  # of metadata, the first that names a file
SCHEMES = ("http", "https")


def source_link(item: Item, folder: Path | None = None) -> str:
    """Return the address where the source of an item opens, or "".

    An address of the web is taken from the metadata as it is. A file has an address relative to the
    folder of the page, with its page or anchor; its own folder is not told.

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
    if folder is None:
        return ""
    for key in FILE_KEYS:
        value = item.metadata.get(key)
        if isinstance(value, str) and (address := _file_address(value, folder)):
            return address + _fragment(item)
    return ""


def _is_web_address(text: str) -> bool:
    if not text.isprintable() or any(sign in text for sign in " \\\"'<>"):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in SCHEMES and bool(parts.hostname)
    except ValueError:
        return False


def _file_address(name: str, folder: Path) -> str:
    """Return the address of a file as seen from a folder; "" where there is no such file."""
    try:
        if not Path(name).is_file():
            return ""
        relative = os.path.relpath(Path(name).resolve(), folder.resolve())
        return "./" + quote(Path(relative).as_posix())
    except (OSError, ValueError):  # no name of a file here, or one on another drive
        return ""


def _fragment(item: Item) -> str:
    if item.page is not None:
        return f"#page={item.page}"
    return f"#{quote(item.anchor)}" if item.anchor else ""
