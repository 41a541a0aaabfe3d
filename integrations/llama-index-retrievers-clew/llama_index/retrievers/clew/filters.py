"""Metadata filters become a plain function of metadata, nested ones included.

A filter that LlamaIndex's own in-memory stores answer is answered alike here. Where those raise
because a document's value is of another type than the filter's (a text compared with a number), the
document does not match. An array of numpy is the list of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

Test = Callable[[Mapping[str, object]], bool]
Comparison = Callable[[Any, Any], bool]

NUMBER, TEXT, LIST = (int, float), (str,), (list, tuple, set)

COMPARISONS: dict[FilterOperator, tuple[tuple[type, ...] | None, Comparison]] = {
    FilterOperator.EQ: (None, lambda has, value: _are_equal(has, value)),
    FilterOperator.NE: (None, lambda has, value: not _are_equal(has, value)),
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
    FilterOperator.IS_EMPTY: (None, lambda has, _: _are_equal(has, "") or _are_equal(has, [])),
}
"""By operator: the types that the filter's value may have (None: any), and whether metadata that
are not None match the value."""

MATCHES_MISSING = (FilterOperator.NE, FilterOperator.NIN, FilterOperator.IS_EMPTY)
"""Operators that a missing value, or None, satisfies."""


def where_of(filters: object) -> Test | None:
    """Return the function of a passage's metadata that says whether the filters allow it.

    It is None where they allow everything.

    Raises:
        TypeError: Something other than `MetadataFilters`.
        ValueError: An operator, condition or value that has no meaning here.
    """
    if filters is None:
        return None
    if not isinstance(filters, MetadataFilters):
        raise TypeError(
            f"filters are a MetadataFilters, not a {type(filters).__name__}: "
            "MetadataFilters(filters=[MetadataFilter(...)])"
        )
    return FiltersTest(filters) if filters.filters else None


@dataclass(frozen=True, eq=False)
class FiltersTest:
    """Filters as a test of metadata.

    Attributes:
        filters: The filters.
        test: What they mean.
        wanted: The values of metadata without which they allow no document, by key: an index has a
            table of these, and need not ask about the others.
        parts: The tests that they consist of, each with the key that it reads alone, or None: an
            index asks such a test once for a value.
    """

    filters: MetadataFilters
    test: Test = field(init=False)
    wanted: Mapping[str, list[object]] = field(init=False)
    parts: Sequence[tuple[str | None, Test]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", _test_of_all(self.filters))
        object.__setattr__(self, "wanted", _wanted_by_all(self.filters))
        object.__setattr__(self, "parts", _parts_of(self.filters))

    def __call__(self, metadata: Mapping[str, object]) -> bool:
        return self.test(metadata)


def _are_equal(has: object, value: object) -> bool:
    """Return whether two values are equal; a number of numpy compares with a list one by one."""
    answer = has == value
    return not isinstance(answer, np.ndarray) and bool(answer)


def _wanted_by_all(filters: MetadataFilters) -> dict[str, list[object]]:
    """Return the values that filters want which all must hold; others than equality say none."""
    wanted: dict[str, list[object]] = {}
    if (filters.condition or FilterCondition.AND) == FilterCondition.AND:
        for one in filters.filters:
            if isinstance(one, MetadataFilters):
                wanted.update(_wanted_by_all(one))
            elif one.operator == FilterOperator.EQ and one.value is not None:
                wanted[one.key] = [one.value]
            elif one.operator == FilterOperator.IN and isinstance(one.value, LIST):
                wanted[one.key] = list(one.value)
    return wanted


def _parts_of(filters: MetadataFilters) -> list[tuple[str | None, Test]]:
    """Return the tests that must all hold, each with the key of metadata that it reads alone."""
    if (filters.condition or FilterCondition.AND) != FilterCondition.AND:
        return [(None, _test_of_all(filters))]
    parts: list[tuple[str | None, Test]] = []
    for one in filters.filters:
        if isinstance(one, MetadataFilters):
            parts += _parts_of(one)
        else:
            parts.append((one.key, _test_of_one(one)))
    return parts


def _test_of_all(filters: MetadataFilters) -> Test:
    tests = [
        _test_of_all(filter) if isinstance(filter, MetadataFilters) else _test_of_one(filter)
        for filter in filters.filters
    ]
    condition = filters.condition or FilterCondition.AND
    if condition == FilterCondition.AND or not tests:  # an empty group allows everything
        return lambda metadata: all(test(metadata) for test in tests)
    if condition == FilterCondition.OR:
        return lambda metadata: any(test(metadata) for test in tests)
    if condition == FilterCondition.NOT:
        return lambda metadata: not any(test(metadata) for test in tests)
    raise ValueError(f"unknown filter condition {condition!r}; known: and, or, not")


def _test_of_one(filter: MetadataFilter) -> Test:
    if filter.operator not in COMPARISONS:
        supported = ", ".join(operator.value for operator in COMPARISONS)
        raise ValueError(f"unsupported filter operator {filter.operator!r}; supported: {supported}")
    types, compare = COMPARISONS[filter.operator]
    if types is not None and not isinstance(filter.value, types):
        names = " or ".join(kind.__name__ for kind in types)
        raise ValueError(
            f"the filter {filter.key!r} {filter.operator.value} wants a value of type {names}, "
            f"not {filter.value!r}"
        )

    def test(metadata: Mapping[str, object]) -> bool:
        has = metadata.get(filter.key)
        if isinstance(has, np.ndarray):  # it compares with a value one by one
            has = has.tolist()
        if has is None:
            return filter.operator in MATCHES_MISSING
        try:
            return bool(compare(has, filter.value))
        except TypeError:  # this operator does not compare values of these types
            return False

    return test
