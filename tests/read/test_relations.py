"""Facts are what stands before a name, said of the title."""

from __future__ import annotations

import pytest

from clew.read import Names, Passage

PLAYBOY = (
    "Playboy of Paris\nPlayboy of Paris is a comedy directed by Ludwig Berger and starring Maurice Chevalier, Frances Dee and Joe Ray. "
    "It was first shown in Paris."
)


def facts(text, title="", **how):
    return Names(**how).triples([Passage("p", text, title)])[0]


def test_the_words_before_a_name_are_its_relation_to_the_title_and_a_list_shares_them():
    assert facts(PLAYBOY) == [
        ("Playboy of Paris", "is a comedy directed by", "Ludwig Berger"),
        ("Playboy of Paris", "… and starring", "Maurice Chevalier"),
        ("Playboy of Paris", "… and starring", "Frances Dee"),
        ("Playboy of Paris", "… and starring", "Joe Ray"),
        ("Playboy of Paris", "It was first shown in", "Paris"),
    ]


@pytest.mark.parametrize(
    ("most", "relation"), [(0, "mentions"), (2, "directed by"), (4, "a comedy directed by")]
)
def test_a_relation_has_at_most_so_many_words_the_last(most, relation):
    assert facts(PLAYBOY, max_relation_words=most)[0][1] == relation


def test_words_of_another_sentence_or_line_are_no_relation():
    assert facts("in the end he met Anna. Then: Ben\nCleo", "T")[:2] == [
        ("T", "in the end he met", "Anna"),
        ("T", "Then", "Ben"),
    ]


def test_without_a_title_the_first_name_is_what_the_passage_is_about():
    assert facts("when Ada met Ben") == [("Ada", "met", "Ben")]
    assert facts("when ADA met Ada") == []  # a name says nothing of itself, however it is spelt


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Пушкин\nпоэт родился в Москве", "поэт родился в"),
        ("日本\n首都は『東京』", "首都は"),
        ('भारत\nइसकी राजधानी "दिल्ली"', "इसकी राजधानी"),
        ("ไทย\nเมืองหลวงคือ “กรุงเทพ”", "เมืองหลวงคือ"),
    ],
)
def test_relations_are_read_in_any_script_with_their_signs(text, relation):
    assert facts(text)[0][1] == relation
