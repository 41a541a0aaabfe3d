"""Factors of types of edge, from a table of cues and from a language model's answer."""

from __future__ import annotations

import json

import pytest

from clew import Query
from clew.model import Model
from clew.spread import Cues
from clew.spread._intents import ModelIntent

TYPES = ("works at", "likes", "friend of")


def asked(answer, ceiling=16_000, types=TYPES, most=60):
    """What a model's answer makes of these types, and the prompts that it read."""
    prompts = []

    def complete(prompt):
        prompts.append(prompt)
        return answer

    model = Model.of(complete, max_prompt_tokens=ceiling)
    factors, notes = ModelIntent(most)(Query("Whom does Anna like?", model=model), types)
    return factors, notes, prompts


def test_of_two_cues_for_a_type_the_later_one_holds_and_only_cues_in_the_question_count():
    cues = Cues(
        (
            ("does anna", (("likes", 2.0), ("works at", 0.0))),
            ("like", (("likes", 3.0),)),
            ("ann", (("friend of", 9.0),)),
        )
    )
    factors, notes = cues(Query("Whom does Anna like?"), TYPES)
    assert factors == {"likes": 3.0, "works at": 0.0}
    assert notes == {"cues": ["does anna", "like"], "types for this question": factors}


def test_a_model_is_shown_the_question_and_the_types_and_its_factors_count():
    factors, notes, (prompt,) = asked('So: {"likes": 10, "works at": 0}')
    assert factors == {"likes": 10.0, "works at": 0.0}
    assert notes == {"types for this question": factors}
    assert "Whom does Anna like?" in prompt
    assert all(f"- {name}\n" in prompt for name in TYPES)
    _, _, (prompt,) = asked("{}", most=2)
    assert "- likes" in prompt
    assert "- friend of" not in prompt


@pytest.mark.parametrize("answer", ['{"hates": 1}', '{"likes": 11}', '{"likes": "x"}', "[1]", ""])
def test_an_answer_of_no_use_leaves_the_types_as_they_are_and_says_why(answer):
    factors, notes, _ = asked(answer)
    assert factors == {}
    assert list(notes) == ["fallback"]
    assert notes["fallback"].startswith("the types count as the table has them: ")


def test_types_above_the_ceiling_of_a_prompt_are_left_out_and_counted():
    types = tuple(f"a type of edge that has the number {number}" for number in range(50))
    factors, notes, (prompt,) = asked(json.dumps({types[0]: 2}), 300, types)
    shown = [name for name in types if f"- {name}\n" in prompt]
    assert 0 < len(shown) < 50
    assert shown == list(types[: len(shown)])
    assert factors == {types[0]: 2.0}
    assert str(50 - len(shown)) in str(notes["not shown to the model"])
    assert asked(json.dumps({types[49]: 2}), 300, types)[0] == {}  # it was not shown


def test_without_a_model_the_types_stand():
    factors, notes = ModelIntent()(Query("Whom does Anna like?"), TYPES)
    assert (factors, list(notes)) == ({}, ["fallback"])
