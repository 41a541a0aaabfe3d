"""reStructuredText's headings and links, by the format's own definition."""

from __future__ import annotations

from clew import Splitter
from clew.document import Document
from clew.read import load_documents
from clew.read.formats.outline import Block, Heading
from clew.read.formats.rst import outline

TEXT = """\
=====
Tides
=====

Intro with `a link <moon.rst>`_ and :doc:`The Sun <stars/sun>`.

High *tide*
===========
Words
go on.

=====  =====
place  range
=====  =====
Kiel   small
=====  =====

:class:`Neap` tides
^^^^^^^^^^^^^^^^^^^
.. _moon: https://example.org/moon
.. include:: more.rst

Code::

    x = 1

    =====

Low ``tide``
============

- item

Short
==

潮の話
======
End.
"""


def test_levels_follow_the_first_use_of_each_underline():
    headings = [part for part in outline(TEXT).parts if isinstance(part, Heading)]
    assert [(h.level, h.text) for h in headings] == [
        (1, "Tides"),
        (2, "High tide"),
        (3, "Neap tides"),
        (2, "Low tide"),
        (2, "潮の話"),
    ]


def test_links_have_their_places_and_nothing_is_lost_but_space():
    found = outline(TEXT)
    assert [target for _, target in found.links] == [
        "moon.rst",
        "stars/sun",
        "https://example.org/moon",
        "more.rst",
    ]
    assert [TEXT[place : place + 3] for place, _ in found.links] == ["`a ", ":do", ".. ", ".. "]
    at = 0
    for part in found.parts:
        assert isinstance(part, (Block, Heading))
        assert not TEXT[at : part.start].strip()
        at = part.end
    assert not TEXT[at:].strip()


def test_a_file_has_its_first_heading_for_a_title_and_its_sections(tmp_path):
    (tmp_path / "tides.rst").write_text(TEXT, encoding="utf-8")
    (document,) = load_documents(tmp_path).documents
    assert (document.format, document.metadata["title"]) == ("rst", "Tides")
    pieces = Splitter()(document)
    assert [piece.text for piece in pieces if piece.kind == "section"] == [
        "Tides",
        "High tide",
        "Neap tides",
        "Low tide",
        "潮の話",
    ]
    assert Splitter()(Document("d", "Just\ntext.", format="rst"))[0].text == "Just\ntext."


def test_a_directive_that_names_what_the_title_below_it_names_belongs_to_that_title():
    text = (
        "Settings\n========\n\n.. setting:: enable_utc\n\n``enable_utc``\n--------------\n\n"
        "Dates are in UTC.\n\n.. versionadded:: 2.5\n\n.. _zones:\n\n"
        ".. setting:: CACHES-TIME_ZONE\n\n=============\n``TIME_ZONE``\n=============\n\n"
        "The zone.\n\n.. class:: Zone(name)\n\nFields\n======\n\nA name.\n\n"
        ".. autoclass:: Clock\n\nThe Clock class\n===============\n\nIt ticks.\n"
    )
    pieces = Splitter()(Document("a", text, format="rst"))
    assert [piece.text for piece in pieces if piece.kind == "passage"] == [
        "Dates are in UTC.\n\n.. versionadded:: 2.5",
        "The zone.\n\n.. class:: Zone(name)",  # described here, and in no word of the next title
        "A name.\n\n.. autoclass:: Clock",
        "It ticks.",
    ]
    starts = {piece.text: piece.start for piece in pieces if piece.kind == "section"}
    assert text[starts["enable_utc"] :].startswith(".. setting:: enable_utc\n")
    assert text[starts["TIME_ZONE"] :].startswith(".. _zones:\n\n.. setting:: CACHES-TIME_ZONE\n")


def test_a_term_of_a_glossary_is_the_heading_of_what_it_means():
    text = """Words
=====

.. glossary::
   :sorted:

   ebb
   falling tide : tides
      Water that *goes*.

      It goes for six hours.

   .. no term

   flood
      Water that comes::

         never a term

Behind it.

Moon
====

Far.
"""
    pieces = Splitter()(Document("d", text, format="rst"))
    ids = {place: piece.text for place, piece in enumerate(pieces)}
    under = [(ids.get(p.parent), " ".join(p.text.split())) for p in pieces if p.kind == "passage"]
    assert under == [
        ("ebb, falling tide", "Water that *goes*. It goes for six hours. .. no term"),
        ("flood", "Water that comes:: never a term"),
        ("Words", "Behind it."),
        ("Moon", "Far."),
    ]
    assert Splitter()(Document("d", ".. glossary::", format="rst"))[0].text == ".. glossary::"


def test_literals_in_titles_keep_their_underscores_and_a_short_line_makes_a_title():
    text = "Special ``__match__`` of `a`_\n====\nNext\n----\nWords.\n\nNew ``_x``\n---\n\nMore.\n"
    headings = [part for part in outline(text).parts if isinstance(part, Heading)]
    assert [heading.text for heading in headings] == ["Special __match__ of a", "Next"]
