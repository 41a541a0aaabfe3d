"""Files of source code, and what is read in them: symbols, and facts about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

CALLS = "calls"
DECORATED_BY = "is decorated by"
DEFINES = "defines"
IMPORTS = "imports"
INHERITS = "inherits from"
OVERRIDES = "overrides"
RAISES = "raises"
REQUIRES = "requires"
USES = "uses"


class CodeFile(NamedTuple):
    """A file of source code.

    Attributes:
        id: The id of its document, which is its path.
        format: The name of its format, such as "python".
        module: Its dotted name, or its path in a language without such names.
        is_package: Whether it stands for the folder that it is in, as `__init__.py` does.
        text: Its text.
    """

    id: str
    format: str
    module: str
    is_package: bool
    text: str


class Symbol(NamedTuple):
    """What code defines, or a module.

    Attributes:
        module: The module that it is defined in; "" for a symbol of no file that was read.
        name: Its name in there, with dots, such as "Box.open"; "" for the module itself.
    """

    module: str
    name: str


class CodeFact(NamedTuple):
    """A fact about two symbols.

    Attributes:
        place: Where in the text of the file it is stated.
        subject: The symbol that does it.
        relation: What it does, such as "calls".
        object: The symbol that it is done to.
    """

    place: int
    subject: Symbol
    relation: str
    object: Symbol


class FactsOfFile(Protocol):
    """Yields the facts of one file."""

    def __call__(self) -> Iterator[CodeFact]: ...
