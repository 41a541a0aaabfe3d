"""Python's plain values as JSON, and back exactly as they were: tuples stay tuples.

What JSON has no word for is an object with one key that begins with a dollar sign. A dictionary
that has such a key itself, or a key that is no text, is written as a list of its pairs. So no value
can be taken for another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from clew.document import Document

MAX_DEPTH = 64


def to_json(value: object, where: str, depth: int = 0) -> Any:  # noqa: ANN401  # JSON
    """Return a value as JSON can hold it.

    Args:
        value: None, a bool, int, float or str, or lists, tuples and mappings of such.
        where: What an error calls it.
        depth: How deeply it is nested.

    Raises:
        ValueError: Naming the place of the first value that is none of these.

    Example:
        >>> to_json({"place": ("Corfu", 39.6)}, "metadata")
        {'place': {'$tuple': ['Corfu', 39.6]}}
    """
    if depth > MAX_DEPTH:
        raise ValueError(
            f"{where} is nested deeper than {MAX_DEPTH} levels, or contains itself; "
            "a saved index cannot hold that"
        )
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # an enumeration's own __str__ would name the member
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, (list, tuple)):
        items = [to_json(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
        return {"$tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, Mapping):
        return _mapping_to_json(value, where, depth)
    short = repr(value)
    short = short if len(short) <= 60 else short[:57] + "..."
    raise ValueError(
        f"{where} is a {type(value).__name__} ({short}), which a saved index cannot hold: "
        "make it text, a number, a list or a dictionary of such, or take it out"
    )


def check_savable(documents: Iterable[Document]) -> None:
    """Check that a saved index can hold the metadata of documents.

    Raises:
        ValueError: It cannot hold some value. The message names the document and the key.

    Example:
        >>> check_savable([Document("a", "The sea.", {"depth": 1.5})])
    """
    for document in documents:
        to_json(document.metadata, f"document {document.id!r}: metadata")


def _mapping_to_json(mapping: Mapping[object, object], where: str, depth: int) -> dict[str, object]:
    pairs = [
        (
            to_json(key, f"a key of {where}", depth + 1),
            to_json(value, f"{where}[{key!r}]", depth + 1),
        )
        for key, value in mapping.items()
    ]
    has_plain_keys = all(type(key) is str and not key.startswith("$") for key, _ in pairs)
    return dict(pairs) if has_plain_keys else {"$pairs": [list(pair) for pair in pairs]}


def from_json(value: Any) -> Any:  # noqa: ANN401  # JSON
    """Return what `to_json` was given.

    Raises:
        ValueError: `to_json` never writes such a value.

    Example:
        >>> from_json({"place": {"$tuple": ["Corfu", 39.6]}})
        {'place': ('Corfu', 39.6)}
    """
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if not any(key.startswith("$") for key in value):
        return {key: from_json(item) for key, item in value.items()}
    (key, content) = next(iter(value.items()))
    if len(value) == 1 and key == "$float" and content in ("nan", "inf", "-inf"):
        return float(content)
    if len(value) == 1 and key == "$tuple" and isinstance(content, list):
        return tuple(from_json(item) for item in content)
    if len(value) == 1 and key == "$pairs" and _is_list_of_pairs(content):
        return {from_json(key): from_json(item) for key, item in content}
    raise ValueError(f"{sorted(value)} is no form of a value that an index saves")


def _is_list_of_pairs(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 for pair in value
    )
