"""Runs tests of the suite as cases of a row, so that nothing is written twice."""

from __future__ import annotations

import inspect
import itertools
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.conftest import hashed_words
from tests.store.small import small_index


def run_cases(tests: Iterable[Callable[..., object]]) -> tuple[int, list[str]]:
    """Call tests with all their parameters; return how many cases there were, and what failed.

    Args:
        tests: Functions of the suite. Of fixtures they may take `embed`, `small`, `tmp_path`,
            `monkeypatch` and none besides.
    """
    small, cases, failures = small_index(hashed_words), 0, []
    for test in tests:
        for values in _parameters(test):
            with pytest.MonkeyPatch.context() as patched:
                fixtures = {
                    "embed": hashed_words,
                    "small": small,
                    "tmp_path": Path(tempfile.mkdtemp()),
                    "monkeypatch": patched,
                }
                wanted = inspect.signature(test).parameters
                given = {name: value for name, value in fixtures.items() if name in wanted}
                cases += 1
                try:
                    test(**given, **values)
                except pytest.skip.Exception:
                    cases -= 1
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # reported
                    words = str(error).splitlines() or [""]
                    failures.append(f"{test.__name__} {values}: {type(error).__name__} {words[0]}")
    return cases, failures


def _parameters(test: Callable[..., object]) -> list[dict[str, object]]:
    """Return the arguments that the parametrize marks of a test give it, one dictionary a case."""
    choices = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name != "parametrize":
            continue
        names, values = mark.args[:2]
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        rows = [
            value.values if hasattr(value, "marks") else value if len(names) > 1 else (value,)
            for value in values
        ]
        choices.append([dict(zip(names, row, strict=True)) for row in rows])
    return [
        {name: value for part in parts for name, value in part.items()}
        for parts in itertools.product(*choices)
    ]
