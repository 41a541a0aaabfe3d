"""Every example in a docstring is run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from importlib.util import find_spec
from pathlib import Path

import pytest

import clew

MODULES = ["clew", *(module.name for module in pkgutil.walk_packages(clew.__path__, "clew."))]
SOURCES = {name: find_spec(name).origin for name in MODULES if not name.endswith("__main__")}
PROMPTED = [
    name for name, file in SOURCES.items() if ">>>" in Path(file).read_text(encoding="utf-8")
]
FEWEST = 150  # modules with an example: that they are still collected is part of the test


def finder_of(name):
    return doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name), name)


@pytest.mark.parametrize("name", PROMPTED)
def test_the_examples_of_a_module_give_what_they_show(name, capsys):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for example in finder_of(name):
        if example.examples:
            runner.run(example)
    assert not runner.failures, capsys.readouterr().out


def test_most_modules_have_an_example():
    having = [name for name in PROMPTED if any(one.examples for one in finder_of(name))]
    assert len(having) >= FEWEST
    assert having == PROMPTED, "an example that is not found is not run"
