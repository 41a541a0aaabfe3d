"""The encoding that a file declares in its own first lines.

A module of Python has a comment for it (PEP 263), XML its declaration.
"""

from __future__ import annotations

import codecs
import re
from io import BytesIO
from tokenize import detect_encoding

from clew.text.code_languages import PYTHON_SUFFIXES

DECLARATION_BYTES = 4096  # in which a file declares its encoding
_COMMENT_MARK = b"coding"  # in every comment that names an encoding
_XML = re.compile(rb"<\?xml[^>]+encoding\s*=\s*[\"']([\w:.-]+)")
_EVERY_BYTE = bytes(range(256))
_SIGNS = b"<?xml coding"  # as they stand in the encoding of every declaration that is readable
_WIDER_ENCODINGS = {  # what browsers read for what pages declare (the WHATWG encoding standard)
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    **dict.fromkeys(("utf-16", "utf-16-le", "utf-16-be"), "utf-8"),
}
# Codecs of Python that no text is stored in. Some take very long for a long text.
_NOT_STORED = frozenset(("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"))


def declared_encoding(name: str, raw: bytes) -> str | None:
    r"""Return the encoding that a file declares and that its bytes are in; None without one.

    A declaration that names no encoding counts for none, and so does one that the file is not
    written in. Where old encodings are declared, the wider ones count that programs write in their
    place, as in browsers. Where one byte is one character, as in Latin-1, any bytes can be read; a
    program has then often written UTF-8 and left the declaration, so bytes in UTF-8 beat it.

    Args:
        name: The name of the file.
        raw: Its bytes.

    Example:
        >>> declared_encoding("city.py", b"# -*- coding: iso-8859-2 -*-\ncity = '\xa3\xf3d\xbc'")
        'iso8859-2'
        >>> declared_encoding("city.xml", b"<?xml version='1.0' encoding='utf-16'?><city>\xa3")
        >>> declared_encoding("city.py", "# coding: latin-1\ncity = 'Łódź'".encode())
    """
    if name.lower().endswith(PYTHON_SUFFIXES):
        declared = _named_in_comment(raw)
    else:
        xml = _XML.match(raw[:DECLARATION_BYTES])
        declared = xml[1].decode("ascii", "replace") if xml else None
    known = None if declared is None else known_encoding(declared)
    if known and _is_single_byte(known) and _is_beyond_ascii_in_utf_8(raw):
        return None
    for encoding in dict.fromkeys((wider_encoding(known), known) if known else ()):
        try:
            if _SIGNS.decode(encoding) == _SIGNS.decode("ascii"):
                raw.decode(encoding)
                return encoding
        except UnicodeError:
            continue
    return None


def known_encoding(name: str) -> str | None:
    """Return the name by which Python knows an encoding of texts; None for any other name.

    Example:
        >>> known_encoding("IBM866"), known_encoding("base64"), known_encoding("klingon")
        ('cp866', None, None)
    """
    try:
        encoding = codecs.lookup(name).name
        b"ab".decode(encoding)  # which refuses what makes no text, such as base64
    except (LookupError, UnicodeError):
        return None
    return None if encoding in _NOT_STORED else encoding


def wider_encoding(encoding: str) -> str:
    """Return what browsers read for an encoding that is declared.

    A declaration that can be read as it stands is not in UTF-16, whatever it says.

    Args:
        encoding: As `known_encoding` returns it.

    Example:
        >>> wider_encoding("iso8859-1"), wider_encoding("iso8859-2"), wider_encoding("utf-16")
        ('cp1252', 'iso8859-2', 'utf-8')
    """
    return _WIDER_ENCODINGS.get(encoding, encoding)


def _is_single_byte(encoding: str) -> bool:
    """Return whether every byte is one character in an encoding."""
    return not encoding.startswith("utf") and len(_EVERY_BYTE.decode(encoding, "replace")) == 256


def _is_beyond_ascii_in_utf_8(raw: bytes) -> bool:
    """Return whether bytes are in UTF-8, with a character that takes more than one of them."""
    try:
        return not raw.isascii() and bool(raw.decode("utf-8"))
    except UnicodeError:
        return False


def _named_in_comment(raw: bytes) -> str | None:
    """Return the encoding that a module of Python names in its first two lines, or None."""
    if _COMMENT_MARK not in raw[:DECLARATION_BYTES]:
        return None
    try:
        return detect_encoding(BytesIO(raw).readline)[0]
    except SyntaxError:  # no encoding has such a name
        return None
