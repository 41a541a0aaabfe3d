"""Facts about Python code: names are resolved across the modules that were read.

What a name refers to is followed through imports, aliases, packages that pass on the names of
their modules, base classes, and the types that annotations and constructors show. A method of an
object of unknown type is taken for the only one of that name, where the name is distinctive;
otherwise it is left out. What the standard library or another package defines is no symbol here,
except as a base class.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

from clew.read.extract.code.code_file import (
    CALLS,
    DECORATED_BY,
    DEFINES,
    IMPORTS,
    INHERITS,
    OVERRIDES,
    REQUIRES,
    USES,
    CodeFact,
    Symbol,
    is_distinctive,
)
from clew.read.extract.code.python_expressions import (
    Attribute,
    Awaited,
    Built,
    Call,
    Expression,
    Literal,
    Operation,
    Parameterised,
    expression_of,
    last_name,
)
from clew.read.extract.code.python_scopes import (
    DEFINITION,
    TYPED,
    Imported,
    Module,
    Scope,
    first_argument,
)
from clew.syntax_trees import parse_python

MAX_STEPS = 25  # of a chain of names, imports or types; also against circles
MAX_BASES = 64  # classes that a member is looked for in
PROPERTIES = ("property", "cached_property")
WRAPPERS = ("Annotated", "ClassVar", "Final", "Optional", "Required", "Union")  # of a type
STANDARD = sys.stdlib_module_names
IGNORED_CONSTANTS = ("log", "logger")


class Package(NamedTuple):
    """A module or package, by its dotted name."""

    name: str


class External(NamedTuple):
    """What is defined elsewhere, by its dotted name; "" where it has none."""

    name: str = ""


class Instance(NamedTuple):
    """An object of a class."""

    of: Scope


class Super(NamedTuple):
    """The base classes of a class, as `super()` has them."""

    of: Scope


class Constant(NamedTuple):
    """A value of a module, and the expression that it is assigned."""

    module: Scope
    name: str


Meaning = Package | External | Instance | Super | Constant | Scope | None


@dataclass(frozen=True, eq=False)
class KnownModules:
    """Modules whose facts were read before: each is parsed again where a name leads to it.

    Attributes:
        documents: The document of each module, by its name.
        members: The document that has the only class member of a distinctive name; None where
            there are several.
        names: The last names of all symbols.
        binds: Whether the module that a document is binds a name, or imports everything ("*").
        read: Returns the module that a document is, the same object every time.
    """

    documents: Mapping[str, str]
    members: Mapping[str, str | None]
    names: AbstractSet[str]
    binds: Callable[[str, str], bool]
    read: Callable[[str], Module]


def read_python_facts(
    modules: Sequence[Module], before: KnownModules | None = None
) -> Iterator[list[CodeFact]]:
    r"""Yield the facts of each module.

    Args:
        modules: The modules.
        before: Others that they may name.

    Example:
        >>> text = "def cut(): ...\ndef build():\n    cut()"
        >>> from clew.read.extract.code.code_file import CodeFile
        >>> from clew.read.extract.code.python_scopes import read_module
        >>> module = read_module(CodeFile("a.py", "python", "a", False, text))
        >>> for fact in next(read_python_facts([module])):
        ...     print(".".join(fact.subject), fact.relation, ".".join(fact.object))
        a. defines a.cut
        a. defines a.build
        a.build calls a.cut
    """
    corpus = _Corpus.of(modules, before)
    for module in modules:
        yield list(_facts_of(module, corpus))


def distinctive_members(module: Module) -> dict[str, list[Scope]]:
    """Return the members of the classes of a module whose names are distinctive, by that name."""
    members: dict[str, list[Scope]] = {}
    for scope in module.scopes:
        name = scope.symbol.name.rpartition(".")[2]
        is_member = scope.parent is not None and scope.parent.kind == "class"
        if is_member and is_distinctive(name) and scope.is_definition:
            members.setdefault(name, []).append(scope)
    return members


def bound_names(module: Module) -> set[str]:
    """Return the names that a module binds, and "*" where it imports everything of another one."""
    return {*module.scope.bindings, *(["*"] if module.scope.stars else [])}


def last_names(module: Module) -> set[str]:
    """Return the last names of the symbols of a module."""
    names = {scope.symbol.name.rpartition(".")[2] for scope in module.scopes}
    return names.union(module.scope.constants)


@dataclass(eq=False)
class _Corpus:
    """All modules.

    Attributes:
        modules: The scope of each module that was read, by its name.
        packages: Every module's name, and all that these begin with.
        members: The only class member of each distinctive name; None where there are several.
        known: The last names of the symbols of the modules that were read first.
        before: Other modules, which are read where they are needed.
    """

    modules: dict[str, Scope]
    packages: set[str]
    members: dict[str, Scope | None]
    known: set[str]
    before: KnownModules | None = None
    cache: dict[tuple[Scope, str], Meaning] = field(default_factory=dict)

    @classmethod
    def of(cls, modules: Sequence[Module], before: KnownModules | None = None) -> _Corpus:
        by_name: dict[str, Scope] = {}
        members: dict[str, Scope | None] = {}
        names = set[str]()
        for module in modules:
            if before is None or module.file.module not in before.documents:
                by_name.setdefault(module.file.module, module.scope)
            names |= last_names(module)
            for name, scopes in distinctive_members(module).items():
                is_only = name not in members and len(scopes) == 1
                is_new = before is None or name not in before.members
                members[name] = scopes[0] if is_only and is_new else None
        every = by_name.keys() if before is None else by_name.keys() | before.documents.keys()
        packages = {
            ".".join(parts[:n])
            for parts in (name.split(".") for name in every)
            for n in range(1, min(len(parts), MAX_STEPS) + 1)
        }
        return cls(by_name, packages, members, names, before)

    def module(self, name: str) -> Scope | None:
        """Return the scope of a module; None where there is none of this name."""
        if name not in self.modules and self.before is not None and name in self.before.documents:
            self.modules[name] = self.before.read(self.before.documents[name]).scope
        return self.modules.get(name)

    def is_module(self, name: str) -> bool:
        """Return whether there is a module of this name."""
        return name in self.modules or (self.before is not None and name in self.before.documents)

    def _may_have(self, module: str, name: str) -> bool:
        """Return whether a module may have a name: False spares reading it."""
        document = None if self.before is None else self.before.documents.get(module)
        if self.before is None or document is None or module in self.modules:
            return True
        has = any(self.before.binds(document, one) for one in (name, "*"))
        return has or f"{module}.{name}" in self.packages

    def is_known(self, name: str) -> bool:
        """Return whether a symbol has this last name."""
        return name in self.known or (self.before is not None and name in self.before.names)

    def only_member(self, name: str) -> Scope | None:
        """Return the only class member of a distinctive name; None where there is not one."""
        if name not in self.members and self.before is not None:
            document = self.before.members.get(name)
            found: list[Scope] = []
            if document is not None:
                found = distinctive_members(self.before.read(document)).get(name, [])
            self.members[name] = found[0] if len(found) == 1 else None
        return self.members.get(name)

    def find_module(self, name: str, importer: Scope) -> str | None:
        """Return the name of the module or package that an import means, or None.

        A script may name a module beside it, and a module of the package that is read may stand
        there without the name of the package.
        """
        if name in self.packages:
            return name
        first = name.partition(".")[0]
        if first in STANDARD:
            return None
        above = importer.symbol.module.split(".")[:-1]
        for n in range(min(len(above), MAX_STEPS), 0, -1):
            folder = ".".join(above[:n])
            if not self.is_module(folder) and f"{folder}.{name}" in self.packages:
                return f"{folder}.{name}"
        shorter = name.partition(".")[2]
        return shorter if shorter.count(".") and self.is_module(shorter) else None

    def infer(self, node: Expression, scope: Scope, steps: int = 0) -> Meaning:
        """Return what an expression refers to, or None if nobody knows."""
        if node is None or steps > MAX_STEPS:
            return None
        if isinstance(node, str):
            return self.look_up(node, scope, steps + 1)
        if isinstance(node, Attribute):
            return self.member(self.infer(node.of, scope, steps + 1), node.name, steps + 1)
        if isinstance(node, Call):
            if node.function == "super" and not node.has_arguments:
                return None if scope.own_class is None else Super(scope.own_class)
            return self.result(self.infer(node.function, scope, steps + 1), steps + 1)
        if isinstance(node, Awaited):
            return self.infer(node.value, scope, steps + 1)
        return External() if isinstance(node, (Literal, Built)) else None

    def look_up(self, name: str, scope: Scope, steps: int) -> Meaning:
        """Return what a name means in a scope."""
        if name in ("self", "cls") or name == first_argument(scope):
            method = _method_around(scope)
            if method is not None and name == first_argument(scope) and method.parent is not None:
                return method.parent if "classmethod" in method.marks else Instance(method.parent)
        here: Scope | None = scope
        while here is not None:
            if name in here.bindings and (here.kind != "class" or here is scope):
                return self.bound(here, name, steps + 1)
            if here.kind == "module":
                return self.star(here, name, steps + 1) or (
                    External(f"builtins.{name}") if hasattr(builtins, name) else None
                )
            here = here.parent
        return None

    def bound(self, scope: Scope, name: str, steps: int) -> Meaning:
        """Return what a scope binds a name to."""
        key = scope, name
        if key in self.cache:
            return self.cache[key]
        if steps > MAX_STEPS:
            return None
        self.cache[key] = None  # for names that mean each other
        kind, value = scope.bindings[name]
        meaning: Meaning
        if kind == DEFINITION:
            assert isinstance(value, Scope)
            meaning = value
        elif isinstance(value, Imported):
            meaning = self.imported(value, scope, steps + 1)
        elif name in scope.constants:
            meaning = Constant(scope, name)
        elif kind == TYPED and not isinstance(value, Scope):
            meaning = self.type_of(value, scope, steps + 1)
        else:
            meaning = None
        self.cache[key] = meaning
        return meaning

    def star(self, module: Scope, name: str, steps: int) -> Meaning:
        """Return what a module has by importing everything of another one."""
        if steps > MAX_STEPS or name.startswith("_"):
            return None
        for other in module.stars:
            source = self.find_module(other, module) or ""
            found = self.module(source) if self._may_have(source, name) else None
            if found is not None and found is not module:
                meaning = self.member(Package(found.symbol.module), name, steps + 5)
                if meaning is not None and not isinstance(meaning, External):
                    return meaning
        return None

    def imported(self, imported: Imported, scope: Scope, steps: int) -> Meaning:
        """Return what an import means."""
        module = self.find_module(imported.module, scope)
        if module is None:
            return External(".".join(filter(None, imported)))
        if not imported.attribute:
            return Package(module)
        return self.member(Package(module), imported.attribute, steps + 1)

    def member(self, of: Meaning, name: str, steps: int) -> Meaning:
        """Return what `of.name` means."""
        if steps > MAX_STEPS or of is None:
            return None
        if isinstance(of, External):
            return External(f"{of.name}.{name}" if of.name else "")
        if isinstance(of, Package):
            return self._member_of_package(of, name, steps)
        if isinstance(of, Constant):
            return self.member(self.value_of(of, steps + 1), name, steps + 1)
        if isinstance(of, Scope):
            return self.in_class(of, name, steps) if of.kind == "class" else External()
        found = self.in_class(of.of, name, steps, above=isinstance(of, Super))
        is_property = isinstance(found, Scope) and any(mark in PROPERTIES for mark in found.marks)
        return self.result(found, steps + 1) if is_property and steps else found

    def _member_of_package(self, package: Package, name: str, steps: int) -> Meaning:
        module = self.module(package.name)
        if module is not None and name in module.bindings:
            return self.bound(module, name, steps + 1)
        if (inner := f"{package.name}.{name}") in self.packages:
            return Package(inner)
        return None if module is None else self.star(module, name, steps + 1)

    def in_class(self, cls: Scope, name: str, steps: int, above: bool = False) -> Meaning:
        """Return what a class, or else one of its bases, calls by a name.

        Args:
            cls: The class.
            name: The name.
            steps: The steps that were taken.
            above: Whether to begin with its bases.
        """
        waiting: list[Scope] = [cls]
        seen: set[int] = set()
        external = False
        while waiting and len(seen) < MAX_BASES:
            here = waiting.pop(0)
            if id(here) in seen:
                continue
            seen.add(id(here))
            if not (above and here is cls):
                if name in here.bindings:
                    return self.bound(here, name, steps + 1)
                if name in here.attributes:
                    where, value = here.attributes[name]
                    return self.type_of(value, where, steps + 1)
            bases = [self.base(base, here, steps + 1) for base in bases_of(here)]
            waiting = [base for base in bases if isinstance(base, Scope)] + waiting
            external = external or not all(isinstance(base, Scope) for base in bases)
        return External() if external else None

    def base(self, base: Expression, cls: Scope, steps: int = 0) -> Meaning:
        """Return what a base class is, by the names that are known around the class."""
        return self.infer(base, cls.parent or cls, steps + 1)

    def result(self, called: Meaning, steps: int) -> Meaning:
        """Return what a call gives."""
        if steps > MAX_STEPS or isinstance(called, External):
            return External() if isinstance(called, External) else None
        if isinstance(called, Scope) and called.kind == "class":
            return Instance(called)
        if isinstance(called, Scope) and called.kind == "function" and called.is_definition:
            if called.returns == "Self":
                return Instance(called.parent) if called.parent is not None else None
            return self.annotation(called.returns, called.parent or called, steps + 1)
        return None

    def value_of(self, constant: Constant, steps: int) -> Meaning:
        """Return what the value of a constant is, by its type or what it is assigned."""
        value = constant.module.bindings[constant.name][1]
        if isinstance(value, (Scope, Imported)):
            return None
        return self.type_of(value, constant.module, steps + 1)

    def type_of(self, value: Expression, scope: Scope, steps: int) -> Meaning:
        """Return what an assigned value is, or an object of the type that annotates it."""
        if isinstance(value, (Parameterised, Operation, Literal)):
            return self.annotation(value, scope, steps + 1)
        meaning = self.infer(value, scope, steps + 1)
        is_annotation = isinstance(meaning, Scope) and meaning.kind == "class"
        return Instance(meaning) if is_annotation and isinstance(meaning, Scope) else meaning

    def annotation(self, node: Expression, scope: Scope, steps: int) -> Meaning:
        """Return an object of the type that an annotation names."""
        if steps > MAX_STEPS or node is None:
            return None
        if isinstance(node, Literal):
            parsed = _parse_expression(node.text)
            if parsed is None:
                return External()
            return self.annotation(expression_of(parsed), scope, steps + 1)
        if isinstance(node, Operation):
            left = self.annotation(node.left, scope, steps + 1)
            if isinstance(left, Instance):
                return left
            return self.annotation(node.right, scope, steps + 1)
        if isinstance(node, Parameterised):
            if node.name not in WRAPPERS:
                return External()
            return self.annotation(node.first, scope, steps + 1)
        meaning = self.infer(node, scope, steps + 1)
        if isinstance(meaning, Scope):
            return Instance(meaning) if meaning.kind == "class" else None
        return meaning if isinstance(meaning, External) else None


def bases_of(cls: Scope) -> list[Expression]:
    """Return the base classes of a class."""
    return [expression for _, _, relation, expression in cls.references if relation == INHERITS]


def _facts_of(module: Module, corpus: _Corpus) -> Iterator[CodeFact]:
    top = module.scope.symbol
    for name, (line, column) in module.scope.constants.items():
        is_private = name.startswith("_") or name in IGNORED_CONSTANTS
        if not is_private and module.scope.bindings[name][0] >= TYPED:
            yield CodeFact(module.place(line, column), top, DEFINES, Symbol(top.module, name))
    for scope in module.scopes:
        if scope.parent is not None and scope.is_definition:
            yield from _facts_of_definition(module, scope, corpus)
        for line, column, imported in scope.imports:
            symbol = _symbol(corpus.imported(imported, scope, 0))
            if symbol is not None and symbol.module:
                yield CodeFact(module.place(line, column), scope.symbol, IMPORTS, symbol)
        yield from _facts_of_references(module, scope, corpus)


def _facts_of_definition(module: Module, scope: Scope, corpus: _Corpus) -> Iterator[CodeFact]:
    place, parent = module.place(*scope.place), scope.parent
    assert parent is not None
    yield CodeFact(place, parent.symbol, DEFINES, scope.symbol)
    if parent.kind != "class" or scope.kind != "function":
        return
    if is_abstract(scope):
        yield CodeFact(place, parent.symbol, REQUIRES, scope.symbol)
    name = scope.symbol.name.rpartition(".")[2]
    overridden = corpus.in_class(parent, name, 0, above=True)
    is_dunder = name.startswith("__") and name.endswith("__")
    if isinstance(overridden, Scope) and overridden.kind == "function" and not is_dunder:
        yield CodeFact(place, scope.symbol, OVERRIDES, overridden.symbol)


def _facts_of_references(module: Module, scope: Scope, corpus: _Corpus) -> Iterator[CodeFact]:
    for line, column, relation, expression in scope.references:
        around = scope.parent or scope if relation in (INHERITS, DECORATED_BY) else scope
        if relation == USES and isinstance(expression, str) and not corpus.is_known(expression):
            continue
        meaning = corpus.infer(expression, around)
        if meaning is None and relation == CALLS and isinstance(expression, Attribute):
            meaning = corpus.only_member(expression.name)
        symbol = _symbol(meaning)
        if symbol is None or symbol == scope.symbol:
            continue
        if not symbol.module and relation != INHERITS:
            continue
        if symbol.name or relation == INHERITS:
            yield CodeFact(module.place(line, column), scope.symbol, relation, symbol)


def _symbol(meaning: Meaning) -> Symbol | None:
    """Return the symbol of what code refers to; that of another package has no module."""
    if isinstance(meaning, Scope):
        return meaning.symbol if meaning.is_definition or meaning.parent is None else None
    if isinstance(meaning, Constant):
        return Symbol(meaning.module.symbol.module, meaning.name)
    if isinstance(meaning, Package):
        return Symbol(meaning.name, "")
    if isinstance(meaning, External) and meaning.name.partition(".")[0] not in STANDARD:
        is_builtin = not meaning.name or meaning.name.startswith("builtins.")
        return None if is_builtin else Symbol("", meaning.name)
    return None


def is_abstract(method: Scope) -> bool:
    """Return whether a method says that classes below must define it.

    It is marked as abstract, or does nothing but raise NotImplementedError, or is an empty method
    of a protocol.
    """
    if any(mark.startswith("abstract") for mark in method.marks):
        return True
    if method.raised == "" and method.is_definition:  # an empty one
        bases = bases_of(method.parent) if method.parent is not None else []
        return any(last_name(base) == "Protocol" for base in bases)
    return method.raised == "NotImplementedError"


def _method_around(scope: Scope) -> Scope | None:
    method: Scope | None = scope
    while method is not None and (method.parent is None or method.parent.kind != "class"):
        method = method.parent
    return method if method is not None and method.kind == "function" else None


def _parse_expression(value: object) -> ast.expr | None:
    """Return the expression in a text, such as an annotation in quotation marks."""
    if not isinstance(value, str):
        return None
    try:
        return parse_python(value.strip(), "eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
