"""An index in a database or a storage, in the place of a folder, and several in that of one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from clew.index.index import Index
from clew.index.saving import is_remote
from clew.storage.address import is_storage, without_password

if TYPE_CHECKING:
    from clew.index.config import IndexKeywords
    from clew.remote import RemoteIndex
    from clew.sharded import ShardedIndex


def place_of_index(text: str) -> Path | str:
    """Return the folder that is named, or the address of a database or a storage as it is.

    Example:
        >>> place_of_index("postgresql://host/db?index=handbook")
        'postgresql://host/db?index=handbook'
    """
    return text if is_remote(text) or is_storage(text) else Path(text)


def shown(place: Path | str) -> str:
    """Return a place as it is printed: no password is.

    Example:
        >>> shown("postgresql://anna:secret@host/db?index=handbook")
        'postgresql://anna:***@host/db?index=handbook'
    """
    return str(place) if isinstance(place, Path) else without_password(place)


def open_remote(options: argparse.Namespace) -> AbstractContextManager[RemoteIndex]:
    """Return the index at the address `options.source`, open.

    Raises:
        ValueError: There is none.
    """
    from clew.remote import RemoteIndex

    try:
        return RemoteIndex.open(options.source, embedder=options.embedder)
    except KeyError as error:
        made = f"clew index FOLDER -o '{shown(options.source)}'"
        raise ValueError(f"{error.args[0]}, as `{made}` does") from error


def open_several(options: argparse.Namespace) -> AbstractContextManager[ShardedIndex]:
    """Return the indexes in the folders and at the addresses `options.source` as one, open."""
    from clew.sharded import ShardedIndex

    keywords: IndexKeywords = {} if options.embedder is None else {"embedder": options.embedder}
    return ShardedIndex.open(options.source, **keywords)


def update_remote(
    options: argparse.Namespace, build: Callable[[Index | None], Index]
) -> tuple[Index | None, Index]:
    """Make the index at the address `options.output`, or bring it up to date in its turn.

    Args:
        options: What was typed.
        build: Returns the index, from the one that is there; None for none.

    Returns:
        The index before, and after.
    """
    from clew.remote import RemoteIndex

    try:
        opened = RemoteIndex.open(options.output, embedder=options.embedder)
    except KeyError:
        built = build(None)
        built.save(options.output)
        return None, built
    seen = list[Index]()

    def change(before: Index) -> Index:
        seen[:] = before, build(before)
        return seen[1]

    with opened:
        opened.change(change)
    return seen[0], seen[1]
