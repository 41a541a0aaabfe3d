"""Pieces without words: no passage consists of one, and no word is lost with them."""

from __future__ import annotations

import re

import pytest

from clew import Splitter
from clew.document import Document
from clew.read import load_documents

LABELLED = """\
.. include:: substitutions.inc

.. _tides:
.. _high-water:

Tides
=====

Water rises twice a day.

-----

.. index:: neap
.. _neap:

Neap tides
----------

They are small.

.. currentmodule:: sea

.. contents::
   :local:

Spring tides
------------

They are large.
"""

MYST = """\
(tides)=

# Tides

Water rises twice a day.

---

(neap)=
(small)=

## Neap tides

***

(large)=

## Spring tides

They are large (neap)= not.
"""


def passages(text, format, tokens=12):
    return [
        piece.text
        for piece in Splitter(tokens)(Document("d", text, format=format))
        if piece.kind == "passage"
    ]


def test_labels_and_directives_above_a_title_belong_to_it_and_rules_to_nobody():
    assert passages(LABELLED, "rst") == [
        "Water rises twice a day.",
        "They are small.",
        "They are large.",
    ]
    assert passages(MYST, "markdown") == [
        "Water rises twice a day.",
        "## Neap tides",  # nothing is under it, so the heading is read
        "They are large (neap)= not.",
    ]


def test_a_section_spans_the_labels_that_name_it():
    pieces = Splitter(12)(Document("d", LABELLED, format="rst"))
    starts = {piece.text: piece.start for piece in pieces if piece.kind == "section"}
    assert LABELLED[starts["Tides"] :].startswith(".. include:: substitutions.inc")
    assert LABELLED[starts["Neap tides"] :].startswith(".. index:: neap")
    assert LABELLED[starts["Spring tides"] :].startswith(".. currentmodule::")


@pytest.mark.parametrize("format", ["text", "markdown", "rst", "python"])
@pytest.mark.parametrize("mark", ["-----", "***", "+---+---+\n|   |   |\n+---+---+", "════"])
def test_no_passage_is_a_mark_alone_but_where_there_is_nothing_else(format, mark):
    block = "One sentence stands here, of some words."
    text = f"\n\n{mark}\n\n".join([block] * 4)
    found = passages(text, format, tokens=14)
    assert all(re.search("[a-z]", one) for one in found)
    assert "\n".join(found).count("One sentence") == 4
    assert passages(f"{mark}\n\n{mark}", format, tokens=2)
    assert "🙂" in "".join(passages(f"{block}\n\n🙂\n\n{block}", format, tokens=14))


RST_TEXT = "Tides\n=====\n\nSee :ref:`moon`.\n\nNeap\n----\n\nSmall.\n"
MARKDOWN_TEXT = "# Tides\n\nSee [the moon](moon.md).\n\n## Neap\n\nSmall.\n"
PLAIN = {
    "notes": "Tides\n=====\n\nWater rises.\n\nNeap\n----\n\nSmall.\n",
    "settings": "# name of the quay\nname = north\n\n# colour\n\ncolour = red\n",
    "requirements": "# tests\n\npytest\n\n# lint\n\nruff\n",
    "issue": "#42 is open [see](http://example.org)\n\n## 43 is not\n",
    "script": "#!/bin/sh\n\n## usage\n\n# run\n\nsh [a](b)\n",
    "letter": "Dear all,\n\n.. and so on ..\n\nYours :-)\n-----\nAnn\n",
    "table": "name   place\n=====  =====\nKiel   north\n",
    "ratio": "Mix at 2:1:`water`.\n\nStir.\n",
    "log": "12:00:01 error: .. _x: gone\n12:00:02 done\n",
    "empty headings": "#\n\n##\n\n[a](b)\n",
}


@pytest.mark.parametrize(
    ("text", "format", "title"),
    [(RST_TEXT, "rst", "Tides"), (MARKDOWN_TEXT, "markdown", "Tides")]
    + [(text, "text", "file") for text in PLAIN.values()],
    ids=["rst", "markdown", *PLAIN],
)
def test_a_text_file_is_read_by_its_markup_where_that_is_certain(tmp_path, text, format, title):
    for name in ("file.txt", "file.unknown"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    by_name = {one.id: one for one in load_documents(tmp_path).documents}
    found = by_name["file.txt"]
    assert (found.format, found.metadata["title"]) == (format, title)
    assert by_name["file.unknown"].format == "text"
    assert found.text == text
