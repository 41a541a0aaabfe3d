"""The index composes values: what it is composed of does not know it, nor does the store."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import clew

SOURCE = Path(clew.__file__).parent
COMPOSED = ("index/index.py", "index/narrowing.py", "index/saving.py", "index/__init__.py")
OTHERS = sorted(
    path.relative_to(SOURCE).as_posix()
    for path in (SOURCE / "index").glob("*.py")
    if path.relative_to(SOURCE).as_posix() not in COMPOSED
)


def imported(name):
    """Every module that a module names in an import, wherever in its text."""
    for node in ast.walk(ast.parse((SOURCE / name).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("name", OTHERS)
def test_what_an_index_is_composed_of_does_not_know_it(name):
    above = ("clew.index.index", "clew.index.narrowing", "clew.index.saving", "clew.store")
    assert not [module for module in imported(name) if module.startswith(above)]


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "store").glob("*.py")), ids=lambda path: path.name
)
def test_the_store_knows_no_index(path):
    name = path.relative_to(SOURCE).as_posix()
    assert not [module for module in imported(name) if module.startswith("clew.index")]


def test_adapters_know_no_framework():
    frameworks = ("langchain", "llama_index", "pydantic")
    assert not [module for module in imported("adapters.py") if module.startswith(frameworks)]
