"""A message of mail becomes a document: who writes to whom, and what it says.

A file of several messages (mbox) becomes one document for each, below that of the file. Attachments
are named, and not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from clew.document import Document
from clew.read.formats.source_file import SourceFile, UnreadableFileError
from clew.source_map import LineStart, SourceMap

MAILBOX_SUFFIX = ".mbox"
# When a message was sent: a day of the week, or a year, with a time.
_SENT = (
    rb"(?:[ \t](?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +"
    rb"(?:[A-Z][a-z][a-z] +\d\d?|\d\d?[ -][A-Z][a-z][a-z])[ ,\d-]{0,12}?\d:\d\d"
    rb"|\d:\d\d(?::\d\d)?(?: [A-Z+-][A-Z\d]{1,5})? {1,4}(?:19|20)\d\d(?!\d)"
    rb"|(?<!\d)(?:19|20)\d\d[-/ T\d]{0,8}?\d:\d\d)"
)
# The line above a message: who sent it and when. The message begins below with a header.
_ABOVE_MESSAGE = re.compile(
    rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From +(?=[^ \r\n][^\r\n]{0,300}?" + _SENT + rb")"
    rb"[^\r\n]*+\r?\n(?=[!-9;-~]+:)"
)
# Headers up to one that every message has; lines that begin with space go on with the one before.
_HEADERS = re.compile(
    rb"(?:(?:[!-9;-~]+:|[ \t])[^\n]*\n)*?(?:From|To|Cc|Date|Subject):", re.IGNORECASE
)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the message, or the heading of the file and its messages.

    A message of a file of several is named `{id}#message=3`, has its number in the metadata under
    `message`, and is at the line above it. What holds no message is read as text.
    """
    if file.path.suffix.lower() != MAILBOX_SUFFIX:
        document = _document_of(file, file.raw, file.id, file.path.stem, {})
        if document is None:
            file.report("read as text: it has no header of a message")
            document = file.document(file.text())
        yield document
        return
    messages = list(_messages_in(file.raw))
    if not messages:
        file.report("read as text: no message begins in it")
        yield file.document(file.text())
        return
    if not _ABOVE_MESSAGE.match(file.raw.lstrip()):
        file.report("read, but for what is above its first message")
    yield Document(file.id, file.path.stem, file.metadata, heading=True)
    for number, (line, raw) in enumerate(messages, 1):
        id = f"{file.id}#message={number}"
        own = {"message": number}
        try:
            document = _document_of(file, raw, id, f"message {number}", own)
            reason = "without a header of a message"
        except UnreadableFileError as error:
            document, reason = None, str(error)
        if document is None:
            file.skipped.append((f"{file.path.as_posix()}#message={number}", reason))
        else:
            place = SourceMap.of(file.id, [LineStart(0, line)])
            yield replace(document, parent=file.id, source_map=place)


def split_mailbox(raw: bytes) -> list[bytes]:
    r"""Return the messages of a file of several, as they were before they were put there.

    What begins without a header of a message belongs to the message before it.

    Args:
        raw: The file. Above each message is a line "From sender date", and above that an empty one.
            Lines of a message that begin with "From " have a ">" in front.

    Example:
        >>> above = b"From ann@example.org Tue Mar  5 10:11:12 2024\n"
        >>> split_mailbox(above + b"Subject: Tides\n\n>From ten on.\n\n" + above + b"To: Bo\n\nHi.")
        [b'Subject: Tides\n\nFrom ten on.\n\n', b'To: Bo\n\nHi.']
    """
    return [message for _, message in _messages_in(raw)]


def _messages_in(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the messages of a file of several, each with the line above it, from 1."""
    lines = enumerate(_ABOVE_MESSAGE.finditer(raw))
    above = [line for i, line in lines if i == 0 or _HEADERS.match(raw, line.end())]
    number, counted = 1, 0
    for line, end in zip(above, [*(line.start() for line in above[1:]), len(raw)], strict=False):
        number, counted = number + raw.count(b"\n", counted, line.start()), line.start()
        yield number, _QUOTED_FROM.sub(rb"\1", raw[line.end() : end])


def _document_of(
    file: SourceFile, raw: bytes, id: str, title: str, metadata: Mapping[str, object]
) -> Document | None:
    """Return the document of a message; None where it is none.

    Args:
        file: The file that it is in.
        raw: The message.
        id: The id of the document.
        title: The title of a message without a subject.
        metadata: Further metadata of the document.
    """
    # Most folders have no mail: what parses it is loaded where there is some.
    from clew.read.formats.mail_message import parse_message

    message = parse_message(raw, file)
    if message is None:
        return None
    place = file.path.as_posix() + id.removeprefix(file.id)
    file.skipped.extend(
        (f"{place}#{name}", "an attachment of a message") for name in message.attachments
    )
    own = {**file.metadata, **message.metadata, **metadata, "read_as": "mail"}
    # Lines of what was encoded are in no lines of the file.
    return Document(
        id,
        message.text,
        {**own, "title": message.subject or title},
        format=message.format,
        source_map=SourceMap.of(file.id),
    )
