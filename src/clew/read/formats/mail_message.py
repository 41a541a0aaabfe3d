"""What a message of mail says: its headers in short, its text, and the names of its attachments.

The standard library parses it. Of several versions of a text the plain one is read, else the page
of HTML. Quoted replies stay, and so does a message that is forwarded as a part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime, getaddresses, parsedate_to_datetime
from typing import NamedTuple, cast

from clew.read.formats.declared_encoding import known_encoding, wider_encoding
from clew.read.formats.html import decode, parse_page
from clew.read.formats.source_file import SourceFile, UnreadableFileError, with_plain_line_ends

HEADERS = ("From", "To", "Cc", "Date", "Subject")  # of which a message has one at least
PEOPLE = ("From", "To", "Cc")
MAX_HEADER = 5_000  # characters; the standard library takes more than linear time
MAX_COMPARED = 20_000_000  # lines with the boundaries of the parts that these may be in
MAX_PEOPLE = 3  # that are named in the text of a message
MAX_NAME = 120  # characters of the name of an attachment
MAX_NOTE = 40  # words of a plain version that may be a note about another one
NOTE_SHARE = 4  # times the words of a note, which another version has more of that is read
TEXTS = ("text/plain", "text/html", "text/markdown", "text/x-patch", "text/x-diff")  # that are read
_BOUNDARY = re.compile(rb"boundary[*\d]*=", re.IGNORECASE)
# What the standard library raises for odd messages, beside its own errors.
_ODD = (
    *(MessageError, ValueError, LookupError, AttributeError, TypeError, AssertionError),
    OverflowError,
)


class MailMessage(NamedTuple):
    """What is read of a message.

    Attributes:
        subject: The subject, in one line, or "".
        text: Who writes to whom, about what and when, what the message says, and what is attached.
        format: The name of the format of `text`.
        metadata: The same headers by their names, in lower case; the date as in ISO 8601.
        attachments: The name of each part that is not read.
    """

    subject: str
    text: str
    format: str
    metadata: dict[str, str]
    attachments: list[str]


def parse_message(raw: bytes, file: SourceFile) -> MailMessage | None:
    r"""Return what is read of a message; None where no header says that it is one.

    Args:
        raw: The message.
        file: The file that it is in. It gives the encoding of a text that names none, and receives
            what is not read as it should be.

    Raises:
        UnreadableFileError: The standard library cannot parse it.

    Example:
        >>> from pathlib import Path
        >>> raw = b"Subject: =?utf-8?q?Gru=C3=9F?=\nFrom: Ann <ann@example.org>\n\nIt is late."
        >>> message = parse_message(raw, SourceFile(Path("a.eml"), "a.eml", raw))
        >>> message.text
        'From: Ann <ann@example.org>\nSubject: Gruß\n\nIt is late.'
    """
    raw = raw.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    if len(_BOUNDARY.findall(raw)) * raw.count(b"\n") > MAX_COMPARED:
        raise UnreadableFileError("a message with too many parts in parts")
    try:
        message = cast("EmailMessage", message_from_bytes(raw, policy=_POLICY))
        if not any(name in message for name in HEADERS):
            return None
        reading = _Reading(file)
        parts = list(reading.texts(message))
        headers = _headers_of(message)
    except RecursionError as error:
        raise UnreadableFileError("a message with too many parts in parts") from error
    except _ODD as error:
        raise UnreadableFileError(f"not readable as mail: {error}") from error
    attached = [f"Attachments: {', '.join(reading.files)}"] if reading.files else []
    text = "\n\n".join(part for part in (headers.in_short(), *parts, *attached) if part.strip())
    format = "text" if reading.is_plain else "markdown"
    named = {name.lower(): ", ".join(people) for name, people in headers.people.items()}
    named["date"] = headers.sent.isoformat() if headers.sent else headers.date
    metadata = {name: value for name, value in named.items() if value}
    return MailMessage(headers.subject, text, format, metadata, reading.attachments)


class _Policy(EmailPolicy):
    """Headers as they are written, but cut, so that the parser takes linear time over them."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """Return the name and the value of a header that the parser has found."""
        name, value = super().header_source_parse(sourcelines)
        written = value[:MAX_HEADER].encode("utf-8", "surrogateescape")
        try:
            return name, written.decode()
        except UnicodeDecodeError:
            return name, written.decode("cp1252", "replace")

    def header_fetch_parse(self, name: str, value: str) -> str:
        """Return the value of a header in one line."""
        return _one_line(value)


_POLICY = _Policy()


class _Headers(NamedTuple):
    """What headers say of a message.

    Attributes:
        subject: The subject, in one line, or "".
        people: Who sent it, and to whom, by the names of the headers.
        sent: When; None where the header is not written as mail has it.
        date: The same as it is written.
    """

    subject: str
    people: dict[str, list[str]]
    sent: datetime | None
    date: str

    def in_short(self, *, with_subject: bool = True) -> str:
        """Return who writes to whom, about what and when, each in a line."""
        lines = []
        for name, people in self.people.items():
            more = len(people) - MAX_PEOPLE
            said = ", ".join(people[:MAX_PEOPLE]) + (f" and {more:,} more" if more > 0 else "")
            lines += [f"{name}: {said}"] if said else []
        when = format_datetime(self.sent) if self.sent else self.date
        lines += [f"Subject: {self.subject}"] if self.subject and with_subject else []
        return "\n".join([*lines, *([f"Date: {when}"] if when else [])])


def _n_words(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)


def _headers_of(message: EmailMessage) -> _Headers:
    date = str(message["Date"] or "")
    try:
        sent = parsedate_to_datetime(date)
    except _ODD:
        sent = None
    people = {name: _people_in(str(message[name] or "")) for name in PEOPLE}
    return _Headers(_decode_words(str(message["Subject"] or "")), people, sent, date)


def _people_in(header: str) -> list[str]:
    """Return the names and addresses in a header, or the header where it has none."""
    try:
        pairs = [(_decode_words(name), address) for name, address in getaddresses([header])]
    except (*_ODD, RecursionError):
        pairs = []
    people = [
        f"{name} <{address}>" if name and address else name or address for name, address in pairs
    ]
    return [one for one in people if one] or ([_decode_words(header)] if header else [])


def _decode_words(header: str) -> str:
    """Return a header in one line, with what is written in other encodings decoded."""
    try:
        words = [
            part
            if isinstance(part, str)
            else part.decode(known_encoding(charset) or "utf-8", "replace")
            if charset
            else part.decode("raw-unicode-escape", "replace")  # as the library has encoded it
            for part, charset in decode_header(header)
        ]
    except _ODD:
        words = [header]
    return _one_line("".join(words))


@dataclass
class _Reading:
    """The parts of a message on the way.

    Attributes:
        file: The file that the message is in.
        attachments: The names of the parts that are not read.
        files: Those of them that have a name of their own.
        is_plain: Whether no page of HTML was read.
    """

    file: SourceFile
    attachments: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    is_plain: bool = True

    def texts(self, part: EmailMessage) -> Iterator[str]:
        """Yield the texts of a part and of the parts in it."""
        kind = part.get_content_type()
        if kind == "message/rfc822" and part.is_multipart() and not _is_attachment(part):
            for inner in _children(part):
                headers = _headers_of(inner)
                in_short = headers.in_short(with_subject=False)
                yield f"Forwarded message: {headers.subject}\n{in_short}".strip()
                yield from self.texts(inner)
        elif kind == "multipart/alternative" and part.is_multipart():
            yield from self._best(part)
        elif part.get_content_maintype() == "multipart" and part.is_multipart():
            for inner in _children(part):
                yield from self.texts(inner)
        elif kind in TEXTS and not _is_attachment(part) and not part.is_multipart():
            yield self._text(part, kind)
        elif part.get_content_maintype() == "multipart":  # without the boundary that it names
            yield self._text(part, "text/plain")
        else:
            self._leave_out(part, kind)

    def _best(self, part: EmailMessage) -> Iterator[str]:
        """Yield the texts of the first version that has some: the plain one, else the last ones.

        A plain one that is a note, such as that a program is needed that shows HTML, counts only
        where no other says much more. Of the other versions only the files are named that they have
        beside their texts.
        """
        versions = _children(part)[::-1]
        versions.sort(key=lambda version: version.get_content_type() != "text/plain")
        found: list[str] = []
        for version in versions:
            is_note = bool(found) and _n_words(found) <= MAX_NOTE
            if found and not is_note:
                if version.get_content_maintype() == "multipart":
                    self._name_files(version)
                continue
            is_plain = self.is_plain
            texts = [text for text in self.texts(version) if text.strip()]
            if _n_words(texts) > NOTE_SHARE * _n_words(found):
                found = texts
            else:
                self.is_plain = is_plain
        yield from found

    def _name_files(self, part: EmailMessage) -> None:
        """Name the parts of a version that are no texts."""
        kind = part.get_content_type()
        if part.is_multipart():
            for inner in _children(part):
                self._name_files(inner)
        elif kind not in TEXTS or _is_attachment(part):
            self._leave_out(part, kind)

    def _text(self, part: EmailMessage, kind: str) -> str:
        raw = part.get_payload(decode=True)
        raw = raw if isinstance(raw, bytes) else b""
        if not raw.strip():
            return ""
        charset = part.get_content_charset()
        try:
            if kind == "text/html":
                named = known_encoding(charset or "") or self.file.encoding
                page = parse_page(self._decoded(raw, charset) if named else decode(raw)[0])
                self.is_plain &= not page.text
                return page.text
            return self._decoded(raw, charset).strip("\n")
        except UnreadableFileError:
            self._leave_out(part, kind)
            return ""

    def _decoded(self, raw: bytes, charset: str | None) -> str:
        """Return a text in the encoding that its part names; many name ASCII for any."""
        known = known_encoding(charset or "")
        if known is None or known == "ascii":
            return replace(self.file, raw=raw).text()
        for encoding in (wider_encoding(known), known):
            try:
                text = raw.decode(encoding)
                break
            except UnicodeError:
                continue
        else:
            text = raw.decode(known, "replace")
            self.file.report_lost(raw, text, known)
        if "\0" in text:
            raise UnreadableFileError("binary")
        return with_plain_line_ends(text)

    def _leave_out(self, part: EmailMessage, kind: str) -> None:
        try:
            named = part.get_filename() or ""
        except (*_ODD, RecursionError):  # one name that is odd hides no message
            named = ""
        name = _decode_words(named).replace("\\", "/").split("/")[-1][:MAX_NAME]
        self.attachments.append(name or f"a part of {kind}")
        if name and "Content-ID" not in part:  # which pictures within a page have
            self.files.append(name)


def _is_attachment(part: EmailMessage) -> bool:
    return part.get_content_disposition() == "attachment"


def _children(part: EmailMessage) -> list[EmailMessage]:
    return cast("list[EmailMessage]", part.get_payload())


def _one_line(words: str) -> str:
    return " ".join(words.replace("\0", "").encode("utf-8", "replace").decode().split())
