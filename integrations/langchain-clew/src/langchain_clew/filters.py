"""Filters in the operators that most vector stores share, as a test of a document's metadata.

LangChain has no filter language of its own; its stores agree on a core that began with MongoDB's query operators. As there, a negation
(`$ne`, `$nin`, `$not`) holds for a document that lacks the key, and values that cannot be compared are neither greater nor less.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Metadata = Mapping[str, Any]
Test = Callable[[Metadata], bool]
SEVERAL = (list, tuple, set, frozenset)
ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
OF_A_KEY = ("$eq", "$ne", "$in", "$nin", *ORDERS, "$exists", "$not")
OF_FILTERS = ("$and", "$or", "$not")


def where_of(filter: Any) -> Test | None:
    """Return the test behind a filter: a mapping becomes one, a function of the metadata is one, None allows everything.

    Args:
        filter: `{"year": 2020, "lang": {"$in": ["en", "fr"]}, "$or": [{...}, {...}]}`; every key of a mapping must hold. A plain value
            means equality, a plain list any of its values.

    Raises:
        ValueError: an operator that is not known, or an operand that it cannot use. TypeError: neither a mapping nor a function.
    """
    if filter is None or callable(filter):
        return filter  # type: ignore[no-any-return]  # a caller's function of the metadata
    if isinstance(filter, Mapping):
        return Wanted(filter)
    raise TypeError(
        f"a filter is a mapping of metadata values and operators, or a function of the metadata; got {filter!r}"
    )


@dataclass(frozen=True, eq=False)
class Wanted:
    """A mapping as a test; its `repr` is the mapping, so that an error about it shows what was asked for."""

    filter: Metadata = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_test", _all_of(self.filter))

    def __call__(self, metadata: Metadata) -> bool:
        return self._test(metadata)  # type: ignore[attr-defined, no-any-return]  # set in __post_init__: it follows from the filter

    def __repr__(self) -> str:
        return repr(self.filter)


def _all_of(filter: Metadata) -> Test:
    if not isinstance(filter, Mapping):
        raise TypeError(f"a filter inside another is a mapping too; got {filter!r}")
    tests = [
        _of_filters(key, wanted) if str(key).startswith("$") else _of_key(key, wanted)
        for key, wanted in filter.items()
    ]
    return lambda metadata: all(test(metadata) for test in tests)


def _of_filters(name: str, wanted: Any) -> Test:
    if name not in OF_FILTERS:
        raise ValueError(_unknown(name, OF_FILTERS, "around filters"))
    if name == "$not":
        negated = _all_of(wanted)
        return lambda metadata: not negated(metadata)
    if not isinstance(wanted, (list, tuple)) or not wanted:
        raise ValueError(f"{name} takes a list of at least one filter; got {wanted!r}")
    tests = [_all_of(each) for each in wanted]
    every = all if name == "$and" else any
    return lambda metadata: every(test(metadata) for test in tests)


def _of_key(key: str, wanted: Any) -> Test:
    if not isinstance(wanted, Mapping) or not any(str(name).startswith("$") for name in wanted):
        return _in(key, wanted) if isinstance(wanted, SEVERAL) else _in(key, [wanted])
    tests = [_operator(key, name, operand) for name, operand in wanted.items()]
    return lambda metadata: all(test(metadata) for test in tests)


def _operator(key: str, name: str, operand: Any) -> Test:
    if name not in OF_A_KEY:
        raise ValueError(_unknown(name, OF_A_KEY, f"for the key {key!r}"))
    if name in ORDERS:
        return lambda metadata: key in metadata and _ordered(ORDERS[name], metadata[key], operand)
    if name in ("$in", "$nin") and not isinstance(operand, SEVERAL):
        raise ValueError(f"{name} takes a list of values; the key {key!r} has {operand!r}")
    if name == "$exists" and not isinstance(operand, bool):
        raise ValueError(f"$exists takes True or False; the key {key!r} has {operand!r}")
    if name == "$exists":
        return lambda metadata: (key in metadata) == operand
    if name in ("$eq", "$in"):
        return _in(key, [operand] if name == "$eq" else operand)
    negated = (
        _of_key(key, operand)
        if name == "$not"
        else _in(key, [operand] if name == "$ne" else operand)
    )
    return lambda metadata: not negated(metadata)


def _in(key: str, values: Any) -> Test:
    known = list(values)  # not a set: a value of the metadata may be a list
    return lambda metadata: key in metadata and metadata[key] in known


def _ordered(order: Callable[[Any, Any], Any], value: Any, operand: Any) -> bool:
    try:
        return bool(order(value, operand))
    except TypeError:
        return False


def _unknown(name: Any, known: tuple[str, ...], place: str) -> str:
    return f"unknown filter operator {name!r} {place}; known: {', '.join(known)}"
