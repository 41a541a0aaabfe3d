"""Indexes of folders that were asked before, in the user's cache directory.

The second question on a folder opens the index of the first, and reads the folder again only where
the sizes or times of its files are others. Each way of reading a folder has an index of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from clew.index.index import Index
from clew.index.saving import load_contents, save_contents
from clew.read.known_files import READING

MAX_BYTES = 2 * 10**9  # of all indexes together; those of least recent use go first
MAX_DAYS = 60.0  # that an index is kept after its last use
SOURCE, USED = "source.txt", "used"


@dataclass(frozen=True)
class CachedFolder:
    """An index in the cache.

    Attributes:
        path: Where it is.
        source: The folder or file that it is of.
        bytes: Its size.
        days: How long ago it was last used.
    """

    path: Path
    source: str
    bytes: int
    days: float


def cache_root() -> Path:
    """Return the folder of the cache: `CLEW_CACHE`, or "clew" in the user's cache directory."""
    if named := os.environ.get("CLEW_CACHE"):
        return Path(named)
    from platformdirs import user_cache_path

    return user_cache_path("clew", appauthor=False)


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
        index = Index.of_contents(load_contents(place / "index", {"embedder": embedder})[0])
        (place / USED).touch()
    except (OSError, ValueError, KeyError):  # damaged, or of another version: it is made again
        shutil.rmtree(place, ignore_errors=True)
        return None
    return index


def keep(place: Path, source: Path, index: Index) -> None:
    """Keep an index in the cache, which only its owner may read, and let old ones go.

    Args:
        place: As `place_of` returns it.
        source: The folder or file that was read.
        index: The index of it.

    Raises:
        OSError: The cache cannot be written to.
    """
    place.mkdir(parents=True, exist_ok=True)
    cache_root().chmod(0o700)
    (place / SOURCE).write_text(str(source.resolve()), encoding="utf-8", errors="replace")
    save_contents(index, place / "index")
    (place / USED).touch()
    _let_old_ones_go(place)


def cached_folders() -> list[CachedFolder]:
    """Return what is in the cache, the last used first."""
    found, now = [], time.time()
    with suppress(OSError):
        for place in cache_root().iterdir():
            with suppress(OSError):
                used = (place / USED).stat().st_mtime
                size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
                source = (place / SOURCE).read_text(encoding="utf-8")
                found.append(CachedFolder(place, source, size, max(0.0, (now - used) / 86_400)))
    return sorted(found, key=lambda folder: folder.days)


def clear(source: Path | None = None) -> list[CachedFolder]:
    """Delete the indexes of a folder, or of all, and return what they were."""
    wanted = None if source is None else str(source.expanduser().resolve())
    gone = [folder for folder in cached_folders() if wanted in (None, folder.source)]
    for folder in gone:
        shutil.rmtree(folder.path, ignore_errors=True)
    return gone


def _let_old_ones_go(newest: Path) -> None:
    total = 0
    for folder in cached_folders():
        total += folder.bytes
        if folder.path != newest and (folder.days > MAX_DAYS or total > MAX_BYTES):
            shutil.rmtree(folder.path, ignore_errors=True)
