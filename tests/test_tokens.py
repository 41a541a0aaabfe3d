"""Counting tokens."""

from __future__ import annotations

import pickle

import pytest

from clew.graph import count_words
from clew.tokens import OWN, counter, name_of


def test_the_estimate_counts_words_numbers_and_signs():
    assert count_words("") == count_words(" \n") == 0
    assert count_words("short words") == 2
    assert count_words("internationalisation") == 5
    assert count_words("1234567") == 3
    assert count_words("a, b!") == 4
    assert count_words("北京") == 2


@pytest.mark.parametrize("source", [len, lambda text: list(text), type("Own", (), {"encode": staticmethod(list)})()])
def test_functions_lists_and_tokenizers_count_alike(source):
    assert counter(source)("four") == 4


def test_what_cannot_count_is_refused():
    with pytest.raises(TypeError, match="cannot count tokens with a int"):
        counter(7)


def test_counters_have_names_and_can_be_pickled():
    assert name_of(counter(None)) == OWN
    assert counter(OWN) is count_words
    assert name_of(counter(len)) == "builtins.len"
    assert pickle.loads(pickle.dumps(counter(len)))("abc") == 3


def test_a_missing_tiktoken_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tiktoken", None)
    with pytest.raises(ImportError, match="pip install tiktoken"):
        counter("cl100k_base")
