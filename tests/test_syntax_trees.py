"""Syntax trees are right whatever other threads parse."""

from __future__ import annotations

import ast
import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from clew.syntax_trees import ATTEMPTS, parse_python

MODULE = "\n".join(
    f"def f{i}(x):\n    return [y + {i} for y in x if y > (1 + (2 * (3 - x)))]" for i in range(30)
)


def _let_others_run(phase, info):
    time.sleep(0)


def test_threads_that_parse_at_once_have_the_tree_of_one():
    """The collector lets another thread run in the middle of a tree, as finalizers do."""
    wanted, thresholds = ast.dump(ast.parse(MODULE)), gc.get_threshold()
    gc.callbacks.append(_let_others_run)
    gc.set_threshold(50)
    try:
        with ThreadPoolExecutor(3) as threads:
            trees = list(threads.map(parse_python, [MODULE] * 120))
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(_let_others_run)
    assert {ast.dump(tree) for tree in trees} == {wanted}


@pytest.mark.parametrize("failures", [1, ATTEMPTS])
def test_code_is_parsed_again_until_no_thread_interferes(monkeypatch, failures):
    left = [SystemError("AST constructor recursion depth mismatch")] * failures
    parse = ast.parse

    def interfered(source, mode):
        if left:
            raise left.pop()
        return parse(source, mode=mode)

    monkeypatch.setattr(ast, "parse", interfered)
    if failures < ATTEMPTS:
        assert ast.dump(parse_python("x.y", "eval")) == ast.dump(parse("x.y", mode="eval"))
    else:
        with pytest.raises(SystemError, match="depth mismatch"):
            parse_python("x.y", "eval")


def test_code_that_is_no_python_is_parsed_once(monkeypatch):
    calls = []
    parse = ast.parse
    monkeypatch.setattr(ast, "parse", lambda *a, **k: calls.append(a) or parse(*a, **k))
    with pytest.raises(SyntaxError):
        parse_python("x =")
    assert len(calls) == 1
