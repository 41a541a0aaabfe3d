"""A filter allows what its definition says, for any filter and any metadata."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_clew.filters import where_of

from clew import Document
from clew.index.metadata_values import MetadataValues

KEYS = st.sampled_from(["a", "b", "a.x", "a.x.y"])
VALUES = st.one_of(
    st.integers(0, 3),
    st.sampled_from(["x", "y"]),
    st.none(),
    st.lists(st.integers(0, 1), max_size=2),
)
NESTED = st.recursive(
    VALUES, lambda inner: st.dictionaries(st.sampled_from(["x", "y"]), inner), max_leaves=3
)
METADATA = st.dictionaries(KEYS, NESTED)


def on_a_key(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    operator = st.one_of(
        st.tuples(st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), VALUES),
        st.tuples(st.sampled_from(["$in", "$nin"]), st.lists(VALUES, max_size=3)),
        st.tuples(st.just("$exists"), st.booleans()),
        st.tuples(st.just("$contains"), st.one_of(st.integers(0, 3), st.sampled_from("xy"))),
        st.tuples(st.just("$not"), inner),
    )
    return st.lists(operator, min_size=1, max_size=2).map(dict)


CONDITIONS = st.recursive(VALUES, on_a_key, max_leaves=4)
PLAIN = st.dictionaries(KEYS, CONDITIONS, max_size=2)


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    joined = st.tuples(
        st.sampled_from(["$and", "$or"]), st.lists(inner, min_size=1, max_size=3)
    ).map(lambda pair: dict([pair]))
    negated = inner.map(lambda each: {"$not": each})
    both = st.tuples(inner, joined).map(lambda pair: pair[0] | pair[1])
    return st.one_of(joined, negated, both)


FILTERS = st.recursive(PLAIN, around, max_leaves=6)


def holds(filter: dict[str, Any], metadata: dict[str, Any]) -> bool:
    """The definition, read off directly: one filter and one document at a time."""
    for key, wanted in filter.items():
        match key:
            case "$and":
                held = False not in [holds(each, metadata) for each in wanted]
            case "$or":
                held = True in [holds(each, metadata) for each in wanted]
            case "$not":
                held = not holds(wanted, metadata)
            case _:
                there, value = look_up(metadata, key)
                held = holds_for(wanted, there, value)
        if not held:
            return False
    return True


def look_up(metadata: dict[str, Any], key: str) -> tuple[bool, Any]:
    if key in metadata or "." not in key:
        return key in metadata, metadata.get(key)
    first, rest = key.split(".", 1)  # no key inside another has a dot here
    inner = metadata.get(first)
    return look_up(inner, rest) if isinstance(inner, dict) else (False, None)


def comparable(one: Any, other: Any) -> bool:
    return type(one) is type(other) and isinstance(one, (int, str, list))


def holds_for(wanted: Any, there: bool, value: Any) -> bool:
    if isinstance(wanted, list):
        wanted = {"$in": wanted}
    if not isinstance(wanted, dict):
        wanted = {"$eq": wanted}
    candidates = [value] if there else []
    if isinstance(value, list):
        candidates += value
    for name, operand in wanted.items():
        match name:
            case "$eq":
                held = candidates.count(operand) > 0
            case "$ne":
                held = candidates.count(operand) == 0
            case "$in":
                held = [one for one in operand if one in candidates] != []
            case "$nin":
                held = [one for one in operand if one in candidates] == []
            case "$gt":
                held = [
                    one for one in candidates if comparable(one, operand) and one > operand
                ] != []
            case "$gte":
                held = [
                    one for one in candidates if comparable(one, operand) and one >= operand
                ] != []
            case "$lt":
                held = [
                    one for one in candidates if comparable(one, operand) and one < operand
                ] != []
            case "$lte":
                held = [
                    one for one in candidates if comparable(one, operand) and one <= operand
                ] != []
            case "$contains" if isinstance(value, list):
                held = value.count(operand) > 0
            case "$contains":
                held = type(value) is type(operand) is str and value.find(operand) >= 0
            case "$exists":
                held = there is operand
            case "$not":
                held = not holds_for(operand, there, value)
        if not held:
            return False
    return True


@settings(deadline=None)
@given(FILTERS, st.lists(METADATA, max_size=6))
def test_a_table_of_values_allows_what_the_filter_allows(
    filter: dict[str, Any], metadata: list[dict[str, Any]]
) -> None:
    where = where_of(filter)
    assert where is not None
    documents = [Document(str(i), "A text.", each) for i, each in enumerate(metadata)]
    assert MetadataValues(documents).allowed(where).tolist() == [*map(where, metadata)]


@pytest.mark.parametrize(
    ("filter", "asked"),
    [
        ({"x": "b", "y": {"$gt": 1}}, 2),
        ({"x": {"$in": ["b", "a"]}}, 3),
        ({"x": {"$eq": "b", "$exists": True}}, 2),
        ({"$and": [{"x": "b"}, {"y": {"$gt": 1}}]}, 2),
        ({"$or": [{"x": "b"}]}, 4),
        ({"x.z": "b"}, 4),
        ({"x": None}, 4),
    ],
)
def test_documents_without_the_wanted_values_are_not_asked_about(
    filter: dict[str, Any], asked: int
) -> None:
    where, seen = where_of(filter), list[object]()
    object.__setattr__(where, "test", lambda metadata: bool(seen.append(metadata)))
    object.__delattr__(where, "parts")  # it is asked as a whole
    metadata = [{"x": "a", "y": 2}, {"x": "b", "y": 2}, {"x": ["b"], "y": 0}, {"x": "c", "y": 2}]
    documents = [Document(str(i), "A text.", each) for i, each in enumerate(metadata)]
    MetadataValues(documents).allowed(where)  # type: ignore[arg-type]
    assert len(seen) == asked


@pytest.mark.parametrize(
    ("filter", "keys"),
    [
        ({"x": "b", "y": {"$gt": 1}}, ["x", "y"]),
        ({"$and": [{"y": {"$gt": 1, "$ne": 5}}, {"$or": [{"x": "b"}, {"y": 2}]}]}, ["y", None]),
        ({"x.z": "b", "$not": {"y": 2}}, [None, None]),
    ],
)
def test_a_filter_says_which_of_its_tests_read_one_key_alone(
    filter: dict[str, Any], keys: list[str | None]
) -> None:
    where: Any = where_of(filter)
    assert [key for key, _ in where.parts] == keys
    assert repr(where) == repr(filter)


@settings(deadline=None)
@given(FILTERS, METADATA)
def test_a_filter_allows_what_its_definition_says(filter, metadata):
    assert where_of(filter)(metadata) is holds(filter, metadata)


@settings(deadline=None)
@given(FILTERS, FILTERS, METADATA)
def test_a_negated_conjunction_is_a_disjunction_of_negations(one, other, metadata):
    assert where_of({"$not": {"$and": [one, other]}})(metadata) == where_of(
        {"$or": [{"$not": one}, {"$not": other}]}
    )(metadata)


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        (
            {"a": {"$regex": "x"}},
            r"unknown filter operator '\$regex' for the key 'a'; known: \$eq, \$ne",
        ),
        (
            {"$nor": [{"a": 1}]},
            r"unknown filter operator '\$nor' around filters; known: \$and, \$or, \$not",
        ),
        ({"a": {"$eq": 1, "plain": 2}}, "unknown filter operator 'plain'"),
        ({"a": {"$not": {"$in": 3}}}, r"\$in takes a list of values; the key 'a' has 3"),
        ({"$or": []}, r"\$or takes a list of at least one filter"),
        ({"$and": {"a": 1}}, r"\$and takes a list"),
        ({"a": {"$contains": ["x"]}}, r"\$contains takes one value; .*join several with \$and"),
        ({"a": {"$exists": "yes"}}, r"\$exists takes True or False"),
    ],
)
def test_what_a_filter_cannot_mean_is_refused_when_it_is_read(filter, message):
    with pytest.raises(ValueError, match=message):
        where_of(filter)


@pytest.mark.parametrize("filter", ["year > 2020", 3, ["a"], {"$not": [{"a": 1}]}])
def test_what_is_no_filter_is_refused(filter):
    with pytest.raises(TypeError, match=r"filter .*is a mapping"):
        where_of(filter)


@pytest.mark.parametrize(
    "filter",
    [
        {"tags": "sea"},
        {"tags": {"$in": ["sun", "sea"]}},
        {"tags": {"$contains": "sea"}},
        {"title": {"$contains": "Corfu"}},
        {"years": {"$gt": 2000}},
        {"place.island": True},
        {"place.name.short": {"$exists": True}},
        {"file.size": 3},
        {"$not": {"tags": "moon"}},
    ],
)
def test_lists_and_nested_keys_are_read_as_mongodb_reads_them(filter):
    metadata = {
        "tags": ["sun", "sea"],
        "title": "On Corfu",
        "years": [1990, 2020],
        "place": {"island": True, "name": {"short": "C"}},
        "file.size": 3,
        "file": {"size": 4},
    }
    assert where_of(filter)(metadata) is True
    assert where_of(filter)({}) is ("$not" in filter)


def test_a_function_of_the_metadata_is_a_filter_and_none_is_none():
    def even(metadata: Any) -> bool:
        return metadata["a"] % 2 == 0

    assert where_of(even) is even
    assert where_of(None) is None


def test_a_filter_shows_itself_as_it_was_written():
    assert repr(where_of({"year": {"$gte": 2020}})) == "{'year': {'$gte': 2020}}"


def test_a_path_leads_into_each_of_several_places():
    places = {"places": [{"island": "Paxos", "ports": ["Gaios", "Lakka"]}, {"island": "Corfu"}]}
    for filter, is_allowed in (
        ({"places.island": "Corfu"}, True),
        ({"places.island": "Ithaca"}, False),
        ({"places.ports": "Lakka"}, True),
        ({"places.ports": {"$contains": "Lakka"}}, True),
        ({"places.deck": {"$exists": False}}, True),
        ({"places.island": {"$ne": "Ithaca"}}, True),
        ({"places.island": {"$ne": "Corfu"}}, False),
    ):
        assert where_of(filter)(places) == is_allowed, filter


def in_arrays(value: Any) -> Any:
    """Return lists of numbers as arrays, at any depth."""
    if isinstance(value, list) and all(type(one) is int for one in value):
        return np.array(value, int)
    if isinstance(value, dict):
        return {key: in_arrays(inner) for key, inner in value.items()}
    return [in_arrays(inner) for inner in value] if isinstance(value, list) else value


@settings(deadline=None)
@given(FILTERS, METADATA)
def test_an_array_is_the_list_of_its_values(filter, metadata):
    wanted = where_of(filter)(metadata)
    assert where_of(filter)(in_arrays(metadata)) == wanted
    assert where_of(in_arrays(filter))(in_arrays(metadata)) == wanted


@pytest.mark.parametrize("values", [[1, 2], [2, 3], [[1, 2], 4], [], 1, "1"])
def test_a_number_of_numpy_is_no_list_and_is_in_one(values):
    one, metadata = np.int64(1), {"a": values}
    for name in ("$eq", "$ne", "$gt", "$lte", "$contains"):
        assert where_of({"a": {name: one}})(metadata) == where_of({"a": {name: 1}})(metadata), name
    assert where_of({"a": one})(metadata) == (values in ([1, 2], 1))


def test_arrays_inside_lists_are_lists_too():
    metadata = {"a": [np.array([1, 2]), np.array([], int)]}
    assert where_of({"a": {"$in": [np.array([1, 2])]}})(metadata)
    assert not where_of({"a": {"$in": [np.array([3, 4]), 3]}})(metadata)
    assert where_of({"a": {"$ne": 3}})(metadata)
    assert not where_of({"a": {"$gt": 0}})(metadata)
    assert not where_of({"a": {"$contains": 1}})(metadata)
