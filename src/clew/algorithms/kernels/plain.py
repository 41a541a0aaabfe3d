"""A loop as plain Python: the function as it is written, with a look at the clock in its loops.

Python reads a number from a list four times as fast as from an array. So a loop that is declared
with `lists` runs on lists: `on_lists` converts what it is called with, and what it returns.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from clew.syntax_trees import parse_python

TICK = "_clew_tick"  # the name by which the clock is looked at


class Loop(Protocol):
    """A declared loop; `compiled.Kernel` is the only one.

    Attributes:
        function: the function as it was written.
        options: of `numba.njit`.
        dispatcher: numba's own, once it has machine code.
        build: makes what machine code calls in its place; None where the function is compiled.
    """

    __name__: str
    function: Callable[..., Any]
    options: dict[str, Any]
    dispatcher: Any
    build: Callable[[], Any] | None

    def __hash__(self) -> int: ...

    @property
    def plain(self) -> Callable[..., Any]:
        """The function as Python runs it."""
        ...

    def call_unprepared(self, *arguments: Any) -> Any:
        """Answer a call for whose types there is no machine code yet."""
        ...


def build_plain(
    function: Callable[..., Any],
    tick: Callable[[], None],
    kernel: type[Loop],
    lists: bool = False,
) -> Callable[..., Any]:
    """Return the function with `tick()` at the head of its loops.

    A `for` inside of a loop that holds no further loop has none: the loop around it has one. The
    kernels that it calls are replaced by their own plain functions. Without source code, as in a
    frozen program, the loops stay as they are.

    Args:
        function: the loop as it was written.
        tick: what is called.
        kernel: the class of the kernels, which have an attribute `plain`.
        lists: whether it is called with lists in the place of arrays, and makes such.
    """
    namespace = with_replaced(
        function,
        lambda value: build_plain(value.function, tick, kernel, lists) if lists else value.plain,
        kernel,
    ) | {TICK: tick}
    if lists:
        namespace |= {"np": _Lists}
    source = _source_of(function)
    if source is None:
        return FunctionType(function.__code__, namespace, function.__name__)
    # Empty lines number the others as in the file; to raise the number of each node takes longest.
    module = parse_python("\n" * (function.__code__.co_firstlineno - 1) + source)
    (definition,) = module.body
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    _put_ticks(definition.body)
    exec(compile(module, function.__code__.co_filename, "exec"), namespace)  # noqa: S102 - our own source
    plain: Callable[..., Any] = namespace[function.__name__]
    return plain


def _source_of(function: Callable[..., Any]) -> str | None:
    """Return how a function is written; None where its source code is not there.

    `inspect` reads every token to find the last line, half of the time of a first call. The code
    of the function knows it, unless the interpreter keeps no places.
    """
    code = function.__code__
    places = (place for one in _codes_in(code) for place in one.co_positions())
    ends = [end for _, end, _, column in places if end and column is not None]
    written = linecache.getlines(code.co_filename, function.__globals__)
    lines = written[code.co_firstlineno - 1 : max(ends, default=0)]
    if not lines:
        try:
            lines = inspect.getsourcelines(function)[0]
        except OSError:
            return None
    return textwrap.dedent("".join(lines))


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield some code and that of the functions and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes_in(constant)


class _Lists:
    """What `np` is to a loop on lists."""

    int64 = int
    bool_ = bool
    inf = float("inf")

    @classmethod
    def zeros(cls, shape: int | tuple[int, int], kind: type = float) -> list[Any]:
        """Return zeros; rows of a matrix are lists of their own."""
        if isinstance(shape, tuple):
            return [cls.zeros(shape[1], kind) for _ in range(shape[0])]
        return [kind(0)] * shape

    empty = zeros

    @staticmethod
    def full(size: int, value: object) -> list[Any]:
        """Return a list of one value."""
        return [value] * size

    @staticmethod
    def array(values: list[Any], _: type) -> list[Any]:
        """Return the list."""
        return values


def on_lists(plain: Callable[..., Any], types: tuple[DTypeLike | None, ...]) -> Callable[..., Any]:
    """Return a function of arrays that calls a function of lists.

    What the function changes in its arguments is not seen outside.

    Args:
        plain: of `build_plain`, on lists.
        types: of the arrays that it returns, in their order; None for what is no array.
    """

    def run(*arguments: Any) -> Any:
        results = plain(*map(_with_lists, arguments))
        return tuple(
            result if type is None else np.array(result, type)
            for result, type in zip(results, types, strict=True)
        )

    return run


def _with_lists(argument: Any) -> Any:
    """Return an argument with lists in the place of arrays."""
    if isinstance(argument, np.ndarray):
        if argument.dtype == np.float32:
            raise TypeError("a loop on lists takes no float32, which Python would compute in 64")
        return argument.tolist()
    if isinstance(argument, tuple):
        fields = map(_with_lists, argument)
        return type(argument)(*fields) if hasattr(argument, "_fields") else tuple(fields)
    return argument


def with_replaced(
    function: Callable[..., Any], replace: Callable[[Any], Any], kernel: type[Loop]
) -> dict[str, Any]:
    """Return the function's globals, with the kernels that it calls replaced."""
    names = function.__globals__
    called = [name for name in names_in(function.__code__) if isinstance(names.get(name), kernel)]
    return names | {name: replace(names[name]) for name in called}


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names of the globals and attributes in some code, comprehensions included."""
    for one in _codes_in(code):
        yield from one.co_names


def _put_ticks(body: list[ast.stmt], *, in_a_loop: bool = False) -> bool:
    """Put the call at the head of every loop but the innermost; return whether there are loops.

    Statements alone are looked at: there are ten times as many expressions.
    """
    has_loops = False
    for statement in body:
        is_loop = isinstance(statement, (ast.For, ast.While))
        has_inner = [
            _put_ticks(inner, in_a_loop=in_a_loop or is_loop) for inner in _bodies_in(statement)
        ]
        if isinstance(statement, (ast.For, ast.While)):
            if isinstance(statement, ast.While) or any(has_inner) or not in_a_loop:
                call = ast.Expr(ast.Call(ast.Name(TICK, ast.Load()), [], []))
                first = ast.copy_location(call, statement.body[0])
                statement.body.insert(0, ast.fix_missing_locations(first))
            has_loops = True
        has_loops |= any(has_inner)
    return has_loops


def _bodies_in(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements in one."""
    for name in ("body", "orelse", "finalbody"):
        if inner := getattr(statement, name, None):
            yield inner
    for handler in getattr(statement, "handlers", ()):
        yield handler.body
