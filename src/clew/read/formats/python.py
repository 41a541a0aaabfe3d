"""The outline of a Python module: classes, functions, statements and imports.

The standard library's own parser reads it. A use of an imported name refers to the module that the
name comes from, so that pieces are linked to the modules that they call.
"""

from __future__ import annotations

import ast
import gc
import re
import threading
import unicodedata
import warnings
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from clew.document import Document
from clew.read.formats.outline import Block, Outline, Share
from clew.read.formats.packages import package_of
from clew.read.formats.source_file import SourceFile
from clew.read.formats.statements import Statement, outline_parts, shorten_signature
from clew.syntax_trees import parse_python
from clew.text.spans import paragraphs

_LINE_END = re.compile(r"\r\n?|\n")
# Where a statement begins that is inside no other, unless it goes on with one before it.
_TOP_LEVEL = re.compile(r"^(?!elif\b|else\b|except\b|finally\b)[^\W\d]|^@", re.MULTILINE)
# The fields of each kind of node in which there may be nodes with a name.
_NAMELESS = {
    "arg",
    "asname",
    "attr",
    "ctx",
    "id",
    "is_async",
    "kind",
    "level",
    "module",
    "op",
    "ops",
    "type_comment",
}
NAME_FIELDS: dict[type, tuple[str, ...]] = {
    kind: () if kind is ast.Constant else tuple(f for f in kind._fields if f not in _NAMELESS)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
# The fields in which a statement has other statements, or branches with such.
_BRANCHES: dict[type, tuple[str, ...]] = {
    kind: tuple(
        field
        for field in kind._fields
        if field in ("body", "handlers", "orelse", "finalbody", "cases")
    )
    for kind in NAME_FIELDS
    if issubclass(kind, (ast.stmt, ast.ExceptHandler, ast.match_case))
}
_PLAIN_VALUES = {bool, int, str, type(None)}  # which are written as `repr` does
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Place = Callable[[int, int], int]  # line from 1, column in bytes -> place in the text


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the module as one document; a file of which nothing parses is read as text."""
    text = file.text()
    tree = parse(text)
    if isinstance(reason := tree, str):
        if not any(part.tree is not None and part.tree.body for part in parse_parts(text)):
            file.report(f"read as text: no Python of this version ({reason})")
            yield file.document(text)
            return
        file.report(f"read in parts: not all is Python of this version ({reason})")
    module = module_name(file.path, file.id)
    document = file.document(text, "python", title=f"module {module}", module=module)
    _BEING_READ.parsed = None if isinstance(tree, str) else (text, tree)
    try:
        yield document
    finally:
        _BEING_READ.parsed = None


def outline(text: str, share: Share) -> Outline:
    r"""Return the headings, blocks and links of a module.

    A text of which nothing parses, such as a piece of a module, is cut by its paragraphs.

    Example:
        >>> outline("import os\n", lambda start, end: 0.1).links
        ((0, 'module:os'),)
    """
    module = list(parse_parts(text))
    if all(part.tree is None for part in module):
        return Outline(tuple(Block(start, end, "lines") for start, end in paragraphs(text)))
    place = place_finder(text)
    statements: list[Statement] = []
    for part in module:
        if part.tree is not None:
            statements += [_statement(node, place) for node in part.tree.body]
        else:
            statements.append(Statement(part.start, part.end))
    parts = outline_parts(text, statements, share)
    trees = [part.tree for part in module if part.tree is not None]
    return Outline(tuple(parts), tuple(sorted(set(_references(text, trees, place)))))


class _BeingRead(threading.local):
    """The module that a thread is reading, so that it is not parsed again to be cut meanwhile.

    Attributes:
        parsed: Its text, and its tree, which nobody changes; None where none is being read.
    """

    parsed: tuple[str, ast.Module] | None = None


_BEING_READ = _BeingRead()


def parse(text: str) -> ast.Module | str:
    """Return the syntax tree of a module, or the reason why there is none."""
    collects = gc.isenabled()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in someone else's code
            gc.disable()  # the collector looks at half a tree again and again, and finds nothing
            return parse_python(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes, or nested too deep
        return f"{type(error).__name__}: {error}"
    finally:
        if collects:
            gc.enable()


class ModulePart(NamedTuple):
    """A part of a module: text[start:end], and its syntax tree, None where it does not parse."""

    start: int
    end: int
    tree: ast.Module | None


def parse_parts(text: str) -> Iterator[ModulePart]:
    r"""Yield the parts of a module: all of it, or as much as parses together.

    A module with an error is cut at the lines that begin without space, and every part is parsed by
    itself. The trees have the line numbers of the whole.

    Example:
        >>> [part.tree is not None for part in parse_parts("a = 1\nb = (\nc = 3")]
        [True, False, True]
    """
    known = _BEING_READ.parsed
    tree = known[1] if known is not None and known[0] == text else parse(text)
    if not isinstance(tree, str):
        yield ModulePart(0, len(text), tree)
        return
    found = [start.start() for start in _TOP_LEVEL.finditer(text)]
    decorated = (i > 0 and text[found[i - 1]] == "@" for i in range(len(found)))
    starts = [start for start, is_within in zip(found, decorated, strict=True) if not is_within]
    line, counted = 0, 0
    for start, end in pairwise([*starts, len(text)]):
        line, counted = line + len(_LINE_END.findall(text, counted, start)), start
        part = parse(text[start:end])
        if isinstance(part, str):
            yield ModulePart(start, end, None)
        else:
            yield ModulePart(start, end, ast.increment_lineno(part, line) if line else part)


def module_name(file: Path, id: str = "") -> str:
    """Return the dotted name of a module: its path from its outermost package on.

    Without a package it is the whole path below the folder that is read; see `package_of`.

    Args:
        file: Its file.
        id: Its path below the folder that is read; "" where the file itself is.

    Example:
        >>> file = Path("/tmp/sea/moon.py")
        >>> module_name(file), module_name(file, "sea/moon.py")
        ('moon', 'sea.moon')
    """
    file = file.absolute()
    own = [] if file.stem == "__init__" else [file.stem]
    package = package_of(str(file.parent), id.rpartition("/")[0])
    return ".".join([*package, *own]) or file.parent.name or file.stem


class _Body(Sequence[Statement]):
    """The statements within another, made when one is asked for: most definitions are kept whole.

    Args:
        node: The node of the statement around them.
        place: Finds places in the text.
    """

    def __init__(self, node: ast.stmt, place: Place) -> None:
        self._node, self._place = node, place

    @overload
    def __getitem__(self, index: int) -> Statement: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Statement]: ...
    def __getitem__(self, index: int | slice) -> Statement | Sequence[Statement]:
        return self._statements[index]

    def __len__(self) -> int:
        return len(self._statements)

    def __iter__(self) -> Iterator[Statement]:
        return iter(self._statements)

    @cached_property
    def _statements(self) -> list[Statement]:
        return [_statement(node, self._place) for node in _inner(self._node)]


def _statement(node: ast.stmt, place: Place) -> Statement:
    start = place(node.lineno, node.col_offset)
    end = place(node.end_lineno or node.lineno, node.end_col_offset or 0)
    if not _BRANCHES[type(node)]:
        is_text = (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        return Statement(start, end, None, (), is_text)
    if isinstance(node, _DEFINITIONS):
        decorators = (place(mark.lineno, mark.col_offset) - 1 for mark in node.decorator_list)
        begin, is_function = min([start, *decorators]), not isinstance(node, ast.ClassDef)
        body = _Body(node, place)
        return Statement(begin, end, _signature(node), body, is_function=is_function)
    return Statement(start, end, None, _Body(node, place))


def _inner(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements directly within a compound one, those of its branches included."""
    for branch in _BRANCHES[type(node)]:
        for child in getattr(node, branch):
            if isinstance(child, ast.stmt):
                yield child
            else:
                yield from _inner(child)


def _signature(node: Definition) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(_unparse(base) for base in [*node.bases, *node.keywords])
        return shorten_signature(f"class {node.name}" + (f"({bases})" if bases else ""))
    returns = f" -> {_unparse(node.returns)}" if node.returns else ""
    keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return shorten_signature(f"{keyword} {node.name}({_arguments(node.args)}){returns}")


def _arguments(node: ast.arguments) -> str:
    """Return the source of arguments; most are plain, which take a tenth of the time."""
    if node.posonlyargs or any(one.annotation is not None for one in node.args):
        return _unparse(node)
    parts = [one.arg for one in node.args]
    if node.vararg or node.kwonlyargs or node.kwarg or node.defaults:
        defaults = [*map(_plain_source, node.defaults), *map(_plain_source, node.kw_defaults)]
        others = [one for one in (node.vararg, *node.kwonlyargs, node.kwarg) if one is not None]
        if None in defaults or any(one.annotation is not None for one in others):
            return _unparse(node)
        n = len(node.defaults)
        first = len(parts) - n
        parts[first:] = map("{}={}".format, parts[first:], defaults)
        if node.vararg or node.kwonlyargs:
            parts.append(f"*{node.vararg.arg if node.vararg else ''}")
        for one, default in zip(node.kwonlyargs, defaults[n:], strict=True):
            parts.append(f"{one.arg}={default}" if default else one.arg)
        if node.kwarg:
            parts.append(f"**{node.kwarg.arg}")
    return ", ".join(parts)


def _plain_source(node: ast.expr | None) -> str | None:
    """Return the source of a default value: "" where there is none, None for what is not plain."""
    if node is None:
        return ""
    if type(node) is ast.Name:
        return node.id
    if type(node) is ast.Constant and type(node.value) in _PLAIN_VALUES and node.kind is None:
        return repr(node.value)
    return None


def _unparse(node: ast.AST) -> str:
    """Return the source of an expression, or an ellipsis for one that is nested too deep."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return "…"


def _references(text: str, trees: Sequence[ast.Module], place: Place) -> Iterator[tuple[int, str]]:
    """Yield (place, module) for every import, and for every use of a name that one binds."""
    targets_of: dict[str, tuple[str, ...]] = {}
    lines = _LinesWithWords(text)
    for node in _statements_with(trees, lines.with_any(["import"])):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            start = place(node.lineno, node.col_offset)
            for name, targets in _imported_names(node):
                targets_of[name] = targets
                yield from ((start, target) for target in targets)
    for used in _names_with(trees, lines.with_any(targets_of)):
        if used.id in targets_of:
            start = place(used.lineno, used.col_offset)
            yield from ((start, target) for target in targets_of[used.id])


class _LinesWithWords:
    """The lines of a module that have certain words, by which a walk leaves out the others.

    Args:
        text: The module.
    """

    def __init__(self, text: str) -> None:
        self._text, self._ends = text, _line_ends(text)
        # The parser takes names in another form for the same, which no search would find.
        self._finds_names = text.isascii() or unicodedata.is_normalized("NFKC", text)

    def with_any(self, words: Collection[str]) -> Sequence[int]:
        r"""Return the lines, from 1, that have any of the words; all where they may.

        Example:
            >>> _LinesWithWords("import os\n\nos.sep").with_any(["os"])
            [1, 3]
        """
        if not self._finds_names:
            return range(1, len(self._ends) + 2)
        places = [place for word in words for place in self._places_of(word)]
        lines = np.searchsorted(self._ends, np.sort(np.array(places, np.int64)), side="right") + 1
        return list(dict.fromkeys(lines.tolist()))

    def _places_of(self, word: str) -> Iterator[int]:
        """Yield the places of a word; a search for several words at once takes longer."""
        text, length = self._text, len(word)
        place = text.find(word)
        while place >= 0:
            behind = place + length
            if not (text[place - 1 : place].isalnum() or text[behind : behind + 1].isalnum()):
                yield place
            place = text.find(word, behind)


def _statements_with(trees: Sequence[ast.Module], lines: Sequence[int]) -> Iterator[ast.AST]:
    """Yield the statements of trees that have any of some lines, in the order of `ast.walk`.

    Args:
        trees: The trees.
        lines: The lines, from 1, ascending.
    """
    for tree in trees:
        waiting: list[ast.AST] = [*tree.body]
        for node in waiting:
            if _has_line(node, lines):
                for field in _BRANCHES[type(node)]:
                    waiting += getattr(node, field)
                yield node


def _names_with(trees: Sequence[ast.Module], lines: Sequence[int]) -> list[ast.Name]:
    """Return the names in the statements that have any of some lines, in any order.

    Args:
        trees: The trees.
        lines: The lines, from 1, ascending.
    """
    names, waiting = list[ast.Name](), list[Any](trees)
    for node in waiting:
        kind = type(node)
        if kind in _BRANCHES and not _has_line(node, lines):
            continue
        for field in NAME_FIELDS[kind]:
            value: Any = getattr(node, field, None)
            for child in value if type(value) is list else (value,):
                of_child = type(child)
                if of_child is ast.Name:
                    names.append(child)
                elif NAME_FIELDS.get(of_child):  # none for a text, a number or nothing
                    waiting.append(child)
    return names


def _has_line(node: Any, lines: Sequence[int]) -> bool:  # noqa: ANN401  # a kind with branches
    """Return whether a statement has any of some lines; of a case of `match`, that is not known."""
    first = getattr(node, "lineno", None)
    if first is None:
        return True
    if marks := getattr(node, "decorator_list", None):
        first = min(first, marks[0].lineno)
    place = bisect_left(lines, first)
    return place < len(lines) and lines[place] <= (node.end_lineno or node.lineno)


def _imported_names(
    node: ast.Import | ast.ImportFrom,
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names that an import binds, each with the modules that it may come from.

    A module is `module:a.b`, or the path of its file for an import relative to this one.
    """
    targets: tuple[str, ...]
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield alias.asname or alias.name.partition(".")[0], (f"module:{alias.name}",)
        elif node.level == 0:
            targets = (f"module:{node.module}.{alias.name}", f"module:{node.module}")
            yield alias.asname or alias.name, targets
        else:
            package = "../" * (node.level - 1) + (node.module or "").replace(".", "/")
            inside = f"{package.rstrip('/')}/{alias.name}".lstrip("/")
            targets = (f"{inside}.py", f"{inside}/__init__.py")
            if node.module:
                targets += (f"{package}.py", f"{package}/__init__.py")
            else:
                targets += (f"{package}__init__.py",)
            yield alias.asname or alias.name, targets


@lru_cache(maxsize=1)  # several parts of the outline of one module ask for them
def _line_ends(text: str) -> list[int]:
    """Return the place behind every line but the last; nobody changes the list."""
    if "\r" in text:
        return [end.end() for end in _LINE_END.finditer(text)]
    if text.isascii():
        signs = np.frombuffer(text.encode("ascii"), np.uint8)
        ends: list[int] = (np.flatnonzero(signs == ord("\n")) + 1).tolist()
        return ends
    return list(accumulate(len(line) + 1 for line in text.split("\n")))[:-1]


def place_finder(text: str) -> Place:
    r"""Return the function: (line from 1, column in bytes) -> place in the text.

    Example:
        >>> place_finder("a\nbc")(2, 1)
        3
    """
    starts = [0, *_line_ends(text), len(text)]
    if text.isascii():
        return lambda line, column: starts[line - 1] + column

    def place(line: int, column: int) -> int:
        start = starts[line - 1]
        own = text[start : starts[line]]
        if not column or own.isascii():
            return start + column
        before = own.encode("utf-8", "surrogatepass")[:column]
        return start + len(before.decode("utf-8", "surrogatepass"))

    return place
