"""The table of mutation testing is that of the code: its modules and tests exist, and every named mutant still changes a line."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HOUSE = HERE.parent / "src" / "clew"


@pytest.fixture(scope="module")
def mutation():
    spec = importlib.util.spec_from_file_location("clew_mutation", HERE / "mutation.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_modules_and_tests_exist_and_the_methods_are_all_there(mutation):
    for row, tests in mutation.TESTS.items():
        assert mutation.modules_of(row), row
        assert all((HERE / test.partition("::")[0]).exists() for test in tests)
    covered = {module for row in mutation.TESTS for module in mutation.modules_of(row)}
    for folder in ("methods/kurisu", "methods/da_rag", "algorithms/budgeted", "algorithms/steiner"):
        modules = {
            file.relative_to(HOUSE).with_suffix("").as_posix()
            for file in (HOUSE / folder).rglob("*.py")
            if file.name != "__init__.py"
        }
        assert modules <= covered


def test_named_mutants_change_one_line_and_remain_code(mutation):
    mutants = list(mutation.named_mutants())
    assert len(mutants) >= 11
    for mutant in mutants:
        original = (HOUSE / f"{mutant.module}.py").read_text("utf-8")
        assert mutation.significant(mutant.code) != mutation.significant(original)


def test_equivalent_mutants_are_of_lines_that_are_still_there(mutation):
    for module, lines in mutation.EQUIVALENT.items():
        original = (HOUSE / f"{module}.py").read_text("utf-8")
        for (before, after), why in lines.items():
            assert before in original, before
            assert after not in original or before in after
            assert why


def test_annotations_docstrings_and_compilation_are_no_mutants(mutation):
    plain = "def f(a: int | None) -> int:\n    'one'\n    return a + 1\n"
    noise = "@compiled(at_once=g)\n@lru_cache(9)\ndef f(a: int & None) -> str:\n    'two'\n    return a + 1\n"
    changed = "def f(a: int | None) -> int:\n    'one'\n    return a + 2\n"
    assert mutation.significant(plain) == mutation.significant(noise)
    assert mutation.significant(plain) != mutation.significant(changed)
    assert mutation.significant("zip(a, b, strict=True)") == mutation.significant("zip(a, b)")
    assert mutation.orders_texts("x >= 'kou'")
    assert not mutation.orders_texts("x != 'kou'")
