"""Which files below a folder a program made for a program: nobody wrote them to be read.

The kinds and the length of the lines of a minified file are those of GitHub Linguist ("generated"),
with pictures as text, and the search indexes and scripts of built documentation. A file that is
given by its own name is read all the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path, PurePath

LOCK_FILES = frozenset(
    (
        *("bun.lock", "Cargo.lock", "composer.lock", "deno.lock", "flake.lock", "Gemfile.lock"),
        *("go.sum", "npm-shrinkwrap.json", "package-lock.json", "pdm.lock", "Pipfile.lock"),
        *("pnpm-lock.yaml", "poetry.lock", "uv.lock", "yarn.lock"),
    )
)
SEARCH_INDEX = re.compile(r"search[-_]?index", re.IGNORECASE)  # in the name of a script or JSON
MANIFEST = re.compile(r"MANIFEST-[0-9]{8,}\.json")  # of an index that clew saved
SCRIPTS = (".cjs", ".css", ".js", ".mjs")
OF_A_SITE = re.compile(r"(?:print|search|toc|genindex(?:-[\w-]+)?|py-modindex)\.html")
FOLDERS_OF_A_SITE = ("_sources", "_static")
MINIFIED_LINE = 110  # characters of the mean line of a script that no one has written
MIN_MINIFIED = 2000  # characters of a file that is judged by its lines
MAX_JUDGED = 65_536  # bytes at its beginning by which it is judged


def why_generated(file: Path) -> str | None:
    r"""Return why a file is not one to read, or None.

    Args:
        file: The file. A script is opened, to look at the length of its lines.

    Example:
        >>> why_generated(Path("web/poetry.lock")), why_generated(Path("web/quay.min.js"))
        ('a lock file', 'minified')
        >>> why_generated(Path("quay.svg")), why_generated(Path("quay.md"))
        ('a picture', None)
    """
    if file.name in LOCK_FILES:
        return "a lock file"
    if _is_search_index(file):
        return "a search index"
    suffixes = ["", "", *(suffix.lower() for suffix in file.suffixes)]
    if suffixes[-1] == ".svg":
        return "a picture"
    if suffixes[-1] == ".map" and suffixes[-2] in SCRIPTS:
        return "a source map"
    if suffixes[-1] in SCRIPTS and (".min" in suffixes or _is_minified(file)):
        return "minified"
    return None


def is_saved_index(names: Collection[str]) -> bool:
    """Return whether a folder with these files and folders is an index that clew saved.

    Example:
        >>> is_saved_index(["MANIFEST-00000001.json", "data"]), is_saved_index(["data"])
        (True, False)
    """
    return "data" in names and any(map(MANIFEST.fullmatch, names))


def is_built_site(folder: Path, names: Collection[str]) -> bool:
    """Return whether a folder is a site that was built of other files.

    Such a folder has a first page and the index of a search that runs in the browser: so do those
    that Sphinx, MkDocs, mdBook and others build.

    Args:
        folder: The folder.
        names: The files and folders in it.
    """
    if "index.html" not in names:
        return False
    there = [folder / name for name in names]
    if "search" in names:
        with suppress(OSError):  # no folder, or one that cannot be opened: see where it is walked
            there += (folder / "search").iterdir()
    return any(map(_is_search_index, there))


def why_of_a_site(path: PurePath) -> str | None:
    """Return why a file or folder of a built site is not one to read, or None.

    Left out are the scripts and styles, the sources that the pages were built of, and pages that
    say again what others say.

    Example:
        >>> why_of_a_site(PurePath("book/print.html")), why_of_a_site(PurePath("book/quay.html"))
        ('of a built site', None)
    """
    is_of_it = (
        path.suffix.lower() in SCRIPTS
        or OF_A_SITE.fullmatch(path.name)
        or path.name in FOLDERS_OF_A_SITE
    )
    return "of a built site" if is_of_it else None


def _is_search_index(file: Path) -> bool:
    is_named_so = SEARCH_INDEX.search(file.stem) and file.suffix.lower() in (".js", ".json")
    return bool(is_named_so) and _has_long_lines(file)


def _is_minified(file: Path) -> bool:
    try:
        return file.stat().st_size >= MIN_MINIFIED and _has_long_lines(file)
    except OSError:  # reported where it is read
        return False


def _has_long_lines(file: Path) -> bool:
    try:
        if not file.is_file():  # to open a pipe would never end
            return False
        with file.open("rb") as opened:
            beginning = opened.read(MAX_JUDGED)
    except OSError:  # reported where it is read
        return False
    return len(beginning) > MINIFIED_LINE * (beginning.count(b"\n") + 1)
