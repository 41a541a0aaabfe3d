"""What a text is worth by its length: scraps do not outbid a passage that says more."""

from __future__ import annotations

import numpy as np
import pytest

import clew
from clew.graph import Graph
from clew.spread import Substance
from clew.types import Query, Seeds


def test_a_prize_grows_with_the_tokens_up_to_the_full_number_and_no_further():
    graph = Graph.of(["x"] * 4, tokens=[0, 10, 40, 4000])
    prizes = np.array([1.0, 1.0, 0.5, 0.5])
    found = Substance(40).on(graph)(Query("?"), Seeds(prizes), prizes)
    assert found.tolist() == [0.0, 0.25, 0.5, 0.5]


def test_no_tokens_are_no_full_number():
    with pytest.raises(ValueError, match="at least 1, not 0"):
        Substance(0)


def test_the_passage_that_answers_is_read_rather_than_headlines_with_the_same_words():
    """Each headline is as near to the question as the answer, and costs a tenth of it."""
    answer = "The north quay opens in winter. " + "Ferries berth there from six to nine. " * 4
    scraps = [f"North quay in winter: part {number}." for number in range(20)]
    index = clew.Index.from_documents([answer, *scraps])
    context = index.ask("When does the north quay open in winter?", recipe="budgeted", budget=70)
    assert any(item.text == answer.strip() or item.text == answer for item in context)


def test_with_one_full_token_every_text_has_its_whole_prize():
    graph, prizes = Graph.of(["x"] * 3, tokens=[0, 1, 9]), np.ones(3)
    assert Substance(1).on(graph)(Query("?"), Seeds(prizes), prizes).tolist() == [0.0, 1.0, 1.0]
