"""The files of a benchmark, plain or gzipped, read and written so that what is wrong with one is told by its name and line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any


def found(folder: Path, name: str) -> Path | None:
    """Return the path of `name` or `name.gz` in `folder`, or None; two of them are one too many."""
    paths = [path for path in (folder / name, folder / f"{name}.gz") if path.is_file()]
    if len(paths) > 1:
        raise ValueError(f"{folder} has both {name} and {name}.gz: keep one of them")
    return paths[0] if paths else None


def needed(folder: Path, name: str) -> Path:
    """Return the path of `name` or `name.gz`; it must be there."""
    path = found(folder, name)
    if path is None:
        raise FileNotFoundError(
            f"{folder / name} is missing (or {name}.gz): a benchmark folder needs it"
        )
    return path


def text_of(path: Path) -> str:
    """Return the whole text of a file."""
    return "".join(_raw_lines(path))


def lines_of(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place (`file:line`) and the object of every line of a JSON Lines file; blank lines are passed over."""
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


def is_lines(path: Path) -> bool:
    """Return whether a file is JSON Lines, by its name or since its first two lines are each an object."""
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        return True
    first = list(islice((line for line in _raw_lines(path) if line.strip()), 2))
    try:
        return len(first) == 2 and all(isinstance(json.loads(line), dict) for line in first)
    except json.JSONDecodeError:
        return False


def json_of(path: Path) -> Any:
    """Return the value of a JSON file."""
    try:
        return json.loads(text_of(path))
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path}:{error.lineno}: not JSON: {error.msg} at column {error.colno}"
        ) from error


def text_at(place: str, record: Mapping[str, Any], field: str, *, empty: bool = False) -> str:
    """Return a field that must be a text, with at least one word unless `empty`."""
    value = _at(place, record, field)
    if not isinstance(value, str) or not (empty or value.strip()):
        raise malformed(
            place, repr(field), f"a text{'' if empty else ' with at least one word'}", value
        )
    return value


def list_at(place: str, record: Mapping[str, Any], field: str) -> list[Any]:
    """Return a field that must be a list."""
    value = _at(place, record, field)
    if not isinstance(value, list):
        raise malformed(place, repr(field), "a list", value)
    return value


def malformed(place: str, what: str, wanted: str, value: Any) -> ValueError:
    """Return the error that `what`, in a file at `place`, should be something else."""
    said = repr(value)
    return ValueError(
        f"{place}: {what} must be {wanted}; got {said if len(said) <= 80 else f'{said[:77]}...'}"
    )


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write gzipped JSON Lines, byte for byte the same for the same records."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
    ):
        for record in records:
            packed.write((json.dumps(record, ensure_ascii=False) + "\n").encode())


def _at(place: str, record: Mapping[str, Any], field: str) -> Any:
    if field not in record:
        raise ValueError(
            f"{place}: {field!r} is missing; the fields there are {', '.join(map(str, record)) or 'none'}"
        )
    return record[field]


def _raw_lines(path: Path) -> Iterator[str]:
    number = 1
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            for number, line in enumerate(lines, 1):  # noqa: B007  # told where reading ends
                yield line.decode("utf-8")
    except (gzip.BadGzipFile, zlib.error, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}:{number}: cannot be read on from here: {error}") from error
