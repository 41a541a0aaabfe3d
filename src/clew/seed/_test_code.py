"""Which files of source code test, by their paths."""

from __future__ import annotations

import re

from clew.text.code_languages import FILE_SUFFIXES_OF_CODE

_FOLDERS = frozenset(("test", "tests", "__tests__", "spec", "specs", "js_tests"))
_DATA_FOLDERS = frozenset(
    ("testdata", "test_data", "test-data", "fixtures", "__fixtures__", "__snapshots__")
)
_TEST_FILE = re.compile(r"(?:\Atest[_-]|\Atests\Z|\Aconftest\Z|[._-](?:tests?|spec)\Z)")
_TEST_CLASS = re.compile(r"[a-z0-9](?:Tests?|Spec)\Z")  # as Java and C# call a file
_TEST_SUFFIX = re.compile(r"[a-z]+test\Z")  # of a case, as .caddyfiletest
_DOCUMENT = re.compile(r"(?:md|markdown|rst|txt|html?|adoc|org|tex|pdf|docx|ipynb)?\Z")
_MAX_NAME = 1_000  # signs of a path, from its end


def is_test_code(path: str) -> bool | None:
    """Return whether a file of source code tests, as languages call such files; None for no code.

    Example:
        >>> paths = ("tests/a.py", "src/test_kiln.py", "kiln_test.go", "KilnTest.java", "a.spec.ts")
        >>> [is_test_code(path) for path in paths]
        [True, True, True, True, True]
        >>> [is_test_code(path) for path in ("src/kiln.py", "src/latest.py", "tests/README.md")]
        [False, False, None]
    """
    folders, stem, suffix = _parts(path)
    if f".{suffix}" not in FILE_SUFFIXES_OF_CODE:
        return None
    if not (_FOLDERS | _DATA_FOLDERS).isdisjoint(folders):
        return True
    return bool(_TEST_FILE.search(stem.lower()) or _TEST_CLASS.search(stem))


def is_test_data(path: str) -> bool:
    """Return whether tests read a file: it stands among their data, or beside them and is no text.

    Example:
        >>> paths = ("web/testdata/home.html", "tests/kiln.json", "cases/log.caddyfiletest")
        >>> [is_test_data(path) for path in paths]
        [True, True, True]
        >>> [is_test_data(path) for path in ("tests/README.md", "docs/kiln.html", "kiln.latest")]
        [False, False, False]
    """
    folders, _, suffix = _parts(path)
    if not _DATA_FOLDERS.isdisjoint(folders):
        return True
    if not _FOLDERS.isdisjoint(folders):
        return not _DOCUMENT.match(suffix)
    return bool(_TEST_SUFFIX.match(suffix)) and suffix != "latest"


def _parts(path: str) -> tuple[list[str], str, str]:
    """Return the folders, the name without its suffix, and the suffix of a path."""
    *folders, name = path[-_MAX_NAME:].replace("\\", "/").split("/")
    stem, dot, suffix = name.rpartition(".")
    return [one.lower() for one in folders], stem if dot else name, suffix.lower() if dot else ""
