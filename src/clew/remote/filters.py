"""Wanted values of metadata as conditions of SQL: what a filter forbids is not read.

A node that has metadata of its own is allowed where these match. Every other node, and every fact,
is allowed where one of the passages is that it was read from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from clew.read.json_values import to_json
from clew.remote.protocol import Wanted
from clew.text.unicode_forms import unicode_forms

CONTENT_KINDS = ("passage", "sentence", "section", "document")
"""Kinds of node that have metadata of their own; others stay with what they were read from."""

READABLE = (
    "CASE WHEN strpos({0}.metadata::text, '\\u0000') + strpos({0}.metadata::text, '\\ud') > 0 THEN "
    "replace(replace({0}.metadata::text, '\\u0000', '\\uf8ff0000'), '\\ud', '\\uf8ffd')::json "
    "ELSE {0}.metadata END"
)
"""Metadata of a node without NUL and surrogates, with which PostgreSQL reads no JSON at all."""


def filter_of(alias: str, where: Wanted | None) -> tuple[str, tuple[object, ...]]:
    """Return the condition that a node is allowed, and the values that are bound in it.

    Args:
        alias: What the statement calls the node; a name of clew's own.
        where: The wanted values.

    Raises:
        TypeError: It is no mapping, such as a function, which a database cannot call.
    """
    if where is None:
        return "TRUE", ()
    if not isinstance(where, Mapping):
        raise TypeError(
            "a database keeps to a mapping of wanted metadata values, and to no function; "
            f"got a {type(where).__name__}"
        )
    own, values = _matches(alias, where)
    source, source_values = _matches("p", where)
    kinds = ", ".join(f"'{kind}'" for kind in CONTENT_KINDS)
    return (
        f"CASE WHEN {alias}.kind IN ({kinds}) THEN {own} ELSE EXISTS (SELECT 1 FROM clew_node p "
        f"WHERE p.index = {alias}.index AND p.number = ANY({alias}.read_from) AND {source}) END",
        (*values, *source_values),
    )


def filter_of_fact(alias: str, where: Wanted | None) -> tuple[str, tuple[object, ...]]:
    """Return the condition that a fact was read from an allowed passage, and its values."""
    if where is None:
        return "TRUE", ()
    filter_of(alias, where)  # refuses what is no mapping
    source, values = _matches("p", where)
    return (
        f"EXISTS (SELECT 1 FROM clew_node p WHERE p.index = {alias}.index "
        f"AND p.number = ANY({alias}.read_from) AND {source})",
        values,
    )


def _matches(alias: str, where: Wanted) -> tuple[str, tuple[object, ...]]:
    parts, values = list[str](), list[object]()
    for key, value in where.items():
        if str(key).startswith("$"):  # the store has these in a form of its own
            raise ValueError(f"a database cannot keep to metadata keys that begin with $: {key!r}")
        some = list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
        wanted = [_text_of(equal, key) for one in some for equal in _equal_values(one)]
        parts.append(
            "(SELECT CASE WHEN own.v = ANY(%s::text[]::jsonb[]) THEN TRUE "
            "WHEN jsonb_typeof(own.v) IN ('array', 'object') THEN EXISTS (SELECT 1 FROM "
            "jsonb_array_elements(CASE jsonb_typeof(own.v) WHEN 'array' THEN own.v "
            "ELSE COALESCE(own.v -> '$tuple', '[]') END) e WHERE e = ANY(%s::text[]::jsonb[])) "
            "ELSE FALSE END FROM (SELECT COALESCE(m.v -> %s, (SELECT pair.value -> 1 FROM "
            "json_array_elements(m.v -> '$pairs') pair WHERE (pair.value -> 0)::text = %s "
            f"LIMIT 1))::jsonb AS v FROM (SELECT {READABLE.format(alias)} AS v OFFSET 0) m "
            "OFFSET 0) own)"  # or it would be computed wherever it is named
        )
        name = _text_of(str(key), key)  # beside a key that JSON has not, such as 5, all are pairs
        values += [wanted, wanted, json.loads(name), name]
    return " AND ".join(parts) or "TRUE", tuple(values)


def _text_of(value: object, key: object) -> str:
    """Return a value as JSON, as `READABLE` makes it of what is in the database."""
    text = json.dumps(to_json(value, f"metadata {key!r}"), allow_nan=False)
    return text.replace("\\u0000", "\\uf8ff0000").replace("\\ud", "\\uf8ffd")


def _equal_values(value: object) -> list[object]:
    """Return the values that are equal where an index in memory filters, of which JSON has several.

    Such are 1 and True, 0 and False, and a letter with a mark as one system or another writes it.

    Example:
        >>> _equal_values(True), _equal_values(0.0), _equal_values(2)
        ([True, 1], [0.0, False], [2])
    """
    if isinstance(value, bool):
        return [value, int(value)]
    if isinstance(value, (int, float)) and value in (0, 1):
        return [value, bool(value)]
    return unicode_forms(value)
