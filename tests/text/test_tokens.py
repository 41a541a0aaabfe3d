"""Counting tokens."""

from __future__ import annotations

import pickle
import re
from collections import UserDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.estimate import estimate_tokens
from clew.text.tokens import ESTIMATE_NAME, count_listed, counter_name, make_counter


def test_the_estimate_counts_words_numbers_and_signs():
    assert estimate_tokens("") == estimate_tokens(" \n") == 0
    assert estimate_tokens("short words") == 2
    assert estimate_tokens("internationalisation") == 5
    assert estimate_tokens("1234567") == 3
    assert estimate_tokens("a, b!") == 4
    assert estimate_tokens("北京") == 2


@given(st.lists(st.text(st.sampled_from("aZé0 9.-,\n\x1c\u2003?北_") | st.characters())))
def test_entries_of_a_list_count_as_they_are_written(texts):
    written = [f"- {text}\n" for text in texts]
    assert count_listed(texts, estimate_tokens) == list(map(estimate_tokens, written))
    assert count_listed(texts, len) == list(map(len, written))


@given(
    st.text(st.sampled_from("aZé0 9.,\n\x1c\x85\u2003\u3000?北_") | st.characters()),
    st.integers(1, 99),
)
def test_the_estimate_is_the_sum_over_runs_of_signs(text, times):
    runs = re.findall(
        "[A-Za-z]+|[0-9]+|[^ ]", "".join(" " if sign.isspace() else sign for sign in text * times)
    )
    sizes = [
        (run[0].isdigit() and run.isascii(), run.isascii() and run.isalpha(), len(run))
        for run in runs
    ]
    expected = sum(
        (size + 2) // 3 if number else 1 if not word or size < 7 else (size + 3) // 4
        for number, word, size in sizes
    )
    assert estimate_tokens(text * times) == expected


@pytest.mark.parametrize(
    "source",
    [len, str.encode, lambda text: list(text), type("Own", (), {"encode": staticmethod(list)})()],
)
def test_functions_lists_and_tokenizers_count_alike(source):
    assert make_counter(source)("four") == 4


@pytest.mark.parametrize("one", [np.arange, np.int64, np.array, lambda size: range(size)])
def test_arrays_and_their_numbers_count_too(one):
    assert make_counter(lambda text: one(len(text)))("four") == 4


def test_what_cannot_count_is_refused():
    with pytest.raises(TypeError, match="cannot count tokens with a int"):
        make_counter(7)
    with pytest.raises(TypeError, match=r"the class Own; give an object of it, as Own\(\.\.\.\)"):
        make_counter(type("Own", (), {"encode": list}))


@pytest.mark.parametrize(
    ("tokens", "named"),
    [
        ({"input_ids": [1, 2, 3], "attention_mask": [1, 1, 1]}, "a dict"),
        (UserDict(input_ids=[1, 2, 3]), "a UserDict"),
        (np.zeros((1, 3)), "a ndarray of 2 dimensions"),
        ("1 2 3", "a str"),
        (None, "a NoneType"),
        (iter([1, 2, 3]), "a list_iterator"),
    ],
)
def test_what_is_no_number_and_no_list_is_refused_and_not_counted_by_its_keys(tokens, named):
    with pytest.raises(
        TypeError, match=f"number of tokens of a text, or a list of them; got {named}$"
    ):
        make_counter(lambda text: tokens)("one two three")


def test_counters_have_names_and_can_be_pickled():
    assert counter_name(make_counter(None)) == ESTIMATE_NAME
    assert make_counter(ESTIMATE_NAME) is estimate_tokens
    assert counter_name(make_counter(len)) == "builtins.len"
    assert pickle.loads(pickle.dumps(make_counter(len)))("abc") == 3


def test_a_missing_tiktoken_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tiktoken", None)
    with pytest.raises(ImportError, match="pip install tiktoken"):
        make_counter("cl100k_base")
