"""Facts are read from the passage that says them; pieces of one document know their place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.document import Document
from clew.read import Piece, Splitter, assemble, read_nodes
from clew.text.estimate import estimate_tokens

TEXT = """\
Your planner met Anna. She said little of Ur.

Anna married Ben in Ur, as was told.

Corfu is an island. Ben lives there.

Anna and Ben married.
"""


def in_words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize("sentences", [False, True])
def test_a_fact_is_read_from_the_first_passage_that_names_both_its_ends(sentences):
    said = {
        ("Anna", "married", "Ben"): 1,
        ("ben", "lives on", "CORFU"): 2,
        ("Ur", "is not", "Corfu"): 0,  # no passage names both: the first that names one
        ("Delos", "is", "Naxos"): 0,
        ("Plan", "met", "Corfu"): 2,  # the plan of "planner" is not Plan
        ("Your", "is far from", "Ben"): 0,
    }
    graph = read_nodes(
        [Document("d", TEXT)],
        splitter=Splitter(10, sentences=sentences),
        facts={"d": said},
        count=in_words,
    )
    passages = graph.rows("passage")
    assert [graph.texts[row] for row in passages] == TEXT.strip().split("\n\n")
    assert [graph.facts.read_from[fact].tolist() for fact in range(len(said))] == [
        [passages[i]] for i in said.values()
    ]
    spans = graph.spans[passages]
    assert (spans[:-1, 1] <= spans[1:, 0]).all()


def test_pieces_of_a_document_hang_together():
    graph = read_nodes(
        [
            Document(
                "d", "# One\nFirst. Second.\n\n## Two\nThird.", {"title": "T"}, format="markdown"
            )
        ],
        splitter=Splitter(sentences=True),
        count=len,
    )
    above = {
        graph.ids[i]: graph.ids[p] if p >= 0 else None for i, p in enumerate(graph.parents.tolist())
    }
    assert above == {
        "d": None,
        "d#0-35:section": "d",
        "d#6-20": "d#0-35:section",
        "d#6-12:sentence": "d#6-20",
        "d#13-20:sentence": "d#6-20",
        "d#22-35:section": "d#0-35:section",
        "d#29-35": "d#22-35:section",
    }
    assert set(graph.documents.tolist()) == {0}
    assert [graph.texts[row] for row in graph.rows("document", "section")] == ["T", "One", "Two"]


@pytest.mark.parametrize(
    ("document", "title"),
    [
        (Document("d", "a. b."), ""),  # an id is no title
        (Document("d", "a. b.", {"file_name": "f.txt"}), "f.txt"),
        (Document("d", "---\ntitle: F\n---\na. b.", format="markdown"), "F"),
        (Document("d", "---\ntitle: F\n---\na. b.", {"title": "T"}, format="markdown"), "T"),
    ],
)
def test_a_document_in_pieces_is_headed_by_its_title(document, title):
    graph = assemble(
        [document],
        [[Piece("passage", "a.", 0, 2), Piece("passage", "b.", 3, 5)]],
        None,
        estimate_tokens,
    )
    assert [graph.texts[row] for row in graph.rows("document")] == [title]


@given(st.text("a. é\n\n7", max_size=300), st.integers(2, 12), st.booleans())
def test_tokens_are_those_of_every_text_whoever_has_counted_them(text, most, sentences):
    document = Document("d", f"Begin. {text}")
    for count in (estimate_tokens, len):
        graph = read_nodes([document], splitter=Splitter(most, sentences=sentences), count=count)
        assert graph.tokens.tolist() == [count(f"- {own}\n") for own in graph.texts]


def test_tokens_that_were_estimated_count_where_the_graph_has_the_estimate_alone():
    pieces = [Piece("passage", "a b", 0, 3, tokens=7), Piece("passage", "c d", 4, 7)]
    for count, wanted in ((estimate_tokens, [7, 3]), (len, [6, 6])):
        graph = assemble([Document("d", "a b c d")], [pieces], None, count)
        assert graph.tokens[graph.rows("passage")].tolist() == wanted


def test_a_piece_that_is_cut_again_keeps_its_place_under_its_source():
    whole = Document("p0", "One.", source="s", span=(0, 4))
    cut = Document("p1", "Two two two. Three three three.", source="s", span=(5, 36), previous="p0")
    graph = read_nodes(
        [whole, cut],
        splitter=Splitter(4),
        facts={"s": [("One", "is", "Two")], "p1": [("Two", "is", "Three")]},
        count=estimate_tokens,
    )
    row = {id: i for i, id in enumerate(graph.ids)}
    assert (
        graph.documents[row["p0"]]
        == graph.parents[row["p0"]]
        == graph.parents[row["p1"]]
        == row["s"]
    )
    assert graph.documents[row["p1"]] == row["p1"], "its pieces count from its own beginning"
    assert graph.previous[row["p1"]] == row["p0"]
    assert [graph.ids[r] for r in graph.facts.read_from[0].tolist()] == ["p0"]


def test_a_piece_whose_place_is_not_known_overlaps_nothing():
    pieces = [Document(f"p{i}", text, source="s") for i, text in enumerate(["One one.", "Two."])]
    graph = read_nodes(pieces, count=estimate_tokens)
    assert graph.documents.tolist() == [0, 1, 2]
    assert graph.parents.tolist() == [2, 2, -1]


def test_vectors_that_are_given_are_kept_and_must_be_of_one_dimension():
    first, second = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    graph = read_nodes(
        [Document("a", "A", vector=first), Document("b", "B"), Document("c", "C", vector=second)],
        count=len,
    )
    assert graph.vectors.tolist() == [[1, 0], [0, 0], [0, 1]]
    with pytest.raises(ValueError, match="one dimension; got 2, 3"):
        read_nodes(
            [Document("a", "A", vector=first), Document("b", "B", vector=np.ones(3))], count=len
        )
