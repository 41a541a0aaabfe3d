"""The scopes of a Python module: the names that each binds, and the references in it.

The walk keeps a stack of its own, so that no nesting is too deep for it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from clew.read.extract.code.code_file import (
    CALLS,
    DECORATED_BY,
    INHERITS,
    RAISES,
    USES,
    CodeFile,
    Symbol,
)
from clew.read.extract.code.python_expressions import Expression, expression_of, last_name
from clew.read.formats.python import NAME_FIELDS, parse_parts, place_finder

WITH_NAMES = frozenset({ast.Name, *(kind for kind, fields in NAME_FIELDS.items() if fields)})
"""The kinds of node that hold names."""

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
DEFINITION, IMPORTED, TYPED, UNKNOWN = range(4)  # kinds of binding, the surest first
Place = Callable[[int, int], int]


Reference: TypeAlias = tuple[int, int, str, Expression]
"""An expression that refers to a symbol: where the name of the symbol stands, its line and its
place there in bytes; what the code around does to the symbol; and the expression. There are many,
which other processes are sent."""


class Imported(NamedTuple):
    """A name that an import binds: a module, or what is called `attribute` in there."""

    module: str
    attribute: str = ""


@dataclass(eq=False)
class Scope:
    """A module, class or function.

    Attributes:
        symbol: What it is.
        kind: "module", "class" or "function".
        parent: The scope around it.
        is_definition: Whether code can name it, as no lambda and no module.
        marks: The last names of its decorators.
        first: The name of the first argument of a function, or "".
        returns: What annotates the result of a function.
        raised: The last name of what a function raises that does nothing else; "" where it does
            nothing at all, None where it does more.
        place: (line, column) of its name.
        bindings: What its names are bound to, each with the kind of the binding.
        attributes: What `self.name` is bound to, for a class.
        references: The references in it.
        imports: (line, column, what is imported), for all that it imports.
        stars: The modules that it imports everything from.
        constants: (line, column) of the other names of a module that are assigned to.
    """

    symbol: Symbol
    kind: str
    parent: Scope | None = None
    is_definition: bool = False
    marks: tuple[str, ...] = ()
    first: str = ""
    returns: Expression = None
    raised: str | None = None
    place: tuple[int, int] = (1, 0)
    bindings: dict[str, tuple[int, Scope | Imported | Expression]] = field(default_factory=dict)
    attributes: dict[str, tuple[Scope, Expression]] = field(default_factory=dict)
    references: list[Reference] = field(default_factory=list)
    imports: list[tuple[int, int, Imported]] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    constants: dict[str, tuple[int, int]] = field(default_factory=dict)

    def bind(self, name: str, kind: int, value: Scope | Imported | Expression) -> None:
        """Bind a name, unless a surer binding is known."""
        if name not in self.bindings or kind < self.bindings[name][0]:
            self.bindings[name] = kind, value

    @property
    def own_class(self) -> Scope | None:
        """The class whose method this is, or that this is within."""
        scope: Scope | None = self
        while scope is not None:
            if scope.parent is not None and scope.parent.kind == "class":
                return scope.parent
            scope = scope.parent
        return None


@dataclass(eq=False)
class Module:
    """A module that was read.

    Attributes:
        file: Its file.
        scope: Its own scope.
        scopes: All scopes in it, its own first.
    """

    file: CodeFile
    scope: Scope
    scopes: list[Scope]

    @cached_property
    def place(self) -> Place:
        """Finds places in its text: (line, column in bytes) -> place."""
        return place_finder(self.file.text)


def read_module(file: CodeFile) -> Module:
    r"""Return the scopes of a module; of one that does not parse those of the parts that do.

    Example:
        >>> file = CodeFile("a.py", "python", "a", False, "class Box:\n    def open(self): ...")
        >>> [scope.symbol.name for scope in read_module(file).scopes]
        ['', 'Box', 'Box.open']
    """
    top = Scope(Symbol(file.module, ""), "module")
    reader = _Reader(file, [top])
    for part in parse_parts(file.text):
        if part.tree is not None:
            reader.read(part.tree, top)
    return Module(file, top, reader.scopes)


@dataclass(eq=False)
class _Reader:
    """Reads the scopes of one file."""

    file: CodeFile
    scopes: list[Scope]
    raised: set[int] = field(default_factory=set)  # ids of calls that are raised in this tree

    def read(self, tree: ast.Module, top: Scope) -> None:
        self.raised.clear()  # the nodes before are gone, and others may get their ids
        waiting: list[tuple[ast.AST, Scope]] = [(node, top) for node in reversed(tree.body)]
        while waiting:
            node, scope = waiting.pop()
            if type(node) is ast.Name:  # as every third one is
                self.name(node, scope)
                continue
            handler = HANDLERS.get(type(node))
            inner = _children(node, scope) if handler is None else [*handler(self, node, scope)]
            inner.reverse()
            waiting += inner

    def function(self, node: Function, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        own = self._open(node, scope)
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for argument in every:
            kind = TYPED if argument.annotation else UNKNOWN
            own.bind(argument.arg, kind, expression_of(argument.annotation))
        for rest in (node.args.vararg, node.args.kwarg):
            if rest is not None:
                own.bind(rest.arg, UNKNOWN, None)
        defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        yield from ((default, scope) for default in defaults)
        if isinstance(node, ast.Lambda):
            yield node.body, own
        else:
            yield from self._decorated(node, scope, own)
            yield from ((child, own) for child in node.body)

    def class_(self, node: ast.ClassDef, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        own = self._open(node, scope)
        for base in node.bases:
            plain = base.value if isinstance(base, ast.Subscript) else base
            found = base.lineno, base.col_offset, INHERITS, expression_of(plain)
            own.references.append(found)
        yield from self._decorated(node, scope, own)
        yield from ((keyword.value, scope) for keyword in node.keywords)
        yield from ((child, own) for child in node.body)

    def import_(self, node: ast.Import, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        for alias in node.names:
            imported = Imported(alias.name)
            scope.imports.append((node.lineno, node.col_offset, imported))
            if alias.asname is None:
                imported = Imported(alias.name.partition(".")[0])
            scope.bind(alias.asname or imported.module, IMPORTED, imported)
        return iter(())

    def import_from(self, node: ast.ImportFrom, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        module = node.module or ""
        if node.level:
            above = self.file.module.split(".")
            kept = len(above) - node.level + self.file.is_package
            module = ".".join([*above[: max(kept, 0)], *([module] if module else [])])
        for alias in node.names:
            if alias.name == "*":
                scope.stars.append(module)
                continue
            imported = Imported(module, alias.name)
            scope.imports.append((alias.lineno, alias.col_offset, imported))
            scope.bind(alias.asname or alias.name, IMPORTED, imported)
        return iter(())

    def call(self, node: ast.Call, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        relation = RAISES if id(node) in self.raised else CALLS
        scope.references.append(_reference(relation, node.func))
        if isinstance(node.func, ast.Attribute):
            yield node.func.value, scope
        elif not isinstance(node.func, ast.Name):
            yield node.func, scope
        yield from ((child, scope) for child in node.args)
        yield from ((keyword.value, scope) for keyword in node.keywords)

    def raise_(self, node: ast.Raise, scope: Scope) -> Iterable[tuple[ast.AST, Scope]]:
        if isinstance(node.exc, ast.Call):
            self.raised.add(id(node.exc))
        elif isinstance(node.exc, (ast.Name, ast.Attribute)):
            scope.references.append(_reference(RAISES, node.exc))
            return ()
        return _children(node, scope)

    def name(self, node: ast.Name, scope: Scope) -> None:
        if isinstance(node.ctx, ast.Load):
            scope.references.append((node.lineno, node.col_offset, USES, node.id))
        else:
            scope.bind(node.id, UNKNOWN, None)

    def assign(self, node: ast.Assign, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        for target in node.targets:
            self._assign(target, node.value, scope)
        yield from ((target, scope) for target in node.targets)
        yield node.value, scope

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        self._assign(node.target, node.annotation, scope)
        if node.value is not None:
            yield node.value, scope

    def with_item(self, node: ast.withitem, scope: Scope) -> Iterable[tuple[ast.AST, Scope]]:
        if node.optional_vars is not None:
            self._assign(node.optional_vars, node.context_expr, scope)
        return _children(node, scope)

    def handler(self, node: ast.ExceptHandler, scope: Scope) -> Iterable[tuple[ast.AST, Scope]]:
        if node.name:
            single = node.type if not isinstance(node.type, ast.Tuple) else None
            scope.bind(node.name, UNKNOWN if single is None else TYPED, expression_of(single))
        return _children(node, scope)

    def _open(self, node: ast.ClassDef | Function, scope: Scope) -> Scope:
        """Return the new scope of a definition; that of a lambda is known by the one around it."""
        if isinstance(node, ast.Lambda):
            own = Scope(scope.symbol, "function", scope)
        else:
            within = scope.symbol.name
            symbol = Symbol(self.file.module, f"{within}.{node.name}" if within else node.name)
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            own = Scope(symbol, kind, scope, True, _marks_of(node))
            own.place = node.lineno, node.col_offset
            scope.bind(node.name, DEFINITION, own)
        if not isinstance(node, ast.ClassDef):
            arguments = [*node.args.posonlyargs, *node.args.args]
            own.first = arguments[0].arg if arguments else ""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            own.returns, own.raised = expression_of(node.returns), _raised_alone(node)
        self.scopes.append(own)
        return own

    def _decorated(
        self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, own: Scope
    ) -> Iterator[tuple[ast.AST, Scope]]:
        for mark in node.decorator_list:
            target = mark.func if isinstance(mark, ast.Call) else mark
            # It is read where the definition is, by the names that are known around it.
            own.references.append(_reference(DECORATED_BY, target))
            if isinstance(mark, ast.Call):
                yield from ((child, scope) for child in mark.args)
                yield from ((keyword.value, scope) for keyword in mark.keywords)

    def _assign(self, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.bind(target.id, TYPED, expression_of(value))
            if scope.kind == "module":
                scope.constants.setdefault(target.id, (target.lineno, target.col_offset))
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            owner = scope.own_class
            if owner is not None and target.value.id == first_argument(scope):
                owner.attributes.setdefault(target.attr, (scope, expression_of(value)))


def first_argument(scope: Scope) -> str:
    """Return the name of the first argument of the method that this scope is, or is within."""
    method: Scope | None = scope
    while method is not None and (method.parent is None or method.parent.kind != "class"):
        method = method.parent
    return "" if method is None or "staticmethod" in method.marks else method.first


def _marks_of(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """Return the last names of decorators."""
    targets = [mark.func if isinstance(mark, ast.Call) else mark for mark in node.decorator_list]
    named = [one for one in targets if isinstance(one, (ast.Name, ast.Attribute))]
    return tuple(last_name(expression_of(one)) for one in named)


def _raised_alone(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """Return `Scope.raised` of a function, of which texts and other constants are left out."""
    body = (line for line in node.body if not _is_text(line))
    first = next(body, None)
    if first is None:
        return ""
    if not isinstance(first, ast.Raise):
        return None
    return last_name(
        expression_of(first.exc.func if isinstance(first.exc, ast.Call) else first.exc)
    )


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _reference(relation: str, expression: ast.expr) -> Reference:
    """Return a reference at the name that an expression ends with."""
    if isinstance(expression, ast.Attribute):
        width = len(expression.attr.encode())
        column = max((expression.end_col_offset or 0) - width, 0)
        line = expression.end_lineno or expression.lineno
        return line, column, relation, expression_of(expression)
    return expression.lineno, expression.col_offset, relation, expression_of(expression)


def _children(node: ast.AST, scope: Scope) -> list[tuple[ast.AST, Scope]]:
    """Return the nodes directly in one, without those that hold no names."""
    children: list[tuple[ast.AST, Scope]] = []
    for field_name in NAME_FIELDS[type(node)]:
        value: Any = getattr(node, field_name, None)
        if type(value) is list:
            children += [(child, scope) for child in value if type(child) in WITH_NAMES]
        elif type(value) in WITH_NAMES:
            children.append((value, scope))
    return children


HANDLERS: dict[type[ast.AST], Callable[..., Iterable[tuple[ast.AST, Scope]]]] = {
    ast.FunctionDef: _Reader.function,
    ast.AsyncFunctionDef: _Reader.function,
    ast.Lambda: _Reader.function,
    ast.ClassDef: _Reader.class_,
    ast.Import: _Reader.import_,
    ast.ImportFrom: _Reader.import_from,
    ast.Call: _Reader.call,
    ast.Raise: _Reader.raise_,
    ast.Assign: _Reader.assign,
    ast.AnnAssign: _Reader.annotated,
    ast.withitem: _Reader.with_item,
    ast.ExceptHandler: _Reader.handler,
}
