"""Filters mean what they mean to LlamaIndex's own stores, and nested ones what their parts say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)
from llama_index.core.vector_stores.utils import build_metadata_filter_fn
from llama_index.retrievers.clew.filters import where_of

from clew import Document
from clew.index.metadata_values import MetadataValues

WORDS = st.sampled_from(["a", "b", "ab", "B", ""])
NUMBERS = st.sampled_from([-1, 0, 1, 2.5])
VALUES = (
    WORDS | NUMBERS | st.lists(WORDS, max_size=3) | st.lists(st.sampled_from([0, 1]), max_size=3)
)
METADATA = st.dictionaries(st.sampled_from(["x", "y"]), VALUES | st.none())
LISTS, TEXTS = ("in", "nin", "any", "all"), ("text_match", "text_match_insensitive")


@st.composite
def single(draw: Any) -> MetadataFilter:
    operator = draw(st.sampled_from(list(FilterOperator)))
    if operator.value in LISTS:
        value = draw(st.lists(WORDS, max_size=3) | st.lists(st.sampled_from([0, 1]), max_size=3))
    elif operator.value in TEXTS:
        value = draw(WORDS)
    elif operator in (FilterOperator.EQ, FilterOperator.NE, FilterOperator.IS_EMPTY):
        value = draw(VALUES | st.none())
    else:
        value = draw(WORDS | NUMBERS)
    return MetadataFilter(key=draw(st.sampled_from(["x", "y"])), value=value, operator=operator)


NESTED = st.recursive(
    single(),
    lambda inner: st.builds(
        MetadataFilters,
        filters=st.lists(inner, min_size=1, max_size=3),
        condition=st.sampled_from([*FilterCondition, None]),
    ),
    max_leaves=8,
)


def by_the_framework(one: MetadataFilter, metadata: dict[str, Any]) -> bool:
    """LlamaIndex's own answer; where it raises on the document's type, no."""
    try:
        return build_metadata_filter_fn(lambda _: metadata, MetadataFilters(filters=[one]))("id")
    except TypeError:
        return False


def directly(one: Any, metadata: dict[str, Any]) -> bool:
    if isinstance(one, MetadataFilter):
        return by_the_framework(one, metadata)
    answers = [directly(part, metadata) for part in one.filters]
    return {"and": all(answers), "or": any(answers), "not": not any(answers)}[
        (one.condition or FilterCondition.AND).value
    ]


MISSING = MetadataFilters(filters=[MetadataFilter(key="x", value=1, operator=FilterOperator.NE)])
OLD = not build_metadata_filter_fn(lambda _: {}, MISSING)("id")


@pytest.mark.skipif(
    OLD, reason="this older LlamaIndex had other answers: here its newer ones count"
)
@settings(deadline=None)
@given(NESTED, METADATA)
def test_a_filter_answers_as_its_parts_do_and_these_as_in_llama_index(
    one: Any, metadata: dict[str, Any]
):
    filters = one if isinstance(one, MetadataFilters) else MetadataFilters(filters=[one])
    allowed = where_of(filters)
    assert allowed is not None
    assert allowed(metadata) is directly(filters, metadata)


@settings(deadline=None)
@given(NESTED, st.lists(METADATA, max_size=6))
def test_a_table_of_values_allows_what_the_filters_allow(one: Any, metadata: list[dict[str, Any]]):
    where = where_of(one if isinstance(one, MetadataFilters) else MetadataFilters(filters=[one]))
    assert where is not None
    documents = [Document(str(i), "A text.", each) for i, each in enumerate(metadata)]
    assert MetadataValues(documents).allowed(where).tolist() == [*map(where, metadata)]


@pytest.mark.parametrize(
    ("filters", "asked"),
    [
        ([("x", "b", "=="), ("y", 1, ">")], 2),
        ([("y", 1, ">")], 4),
        ([("x", ["b", "a"], "in")], 3),
    ],
)
def test_documents_without_the_wanted_values_are_not_asked_about(
    filters: list[tuple[str, Any, str]], asked: int
):
    parts = [MetadataFilter(key=key, value=value, operator=name) for key, value, name in filters]
    where = where_of(MetadataFilters(filters=parts))
    assert where is not None
    seen: list[object] = []
    object.__setattr__(where, "test", lambda metadata: bool(seen.append(metadata)))
    object.__delattr__(where, "parts")  # it is asked as a whole
    metadata = [{"x": "a", "y": 2}, {"x": "b", "y": 2}, {"x": ["b"], "y": 0}, {"x": "c", "y": 2}]
    documents = [Document(str(i), "A text.", each) for i, each in enumerate(metadata)]
    MetadataValues(documents).allowed(where)
    assert len(seen) == asked


def test_filters_say_which_of_their_tests_read_one_key_alone():
    late = MetadataFilter(key="y", value=1, operator=FilterOperator.GT)
    either = MetadataFilters(filters=[late], condition=FilterCondition.OR)
    all_of = MetadataFilters(filters=[late, MetadataFilters(filters=[late, either])])
    where: Any = where_of(all_of)
    assert [key for key, _ in where.parts] == ["y", "y", None]


@pytest.mark.parametrize("operator", list(FilterOperator))
def test_every_operator_tells_some_documents_from_others(operator: FilterOperator):
    value = ["b"] if operator.value in LISTS else "b"
    allowed = where_of(
        MetadataFilters(filters=[MetadataFilter(key="x", value=value, operator=operator)])
    )
    assert {allowed({"x": has}) for has in ("a", "b", "c", "", ["b"], [], None)} == {True, False}


@pytest.mark.parametrize("operator", list(FilterOperator))
def test_an_array_is_the_list_of_its_values(operator: FilterOperator):
    for value in (["b", "a"], ["b"]) if operator.value in LISTS else ("a", "b", "c"):
        one = MetadataFilter(key="x", value=value, operator=operator)
        allowed = where_of(MetadataFilters(filters=[one]))
        for has in (["a", "b"], ["a"], []):
            assert allowed({"x": np.array(has)}) is allowed({"x": has})


@pytest.mark.parametrize("has", [0, 3, float("nan"), True])
def test_a_number_of_numpy_is_the_number(has: float):
    for operator, value in (
        (FilterOperator.IS_EMPTY, None),
        (FilterOperator.EQ, [3, 4]),
        (FilterOperator.NE, [3]),
        (FilterOperator.EQ, 3),
        (FilterOperator.IN, [3, 4]),
    ):
        one = MetadataFilter(key="x", value=value, operator=operator)
        allowed = where_of(MetadataFilters(filters=[one]))
        assert allowed is not None
        assert allowed({"x": np.array([has])[0]}) is allowed({"x": has})


def test_no_filters_allow_everything():
    assert where_of(None) is None
    assert where_of(MetadataFilters(filters=[])) is None


@pytest.mark.parametrize(
    ("operator", "value"),
    [
        (FilterOperator.IN, "b"),
        (FilterOperator.GT, ["b"]),
        (FilterOperator.TEXT_MATCH, 3),
        (FilterOperator.ALL, 3),
    ],
)
def test_a_value_that_an_operator_cannot_use_is_an_error_that_names_it(
    operator: FilterOperator, value: Any
):
    with pytest.raises(
        ValueError, match=f"'year' {operator.value} wants .*not {value!r}".replace("[", r"\[")
    ):
        where_of(
            MetadataFilters(filters=[MetadataFilter(key="year", value=value, operator=operator)])
        )


def test_an_operator_of_the_future_is_one_clear_error():
    one = MetadataFilter.model_construct(key="x", value=1, operator="near")
    with pytest.raises(ValueError, match="unsupported filter operator 'near'; supported: ==, "):
        where_of(MetadataFilters.model_construct(filters=[one], condition=FilterCondition.AND))
