"""Options: one frozen dataclass declares them, and everything else passes it on whole.

A method that takes the fields of such a dataclass as keywords says so with `**keywords`. The
helpers here check the names of keywords, and show the fields in the method's signature and
documentation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import Field, fields
from itertools import takewhile
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Method = TypeVar("Method", bound=Callable[..., object])

INDENT = "    "


def option_names(options: type[DataclassInstance]) -> tuple[str, ...]:
    """Return the names of the options that a dataclass declares, in its order.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Drawing:
        ...     colour: str = "red"
        ...     width: int = 1
        >>> option_names(Drawing)
        ('colour', 'width')
    """
    return tuple(field.name for field in fields(options))


def check_names(keywords: Iterable[str], known: Iterable[str], taker: str) -> None:
    """Check the names of keyword arguments.

    Args:
        keywords: The names that came.
        known: The names that are taken.
        taker: What takes them, for the message.

    Raises:
        TypeError: Some name is not known. The message lists the known names.

    Example:
        >>> check_names(["color"], ["colour", "width"], "a drawing")
        Traceback (most recent call last):
        TypeError: a drawing does not take color; it takes colour, width
    """
    names = tuple(known)
    if unknown := sorted(set(keywords) - set(names)):
        raise TypeError(f"{taker} does not take {', '.join(unknown)}; it takes {', '.join(names)}")


def check_base(base: object, options: type[DataclassInstance], name: str) -> None:
    """Check all options in one value; None is always allowed.

    Args:
        base: The value.
        options: The dataclass that it is of.
        name: The name of the argument, for the message.

    Raises:
        TypeError: It is of another type, such as a dictionary.

    Example:
        >>> from clew import QueryOptions
        >>> check_base({"budget": 500}, QueryOptions, "options")
        Traceback (most recent call last):
        TypeError: options is a clew.QueryOptions; got a dict: give single options as keywords
    """
    if base is not None and not isinstance(base, options):
        raise TypeError(
            f"{name} is a clew.{options.__name__}; got a {type(base).__name__}: give single "
            "options as keywords"
        )


def documents_keywords(
    *options: type[DataclassInstance] | DataclassInstance,
) -> Callable[[Method], Method]:
    """Return a decorator for a method whose `**keywords` are the fields of dataclasses.

    The decorator writes the fields into the method's signature, and their descriptions, which are
    the `Attributes` of the dataclasses, in place of the line of the docstring that begins with
    "**keywords". So `help()` and editors at run time show every option.

    Args:
        *options: The dataclasses, or values of them whose fields are the defaults of the method.
    """

    def decorate(method: Method) -> Method:
        signature = inspect.signature(method)
        own = list(signature.parameters.values())
        named = [_parameter(field, some) for some in options for field in fields(some)]
        parameters = [*own[:-1], *named]  # the last one is **keywords
        method.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        attributes = [line for some in options for line in _attributes(some.__doc__ or "")]
        method.__doc__ = _with_attributes(method.__doc__ or "", attributes)
        return method

    return decorate


def _parameter(
    field: Field[object], options: type[DataclassInstance] | DataclassInstance
) -> inspect.Parameter:
    # A class has the defaults of its fields as attributes, as a value has what it was made with.
    default = getattr(options, field.name, inspect.Parameter.empty)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(field.name, keyword, default=default, annotation=field.type)


def _attributes(docstring: str) -> list[str]:
    """Return the lines of the `Attributes` section of a docstring."""
    lines = inspect.cleandoc(docstring).splitlines()
    start = lines.index("Attributes:") + 1 if "Attributes:" in lines else len(lines)
    return list(takewhile(lambda line: line.startswith(INDENT), lines[start:]))


def _with_attributes(docstring: str, attributes: list[str]) -> str:
    """Put descriptions in place of the entry for **keywords."""
    result = list[str]()
    for line in inspect.cleandoc(docstring).splitlines():
        result += attributes if line.strip().startswith("**keywords:") else [line]
    return "\n".join(result)
