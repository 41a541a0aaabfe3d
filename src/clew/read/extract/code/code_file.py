"""Files of source code, and what is read in them: symbols, and facts about them."""

from __future__ import annotations

from typing import NamedTuple

CALLS = "calls"
DECORATED_BY = "is decorated by"
DEFINES = "defines"
IMPORTS = "imports"
INHERITS = "inherits from"
OVERRIDES = "overrides"
RAISES = "raises"
REQUIRES = "requires"
USES = "uses"
BUILTIN_MEMBERS = frozenset(
    name
    for kind in (str, bytes, bytearray, list, dict, set, tuple, int, float, BaseException, object)
    for name in dir(kind)
)


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


def is_distinctive(name: str) -> bool:
    """Return whether a name is of several words, and of no built-in type of Python.

    Example:
        >>> is_distinctive("process_response"), is_distinctive("get"), is_distinctive("is_digit")
        (True, False, True)
    """
    inner = name.strip("_")
    several = "_" in inner or (inner != inner.lower() and inner[1:] != inner[1:].lower())
    return several and name not in BUILTIN_MEMBERS
