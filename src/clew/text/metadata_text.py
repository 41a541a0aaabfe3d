"""Values of metadata as texts: titles, and the names of files."""

from __future__ import annotations

from collections.abc import Mapping


def text_under(metadata: Mapping[str, object], key: str) -> str:
    """Return what metadata have under a key as a text, or "" where that says nothing.

    A table has NaN where a value is missing, and arrays, which name nothing.

    Example:
        >>> metadata = {"title": "Moon", "part": 3, "file_name": float("nan"), "source": None}
        >>> [text_under(metadata, key) for key in (*metadata, "page")]
        ['Moon', '3', '', '', '']
    """
    value = metadata.get(key)
    if isinstance(value, str):
        return value
    try:
        is_missing = bool(value != value)  # NaN is another than itself
        return "" if is_missing or not value else str(value)
    except (TypeError, ValueError):  # of what is neither true nor false: arrays, the NA of pandas
        return ""
