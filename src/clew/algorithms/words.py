"""The words of a text in any script."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache
from itertools import groupby

IDEOGRAPHS = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


def folded(text: str) -> str:
    """Return the text in the form that is compared: NFKC and casefolded, runs of white space as one space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def words(text: str) -> list[str]:
    """Return the words of a text, NFKC and casefolded: runs of letters, digits and marks; each ideograph and kana is a word."""
    if text.isascii():  # nothing to normalise, and no table of scripts to ask
        return ASCII.findall(text.lower())
    return _pattern().findall(unicodedata.normalize("NFKC", text).casefold())


def said(cue: str, text: str) -> bool:
    """Return whether the words of the cue stand in the text, side by side; by whole words, in a script without spaces by whole signs."""
    wanted, there = words(cue), words(text)
    return bool(wanted) and any(there[at : at + len(wanted)] == wanted for at in range(len(there) - len(wanted) + 1))


ASCII = re.compile("[a-z0-9]+")


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    # Marks (vowel signs of Indic scripts, accents) belong to the word, but Python's \w leaves them out. A set of ranges that names
    # every sign is looked up in one step within the first plane; \w beside other ranges is tried one after the other.
    signs = (code for code in range(sys.maxunicode + 1) if chr(code).isalnum() or unicodedata.category(chr(code))[0] == "M")
    ideograph = re.compile(f"[{IDEOGRAPHS}]")
    low, high = list[str](), list[str]()
    for _, run in groupby(enumerate(code for code in signs if not ideograph.match(chr(code))), lambda pair: pair[1] - pair[0]):
        codes = [code for _, code in run]
        (low if codes[-1] < 0x10000 else high).append(f"{re.escape(chr(codes[0]))}-{re.escape(chr(codes[-1]))}")
    return re.compile(rf"[{IDEOGRAPHS}]|(?:[{''.join(low)}]|[{''.join(high)}])+")
