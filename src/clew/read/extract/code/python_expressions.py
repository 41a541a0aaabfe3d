"""What is kept of an expression in Python: as much as says what it refers to.

A syntax tree holds hundreds of bytes for each node, and takes long to send to another process.
"""

from __future__ import annotations

import ast
from typing import NamedTuple, TypeAlias

MAX_NESTED = 26  # expressions, one in another; names are followed for fewer steps
OBJECTS = (  # what is an object of a built-in type
    ast.JoinedStr,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.Tuple,
    ast.ListComp,
    ast.DictComp,
    ast.SetComp,
    ast.GeneratorExp,
)


class Attribute(NamedTuple):
    """An attribute of what an expression refers to."""

    of: Expression
    name: str


class Call(NamedTuple):
    """A call, and whether it has positional arguments."""

    function: Expression
    has_arguments: bool


class Awaited(NamedTuple):
    """What is awaited."""

    value: Expression


class Parameterised(NamedTuple):
    """A subscript, such as `Optional[Box]`: the last name before it, and what comes first in it."""

    name: str
    first: Expression


class Operation(NamedTuple):
    """An operation on two expressions, such as `Box | None`."""

    left: Expression
    right: Expression


class Literal(NamedTuple):
    """A constant, and its text where it is one."""

    text: str | None


class Built(NamedTuple):
    """An object of a built-in type that is not a constant, such as a list."""


Expression: TypeAlias = (
    str | Attribute | Call | Awaited | Parameterised | Operation | Literal | Built | None
)
"""A name as a string, what is made of expressions, or None for what refers to nothing known."""


def expression_of(node: ast.expr | None, depth: int = 0) -> Expression:
    """Return what is kept of an expression.

    Args:
        node: Its node; None where there is none.
        depth: How many expressions are around it.

    Example:
        >>> expression_of(ast.parse("box.open", mode="eval").body)
        Attribute(of='box', name='open')
    """
    if isinstance(node, ast.Name):
        return node.id
    if node is None or depth > MAX_NESTED:
        return None
    depth += 1
    if isinstance(node, ast.Attribute):
        return Attribute(expression_of(node.value, depth), node.attr)
    if isinstance(node, ast.Call):
        return Call(expression_of(node.func, depth), bool(node.args))
    if isinstance(node, ast.Constant):
        return Literal(node.value if isinstance(node.value, str) else None)
    if isinstance(node, OBJECTS):
        return Built()
    if isinstance(node, ast.Await):
        return Awaited(expression_of(node.value, depth))
    if isinstance(node, ast.BinOp):
        return Operation(expression_of(node.left, depth), expression_of(node.right, depth))
    if isinstance(node, ast.Subscript):
        name = str(getattr(node.value, "id", getattr(node.value, "attr", "")))
        inner = node.slice.elts[:1] if isinstance(node.slice, ast.Tuple) else [node.slice]
        return Parameterised(name, expression_of(inner[0], depth) if inner else None)
    return None


def last_name(expression: Expression) -> str:
    """Return the name that an expression ends with, or "".

    Example:
        >>> last_name("Box"), last_name(Attribute("box", "open")), last_name(None)
        ('Box', 'open', '')
    """
    if isinstance(expression, str):
        return expression
    return expression.name if isinstance(expression, Attribute) else ""
