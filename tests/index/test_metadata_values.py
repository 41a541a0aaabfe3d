"""Which documents a filter allows, by a table of their values, as when each document is asked."""

from __future__ import annotations

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
