"""Values as JSON that every reader takes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping


def to_json(content: object, *, indent: int | None = None, ascii_only: bool = True) -> str:
    r"""Return the content as JSON; a number that JSON has not, such as NaN, becomes null.

    Args:
        content: What is written. What JSON has no form for is written as `str` has it.
        indent: Spaces for each level, on lines of their own; None for one line.
        ascii_only: Whether all other characters are written as their numbers.

    Example:
        >>> to_json({"a": float("nan"), "b": "\ud800"})
        '{"a": null, "b": "\\ud800"}'
    """
    encoder = json.JSONEncoder(ensure_ascii=ascii_only, allow_nan=False, indent=indent, default=str)
    try:
        return encoder.encode(content)
    except ValueError:
        return encoder.encode(_finite(content))


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return value
