"""Signatures of Python as they would be written, without bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import griffe

WIDTH = 88  # columns, from which each parameter has a line of its own
MAX_VALUE = 160  # characters of a value that are shown
SHOWN_DECORATORS = (
    *("property", "cached_property", "classmethod", "staticmethod"),
    *("abstractmethod", "contextmanager", "asynccontextmanager", "deprecated"),
    *("dataclass", "final", "override", "runtime_checkable", "total_ordering"),
)


def signature_of(function: griffe.Function, name: str = "", *, bound: bool = False) -> str:
    """Return the signature of a function.

    Args:
        function: The function.
        name: What it is called instead, as a class is by its name.
        bound: Whether its first parameter is left out, as in a call of a class.
    """
    keyword = "" if bound else ("async def " if "async" in function.labels else "def ")
    parameters = list(_parameters(function, skip_first=bound))
    result = "" if bound or function.annotation is None else f" -> {function.annotation}"
    head = f"{keyword}{name or function.name}("
    return "\n".join([*decorators_of(function), _wrapped(head, parameters, result)])


def class_signature(of: griffe.Class, init: griffe.Function | None) -> list[str]:
    """Return how a class is declared, and how it is called where that is known."""
    bases = [str(base) for base in of.bases]
    bases += [f"{name}={value}" for name, value in getattr(of, "keywords", {}).items()]
    declared = _wrapped(f"class {of.name}(", bases, "") if bases else f"class {of.name}"
    written = ["\n".join([*decorators_of(of), declared])]
    if init is not None:
        written += [signature_of(one, of.name, bound=True) for one in init.overloads or [init]]
    return written


def attribute_signature(attribute: griffe.Attribute) -> str:
    """Return the name of an attribute, its type and its value, shortened where it is long."""
    annotation = "" if attribute.annotation is None else f": {attribute.annotation}"
    is_shown = attribute.value is not None and attribute.labels != {"instance-attribute"}
    value = " ".join(str(attribute.value).split()) if is_shown else ""
    if len(value) > MAX_VALUE:
        value = value[: MAX_VALUE - 1].rstrip() + "…"
    return f"{attribute.name}{annotation}" + (f" = {value}" if value else "")


def decorators_of(entry: griffe.Function | griffe.Class | griffe.Attribute) -> list[str]:
    """Return the decorators that say how a name is used."""
    found = [str(one.value) for one in getattr(entry, "decorators", ())]
    names = [one.partition("(")[0].rpartition(".")[2] for one in found]
    shown = zip(found, names, strict=True)
    return [
        f"@{one}"
        for one, name in shown
        if name in SHOWN_DECORATORS or name in ("setter", "deleter") or "abstract" in name
    ]


def parameter_names(function: griffe.Function) -> tuple[str, ...]:
    """Return the names of the parameters of a function."""
    return tuple(one.name for one in function.parameters)


def _parameters(function: griffe.Function, *, skip_first: bool) -> Iterator[str]:
    import griffe

    kinds = griffe.ParameterKind
    star_seen, slash_due = False, False
    for i, one in enumerate(function.parameters):
        if i == 0 and skip_first:
            slash_due = one.kind is kinds.positional_only
            continue
        if slash_due and one.kind is not kinds.positional_only:
            yield "/"
        slash_due = one.kind is kinds.positional_only
        if one.kind is kinds.keyword_only and not star_seen:
            star_seen = True
            yield "*"
        star_seen |= one.kind is kinds.var_positional
        stars = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(one.kind, "")
        annotation = "" if one.annotation is None else f": {one.annotation}"
        has_default = one.default is not None and not stars
        equals = (" = " if annotation else "=") if has_default else ""
        yield f"{stars}{one.name}{annotation}{equals}{one.default if has_default else ''}"
    if slash_due and not (skip_first and len(function.parameters) == 1):
        yield "/"


def _wrapped(head: str, parts: Sequence[str], result: str) -> str:
    line = f"{head}{', '.join(parts)}){result}"
    if len(line) <= WIDTH or not parts:
        return line
    return "\n".join([head, *(f"    {part}," for part in parts), f"){result}"])
