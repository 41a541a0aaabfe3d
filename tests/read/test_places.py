"""Where passages are in their files, found another way: the file is opened, and the words are there.

Every word of the files is there once. So the line of a word is where a search of the file finds it,
and the anchor above it is the last that the standard library's own parser of HTML saw before it.
"""

from __future__ import annotations

import json
import random
import re
from html.parser import HTMLParser

import pytest

import clew
from clew.index.locating import with_locations
from clew.items import Item
from clew.read import load_documents
from clew.read.formats.html import parse_page
from clew.source_map import LineStart, SourceMap, lines_in_text

FENCE = "```"
WORD = re.compile(r"\bw\d{5}\w*")


class Words:
    """Words that never come again, as sentences, lines and paragraphs."""

    def __init__(self, seed):
        self.random, self.count = random.Random(seed), 0

    def word(self):
        self.count += 1
        return f"w{self.count:05}{self.random.choice(('', 'and', 'ebb'))}"

    def sentence(self, n=None):
        return " ".join(self.word() for _ in range(n or self.random.randint(9, 12))) + "."

    def paragraph(self):
        n = self.random.choice((1, 2, 9))
        return "\n".join(self.sentence() for _ in range(n))


def passages(index):
    """Every passage of an index as an item with its location."""
    graph = index.graph
    rows = [row for row in range(len(graph)) if graph.kinds[row] == "passage"]
    return with_locations(
        (
            Item(
                graph.ids[row], graph.texts[row], 0.0, "seed", "passage", 1,
                document=graph.ids[graph.documents[row]], span=tuple(graph.spans[row].tolist()),
            )
            for row in rows
        ),
        index.document_of,
    )  # fmt: skip


def index_of(path):
    return clew.Index.from_documents(path, splitter=clew.Splitter(tokens=120, sentences=False))


def line_of(word, source):
    """The line of the file that a word is in, from 1."""
    assert len(re.findall(rf"\b{word}\b", source)) == 1
    return source[: source.index(word)].count("\n") + 1


def assert_lines_open(items, source):
    assert items
    for item in items:
        words = WORD.findall(item.text)
        assert item.lines is not None
        first, last = line_of(words[0], source), line_of(words[-1], source)
        assert item.lines[0] == first - item.text.startswith(FENCE), (item, words[0])
        marks = item.text.count("\n", item.text.index(words[-1]))  # a fence, or an underline
        assert item.lines[1] == last + marks, (item, words[-1])


def sections(words, heading, block):
    parts = []
    for _ in range(12):
        parts += [heading(words.sentence(2)), *(block() for _ in range(words.random.randint(0, 4)))]
    return "\n\n".join(parts) + "\n"


def markdown(words):
    def block():
        kinds = [
            words.paragraph,
            lambda: "```python\n" + words.paragraph() + "\n\n" + words.paragraph() + "\n```",
            lambda: "\n".join(f"- {words.sentence()}" for _ in range(5)),
            lambda: f"| {words.word()} | b |\n| --- | --- |\n| {words.word()} | {words.word()} |",
            lambda: "\n".join(f"> {line}" for line in words.paragraph().split("\n")),
        ]
        return words.random.choice(kinds)()

    return sections(words, lambda title: f"## {title}", block)


def commented(words):
    """Markdown with comments, whose words are h00001 and so on, and code that looks like one."""
    pick, lines, in_fence = words.random, [], False

    def comment():
        hidden = [f"h{pick.randint(0, 99999):05}" for _ in range(pick.randint(1, 9))]
        return "<!-- " + "".join(word + pick.choice(" \n") for word in hidden) + "-->"

    for line in markdown(words).split("\n"):
        in_fence ^= line.startswith(FENCE)
        is_plain = line.startswith("w")
        if in_fence:
            lines.append(line or f"<!-- {words.word()} -->")
        elif not line:
            lines += ["", comment(), ""] if pick.random() < 0.3 else [""]
        elif WORD.search(line) and pick.random() < 0.3:
            at = next(WORD.finditer(line)).end()
            hidden = comment() if is_plain else comment().replace("\n", " ")
            lines.append(f"{line[:at]} {hidden}{line[at:]}")
        elif is_plain and pick.random() < 0.3:
            lines += [comment(), line] if pick.random() < 0.5 else [f"{comment()} {line}"]
        elif is_plain and pick.random() < 0.2:
            lines.append(f"`<!-- {words.word()} -->` {line}")
        else:
            lines.append(line)
    return "\n".join(lines)


def restructured(words):
    return sections(words, lambda title: f"{title}\n{'=' * len(title)}", words.paragraph)


def plain(words):
    return sections(words, lambda title: title, words.paragraph)


def python(words):
    def block():
        body = "\n".join(f"    {words.word()} = 1" for _ in range(9))
        return f'def {words.word()}():\n    """{words.sentence()}"""\n{body}\n'

    return "\n\n".join(block() for _ in range(9))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("name", "write"),
    [("a.md", markdown), ("a.rst", restructured), ("a.txt", plain), ("a.py", python)],
)
@pytest.mark.parametrize("seed", range(4))
def test_the_lines_of_a_text_are_where_its_passages_are(tmp_path, name, write, seed, end):
    source = write(Words(seed))
    (tmp_path / name).write_bytes(source.replace("\n", end).encode())
    items = passages(index_of(tmp_path))
    assert_lines_open(items, source)
    for item in items:
        first, last = item.lines
        assert item.location == (f"{name}:{first}" if first == last else f"{name}:{first}-{last}")


@pytest.mark.parametrize("seed", range(8))
def test_the_lines_of_a_text_with_comments_are_where_its_passages_are(tmp_path, seed):
    source = commented(Words(seed))
    (tmp_path / "a.md").write_text(source, encoding="utf-8")
    items = passages(index_of(tmp_path))
    for item in items:
        assert item.location.startswith(f"a.md:{item.lines[0]}")
        own = item.text.split("\n")
        for line, number in ((own[0], item.lines[0]), (own[-1], item.lines[1])):
            assert {line_of(word, source) for word in WORD.findall(line)} <= {number}
            assert line.split()[0] in source.split("\n")[number - 1]
    text = " ".join(item.text for item in items)
    assert not re.search(r"\bh\d{5}", text)
    assert {*WORD.findall(text)} >= {*WORD.findall(re.sub("(?m)^#.*", "", source))}


def test_the_lines_of_rows_are_those_of_the_records(tmp_path):
    words = Words(0)
    csv = "name,note\n" + "".join(
        f'{words.word()},"{words.word()}\n{words.word()}"\n\n' for _ in range(5)
    )
    rows = [{"name": words.word(), "more": {"note": words.word()}} for _ in range(5)]
    files = {
        "a.csv": csv,
        "a.jsonl": "".join(json.dumps(row) + "\n\n" for row in rows),
        "b.json": "\n [" + ",\n\n".join(json.dumps(row, indent=3) for row in rows) + "]\n",
        "c.json": json.dumps(rows),
    }
    for name, source in files.items():
        (tmp_path / name).write_text(source)
    items = passages(index_of(tmp_path))
    assert len(items) == 20
    for item in items:
        name = item.document.partition("#")[0]
        lines = files[name].split("\n")
        there = "\n".join(lines[item.lines[0] - 1 : item.lines[1]])
        first, last = item.lines
        assert all(word in there for word in WORD.findall(item.text))
        if last > first:  # nothing in front of it, or behind
            assert not any(word in there for word in WORD.findall(there) if word not in item.text)
        assert item.location == (f"{name}:{first}" if first == last else f"{name}:{first}-{last}")
    assert [item.lines for item in items if item.id.startswith("a.csv")][:2] == [(2, 3), (5, 6)]


@pytest.mark.parametrize("indent", [1, None])
@pytest.mark.parametrize("seed", range(4))
def test_the_lines_of_a_notebook_are_those_of_its_file(tmp_path, seed, indent):
    words = Words(seed)
    cells = []
    for _ in range(12):
        text = "\n\n" * words.random.randint(0, 1) + words.paragraph() + "\n" + words.paragraph()
        source = text.splitlines(keepends=True) if words.random.random() < 0.8 else text
        kind = words.random.choice(("code", "markdown"))
        shown = {"text": ['{"source": ["', words.word()], "source": ["no"]}  # as no cell has it
        cells.append({"cell_type": kind, "outputs": [shown], "source": source, "metadata": {}})
    notebook = {"cells": cells, "metadata": {"source": words.word()}, "nbformat": 4}
    source = json.dumps(notebook, indent=indent)
    (tmp_path / "a.ipynb").write_text(source)
    spaced = re.sub(r"(?<!\\)((?:\\\\)*)\\n", r"\1  ", source)  # "\nw" is no word of its own
    for item in passages(index_of(tmp_path)):
        places = [line_of(word, spaced) for word in WORD.findall(item.text)]
        if FENCE in item.text:  # it may end with the fence of another cell
            assert item.lines[0] <= places[0] <= places[-1] <= item.lines[1]
        else:
            assert item.lines == (places[0], places[-1])


def page(words, clean=True):
    """A page of HTML as people write them: with what is left out, and with tags that are missing."""

    def lines():
        return words.paragraph()

    def identifier():
        return f"id-{words.word()[1:]}"

    kinds = [
        lambda: f"<p>{lines()}</p>",
        lambda: (
            f'<p class="a">\n  <a href="#b" title="<p> no"><b>{lines()}</b></a>\n {lines()}</p>'
        ),
        lambda: f"<h2 id={identifier()}>{words.sentence(2)}</h2>",
        lambda: f'<h3><a name="{identifier()}"></a>{words.sentence(2)}</h3>',
        lambda: f"<h3 id='{identifier()}'>{words.sentence(2)}<a class=headerlink>¶</a></h3>",
        lambda: f'<section id="{identifier()}"><h2>{words.sentence(2)}</h2>\n{lines()}</section>',
        lambda: "<UL>" + "".join(f"\n<LI>{words.sentence()}" for _ in range(4)) + "</UL>",
        lambda: f'<ol><li id="{identifier()}"><p>{lines()}</p>\n<p>{lines()}</p></li></ol>',
        lambda: f'<pre id="{identifier()}">\n<span></span><b>{lines()}</b>\n\n{lines()}\n</pre>',
        lambda: (
            "<table>"
            + "".join(
                f"<tr><td>{words.word()}</td>\n<td>{words.word()}</td></tr>\n" for _ in range(4)
            )
            + "</table>"
        ),
        lambda: f'<dl><dt id="{identifier()}"><code>{words.word()}</code></dt>\n<dd>{lines()}</dl>',
        lambda: f"<nav><p>Home</p>\n<ul><li>{words.word()}</li></ul></nav>",
        lambda: f"<script>'<p>{words.word()}</p>'\n</script><style>p {{}}\n</style>",
        lambda: f"<!-- <p>{words.word()} -->",
        lambda: f'<div hidden id="{identifier()}"><p>{words.word()}</p>\n</div>',
        lambda: f"</p><p>&amp; {lines()}",
        lambda: f"<blockquote>\n<p>{lines()}<br>\n{lines()}</p></blockquote>",
        lambda: f"<div>\n\n{lines()}</div>",
    ]
    body = "\n".join(words.random.choice(kinds)() for _ in range(40))
    return (
        f"<!doctype html>\n<title>w</title><body id=top><nav><p>a\n</nav>\n<main>{body}</main>"
        f"<footer><p>{words.word()}</footer>"
    )


class Anchors(HTMLParser):
    """The anchor above every word, by the standard library."""

    def __init__(self):
        super().__init__()
        self.anchor, self.above, self.in_main, self.left_out = None, {}, False, 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.in_main |= tag == "main"
        if tag in ("nav", "script", "style") or "hidden" in attributes:
            self.left_out += 1
        name = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
        if name and self.in_main and not self.left_out:
            self.anchor = name

    def handle_endtag(self, tag):
        if self.left_out and tag in ("nav", "script", "style", "div"):
            self.left_out -= 1

    def handle_data(self, data):
        self.above |= dict.fromkeys(WORD.findall(data), self.anchor)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("seed", range(25))
def test_the_lines_and_the_anchor_of_a_page_are_where_its_passages_are(tmp_path, seed, end):
    source = page(Words(seed))
    (tmp_path / "a page.html").write_bytes(source.replace("\n", end).encode())
    items = passages(index_of(tmp_path))
    anchors = Anchors()
    anchors.feed(source)
    for item in items:
        words = WORD.findall(item.text)
        if item.text.startswith(FENCE):  # perhaps the end of the code above
            assert item.lines[0] <= line_of(words[0], source) <= item.lines[1]
        else:
            assert item.anchor == anchors.above[words[0]], item
            assert item.lines[0] == line_of(words[0], source), item
        if not re.search(r"(```|\d\.)\s*$", item.text):  # the marks of what comes next
            last = line_of(words[-1], source)
            in_table = item.text.rstrip().endswith(
                "|"
            )  # whose rows are in the lines of their first cells
            assert item.lines[0] <= item.lines[1] <= last
            assert item.lines[1] == last or in_table
        if item.anchor:
            assert item.location == f"a page.html#{item.anchor}"
    assert any(item.anchor for item in items)


@pytest.mark.parametrize(
    "words", ["The ferry sails\nat ten\nfrom the old quay\nnow.", "One\na\nb\nc"]
)
@pytest.mark.parametrize("around", ["<p>{}", "<ul><li>{}</ul>", "<div>{}\n<hr></div>", "<p>{}</p>"])
def test_a_short_paragraph_reaches_to_its_last_line(words, around):
    html = "<h1>Ferry</h1>\n" + around.format(words) + "\n<script>\nnow.\n</script>\n<p>\nnow."
    page = parse_page(html)
    heading, paragraph = page.text.split("\n\n")[:2]
    begin = len(heading) + 2
    source = SourceMap.of("a.html", page.lines)
    assert source.lines_of(page.text, (begin, begin + len(paragraph))) == (2, 5)


@pytest.mark.parametrize(
    ("words", "last"),
    [
        ("The ferry sails\nat\n<b>ten</b>.", "ten"),
        ("The ferry sails\nfrom quay\n<code>x1</code> (<a href=b>map</a>).", "x1"),
        ("The ferry sails\nat ten\nand at\n<i>noon</i>, they say", "and at"),
        ("The often late ferry\nsails at\nten\nto the other quay", "sails at"),
    ],
)
def test_a_passage_reaches_to_its_last_line_where_that_has_a_few_letters(words, last):
    html = f"<p>{words}</p>"
    page = parse_page(html)
    end = page.text.index(last) + len(last)
    line = 1 + html[: html.index(last)].count("\n")
    assert SourceMap.of("a.html", page.lines).lines_of(page.text, (0, end)) == (1, line)


def test_an_anchor_is_written_as_an_address_has_it(tmp_path):
    (tmp_path / "a.html").write_text('<h1 id="a b&quot;ж(c)">A</h1><p>w00001</p>', encoding="utf-8")
    (item,) = clew.Index.from_documents(tmp_path).ask("w00001").items
    assert (item.anchor, item.location) == ('a b"ж(c)', "a.html#a%20b%22ж(c)")


@pytest.mark.parametrize(
    "junk",
    ["<p>" * 3000, "</p>" * 3000, "<param " * 3000, "<div " * 3000, "<pre>a", "<!-- <p>" * 3000],
)
def test_a_page_of_tags_alone_is_read_in_time_that_grows_with_its_length(junk):
    """The searches of a page read a few times its size at most, whatever is in it."""
    import time

    def once(n):
        start = time.process_time()
        parse_page("<main><p id=a>w00001</p>" + junk * n + "<p id=b>w00002</p>" * 50 * n)
        return time.process_time() - start

    def seconds(n):
        return min(once(n) for _ in range(5))  # in one of them the collector looks at all objects

    assert seconds(8) < 40 * max(seconds(1), 0.002)  # a square would be 64


def test_a_moved_text_is_not_read_anew_but_opens_where_it_is(tmp_path):
    calls = []

    def embed(texts):
        calls.extend(texts)
        return [[1.0, float(len(text))] for text in texts]

    embedder = clew.Embedder("counted", embed, lambda text: [1.0, 1.0])
    page = tmp_path / "a.html"
    page.write_text("<h1 id=a>Tides</h1>\n<p>They ebb.</p>")
    index = clew.Index.from_documents(tmp_path, embedder=embedder, splitter=None)
    page.write_text("<!-- new -->\n\n<h1 id=b>Tides</h1>\n<p>They ebb.</p>")
    calls.clear()
    moved = index.sync(tmp_path)
    assert not calls
    assert [i.ask("Do they ebb?").items[0].location for i in (index, moved)] == [
        "a.html#a",
        "a.html#b",
    ]
    assert moved.ask("Do they ebb?").items[0].lines == (3, 4)
    assert moved.sync(tmp_path) is moved


def test_a_saved_index_opens_with_its_places_and_one_of_an_earlier_version_without(
    tmp_path, monkeypatch
):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.html").write_text(page(Words(1)))
    (tmp_path / "in/b.csv").write_text("name\nw00001\n")
    (tmp_path / "in/c.md").write_text(markdown(Words(2)))
    index = index_of(tmp_path / "in")
    index.save(tmp_path / "new")
    loaded = clew.Index.load(tmp_path / "new")
    assert passages(loaded) == passages(index)
    assert loaded.documents == index.documents
    from clew.store import columns

    monkeypatch.setattr(columns, "write_source_maps", lambda *_: None)  # as it was
    index.save(tmp_path / "old")
    old = clew.Index.load(tmp_path / "old")
    for item in passages(old):
        if item.document == "a.html":
            assert (item.location, item.lines, item.anchor) == ("a.html", None, None)
    assert [item for item in passages(old) if item.document == "c.md"] == [
        item for item in passages(index) if item.document == "c.md"
    ]


def test_a_map_says_its_lines_by_its_definition():
    text = "a\nb\nc\nd\ne"
    source = SourceMap.of(
        "f", [LineStart(0, 5), LineStart(2, 5), LineStart(4, 9, is_verbatim=True)], [(4, "x")], 2
    )
    assert [source.lines_of(text, (i, i + 1)) for i in range(0, 9, 2)] == [
        (5, 5), (5, 5), (9, 9), (10, 10), (11, 11),
    ]  # fmt: skip
    assert [source.anchor_at(i) for i in (0, 3, 4, 8)] == [None, None, "x", "x"]
    assert source.lines_of(text, (0, 9)) == (5, 11)
    same = SourceMap.of("f", [LineStart(0, 5), LineStart(4, 9, True)], [(4, "x")], 2)
    assert source == same
    assert hash(source) == hash(same)
    assert source != SourceMap.of("f", [LineStart(0, 5)], [(4, "x")], 2)
    assert SourceMap.of("f").lines_of(text, (0, 1)) is None


def test_lines_in_text_are_counted_as_one_by_one():
    text = "a\n\nbc\nd\n\n"
    spans = [(a, b) for a in range(len(text)) for b in range(a + 1, len(text) + 1)]
    assert lines_in_text(text, spans[::-1]) == [
        (text[:a].count("\n") + 1, text[: b - 1].count("\n") + 1) for a, b in spans[::-1]
    ]


@pytest.mark.parametrize("space", ["&nbsp;", "\u00a0", "&nbsp; \u00a0", " "])
def test_lines_that_are_indented_by_no_break_spaces_are_found(tmp_path, space):
    words = [
        f"{space}{space}{'but' if i % 3 else 'And'} the number{space}is {i}." for i in range(40)
    ]
    (tmp_path / "a.html").write_text("<body>\n" + "<br>\n".join(words), encoding="utf-8")
    (document,) = load_documents(tmp_path).documents
    for i in range(40):
        place = document.text.index(f"is {i}.")
        assert document.source_map.lines_of(document.text, (place, place + 4)) == (i + 2, i + 2)


@pytest.mark.parametrize(
    "large",
    [
        "<img alt=pier src='data:image/png;base64,{x}'>",
        "<script>if (a<b) {{ c = '<p>{x}</p>' }} {tags}</script>",
        "<style>/* {tags} */</style>",
        "<svg><g>{tags}</g></svg>",
    ],
)
def test_lines_behind_what_is_very_large_are_found(tmp_path, large):
    element = large.format(x="A" * 900_000, tags="<path d='M1'/>\n" * 60_000)
    page = f"<body>\n<h1>Pier</h1>\n<p>Before.\n{element}\n<p>Open at\nten.\n{element}\n<p>Shut."
    (tmp_path / "a.html").write_text(page)
    (document,) = load_documents(tmp_path).documents
    for words in ("Before", "Open", "ten", "Shut"):
        place = document.text.index(words)
        line = page[: page.index(words)].count("\n") + 1
        assert document.source_map.lines_of(document.text, (place, place + 3)) == (line, line)


@pytest.mark.parametrize("between", ["<br>", "<br>\n", "\n", "\n\n<br><br/>", "</b>\n<br>\n<b>"])
@pytest.mark.parametrize("begin", ["", "\n", "\n  \n"])
def test_lines_of_code_are_found_where_tags_end_them(tmp_path, between, begin):
    words = [f"w{i}" for i in range(9)]
    page = f"<body>\n<pre>{begin}<b>{between.join(words)}</b></pre>\n<p>end\n<pre>\nlast</pre>"
    (tmp_path / "a.html").write_text(page)
    (document,) = load_documents(tmp_path).documents
    for word in (*words, "end", "last"):
        place = document.text.index(word)
        line = page[: page.index(word)].count("\n") + 1
        assert document.source_map.lines_of(document.text, (place, place + 2)) == (line, line)
    assert document.source_map.lines_of(document.text, (0, len(document.text)))[1] == line
