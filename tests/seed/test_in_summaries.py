"""Passages beside the summary of their document: the mean by hand, over documents in plain lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Index
from clew.graph import Graph
from clew.seed import BM25, InSummaries
from clew.seed.section_sizes import SUMMARY, SectionSizesPart
from clew.types import Query

WORD = st.sampled_from(["red", "blue", "fox", "sky", "ferry"])
TEXT = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
HEADING = st.sampled_from(["NAME", "Abstract", "summary", "Options", "Names"])
SECTION = st.tuples(HEADING, TEXT)
DOCUMENTS = st.lists(st.lists(SECTION, min_size=1, max_size=5), min_size=2, max_size=4)
QUERY = Query("a red fox and a ferry")


def graph_of(documents):
    """The graph of documents of sections of one passage, and the rows of these, by document."""
    texts, kinds, parents, rows = [], [], [], []
    for sections in documents:
        top = len(texts)
        texts.append("Title")
        kinds.append("document")
        parents.append(-1)
        rows.append([])
        for heading, text in sections:
            parents += [top, len(texts)]
            texts += [heading, text]
            kinds += ["section", "passage"]
            rows[-1].append(len(texts) - 1)
    return Graph.of(texts, kinds=kinds, parents=parents), rows


@given(DOCUMENTS, st.sampled_from([0.0, 0.4, 1.0]), st.sampled_from([0.0, 0.5, 1.0]))
def test_a_passage_counts_with_the_first_summary_among_three_passages(documents, weight, own):
    graph, rows = graph_of(documents)
    alone = BM25().on(graph)(QUERY).scores
    found = InSummaries(BM25(), weight, own).on(graph)(QUERY).scores
    for sections, inside in zip(documents, rows, strict=True):
        headings = [heading.lower() for heading, _ in sections[:3]]
        summary = next(
            (inside[i] for i, one in enumerate(headings) if one in ("name", "abstract", "summary")),
            None,
        )
        for row in inside:
            expected = alone[row]
            if summary is not None and alone[row] > 0:
                share = weight * own if row == summary else weight
                expected = (alone[row] + share * alone[summary]) / (1 + weight)
            assert found[row] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "is_summary"),
    [
        ("UNIQ(1)   User Commands   UNIQ(1)\n\nNAME\n       uniq - omit repeated lines", True),
        ("# Abstract\n\nFerries.", True),
        ("SUMMARY\n-------\nFerries.", True),
        ("Name\n\nAnna Berg", False),  # as in a form
        ("The NAME of it", False),
        ("x" * 700 + "\nNAME\nuniq", False),
    ],
)
def test_a_heading_inside_a_passage_makes_it_a_summary(text, is_summary):
    graph = Graph.of(
        ["Title", text, "Ferries.", "NAME\nferries"],
        kinds=["document", "passage", "passage", "passage"],
        parents=[-1, 0, 0, -1],
    )
    sizes = graph.part(SectionSizesPart()).tolist()
    assert sizes == [2, SUMMARY if is_summary else 0, 0, 0]  # the last is in no document


def test_an_option_comes_before_the_same_option_of_another_command(tmp_path):
    """Both pages have the option in the same words; one says in NAME that it does what is asked."""
    page = """{0}(1)                      User Commands                      {0}(1)

NAME
       {1} - {2}

SYNOPSIS
       {1} [OPTION]... [FILE]

DESCRIPTION
       This command reads FILE, or standard input where no FILE is given, from its begin to its
       end, and writes to standard output what the options below say. It is a part of the tools
       of the harbour, whose other commands are on pages of their own, and it has no files.

OPTIONS
       -i, --ignore-case
              {3}

       -z, --zero-terminated
              Lines end with a byte of 0 in place of a newline, in what is read and written.
"""
    option = "Ignore the case of lines that are compared, in any of the languages of the harbour."
    longer = option + " That is slower, since each line is copied in small letters, byte for byte,"
    longer += " before it is compared with the one before."
    (tmp_path / "uniq.txt").write_text(page.format("UNIQ", "uniq", "omit repeated lines", longer))
    (tmp_path / "join.txt").write_text(
        page.format("JOIN", "join", "join two files by a field", option)
    )
    index = Index.from_documents(tmp_path)
    question = "ignore case of repeated lines"
    ranked = sorted(index.ask(question, limit=9), key=lambda item: -item.score)
    options = [item.document for item in ranked if "Ignore the case" in " ".join(item.text.split())]
    assert [name.rpartition("/")[2] for name in options] == ["uniq.txt", "join.txt"]


def test_weights_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"at least 0, and own .* got -1 and 2"):
        InSummaries(BM25(), -1, 2)
