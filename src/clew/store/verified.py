"""Which mapped files were found whole, and how they looked then, so that each is hashed once.

The record lies beside the manifest as `VERIFIED-00000042.json`. A file counts as whole while its
size, its times and its place on the disk are those of the record: whoever writes to it, or copies
it, changes one of them, and the next opening hashes it again. A folder that cannot be written to
gets no record, and is hashed at every opening.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from clew.store import disk

MAX_BYTES = 1 << 16
"""The size of a record at most; ours have some hundred bytes."""

MIN_AGE_NS = 100_000_000
"""What changed less than 0.1 s ago is not recorded: two writes may have one time on the disk."""

Look = list[int]
"""Size, times of the last write and change in nanoseconds, inode and device of a file."""


def look_of(file: Path) -> Look:
    """Return how a file looks from outside; empty where it cannot be seen."""
    try:
        found = os.lstat(file)
    except OSError:
        return []
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev]


def record_of(root: Path, generation: int) -> Path:
    """Return where the record of a generation is."""
    return root / f"VERIFIED-{generation:08d}.json"


def read_record(root: Path, generation: int) -> dict[str, Look]:
    """Return how files looked when they were found whole, by path; empty without a record."""
    try:
        with os.fdopen(disk.open_plain(record_of(root, generation)), "rb") as stream:
            looks = json.loads(stream.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return looks if isinstance(looks, dict) else {}


def write_record(root: Path, generation: int, looks: Mapping[str, Look]) -> None:
    """Write a record, unless a file is too young or the folder cannot be written to."""
    now = time.time_ns()
    if any(now - max(look[1:3], default=now) < MIN_AGE_NS for look in looks.values()):
        return
    record = record_of(root, generation)
    new = record.with_name(f"{record.name}.{secrets.token_hex(8)}")
    with suppress(OSError):
        descriptor = disk.create(new)
        try:
            disk.write(descriptor, memoryview(json.dumps(dict(looks)).encode()))
        finally:
            os.close(descriptor)
        disk.rename(new, record)
