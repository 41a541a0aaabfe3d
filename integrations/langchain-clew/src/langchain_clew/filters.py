"""Filters in the operators that most vector stores share, as a test of a document's metadata.

LangChain has no filter language of its own. Its stores agree on a core that began with MongoDB's
query operators. As there, a negation (`$ne`, `$nin`, `$not`) holds for a document that lacks the
key, values that cannot be compared are neither greater nor less, a list holds what one of its
values holds, and "place.island" is the island in what the place is, or in what one of several
places is. A key that itself has the dot goes before that. An array of numpy, as tables have them,
is the list of its values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Metadata = Mapping[str, object]
Test = Callable[[Metadata], bool]

COLLECTIONS = (list, tuple, set, frozenset)
ORDERINGS: dict[str, Callable[[Any, Any], object]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
KEY_OPERATORS = ("$eq", "$ne", "$in", "$nin", *ORDERINGS, "$contains", "$exists", "$not")
FILTER_OPERATORS = ("$and", "$or", "$not")
MISSING = object()
"""What a document has under a key that it lacks."""


def where_of(filter: object) -> Test | None:
    """Return the test behind a filter.

    Args:
        filter: A mapping such as `{"year": 2020, "lang": {"$in": ["en", "fr"]}, "$or": [{...},
            {...}]}`, of which every key must hold. A plain value means equality, a plain list any
            of its values. `$contains` asks for a value in a list, or for a part of a text. A
            function of the metadata is a test already. None allows everything.

    Raises:
        ValueError: An operator is not known, or an operand does not fit it.
        TypeError: The filter is neither a mapping nor a function.

    Example:
        >>> test = where_of({"tags": "sea", "place.island": True})
        >>> test({"tags": ["sea", "sun"], "place": {"island": True}}), test({"tags": "sun"})
        (True, False)
    """
    if filter is None or callable(filter):
        return filter  # the caller's own function of the metadata
    if isinstance(filter, Mapping):
        return MetadataFilter(filter)
    raise TypeError(
        "a filter is a mapping of metadata values and operators, or a function of the metadata; "
        f"got {filter!r}"
    )


@dataclass(frozen=True, eq=False)
class MetadataFilter:
    """A mapping as a test; its `repr` is the mapping, so that an error shows what was asked for.

    Attributes:
        filter: The mapping.
        test: What it means.
        wanted: The values of metadata without which it allows no document, by key: an index has a
            table of these, and need not ask about the others.
        parts: The tests that it consists of, each with the key that it reads alone, or None: an
            index asks such a test once for a value.
    """

    filter: Metadata
    test: Test = field(init=False)
    wanted: Mapping[str, list[object]] = field(init=False)
    parts: Sequence[tuple[str | None, Test]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", _test_of_all(self.filter))
        object.__setattr__(self, "wanted", _wanted_by_all(self.filter))
        object.__setattr__(self, "parts", _parts_of(self.filter))

    def __call__(self, metadata: Metadata) -> bool:
        return self.test(metadata)

    def __repr__(self) -> str:
        return repr(self.filter)


def _test_of_all(filter: object) -> Test:
    """Return the test that every key of a mapping holds."""
    if not isinstance(filter, Mapping):
        raise TypeError(f"a filter inside another is a mapping too; got {filter!r}")
    tests = [
        _test_of_filters(key, operand) if str(key).startswith("$") else _test_of_key(key, operand)
        for key, operand in filter.items()
    ]
    return lambda metadata: all(test(metadata) for test in tests)


def _wanted_by_all(filter: Metadata) -> dict[str, list[object]]:
    """Return the values that each key of a mapping wants; others than equality say none.

    A path of keys is left out, since what it leads to is no value of the document's own.
    """
    wanted: dict[str, list[object]] = {}
    for key, operand in filter.items():
        plain = _plain(operand)
        if key == "$and" and isinstance(plain, (list, tuple)):
            for each in plain:
                wanted.update(_wanted_by_all(each))
        if not isinstance(key, str) or key.startswith("$") or "." in key:
            continue
        if isinstance(plain, Mapping):
            if "$eq" in plain:
                wanted[key] = [plain["$eq"]]
            elif "$in" in plain:
                wanted[key] = list(plain["$in"])
        else:
            wanted[key] = list(plain) if isinstance(plain, COLLECTIONS) else [plain]
    return wanted


def _parts_of(filter: Metadata) -> list[tuple[str | None, Test]]:
    """Return the tests that every key of a mapping holds, each with the key that it reads alone."""
    parts: list[tuple[str | None, Test]] = []
    for key, operand in filter.items():
        if key == "$and":
            for each in operand:  # type: ignore[attr-defined]  # a list, as its test has checked
                parts += _parts_of(each)
        elif str(key).startswith("$"):
            parts.append((None, _test_of_filters(key, operand)))
        else:
            is_path = not isinstance(key, str) or "." in key  # which may lead through other keys
            parts.append((None if is_path else key, _test_of_key(key, operand)))
    return parts


def _test_of_filters(name: str, operand: object) -> Test:
    if name not in FILTER_OPERATORS:
        raise ValueError(_unknown_operator(name, FILTER_OPERATORS, "around filters"))
    if name == "$not":
        return _negation(_test_of_all(operand))
    if not isinstance(operand, (list, tuple)) or not operand:
        raise ValueError(f"{name} takes a list of at least one filter; got {operand!r}")
    tests = [_test_of_all(filter) for filter in operand]
    quantifier = all if name == "$and" else any
    return lambda metadata: quantifier(test(metadata) for test in tests)


def _test_of_key(key: str, operand: object) -> Test:
    operand = _plain(operand)
    is_plain = not isinstance(operand, Mapping) or not any(
        str(name).startswith("$") for name in operand
    )
    if is_plain:
        return _is_among(key, operand if isinstance(operand, COLLECTIONS) else [operand])
    assert isinstance(operand, Mapping)
    tests = [_test_of_operator(key, name, value) for name, value in operand.items()]
    return lambda metadata: all(test(metadata) for test in tests)


def _test_of_operator(key: str, name: str, operand: object) -> Test:
    operand = _plain(operand)
    if name not in KEY_OPERATORS:
        raise ValueError(_unknown_operator(name, KEY_OPERATORS, f"for the key {key!r}"))
    if name in ORDERINGS:
        return _is_ordered(key, ORDERINGS[name], operand)
    if name == "$contains":
        return _contains(key, operand)
    if name == "$exists":
        return _exists(key, operand)
    if name == "$not":
        return _negation(_test_of_key(key, operand))
    if name in ("$in", "$nin"):
        if not isinstance(operand, COLLECTIONS):
            raise ValueError(f"{name} takes a list of values; the key {key!r} has {operand!r}")
        values: Iterable[object] = operand
    else:
        values = [operand]
    test = _is_among(key, values)
    return test if name in ("$eq", "$in") else _negation(test)


def _negation(test: Test) -> Test:
    return lambda metadata: not test(metadata)


def _is_among(key: str, values: Iterable[object]) -> Test:
    wanted = list(values)  # not a set: a value of the metadata may be a list

    def test(metadata: Metadata) -> bool:
        value = _value_of(metadata, key)
        return value is not MISSING and any(
            _are_equal(one, other) for one in _alternatives(value) for other in wanted
        )

    return test


def _contains(key: str, operand: object) -> Test:
    if isinstance(operand, (Mapping, *COLLECTIONS)):
        raise ValueError(  # noqa: TRY004  # as others
            f"$contains takes one value; the key {key!r} has {operand!r}; join several with $and"
        )

    def test(metadata: Metadata) -> bool:
        value = _value_of(metadata, key)
        if isinstance(value, str):
            return isinstance(operand, str) and operand in value
        return isinstance(value, COLLECTIONS) and any(_are_equal(one, operand) for one in value)

    return test


def _exists(key: str, operand: object) -> Test:
    if not isinstance(operand, bool):
        raise ValueError(f"$exists takes True or False; the key {key!r} has {operand!r}")  # noqa: TRY004  # as others
    return lambda metadata: (_value_of(metadata, key) is not MISSING) == operand


def _is_ordered(key: str, ordering: Callable[[object, object], object], operand: object) -> Test:
    def holds(value: object) -> bool:
        if isinstance(value, COLLECTIONS) != isinstance(operand, COLLECTIONS):
            return False
        try:
            return bool(ordering(value, operand))
        except TypeError:  # these two values cannot be compared
            return False

    def test(metadata: Metadata) -> bool:
        value = _value_of(metadata, key)
        return value is not MISSING and any(holds(one) for one in _alternatives(value))

    return test


def _value_of(metadata: Metadata, key: str) -> object:
    """Return what a document has under a key, or under a path of keys that are joined by dots."""
    if key in metadata:
        return _plain(metadata[key])
    names = key.split(".") if isinstance(key, str) else [key]
    value: object = metadata
    for name in names:
        if isinstance(value, COLLECTIONS):
            inside = [one[name] for one in value if isinstance(one, Mapping) and name in one]
            if not inside:
                return MISSING
            value = [each for one in inside for each in _alternatives(one)]
        elif isinstance(value, Mapping) and name in value:
            value = value[name]
        else:
            return MISSING
    return _plain(value)


def _plain(value: object) -> object:
    """Return an array as a list, also one inside a list; everything else as it is."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)) and any(isinstance(one, np.ndarray) for one in value):
        return type(value)(map(_plain, value))
    return value


def _alternatives(value: object) -> tuple[object, ...]:
    """Return what may hold a condition: a value, and its own values where it is a list."""
    return (value, *value) if isinstance(value, COLLECTIONS) else (value,)


def _are_equal(one: object, other: object) -> bool:
    """Return whether two values are equal; numpy would compare a number with each of a list."""
    if isinstance(one, COLLECTIONS) != isinstance(other, COLLECTIONS):
        return False
    return one is other or bool(one == other)


def _unknown_operator(name: object, known: tuple[str, ...], place: str) -> str:
    return f"unknown filter operator {name!r} {place}; known: {', '.join(known)}"
