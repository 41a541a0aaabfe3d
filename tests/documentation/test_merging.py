"""Sections become a whole: what each says of its own, where each passage stands, and what is related."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from clew.documentation.merging import link_related, merge_sections, place_passages
from clew.documentation.sections import Explanation, Section


def section(name, ids, *, branch=0, branches=(), by_model=False, moved=()):
    """An extract with an explanation and an example for every source."""
    parts = tuple(
        Explanation(id, f"text of {id}", (number,), examples=(f"code of {id}",))
        for number, id in enumerate(ids, 1)
    )
    return Section(
        name,
        f"{name}?",
        f"summary of {name}",
        parts,
        ("an example",),
        tuple((id, "place") for id in ids),
        "page",
        branch,
        branches=branches,
        by_model=by_model,
    )


def standing(sections):
    """For every section: what it says itself, and where it refers to for the rest."""
    return {
        one.title: (
            [part.heading for part in one.explanations if part.moved_to is None],
            {part.heading: part.moved_to for part in one.explanations if part.moved_to is not None},
        )
        for one in sections
    }


def test_a_passage_stands_where_its_branch_is_titled_then_asked_about_then_told_most():
    branch_of = {"a": 1, "b": 1, "c": 2, "d": 3, "e": 3, "f": 9}
    sections = [
        section("first", ["a", "c", "d"], branch=7, branches=(7, 2)),
        section("second", ["a", "c", "d", "e", "f"], branch=2, branches=(1,)),
        section("third", ["a", "b", "c"], branch=1, branches=(1, 2)),
        section("fourth", ["f", "e"], branch=8, branches=(8,)),
    ]
    placed = place_passages(sections, branch_of)
    # a: titled after branch 1; c: after branch 2; d, e: two passages of branch 3 against one;
    # f: nothing tells them apart, so the first. Nothing of "first" or "fourth" is left.
    assert standing(placed) == {
        "second": (["c", "d", "e", "f"], {"a": 1}),
        "third": (["a", "b"], {"c": 0}),
    }
    # The question of a section that is dropped goes to where its first passage stands.
    assert [one.merged_questions for one in placed] == [("fourth?",), ("first?",)]


def test_a_section_by_a_model_stays_whole_and_takes_nothing_from_others():
    branch_of = {"a": 1, "b": 1}
    written = section("written", ["a", "b"], branch=1, branches=(1,), by_model=True)
    extract = section("extract", ["a", "b"], branch=4)
    assert place_passages([written, extract], branch_of)[0] == written
    assert standing(place_passages([written, extract], branch_of))["extract"] == (["a", "b"], {})


def test_what_moves_leaves_its_examples_and_refers_by_the_numbers_that_remain():
    branch_of = {"a": 1, "b": 2, "c": 3}
    sections = [
        section("gone", ["b"], branch=1),
        section("first", ["a", "b"], branch=1),
        section("second", ["b", "c"], branch=2, branches=(3,)),
    ]
    first, second = place_passages(sections, branch_of)
    assert [part.text for part in first.explanations] == ["text of a", ""]
    assert [part.moved_to for part in first.explanations] == [None, 1]
    assert first.examples == ("code of a",)
    assert second.examples == ("code of b", "code of c")
    assert second.merged_questions == ("gone?",)
    # An explanation of two passages stays where one of them stands, and else follows the first.
    both = Explanation("both", "text of both", (1, 2))
    mixed = replace(sections[1], explanations=(both,))
    assert place_passages([mixed, sections[2]], branch_of)[0].explanations == (both,)
    none = replace(section("none", ["b", "c", "a"], branch=1), explanations=(both,))
    placed = place_passages([none, sections[2]], branch_of)
    assert [part.moved_to for part in placed[0].explanations] == [1]


@pytest.mark.parametrize("by_model", [False, True])
def test_an_extract_is_compared_by_its_own_branches_and_a_written_section_by_all_it_says(by_model):
    compared = []

    def embed(texts):
        compared.extend(texts)
        return np.eye(len(texts))

    one = section("one", ["a", "b"], branches=(1,), by_model=by_model)
    assert merge_sections([one], {"a": 1, "b": 2}, embed) == [one]
    texts = ["text of a", "text of b"] if by_model else ["text of a"]
    assert compared == ["\n\n".join(["one", "summary of one", *texts])]
    assert merge_sections([], {}, embed) == []


def test_the_earlier_of_two_that_say_the_same_takes_question_and_branches():
    sections = [
        section("one", ["a"], branches=(1, 2)),
        section("two", ["b"], branches=(2, 3)),
        section("three", ["c"], branches=(4,)),
    ]
    vectors = np.array([[1, 0], [0.95, np.sqrt(1 - 0.95**2)], [0.85, np.sqrt(1 - 0.85**2)]])
    merged = merge_sections(sections, {}, lambda texts: vectors)
    assert [(one.title, one.branches, one.merged_questions) for one in merged] == [
        ("one", (1, 2, 3), ("two?",)),
        ("three", (4,), ()),
    ]


def test_related_are_the_three_that_share_most_sources_in_their_order():
    sections = [
        section("0", ["a", "b", "c", "d"]),
        section("1", ["a"]),
        section("2", ["b", "c"]),
        section("3", ["x"]),
        section("4", ["a", "b", "c"]),
        section("5", ["d"]),
        section("6", ["d", "c", "b"]),
    ]
    related = [one.related for one in link_related(sections)]
    assert related[0] == (2, 4, 6)
    assert related[1] == (0, 4)
    assert related[3] == ()
    assert related[5] == (0, 6)
    assert related[2] == (0, 4, 6)
