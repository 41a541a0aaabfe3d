"""Texts of documents on a page of HTML: nothing in them is markup, and no sign is invisible."""

from __future__ import annotations

from html import escape

# Control signs as their pictures: ␛ and its like. Line ends and tabs stay.
_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"}
_PICTURES |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)


def escaped(text: str) -> str:
    r"""Return a text as HTML and SVG have it, for use between tags and in quoted attributes.

    Example:
        >>> escaped('<b>"\x1b[2J')
        '&lt;b&gt;&quot;␛[2J'
    """
    return escape(text.translate(_PICTURES))
