"""Which files of source code test, by their paths."""

from __future__ import annotations

import re

from clew.text.code_languages import CODE_SUFFIXES

_FOLDERS = frozenset(
    ("test", "tests", "__tests__", "spec", "specs", "js_tests", "testdata", "test_data")
)
_TEST_FILE = re.compile(r"(?:\Atest[_-]|\Atests\Z|\Aconftest\Z|[._-](?:tests?|spec)\Z)")
_TEST_CLASS = re.compile(r"[a-z0-9](?:Tests?|Spec)\Z")  # as Java and C# call a file
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
    *folders, name = path[-_MAX_NAME:].replace("\\", "/").split("/")
    stem, dot, suffix = name.rpartition(".")
    if f"{dot}{suffix}".lower() not in CODE_SUFFIXES:
        return None
    if any(folder.lower() in _FOLDERS for folder in folders):
        return True
    return bool(_TEST_FILE.search(stem.lower()) or _TEST_CLASS.search(stem))
