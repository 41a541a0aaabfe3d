"""The manifest of a generation: one JSON file with its own checksum that lists every other file.

A generation exists when its manifest has its name, and not before. Files are written under new
names and never changed, so a reader takes no lock. It opens the newest manifest, and if a writer
has cleared that generation away meanwhile, the newest again.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from clew.store import disk
from clew.store.arrays import DATA, FILE_NAME, Entry, write_file
from clew.store.config_record import check_settings
from clew.store.format_1 import upgrade_settings

FORMAT = 9
"""The newest format, of vectors that are saved without the rows that have none."""

SMALL_FORMAT = 8
"""The format of a generation with changes whose long columns are compressed."""

LATE_FORMAT = 7
"""The format of a generation with changes that leave out edges which a link makes again."""

BLOCKS_FORMAT = 6
"""The format of a large index: texts and columns are compressed.

Vectors may be whole numbers of one byte.
"""

BAGS_FORMAT = 5
"""The format of vectors as bags of words, with numbers in the narrowest type that they fit.

Format 4 has the bags alone, and numbers of 32 and 64 bits.
"""

CHANGES_FORMAT = 3
"""The format of a generation with changes since a whole one."""

WHOLE_FORMAT = 2
"""The format of a generation without changes, which an earlier clew reads too."""

MAGIC = "clew index"
MAX_BYTES = 1 << 24
"""The size of a manifest at most; ours have some ten thousand bytes."""

GENERATIONS = 2
"""How many generations are kept."""

MIN_AGE = 600.0
"""Seconds. What is younger is never cleared away, for a reader may be about to open it."""

MANIFEST_NAME = re.compile(r"MANIFEST-([0-9]{8,})\.json")
RECORD_NAME = re.compile(r"VERIFIED-([0-9]{8,})\.json")
UNFINISHED = re.compile(r"(MANIFEST|VERIFIED)-[0-9]{8,}\.json\.[0-9a-f]{16}")
BAGS = "bags.terms"
"""What is there where vectors are bags of words."""

BARE = ".bare"
"""How the names of what says which rows have no vectors end."""

TEXT_BLOCKS = "strings.blocks"
"""What is there where texts are compressed."""

CHANGE = "changes."
LATE, SMALL = ".late", ".small"
CHANGES = re.compile(
    rf"changes\.([0-9]{{8,}})(?P<late>{re.escape(LATE)})?(?P<small>{re.escape(SMALL)})?"
)
"""The name of what changed since the generation before; the number is its own generation's.

It says where edges are left out, and where columns are compressed."""

BEGIN, MIDDLE, END = b'{"blake2b": "', b'", "index": ', b"}\n"
HEAD = len(BEGIN) + 64
"""The bytes of a manifest that its checksum ends at."""


class NewerFormatError(ValueError):
    """An index that a newer clew saved."""


@dataclass(frozen=True)
class Manifest:
    """A generation.

    Attributes:
        file: Where the manifest is.
        generation: Its number, from 1.
        entries: The files, by the name of what they hold.
        settings: What the index was made with, and all else that is no array.
        checksum: Its own.
        same_as: The generation that holds the same in other files, and the checksum of its
            manifest; None where there is none.
    """

    file: Path
    generation: int
    entries: Mapping[str, Entry]
    settings: Mapping[str, Any]
    checksum: str
    same_as: tuple[int, str] | None = None

    @property
    def changes(self) -> dict[str, Entry]:
        """The files of changes since a generation that was saved whole, the first first."""
        matches = ((CHANGES.fullmatch(name), name) for name in self.entries)
        numbered = sorted((int(match[1]), name) for match, name in matches if match)
        return {name: self.entries[name] for _, name in numbered}

    @property
    def leaves_edges_out(self) -> bool:
        """Whether one of the changes leaves out edges, and so do those behind it."""
        return _are_any("late", self.entries)

    @property
    def whole(self) -> dict[str, Entry]:
        """The files of the generation that was saved whole."""
        return {n: entry for n, entry in self.entries.items() if not CHANGES.fullmatch(n)}


def name_of(generation: int) -> str:
    """Return the name of a generation's manifest."""
    return f"MANIFEST-{generation:08d}.json"


def generations(root: Path) -> dict[int, Path]:
    """Return the manifests in a folder by their generation, the newest first.

    There are none where there is no such folder.
    """
    try:
        names = os.listdir(root)  # noqa: PTH208  # names alone are wanted
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return {generation: root / name_of(generation) for generation in generations_in(names)}


def generations_in(names: Iterable[str]) -> list[int]:
    """Return the generations whose manifests are among some names of files, the newest first."""
    matches = ((MANIFEST_NAME.fullmatch(name), name) for name in names)
    found = ((int(match[1]), name) for match, name in matches if match)
    return sorted((number for number, name in found if name == name_of(number)), reverse=True)


def write_manifest(
    root: Path,
    generation: int,
    version: str,
    entries: Mapping[str, Entry],
    settings: Mapping[str, Any],
    same_as: Manifest | None = None,
) -> Manifest:
    """Make a generation of files that are on the disk already: from here on it is the newest.

    Files of an earlier generation may be among them, with the changes since.

    Args:
        root: The index's folder.
        generation: Its number.
        version: The version of clew that saves it.
        entries: The files, by the name of what they hold.
        settings: All that is no array.
        same_as: The generation that holds the same in other files.
    """
    is_whole = not any(map(CHANGES.fullmatch, entries))
    content = {
        "magic": MAGIC,
        "format": _format_of(entries, is_whole),
        "clew": version,
        "generation": generation,
        "settings": dict(settings),
        "files": {name: vars(entry) for name, entry in entries.items()},
    }
    same = None if same_as is None else (same_as.generation, same_as.checksum)
    content |= {} if same is None else {"same_as": same}
    lines = 1 if is_whole else None  # one line takes a tenth of the time
    body = json.dumps(content, indent=lines, allow_nan=False).encode()
    file = root / name_of(generation)
    unfinished = root / f"{file.name}.{secrets.token_hex(8)}"
    checksum = _checksum(body)
    write_file(unfinished, (BEGIN, checksum, MIDDLE, body, END))
    try:
        disk.rename(unfinished, file)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    return Manifest(file, generation, entries, settings, checksum.decode(), same)


def name_of_change(generation: int, *, is_late: bool, is_small: bool) -> str:
    """Return the name of a change, which is that of a generation.

    Args:
        generation: Its number.
        is_late: Whether edges are left out.
        is_small: Whether columns are compressed.

    Example:
        >>> name_of_change(7, is_late=True, is_small=False)
        'changes.00000007.late'
    """
    return f"{CHANGE}{generation:08d}{LATE * is_late}{SMALL * is_small}"


def _are_any(group: str, names: Iterable[str]) -> bool:
    return any(match[group] for match in map(CHANGES.fullmatch, names) if match)


def _format_of(names: Collection[str], is_whole: bool) -> int:
    """Return the earliest format that has all these files."""
    if any(name.endswith(BARE) for name in names):
        return FORMAT
    if _are_any("small", names):
        return SMALL_FORMAT
    if _are_any("late", names):
        return LATE_FORMAT
    if TEXT_BLOCKS in names:
        return BLOCKS_FORMAT
    return BAGS_FORMAT if BAGS in names else WHOLE_FORMAT if is_whole else CHANGES_FORMAT


def _read_raw(file: Path) -> bytes:
    with os.fdopen(disk.open_plain(file), "rb") as stream:
        return stream.read(MAX_BYTES + 1)


def newest_form(root: Path, manifest: Manifest) -> Manifest | None:
    """Return the newest generation where it holds what this one does; None where it holds other.

    Args:
        root: The index's folder.
        manifest: A generation that was the newest.
    """
    newest = next(iter(generations(root).values()), None)
    if newest is None or newest.name == manifest.file.name:
        return None if newest is None else manifest
    try:
        other = read_manifest(newest)
    except (OSError, ValueError):
        return None
    return other if other.same_as == (manifest.generation, manifest.checksum) else None


def read_manifest(file: Path) -> Manifest:
    """Return a manifest; one of an earlier format has its settings in the form of this one.

    Raises:
        FileNotFoundError: It is not there any more.
        NewerFormatError: It is of a format that this clew does not know.
        ValueError: It is damaged, or no manifest.
    """
    return parse_manifest(_read_raw(file), file, str(file))


def parse_manifest(raw: bytes, file: Path, shown: str) -> Manifest:
    """Return the manifest that bytes are.

    Args:
        raw: All bytes of it.
        file: Where it is, or will be, on the disk.
        shown: What it is called in an error.

    Raises:
        NewerFormatError: It is of a format that this clew does not know.
        ValueError: It is damaged, or no manifest.
    """
    body, checksum = _body(raw, shown)
    try:
        return _parse(file, shown, json.loads(body), checksum.decode())
    except NewerFormatError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{shown} is not the manifest of an index: {error!r}") from error


def _body(raw: bytes, shown: str) -> tuple[bytes, bytes]:
    """Return what a manifest says, and its checksum."""
    checksum, middle = raw[len(BEGIN) : HEAD], HEAD + len(MIDDLE)
    body = raw[middle : -len(END)]
    if raw != BEGIN + checksum + MIDDLE + body + END or _checksum(body) != checksum:
        raise ValueError(f"{shown} is damaged: its checksum is not the one that was saved")
    return body, checksum


def _parse(file: Path, shown: str, content: dict[str, Any], checksum: str) -> Manifest:
    version, generation = content["format"], content["generation"]
    if content["magic"] != MAGIC or type(version) is not int or type(generation) is not int:
        raise ValueError(
            f"its magic is not {MAGIC!r}, or its format and generation are no whole numbers"
        )
    if version > FORMAT:
        raise NewerFormatError(
            f"{shown} was saved by clew {content['clew']} in format {version}; "
            f"this clew reads {FORMAT} and earlier: upgrade clew to open it"
        )
    if file.name != name_of(generation):
        raise ValueError(f"it is of generation {generation}, which is not the one in its name")
    entries = {
        name: Entry(**(entry | {"shape": tuple(entry["shape"])}))
        for name, entry in content["files"].items()
    }
    settings = content["settings"]
    settings = upgrade_settings(settings) if version == 1 else settings
    same = content.get("same_as")
    if same is not None:
        same = int(same[0]), str(same[1])
    return Manifest(file, generation, entries, check_settings(settings), checksum, same)


def clear(root: Path) -> None:
    """Delete old generations, and files that belong to none.

    The last generations that can be read stay, and everything that is young; one that a later one
    is the same as is no other. What cannot be deleted now (on Windows, what a reader has open) is
    left for the next time.
    """
    used_by, superseded = dict[Path, set[str]](), set[int]()  # the newest first
    last = list[Path]()
    for generation, file in generations(root).items():
        try:
            used_by[file], same_as = _paths_in(file)
        except (OSError, ValueError):
            continue  # damaged: it keeps no files, and does not count as one of the last
        if generation not in superseded and len(last) < GENERATIONS:
            last.append(file)
        superseded.add(same_as)
    for file in root.iterdir():
        is_old = MANIFEST_NAME.fullmatch(file.name) and file not in last
        if is_old or UNFINISHED.fullmatch(file.name):
            _delete(file)
    remaining = set(generations(root).values())
    numbers = {int(match[1]) for file in remaining if (match := MANIFEST_NAME.fullmatch(file.name))}
    for file in root.iterdir():
        record = RECORD_NAME.fullmatch(file.name)
        if record and int(record[1]) not in numbers:
            _delete(file)
    used = set().union(*(paths for file, paths in used_by.items() if file in remaining))
    for file in (root / DATA).iterdir():
        if FILE_NAME.fullmatch(file.name) and f"{DATA}/{file.name}" not in used:
            _delete(file)


def _paths_in(file: Path) -> tuple[set[str], int]:
    """Return the paths of a generation's files, and which one it is the same as, or -1.

    The entries of the files need not be understood for that, which takes most of the time.

    Raises:
        OSError, ValueError: As `read_manifest`.
    """
    try:
        content = json.loads(_body(_read_raw(file), str(file))[0])
        if content["format"] > FORMAT:
            raise NewerFormatError(f"{file} is of format {content['format']}")
        paths = {entry["path"] for entry in content["files"].values()}
        return paths, int(content.get("same_as", (-1,))[0])
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{file} is not the manifest of an index: {error!r}") from error


def _delete(file: Path) -> None:
    try:
        if time.time() - file.lstat().st_mtime >= MIN_AGE:
            file.unlink()
    except OSError:
        return


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=32).hexdigest().encode()
