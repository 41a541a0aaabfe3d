"""What a reference says of source code: modules, their public names, and the documentation of each.

An entry has two dotted names. `path` is the one that a reader imports it by, and the anchor of the
entry; `defined_as` is where it is defined. They differ where a package passes on what a private
module of its own defines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["class", "function", "method", "property", "attribute", "type", "name"]


class SourcePlace(NamedTuple):
    """Where something stands: the id of a document, and lines from 1."""

    document: str
    line: int
    end: int


class DocItem(NamedTuple):
    """What documentation says of a parameter, an attribute, an error or a result.

    Attributes:
        name: Its name; "" where it has none, as most results.
        type: Its type as it is written, or "".
        text: What is written of it.
    """

    name: str
    type: str
    text: str


@dataclass(frozen=True)
class DocSection:
    """A part of documentation.

    Attributes:
        title: Its title; "" for text without one.
        text: Its text, in the markup of the source.
        items: What it lists.
    """

    title: str = ""
    text: str = ""
    items: tuple[DocItem, ...] = ()


@dataclass(frozen=True)
class Base:
    """A base class as it is written, and the dotted name of its definition; "" if unknown."""

    text: str
    defined_as: str = ""


@dataclass(frozen=True)
class PublicName:
    """A public name.

    Attributes:
        name: The name.
        kind: What it is.
        path: The dotted name that it is imported by; unique in a reference.
        defined_as: The dotted name of its definition.
        signatures: How it is written to be used, one for each overload; never its body.
        language: The language of the signatures.
        docs: Its documentation.
        place: Where it is defined.
        bases: The base classes of a class.
        members: The public members of a class, in the order of the source.
        inherited: For each base class that is documented: the dotted name of its definition, and
            the names of the members that it passes on.
        parameters: The names of its parameters.
        also: Names of special methods without documentation, and where each is.
    """

    name: str
    kind: Kind
    path: str
    defined_as: str
    signatures: tuple[str, ...]
    language: str
    docs: tuple[DocSection, ...]
    place: SourcePlace
    bases: tuple[Base, ...] = ()
    members: tuple[PublicName, ...] = ()
    inherited: tuple[tuple[str, tuple[str, ...]], ...] = ()
    parameters: tuple[str, ...] = ()
    also: tuple[tuple[str, SourcePlace], ...] = ()

    def walk(self) -> Iterator[PublicName]:
        """Yield this entry and all that are in it."""
        yield self
        for member in self.members:
            yield from member.walk()


class Reexport(NamedTuple):
    """A name that a module passes on: the name, and the dotted name of its definition."""

    name: str
    defined_as: str


@dataclass(frozen=True)
class DocumentedModule:
    """A module, or a file in a language without modules.

    Attributes:
        name: Its dotted name, or the path of the file.
        language: Its language.
        docs: Its documentation.
        place: Where it is; None for a package without a text of its own.
        entries: Its public names, in the order of the source.
        reexports: Names that it passes on from where they are documented.
    """

    name: str
    language: str
    docs: tuple[DocSection, ...]
    place: SourcePlace | None
    entries: tuple[PublicName, ...] = ()
    reexports: tuple[Reexport, ...] = ()

    def walk(self) -> Iterator[PublicName]:
        """Yield all entries of the module, those of classes included."""
        for entry in self.entries:
            yield from entry.walk()


@dataclass(frozen=True)
class CodeReference:
    """The public names of a corpus of source code.

    Attributes:
        modules: The modules, packages before what is in them.
        documents: The ids of the documents that the reference stands for: those of the modules,
            of private ones, and of tests and examples, whose calls are shown with what they call.
        examples: The ids of those that are tests and examples.
        failed: What could not be documented, each with the reason.
    """

    modules: tuple[DocumentedModule, ...]
    documents: frozenset[str]
    examples: frozenset[str] = frozenset()
    failed: tuple[tuple[str, str], ...] = ()

    def walk(self) -> Iterator[PublicName]:
        """Yield all entries."""
        for module in self.modules:
            yield from module.walk()
