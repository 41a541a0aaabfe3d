"""Every example in a docstring is run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import clew

MODULES = ["clew", *(module.name for module in pkgutil.walk_packages(clew.__path__, "clew."))]
FEWEST = 150  # modules with an example: that they are still collected is part of the test


def finder_of(name):
    return doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name), name)


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_the_examples_of_a_module_give_what_they_show(name, capsys):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for example in finder_of(name):
        if example.examples:
            runner.run(example)
    assert not runner.failures, capsys.readouterr().out


def test_most_modules_have_an_example():
    having = [name for name in MODULES if any(one.examples for one in finder_of(name))]
    assert len(having) >= FEWEST
