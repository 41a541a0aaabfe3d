"""The words of a text in any script."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache
from itertools import groupby

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaa7f"  # Thai, Lao, Burmese, Khmer, Tai
IDEOGRAPHS = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


def fold_case(text: str) -> str:
    """Return the text in the form that is compared: NFKC and casefolded, runs of white space as one space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def words(text: str) -> list[str]:
    """Return the words of a text, NFKC and casefolded: runs of letters, digits and marks; each ideograph and kana is a word."""
    if text.isascii():  # nothing to normalise, and no table of scripts to ask
        return ASCII.findall(text.lower())
    return _pattern().findall(unicodedata.normalize("NFKC", text).casefold())


def contains_phrase(cue: str, text: str) -> bool:
    """Return whether the words of the cue stand in the text, side by side; by whole words, in a script without spaces by whole signs."""
    wanted, there = words(cue), words(text)
    return bool(wanted) and any(
        there[at : at + len(wanted)] == wanted for at in range(len(there) - len(wanted) + 1)
    )


def terms(text: str, identifiers: bool = True) -> list[str]:
    """Return what retrieval counts of a text: its words, and in scripts that put no space between words, pairs of neighbouring signs.

    Ideographs count alone too; kana, Thai, Lao, Burmese and Khmer signs, with the marks on them, only where nothing stands beside them.
    With `identifiers` one counts whole and in its parts: `parseXMLFile` as that, "parse", "xml" and "file", `read_path` as that, "read"
    and "path".
    """
    found = (
        words(text) if text.isascii() else _paired(unicodedata.normalize("NFKC", text).casefold())
    )
    for name in IDENTIFIER.findall(text) if identifiers else ():
        found += [name.lower()] if "_" in name else []
        found += [part.lower() for part in PART.findall(name)] if CAMEL.search(name) else []
    return found


def _paired(text: str) -> list[str]:
    found: list[str] = []
    place, before = -1, ""  # where the sign before ends, if it is one of a row
    alone = False  # whether it has no pair yet
    for each in _signs().finditer(text):
        said = each.group()
        if each.lastgroup is None:
            found += [before] if alone else []
            found.append(said)
            place, alone = -1, False
            continue
        ideograph = each.lastgroup == "ideograph"
        found += [before] if alone and each.start() != place else []
        found += [before + said] if each.start() == place else []
        found += [said] if ideograph else []
        alone = not ideograph and each.start() != place
        place, before = each.end(), said
    return found + ([before] if alone else [])


IDENTIFIER = re.compile(
    r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|[A-Za-z]*[a-z][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*"
)
CAMEL = re.compile("[a-z][A-Z]|[A-Z]{2}[a-z]")
PART = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
ASCII = re.compile("[a-z0-9]+")


@lru_cache(maxsize=1)
def _signs() -> re.Pattern[str]:
    marks = "".join(
        chr(code)
        for code in range(0x0E00, 0xAB00)
        if unicodedata.category(chr(code))[0] == "M" and UNSPACED_SIGN.match(chr(code))
    )
    han = IDEOGRAPHS.replace("\u3040-\u30ff", "")
    return re.compile(
        rf"(?P<ideograph>[{han}])|(?P<sign>[\u3040-\u30ff{UNSPACED}][{marks}]*)|{_pattern().pattern}"
    )


UNSPACED_SIGN = re.compile(f"[{UNSPACED}]")


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    # Marks (vowel signs of Indic scripts, accents) belong to the word, but Python's \w leaves them out. A set of ranges that names
    # every sign is looked up in one step within the first plane; \w beside other ranges is tried one after the other.
    signs = (
        code
        for code in range(sys.maxunicode + 1)
        if chr(code).isalnum() or unicodedata.category(chr(code))[0] == "M"
    )
    ideograph = re.compile(f"[{IDEOGRAPHS}]")
    low, high = list[str](), list[str]()
    for _, run in groupby(
        enumerate(code for code in signs if not ideograph.match(chr(code))),
        lambda pair: pair[1] - pair[0],
    ):
        codes = [code for _, code in run]
        (low if codes[-1] < 0x10000 else high).append(
            f"{re.escape(chr(codes[0]))}-{re.escape(chr(codes[-1]))}"
        )
    return re.compile(rf"[{IDEOGRAPHS}]|(?:[{''.join(low)}]|[{''.join(high)}])+")
