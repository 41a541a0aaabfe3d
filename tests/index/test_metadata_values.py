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


def test_what_is_neither_a_mapping_nor_a_function_is_refused():
    with pytest.raises(TypeError, match=r"a filter is a mapping .* got a list"):
        MetadataValues([]).allowed(["a"])
