"""What a text says, without the marks it is written with: the canonical text by which a passage is found, beside the raw one that is read.

Kurisu-G2 calls it kappa (section 2.1 there): a text is matched as kappa(text), and kept as it is. Any function from text to text will do;
this one takes off what Markdown, HTML and reStructuredText add to words, citation marks, and what typesetting leaves behind.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]")
RULES = tuple(
    (re.compile(pattern, re.MULTILINE), instead)
    for pattern, instead in (
        (r"(?<=[^\W\d_])-\n(?=[^\W\d_])", ""),  # a word parted at the end of a line
        (r":[a-z]+(?:[:-][a-z]+)*:`~?([^`<>\n]+?)(?:\s*<[^<>`\n]+>)?`", r"\1"),
        (r"`([^`<>\n]+?)\s*<[^<>`\n]+>`_{1,2}", r"\1"),
        (r"(?s)<!--.*?-->", " "),
        (r"</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>", " "),
        (r"<(https?://[^<>\s]+)>", r"\1"),
        (r"^\s{0,3}\[[^\]\n]+\]:[ \t]*\S+.*$", ""),  # where a link leads, at the foot of a text
        (r"!?\[([^\[\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+[\"'][^\"'\n]*[\"'])?\)", r"\1"),
        (r"!?\[([^\[\]\n]+)\]\[[^\[\]\n]*\]", r"\1"),
        (r"\[\d{1,3}(?:[,–-]\s?\d{1,3})*\]", ""),  # a citation mark
        (r"^[ \t]*(?:```|~~~).*$", ""),
        (r"`{1,2}([^`\n]+)`{1,2}", r"\1"),
        (r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]+?)(?<=\S)\1(?![\w*])", r"\2"),
        (r"(?<!\w)(_{1,3})(?=\S)([^_\n]+?)(?<=\S)\1(?!\w)", r"\2"),
        (r"^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?)?[ \t]*$", ""),  # the rule of a table
        (r"^[ \t]*([=\-~^\"*#+])\1{2,}[ \t]*$", ""),  # a rule, or a heading's underline
        (r"^[ \t]*#{1,6}[ \t]+", ""),
        (r"^[ \t]*(?:>[ \t]?)+", ""),
        (r"^[ \t]*[*+-][ \t]+(?=\S)", ""),
        (r"[ \t]*\|[ \t]*", " "),
        (r"[^\S\n]+", " "),
        (r" ?\n[ \n]*", "\n"),
    )
)


@dataclass(frozen=True)
class Plain:
    """Takes markup, citation marks and invisible signs off a text: `Index.from_documents(..., canonical=clew.Plain())`."""

    def __call__(self, text: str) -> str:
        text = UNSEEN.sub("", unicodedata.normalize("NFKC", text))
        for pattern, instead in RULES:
            text = pattern.sub(instead, text)
        return text.strip()


def make_canonical(source: Any) -> Callable[[str], str] | None:
    """Return what makes a text canonical; None for nothing.

    Raises:
        TypeError: it is no function. What such a function returns is looked at where it is used.
    """
    if source is None or (callable(source) and not isinstance(source, type)):
        return source
    raise TypeError(
        f"canonical is a function text -> text, such as clew.Plain(), or None; got {source!r}"
    )
