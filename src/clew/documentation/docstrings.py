"""Docstrings in parts: text, parameters, results, errors and so on, by the style of each.

The library griffe knows the styles of Google, NumPy and Sphinx. Where words of a docstring are in
none of the parts that it makes, the docstring stays in one part, as it is written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clew.documentation.entries import DocItem, DocSection

if TYPE_CHECKING:
    import griffe

TITLES = {
    "parameters": "Parameters",
    "other parameters": "Other parameters",
    "type parameters": "Type parameters",
    "raises": "Raises",
    "warns": "Warns",
    "returns": "Returns",
    "yields": "Yields",
    "receives": "Receives",
    "attributes": "Attributes",
    "functions": "Functions",
    "classes": "Classes",
    "modules": "Modules",
    "type aliases": "Type aliases",
}
UNNAMED = ("raises", "warns")  # whose items are types
QUIET = {"warnings": False}
_WORD = re.compile(r"[^\W_]+")


def parse_docstring(docstring: griffe.Docstring | None) -> tuple[DocSection, ...]:
    """Return the parts of a docstring, in its order; none for no docstring."""
    if docstring is None or not docstring.value.strip():
        return ()
    whole = (DocSection(text=docstring.value),)
    import griffe

    quiet_google = {**QUIET, "trim_doctest_flags": False}
    quiet_google |= {"returns_multiple_items": False, "returns_named_value": False}
    options: Any = {
        "google": quiet_google,
        "numpy": {**QUIET, "trim_doctest_flags": False},
        "sphinx": QUIET,
    }
    try:
        found = griffe.parse_auto(docstring, per_style_options=options)
    except (griffe.GriffeError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return whole  # text that no style is meant for
    sections = tuple(part for section in found for part in _section(section))
    return sections if _has_all_words(docstring.value, sections) else whole


def _section(section: griffe.DocstringSection) -> Sequence[DocSection]:
    kind, value = section.kind.value, section.value
    if kind == "text":
        return [DocSection(text=value)]
    if kind == "examples":
        text = "\n\n".join(text for _, text in value)
        return [DocSection(section.title or "Examples", text)]
    if kind in ("admonition", "deprecated"):
        title = section.title or ("Deprecated" if kind == "deprecated" else value.kind)
        version = str(value.annotation or "") if kind == "deprecated" else ""
        return [DocSection(title, " ".join(filter(None, [version, value.description])))]
    items = tuple(_item(item, kind) for item in value)
    return [DocSection(section.title or TITLES.get(kind, kind.capitalize()), "", items)]


def _item(item: Any, kind: str) -> DocItem:  # noqa: ANN401  # one of many classes of griffe
    name = "" if kind in UNNAMED else str(getattr(item, "name", "") or "")
    annotation = str(getattr(item, "annotation", None) or "")
    return DocItem(name, annotation, item.description or "")


def _has_all_words(docstring: str, sections: Sequence[DocSection]) -> bool:
    """Return whether the parts have every word of a docstring as often, but for their titles."""
    texts = [
        word
        for section in sections
        for text in (
            section.title,
            section.text,
            *(part for item in section.items for part in item),
        )
        for word in _WORD.findall(text.lower())
    ]
    titles = " ".join(
        (*TITLES.values(), *TITLES, "args arguments keyword return yield raise example")
    )
    marks = (
        "param parameter arg type rtype var ivar cvar optional default exception except key default"
    )
    known = set(_WORD.findall(f"{titles} {marks}".lower()))
    lost = Counter(_WORD.findall(docstring.lower())) - Counter(texts)
    return not set(lost) - known
