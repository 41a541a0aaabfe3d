"""Headings of AsciiDoc, Org and LaTeX are read, and what is in a listing is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Document, Index, Splitter
from clew.graph import heading_of
from clew.link import Hyperlink
from clew.text.words import has_content

ADOC = r"""= Loom
Ann Lee

== Use

Pull it.

----
== no heading
----

=== Care

[NOTE]
====
Oil it. See xref:b.adoc#oil[oil].
====

Parts
-----
A beam.

 == no heading"""
ORG = """#+TITLE: Loom
* Use :tool:
Pull it.
#+BEGIN_SRC sh
* no heading
#+END_SRC
** TODO Care
[[file:b.org][oil]]
* Parts
A beam.
 * no heading"""
TEX = r"""\title{\emph{Loom}}
\section{Use}\label{u}
Pull it.
\begin{verbatim}
\section{no heading}
\end{verbatim}
\subsection*{Oil \& care}
\input{b}
\section[P]{Parts of \textbf{it}}
A beam."""
TEXTS = {
    "a.adoc": (ADOC, ["Loom", "Loom > Use", "Loom > Use > Care", "Loom > Parts"]),
    "a.org": (ORG, ["Loom", "Loom > Use", "Loom > Use > TODO Care", "Loom > Parts"]),
    "a.tex": (TEX, ["Loom", "Loom > Use", "Loom > Use > Oil & care", "Loom > Parts of it"]),
}
MARKS = (
    *("= A", "== B b", "* C", "** D", "\\section{E}", "----", "....", "====", "#+begin_src", ""),
    *("#+END_SRC", "\\begin{verbatim}", "\\end{verbatim}", "Words.", "  more", "Word", "~~~~"),
)
LINES = st.lists(st.sampled_from(MARKS), max_size=20).map("\n".join)


@pytest.mark.parametrize("name", TEXTS)
def test_passages_stand_under_their_headings(tmp_path, name):
    text, paths = TEXTS[name]
    (tmp_path / name).write_text(text)
    (tmp_path / f"b.{name[2:]}").write_text("An oil can.")
    graph = Index.from_documents(tmp_path, embedder=None).graph
    rows = [row for row in graph.rows("passage").tolist() if graph.ids[row].startswith(name)]
    assert list(dict.fromkeys(heading_of(graph, row) for row in rows)) == paths
    assert any("no heading" in graph.texts[row] for row in rows)
    assert [graph.ids[head] for head in Hyperlink().on(graph).heads] == [f"b.{name[2:]}"]


def test_what_stands_behind_a_heading_of_latex_in_its_line_is_text(tmp_path):
    text = r"""\section{Use}\label{u} Pull it.  % twice
More of it.
\paragraph{Care of \emph{it}.} Oil it
once a year.
\subsection{Parts} % of wood
\label{p}
A beam."""
    (tmp_path / "a.tex").write_text(text)
    graph = Index.from_documents(tmp_path, embedder=None).graph
    found = {heading_of(graph, row): graph.texts[row] for row in graph.rows("passage").tolist()}
    assert found == {
        "Use": "Pull it.  % twice\nMore of it.",
        "Use > Care of it.": "Oil it\nonce a year.",
        "Use > Parts": "\\label{p}\nA beam.",
    }


@given(LINES, st.sampled_from(("asciidoc", "org", "latex")), st.integers(2, 40))
def test_nothing_but_headings_is_left_out(text, format, most):
    left = list(text)
    for piece in Splitter(most)(Document("d", text, format=format)):
        if piece.kind == "section":
            assert piece.text
            end = text.find("\n", piece.start)
            for i in range(piece.start, len(text) if end < 0 else end):
                left[i] = " "
        else:
            assert text[piece.start : piece.end] == piece.text
            left[piece.start : piece.end] = " " * (piece.end - piece.start)
    assert not has_content("".join(left))
