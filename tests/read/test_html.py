"""What is read of a page, and that its Markdown says what the page says."""

from __future__ import annotations

import html as entities

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Document, Index, Splitter
from clew.read import load_documents
from clew.read.formats.html import decode, parse_page
from clew.read.formats.markdown import find_links, outline
from clew.read.formats.outline import Block, Heading

PAGE = """<!doctype html><html lang="de-AT"><head><title>Tides &mdash; a site</title><style>p{color:red}</style>
<link rel="canonical" href="https://example.org/tides"><script>var secret = "<p>no</p>"</script></head><body>
<nav><a href="/">Home</a></nav><div role="navigation">Menu</div><header>Banner</header>
<main><header><h1>Tides &amp; <em>moons</em><a class="headerlink" href="#t">¶</a></h1></header>
<p hidden>unseen</p><p>The <a href="moon.md#pull"><b>moon</b>'s
pull</a> lifts&nbsp;it.<br>Twice.<p>Un&shy;closed
<h2>Heights <code>Vec&lt;T&gt;</code></h2>
<table><tr><th>Place</th><th>Range</th></tr><tr><td>Fundy|Bay</td><td>16<br>m</td></tr><tr><td colspan=2>all</td></tr></table>
<ul><li>Ebb<ul><li>low</li></ul></li><li><p>Flood</p><p>high</p></li></ul><ol start=3><li>third</li><li>fourth</li></ol>
<pre><code class="language-py">if x:
    y = "```"
</code></pre><blockquote>Said.</blockquote><form>Search <input></form>
<a href="card.html"><h3>Card</h3><p>Words</p></a><p><img alt="A chart" src="x.png"> 1. x</p><p># not a heading</p><p>1. no list</p>
<table><tr><td><ul><li>laid out</li></ul></td></tr></table><dl><dt>Neap</dt><dd>small</dd></dl>
<ruby>潮<rt>しお</rt></ruby></main><footer>Imprint</footer></body></html>"""

READ = """# Tides & moons

The [moon's pull](moon.md#pull) lifts it.
Twice.

Unclosed

## Heights `Vec<T>`

| Place | Range |
| --- | --- |
| Fundy\\|Bay | 16 m |
| all |  |

- Ebb
  - low
- Flood

  high

3. third
4. fourth

````py
if x:
    y = "```"
````

> Said.

### [Card](card.html)

[Words](card.html)

A chart 1. x

\\# not a heading

1\\. no list

- laid out

Neap

small

潮"""


def test_a_page_is_read_as_the_markdown_a_person_would_have_written():
    read = parse_page(PAGE)
    assert read.text == READ
    assert read[:3] == ("Tides & moons", "de-AT", "https://example.org/tides")
    assert find_links(read.text) == ("moon.md#pull", "card.html")
    headings = [
        (part.level, part.text) for part in outline(read.text).parts if isinstance(part, Heading)
    ]
    assert headings == [(1, "Tides & moons"), (2, "Heights Vec<T>"), (3, "Card")]


BITS = [
    "#",
    "##",
    "-",
    "*",
    "+",
    ">",
    "1.",
    "2)",
    "```",
    "~~~",
    "===",
    "---",
    "|",
    "a|b",
    ":--",
    "[x]:",
    "](",
    "<div>",
    "&",
    "word",
    "Mond",
    "月",
    "نور",
    "_",
    "\\",
]


@given(
    st.lists(
        st.lists(st.sampled_from(BITS), min_size=1, max_size=5).map(" ".join),
        min_size=1,
        max_size=5,
    )
)
def test_words_of_a_paragraph_are_never_read_as_a_mark(paragraphs):
    said = parse_page(
        "<body>" + "".join(f"<p>{entities.escape(text)}</p>" for text in paragraphs)
    ).text
    parts = outline(said).parts
    assert all(isinstance(part, Block) and part.kind == "prose" for part in parts)
    assert len(parts) == len(paragraphs)
    assert [said[part.start : part.end].replace("\\", "") for part in parts] == [
        text.replace("\\", "") for text in paragraphs
    ]


TAGS = [
    "p",
    "div",
    "b",
    "a href='x.md'",
    "ul",
    "li",
    "ol",
    "table",
    "tr",
    "td",
    "th",
    "pre",
    "code",
    "h1",
    "h3",
    "blockquote",
    "br",
    "span",
    "dl",
    "dd",
]


@given(st.lists(st.one_of(st.sampled_from(TAGS), st.integers(0, 40)), max_size=40), st.data())
def test_no_word_is_lost_however_badly_a_page_is_nested(steps, data):
    made, words = [], []
    for step in steps:
        if isinstance(step, int):
            words.append(f"w{len(words)}x")
            made.append(f" {words[-1]} ")
        else:
            made.append(f"</{step.split()[0]}>" if data.draw(st.booleans()) else f"<{step}>")
    text = parse_page("<body>" + "".join(made)).text
    assert sorted(word for word in words if word not in text) == []


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("<meta charset=iso-8859-1><p>é “q”".encode("cp1252"), "é “q”"),
        (
            "<meta http-equiv=Content-Type content='text/html; charset=Shift_JIS'><p>月①".encode(
                "cp932"
            ),
            "月①",
        ),
        ("<meta charset=gb2312><p>潮㐂".encode("gb18030"), "潮㐂"),
        ("<?xml version='1.0' encoding='koi8-r'?><p>Луна".encode("koi8-r"), "Луна"),
        ("<p>Луна".encode(), "Луна"),
        ("<p>é".encode("latin-1"), "é"),
        ("<p>نور".encode("utf-16"), "نور"),
        (b"\xef\xbb\xbf<meta charset=latin-1><p>" + "é".encode(), "é"),
        ("<meta charset=utf-16><p>é".encode(), "é"),
        ("<meta charset=nonsense><p>é".encode(), "é"),
    ],
)
def test_a_page_is_decoded_as_browsers_do(raw, said):
    assert parse_page(decode(raw)[0]).text == said


def test_main_text_alone_is_read_but_never_nothing():
    assert (
        parse_page(
            "<body><header>Top</header><p>Said</p><aside>Ad</aside><footer>End</footer>"
        ).text
        == "Said"
    )
    assert (
        parse_page("<body><p>Around</p><article>Story<footer>note</footer></article>").text
        == "Story\n\nnote"
    )
    assert parse_page("<body><nav>All there is</nav><script>x</script>").text == "All there is"
    assert parse_page("<body><main></main><p>Beside").text == "Beside"
    assert parse_page("").text == ""


def test_an_article_beside_which_most_is_said_is_no_main_part():
    card = "<article><h2>More</h2>A card.</article>"
    links = "".join(f"<div><a href='{n}'>Page {n}</a></div>" for n in range(40))
    said = f"<p>{'What the page says. ' * 9}</p>"
    page = parse_page(f"<body>{links}{said}{card}</body>").text
    assert "What the page says." in page
    assert "A card." in page
    assert parse_page(f"<body>{links}<article>{said}</article><p>Aside.</p></body>").text == (
        ("What the page says. " * 9).strip()
    )


def test_a_page_nested_too_deep_for_recursion_is_read():
    assert parse_page("<div>" * 5_000 + "deep" + "</div>" * 5_000).text == "deep"
    assert "deep" in parse_page("<ul><li>" * 300 + "deep").text


def test_links_lead_on_from_the_base_and_not_to_programs():
    text = parse_page(
        '<base href="https://example.org/a/"><p><a href="b.html">b</a> <a href="javascript:x()">c</a> <a href="#d">d</a>'
    ).text
    assert text == "[b](https://example.org/a/b.html) c d"


def test_pages_and_other_files_of_a_folder_link_to_each_other(tmp_path):
    files = {
        "page.html": "<title>P</title><p>See <a href='sub/moon.md#x'>the moon</a> and <a href='sub/'>all</a>, <a href='/notes'>notes</a>.",
        "sub/moon.md": "# Moon\n\nBack to [the page](../page.html); [near](sun.md).",
        "sub/sun.md": "The sun.",
        "sun.md": "Another sun.",
        "sub/index.html": "<p>Index of <a href='https://example.org/tides'>tides</a>",
        "tides.html": "<link rel=canonical href='https://example.org/tides'><p>Tides.",
        "notes.rst": "Notes\n=====\n\nSee :doc:`page` and `sun <sub/sun.md>`_.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    graph = Index.from_documents(tmp_path, splitter=Splitter()).graph
    own = [graph.ids[document] if document >= 0 else "" for document in graph.documents]
    mask = graph.edges.kinds.mask("hyperlink")
    linked = {
        (own[a], graph.ids[b])
        for a, b in zip(graph.edges.tails[mask], graph.edges.heads[mask], strict=True)
    }
    assert linked == {
        ("page.html", "sub/moon.md"),
        ("page.html", "sub/index.html"),
        ("page.html", "notes.rst"),
        ("sub/moon.md", "page.html"),
        ("sub/moon.md", "sub/sun.md"),
        ("sub/index.html", "tides.html"),
        ("notes.rst", "page.html"),
        ("notes.rst", "sub/sun.md"),
    }


@pytest.mark.parametrize(
    ("title", "path"),
    [
        ("Spring Tides - The Sea", "Spring tides > Heights"),
        ("Spring tides | The Sea", "Spring tides > Heights"),
        ("Spring tides — Sea 3.11 documentation", "Spring tides > Heights"),
        ("Spring tides - Moon - The Sea", "Spring tides > Heights"),
        ("The Sea: Spring tides", "The Sea > Spring tides > Heights"),
        ("The Sea | Spring tides", "The Sea > Spring tides > Heights"),
        ("Spring tides", "Spring tides > Heights"),
        ("Spring tides: when and why", "Spring tides: when and why > Spring tides > Heights"),
        ("Spring tides-and-winds", "Spring tides-and-winds > Spring tides > Heights"),
        ("Low spring tides", "Low spring tides > Spring tides > Heights"),
        ("The Sea", "The Sea > Spring tides > Heights"),
    ],
)
def test_the_path_of_headings_says_the_title_of_a_page_once(title, path, tmp_path):
    page = tmp_path / "page.html"
    body = "<h2>Spring tides</h2><p>Twice a month.</p><h3>Heights</h3><p>Sixteen metres.</p>"
    page.write_text(f"<title>{title}</title>{body}", encoding="utf-8")
    index = Index.from_documents(page, splitter=Splitter(tokens=16))
    assert index.ask("metres", limit=1).items[0].heading == path


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=new.html", "new.html"),
        ("0;URL='new.html#top'", "new.html#top"),
        ("3 , ../en/new.html", "../en/new.html"),
        ('1.5;url="https://example.org/"', "https://example.org/"),
    ],
)
def test_a_page_that_only_forwards_is_left_out_and_named(tmp_path, content, target):
    mark = f'<meta http-equiv="Refresh" content="{entities.escape(content)}">'
    (tmp_path / "old.html").write_text(f"<head>{mark}</head><p>This page has moved.")
    (tmp_path / "new.html").write_text("<p>The tide turns at noon.")
    found = load_documents(tmp_path)
    assert [one.id for one in found.documents] == ["new.html"]
    assert [reason for _, reason in found.skipped] == [f"a page that forwards to {target}"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("30", 3),  # loads itself again
        ("30; url=board.html", 3),
        ("30; url=?page=2", 3),
        ("60; url=next.html", 100),  # has its own to say
        ("url=next.html", 3),  # which browsers do not follow
    ],
)
def test_a_page_that_says_something_is_read_though_it_loads_another(tmp_path, content, words):
    text = "tide " * words
    (tmp_path / "board.html").write_text(
        f'<head><meta http-equiv="refresh" content="{content}"></head><p>{text}'
    )
    found = load_documents(tmp_path)
    assert [one.id for one in found.documents] == ["board.html"]
    assert not found.skipped


@pytest.mark.parametrize(
    "head",
    [
        '<meta http-equiv="refresh" content="0; url=http://[sea">',
        '<link rel="canonical" href="http://[sea">',
        '<base href="http://[sea"><link rel="canonical" href="tides.html">',
    ],
)
def test_an_address_that_is_none_leaves_the_page_as_it_is(tmp_path, head):
    (tmp_path / "tides.html").write_text(f"<head>{head}</head><p>The tide turns.")
    (document,) = load_documents(tmp_path).documents
    assert document.text == "The tide turns."
    assert "url" not in document.metadata


def test_a_page_without_text_and_one_with_foreign_bytes_are_said(tmp_path):
    (tmp_path / "a.html").write_text("<script>x</script>")
    (tmp_path / "b.htm").write_bytes(b"<meta charset=shift_jis><p>ok \x87\xff")
    found = load_documents(tmp_path)
    reasons = {path.rpartition("/")[2]: reason for path, reason in found.skipped}
    assert reasons["a.html"] == "a page without text"
    assert "b.htm" not in reasons or "encoding" in reasons["b.htm"]
    assert [
        (d.id, d.format, d.metadata["read_as"], d.metadata["title"]) for d in found.documents
    ] == [("b.htm", "markdown", "html", "b")]


def test_a_term_of_a_glossary_is_the_heading_of_what_it_means():
    page = """<h1>Words</h1><dl class="glossary simple">
        <dt id="e">ebb<a class="headerlink" href="#e">¶</a></dt><dt id="f"><i>falling</i> tide</dt>
        <dd><p>Water that goes.</p><dl><dt>neap<dd>Little of it.</dl><p>Six hours.</p></dd>
        <dt>flood<dd>Water that comes.</dl>{behind}<h2>Moon</h2><p>Far.</p>"""
    link_back = "<p>Back to <a href=up.html>all</a></p>"
    meant = "\n\nWater that goes.\n\nneap\n\nLittle of it.\n\nSix hours.\n\n"
    assert parse_page(page.format(behind=link_back)).text == (
        f"# Words\n\n## ebb, falling tide{meant}## flood\n\nWater that comes.\n\n"
        "Back to [all](up.html)\n\n## Moon\n\nFar."
    )
    prose = "<p>" + "Water has no memory of the moon. " * 5
    assert "#" not in parse_page(page.format(behind=prose)).text[2:].split("## Moon")[0]
    assert parse_page("<dl><dt>ebb<dd>Water.</dl>").text == "ebb\n\nWater."


def test_a_definition_of_a_reference_is_a_section_unless_it_is_short():
    described = "Come back to the quay, " + "however high the tide is, " * 4 + "and wait."
    page = f"""<h1>sea</h1><p>To sail.</p><dl class="py class">
        <dt class="sig sig-object py" id="sea.Boat"><em>class </em>
          <span class="sig-prename descclassname">sea.</span><span class="sig-name descname">Boat</span>
          (<em>seats</em>)<a class="headerlink" href="#sea.Boat">¶</a></dt>
        <dd><p>What sails.</p>
          <dl class="method"><dt id="sea.Boat.back"><code class="sig-name descname">back</code>()</dt>
            <dt id="sea.Boat.home"><code class="sig-name descname">home</code>()</dt>
            <dd><p>{described}</p></dd></dl>
          <dl class="method"><dt class="sig" id="sea.Boat.stop"><b class="sig-name">stop</b>()</dt>
            <dd><p>Halt.</p></dd></dl></dd></dl>
        <p>Boats are old.</p><h2>Tides</h2><p>Two a day.</p>"""
    text = parse_page(page).text
    assert text == (
        "# sea\n\nTo sail.\n\n## sea.Boat\n\nclass sea.Boat (seats)\n\nWhat sails.\n\n"
        f"### back, home\n\n`back`()\n\n`home`()\n\n{described}\n\n"
        "<!-- end of h3 -->\n\nstop()\n\nHalt.\n\n"
        "<!-- end of h2 -->\n\nBoats are old.\n\n## Tides\n\nTwo a day."
    )
    pieces = Splitter()(Document("d", text, format="markdown"))
    above = {piece.text: piece.parent and pieces[piece.parent].text for piece in pieces}
    assert above["stop()\n\nHalt."] == "sea.Boat"
    assert above["Boats are old."] == above["To sail."] == above["sea.Boat"]
    assert not any("<!--" in piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("raw", "lost"),
    [
        ("<p>The sign \ufffd stands here.".encode(), 0),
        (b"\xef\xbb\xbf<p>" + "\ufffd and \ufffd".encode() + b" and \xff", 1),
        ("<p>\ufffd and no more".encode("utf-16") + b"\0", 1),
        (b"<meta charset=euc_jp><p>ok \x81\xff", 1),
        (b"<meta charset=klingon><p>ok \x81\x8d\xff", 2),
        (b"<p>a \x81 that no page has", 1),
    ],
)
def test_characters_that_are_lost_are_counted_in_the_bytes(tmp_path, raw, lost):
    (tmp_path / "a.html").write_bytes(raw)
    reasons = [reason for _, reason in load_documents(tmp_path).skipped]
    assert [reason.split(" character")[0] for reason in reasons] == (
        [f"read, but for {lost}"] if lost else []
    )


FRONT = '---\nlayout: page\ntitle: "Ferry times"\ndescription: When it sails\n---\n'


@pytest.mark.parametrize(
    ("body", "title", "text"),
    [
        ("<p>At ten.", "Ferry times", "# Ferry times\n\nAt ten."),
        ("<h2>Corfu</h2><p>At ten.", "Ferry times", "## Corfu\n\nAt ten."),
        ("<h1>Own</h1><p>At ten.", "Own", "# Own\n\nAt ten."),
        ("<title>Head</title><p>At ten.", "Head", "# Head\n\nAt ten."),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_front_matter_is_no_text_and_its_title_that_of_a_page_without(
    tmp_path, body, title, text, end
):
    page = FRONT + "<!-- a\nb -->\n" + body
    (tmp_path / "a.html").write_bytes(page.replace("\n", end).encode())
    (document,) = load_documents(tmp_path).documents
    assert (document.metadata["title"], document.text) == (title, text)
    line = page[: page.index("At ten")].count("\n") + 1
    place = text.index("At ten")
    assert document.source_map.lines_of(text, (place, len(text))) == (line, line)


def test_a_rule_of_dashes_above_a_page_is_no_front_matter():
    assert parse_page("---\n<p>One: two</p>\n---\n").text == "---\n\nOne: two\n\n---".replace(
        "---", "\\---"
    )


def test_a_page_without_a_heading_is_found_by_the_title_in_its_head(tmp_path):
    body = "<p>Daily from nine to five.</p>\n<p id=may>In May from ten.</p>"
    (tmp_path / "a.html").write_text(f"<title>Lighthouse</title>\n<body>\n{body}")
    (tmp_path / "b.html").write_text("<title>Parking</title><body><p>Four euros a day.")
    (tmp_path / "c.html").write_text("<title>Ferry</title><body><p>The ferry sails at six.")
    index = Index.from_documents(tmp_path, embedder=None)
    (item,) = index.ask("lighthouse").items
    assert (item.heading, item.lines) == ("Lighthouse", (3, 4))
    assert index.ask("Is it closed in May?").items[0].id == item.id
    texts = {document.id: document.text for document in index.documents}
    assert texts["c.html"] == "The ferry sails at six."  # which says what its title does


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("<form id=aspnetForm><h1>Ferry</h1><p>At ten each day.</p>{x}</form>", "Ferry At ten each day."),
        ("<form><table><tr><td>At ten<td>from pier 4</table><select><option>a</select>{x}</form>", "At ten from pier 4"),
        ("<form><p>Name <input></form><p>The ferry leaves at ten.", "The ferry leaves at ten."),
        ("<form>Search the whole site <input></form><p>At ten.", "At ten."),
    ],
)  # fmt: skip
def test_a_form_is_read_where_the_page_is_in_it(form, text):
    script = f"<script>{'x' * 500}</script>"
    page = parse_page(f"<a href=#c>Skip</a>{form.format(x=script)}{script}")
    words = " ".join(page.text.replace("|", " ").replace("---", " ").replace("#", " ").split())
    assert words == f"Skip {text}"


def test_an_element_of_xml_that_is_empty_is_over(tmp_path):
    page = """<?xml version="1.0"?>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js" /></head>
<body><nav/><h1 id="tide">Tide</h1><a name="x"/>
<p>High<br/>at ten, <img src="a.png" alt="a clock"/> or <b title="a/">five</b>.</p></body></html>"""
    (tmp_path / "a.xhtml").write_text(page)
    (document,) = load_documents(tmp_path).documents
    assert document.text == "# Tide\n\nHigh\nat ten, a clock or five."
    assert document.source_map.lines_of(document.text, (8, len(document.text))) == (4, 4)


@pytest.mark.parametrize(
    "code",
    [
        "<div>a = 1</div><div>b = 2</div><div>c = 3</div>",
        "<ol><li>a = 1</li>\n<li>b = 2<br></li><li>c = 3</ol>",
        "<div>a = 1\n</div><div>b = 2</div>\n<div><span>c</span> = 3</div>",
        "<p>a = 1<p>b = 2\nc = 3",
        "a = 1<br>b = 2<p>c = 3</p>",
    ],
)
def test_elements_that_are_lines_of_code_are_lines(code):
    for page in (f"<pre>{code}</pre>", f"<pre><code>{code}</code></pre><p>x"):
        assert parse_page(page).text.startswith("```\na = 1\nb = 2\nc = 3\n```")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>Click<img alt=Save>now", "Click Save now"),
        ("<p><b>a</b><img alt='b c'><i>d</i>.", "a b c d."),
        ("<p>(<img alt=Warning>). Stay", "(Warning). Stay"),
        ("<p>Fill<img>up", "Fill up"),
        ("<p>Give<input>name<button>Go</button>or<select><option>x</select>.", "Give name or."),
        ("<p>Sco<wbr>ttish<script>x</script>ness<!-- y -->es", "Scottishnesses"),
        (
            "<table><tr><th>Day<td>At<svg><path/></svg>ten</table>",
            "| Day | At ten |\n| --- | --- |",
        ),
    ],
)
def test_what_is_seen_between_words_keeps_them_apart(page, text):
    assert parse_page(page).text == text


def test_the_caption_of_a_table_stands_above_it_and_in_no_name_of_a_column(tmp_path):
    table = "<table id=t>\n<caption id=c>Table 1. <b>Ports</b>\n</caption>\n<tr><th>Port<th>Host\n<tr><td>80<td>a</table>"
    (tmp_path / "a.html").write_text(f"<h1>Net</h1>\n<ul><li>One\n{table}</ul>\n<p>End. {table}")
    (document,) = load_documents(tmp_path).documents
    rows = "| Port | Host |\n| --- | --- |\n| 80 | a |"
    indented = "\n".join(f"  {line}".rstrip() for line in f"Table 1. Ports\n\n{rows}".split("\n"))
    text = f"# Net\n\n- One\n\n{indented}\n\nEnd.\n\nTable 1. Ports\n\n{rows}"
    assert document.text == text
    for words, line in (("Table 1", 4), ("Port ", 6), ("80", 7)):
        place = text.index(words)
        assert document.source_map.lines_of(text, (place, place + 2)) == (line, line)
