"""What a saved index consists of: one JSON file per generation, that carries its own checksum and lists every other file.

A generation is there when its manifest has its name, and not before. Files are written under new names and never changed, so a reader
takes no lock: it opens the newest manifest, and if a writer has meanwhile cleared that generation away, the newest again.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from clew.store import disk
from clew.store.arrays import DATA, NAME, Entry, write_file
from clew.store.config_record import checked

FORMAT = 1
MAGIC = "clew index"
LARGEST = 1 << 24  # ours have some ten thousand bytes
KEPT = 2
YOUNG = (
    600.0  # seconds: what is younger is never cleared away, for a reader may be about to open it
)
FILE = re.compile(r"MANIFEST-([0-9]{8,})\.json")
UNFINISHED = re.compile(r"MANIFEST-[0-9]{8,}\.json\.[0-9a-f]{16}")
BEGIN, MIDDLE, END = b'{"blake2b": "', b'", "index": ', b"}\n"


class NewerFormatError(ValueError):
    """An index that a newer clew saved."""


@dataclass(frozen=True)
class Manifest:
    """A generation: its files by the name of what they hold, and `settings`, all that is no array."""

    file: Path
    generation: int
    entries: Mapping[str, Entry]
    settings: Mapping[str, Any]


def generations(root: Path) -> dict[int, Path]:
    """Return the manifests in a folder by their generation, the newest first; none where there is no such folder."""
    try:
        names = os.listdir(root)  # noqa: PTH208  # names alone are wanted
    except (FileNotFoundError, NotADirectoryError):
        return {}
    found = {int(match[1]): root / name for name in names if (match := FILE.fullmatch(name))}
    return dict(sorted(found.items(), reverse=True))


def write_manifest(
    root: Path,
    generation: int,
    version: str,
    entries: Mapping[str, Entry],
    settings: Mapping[str, Any],
) -> Path:
    """Make a generation of files that are on the disk already: from here on it is the newest."""
    content = {
        "magic": MAGIC,
        "format": FORMAT,
        "clew": version,
        "generation": generation,
        "settings": dict(settings),
    }
    body = json.dumps(
        content | {"files": {name: asdict(entry) for name, entry in entries.items()}},
        indent=1,
        allow_nan=False,
    ).encode()
    file = root / f"MANIFEST-{generation:08d}.json"
    unfinished = root / f"{file.name}.{secrets.token_hex(8)}"
    write_file(unfinished, BEGIN, _checksum(body), MIDDLE, body, END)
    try:
        disk.rename(unfinished, file)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    return file


def read_manifest(file: Path) -> Manifest:
    """Return what a manifest says.

    Raises:
        FileNotFoundError: it is gone. ValueError: it is damaged, or of a version of the format that this clew does not know.
    """
    with os.fdopen(disk.open_plain(file), "rb") as stream:
        raw = stream.read(LARGEST + 1)
    checksum, body = (
        raw[len(BEGIN) : len(BEGIN) + 64],
        raw[len(BEGIN) + 64 + len(MIDDLE) : -len(END)],
    )
    if raw != BEGIN + checksum + MIDDLE + body + END or _checksum(body) != checksum:
        raise ValueError(f"{file} is damaged: its checksum is not the one that was saved")
    try:
        return _parsed(file, json.loads(body))
    except NewerFormatError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{file} is not the manifest of an index: {error!r}") from error


def _parsed(file: Path, content: Any) -> Manifest:
    version, generation = content["format"], content["generation"]
    if content["magic"] != MAGIC or type(version) is not int or type(generation) is not int:
        raise ValueError(
            f"its magic is not {MAGIC!r}, or its format and generation are no whole numbers"
        )
    if version > FORMAT:
        raise NewerFormatError(
            f"{file} was saved by clew {content['clew']} in format {version}; this clew reads {FORMAT}: upgrade clew to open it"
        )
    if file.name != f"MANIFEST-{generation:08d}.json":
        raise ValueError(f"it is of generation {generation}, which is not the one in its name")
    entries = {
        name: Entry(**(entry | {"shape": tuple(entry["shape"])}))
        for name, entry in content["files"].items()
    }
    return Manifest(file, generation, entries, checked(content["settings"]))


def clear(root: Path) -> None:
    """Delete the generations before the last two that can be read, and files that belong to none, but nothing that is young.

    What cannot be deleted now (on Windows, what a reader has open) is left for the next time.
    """
    known = {}
    for generation, file in generations(root).items():
        try:
            known[generation] = read_manifest(file)
        except (OSError, ValueError):
            continue  # damaged: it keeps no files, and does not count as one of the last two
    last = {manifest.file for manifest in list(known.values())[:KEPT]}
    for file in root.iterdir():
        if (FILE.fullmatch(file.name) and file not in last) or UNFINISHED.fullmatch(file.name):
            _delete(file)
    there = set(generations(root).values())
    used = {
        entry.path
        for manifest in known.values()
        if manifest.file in there
        for entry in manifest.entries.values()
    }
    for file in (root / DATA).iterdir():
        if NAME.fullmatch(file.name) and f"{DATA}/{file.name}" not in used:
            _delete(file)


def _delete(file: Path) -> None:
    try:
        if time.time() - file.lstat().st_mtime >= YOUNG:
            file.unlink()
    except OSError:
        return


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=32).hexdigest().encode()
