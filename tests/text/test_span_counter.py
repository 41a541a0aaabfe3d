"""Tokens of spans: what is counted once is what each span would have counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.estimate import estimate_each, estimate_tokens
from clew.text.tokens import span_counter

TEXTS = st.text(
    st.sampled_from("aZzé и中日1 90_\n\t\u2003\x1c\xa0.,—😀\ud800@[`{K"), max_size=60
) | st.text(max_size=60)


@given(TEXTS, st.data())
def test_a_span_has_the_tokens_of_its_text(text, data):
    size = span_counter(text, estimate_tokens)
    for _ in range(10):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        assert size(start, end) == estimate_tokens(text[start:end])


@pytest.mark.parametrize("batch", [1, 7, 1000])
@given(st.lists(TEXTS, max_size=6))
def test_many_texts_have_the_tokens_of_each(batch, texts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clew.text.estimate.BATCH", batch)
        assert estimate_each(texts) == [estimate_tokens(text) for text in texts]


def test_a_counter_of_the_callers_is_asked_once_for_a_span():
    asked = []
    size = span_counter("one two", lambda text: asked.append(text) or len(text))
    assert [size(0, 3), size(0, 3), size(4, 7)] == [3, 3, 3]
    assert asked == ["one", "two"]
