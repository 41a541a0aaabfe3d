"""A manual page is read as what a terminal shows, in both sets of macros."""

from __future__ import annotations

import gzip

import pytest

import clew
from clew.read import load_documents
from clew.read.formats import FORMATS
from clew.read.formats.manual_page import parse_page
from clew.read.formats.table import find_links, format_of_file
from tests.read.test_places import WORD, Words, index_of, line_of, passages
from tests.reliability import growth

TIDES = r""".\" A comment
'\" t
.TH TIDES 1 "May 2026"
.ds Sea the \fIsea\fR
.de Shout
LOUD \\$1
..
.SH NAME
tides \- tell when \*[Sea] is high
.SH SYNOPSIS
.B tides
[\fB\-\-high\fR]
.IR harbour .\|.\|.
.SH OPTIONS
.PD 0
.TP 4
.BR \-h ", " \-\-high
High tides only,
.ie t on paper.
.el in a terminal.
.if t \{\
.B never
.\}
.IP
More of it.
.RS
.IP \(bu 2
.Shout one
.IP 2.
two \(lqgood\(rq \[u2019]s \N'65' a\e b\s-1c\s+1d
.RE
.PP
.B verbose
.RS 4
Talks.
.RE
.SS "In code"
.nf
  if (a *b) \-> c\fR;
.fi
# no heading, *no* mark, [a](b) <c>
.unknownmacro keeps "these words"
.hy
.TS
tab(:);
l l.
Hour:Height
_
9:T{
two
metres
T}
.TE
.SH SEE ALSO
.BR moon (1),
\fBebb\fR(5)
.UR https://sea.example/
The sea
.UE .
"""
TIDES_SHOWN = r"""# NAME

tides - tell when the sea is high

# SYNOPSIS

tides [--high] harbour...

# OPTIONS

- -h, --high
  High tides only, in a terminal.

  More of it.
  - LOUD one

  2. two “good” ’s A a\ bcd
- verbose
  Talks.

## In code

```
  if (a *b) -> c;
```

\# no heading, *no* mark, [a]\(b) <c> keeps these words

| Hour | Height |
| --- | --- |
| 9 | two metres |

# SEE ALSO

[moon(1)](moon.1), [ebb(5)](ebb.5) [The sea](https://sea.example/)."""
MOON = r""".Dd May 1, 2026
.Dt MOON 1
.Os
.Sh NAME
.Nm moon
.Nd tell the phase
.Sh SYNOPSIS
.Nm
.Op Fl f Ar file
.Op Fl Fl phase Ns = Ns Ar name
.Sh DESCRIPTION
The
.Nm
utility
.Pq see Xr tides 1
reads
.Pa /etc/moon ,
.Dq the list .
.Bl -tag -width Ds
.It Fl D Xo
.Sm off
.Oo Ar day : Oc
.Ar hour
.Sm on
.Xc
Since when.
.Bl -bullet
.It
Inner.
.El
.El
.Bd -literal
moon -f x
.Ed
"""
MOON_SHOWN = """# NAME

moon — tell the phase

# SYNOPSIS

moon [-f file] [--phase=name]

# DESCRIPTION

The moon utility (see [tides(1)](tides.1)) reads /etc/moon, “the list”.

- -D [day:]hour
  Since when.
  - Inner.

```
moon -f x
```"""


@pytest.mark.parametrize(
    ("source", "name", "title", "shown"),
    [(TIDES, "tides", "tides(1)", TIDES_SHOWN), (MOON, "Moon", "Moon(1)", MOON_SHOWN)],
    ids=["man", "mdoc"],
)
def test_a_page_is_what_a_terminal_shows(source, name, title, shown):
    page = parse_page(source, name)
    assert page.text == shown
    assert page.title == title


def test_pages_of_a_folder_lead_to_each_other_and_links_are_left_out(tmp_path):
    (tmp_path / "tides.1").write_text(TIDES, encoding="utf-8")
    (tmp_path / "moon.1.gz").write_bytes(gzip.compress(MOON.encode()))
    (tmp_path / "luna.1").write_text(".so man1/moon.1\n", encoding="utf-8")
    index = clew.Index.from_documents(tmp_path)
    graph = index.graph
    links = graph.edges.kinds.mask("hyperlink")
    ends = zip(graph.edges.tails[links], graph.edges.heads[links], strict=True)
    named = {(graph.ids[graph.documents[tail]], graph.ids[head]) for tail, head in ends}
    assert named == {("tides.1", "moon.1.gz"), ("moon.1.gz", "tides.1")}
    (skipped,) = index.skipped
    assert skipped[1] == "a link to another manual page, man1/moon.1"
    titles = {document.id: document.metadata["title"] for document in index.documents}
    assert titles == {"tides.1": "tides(1)", "moon.1.gz": "moon(1)"}


def test_a_folder_for_each_section_is_known(tmp_path):
    for section, other in ((1, 5), (5, 1)):
        (tmp_path / f"man{section}").mkdir()
        path = tmp_path / f"man{section}" / f"quay.{section}"
        path.write_text(f".TH QUAY {section}\n.SH SEE ALSO\nquay({other})\n", encoding="utf-8")
    documents = load_documents(tmp_path).documents
    assert [find_links(one.text, "markdown") for one in documents] == [
        ("../man5/quay.5",),
        ("../man1/quay.1",),
    ]
    assert clew.Index.from_documents(tmp_path).graph.edges.kinds.mask("hyperlink").sum() == 2


@pytest.mark.parametrize("name", ["notes.1", "libtide.so.3"])
def test_another_text_of_this_name_is_plain_text(tmp_path, name):
    (tmp_path / name).write_text("Version 1\n.hidden is a file.\n", encoding="utf-8")
    (document,) = load_documents(tmp_path / name).documents
    assert (document.format, document.text) == ("text", "Version 1\n.hidden is a file.\n")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"\x7fELF\0\0\x01", "binary"),
        (gzip.compress(b"Version 1"), "compressed, and no manual page"),
        (gzip.compress(MOON.encode())[:-20], "not readable as gzip"),
        (gzip.compress(b".TH A 1\n" + b" " * 20_000_000), "more than 20 MB when unpacked"),
        (gzip.compress(b".TH A 1\n.hy\n"), "a manual page without text"),
    ],
    ids=["binary", "text", "damaged", "large", "empty"],
)
def test_what_cannot_be_read_is_skipped_with_a_reason(tmp_path, raw, reason):
    path = tmp_path / ("x.1.gz" if raw[:2] == b"\x1f\x8b" else "x.1")
    path.write_bytes(raw)
    loaded = load_documents(path)
    assert loaded.documents == []
    assert reason in loaded.skipped[0][1]


def test_the_suffix_of_a_compressed_page_counts_together():
    assert format_of_file("man1/tar.1.GZ").name == format_of_file("git.3pm").name == "manual page"
    assert format_of_file("data.gz").name == "text"


@pytest.mark.parametrize("seed", range(4))
def test_places_open_at_their_lines_of_the_source(tmp_path, seed):
    words, lines = Words(seed), [r".\" comment", ".TH QUAY 1"]
    for number in range(60):
        kind = words.random.choice(("text", "item", "code", "heading", "font", "condition"))
        lines += {
            "text": [".PP", *(words.sentence() for _ in range(number % 4 + 1))],
            "item": [".TP", rf"\fB\-{words.word()}\fR", words.sentence(), words.sentence()],
            "code": [".nf", words.sentence(3), words.sentence(3), ".fi"],
            "heading": [".SH " + words.sentence(2)],
            "font": [f".BR {words.word()} ,", words.sentence()],
            "condition": [".if t \\{\\", "unread", ".\\}", words.sentence()],
        }[kind]
    source = "\n".join(lines)
    path = tmp_path / "quay.1.gz"
    path.write_bytes(gzip.compress(source.encode()))
    items = [item for item in passages(index_of(path)) if WORD.search(item.text)]
    assert len(items) > 5
    for item in items:
        found = WORD.findall(item.text)
        is_code = item.text.startswith("```")
        assert item.lines[0] == line_of(found[0], source), (is_code, item)
        assert item.lines[1] == line_of(found[-1], source), item
    assert sorted(set(WORD.findall(source))) == sorted(
        {word for document in index_of(path).documents for word in WORD.findall(document.text)}
    )


HOSTILE = (
    ".if n ", ".if n \\{\\\n", ".ie n a\n", ".el b\n", ".de x\n", ".RS\n", ".TP\n", ".Bl\n.It\n",
    "\\f", "\\*(", "\\*[", "\\h'", "\\[", "\\", "\\\n", '"', ".It Xo ", ".Oo ", ".Op ", "T{\n", ".UR a\n",
    ".ds a \\*aa\n\\*a", ".nr a 1\n\\na", '.BR "', ".Bd -literal\n", ".nf\n`", "\t", ".SH\n", "a(1)",
    "\\'e", "\\z", "\\N'9", "](", "[a", ".IP 1.\nx\n", ".TS\n", "'br\n",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_pages_are_read_to_their_end(unit):
    page = parse_page(".TH A 1\n.SH NAME\nquay\n" + unit * 20_000)
    assert page.text.startswith("# NAME\n")
    assert "quay" in page.text


@pytest.mark.parametrize(
    "unit", [".Bl\n.It\n", ".RS\na\n", ".Op a ", ".ie n \\{a\n", "\\*(lq", "a+a"]
)
def test_hostile_pages_take_linear_time(unit):
    growth.check_linear(lambda text: parse_page(text), ".TH A 1\n.SH SEE ALSO\n", unit, "", 125_000)


def test_strings_and_macros_do_not_multiply_a_page():
    bomb = ".ds a " + "x" * 1_900 + "\n" + "\\*a" * 100_000
    macro = ".de m\n.m \\\\$1 \\\\$1\n.m \\\\$1\n..\n" + ".m " + "y" * 400 + "\n"
    for source in (bomb, macro * 300):
        assert len(parse_page(".TH A 1\n.SH NAME\n" + source).text) < len(source) + 1_000_000


def test_the_format_outlines_nothing_itself():
    assert FORMATS["manual page"].outline is None
