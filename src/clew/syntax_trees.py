"""Syntax trees of Python's own code, also where several threads parse at once.

Until Python 3.11.8 all threads count in one place how deep a tree is. Where one parses while
another one does, the tree may be right and the count wrong, which is a SystemError
(python/cpython#106905).
"""

from __future__ import annotations

import ast
from typing import Literal, overload

ATTEMPTS = 20


@overload
def parse_python(source: str, mode: Literal["exec"] = ...) -> ast.Module: ...
@overload
def parse_python(source: str, mode: Literal["eval"]) -> ast.Expression: ...
def parse_python(source: str, mode: Literal["exec", "eval"] = "exec") -> ast.AST:
    """Return the syntax tree of some Python code; parse again where another thread interfered.

    Args:
        source: The code.
        mode: "exec" for a module, "eval" for an expression.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: As `ast.parse` raises them.
        SystemError: Other threads interfered each time.

    Example:
        >>> parse_python("x = 1").body[0].lineno
        1
    """
    for left in reversed(range(ATTEMPTS)):
        try:
            return ast.parse(source, mode=mode)
        except SystemError:
            if not left:
                raise
    raise AssertionError  # there is a last attempt
