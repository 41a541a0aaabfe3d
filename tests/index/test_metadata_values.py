"""Which documents a filter allows, by a table of their values, as when each document is asked."""

from __future__ import annotations

import functools
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Document, Index
from clew.index.metadata_values import MetadataValues
from clew.index.question import metadata_test

PLAIN = st.one_of(
    st.integers(-1, 1), st.booleans(), st.sampled_from(["a", "b", "", 1.0, 0.5, None])
)
VALUES = st.one_of(PLAIN, st.lists(PLAIN, max_size=2), st.lists(PLAIN, max_size=2).map(tuple))
KEYS = st.sampled_from("xyz")


class _Text(str):
    """Equal to a text, but of another type."""


@given(
    st.lists(st.dictionaries(KEYS, VALUES, max_size=3), max_size=12),
    st.lists(st.dictionaries(KEYS, VALUES, max_size=3), min_size=1, max_size=3),
)
def test_a_table_of_values_says_what_each_document_says(metadata, filters):
    documents = [Document(str(i), "A text.", one) for i, one in enumerate(metadata)]
    values = MetadataValues(documents)
    for where in filters:  # of one table, which a filter before may have made
        is_wanted = metadata_test(where)
        assert values.allowed(where).tolist() == [is_wanted(one) for one in metadata]


@pytest.mark.parametrize("value", [_Text("a"), np.str_("a"), np.array(["a", "b"]), frozenset("a")])
def test_values_of_other_types_are_compared_one_by_one(value):
    values = MetadataValues([Document("0", "A text.", {"x": value, "y": 1})])
    assert values.allowed({"x": "a", "y": 1}).tolist() == [True]
    assert values.allowed({"x": "c", "y": 1}).tolist() == [False]
    assert values.allowed({"x": "a", "y": 2}).tolist() == [False]


def test_a_function_is_not_asked_about_containers_nor_a_document_twice():
    documents = [
        Document("book", "A book.", heading=True),
        Document("a", "The sea.", {"year": 1}, parent="book"),
        Document("b", "An island.", {"year": 2}),
    ]
    index, asked = Index.from_documents(documents, extractor=None), []

    def is_late(metadata):
        asked.append(metadata["year"])  # which the book does not have
        return metadata["year"] > 1

    assert "island" in index.ask("Where is land?", where=is_late).text
    assert asked == [1, 2]


class _Wanting:
    """A test that says what it wants, and notes what it is asked about."""

    def __init__(self, year):
        self.wanted, self.asked = {"year": [year]}, []

    def __call__(self, metadata):
        self.asked.append(metadata["year"])
        return metadata["year"] == self.wanted["year"][0] and metadata.get("is_new", True)


def test_a_test_that_says_what_it_wants_is_asked_about_that_alone_and_once():
    metadata = [
        {"year": 1},
        {"year": 2, "is_new": False},
        {"year": 2},
        {"place": "Corfu"},
        {"year": [2]},
    ]
    documents = [Document(str(i), f"Text {i}.", one) for i, one in enumerate(metadata)]
    values, second, first = MetadataValues(documents), _Wanting(2), _Wanting(1)
    for _ in range(3):
        assert values.allowed(second).tolist() == [False, False, True, False, False]
    assert second.asked == [2, 2, [2]]
    assert values.allowed(first).tolist() == [True, False, False, False, False]
    assert values.allowed(second).tolist() == [False, False, True, False, False]
    assert (first.asked, second.asked) == ([1, [2]], [2, 2, [2]] * 2)
    some = np.array([False, False, False, True, True])
    other = _Wanting(2)
    assert values.allowed(other, some).tolist() == [False] * 5
    assert other.asked == [[2]]


def test_what_is_neither_a_mapping_nor_a_function_is_refused():
    with pytest.raises(TypeError, match=r"a filter is a mapping .* got a list"):
        MetadataValues([]).allowed(["a"])


class _Parts:
    """A test in parts, which notes what each is asked about."""

    def __init__(self, parts):
        self.asked = [[] for _ in parts]
        self.parts = [
            (key, self._noting(test, asked))
            for (key, test), asked in zip(parts, self.asked, strict=True)
        ]

    def __call__(self, metadata):
        return all(test(metadata) for _, test in self.parts)

    @staticmethod
    def _noting(test, asked):
        def noted(metadata):
            asked.append(dict(metadata))
            return test(metadata)

        return noted


ORDERED = st.sampled_from([(">", 0), ("<", 1), ("is", None), ("is not", None)])


def _compared(key, comparison, operand):
    def test(metadata):
        value = metadata.get(key)
        if comparison.startswith("is"):
            return (value is operand) == (comparison == "is")
        numbers = [one for one in (value if isinstance(value, list) else [value]) if one == one]
        numbers = [one for one in numbers if isinstance(one, int | float)]
        return any(one > operand if comparison == ">" else one < operand for one in numbers)

    return test


@given(
    st.lists(st.dictionaries(KEYS, VALUES, max_size=3), max_size=30),
    st.lists(st.tuples(KEYS, ORDERED, st.booleans()), max_size=3),
)
def test_a_test_in_parts_says_what_each_document_says(metadata, conditions):
    parts = [
        (key if is_known else None, _compared(key, *condition))
        for key, condition, is_known in conditions
    ]
    values = MetadataValues([Document(str(i), "A text.", one) for i, one in enumerate(metadata)])
    found = values.allowed(_Parts(parts)).tolist()
    assert found == [all(test(one) for _, test in parts) for one in metadata]


def test_a_part_is_asked_once_for_a_value_and_the_others_about_what_is_left():
    metadata = [{"year": i % 3, "n": i} for i in range(30)]
    test = _Parts([("year", lambda one: one["year"] > 1), (None, lambda one: one["n"] > 20)])
    values = MetadataValues([Document(str(i), "A text.", one) for i, one in enumerate(metadata)])
    assert np.flatnonzero(values.allowed(test)).tolist() == [23, 26, 29]
    assert test.asked[0] == [{"year": 0}, {"year": 1}, {"year": 2}]
    assert [one["n"] for one in test.asked[1]] == list(range(2, 30, 3))


class _Column:
    """A column of a table, as pandas and others have them."""

    def __array__(self, dtype=None, copy=None):
        return np.array([2020, 2026])


YEARS = [Document(str(year), "A text.", {"year": year}) for year in (1996, 2020, 2026)]


@pytest.mark.parametrize(
    "wanted",
    [
        range(2000, 2030),
        {2020: "a", 2026: "b"}.keys(),
        {"a": 2020, "b": 2026}.values(),
        deque([2026, 2020]),
        _Column(),
    ],
    ids=lambda wanted: type(wanted).__name__,
)
def test_whatever_lists_wanted_values_means_any_of_them(wanted):
    assert MetadataValues(YEARS).allowed({"year": wanted}).tolist() == [False, True, True]


def test_an_iterator_of_wanted_values_is_refused():
    with pytest.raises(TypeError, match=r"'year' may have; got a generator: give list\(\.\.\.\)"):
        MetadataValues(YEARS).allowed({"year": (year for year in (2020, 2026))})


async def _nobody(metadata):
    return False


class _AsyncFilter:
    async def __call__(self, metadata):
        return False


@pytest.mark.filterwarnings("error")  # such as that of a coroutine that is never awaited
@pytest.mark.parametrize(
    "where",
    [_nobody, _AsyncFilter(), functools.partial(_nobody), lambda metadata: _nobody(metadata)],
    ids=["function", "object", "partial", "lambda"],
)
@pytest.mark.parametrize("of_documents", [True, False])
def test_an_async_filter_is_refused_and_allows_nothing(where, of_documents):
    index = Index.from_documents(YEARS, extractor=None)
    if not of_documents:
        index = Index.from_graph(index.graph)
    with pytest.raises(TypeError, match=r"a filter is a plain function, .* got a coroutine"):
        index.ask("Which text?", where=where)
