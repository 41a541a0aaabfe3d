"""Where a text may name something, told by its looks: capitals, quotation marks, what stands in brackets behind a name.

Texts are NFKC. No language is known here, but for the small words inside names ("of", "de", "van"), which the caller gives. A capital at
the start of a sentence tells nothing by itself, so such words are marked, for whoever has seen the whole corpus to judge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
MARKS += "\u0980-\u0d4f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"  # signs that Python does not count among letters
SIGNS = rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*"
WORD = re.compile(rf"{SIGNS}(?:['’.&/\-‐‑·]{SIGNS})*")
ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:['.&/\-][A-Za-z0-9]+)*")
QUOTED = re.compile(r"[“«„『「《]([^“”«»„『』「」《》\n]{2,80})[”“»』」》]|\"([^\"\n]{2,80})\"")
SENTENCE_END = re.compile(r"[.!?…؟।۔։።][\"'”’»)\]]*(?:\s|$)|[。！？]|\n")
POSSESSIVE = re.compile(r"['’]s?$")
ABBREVIATED = re.compile(r"([^\W\d_]{2,4})\b(\.(?= ))?")
NEAR = (" ", ". ", " & ")  # what may stand between two words of a name


class Word(NamedTuple):
    """A word: its span, its casefolded form, and whether it begins a sentence, has a capital, and where its sentence starts."""

    start: int
    end: int
    key: str
    begins: bool
    capital: bool
    sentence: int


class Run(NamedTuple):
    """Words that stand together and may be a name; `titled` if they are, word for word, the title of a document."""

    words: tuple[Word, ...]
    titled: bool


def abbreviations(texts: Iterable[str]) -> frozenset[str]:
    """Return the short words that nearly always have a full stop behind them: it ends no sentence (after Kiss and Strunk, 2006)."""
    dotted, all = Counter[str](), Counter[str]()
    for text in texts:
        for word, stop in ABBREVIATED.findall(text):
            all[word.casefold()] += 1
            dotted[word.casefold()] += bool(stop)
    return frozenset(
        word for word, times in dotted.items() if times >= 3 and times > 0.8 * all[word]
    )


def words_of(text: str, short: Collection[str] = ()) -> list[Word]:
    """Return the words of a text. Args: `short` are casefolded words whose full stop ends no sentence."""
    found: list[Word] = []
    end, sentence, last = 0, 0, ""
    for match in (ASCII_WORD if text.isascii() else WORD).finditer(text):
        start, gap = match.start(), text[end : match.start()]
        begins = not found or _ends_sentence(gap, last, short)
        if begins:
            sentence = start
        last, end = match[0], match.end()
        capital = not last.islower() and any(map(str.isupper, last))
        found.append(Word(start, end, last.casefold(), begins, capital, sentence))
    return found


def runs_of(
    text: str,
    words: Sequence[Word],
    titles: Mapping[tuple[str, ...], Sequence[tuple[str, ...]]],
    inside: Collection[str],
    longest: int,
) -> Iterator[Run]:
    """Yield the runs of capitalised words, none of which overlap.

    Args:
        titles: the words of titles by their first two, the longest first: one that reaches further than a run takes its place.
        inside: small words that may stand between two capitalised ones. longest: words in a run.
    """
    i = 0
    while i < len(words):
        behind = _behind(text, words, i, inside, longest) if words[i].capital else i
        most = _title(words, i, titles) if words[i].capital or not _has_case(words[i].key[0]) else 0
        if i + most > behind:
            yield Run(tuple(words[i : i + most]), True)
            i += most
        elif behind > i:
            yield Run(tuple(words[i:behind]), False)
            i = behind
        else:
            i += 1


def quoted(text: str, start: int = 0) -> Iterator[tuple[int, int, str]]:
    """Yield what stands in quotation marks, of at most eight words: the span with the marks, and the text."""
    for match in QUOTED.finditer(text, start):
        said = (match[1] or match[2]).strip(" ,.;:!?")
        if said and len(said.split()) <= 8:
            yield match.start(), match.end(), said


def _ends_sentence(gap: str, before: str, short: Collection[str]) -> bool:
    if gap in (" ", ", "):
        return False
    if gap == ". " and (len(before) == 1 or "." in before or before.casefold() in short):
        return False
    return SENTENCE_END.search(gap) is not None


def _behind(
    text: str, words: Sequence[Word], first: int, inside: Collection[str], longest: int
) -> int:
    """Where the run that begins at a word ends."""
    end = first + 1
    while end < len(words) and end - first < longest:
        if not _joined(text, words, end):
            break
        if words[end].capital:
            end += 1
            continue
        last = end
        while last < len(words) and last - end < 2 and words[last].key in inside:
            last += 1
        if last == end or last == len(words) or not words[last].capital:
            break
        if not all(_joined(text, words, i) for i in range(end + 1, last + 1)):
            break
        end = last + 1
    return end


def _joined(text: str, words: Sequence[Word], i: int) -> bool:
    before = words[i - 1]
    return (
        not words[i].begins
        and text[before.end : words[i].start] in NEAR
        and not before.key.endswith(("'s", "’s"))
    )


def _has_case(letter: str) -> bool:
    return letter.lower() != letter.upper()


def _title(
    words: Sequence[Word], first: int, titles: Mapping[tuple[str, ...], Sequence[tuple[str, ...]]]
) -> int:
    """How many words from the first on are a title."""
    if first + 1 == len(words):
        return 0
    for title in titles.get((words[first].key, POSSESSIVE.sub("", words[first + 1].key)), ()):
        keys = tuple(word.key for word in words[first : first + len(title)])
        if keys == title or (*keys[:-1], POSSESSIVE.sub("", keys[-1])) == title:
            return len(title)
    return 0
