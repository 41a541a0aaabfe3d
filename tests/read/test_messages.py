"""A log of messages is cut between messages; what only looks like one is read as before."""

from __future__ import annotations

import random

import pytest

from clew import Document
from clew.read import Splitter
from clew.read.formats.messages import messages_in

FORMS = {
    "irc": lambda who, at, words: f"<{who}> {words}",
    "irc with times": lambda who, at, words: f"[10:{at:02}] <{who}> {words}",
    "times": lambda who, at, words: f"10:{at:02} {who}: {words}",
    "of a phone": lambda who, at, words: f"3/5/21, 10:{at:02}\u202fPM - {who} Lee: {words}",
    "of another": lambda who, at, words: f"\u200e[3/5/21, 10:{at:02}:07\u202fPM] {who}: {words}",
    "dates": lambda who, at, words: f"03/05/2021, 10:{at:02} - {who} Lee: {words}",
}


def conversation(form, seed, n=90):
    draw, messages = random.Random(seed), []
    for at in range(n):
        words = " ".join(
            f"w{at:02}{i} ." if draw.random() < 0.4 else f"w{at:02}{i}" for i in range(5)
        )
        goes_on = f"\nand more {at}" if draw.random() < 0.2 else ""
        messages.append(FORMS[form](draw.choice(["ann_1", "Bo", "_cleo"]), at, words) + goes_on)
    return messages


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_passages_end_between_messages(form, seed):
    messages = conversation(form, seed)
    pieces = Splitter(tokens=320)(Document("log", "\n".join(messages)))
    assert len(pieces) > 3
    assert "\n".join(piece.text for piece in pieces) == "\n".join(messages)
    starts, place = set(), 0
    for message in messages:
        starts.add(place)
        place += len(message) + 1
    assert {piece.start for piece in pieces} <= starts


def test_a_message_that_is_too_long_is_cut_between_its_sentences_and_turns_of_speech_are_prose():
    def cut(n_short):
        long = " ".join(f"This is sentence number {i}." for i in range(40))
        short = "\n".join(f"<{'ab'[i % 2]}> Are tides. {i:02}" for i in range(n_short))
        return Splitter(tokens=48)(Document("log", f"{short}\n<b> {long}\n{short}"))

    pieces = cut(40)
    assert all(piece.text.startswith(("<", "This is")) for piece in pieces)
    assert all(piece.text[-1].isdigit() or piece.text.endswith(".") for piece in pieces)
    assert any(piece.text.endswith("Are tides.") for piece in cut(20)), "as any prose is"
    stamped = "\n".join(f"[10:{i:02}] <{'ab'[i % 2]}> Here are tides. {i:02}" for i in range(40))
    pieces = Splitter(tokens=48)(Document("log", stamped))
    assert any(piece.text.endswith("tides.") for piece in pieces), "these are no entries of a log"


@pytest.mark.parametrize(
    "text",
    [
        "From: Ann\nTo: Bo\nDate: May\nSubject: Tides\nCc: Cleo",
        "The tide: it comes\nand goes, twice\na day, as long\nas the moon: stays.",
        "Ann: one\nBo: two\nAnn: three\nBo: four\nAnn: five",
        "<a> one\n<b> two\n<a> three",
        "http://a.org:80/x\nhttp://a.org:80/y\nhttp://a.org:80/z\nhttp://a.org:80/q",
        "",
    ],
)
def test_what_is_no_conversation_has_no_messages(text):
    assert messages_in(text, 0, len(text)) == ()


def test_time_grows_with_the_text():
    text = ("12" * 20_000 + "\n") + "a b c d " * 20_000 + "<" * 20_000
    assert messages_in(text, 0, len(text)) == ()
