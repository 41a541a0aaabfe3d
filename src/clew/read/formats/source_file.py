"""A file on its way to becoming documents: its bytes, its text, and what is not read of it."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew.document import Document
from clew.read.formats.declared_encoding import declared_encoding
from clew.read.formats.not_text import why_no_text

BINARY_BYTES = (*range(7), *range(14, 27), *range(28, 32))  # control characters no text has
ENCODINGS = [  # that pages on the web are written in, beside UTF-8, the most common first
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258"),
    *("koi8_r", "cp932", "euc_jp", "gb18030", "big5", "cp949", "cp874"),
]
DETECTED_BYTES = 200_000  # by which an encoding is detected
MIN_WHOLE = 4  # signs beside ASCII in UTF-8, for each that is not, in a damaged text
MIN_ASCII = 0.6  # of the signs of a text in UTF-16 without its mark
_CONTROL = re.compile(f"[{re.escape(bytes(BINARY_BYTES).decode())}]")
_WHOLE_SIGN = re.compile("[^\x00-\x7f\ufffd]")
ISO_2022_JP = "iso2022_jp"
_JAPANESE_BEGINS = re.compile(rb"\x1b\$[@B](?=[!-~]{2})")
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

DAMAGE = (  # what libraries raise over the bytes of a damaged file, beside errors of their own
    OSError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    RecursionError,
    NotImplementedError,
)


class UnreadableFileError(Exception):
    """A file is not read; the message is the reason that the caller sees in `skipped`."""


def with_plain_line_ends(text: str) -> str:
    r"""Return a text whose lines all end in "\n", as those of every text that is read.

    Args:
        text: A text, as it is in a file or in a value there.

    Example:
        >>> with_plain_line_ends("high\r\nlow\rebb\n")
        'high\nlow\nebb\n'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True)
class SourceFile:
    """A file whose bytes are loaded, on its way to becoming documents.

    Attributes:
        path: Where the file is.
        id: The id of the document that the file becomes: its path below the folder that is read.
        raw: The bytes of the file.
        skipped: Receives (path, reason) for everything that is not read, or is read otherwise than
            its name says.
        encoding: The name of the encoding of the text, such as "cp1252"; None for UTF-8 or
            UTF-16 with its mark, for the one that the file declares, for UTF-8, or else for the
            one that the bytes look like.

    Example:
        >>> file = SourceFile(Path("sea.txt"), "sea.txt", b"The sea is salt.")
        >>> file.document(file.text()).metadata["title"]
        'sea'
    """

    path: Path
    id: str
    raw: bytes
    skipped: list[tuple[str, str]] = field(default_factory=list)
    encoding: str | None = None

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of every document of the file."""
        return {
            "path": self.path.as_posix(),
            "title": self.path.stem,
            "file_name": self.path.name,
        }

    def text(self) -> str:
        r"""Return the text of the file, with line ends as "\n".

        Raises:
            UnreadableFileError: The file is empty or is not text.
        """
        encoding = self.find_encoding()
        try:
            text = self.raw.decode(encoding)
        except UnicodeDecodeError as error:
            if self.encoding is not None or encoding != "utf-8-sig":
                raise UnreadableFileError(f"not text in {encoding}: {error}") from error
            text = self.raw.decode(encoding, "replace")
            self.report_lost(self.raw, text, "utf-8")
        if "\0" in text:
            raise UnreadableFileError("binary")
        text = with_plain_line_ends(text)
        if not text.strip():
            raise UnreadableFileError("empty")
        return text

    def find_encoding(self) -> str:
        """Return the encoding that was named, else by the mark, else the declared one, else UTF-8.

        Bytes that are in none of these are in the encoding that is detected. That is reported,
        since it is a guess. Where some bytes are damaged, and much more is in UTF-8, it is UTF-8.

        Raises:
            UnreadableFileError: The bytes look like no text.
        """
        if self.encoding is not None:
            return self.encoding
        if self.raw[:2] in UTF_16_MARKS:
            return "utf-16"
        if not self.raw.startswith(BOM_UTF8) and (
            declared := declared_encoding(self.path.name, self.raw)
        ):
            return "utf-8-sig" if declared == "utf-8" else declared
        try:
            self.raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            return "utf-8-sig" if _is_damaged_utf_8(self.raw) else self._detect_encoding()
        encoding = _unmarked_utf_16(self.raw) or _escaped_encoding(self.raw)
        return self._guessed(encoding) if encoding else "utf-8-sig"

    def _detect_encoding(self) -> str:
        from charset_normalizer import from_bytes

        if utf_16 := _unmarked_utf_16(self.raw):
            return self._guessed(utf_16)
        is_binary = any(byte in self.raw for byte in BINARY_BYTES)
        matches = (
            [] if is_binary else list(from_bytes(self.raw[:DETECTED_BYTES], cp_isolation=ENCODINGS))
        )
        if not matches:
            raise UnreadableFileError(why_no_text(self.path.name))
        # Of those that read the bytes with the fewest oddities, the most common one counts.
        encoding = min(
            (round(match.chaos, 3), -round(match.coherence, 2), ENCODINGS.index(name))
            for match in matches
            for name in match.could_be_from_charset
            if name in ENCODINGS
        )[2]
        return self._guessed(ENCODINGS[encoding])

    def _guessed(self, encoding: str) -> str:
        """Return an encoding, and report once that it is a guess."""
        if self.path.as_posix() not in {path for path, _ in self.skipped}:
            self.report(f"read as {encoding}, which it looks like; encoding= names another")
        return encoding

    def document(
        self, text: str, format: str = "text", *, title: str | None = None, **metadata: object
    ) -> Document:
        """Return the document of the whole file.

        Args:
            text: The text of the document.
            format: The name of the format that `text` is written in.
            title: The title; None for the file's name without its suffix.
            metadata: Further metadata, beside path, title and file name.
        """
        heading = {"title": title or self.path.stem}
        return Document(self.id, text, {**self.metadata, **metadata, **heading}, format=format)

    def report(self, reason: str) -> None:
        """Report to the caller how the file is read, or what of it is not.

        Args:
            reason: In words that follow the name of the file. Of a file that is read all the same
                it begins with "read", by which the command tells both apart.
        """
        self.skipped.append((self.path.as_posix(), reason))

    def report_lost(self, raw: bytes, text: str, encoding: str) -> None:
        """Report how many characters of a text stand for bytes that its encoding does not have.

        Args:
            raw: The bytes.
            text: What they were decoded to, with U+FFFD for what the encoding does not have. Where
                they have this character itself, nothing is lost.
            encoding: The encoding.
        """
        if lost := text.count("\ufffd"):
            lost -= raw.decode(encoding, "ignore").count("\ufffd")
        if lost:
            what = "1 character that is none" if lost == 1 else f"{lost:,} characters that are none"
            self.report(f"read, but for {what} in its encoding, {encoding}")


def _unmarked_utf_16(raw: bytes) -> str:
    """Return in which order bytes without a mark are UTF-16, or "" where they are not.

    Of each sign of ASCII one byte is 0, and it is the first or the second one of all.
    """
    if b"\0" not in raw[:64]:  # as of nearly all files
        return ""
    sample = raw[: DETECTED_BYTES // 2 * 2]
    zeros = [sample[i::2].count(0) for i in (0, 1)]
    if min(zeros) > 0 or max(zeros) < MIN_ASCII * len(sample) / 2 or len(raw) % 2:
        return ""
    encoding = "utf-16-le" if zeros[1] else "utf-16-be"
    decoded = raw.decode(encoding, "replace")
    return "" if "\ufffd" in decoded or _CONTROL.search(decoded) else encoding


def _escaped_encoding(raw: bytes) -> str:
    """Return the encoding of bytes of ASCII that escape sequences make Japanese, or "".

    Old Japanese texts and mail are so written; no terminal has these sequences.
    """
    if not _JAPANESE_BEGINS.search(raw):
        return ""
    try:
        raw.decode(ISO_2022_JP)
    except UnicodeDecodeError:
        return ""
    return ISO_2022_JP


def _is_damaged_utf_8(raw: bytes) -> bool:
    """Return whether bytes are UTF-8 but for some that are none.

    In another encoding hardly any sign beside ASCII is one of UTF-8 by chance.
    """
    if any(byte in raw for byte in BINARY_BYTES):
        return False
    text = raw.decode("utf-8", "replace")
    return len(_WHOLE_SIGN.findall(text)) >= MIN_WHOLE * text.count("\ufffd")
