"""A loop as plain Python: the function as it is written, with a look at the clock in every loop."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, Protocol

TICK = "_clew_tick"  # the name by which the clock is looked at


class Loop(Protocol):
    """A declared loop; `compiled.Kernel` is the only one.

    Attributes:
        function: the function as it was written.
        options: of `numba.njit`.
        dispatcher: numba's own, once it has machine code.
    """

    __name__: str
    function: Callable[..., Any]
    options: dict[str, Any]
    dispatcher: Any

    def __hash__(self) -> int: ...

    @property
    def plain(self) -> Callable[..., Any]:
        """The function as Python runs it."""
        ...

    def call_unprepared(self, *arguments: Any) -> Any:
        """Answer a call for whose types there is no machine code yet."""
        ...


def build_plain(
    function: Callable[..., Any], tick: Callable[[], None], kernel: type[Loop]
) -> Callable[..., Any]:
    """Return the function with `tick()` at the head of every loop.

    The kernels that it calls are replaced by their own plain functions. Without source code, as in
    a frozen program, the loops stay as they are.

    Args:
        function: the loop as it was written.
        tick: what is called.
        kernel: the class of the kernels, which have an attribute `plain`.
    """
    namespace = with_replaced(function, lambda value: value.plain, kernel) | {TICK: tick}
    try:
        source = textwrap.dedent(inspect.getsource(function))
        _, first_line = inspect.getsourcelines(function)
    except OSError:
        return FunctionType(function.__code__, namespace, function.__name__)
    module = _Ticking().visit(ast.parse(source))
    module.body[0].decorator_list = []
    ast.increment_lineno(ast.fix_missing_locations(module), first_line - 1)
    exec(compile(module, function.__code__.co_filename, "exec"), namespace)  # noqa: S102 - our own source
    plain: Callable[..., Any] = namespace[function.__name__]
    return plain


def with_replaced(
    function: Callable[..., Any], replace: Callable[[Any], Any], kernel: type[Loop]
) -> dict[str, Any]:
    """Return the function's globals, with the kernels that it calls replaced."""
    names = function.__globals__
    called = [name for name in names_in(function.__code__) if isinstance(names.get(name), kernel)]
    return names | {name: replace(names[name]) for name in called}


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names of the globals and attributes in some code, comprehensions included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


class _Ticking(ast.NodeTransformer):
    """Put the call at the head of every loop."""

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._with_tick(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._with_tick(node)

    def _with_tick(self, node: ast.For | ast.While) -> ast.AST:
        self.generic_visit(node)
        call = ast.Expr(ast.Call(ast.Name(TICK, ast.Load()), [], []))
        node.body.insert(0, ast.copy_location(call, node.body[0]))
        return node
