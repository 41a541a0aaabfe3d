"""Plain texts that are laid out by indentation, as written by programs and by hand, and those that are not."""

from __future__ import annotations

import contextlib
import io

import pytest

from clew import Document, Splitter
from clew.read.formats.indented_text import outline_by_indentation

LONG = "the water rises and falls by what the moon and the sun do together on every day of the year"
SHORT = "It is so."


def paths(text, tokens=64):
    """The headings around each passage, and the passage."""
    pieces = Splitter(tokens)(Document("d", text))
    found = []
    for piece in pieces:
        if piece.kind == "passage":
            above, around = [], piece.parent
            while around is not None:
                above.insert(0, pieces[around].text)
                around = pieces[around].parent
            found.append((above, " ".join(piece.text.split())))
    return found


def test_a_function_of_pythons_help_is_a_section_below_its_signature():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        help("statistics")
    found = paths(printed.getvalue(), 256)
    around = [above for above, text in found if "reciprocal of the arithmetic mean" in text]
    assert around == [["FUNCTIONS", "harmonic_mean(data, weights=None)"]]
    (text,) = [text for above, text in found if above == around[0]]
    assert text.startswith("Return the harmonic mean of data.")
    assert any(  # lines of a class begin with a bar
        above == ["CLASSES", "class NormalDist(builtins.object)", "overlap(self, other)"]
        for above, _ in found
    )


def test_what_is_indented_less_ends_the_sections_that_are_indented_as_much():
    text = f"A\n  B\n    {LONG}\n\n  C\n    {LONG}\n\n  {LONG}\n\nD\n  {LONG}\n{LONG}\n"
    assert [above for above, _ in paths(text)] == [["A", "B"], ["A", "C"], ["A"], ["D"], []]


def test_a_line_with_few_words_below_it_stands_beside_its_neighbours():
    text = f"A\n  b(x)\n    {SHORT}\n\n  c(x)\n    {LONG}\n\nD\n  {LONG}\n"
    assert paths(text) == [
        (["A"], f"b(x) {SHORT}"),
        (["A", "c(x)"], LONG),
        (["D"], LONG),
    ]


TWICE = "{0}\n\n{0}".format
NO_SECTIONS = {
    "examples in prose": "\n\n".join([f"{LONG}\n{LONG}\n{LONG}", "Example\n    run"] * 3),
    "hanging lines": TWICE("Smith, J. The tides of the north\n    and of the south, " + LONG),
    "items": TWICE(f"- Tides\n  {LONG}"),
    "lead-ins": TWICE(f"For example:\n  {LONG}"),
    "a session": TWICE(f">>> Tides(1)\n  {LONG}"),
    "sentences": TWICE(f"The tides of the sea are not alike in all its parts\n\n  {LONG}"),
    "one alone": f"TIDES\n  {LONG}",
}


@pytest.mark.parametrize("case", NO_SECTIONS)
def test_other_texts_have_no_sections(case):
    assert outline_by_indentation(NO_SECTIONS[case]) is None


def test_sections_may_be_numbered_and_an_empty_line_may_stand_below_a_heading():
    text = TWICE(f"1. Scope of it\n\n   {LONG}")
    assert [above for above, _ in paths(text)] == [["1. Scope of it"]] * 2
