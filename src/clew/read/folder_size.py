"""Whether there is much to read, before what reads it is loaded."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from clew.read.file_reading import ListedFiles


def folder_size(source: object, enough: int) -> int:
    """Return how many bytes the files below a folder have, or at least `enough` of them.

    No file is opened, and none is left out but what is hidden, so some may not be read.

    Args:
        source: The path of a folder, or files that were listed. Anything else has no size.
        enough: After so many bytes no more files are looked at.

    Example:
        >>> folder_size(["The sea."], 100)
        0
    """
    size = 0
    if isinstance(source, ListedFiles):
        for file in source.files:
            with suppress(OSError):
                size += file.path.stat().st_size
            if size >= enough:
                break
        return size
    # `source` may be any text, for which `Path.is_dir` may raise.
    if not isinstance(source, (str, Path)) or not os.path.isdir(source):  # noqa: PTH112
        return size
    for root, folders, names in os.walk(source):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            with suppress(OSError):  # such as a broken link
                size += 0 if name.startswith(".") else Path(root, name).stat().st_size
            if size >= enough:
                return size
    return size
