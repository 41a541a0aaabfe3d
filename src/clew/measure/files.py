"""The files of a benchmark, plain or gzipped: an error names the file and the line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

MAX_SHOWN = 80  # characters of a wrong value in an error


def find_file(folder: Path, name: str) -> Path | None:
    """Return the path of `name` or `name.gz` in a folder, or None.

    Raises:
        ValueError: Both are there.
    """
    paths = [path for path in (folder / name, folder / f"{name}.gz") if path.is_file()]
    if len(paths) > 1:
        raise ValueError(f"{folder} has both {name} and {name}.gz: keep one of them")
    return paths[0] if paths else None


def require_file(folder: Path, name: str) -> Path:
    """Return the path of `name` or `name.gz` in a folder.

    Raises:
        FileNotFoundError: Neither is there.
        ValueError: Both are there.
    """
    path = find_file(folder, name)
    if path is None:
        raise FileNotFoundError(
            f"{folder / name} is missing (or {name}.gz): a benchmark folder needs it"
        )
    return path


def read_text(path: Path) -> str:
    """Return the whole text of a file."""
    return "".join(_raw_lines(path))


def read_lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place (`file:line`) and the object of every line of a JSON Lines file.

    Blank lines are skipped.

    Raises:
        ValueError: A line is not JSON, or no object.
    """
    for number, line in enumerate(_raw_lines(path), 1):
        place = f"{path}:{number}"
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{place}: not JSON: {error.msg} at column {error.colno}") from error
        if not isinstance(value, dict):
            raise malformed(place, "a line", "an object {...}", value)
        yield place, value


def is_json_lines(path: Path) -> bool:
    """Return whether a file is JSON Lines: by its name, or because two lines are each an object."""
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        return True
    first = list(islice((line for line in _raw_lines(path) if line.strip()), 2))
    try:
        return len(first) == 2 and all(isinstance(json.loads(line), dict) for line in first)
    except json.JSONDecodeError:
        return False


def read_json(path: Path) -> object:
    """Return the value of a JSON file.

    Raises:
        ValueError: It is not JSON.
    """
    try:
        value: object = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path}:{error.lineno}: not JSON: {error.msg} at column {error.colno}"
        ) from error
    return value


def text_field(place: str, record: Mapping[str, Any], field: str, *, empty: bool = False) -> str:
    """Return a field that must be a text.

    Args:
        place: Where the record stands, for errors.
        record: The record.
        field: The name of the field.
        empty: Whether it may be without a word.

    Raises:
        ValueError: The field is missing or something else.
    """
    value = _field(place, record, field)
    if not isinstance(value, str) or not (empty or value.strip()):
        wanted = "a text" if empty else "a text with at least one word"
        raise malformed(place, repr(field), wanted, value)
    return value


def list_field(place: str, record: Mapping[str, Any], field: str) -> list[Any]:
    """Return a field that must be a list.

    Raises:
        ValueError: The field is missing or something else.
    """
    value = _field(place, record, field)
    if not isinstance(value, list):
        raise malformed(place, repr(field), "a list", value)
    return value


def malformed(place: str, name: str, wanted: str, value: object) -> ValueError:
    """Return the error that something in a file must be something else.

    Args:
        place: The file, and the line where it has lines.
        name: What is wrong.
        wanted: What it must be.
        value: What it is.
    """
    shown = repr(value)
    if len(shown) > MAX_SHOWN:
        shown = f"{shown[: MAX_SHOWN - 3]}..."
    return ValueError(f"{place}: {name} must be {wanted}; got {shown}")


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write gzipped JSON Lines, byte for byte the same for the same records."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
    ):
        for record in records:
            packed.write(
                (json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
            )


def _field(place: str, record: Mapping[str, Any], field: str) -> object:
    if field not in record:
        fields = ", ".join(map(str, record)) or "none"
        raise ValueError(f"{place}: {field!r} is missing; the fields there are {fields}")
    value: object = record[field]
    return value


def _raw_lines(path: Path) -> Iterator[str]:
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            for line in lines:
                number += 1  # the error below names the line where reading ends
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
    except (gzip.BadGzipFile, zlib.error, EOFError, UnicodeDecodeError) as error:
        line_number = max(number, 1)
        raise ValueError(f"{path}:{line_number}: cannot be read on from here: {error}") from error
