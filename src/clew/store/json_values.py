"""Python's plain values as JSON, and back exactly as they were: tuples stay tuples, keys that are numbers stay numbers.

What JSON has no word for is an object with one key that begins with a dollar sign; a dictionary that has such a key itself is written
as a list of its pairs, so that nothing can be taken for another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

DEEPEST = 64


def to_json(value: Any, where: str, depth: int = 0) -> Any:
    """Return `value` as JSON can hold it.

    Args:
        value: None, a bool, int, float or str, or lists, tuples and mappings of such. where: how to name it in an error.

    Raises:
        ValueError: naming the place of the first value that is none of these.
    """
    if depth > DEEPEST:
        raise ValueError(
            f"{where} is nested deeper than {DEEPEST} levels, or contains itself; a saved index cannot hold that"
        )
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # of an enumeration too, whose own __str__ says something else
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, (list, tuple)):
        items = [to_json(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
        return {"$tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, Mapping):
        pairs = [
            (
                to_json(key, f"a key of {where}", depth + 1),
                to_json(v, f"{where}[{key!r}]", depth + 1),
            )
            for key, v in value.items()
        ]
        simple = all(type(key) is str and not key.startswith("$") for key, _ in pairs)
        return dict(pairs) if simple else {"$pairs": [list(pair) for pair in pairs]}
    short = repr(value)
    short = short if len(short) <= 60 else short[:57] + "..."
    raise ValueError(
        f"{where} is a {type(value).__name__} ({short}), which a saved index cannot hold: "
        "make it text, a number, a list or a dictionary of such, or take it out"
    )


def from_json(value: Any) -> Any:
    """Return what `to_json` was given; raise ValueError for what it never writes."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if not any(key.startswith("$") for key in value):
        return {key: from_json(item) for key, item in value.items()}
    (key, held) = next(iter(value.items()))
    if len(value) == 1 and key == "$float" and held in ("nan", "inf", "-inf"):
        return float(held)
    if len(value) == 1 and key == "$tuple" and isinstance(held, list):
        return tuple(from_json(item) for item in held)
    if (
        len(value) == 1
        and key == "$pairs"
        and isinstance(held, list)
        and all(isinstance(pair, list) and len(pair) == 2 for pair in held)
    ):
        return {from_json(key): from_json(item) for key, item in held}
    raise ValueError(f"{sorted(value)} is no form of a value that an index saves")
