"""The ids of files, of which no two are the same."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from clew.document import Document
from clew.read.file_reading import FileToRead

Found = Document | FileToRead | tuple[str, str]
"""A document, a file that becomes some, or (path, reason) for what is skipped."""


def with_ids_of_their_own(found: Sequence[Found], there: Iterable[Document]) -> list[Found]:
    """Return what was found; files of one id have folders above them in theirs.

    The README.md of two folders is then `docs/README.md` and `tools/README.md`. A file that was
    found twice, below two folders or by itself, is read once, under its first id. One that is in an
    index keeps its id.
    """
    once = dict[tuple[str, ...] | int, Found]()  # files by the parts of their paths
    for number, one in enumerate(found):
        once.setdefault(_whole_path(one.path) if isinstance(one, FileToRead) else number, one)
    known = ids_of_files((one.path for one in found if isinstance(one, FileToRead)), there)
    for path, one in once.items():
        if isinstance(one, FileToRead) and not isinstance(path, int) and path in known:
            once[path] = one._replace(id=known[path])
    ids = Counter(one.id for one in once.values() if isinstance(one, FileToRead))
    if max(ids.values(), default=0) < 2:
        return [*once.values()]
    same = dict[str, list[tuple[str, ...]]]()
    for path, one in once.items():
        if isinstance(one, FileToRead) and not isinstance(path, int) and path not in known:
            same.setdefault(one.id, []).append(path)
    kept = set(known.values())
    taken = {one.id for one in found if isinstance(one, Document)} | kept
    taken |= {id for id, paths in same.items() if len(paths) == 1}
    new = dict[tuple[str, ...] | int, str]()
    for id, paths in same.items():
        if len(paths) > 1 or id in kept:
            distinct = _ids_with_folders(id, paths, taken)
            taken |= set(distinct)
            new |= zip(paths, distinct, strict=True)
    return [
        one._replace(id=new[path]) if isinstance(one, FileToRead) and path in new else one
        for path, one in once.items()
    ]


def ids_of_files(
    files: Iterable[Path], documents: Iterable[Document]
) -> dict[tuple[str, ...], str]:
    """Return the ids that files have where some documents are from them, by the parts of paths.

    Args:
        files: The files.
        documents: The documents, each of which names its file in its metadata.

    Example:
        >>> document = Document("docs/a.jsonl#2", "A row.", {"path": "/home/docs/a.jsonl"})
        >>> ids_of_files([Path("/home/docs/a.jsonl"), Path("/home/a.jsonl")], [document])
        {('/', 'home', 'docs', 'a.jsonl'): 'docs/a.jsonl'}
    """
    paths = {file: _whole_path(file) for file in files}
    names, wanted, found = {file.name for file in paths}, {*paths.values()}, dict[Any, str]()
    if not wanted:
        return found
    for document in documents:
        path = document.metadata.get("path")
        if not isinstance(path, str) or path.rpartition("/")[2] not in names:
            continue
        parts = _whole_path(Path(path))
        if parts not in wanted or parts in found:
            continue
        whole, id = "/".join(parts), document.id
        while id and not f"/{whole}".endswith(f"/{id}"):
            id = id.rpartition("#")[0]  # of a row, a page or a message
        if id:
            found[parts] = id
    return found


def _whole_path(path: Path) -> tuple[str, ...]:
    """Return the parts of the path of a file; a link stays what it is, another file."""
    return Path(os.path.normpath(path.absolute())).parts


def _ids_with_folders(
    id: str, paths: Sequence[tuple[str, ...]], taken: Collection[str]
) -> list[str]:
    """Return an id for each file of one id, with as many folders above it as tell all apart.

    Args:
        id: Their id.
        paths: The parts of their paths, each another.
        taken: The ids of other files.

    Example:
        >>> paths = [("/", "a", "docs", "README.md"), ("/", "a", "README.md")]
        >>> _ids_with_folders("README.md", paths, ())
        ['docs/README.md', 'a/README.md']
    """
    for n in range(1 + len(id.split("/")), max(map(len, paths))):
        ids = ["/".join(path[-n:]) for path in paths]
        if len(set(ids)) == len(ids) and not set(ids) & set(taken):
            return ids
    return [Path(*path).as_posix() for path in paths]
