"""What can be quoted: messages of chats by themselves, and prose as it was."""

from __future__ import annotations

import pytest

import clew
from clew.cite import quotes
from clew.text.quotable import quotable

MESSAGES = {
    "whatsapp": [
        "12.03.24, 18:05 - Anna: when do we meet",
        "12.03.24, 18:06 - Ben: at nine by the boat",
        "12.03.24, 18:07 - Anna: ok",
    ],
    "telephone": ["[12/03/24, 6:05:33 PM] Anna: hello", "[12/03/24, 6:06:10 PM] Ben: at nine"],
    "irc": ["[12:03] <anna> what now", "[12:04] <ben> we sail"],
    "irssi": ["12:03 <anna> what now", "12:04 <@ben> we sail"],
    "log": ["2024-03-12T12:03:44Z started", "2024-03-12 12:03:45 no disk\n  on this machine"],
    "bare": ["Anna: when do we meet", "Ben Okri: at nine\nby the boat", "Anna: ok"],
    "angles": ["<anna> what now", "<ben> we sail", "<anna> ok"],
}
PROSE = (
    "The train leaves at\n12:03 and arrives at\n12:45 in Bonn.",
    "The shop is open from\n8:00 - 12:00 on weekdays.",
    "Name: Boat\nColour: teal",
    "It is written as\n<b> and read as bold.",
    "There is one rule for it, and that\nis: nobody sails alone.",
)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_is_quoted_by_itself(name):
    text = "\n".join(MESSAGES[name])
    pieces = list(quotable(text, {}))
    assert [piece.text for piece in pieces] == MESSAGES[name]
    assert [text[piece.start : piece.end] for piece in pieces] == MESSAGES[name]


@pytest.mark.parametrize("text", PROSE)
def test_what_is_no_message_is_not_cut_at_its_lines(text):
    assert [piece.text for piece in quotable(text, {})] == [text]


@pytest.mark.parametrize("stamp", ["12.03.24, 18:{} - Ben: ", "[18:{}] <ben> ", "18:{} <ben> "])
def test_a_chat_answers_with_the_message_that_answers(stamp):
    said = [f"the weather is fine on day {day}" for day in range(10, 24)]
    said[7:9] = ["what is the guest network called", "the guest network is called Otter"]
    lines = [stamp.format(minute) + message for minute, message in enumerate(said, 10)]
    index = clew.Index.from_documents([clew.Document("chat", "\n".join(lines))])
    answer = quotes(index.ask("What is the guest network called?"))
    assert answer == f"{lines[8]} [1]"


def test_of_a_program_the_remarks_are_quoted_by_sentences_and_the_rest_by_lines():
    program = """/*
 * Rounds half to even, as banks
 * do. It fails for NaN. */
int round_cents(double x) {
    // See "rint".
    return (int) rint(x * 100);
}"""
    assert [piece.text for piece in quotable(program, {})] == [
        "Rounds half to even, as banks do.",
        "It fails for NaN.",
        "int round_cents(double x) {",
        'See "rint".',
        "return (int) rint(x * 100);",
        "}",
    ]
    for piece in quotable(program, {}):
        assert piece.text.split()[0] in program[piece.start : piece.end]


def test_a_list_is_quoted_with_what_leads_it_in_and_its_items_by_themselves():
    items = ["- Hollis: 8,400, four weeks", "- RoofRight: 7,950", "- Carter: 9,100"]
    text = "\n".join(["They sent **three quotes:**", "", *items, "", "Carter is chosen."])
    led_in = " ".join(["They sent **three quotes:**", *items])
    assert [piece.text for piece in quotable(text, {})] == [led_in, *items, "Carter is chosen."]
    first, *_ = quotable(text, {})
    assert text[first.start : first.end].split() == led_in.split()


def test_a_line_is_quoted_with_what_it_leads_in():
    terms = "-g, --guides\n\nPrint a list of guides. It is long.\n\n-v\n\nBe verbose."
    assert [piece.text for piece in quotable(terms, {})] == [
        "-g, --guides Print a list of guides.",
        "Print a list of guides.",
        "It is long.",
        "-v Be verbose.",
        "Be verbose.",
    ]
    alone = "Run this:\n\nmake all\n\nIt ends."
    assert next(iter(quotable(alone, {}))).text == "Run this: make all"


def test_a_list_that_is_too_long_is_quoted_by_its_first_items():
    items = [f"- item {i} {'of many words ' * 9}".strip() for i in range(9)]
    whole, *others = quotable("\n".join(["All of them:", "", *items]), {})
    assert whole.text.startswith("All of them: - item 0")
    assert len(whole.text) <= 600
    assert [piece.text for piece in others] == items


def test_numbers_with_commas_are_no_table():
    prices = ["Hollis 8,400", "RoofRight 7,950", "Carter 19,100"]
    text = "\n".join(prices)
    assert not any(piece.is_row for piece in quotable(text, {}))
    rows = [piece.text for piece in quotable("name,price\nHollis,400\nCarter,100", {})]
    assert rows == ["name: Hollis, price: 400", "name: Carter, price: 100"]
