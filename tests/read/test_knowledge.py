"""What passages teach an extractor grows and shrinks with them, to the count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Document, Names
from clew.read import (
    Knowledge,
    Passage,
    Splitter,
    as_learning,
    assemble,
    passages_of_rows,
    passages_to_extract,
)

WORDS = (
    *("St.", "st", "Mr.", "Paris", "paris", "the", "The", "Anna", "anna", "of", "winter", "Winter"),
    *(
        "القاهرة",
        "كتاب",
        "في",
        "नई",
        "दिल्ली",
        "東京",
        "日本の東京",
        "カタカナ",
        "“Big",
        "sea”",
        "1926",
        "I.",
        "Ünal",
    ),
)
ENDS = (" ", " ", " ", ". ", ".\n", ", ", "\n")
WRITTEN = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(ENDS)), max_size=14)
TITLES = ("", "Anna", "The Winter", "東京", "St. Paris (town)", "winter")
PASSAGES = st.lists(
    st.tuples(WRITTEN, st.sampled_from(TITLES), st.sampled_from(["text", "text", "python"])),
    max_size=8,
).map(
    lambda made: [
        Passage(str(number), "".join(map("".join, written)), title, format=format)
        for number, (written, title, format) in enumerate(made)
    ]
)


def nothing(ids):
    raise AssertionError(f"{ids} were asked for")


@given(PASSAGES, PASSAGES, st.booleans())
def test_names_read_some_passages_by_what_others_taught_as_they_read_all_at_once(some, more, years):
    names = Names(years=years)
    triples, everything = names.learn([*some, *more])
    _, known = names.learn(some)
    read, grown = names.learn_more(more, known, nothing)
    assert read == triples[len(some) :]
    assert grown == everything
    assert names.forget(more, everything) == known
    assert names.learn(more)[1] == names.forget(some, everything)
    assert all(n > 0 for table in known.tables.values() for n in table.values())


def test_what_was_never_learnt_cannot_be_forgotten():
    known = Names().learn([Passage("a", "Anna met Ben in Rome.")])[1]
    assert Names().forget([Passage("b", "Anna met Cleo in Rome.")], known) is None
    with pytest.raises(ValueError, match="'names 1' has no 'names 2'"):
        known.grown(Knowledge("names 2", {}))


def test_names_that_need_several_passages_are_learnt_anew():
    assert Names(min_passages=2).learn([Passage("a", "Anna met Ben.")])[1] is None


class Shouted(Names):
    """An extractor of the caller's own that only inherits how names are learnt."""

    def triples(self, passages):
        return [[(a.upper(), r, b) for a, r, b in some] for some in super().triples(passages)]


def test_a_class_that_reads_in_its_own_way_does_not_learn_in_anothers():
    assert as_learning(Names()) is not None
    assert as_learning(Names) is None
    assert as_learning(Shouted()) is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["One.", "# A\n\nOne two. Three four.\n\n## B\n\nFive six seven eight."]
            ),
            st.sampled_from([{}, {"title": "T  t"}, {"file_name": "f.md"}, {"title": 7}]),
            st.sampled_from([None, None, "book", "d0"]),
            st.booleans(),
            st.sampled_from(["markdown", "text"]),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_an_extractor_is_shown_a_passage_of_a_graph_as_it_was_when_it_was_read(made):
    documents = [
        Document(
            f"d{i}",
            text,
            metadata,
            source=None if source == f"d{i}" else source,
            span=(3, 3 + len(text)) if has_span and source else None,
            format=format,
        )
        for i, (text, metadata, source, has_span, format) in enumerate(made)
    ]
    pieces = [Splitter(4, count=lambda text: len(text.split()))(one) for one in documents]
    graph = assemble(documents, pieces, None, len)
    rows = graph.rows("passage").tolist()
    shown = passages_to_extract(documents, pieces)
    found = passages_of_rows(graph, rows, {one.id: one for one in documents})
    assert found == shown
    assert [(one.metadata, one.whole) for one in found] == [(p.metadata, p.whole) for p in shown]
