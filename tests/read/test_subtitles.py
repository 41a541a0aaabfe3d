"""Subtitles are read as what is said: of a file that the test writes, all words in their order."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Index, Splitter
from clew.read import load_documents
from clew.read.formats import SourceFile
from clew.read.formats.subtitles import read

WORDS = st.lists(st.sampled_from(["kiln", "heats", "1280", "é", "窯", "it's"]), min_size=1)
CUES = st.lists(
    st.tuples(WORDS, st.sampled_from(["Anna Blum", "Ben"]), st.integers(0, 4)), min_size=1
)


def document_of(text, name="talk.vtt"):
    (document,) = read(SourceFile(Path(name), name, text.encode()))
    return document


def clock(seconds, sign, with_hours=True):
    hours = f"{seconds // 3600:02}:" if with_hours or seconds >= 3600 else ""
    return f"{hours}{seconds // 60 % 60:02}:{seconds % 60:02}{sign}000"


@given(CUES, st.booleans(), st.sampled_from(["srt", "vtt", "names"]), st.booleans())
def test_all_words_are_read_under_the_time_and_the_speaker_of_their_paragraph(
    cues, with_numbers, kind, with_hours
):
    sign, now, lines, said = "," if kind == "srt" else ".", 3590, [], []
    lines += [] if kind == "srt" else ["WEBVTT", ""]
    for number, (words, speaker, pause) in enumerate(cues):
        now += pause
        lines += [str(number)] if with_numbers else []
        times = [clock(at, sign, with_hours) for at in (now, now + 1)]
        lines += [" --> ".join(times), {"srt": "<i>", "vtt": f"<v {speaker}>"}.get(kind, "")]
        lines[-1] += f"{speaker}: " if kind == "names" else ""
        lines[-1] += " ".join(words) + ("</i>" if kind == "srt" else "")
        said.append((" ".join(words), speaker if kind != "srt" else "", now, len(lines)))
        lines += [""]
        now += 1
    if kind == "names" and len(cues) < 2:
        return  # one colon makes no speaker
    document = document_of("\n".join(lines), f"talk.{'srt' if kind == 'srt' else 'vtt'}")

    spoken, numbers, number = list[list[str]](), list[int](), 0
    for i, (_, speaker, start, _) in enumerate(said):  # a new paragraph by the definition
        is_new = i == 0 or speaker != said[i - 1][1] or start - (said[i - 1][2] + 1) >= 2
        numbers.append(number := number + is_new)
    for _, some in groupby(zip(numbers, said, strict=True), lambda pair: pair[0]):
        own = [one for _, one in some]
        hours, rest = divmod(own[0][2], 3600)
        time = (
            f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
        )
        name = f"{own[0][1]}: " if own[0][1] else ""
        spoken.append(f"[{time}] {name}" + " ".join(words for words, *_ in own))
    assert document.text == "\n\n".join(spoken)
    place = 0
    for words, _, _, line in said:
        place = document.text.index(words, place)
        at = (place, place + len(words))
        assert document.source_map.lines_of(document.text, at) == (line, line)
        place += len(words)


def test_captions_that_roll_are_said_once():
    text = "WEBVTT\nKind: captions\n"
    shown = ["hello and welcome", "to the show", "today &amp; tomorrow", "no", "no way"]
    for i, words in enumerate(shown):
        above = f"{shown[i - 1]}\n" if i else ""
        timed = words.replace(" ", f"<00:00:0{i}.500><c> ") + "</c>" * words.count(" ")
        text += f"\n00:00:0{i}.000 --> 00:00:0{i}.990 align:start\n{above}{timed}\n"
        text += f"\n00:00:0{i}.990 --> 00:00:0{i + 1}.000\n{words}\n \n"
    assert (
        document_of(text).text == "[0:00] hello and welcome to the show today & tomorrow no no way"
    )
    plain = "\n".join(f"00:0{i}.000 --> 00:0{i + 1}.000\n{w}\n" for i, w in enumerate("abbc"))
    assert document_of(plain).text == "[0:00] a b b c"  # said twice


def test_what_is_not_said_is_left_out():
    text = (
        "WEBVTT - a talk\n\nSTYLE\n::cue { color: red }\n\nNOTE\nnot said\nnor this\n\n"
        "intro\n00:01.000 --> 00:02.000 line:0\n{\\an8}- 5 < 6\n\nand 7\n\n"
        "NOTE nor this\n\nend\n00:02.000 --> 00:03.000\n\n00:03.000 --> 00:04.000\nNOTE: it is hot\n"
    )
    assert document_of(text).text == "[0:01] - 5 < 6 and 7 NOTE: it is hot"


def test_a_long_speech_has_times_in_between():
    text = "".join(f"00:{i:02}.000 --> 00:{i:02}.900\nIt is number {i}.\n\n" for i in range(60))
    document = document_of(text)
    paragraphs = document.text.split("\n\n")
    assert len(paragraphs) == 2
    assert all(600 <= len(one) < 700 for one in paragraphs[:-1])
    pieces = Splitter()(document)
    assert {piece.kind for piece in pieces} == {"passage"}
    assert pieces[0].text.startswith("[0:00] It is number 0.")


@pytest.mark.parametrize("text", ["A talk.\n\nOn kilns.", "WEBVTT\n\nNOTE nothing\n", "--> 00:01"])
def test_a_file_without_cues_is_read_as_text(tmp_path, text):
    (tmp_path / "a.vtt").write_text(text)
    loaded = load_documents(tmp_path)
    assert [document.text for document in loaded.documents] == [text]
    assert [reason for _, reason in loaded.skipped] == ["read as text: it has no cues"]


def test_an_answer_names_the_line_and_shows_the_time(tmp_path):
    cues = ["Welcome.", "The lid weighs forty kilos.", "Never open it."]
    (tmp_path / "talk.srt").write_text(
        "".join(f"{i}\n00:00:{i}0,000 --> 00:00:{i}4,000\n{t}\n\n" for i, t in enumerate(cues, 1))
    )
    index = Index.from_documents(tmp_path)
    assert index.documents[0].metadata["read_as"] == "subtitles"
    item = index.ask("How heavy is the lid?", limit=1).items[0]
    assert "[0:20] The lid weighs forty kilos." in item.text
    assert "-->" not in item.text
