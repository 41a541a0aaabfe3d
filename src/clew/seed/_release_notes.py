"""Which documents tell what changed from version to version, by their paths."""

from __future__ import annotations

import re

_FOLDER = re.compile(r"change-?logs?|release-?notes?|releases|what-?s-?new")
_FILE = re.compile(
    r"(?:change-?logs?|changes|release-?notes?|what-?s-?new)(?:[-\d].*)?|releases?-v?\d.*"
)
_NAMES_IN_CAPITALS = frozenset(("HISTORY", "NEWS", "RELEASES"))
_TITLE = re.compile(r"change log|(?:release|version) (?:notes|history)|what[\u2019']s new")
_MAX_NAME = 1_000  # signs of a path, from its end


def is_release_notes(path: str) -> bool:
    """Return whether a document tells what changed, as most projects call such files.

    Args:
        path: Its path, or its title.

    Example:
        >>> paths = ("CHANGES.rst", "docs/releases/4.2.txt", "whatsnew/3.11.html", "NEWS")
        >>> [is_release_notes(path) for path in (*paths, "Go 1.22 Release Notes")]
        [True, True, True, True, True]
        >>> [is_release_notes(path) for path in ("docs/history.md", "docs/changing-colours.md")]
        [False, False]
    """
    *folders, name = path[-_MAX_NAME:].replace("\\", "/").split("/")
    if name.partition(".")[0] in _NAMES_IN_CAPITALS or _TITLE.search(name.lower()):
        return True
    *folders, name = (one.lower().replace("_", "-") for one in (*folders, name))
    return bool(_FILE.fullmatch(name.partition(".")[0])) or any(map(_FOLDER.fullmatch, folders))
