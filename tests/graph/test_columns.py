"""Labels and Ragged do what Python lists of words and lists of lists do; helpers do as plain loops."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph import (
    Labels,
    Ragged,
    columns,
    expand_ranges,
    freeze,
    offsets_of,
    row_mask,
    unit_rows,
)

WORDS = st.lists(st.sampled_from(["passage", "entity", "", "ß", "文"]), max_size=12)
LISTS = st.lists(st.lists(st.integers(0, 8), max_size=5), max_size=9)


def plain(ragged):
    return [ragged[i].tolist() for i in range(len(ragged))]


@given(WORDS, st.data())
def test_labels_are_a_list_of_words(words, data):
    labels = Labels.of(words)
    chosen = data.draw(st.lists(st.integers(0, len(words) - 1), max_size=8)) if words else []
    wanted = data.draw(
        st.lists(st.sampled_from(["passage", "entity", "", "unheard of"]), max_size=3)
    )

    assert list(labels) == words
    assert [labels[i] for i in range(len(labels))] == words
    assert labels.mask(*wanted).tolist() == [word in wanted for word in words]
    taken = labels.take(np.array(chosen, np.int64))
    assert list(taken) == [words[i] for i in chosen]
    assert taken.names == tuple(sorted({words[i] for i in chosen})), (
        "words that no row uses are forgotten"
    )
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(words))] * 2)))
    between = labels.between(start, end)
    assert list(between) == words[start:end]
    assert between.names == labels.names
    with patch.object(columns, "LOOKED_AT", 1):
        assert between.are_used == ({*words[start:end]} == {*words})


@given(st.lists(WORDS, max_size=4))
def test_joined_labels_are_joined_lists(parts):
    assert list(Labels.join([Labels.of(part) for part in parts])) == [
        word for part in parts for word in part
    ]


@given(LISTS, st.data())
def test_ragged_is_a_list_of_lists(lists, data):
    ragged = Ragged.of(lists)
    rows = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=8)) if lists else []
    mask = data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists)))
    new = data.draw(st.permutations([-1, -1, -1, 0, 1, 2, 3, 4, 5]))

    assert plain(ragged) == lists
    assert ragged.lengths.tolist() == [len(part) for part in lists]
    assert ragged.owners.tolist() == [i for i, part in enumerate(lists) for _ in part]
    assert plain(ragged.take(np.array(rows, np.int64))) == [lists[i] for i in rows]
    assert plain(ragged.take(np.array(mask, np.bool_))) == [
        part for part, stays in zip(lists, mask, strict=True) if stays
    ]
    wanted = [[new[v] for v in part if new[v] >= 0] for part in lists]
    for most in (0, 1000):
        with patch.object(columns, "MAX_ABSENT", most):
            assert plain(ragged.renumbered(freeze(new, np.int32))) == wanted
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(lists))] * 2)))
    between = ragged.between(start, end)
    assert plain(between) == lists[start:end]
    assert plain(Ragged.join([between, ragged])) == [*lists[start:end], *lists]


@given(st.lists(LISTS, max_size=4))
def test_joined_ragged_is_joined_lists(parts):
    assert plain(Ragged.join([Ragged.of(part) for part in parts])) == [
        inner for part in parts for inner in part
    ]


def test_an_empty_ragged_has_rows_without_values():
    assert plain(Ragged.empty(3)) == [[], [], []]


def test_a_frozen_array_cannot_be_written_and_the_callers_own_still_can():
    own = np.ones(3, np.float32)
    column = freeze(own, np.float32)
    with pytest.raises(ValueError, match="read-only"):
        column[0] = 2
    own[0] = 2
    assert own.tolist() == [2, 1, 1]


RANGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=8)


@given(RANGES)
def test_expanded_ranges_are_the_ranges_one_after_the_other(ranges):
    starts = np.array([start for start, _ in ranges], np.int64)
    lengths = np.array([length for _, length in ranges], np.int64)
    expected = [i for start, length in ranges for i in range(start, start + length)]
    assert expand_ranges(starts, lengths).tolist() == expected
    assert offsets_of(lengths).tolist() == [sum(lengths[:i]) for i in range(len(lengths) + 1)]


@given(st.integers(1, 9), st.data())
def test_a_row_mask_is_true_for_the_rows_alone(n, data):
    rows = data.draw(st.lists(st.integers(0, n - 1), max_size=n))
    assert row_mask(rows, n).tolist() == [row in rows for row in range(n)]
    assert row_mask(np.array(rows, np.int32), n).tolist() == row_mask(rows, n).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_unit_rows_have_length_one_and_rows_of_zeros_stay(dtype):
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [-2.0, 0.0]], dtype)
    scaled = unit_rows(rows)
    assert scaled.dtype == dtype
    np.testing.assert_allclose(scaled, [[0.6, 0.8], [0, 0], [-1, 0]], rtol=1e-6)
    assert rows[0].tolist() == [3, 4]
