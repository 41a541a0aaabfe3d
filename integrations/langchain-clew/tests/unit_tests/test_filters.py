"""A filter allows what its definition says, for any filter and any metadata."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_clew.filters import where_of

KEYS = st.sampled_from(["a", "b"])
VALUES = st.one_of(
    st.integers(0, 3),
    st.sampled_from(["x", "y"]),
    st.none(),
    st.lists(st.integers(0, 1), max_size=2),
)
METADATA = st.dictionaries(KEYS, VALUES)


def on_a_key(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    operator = st.one_of(
        st.tuples(st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), VALUES),
        st.tuples(st.sampled_from(["$in", "$nin"]), st.lists(VALUES, max_size=3)),
        st.tuples(st.just("$exists"), st.booleans()),
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
                held = holds_for(wanted, key in metadata, metadata.get(key))
        if not held:
            return False
    return True


def holds_for(wanted: Any, there: bool, value: Any) -> bool:
    if isinstance(wanted, list):
        return there and value in wanted
    if not isinstance(wanted, dict):
        return there and value == wanted
    comparable = there and type(value) is type(
        wanted.get("$gt", wanted.get("$gte", wanted.get("$lt", wanted.get("$lte"))))
    )
    for name, operand in wanted.items():
        comparable = there and type(value) is type(operand) and operand is not None
        match name:
            case "$eq":
                held = there and value == operand
            case "$ne":
                held = not there or value != operand
            case "$in":
                held = there and value in operand
            case "$nin":
                held = not there or value not in operand
            case "$gt":
                held = comparable and value > operand
            case "$gte":
                held = comparable and value >= operand
            case "$lt":
                held = comparable and value < operand
            case "$lte":
                held = comparable and value <= operand
            case "$exists":
                held = there is operand
            case "$not":
                held = not holds_for(operand, there, value)
        if not held:
            return False
    return True


@given(FILTERS, METADATA)
def test_a_filter_allows_what_its_definition_says(filter, metadata):
    assert where_of(filter)(metadata) is holds(filter, metadata)


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


def test_a_function_of_the_metadata_is_a_filter_and_none_is_none():
    def even(metadata: Any) -> bool:
        return metadata["a"] % 2 == 0

    assert where_of(even) is even
    assert where_of(None) is None


def test_a_filter_shows_itself_as_it_was_written():
    assert repr(where_of({"year": {"$gte": 2020}})) == "{'year': {'$gte': 2020}}"
