"""The outline of a Python module, by the standard library's own parser: classes, functions, statements, and what it imports.

A use of an imported name refers to the module it comes from, so that pieces are linked with the modules they call.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from clew.read.formats.outline import Block, Outline
from clew.read.formats.statements import Statement, headed_by, parts_of
from clew.text.spans import paragraphs

_LINE_END = re.compile(r"\r\n?|\n")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def outline(text: str, share: Callable[[int, int], float]) -> Outline:
    """Return what a module consists of; a text that is no whole module, such as a piece of one, is read by its paragraphs."""
    tree = parsed(text)
    if isinstance(tree, str):
        return Outline(tuple(Block(a, b, "lines") for a, b in paragraphs(text)))
    place = _places(text)
    return Outline(
        tuple(parts_of(text, _statements(tree.body, place), share)),
        tuple(sorted(set(_uses(tree, place)))),
    )


def parsed(text: str) -> ast.Module | str:
    """Return the tree of a module, or the reason why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # what the interpreter thinks of somebody's escapes is not the reader's business
            return ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (
        ValueError,
        RecursionError,
        MemoryError,
    ) as error:  # null bytes, and texts nested too deep for the parser
        return f"{type(error).__name__}: {error}"


def module_of(file: Path) -> str:
    """Return the dotted name of a module, by the packages that it lies in."""
    file = file.absolute()
    parts = [] if file.stem == "__init__" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").exists() and folder.name:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or file.stem


def _statements(
    body: Sequence[ast.stmt], place: Callable[[int, int], int]
) -> tuple[Statement, ...]:
    return tuple(_statement(node, place) for node in body)


def _statement(node: ast.stmt, place: Callable[[int, int], int]) -> Statement:
    start, end = (
        place(node.lineno, node.col_offset),
        place(node.end_lineno or node.lineno, node.end_col_offset or 0),
    )
    said = (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
    if isinstance(node, DEFINITIONS):
        start = min(
            start, *(place(mark.lineno, mark.col_offset) - 1 for mark in node.decorator_list), start
        )
        return Statement(start, end, _signature(node), _statements(node.body, place))
    return Statement(start, end, None, _statements(list(_within(node)), place), said)


def _within(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements directly within a compound one, those of its branches too."""
    for branch in ("body", "handlers", "orelse", "finalbody", "cases"):
        found = getattr(node, branch, ())
        for child in (
            found if isinstance(found, list) else ()
        ):  # the body of a lambda is an expression
            if isinstance(child, ast.stmt):
                yield child
            else:
                yield from _within(child)


def _signature(node: Any) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in [*node.bases, *node.keywords])
        return headed_by(f"class {node.name}" + (f"({bases})" if bases else ""))
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return headed_by(f"{kind} {node.name}({ast.unparse(node.args)}){returns}")


def _uses(tree: ast.Module, place: Callable[[int, int], int]) -> Iterator[tuple[int, str]]:
    """Every import, and every use of what it binds, with the modules that may be meant."""
    bound: dict[str, tuple[str, ...]] = {}
    names: list[ast.Name] = []
    waiting: list[Any] = [tree]
    for node in waiting:  # in the order of `ast.walk`, in a third of its time
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [one for one in value if isinstance(one, ast.AST)]
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            at = place(node.lineno, node.col_offset)
            for name, targets in _imported(node):
                bound[name] = targets
                yield from ((at, target) for target in targets)
        elif isinstance(node, ast.Name):
            names.append(node)
    for node in names:
        if node.id in bound:
            at = place(node.lineno, node.col_offset)
            yield from ((at, target) for target in bound[node.id])


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names that an import binds, each with the modules it may come from: `module:a.b`, or a path for one relative to this."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield alias.asname or alias.name.partition(".")[0], (f"module:{alias.name}",)
        elif node.level == 0:
            yield (
                alias.asname or alias.name,
                (f"module:{node.module}.{alias.name}", f"module:{node.module}"),
            )
        else:
            near = "../" * (node.level - 1) + (node.module or "").replace(".", "/")
            inside = f"{near.rstrip('/')}/{alias.name}".lstrip("/")
            own = (f"{near}.py", f"{near}/__init__.py") if node.module else (f"{near}__init__.py",)
            yield alias.asname or alias.name, (f"{inside}.py", f"{inside}/__init__.py", *own)


def _places(text: str) -> Callable[[int, int], int]:
    """From a line, counted from 1, and a column in bytes to the place in the text."""
    starts = [0, *(end.end() for end in _LINE_END.finditer(text)), len(text)]
    plain = text.isascii()

    def place(line: int, column: int) -> int:
        if plain or not column:
            return starts[line - 1] + column
        said = text[starts[line - 1] : starts[line]].encode("utf-8")
        return starts[line - 1] + len(said[:column].decode("utf-8", "ignore"))

    return place
