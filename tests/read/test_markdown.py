"""Sections are those of CommonMark."""

from __future__ import annotations

import random

import pytest
from markdown_it.ruler import Ruler

from clew import Index
from clew.document import Document
from clew.graph import heading_of
from clew.link import Hyperlink
from clew.read import Splitter, read_nodes
from clew.read.formats.markdown import (
    _parser,
    find_links,
    find_title,
    leave_out_comments,
    outline,
)

BOOK = """\
---
title: "The Book of the Moon"
tags: [sky]
---
A word before, with [a link](before.md).

The *Moon*, and `more`
======================

It is [far](far.md#deep "how far") and [old][age]. See <https://moon.example/a>.

[age]: old%20age.md

## Craters ##

~~~
# not a heading
~~~

> # quoted

### Tycho
Young.

## Empty

## Seas
[Mare][age] | \\[not a link](x.md)

# End
Last.
"""


def sections(text: str, tokens: int = 256) -> list[tuple[str, str | None, str]]:
    pieces = Splitter(tokens)(Document("d", text, format="markdown"))
    return [
        (p.text, None if p.parent is None else pieces[p.parent].text, text[p.start : p.end])
        for p in pieces
        if p.kind == "section"
    ]


def test_sections_nest_by_level_and_reach_to_their_end():
    found = sections(BOOK)
    assert [(name, above) for name, above, _ in found] == [
        ("The Moon, and more", None),
        ("Craters", "The Moon, and more"),
        ("Tycho", "Craters"),
        ("Seas", "The Moon, and more"),
        ("End", None),
    ]
    assert found[1][2].startswith("## Craters")
    assert found[1][2].endswith("Young.")
    assert found[0][2].endswith("[not a link](x.md)")


def test_links_stand_in_the_piece_they_are_written_in():
    pieces = Splitter(12)(Document("d", BOOK, format="markdown"))
    of = {target: piece.text for piece in pieces for target in piece.references}
    assert "[a link]" in of["before.md"]
    assert "[far]" in of["far.md#deep"]
    assert "<https" in of["https://moon.example/a"]
    assert [
        "[old][age]" in p.text or "[Mare][age]" in p.text
        for p in pieces
        if "old%20age.md" in p.references
    ] == [True, True]
    assert "x.md" not in of
    assert (
        set(of)
        == set(find_links(BOOK))
        == {"before.md", "far.md#deep", "old%20age.md", "https://moon.example/a"}
    )


def test_a_heading_without_a_body_is_still_read():
    pieces = Splitter()(Document("d", BOOK, format="markdown"))
    empty = next(piece for piece in pieces if "Empty" in piece.text and piece.kind == "passage")
    assert empty.text == "## Empty"
    assert pieces[empty.parent].text == "The Moon, and more"
    assert [
        p.text
        for p in Splitter()(Document("d", "# Only\n## Titles", format="markdown"))
        if p.kind == "passage"
    ] == ["## Titles"]


def test_random_nestings_of_headings_come_back():
    rng = random.Random(7)
    for _ in range(50):
        level, wanted, lines, path = 0, [], [], []
        for i in range(12):
            level = rng.randint(1, min(level + 1, 6))
            path = [*path[: level - 1], f"H{i}"]
            mark = ("=" if level == 1 else "-") * 3
            lines += [
                f"H{i}\n{mark}" if level < 3 and rng.random() < 0.5 else f"{'#' * level} H{i}",
                f"Body {i}.",
            ]
            wanted.append((f"Body {i}.", path))
        graph = read_nodes(
            [Document("d", "\n\n".join(lines), format="markdown")], splitter=Splitter(), count=len
        )
        assert [
            (graph.texts[row], heading_of(graph, row).split(" > ")) for row in graph.rows("passage")
        ] == wanted


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (BOOK, "The Book of the Moon"),
        ("---\nlayout: a\n---\n\nText\n\n## Above\n\n# The *first* level", "The first level"),
        ("```\n# no\n```\n\nSetext\n---\n", "Setext"),
        (
            "---\n\ntitle: none\n---\n",
            "title: none",
        ),  # no front matter but a line and a setext heading
        ("No heading.", None),
        ("", None),
    ],
)
def test_the_title_is_that_of_the_front_matter_else_the_first_heading(text, title):
    assert find_title(text) == title


STEPS = ("Loom > Step 1", "Loom > Step 2")


@pytest.mark.parametrize(
    ("name", "text", "paths"),
    [
        ("Bread.md", "## Flour\nWheat.\n\n## Oven\nHot.", ["Bread > Flour", "Bread > Oven"]),
        ("Ann.md", "A carpenter.\n\n## Met\nIn May.", ["Ann", "Ann > Met"]),
        ("README.md", "## Loom\nIt weaves.\n\n## Use\nPull.", ["Loom", "Loom > Use"]),
        (
            "a.md",
            "[![ok](i.svg)](c)\n\n## Loom\nA tool.\n\n### Use\nPull.",
            ["Loom", "Loom", "Loom > Use"],
        ),
        ("new.md", "# 1.1 (May)\nRed.\n\n# 1.0\nBlue.", ["new > 1.1 (May)", "new > 1.0"]),
        ("new.rst", "V1.1\n====\n\nRed.\n\nV1.0\n====\n\nBlue.\n", ["new > V1.1", "new > V1.0"]),
        ("a.md", "# Loom\nA tool.\n\n# Step 1\nUp.\n\n# Step 2\nDown.", ["Loom", *STEPS]),
    ],
)
def test_a_heading_of_a_part_is_no_title_of_the_whole(tmp_path, name, text, paths):
    (tmp_path / name).write_text(text)
    graph = Index.from_documents(tmp_path, embedder=None).graph
    assert [heading_of(graph, row) for row in graph.rows("passage")] == paths


def test_line_ends_of_every_kind_give_the_same_outline():
    unix = outline(BOOK)
    for end in ("\r\n", "\r"):
        text = BOOK.replace("\n", end)
        other = outline(text)
        assert [text[p.start : p.end].replace(end, "\n") for p in other.parts] == [
            BOOK[p.start : p.end] for p in unix.parts
        ]


@pytest.mark.parametrize("splitter", [None, Splitter(), Splitter(5)])
def test_links_between_files_become_edges_split_or_whole(splitter):
    documents = [
        Document("a/one.md", "# One\n\nGo on to [two](../b/two.md#x).", format="markdown"),
        Document("b/two.md", "# Two\n\nThe end is nigh and long and wide.", format="markdown"),
    ]
    graph = read_nodes(
        documents,
        splitter=splitter,
        count=len if splitter is None else lambda text: len(text.split()),
    )
    edges = Hyperlink().on(graph)
    assert [
        (graph.ids[graph.documents[t]], graph.ids[h])
        for t, h in zip(edges.tails, edges.heads, strict=True)
    ] == [("a/one.md", "b/two.md")]


def test_links_in_brackets_are_found_and_brackets_without_an_end_are_not_looked_into_again_and_again(
    monkeypatch,
):
    from markdown_it import MarkdownIt
    from markdown_it.parser_inline import ParserInline

    nested = (
        "[![a](b)](c)", "[a [b] c](d)", "[a [b [c]] d](e)", "[[a]](b)", "> - [![a [x]](b)](c) *[d](e)*",
        "[a][r] [r]\n\n[r]: f", "<http://a.b> ![a](b)", "| [a](b) |\n|--|\n| ![c](d) [e](f) |",
    )  # fmt: skip
    whole = MarkdownIt("commonmark").enable("table")
    for text in nested:
        inlines = [token.children or () for token in whole.parse(text)]
        links = [one.attrGet("href") for some in inlines for one in some if one.type == "link_open"]
        assert [target for _, target in outline(text).links] == links
    calls = []
    skip = ParserInline.skipToken
    monkeypatch.setattr(ParserInline, "skipToken", lambda *given: calls.append(1) or skip(*given))
    outline("![" * 1000)
    assert len(calls) < 20_000  # it was five times as many


def test_names_of_a_heading_s_place_below_it_belong_to_the_heading():
    text = "# Summary\n[summary]: #summary\n\nFerries sail.\n\n[other]: https://example.org\n"
    pieces = Splitter()(Document("d", text, format="markdown"))
    assert [piece.text for piece in pieces if piece.kind == "section"] == ["Summary"]
    assert pieces[-1].text.startswith("Ferries sail.")
    assert "https://example.org" in pieces[-1].text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Fee <!-- omit in toc -->\n\nIt is due.", "# Fee\n\nIt is due."),
        ("Fee.\n\n<!-- TODO: not\n\nchecked -->\n\nIt is due.", "Fee.\n\nIt is due."),
        ("It <!-- who? --> is due <!-- when? -->.", "It is due."),
        ("It <!-- who\nknows --> is due.", "It\nis due."),
        ("Fee\n<!-- no heading -->\n---\n", "Fee\n\n---\n"),
        ("- a <!-- b -->\n- <!-- c --> d\n  <!-- e\n  f -->\n", "- a\n- d\n"),
        ("> a\n> <!-- b -->\n> c", "> a\n>\n> c"),
        ("| a | b |\n|---|---|\n| c <!-- d --> | e |", "| a | b |\n|---|---|\n| c | e |"),
        ("<!-- a -->    Due.\n\n- b\n\n  <!-- c -->     d", "Due.\n\n- b\n\n  d"),
        ("<div>\n<!-- a -->\nb\n</div>", "<div>\nb\n</div>"),
        ("A `` ` `` <!-- b --> and `<!-- c -->`.", "A `` ` `` and `<!-- c -->`."),
        ("a\n\n<!-- end of h2 -->\n\nb", None),
        ("```\n<!-- a -->\n```\n\n    <!-- b -->\n\n- ~~~\n  <!-- c -->\n  ~~~", None),
        ("`<!-- a -->` and `` `<!-- b\n-->` `` and \\<!-- c -->", None),
        ("<script>\n<!-- a -->\n</script>", None),
        ("Fee.\n\n<!-- it never ends\n\nIt is due.", None),
        ("Fee <!-- it never ends.\n\nIt is due -->.", None),
        ("- <!-- it ends\n\nelsewhere -->", None),
        ("Steps:\n- <!-- add more -->\n\nText", None),
        ("> Steps:\n> 1. <!-- add\n>    more -->\n>\n> Text", None),
        ("Steps:\n=== <!-- no heading -->\n", None),
        ("<!-- x --> Text\n---\n", None),
        ("> <!-- x\n> y --> Text\n> ---\n", None),
        ("<!-- x --> Text\n--- a <!-- y -->\n", "Text\n--- a\n"),
    ],
)
def test_comments_are_left_out_and_what_only_looks_like_one_is_not(text, shown):
    without, lines = leave_out_comments(text)
    assert without == (text if shown is None else shown)
    assert len(lines) == without.count("\n") + 1


@pytest.mark.parametrize("mark", ["-", "*", "+", "1.", "2)", "- -", "---", "===", "Tail", ""])
@pytest.mark.parametrize("above", ["Steps:", "> Steps:", "<!-- y --> Steps:", "- Steps:"])
@pytest.mark.parametrize("comment", [" <!-- x -->", " <!-- x --><!-- z -->", " <!-- x\nz -->"])
def test_no_comment_that_is_left_out_makes_a_heading(mark, above, comment):
    from markdown_it import MarkdownIt

    text = f"{above}\n{mark}{comment}\n\nText\n\n{above}\n{mark}\n"
    kinds = [
        sum(token.type == "heading_open" for token in MarkdownIt("commonmark").parse(one))
        for one in (text, leave_out_comments(text)[0])
    ]
    assert kinds[0] == kinds[1]


def test_a_comment_in_a_file_is_neither_found_nor_quoted_and_one_without_more_is_skipped(tmp_path):
    (tmp_path / "a.md").write_text("# Fee\n\nIt is due.\n\n<!-- Is the harbour checked? -->\n")
    (tmp_path / "b.md").write_text("<!-- Say what the harbour does. -->\n")
    index = Index.from_documents(tmp_path)
    assert [document.id for document in index.documents] == ["a.md"]
    assert [reason for _, reason in index.skipped] == ["nothing but comments"]
    assert "harbour" not in index.ask("Is the harbour checked, and when is the fee due?").text


def test_comments_without_an_end_take_linear_time():
    text = "a <!-- b `` c <!- ` " * 20_000
    assert leave_out_comments(text)[0] == text
    assert leave_out_comments("a <!-- b --> " * 20_000)[0] == "a" + " a" * 19_999


def test_a_parser_that_threads_share_lists_its_rules_before_any_of_them_parses(monkeypatch):
    """It lists them bit by bit, and who looks meanwhile reads by some of the rules."""
    text = "# Sea\n\nAn [island](isle.md), *far*.\n\n| a | b |\n|---|---|\n| [c](d.md) | e |\n"
    read = [find_links(text), outline(text, lambda start, end: 0.0)]
    _parser.cache_clear()
    for inline in (True, False):
        _parser(inline)

    def is_late(_):
        raise AssertionError

    monkeypatch.setattr(Ruler, "__compile__", is_late)
    assert [find_links(text), outline(text, lambda start, end: 0.0)] == read
