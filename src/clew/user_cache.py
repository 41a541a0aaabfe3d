"""The user's cache directory: indexes that can be made, or copied, again, and files half read.

Each has a folder of its own, with what it is of, and when it was last used. Those of least recent
use go first.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 2 * 10**9  # of all indexes together; those of least recent use go first
MAX_DAYS = 60.0  # that an index is kept after its last use
IN_USE = 1 / 24  # days after its last use for which a copy of a storage's index is left alone
INDEX, SOURCE, USED = "index", "source.txt", "used"
INTERRUPTED = "interrupted"  # where there is no index, but what an ended run has read for one


@dataclass(frozen=True)
class CachedFolder:
    """An index in the cache, or what an ended run has read for one.

    Attributes:
        path: Where it is.
        source: The folder or file that it is of, or the address that it is a copy of.
        bytes: Its size.
        days: How long ago it was last used.
        is_interrupted: Whether it is what an ended run has read.
    """

    path: Path
    source: str
    bytes: int
    days: float
    is_interrupted: bool = False


def cache_root() -> Path:
    """Return the folder of the cache: `CLEW_CACHE`, or "clew" in the user's cache directory."""
    if named := os.environ.get("CLEW_CACHE"):
        return Path(named)
    from platformdirs import user_cache_path

    return user_cache_path("clew", appauthor=False)


def make_place(place: Path, source: str) -> None:
    """Make the folder of an index, which only its owner may read, and say what it is of.

    Args:
        place: The folder, below `cache_root()`.
        source: What it is of.

    Raises:
        OSError: The cache cannot be written to.
    """
    place.mkdir(parents=True, exist_ok=True)
    cache_root().chmod(0o700)
    (place / SOURCE).write_text(source, encoding="utf-8", errors="replace")
    mark_used(place)


def mark_used(place: Path) -> None:
    """Note that an index is used now."""
    with suppress(OSError):
        (place / USED).touch()


def cached_folders() -> list[CachedFolder]:
    """Return what is in the cache, the last used first."""
    found, now = [], time.time()
    with suppress(OSError):
        for place in cache_root().iterdir():
            with suppress(OSError):
                used = (place / USED).stat().st_mtime
                size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
                source = (place / SOURCE).read_text(encoding="utf-8")
                days, is_interrupted = (
                    max(0.0, (now - used) / 86_400),
                    (place / INTERRUPTED).exists(),
                )
                found.append(CachedFolder(place, source, size, days, is_interrupted))
    return sorted(found, key=lambda folder: folder.days)


def clear(source: str | None = None) -> list[CachedFolder]:
    """Delete the indexes of a source, or all, and return what they were.

    Raises:
        OSError: One could not be deleted.
    """
    gone = [folder for folder in cached_folders() if source in (None, folder.source)]
    for folder in gone:
        delete_place(folder.path)
    for folder in gone:
        for left in (folder.path / INDEX, folder.path):
            if left.exists():
                shutil.rmtree(left)  # which says why not
    return gone


def delete_place(place: Path) -> None:
    """Delete the folder of an index as far as it can be, which another process may do meanwhile.

    Windows deletes no file that a process has open. What stays is known for what it is, and can be
    deleted later.
    """
    shutil.rmtree(place / INDEX, ignore_errors=True)
    if not (place / INDEX).exists():
        shutil.rmtree(place, ignore_errors=True)


def let_old_ones_go(newest: Path) -> None:
    """Delete what was not used for long, and what is beyond the size of the cache.

    A copy of a storage's index that a server may be answering from stays.

    Args:
        newest: The folder of an index that stays in any case.
    """
    total = 0
    for folder in cached_folders():
        total += folder.bytes
        is_followed = "://" in folder.source and folder.days < IN_USE
        is_beyond = folder.days > MAX_DAYS or total > MAX_BYTES
        if folder.path != newest and is_beyond and not is_followed:
            delete_place(folder.path)
