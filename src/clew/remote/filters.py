"""Wanted values of metadata as conditions of SQL: what a filter forbids is not read.

A node that has metadata of its own is allowed where these match. Every other node, and every fact,
is allowed where one of the passages is that it was read from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from clew.remote.protocol import Wanted

CONTENT_KINDS = ("passage", "sentence", "section", "document")
"""Kinds of node that have metadata of their own; others stay with what they were read from."""


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
        parts.append(
            f"COALESCE((SELECT bool_or(%s::jsonb @> e.v) FROM (SELECT ({alias}.metadata -> "
            "%s)::jsonb AS v UNION ALL SELECT jsonb_array_elements(CASE WHEN "
            f"json_typeof({alias}.metadata -> %s) = 'array' "
            f"THEN ({alias}.metadata -> %s)::jsonb ELSE '[]' END)) e), FALSE)"
        )
        values += [json.dumps(some), str(key), str(key), str(key)]
    return " AND ".join(parts) or "TRUE", tuple(values)
