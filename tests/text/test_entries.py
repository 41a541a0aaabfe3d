"""Logs, settings and calendars are cut and quoted by their entries; prose is not."""

from __future__ import annotations

import pytest

from clew import Document, Index, Splitter, cite
from clew.text.entries import entries_in

EVENT = (
    "BEGIN:VEVENT\nSUMMARY:Choir no. {0}\nLOCATION:St. Mary. Room {0}\n  at the back\nEND:VEVENT"
)
ROWS = {
    "calendar": EVENT,
    "log": "2024-05-01 10:00:{0} INFO Done. Next is St. Mary. Went on.\nMay  3 10:00:0 sea ok. Yes.",
    "levels": "ERROR disk {0} of St. Mary is full. Stop\nINFO Done. Room {0}. Next",
    "settings": '# Of no. {0}.\nkey{0} = St. Mary. Or so\n"of_{0}": 1,\nroom: {0}. Or more',
    "markup": "<room>\n  <name>No. {0}. Big</name>\n</room>",
}
PROSE = {
    "wrapped": "We went to St. Mary. It\nrained: all day. At\n10:15 we left. Room {0}\n= the big one. ",
    "speech": "Ann: We went to St. Mary. It rained.\nBo: So it did. All day in {0}.\n",
    "remarks": "# We went to St. Mary. It\n# rained. All day in {0}. So\n",
}


def passages(text):
    pieces = Splitter(tokens=60)(Document("a", text))
    return [piece for piece in pieces if piece.kind == "passage"]


@pytest.mark.parametrize("kind", ROWS)
def test_no_passage_begins_within_an_entry(kind):
    text = "\n".join(ROWS[kind].format(number) for number in range(10, 60))
    found = passages(text)
    assert len(found) > 9
    for piece in found:
        line = text[text.rfind("\n", 0, piece.start) + 1 :]
        assert line.lstrip().startswith(piece.text[:5])
        assert not piece.text.startswith("at the back")


@pytest.mark.parametrize("kind", PROSE)
def test_prose_has_no_entries(kind):
    text = "".join(PROSE[kind].format(number) for number in range(10, 60))
    assert entries_in(text, 0, len(text)) == []


def test_an_event_and_a_contact_are_each_one_entry():
    events = [EVENT.format(number) for number in range(3)]
    long = f"BEGIN:VCARD\nFN:Ann\nPHOTO:{'x' * 900}\nEND:VCARD"
    text = "\n".join(["BEGIN:VCALENDAR", *events, "END:VCALENDAR", long])
    found = [text[slice(*span)] for span in entries_in(text, 0, len(text))]
    assert found == ["BEGIN:VCALENDAR", *events, "END:VCALENDAR", *long.split("\n")]


def test_a_line_of_settings_is_quoted_alone_with_its_section(tmp_path):
    settings = "; main settings\n[database]\nhost = db.sea\nport = 5433\npool_size = 12\n"
    (tmp_path / "app.ini").write_text(settings)
    context = Index.from_documents(tmp_path, embedder=None).ask("What is the pool_size?")
    assert cite.quotes(context) == "[database] pool_size = 12 [1]"
