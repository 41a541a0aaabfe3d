"""The canonical text is what a passage is found by: its words without the marks around them.

Kurisu-G2 calls it kappa (section 2.1 there): a text is matched as kappa(text) and read as it is.
Any function from text to text will do. `Plain` removes what Markdown, HTML and reStructuredText add
to the words, citation marks, and what typesetting leaves behind.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast


def _words_of_link(link: re.Match[str]) -> str:
    return str(link[1]).rstrip()


_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]")
_RULES = tuple(
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        # a word that is parted at the end of a line
        (r"(?<=[^\W\d_])-\n(?=[^\W\d_])", ""),
        # reStructuredText: a role, and a link
        (
            r":[a-z]{1,32}(?:[:-][a-z]{1,32}){0,3}:`~?([^`<>\n]+)(?:<[^<>`\n]+>)?`",
            _words_of_link,
        ),
        (r"`([^`<>\n]+)<[^<>`\n]+>`_{1,2}", _words_of_link),
        # HTML: a tag; Markdown: a bare link
        (r"</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>", " "),
        (r"<(https?://[^<>\s]+)>", r"\1"),
        # Markdown: the definition of a link, a link, a link by name
        (r"^\s{0,3}\[[^\]\n]+\]:[ \t]*\S+.*$", ""),
        (r"!?\[([^\[\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+[\"'][^\"'\n]*[\"'])?\)", r"\1"),
        (r"!?\[([^\[\]\n]+)\]\[[^\[\]\n]*\]", r"\1"),
        # a citation mark
        (r"\[\d{1,3}(?:[,–-]\s?\d{1,3})*\]", ""),
        # code: a fence, a span
        (r"^[ \t]*(?:```|~~~).*$", ""),
        (r"`{1,2}([^`\n]+)`{1,2}", r"\1"),
        # emphasis
        (r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]+?)(?<=\S)\1(?![\w*])", r"\2"),
        (r"(?<!\w)(_{1,3})(?=\S)([^_\n]+?)(?<=\S)\1(?!\w)", r"\2"),
        # the rule of a table; any other rule, or the underline of a heading
        (
            r"^[ \t]*+\|?+(?:[ \t]*+:?+-++:?+[ \t]*+\||(?!))++[ \t]*+(?::?+-++:?+|(?!))?+[ \t]*+$",
            "",
        ),
        (r"^[ \t]*([=\-~^\"*#+])\1{2,}[ \t]*$", ""),
        # the mark of a heading, of a quotation, of a list item
        (r"^[ \t]*#{1,6}[ \t]+", ""),
        (r"^[ \t]*(?:>[ \t]?)+", ""),
        (r"^[ \t]*[*+-][ \t]+(?=\S)", ""),
        # the border of a cell; space
        (r"\|", " "),
        (r"[^\S\n]+", " "),
        (r" ?\n[ \n]*", "\n"),
    )
)


@dataclass(frozen=True)
class Plain:
    """Removes markup, citation marks and invisible characters from a text.

    Use it as `Index.from_documents(..., canonical=clew.Plain())`.

    Example:
        >>> Plain()("See **the** [manual](https://a.org/b) [1].")
        'See the manual .'
    """

    def __call__(self, text: str) -> str:
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
        text = _without_comments(text)
        for pattern, replacement in _RULES:
            text = pattern.sub(replacement, text)
        return text.strip()


def _without_comments(text: str) -> str:
    """Return the text without comments of HTML; one that is not closed stays."""
    kept, place = list[str](), 0
    while (start := text.find("<!--", place)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept += [text[place:start], " "]
        place = end + len("-->")
    return "".join([*kept, text[place:]])


def make_canonical(source: object) -> Callable[[str], str] | None:
    """Return the function that makes a text canonical; None for none.

    What the function returns is checked where it is used.

    Args:
        source: A function text -> text, or None.

    Raises:
        TypeError: `source` is no function.

    Example:
        >>> make_canonical(str.lower)("Moon")
        'moon'
    """
    if source is None:
        return None
    if callable(source) and not isinstance(source, type):
        return cast("Callable[[str], str]", source)
    raise TypeError(
        f"canonical is a function text -> text, such as clew.Plain(), or None; got {source!r}"
    )
