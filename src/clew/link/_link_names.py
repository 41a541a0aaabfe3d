"""The names that documents have, and those that links may mean."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import unquote, urldefrag

from clew.graph.link_targets import NO_PATHS, NOTE

FRONT_PAGES = ("index", "readme")  # the files that a link to their folder opens
NOTE_ENDINGS = (".md", ".markdown")  # of the files that programs for notes write
MODULE = "module:"  # the prefix of a link to a Python module
MAX_KNOWN = 32_768  # links whose names are kept for the next change, some 10 MB
NOT_PLAIN = re.compile(r"[%?\x00-\x20]")  # what an address may have that a path does not keep


def normalized_note(target: str) -> str:
    """Return the name of a note in a link with its folders, as names of notes are compared.

    Example:
        >>> normalized_note("note:People/Ann.md")
        'people/ann'
    """
    return composed(target.removeprefix(NOTE).strip(" /").lower().removesuffix(".md"))


def note_name(path: str) -> str:
    """Return the key of what links to notes name: the last part of a path without its suffix."""
    return f"{NOTE}{posixpath.basename(normalized_note(path))}"


def last_parts(reference: str) -> Collection[str]:
    """Return the last parts of all names that a link may mean, from any folder."""
    if reference.startswith(NO_PATHS):
        return ()
    names = possible_names(target_and_anchor(reference)[0], "")
    return {posixpath.basename(name) for name in names}


@lru_cache(maxsize=MAX_KNOWN)
def names_of_document(id: str, url: str, source: str, module: str) -> tuple[str, ...]:
    names = [normalized(name) for name in (id, url, source) if name]
    return (*names, f"{MODULE}{module}") if module else tuple(names)


@lru_cache(maxsize=MAX_KNOWN)
def paths_of(name: str) -> tuple[str, ...]:
    """Return the shorter names that a file has: without its ending, its folder for a front page."""
    path, ending = posixpath.splitext(name)
    folder, stem = posixpath.split(path)
    if not ending or "://" in name or name.startswith(MODULE):
        return ()
    return (path, folder) if folder and stem.lower() in FRONT_PAGES else (path,)


@lru_cache(maxsize=MAX_KNOWN)
def target_and_anchor(reference: str) -> tuple[str, str]:
    target, anchor = urldefrag(unquote(reference))
    return target, anchor


@lru_cache(maxsize=MAX_KNOWN)
def possible_names(target: str, folder: str) -> tuple[str, ...]:
    """The names that a target may mean, the likeliest first: from the folder, then absolute."""
    if not target:
        return ()
    if target.startswith(MODULE):
        path = target.removeprefix(MODULE).replace(".", "/")
        files = [f"{path}{end}" for end in (".py", "/__init__.py")]
        return target, *(normalized(posixpath.join(folder, file)) for file in files)
    absolute = normalized(target)
    return normalized(posixpath.join(folder, target)), absolute, absolute.lstrip("/")


def normalized(name: str) -> str:
    name = composed(name)
    return posixpath.normpath(name) if "://" not in name else name.rstrip("/")


def composed(name: str) -> str:
    """Return a name with letters and their marks in one character; macOS names files with two.

    Example:
        >>> composed("u\u0308ber.md") == "\u00fcber.md"
        True
    """
    return name if name.isascii() else unicodedata.normalize("NFC", name)
