"""`clew index --watch`: the saved index follows its folder, until Ctrl-C.

The sizes and times of the files are looked at again and again, which works on every file system. A
file that is half written is read, and read again once it is whole. The index is saved whole or not
at all, so Ctrl-C may come at any moment.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from clew.cli.databases import shown
from clew.cli.terminal import print_error, print_result
from clew.index.index import Index
from clew.read.file_reading import Look
from clew.read.files import files_at
from clew.read.known_files import is_settled, look_of
from clew.read.patterns import FileChoice

INTERVAL = 1.0  # seconds between two looks at the folder
MAX_LOOKING = 0.1  # the share of the time that looking takes, in a large folder
MAX_NAMES = 3  # of files, in a line
ERRORS = (ValueError, TypeError, OSError, ImportError)


def watch(source: Path, output: Path | str, index: Index, update: Callable[[Index], Index]) -> None:
    """Bring a saved index up to date whenever its folder has changed; it never returns.

    Args:
        source: The folder or file.
        output: Where the index is saved.
        index: The index as it is saved.
        update: Returns the index of the folder as it is now, of which most may be as it was before.

    Raises:
        KeyboardInterrupt: The user has pressed Ctrl-C, outside of the command itself.
    """
    print_line(f"watching {source}: Ctrl-C ends it")
    before: Mapping[Path, Look] = {}
    is_up_to_date, complaint = False, ""
    while True:
        start, now = time.perf_counter(), time.time_ns()
        looks = looks_of(source, FileChoice(index.config.include, index.config.exclude))
        pause = max(INTERVAL, (time.perf_counter() - start) / MAX_LOOKING)
        if looks != before or not is_up_to_date:
            try:
                index, complaint = _saved_again(index, output, update, start), ""
            except ERRORS as error:  # said once, and tried again until it is gone
                if repr(error) != complaint:
                    print_error(error)
                complaint = repr(error)
            before = looks
            is_up_to_date = not complaint and all(is_settled(each, now) for each in looks.values())
        time.sleep(pause)


def _saved_again(
    index: Index, output: Path | str, update: Callable[[Index], Index], start: float
) -> Index:
    """Return the index of the folder as it is now, saved, and say which files have changed."""
    new = update(index)
    changed = changed_files(index, new)
    if changed or new.skipped != index.skipped:
        new.save(output)
    if changed:
        names = ", ".join(Path(file).name for file in changed[:MAX_NAMES])
        more = ", …" if len(changed) > MAX_NAMES else ""
        count = f"{len(changed):,} file{'s' * (len(changed) > 1)} changed ({names}{more})"
        print_line(f"{shown(output)}: {count}, up to date in {time.perf_counter() - start:.1f} s")
    return new


def looks_of(source: Path, choice: FileChoice | None = None) -> dict[Path, Look]:
    """Return how the files look that would be read; none where there is no such folder now."""
    try:
        return {file: look_of(file) for file, _ in files_at(source, [], choice)}
    except OSError:
        return {}


def changed_files(before: Index, after: Index) -> list[str]:
    """Return the paths of the files whose documents came, went or are others, in their order.

    Args:
        before: An index of files.
        after: The next index of them, which has the same documents where nothing has changed.

    Example:
        >>> from clew import Document
        >>> index = Index.from_documents([Document("a.md", "Low tide."), Document("b.md", "Ebb.")])
        >>> changed_files(index, index.upsert([Document("b.md", "Flood.")]))
        ['b.md']
    """
    changed = set[str]()
    for one, other in ((before, after), (after, before)):
        for document in one.documents:
            if other.document_of.get(document.id) is not document:
                changed.add(str(document.metadata.get("path", document.id)))
    return sorted(changed)


def print_line(text: str) -> None:
    """Print a line that is seen at once, also in a pipe."""
    print_result(text)
    sys.stdout.flush()
