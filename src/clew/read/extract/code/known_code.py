"""What files of source code teach: what they define, and what their symbols are called.

Of a file that was read before it is known what it defines, not how: where a name leads to it, it is
parsed again. All is counted by file, so that it goes with the file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from clew.read.extract.code.code_file import CodeFact, CodeFile, Symbol
from clew.read.extract.code.python_facts import (
    KnownModules,
    bound_names,
    distinctive_members,
    last_names,
)
from clew.read.extract.code.python_scopes import Module
from clew.read.extract.code.tagged_code import TaggedFile, defining
from clew.read.extract.knowledge import SYMBOLS_FORM, Knowledge
from clew.text.words import fold_case

"""How symbols are learnt: another number wherever the tables below count in another way."""
FILES = "symbols.files"  # id, format, module, whether it is a package: its passages
MEMBERS = "symbols.members"  # distinctive name of a member of a class, file: its definitions
LAST_NAMES = "symbols.last_names"  # last name of a symbol in Python: the modules that have one
BOUND = "symbols.bound"  # file in Python, name that it binds
DEFINITIONS = "symbols.definitions"  # file, name that it defines in another language
CALLED = "symbols.called"  # file, module, name, and what it is called in the facts of the file
BETWEEN = "\0"  # the parts of a text in these tables
PYTHON = "python"
PATH_MARK = ":"  # between the path of a file and a name in it


@dataclass(frozen=True, eq=False)
class ReadFile:
    """A file, where its passages begin in its text, and what its parser finds.

    Attributes:
        code: The file.
        begins: Where each passage begins, in order.
        positions: The position of each among all passages.
        module: Its scopes, where it is in Python.
        tagged: Its definitions and references, where it is in another language.
    """

    code: CodeFile
    begins: Sequence[int]
    positions: Sequence[int]
    module: Module | None = None
    tagged: TaggedFile | None = None

    def position_at(self, place: int) -> int:
        """Return the position of the passage that a place is in."""
        return self.positions[max(bisect_right(self.begins, place) - 1, 0)]


class Naming(NamedTuple):
    """What symbols are called.

    Attributes:
        names: The name of every symbol.
    """

    names: Mapping[Symbol, str]

    def grown(self, facts: Sequence[Sequence[CodeFact]]) -> Naming:
        """Return the names of these symbols, and of those in the facts of files.

        A new one has its short name, unless two would be the same: then it has its long name.
        """
        ends = ((fact.subject, fact.object) for of_file in facts for fact in of_file)
        new = {symbol: None for pair in ends for symbol in pair if symbol not in self.names}
        times = Counter(fold_case(_short(symbol)) for symbol in (*self.names, *new))
        names, taken = dict(self.names), set(map(fold_case, self.names.values()))
        for symbol in sorted(new, key=_is_small):  # a class is called by its bare name
            name = _short(symbol)
            if symbol.name and symbol.module and times[fold_case(name)] > 1:
                mark = PATH_MARK if "/" in symbol.module else "."
                name = f"{symbol.module}{mark}{symbol.name}"
            while fold_case(name) in taken:  # names that differ in case alone would be one entity
                name += "()"
            taken.add(fold_case(name))
            names[symbol] = name
        return Naming(names)

    def known_names(self, written: Iterable[str] | None = None) -> dict[str, str | None]:
        """Return the names by which a text may mean a symbol; None for those that are unclear.

        Args:
            written: The names that are looked for; None for all.
        """
        lasts = None if written is None else {name.rpartition(".")[2] for name in written}
        known: dict[str, str | None] = {}
        for symbol, name in self.names.items():
            package, last = symbol.module.partition(".")[0], symbol.name.rpartition(".")[2]
            if lasts is not None and lasts.isdisjoint(
                (last,) if last else (package, symbol.module.rpartition(".")[2])
            ):
                continue
            for form in {
                name,
                _short(symbol),
                last or symbol.module,
                ".".join(filter(None, symbol)),
                ".".join(filter(None, (package, symbol.name))),
            }:
                known[form] = name if known.get(form, name) == name else None
        return known


def code_knowledge(
    files: Sequence[ReadFile],
    facts: Sequence[Sequence[CodeFact]],
    names: Mapping[Symbol, str],
) -> Knowledge | None:
    """Return what files teach; None where a name has a character that no file of code has.

    Args:
        files: The files.
        facts: The facts of each.
        names: What the symbols in these are called.
    """
    tables: dict[str, Counter[str]] = {
        name: Counter() for name in (FILES, MEMBERS, LAST_NAMES, BOUND, DEFINITIONS, CALLED)
    }

    def add(table: str, *parts: str, times: int = 1) -> bool:
        tables[table][BETWEEN.join(parts)] += times
        return not any(BETWEEN in part for part in parts)

    plain = True
    for file, of_file in zip(files, facts, strict=True):
        id, format, module, is_package, _ = file.code
        package = "package" if is_package else ""
        plain &= add(FILES, id, format, module, package, times=len(file.positions))
        if file.module is not None:
            for name, scopes in distinctive_members(file.module).items():
                plain &= add(MEMBERS, name, id, times=len(scopes))
            for name in sorted(last_names(file.module)):
                plain &= add(LAST_NAMES, name)
            for name in sorted(bound_names(file.module)):
                plain &= add(BOUND, id, name)
        if file.tagged is not None:
            for name in dict.fromkeys(definition.name for definition in file.tagged.definitions):
                plain &= add(DEFINITIONS, id, name)
        ends = (end for fact in of_file for end in (fact.subject, fact.object))
        for symbol in dict.fromkeys(ends):  # in an order that is the same in every process
            plain &= add(CALLED, id, *symbol, names[symbol])
    return Knowledge(SYMBOLS_FORM, tables) if plain else None


def without_files(known: Knowledge, gone: Knowledge) -> Knowledge | None:
    """Return what is known without some files; None where a part of one of them stays.

    Args:
        known: What all files have taught.
        gone: What those files define, without what their symbols are called.
    """
    files = known.tables[FILES]
    if any(files.get(file) != passages for file, passages in gone.tables[FILES].items()):
        return None
    ids = {file.partition(BETWEEN)[0] for file in gone.tables[FILES]}
    called = {
        text: n for text, n in known.tables[CALLED].items() if text.partition(BETWEEN)[0] in ids
    }
    return known.shrunk(replace(gone, tables={**gone.tables, CALLED: called}))


@dataclass(frozen=True, eq=False)
class KnownCode:
    """The files of source code that were read before.

    Attributes:
        known: What they have taught.
    """

    known: Knowledge

    @cached_property
    def files(self) -> Mapping[str, CodeFile]:
        """The files by their ids, without their texts."""
        parts = (text.split(BETWEEN) for text in self.known.tables[FILES])
        return {
            id: CodeFile(id, format, module, bool(package), "")
            for id, format, module, package in parts
        }

    @cached_property
    def naming(self) -> Naming:
        """What their symbols are called."""
        names: dict[Symbol, str] = {}
        for text in self.known.tables[CALLED]:
            _, module, name, called = text.split(BETWEEN)
            names[Symbol(module, name)] = called
        return Naming(names)

    def modules(self, read: Callable[[str], Module]) -> KnownModules:
        """Return those in Python.

        Args:
            read: Returns the module of a document. It is called once for each.
        """
        documents: dict[str, str] = {}
        for file in self.files.values():
            if file.format == PYTHON:
                documents.setdefault(file.module, file.id)
        members: dict[str, str | None] = {}
        for text, times in self.known.tables[MEMBERS].items():
            name, document = text.split(BETWEEN)
            members[name] = document if times == 1 and name not in members else None
        modules: dict[str, Module] = {}

        def read_once(document: str) -> Module:
            if document not in modules:
                modules[document] = read(document)
            return modules[document]

        names, bound = self.known.tables[LAST_NAMES].keys(), self.known.tables[BOUND]

        def binds(document: str, name: str) -> bool:
            return f"{document}{BETWEEN}{name}" in bound

        return KnownModules(documents, members, names, binds, read_once)

    def tagged(self) -> list[TaggedFile]:
        """Return those in other languages, with the names that they define."""
        names: defaultdict[str, list[str]] = defaultdict(list)
        for text in self.known.tables[DEFINITIONS]:
            id, name = text.split(BETWEEN)
            names[id].append(name)
        files = (file for file in self.files.values() if file.format != PYTHON)
        return [defining(file, names[file.id]) for file in files]


def _short(symbol: Symbol) -> str:
    return symbol.name or symbol.module


def _is_small(symbol: Symbol) -> bool:
    return symbol.name.rpartition(".")[2][:1].islower()
