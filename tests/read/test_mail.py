"""Mail is read as what it says: what a program for mail has written is found in the document."""

from __future__ import annotations

import mailbox
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Index
from clew.read import load_documents
from clew.read.formats import FORMATS, SourceFile
from clew.read.formats.mail import split_mailbox

SENT = "Tue, 05 Mar 2024 10:11:12 +0100"
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1)
SHORT = st.lists(
    st.text("aZ9Łóü中😀", min_size=1, max_size=4), min_size=1, max_size=3
)  # in one line
LINES = st.lists(WORDS, min_size=1).map(lambda words: " ".join(words))


def message(text="The ferry sails at ten.", subject="Ferry times", **headers):
    made = EmailMessage()
    made["Subject"] = subject
    made["From"] = headers.pop("sender", "Ann Bell <ann@example.org>")
    made["To"] = headers.pop("to", "Bo <bo@example.org>")
    made["Date"] = SENT
    made.set_content(text, **headers)
    return made


def read(path, made):
    path.write_bytes(made if isinstance(made, bytes) else made.as_bytes())
    loaded = load_documents(path)
    folder = f"{path.parent.as_posix()}/"
    return loaded.documents, [(name.removeprefix(folder), why) for name, why in loaded.skipped]


def body(document):
    return document.text.partition(f"Date: {SENT}\n\n")[2]


@given(
    SHORT.map(" ".join),
    st.lists(LINES, min_size=1),
    st.sampled_from(("base64", "quoted-printable", "8bit")),
    st.booleans(),
)
def test_what_is_written_is_read_in_every_encoding(subject, lines, cte, ends):
    text = "\n".join(lines)
    raw = message(text, subject, cte=cte).as_bytes()
    raw = raw.replace(b"\n", b"\r\n") if ends else raw
    file = SourceFile(Path("a.eml"), "a.eml", raw)
    (document,) = FORMATS["mail"].read(file)
    assert (document.metadata["title"], body(document), file.skipped) == (subject, text, [])
    assert document.format == "text"


def test_who_writes_to_whom_and_when_is_in_the_text_and_in_the_metadata(tmp_path):
    names = ["Änne Bell", "Bo", "Cy, of Corfu", "Di", "Ed"]
    to = ", ".join(f'"{name}" <{name[0].lower()}@example.org>' for name in names[1:])
    made = message(sender="Änne Bell <a@example.org>", to=to)
    made["Cc"] = "eve@example.org"
    (document,), _ = read(tmp_path / "a.eml", made)
    assert document.text == (
        "From: Änne Bell <a@example.org>\n"
        "To: Bo <b@example.org>, Cy, of Corfu <c@example.org>, Di <d@example.org> and 1 more\n"
        f"Cc: eve@example.org\nSubject: Ferry times\nDate: {SENT}\n\nThe ferry sails at ten."
    )
    assert {key: document.metadata[key] for key in ("title", "from", "cc", "date")} == {
        "title": "Ferry times",
        "from": "Änne Bell <a@example.org>",
        "cc": "eve@example.org",
        "date": "2024-03-05T10:11:12+01:00",
    }
    assert "Ed <e@example.org>" in document.metadata["to"]


def test_a_message_is_found_by_its_subject_and_opens_at_its_line(tmp_path):
    box = mailbox.mbox(tmp_path / "all.mbox")
    for subject in ("Tides", "Lighthouse", "Parking"):
        box.add(mailbox.mboxMessage(message("It is as I said:\nsee below.", subject)))
    box.close()
    lines = (tmp_path / "all.mbox").read_text().split("\n")
    index = Index.from_documents(tmp_path, embedder=None)
    first, *_ = index.ask("lighthouse").items
    assert first.id == "all.mbox#message=2"
    begin = int(first.location.removeprefix("all.mbox:"))
    assert lines[begin - 1].startswith("From ")
    assert lines[begin] == "Subject: Lighthouse"
    (tmp_path / "all.mbox").unlink()
    (tmp_path / "a.eml").write_bytes(message("It is late.", "Lighthouse").as_bytes())
    (item,) = Index.from_documents(tmp_path, embedder=None).ask("lighthouse").items
    assert (item.location, item.heading) == ("a.eml", "Lighthouse")


def test_of_several_versions_the_plain_one_is_read_and_else_the_page(tmp_path):
    made = message("> When does it sail?\n\nAt ten.")
    made.add_alternative("<p>At <b>eleven</b>.", subtype="html")
    (document,), skipped = read(tmp_path / "a.eml", made)
    assert (body(document), document.format) == ("> When does it sail?\n\nAt ten.", "text")
    made = message("\n")
    made.add_alternative("<p>Um <b>elf</b> – é.", subtype="html", charset="cp1252")
    (document,), more = read(tmp_path / "b.eml", made)
    assert (body(document), document.format) == ("Um elf – é.", "markdown")
    page = message("<h2>Tides</h2><p>High at nine.<script>no</script>", subtype="html")
    (document,), _ = read(tmp_path / "c.eml", page)
    assert body(document) == "## Tides\n\nHigh at nine."
    assert skipped == more == []


def test_a_plain_version_that_is_a_note_gives_way_to_one_that_says_much_more(tmp_path):
    made = message("This message needs a program that shows HTML.")
    made.add_alternative(f"<p>{'The ferry sails at ten. ' * 8}", subtype="html")
    (document,), _ = read(tmp_path / "a.eml", made)
    assert (body(document), document.format) == (
        ("The ferry sails at ten. " * 8).strip(),
        "markdown",
    )
    made = message("The ferry sails at ten, and not at nine, on Mondays.")
    made.add_alternative(f"<p>{'The ferry sails at ten. ' * 8}", subtype="html")
    (document,), _ = read(tmp_path / "b.eml", made)
    assert (body(document), document.format) == (
        "The ferry sails at ten, and not at nine, on Mondays.",
        "text",
    )


def test_attachments_are_named_and_not_read(tmp_path):
    made = message("See the plan.")
    html = EmailMessage()
    html.set_content("<p>See the plan.", subtype="html")
    html.add_related(b"\x89PNG", "image", "png", cid="<logo>", filename="logo.png")
    html.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="Pläne.pdf")
    made.make_alternative()
    made.attach(html)
    made.make_mixed()
    made.add_attachment("unread", filename="notes.txt")
    made.add_attachment(b"\0", maintype="application", subtype="octet-stream")
    (document,), skipped = read(tmp_path / "a.eml", made)
    assert body(document) == "See the plan.\n\nAttachments: Pläne.pdf, notes.txt"
    why = "an attachment of a message"
    assert skipped == [
        ("a.eml#logo.png", why),
        ("a.eml#Pläne.pdf", why),
        ("a.eml#notes.txt", why),
        ("a.eml#a part of application/octet-stream", why),
    ]


def test_an_attachment_with_a_name_that_cannot_be_read_hides_no_message(tmp_path):
    made = message("See the plan.")
    made.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="a.pdf")
    raw = made.as_bytes().replace(b'filename="a.pdf"', b"filename*=idna''a..b.txt")
    assert b"idna" in raw
    (document,), skipped = read(tmp_path / "a.eml", raw)
    assert body(document) == "See the plan."
    assert skipped == [("a.eml#a part of application/pdf", "an attachment of a message")]


def test_a_forwarded_message_and_every_text_of_several_are_read(tmp_path):
    inner = message("High water is at nine.", "Tides", sender="Cy <cy@example.org>")
    made = message("See below.")
    made.add_attachment(inner, disposition="inline")
    made.add_attachment("The list is read by many.", disposition="inline")
    (document,), skipped = read(tmp_path / "a.eml", made)
    assert body(document) == (
        "See below.\n\nForwarded message: Tides\nFrom: Cy <cy@example.org>\n"
        f"To: Bo <bo@example.org>\nDate: {SENT}\n\nHigh water is at nine.\n\n"
        "The list is read by many."
    )
    assert skipped == []


def test_a_file_of_several_messages_is_a_document_for_each(tmp_path):
    texts = [
        "From ten on the ferry sails.\n\nFrom London at 10:30 it is far.",
        "The tide\n\nFrom: nobody\n\n>From then on it ebbs.",
        "Łódź is no harbour.",
    ]
    box = mailbox.mbox(tmp_path / "all.mbox")
    for number, text in enumerate(texts, 1):
        box.add(mailbox.mboxMessage(message(text, f"Number {number}")))
    box.close()
    heading, *messages = load_documents(tmp_path / "all.mbox").documents
    assert (heading.id, heading.text, heading.heading) == ("all.mbox", "all", True)
    assert [d.id for d in messages] == [f"all.mbox#message={number}" for number in (1, 2, 3)]
    assert {d.parent for d in messages} == {"all.mbox"}
    assert [(d.metadata["title"], d.metadata["message"]) for d in messages] == [
        (f"Number {number}", number) for number in (1, 2, 3)
    ]
    # The library that writes does not mark a line that is marked: such a mark is taken off.
    assert [body(d) for d in messages] == [texts[0], texts[1].replace(">From", "From"), texts[2]]
    wide = (tmp_path / "all.mbox").read_bytes().replace(b"\n", b"\r\n")
    assert len(split_mailbox(wide)) == 3
    (tmp_path / "all.mbox").write_bytes(b"Lost words\n\n" + wide)
    again = load_documents(tmp_path / "all.mbox")
    assert [d.text for d in again.documents[1:]] == [d.text for d in messages]
    assert [why for _, why in again.skipped] == ["read, but for what is above its first message"]


@pytest.mark.parametrize(
    "line",
    [
        "From 12:30 on the canteen is closed.\nNote: bring bread.",
        "From 12:30 on the canteen is closed.\nFrom: the cook",
        "From now on we meet on Tue at 12:30.\nDate: each week",
        "From ann@example.org Tue Mar  5 10:11:12 2024\nNote: no message.",
    ],
)
def test_words_that_look_like_the_line_above_a_message_split_none(line):
    above = "From ann@example.org Tue Mar  5 10:11:12 2024\n"
    texts = [f"Subject: Lunch\n\nHello.\n\n{line}\n\nBye.\n\n", "Received: here\nTo: Bo\n\nHi."]
    assert split_mailbox("".join(above + text for text in texts).encode()) == [
        text.encode() for text in texts
    ]


@pytest.mark.parametrize(
    "sent",
    [
        "- Tue Mar 05 10:11:12 2024",
        "MAILER-DAEMON Tue Mar  5 10:11 CET 2024",
        "15902938@xxx Tue Mar 05 10:11:12 +0000 2024",
        "ann at example.org  Tue Mar  5 10:11:12 2024",
        "Ann Bell Tue, 5 Mar 2024 10:11:12 +0100",
        "ann@example.org mar. mars 5 10:11:12 2024",
        "ann@example.org 2024-03-05T10:11:12",
    ],
)
def test_the_line_above_a_message_names_a_sender_and_a_day_or_a_year_with_a_time(sent):
    raw = f"From {sent}\nSubject: One\n\nHello.\n\nFrom {sent}\nX-One: 1\nTo: Bo\n\nHi."
    assert len(split_mailbox(raw.encode())) == 2


@pytest.mark.parametrize("name", ["a.eml", "a.mbox"])
def test_what_is_no_mail_is_read_as_text_and_that_is_said(tmp_path, name):
    words = "Only words: of a ferry.\nAnd 10:30 is no date."
    (document,), ((_, why),) = read(tmp_path / name, words.encode())
    assert (document.text, document.format) == (words, "text")
    assert why.startswith("read as text: ")
    assert read(tmp_path / name, b"\0\1\2")[0] == []
    assert read(tmp_path / name, b"")[1] == [(name, "read as text: " + why[14:]), (name, "empty")]


@pytest.mark.parametrize(
    ("head", "raw", "said", "why"),
    [
        ("text/plain; charset=klingon", "Łódź".encode(), "Łódź", ""),
        ("text/plain; charset=us-ascii", "Łódź".encode(), "Łódź", ""),
        ("text/plain; charset=iso-8859-1", "“q” é".encode("cp1252"), "“q” é", ""),
        ("text/plain; charset=utf-8", b"one \xff two", "one \ufffd two", "read, but for 1 char"),
        ("text/plain", "la marée monte à neuf heures".encode("cp1252"), "marée", "read as cp1252"),
        ("text/html", "<meta charset=koi8-r><p>Луна".encode("koi8-r"), "Луна", ""),
        ("text/plain; charset=utf-8", b"zero \0", "From: ", "an attachment"),
        ('text/plain; charset="utf-8', "Łódź".encode(), "Łódź", ""),
        ("text", "Łódź".encode(), "Łódź", ""),
        ("multipart/alternative; boundary=b", "Łódź".encode(), "Łódź", ""),
    ],
)
def test_a_charset_that_is_wrong_or_missing_loses_nothing_in_silence(
    tmp_path, head, raw, said, why
):
    made = f"From: ann@example.org\nContent-Type: {head}\n\n".encode() + raw
    (document,), skipped = read(tmp_path / "a.eml", made)
    assert said in document.text
    assert [reason[: len(why)] for _, reason in skipped] == ([why] if why else [])


@pytest.mark.parametrize(
    ("header", "key", "value"),
    [
        ("Subject: =?utf-8?b?xYHDs2TFug==?= =?utf-8?q?_=E2=80=93_two?=", "title", "Łódź – two"),
        ("Subject: Łódź", "title", "Łódź"),
        ("Subject: =?klingon?q?Qapla?=", "title", "Qapla"),
        ("Subject: =?utf-8?b?A?=", "title", "=?utf-8?b?A?="),
        ("Subject:", "title", "a"),
        ("From: " + "(" * 4000, "from", "(" * 4000),
        ("From: ann at example.org (Ann Bell)", "from", "Ann Bell"),
        ("Date: yesterday", "date", "yesterday"),
        (f"Date: {SENT}{'9' * 30}", "date", f"{SENT}999"),
        ("To: undisclosed-recipients:;", "to", "undisclosed-recipients:;"),
    ],
)
def test_odd_headers_are_read_as_far_as_they_go(tmp_path, header, key, value):
    made = f"X-One: 1\n{header}\nCc: bo@example.org\n\nThe ferry sails.\n".encode()
    (document,), skipped = read(tmp_path / "a.eml", made)
    assert value in document.metadata[key]
    assert "The ferry sails." in document.text
    assert skipped == []


def test_a_message_of_parts_in_parts_without_end_is_not_read(tmp_path):
    deep = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(3000)
    )
    documents, ((_, why),) = read(tmp_path / "a.eml", b"From: ann@example.org\n" + deep)
    assert (documents, why) == ([], "a message with too many parts in parts")
    long = b"From: ann@example.org\n" + deep[:20_000] + b"\nhi\n" * 100_000
    assert read(tmp_path / "b.eml", long)[1][0][1] == why


def test_a_question_finds_what_is_encoded_and_no_line_is_claimed(tmp_path):
    texts = {
        "ferry": "Die Fähre nach Korfu legt um zehn ab.",
        "bakery": "Die Bäckerei öffnet um sieben.",
        "tides": "Das Hochwasser kommt um neun.",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.eml").write_bytes(message(text, name, cte="base64").as_bytes())
    item = Index.from_documents(tmp_path).ask("Wann öffnet die Bäckerei?", limit=1).items[0]
    assert (item.document, item.heading, item.lines) == ("bakery.eml", "bakery", None)
    assert texts["bakery"] in item.text
