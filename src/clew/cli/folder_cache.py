"""Indexes of folders that were asked before, in the user's cache directory.

The second question on a folder opens the index of the first, and reads the folder again only where
the sizes or times of its files are others. Each way of reading a folder has an index of its own.
"""

from __future__ import annotations

import argparse
import json
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from clew.index.index import Index
from clew.index.saving import is_newest_saved, load_contents, save_contents
from clew.read.known_files import READING
from clew.user_cache import INDEX, cache_root, delete_place, let_old_ones_go, make_place, mark_used


def place_of(source: Path, options: argparse.Namespace, names: tuple[str, ...]) -> Path:
    """Return where the index of a folder is kept.

    Args:
        source: The folder or file.
        options: What was typed.
        names: The options that change how it is read.
    """
    typed = {name: repr(getattr(options, name, None)) for name in names}
    key = json.dumps([str(source.resolve()), typed, READING], sort_keys=True)
    return cache_root() / blake2b(key.encode("utf-8", "replace"), digest_size=12).hexdigest()


def open_cached(place: Path, embedder: object) -> Index | None:
    """Return an index of the cache; None where there is none to use."""
    if not place.exists():
        return None
    try:
        index = Index.of_contents(load_contents(place / INDEX, {"embedder": embedder})[0])
    except (OSError, ValueError, KeyError):  # damaged, or of another version: it is made again
        delete_place(place)
        return None
    mark_used(place)
    return index


def keep(place: Path, source: Path, index: Index) -> None:
    """Keep an index in the cache, which only its owner may read, and let old ones go.

    Where another question on the folder has kept its own meanwhile, or is about to, that one stays:
    the next question reads from there what has changed.

    Args:
        place: As `place_of` returns it.
        source: The folder or file that was read.
        index: The index of it.

    Raises:
        OSError: The cache cannot be written to.
    """
    make_place(place, str(source.resolve()))
    if is_newest_saved(index):
        with suppress(BlockingIOError):
            # It follows none: one that comes in between is no loss that anybody is to hear of.
            save_contents(replace(index, follows=None), place / INDEX)
    mark_used(place)
    let_old_ones_go(place)
