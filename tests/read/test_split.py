"""Every piece at its exact place, nothing lost, nothing too long."""

from __future__ import annotations

import argparse
import collections
import decimal
import inspect
import logging
import optparse
import re
import statistics
import tarfile
import unicodedata
import unittest
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Index
from clew.cite import quotes
from clew.document import Document
from clew.read import Piece, Splitter, read_nodes
from clew.read.formats.markdown import Heading, outline
from clew.read.formats.outline import Block
from clew.text.estimate import estimate_tokens
from clew.text.spans import WINDOW, paragraphs, sentences

MODULES = (argparse, collections, decimal, logging, optparse, statistics, tarfile, unittest)


def docstrings() -> list[str]:
    """Real text of every kind: prose, lists, code, tables, all wrapped by hand."""
    found: dict[str, None] = {}
    for module in MODULES:
        for of in (module, *vars(module).values()):
            said = (
                inspect.getdoc(of)
                if inspect.isclass(of) or inspect.ismodule(of) or inspect.isfunction(of)
                else None
            )
            found[said or ""] = None
    return [said for said in found if said.strip()]


def letters(text: str) -> int:
    return len(text)


def as_a_model_does(text: str) -> int:
    """A tokenizer that wraps every text in two marks of its own."""
    return 2 + estimate_tokens(text)


WORDS = st.sampled_from(
    [
        "moon",
        "Dr.",
        "sea.",
        "why?",
        "Él.",
        "3.5",
        "我们。",
        "走吧",
        "नमस्ते।",
        "e\u0301",
        "😀",
        "x" * 40,
        "…",
        "(a)",
        "\u2028",
        "\t",
    ]
)
LINES = st.lists(WORDS, max_size=12).map(" ".join)
TEXTS = st.lists(LINES, max_size=12).flatmap(
    lambda lines: st.sampled_from(["\n", "\n\n", "\r\n", "\r\n\r\n", "\n \n\n"]).map(
        lambda end: end.join(lines)
    )
)
COUNTS = st.sampled_from([None, letters, as_a_model_does])
BLOCKS = st.one_of(
    LINES,
    LINES.map(lambda line: f"# {line}"),
    LINES.map(lambda line: f"### {line}"),
    LINES.map(lambda line: f"{line}\n==="),
    LINES.map(lambda line: f"- {line}\n- {line}\n  1. {line}"),
    LINES.map(lambda line: f"```\n# {line}\n\n{line}\n```"),
    LINES.map(lambda line: f"| a | b |\n|---|---|\n| {line} | x |"),
    LINES.map(lambda line: f"> {line}\n> # {line}"),
    LINES.map(lambda line: f"[{line}](a.md) and [b][r]\n\n[r]: c.md"),
    st.sampled_from(
        ["<div>\nhi\n</div>", "---", "    code", "[r]: <", "```\nnever closed", "| a |", "#", "\0"]
    ),
)
MARKDOWN = st.lists(BLOCKS, max_size=8).map("\n\n".join)


def has_no_word(text):
    """Whether a text is space and marks alone; an emoji is a word here."""
    return not any(unicodedata.category(sign)[0] in "LN" or sign in "🙂😀👍🌊" for sign in text)


def check(text: str, pieces: list[Piece], most: int, count) -> None:
    passages = [piece for piece in pieces if piece.kind == "passage"]
    for i, piece in enumerate(pieces):
        if piece.kind != "section":
            assert text[piece.start : piece.end] == piece.text
        if piece.parent is not None:
            above = pieces[piece.parent]
            assert piece.parent < i
            assert above.start <= piece.start <= piece.end <= above.end
            assert above.kind == ("passage" if piece.kind == "sentence" else "section")
    for one, other in pairwise(passages):
        assert one.end <= other.start
    for piece in passages:
        assert count(piece.text) <= most or len(piece.text.split()) <= 1
    for at, passage in enumerate(pieces):
        said = [piece for piece in pieces if piece.parent == at and piece.kind == "sentence"]
        if said:
            assert len(said) > 1
            spans = [(piece.start - passage.start, piece.end - passage.start) for piece in said]
            assert has_no_word(without(passage.text, spans))


def without(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text


@given(TEXTS, st.integers(1, 40), COUNTS, st.booleans())
def test_passages_of_a_text_are_exact_disjoint_small_and_leave_out_no_word(text, most, count, said):
    pieces = Splitter(most, sentences=said, count=count)(Document("d", text))
    check(text, pieces, most, count or estimate_tokens)
    assert has_no_word(without(text, [(p.start, p.end) for p in pieces if p.kind == "passage"]))


@given(MARKDOWN, st.integers(1, 40), COUNTS, st.booleans())
def test_passages_and_headings_of_markdown_leave_out_no_word(text, most, count, said):
    pieces = Splitter(most, sentences=said, count=count)(Document("d", text, format="markdown"))
    check(text, pieces, most, count or estimate_tokens)
    parts = outline(text).parts
    tables = [range(p.start + 1, p.end) for p in parts if isinstance(p, Block) and p.title]
    sections = {
        piece.start
        for piece in pieces
        if piece.kind == "section" and not any(piece.start in table for table in tables)
    }
    headings = [(p.start, p.end) for p in parts if isinstance(p, Heading) and p.start in sections]
    assert len(headings) == len(sections)
    assert has_no_word(
        without(text, headings + [(p.start, p.end) for p in pieces if p.kind == "passage"])
    )
    written = {target for _, target in outline(text).links}
    assert {
        target for piece in pieces if piece.kind != "sentence" for target in piece.references
    } == written


LINES = st.lists(
    st.tuples(
        st.sampled_from(["", "  ", "    ", "\t", " |  ", "     |   "]),
        st.sampled_from(["", "TIDES", "high(hour, /)", "-f", "Say it.", "1. low", "so on " * 9]),
    ),
    max_size=30,
).map(lambda lines: "\n".join(f"{space}{words}" for space, words in lines))


@given(LINES, st.integers(1, 40), st.booleans())
def test_passages_and_headings_of_an_indented_text_leave_out_no_word(text, most, said):
    pieces = Splitter(most, sentences=said)(Document("d", text))
    check(text, pieces, most, estimate_tokens)
    headings = [
        (p.start, p.start + len(p.text)) for p in pieces if p.kind == "section" and p.end > p.start
    ]
    assert all(text[slice(*span)].isprintable() for span in headings)
    passages = [(p.start, p.end) for p in pieces if p.kind == "passage"]
    assert has_no_word(without(text, headings + passages))


def test_real_text_keeps_every_sentence_that_fits_whole():
    for text in docstrings():
        pieces = Splitter(60, sentences=True)(Document("d", text))
        check(text, pieces, 60, estimate_tokens)
        passages = [(p.start, p.end) for p in pieces if p.kind == "passage"]
        headings = {p.start: p.start + len(p.text) for p in pieces if p.kind == "section"}
        assert has_no_word(without(text, [*passages, *headings.items()]))
        for block in paragraphs(text):
            for start, end in sentences(text, *block, "en"):
                if start in headings:  # what is below a title is no part of its sentence
                    continue
                assert estimate_tokens(f"- {text[start:end]}") > 60 or any(
                    a <= start and end <= b for a, b in passages
                )


def test_a_paragraph_that_is_read_in_several_windows_is_cut_as_if_it_were_read_at_once():
    said = [f"Sentence {i} has " + "some words, " * (i % 90) + "and ends." for i in range(200)]
    text = " ".join(said)
    assert len(text) > 20 * WINDOW
    assert [text[a:b] for a, b in sentences(text, 0, len(text), "en")] == said


@pytest.mark.parametrize("format", ["record", "markdown"])
def test_a_long_line_of_a_row_or_a_table_is_cut_between_sentences_wherever_it_is_read(format):
    said = [f"Sentence {i} of the story {'says more and more ' * (i % 5)}here." for i in range(600)]
    text = f"text: {' '.join(said)}" if format == "record" else f"```\n{' '.join(said)}\n```"
    assert len(text) > 8 * WINDOW
    passages = Splitter(100)(Document("d", text, format=format))
    assert all(any(one in passage.text for passage in passages) for one in said)


@pytest.mark.parametrize(
    "said",
    [
        ["Dr. Smith is in on Mon. and Wed. from 9 to 12.", "The rest of the week he is not."],
        ["See figs. 3 to 5, and eq. (4).", "It weighs approx. 5 kg."],
        ["Come on Sat. or Sun.", "Then rest.", "The max. load is 5 t, incl. fuel."],
        ["We met on Mon.", "Ann came at max.", "It was late."],
        ["Der Beitrag steigt ab dem 1. Januar 2025 auf 60 €.", "Es waren 12.", "Gut."],
        ["Der 1. Vorsitzende wohnt im 3. Stock.", "Platz 3.", "Danach ging er, laut Abs. 2."],
        ["Llame a la Sra. Ruiz, núm. 5.", "Es bueno."],
        ["Anna has 3.", "Ben has 4.", "It was 12.", "March came."],
    ],
)
def test_a_sentence_goes_on_behind_an_abbreviation(said):
    text = " ".join(said)
    assert [text[a:b] for a, b in sentences(text, 0, len(text), "en")] == said


def test_the_number_of_an_item_is_no_sentence():
    items = ["1. Mix it.", "2. Bake it.", "12. Eat it."]
    text = "\n".join(items)
    assert [text[a:b] for a, b in sentences(text, 0, len(text), "en")] == items


def test_neighbouring_passages_of_a_section_could_not_have_been_one():
    text = "\n\n".join(docstrings())
    passages = [piece for piece in Splitter(100)(Document("d", text)) if piece.kind == "passage"]
    neighbours = [(a, b) for a, b in pairwise(passages) if a.parent == b.parent]
    assert len(neighbours) > 100
    assert all(estimate_tokens(text[a.start : b.end]) > 100 for a, b in neighbours)


@given(TEXTS, st.booleans())
def test_a_document_that_fits_stays_whole(text, markdown):
    document = Document("d", text, format="markdown" if markdown else "text")
    assert Splitter(10_000)(document) == [Piece("passage", text, 0, len(text))]


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        (None, "Dr. Smith paid $3.5 to J. R. Hill. He asked why. It is over.", 3),
        ("de", "Am 3. Oktober kam Dr. Müller an, vgl. S. 12. Er blieb bis ca. 12 Uhr.", 2),
        (None, "我今天去了北京。天气很好！你呢？", 3),
        (None, "ذهبت إلى المدرسة. هل أنت بخير؟ نعم!", 3),
        (None, "मैं घर गया। क्या तुम ठीक हो? हाँ!", 3),
    ],
)
def test_sentences_end_where_their_language_ends_them(language, text, wanted):
    pieces = Splitter(sentences=True, language=language)(Document("d", text))
    assert [piece.kind for piece in pieces] == ["passage"] + ["sentence"] * wanted
    assert {piece.parent for piece in pieces[1:]} == {0}


def test_the_documents_own_language_is_used():
    text = "Das war Ben bzw. Anna. Er kam."
    assert len(Splitter(sentences=True)(Document("d", text, {"language": "de-AT"}))) == 3
    assert len(Splitter(sentences=True)(Document("d", text))) == 4


def test_code_and_tables_are_kept_together_where_they_fit():
    code = (
        "```python\n"
        + "\n\n".join(f"x{i} = {i}. # Not an end. Nor this." for i in range(4))
        + "\n```"
    )
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {i}. Yes. | no |" for i in range(4))
    prose = "Some words stand here. " * 8
    text = f"{prose}\n\n{code}\n\n{prose}\n\n{table}\n\n{prose}"
    most = 1 + max(estimate_tokens(code), estimate_tokens(table))  # with the mark of an item
    passages = Splitter(most)(Document("d", text, format="markdown"))
    assert any(code in piece.text for piece in passages)
    assert any(table in piece.text for piece in passages)
    cut = Splitter(estimate_tokens(table) // 2)(Document("d", table, format="markdown"))
    cut = [piece for piece in cut if piece.kind == "passage"]
    assert len(cut) > 1
    assert all(piece.text.startswith("|") and piece.text.endswith("|") for piece in cut), (
        "a table that does not fit is cut between its rows"
    )


def test_a_passage_fits_a_budget_of_as_many_tokens():
    """By the default tokenizer and by another: a passage is printed as an item of a list."""
    text = "\n\n".join(f"The keeper {i} trims lamp {i % 7} of the tower." for i in range(200))
    for count in (None, letters):
        index = Index.from_documents([Document("d", text)], splitter=Splitter(256), count=count)
        assert index.graph.tokens[index.graph.content].max() <= 256
        assert len(index.ask("Who trims lamp 3?", recipe="dense", budget=256, limit=1)) == 1


def test_the_index_hands_its_tokenizer_to_a_splitter_without_one():
    text = "one two three four. " * 10
    with_own = read_nodes([Document("d", text)], splitter=Splitter(20), count=letters)
    assert [graph_text for graph_text in with_own.texts if len(graph_text) > 20] == []
    assert (
        len(
            read_nodes(
                [Document("d", text)], splitter=Splitter(203, count=letters), count=estimate_tokens
            ).rows("passage")
        )
        == 1
    )


@pytest.mark.parametrize(
    "text",
    [
        "`" * 20_000,  # sentencex alone takes minutes
        " ".join("a" + " " * i for i in range(1200)),  # semchunk alone goes too deep
        "x" * 50_000,
        "[" * 5_000,
        "a" + " " * 9_000 + "b",
        ">" * 5_000 + " x",
    ],
)
@pytest.mark.parametrize("format", ["text", "markdown"])
def test_strange_texts_are_cut_like_others(text, format):
    pieces = Splitter(64, sentences=True)(Document("d", text, format=format))
    check(text, pieces, 64, estimate_tokens)
    assert has_no_word(without(text, [(p.start, p.end) for p in pieces if p.kind == "passage"]))


def test_a_sign_that_does_not_fit_is_kept():
    pieces = Splitter(2, count=lambda text: 3 * len(text))(Document("d", "ab 😀"))
    assert [piece.text for piece in pieces] == ["a", "b", "😀"]


@pytest.mark.parametrize("tokens", [0, -1, 2.5, True, None])
def test_a_limit_that_is_none_is_refused(tokens):
    with pytest.raises(ValueError, match="whole number of at least 1"):
        Splitter(tokens)


def test_a_line_that_leads_in_stands_with_what_it_leads_in():
    terms = [
        f"term {i}\n\nIt is the one of the number {i}, which is longer than its name."
        for i in range(9)
    ]
    text = "\n\n".join(terms) + "\n\nFor example:\n\n```\n" + "run it\n" * 12 + "```\n"
    pieces = Splitter(tokens=50)(Document("d", text, format="markdown"))
    assert len(pieces) > 4
    assert not [piece.text for piece in pieces if piece.text.endswith((":", *"012345678"))]
    assert all(
        f"term {i}" in piece.text
        for piece in pieces
        for i in range(9)
        if f"number {i}," in piece.text
    )
    assert " ".join(piece.text for piece in pieces).split() == text.split()


def test_all_passages_of_a_long_table_but_the_first_stand_under_its_columns():
    rows = [f"| Boat {i} | {i % 40} m | Cork {i} |" for i in range(60)]
    table = "\n".join(["| Name | Length | **Home** port |", "|---|---:|---|", *rows])
    text = f"# Fleet\n\nAll boats:\n\n{table}\n\nThey sail. {'So they do. ' * 60}\n\n## More\n\nNo."
    pieces = Splitter(100)(Document("d", text, format="markdown"))
    check(text, pieces, 100, estimate_tokens)
    above = {
        row: [pieces[piece.parent].text for piece in pieces if row in piece.text.split("\n")]
        for row in rows
    }
    first = next(piece for piece in pieces if piece.kind == "passage")
    assert first.text.startswith("All boats:\n\n| Name | Length |")
    for row, headings in above.items():
        is_first = row in first.text
        assert headings == ["Fleet" if is_first else "Name | Length | Home port"]
    assert [piece.text for piece in pieces if piece.kind == "section"] == [
        *("Fleet", "Name | Length | Home port", "More")
    ]
    said = [piece for piece in pieces if piece.text.startswith(("So they", "No."))]
    assert {pieces[piece.parent].text for piece in said} == {"Fleet", "More"}
    small = Splitter(4000)(Document("d", text, format="markdown"))
    assert not any("|" in piece.text for piece in small if piece.kind == "section")


def test_a_row_of_a_long_table_is_quoted_with_its_columns(tmp_path):
    rows = "\n".join(f"| Boat {i} | {i % 40} m | Cork {i} |" for i in range(60))
    (tmp_path / "fleet.md").write_text(f"| Name | Length | Home port |\n|---|---|---|\n{rows}\n")
    index = Index.from_documents(tmp_path, splitter=Splitter(100))
    answer = quotes(index.ask("What is the home port of Boat 53?"), 1, index)
    assert answer == "Name: Boat 53, Length: 13 m, Home port: Cork 53 [1]"


NOTE = Document("a", "Terms of use. Anna married Ben. Printed at noon.")


def between(*ends, kind="passage"):
    """Pieces of the note from each end to the next."""
    return [Piece(kind, NOTE.text[a:b], a, b) for a, b in pairwise(ends)]


@pytest.mark.parametrize(
    ("ends", "passages"),
    [
        ((0, 48), {"a": NOTE.text}),
        ((14, 31), {"a#14-31": "Anna married Ben."}),
        ((0, 14, 31), {"a#0-14": "Terms of use. ", "a#14-31": "Anna married Ben."}),
    ],
)
@pytest.mark.parametrize("listed", [list, tuple, iter, lambda pieces: (one for one in pieces)])
def test_what_a_splitter_leaves_out_is_read_nowhere_and_any_iterable_will_do(
    ends, passages, listed
):
    def cut(document):
        return listed(between(*ends))

    graph = Index.from_documents([NOTE], splitter=cut, extractor=None).graph
    rows = graph.rows("passage").tolist()
    assert {graph.ids[row]: graph.texts[row] for row in rows} == passages


@pytest.mark.parametrize(
    ("pieces", "error", "said"),
    [
        (None, TypeError, "of the document 'a' it returned a NoneType"),
        ("Anna", TypeError, "of the document 'a' it returned a str"),
        (["Anna"], TypeError, "of the document 'a' it returned a str in it"),
        ([NOTE], TypeError, "of the document 'a' it returned a Document in it"),
        ([], ValueError, "no passage with text from the document 'a'"),
        ([Piece("passage", " ", 13, 14)], ValueError, "no passage with text from the document"),
        (between(0, 13, kind="sentence"), ValueError, "no passage with text from the document"),
        (between(0, 13, kind="paragraph"), ValueError, "one of section, passage, sentence; got"),
        ([Piece("passage", "x", 40, 99)], ValueError, "from 0 to 48 in the text of 'a'; got"),
        ([Piece("passage", "x", 9, 3)], ValueError, "from 0 to 48 in the text of 'a'; got"),
        ([Piece("passage", "x", 0, 9, parent=0)], ValueError, "the place of one before it; got"),
    ],
)
def test_what_a_splitter_should_not_return_is_refused(pieces, error, said):
    with pytest.raises(error, match=re.escape(said)):
        Index.from_documents([NOTE], splitter=lambda document: pieces)
