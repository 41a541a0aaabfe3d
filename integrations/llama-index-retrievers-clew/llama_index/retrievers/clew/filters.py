"""Metadata filters become a plain function of metadata, nested ones included.

A filter that is answered by LlamaIndex's own in-memory stores is answered alike here. Where those raise because a document's value is of
another type than the filter's (a text compared with a number), the document does not match.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

Where = Callable[[Mapping[str, Any]], bool]
NUMBER, TEXT, LIST = (int, float), (str,), (list, tuple, set)

# operator -> (what its value must be, or None for anything; does metadata, which is not None, match the value?)
TESTS: dict[FilterOperator, tuple[tuple[type, ...] | None, Callable[[Any, Any], bool]]] = {
    FilterOperator.EQ: (None, lambda has, value: has == value),
    FilterOperator.NE: (None, lambda has, value: has != value),
    FilterOperator.GT: (NUMBER + TEXT, lambda has, value: has > value),
    FilterOperator.GTE: (NUMBER + TEXT, lambda has, value: has >= value),
    FilterOperator.LT: (NUMBER + TEXT, lambda has, value: has < value),
    FilterOperator.LTE: (NUMBER + TEXT, lambda has, value: has <= value),
    FilterOperator.IN: (LIST, lambda has, value: has in value),
    FilterOperator.NIN: (LIST, lambda has, value: has not in value),
    FilterOperator.ANY: (LIST, lambda has, value: any(one in has for one in value)),
    FilterOperator.ALL: (LIST, lambda has, value: all(one in has for one in value)),
    FilterOperator.CONTAINS: (NUMBER + TEXT, lambda has, value: value in has),
    FilterOperator.TEXT_MATCH: (TEXT, lambda has, value: isinstance(has, str) and value in has),
    FilterOperator.TEXT_MATCH_INSENSITIVE: (
        TEXT,
        lambda has, value: isinstance(has, str) and value.lower() in has.lower(),
    ),
    FilterOperator.IS_EMPTY: (None, lambda has, _: has in ("", [])),
}
MATCHES_MISSING = (
    FilterOperator.NE,
    FilterOperator.NIN,
    FilterOperator.IS_EMPTY,
)  # what a missing value, or None, satisfies


def where(filters: MetadataFilters | None) -> Where | None:
    """Return the function of a passage's metadata that says whether the filters allow it; None where they allow everything.

    Raises:
        TypeError: something other than `MetadataFilters`. ValueError: an operator, condition or value that has no meaning here.
    """
    if filters is None:
        return None
    if not isinstance(filters, MetadataFilters):
        raise TypeError(
            f"filters are a MetadataFilters, not a {type(filters).__name__}: MetadataFilters(filters=[MetadataFilter(...)])"
        )
    return _all(filters) if filters.filters else None


def _all(filters: MetadataFilters) -> Where:
    tests = [
        _all(one) if isinstance(one, MetadataFilters) else _one(one) for one in filters.filters
    ]
    condition = filters.condition or FilterCondition.AND
    if condition == FilterCondition.AND or not tests:  # an empty group allows everything
        return lambda metadata: all(test(metadata) for test in tests)
    if condition == FilterCondition.OR:
        return lambda metadata: any(test(metadata) for test in tests)
    if condition == FilterCondition.NOT:
        return lambda metadata: not any(test(metadata) for test in tests)
    raise ValueError(f"unknown filter condition {condition!r}; known: and, or, not")


def _one(one: MetadataFilter) -> Where:
    if one.operator not in TESTS:
        raise ValueError(
            f"unsupported filter operator {one.operator!r}; supported: {', '.join(o.value for o in TESTS)}"
        )
    wanted, test = TESTS[one.operator]
    if wanted is not None and not isinstance(one.value, wanted):
        kinds = " or ".join(kind.__name__ for kind in wanted)
        raise ValueError(
            f"the filter {one.key!r} {one.operator.value} wants a value of type {kinds}, not {one.value!r}"
        )

    def matches(metadata: Mapping[str, Any]) -> bool:
        has = metadata.get(one.key)
        if has is None:
            return one.operator in MATCHES_MISSING
        try:
            return bool(test(has, one.value))
        except TypeError:  # the document's value is of a type that this operator does not compare
            return False

    return matches
