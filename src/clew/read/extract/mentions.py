"""Where a text may name something, by its looks: capitals, quotation marks, titles.

Texts are NFKC. No language is known here except for the small words inside names ("of", "de",
"van"), which the caller gives. A capital at the start of a sentence proves nothing by itself, so
such words are marked, for a caller who has seen the whole corpus to judge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple

# signs that Python does not count among letters
MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903"
    "\u093a-\u094f\u0951-\u0957\u0962\u0963\u0980-\u0d4f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
_LETTERS = rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*"
_WORD = re.compile(rf"({_LETTERS}(?:['’.&/\-‐‑·]{_LETTERS})*)")
_ASCII_WORD = re.compile(r"([A-Za-z0-9]+(?:['.&/\-][A-Za-z0-9]+)*)")
_QUOTED = re.compile(r"[“«„『「《]([^“”«»„『』「」《》\n]{2,80})[”“»』」》]|\"([^\"\n]{2,80})\"")
_SENTENCE_END = re.compile(r"[.!?…؟।۔։።][\"'”’»)\]]*(?:\s|$)|[。！？]|\n")
_POSSESSIVE = re.compile(r"['’]s?$")
_SHORT_WORD = re.compile(r"([^\W\d_]{2,4})\b(\.(?= ))?")
_INSIDE_NAME = (" ", ". ", " & ")  # what may be between two words of a name
MIN_ABBREVIATED = 3  # times that an abbreviation has a full stop
MIN_ABBREVIATED_SHARE = 0.8  # of its occurrences
MAX_QUOTED_WORDS = 8
MAX_SMALL_WORDS = 2  # between two capitalised words of a name

TitleWords = Mapping[tuple[str, ...], Sequence[tuple[str, ...]]]


class Word(NamedTuple):
    """A word in a text.

    Attributes:
        start: Where the word starts.
        end: Where it ends.
        key: The word with its case folded.
        begins: Whether it is the first of its sentence.
        capital: Whether it has a capital.
        sentence: Where its sentence starts.
        opens: Whether a name may begin with it: it has a capital, or its first letter has no case.
    """

    start: int
    end: int
    key: str
    begins: bool
    capital: bool
    sentence: int
    opens: bool


class Run(NamedTuple):
    """Neighbouring words that may be a name.

    Attributes:
        words: The words.
        is_title: Whether they are, word for word, the title of a document.
    """

    words: tuple[Word, ...]
    is_title: bool


def find_abbreviations(texts: Iterable[str]) -> frozenset[str]:
    """Return the short words that nearly always have a full stop, which ends no sentence.

    After Kiss and Strunk, "Unsupervised multilingual sentence boundary detection", 2006.

    Example:
        >>> sorted(find_abbreviations(["St. Louis, St. Paul and St. Ives lie far apart."]))
        ['st']
    """
    return choose_abbreviations(*count_short_words(texts))


def count_short_words(texts: Iterable[str]) -> tuple[Counter[str], Counter[str]]:
    """Return how often short words come at all, and with a full stop, with their case folded.

    Example:
        >>> count_short_words(["St. Ives, the st of old"])
        (Counter({'st': 2, 'ives': 1, 'the': 1, 'of': 1, 'old': 1}), Counter({'st': 1}))
    """
    total, with_stop = Counter[str](), Counter[str]()
    for text in texts:
        every, stopped = find_short_words(text)
        total.update(every)
        with_stop.update(stopped)
    return total, with_stop


def find_short_words(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the short words of a text, and those with a full stop, with their case folded.

    Example:
        >>> find_short_words("St. Ives, the st of old")
        (('st', 'ives', 'the', 'st', 'of', 'old'), ('st',))
    """
    found = _SHORT_WORD.findall(text)
    every = tuple([word.casefold() for word, _ in found])
    return every, tuple([word.casefold() for word, stop in found if stop])


def choose_abbreviations(total: Mapping[str, int], with_stop: Mapping[str, int]) -> frozenset[str]:
    """Return the abbreviations among short words, by the counts of `count_short_words`."""
    return frozenset(
        word
        for word, times in with_stop.items()
        if times >= MIN_ABBREVIATED and times > MIN_ABBREVIATED_SHARE * total[word]
    )


def first_key(text: str) -> str:
    """Return the key of the first word of a text, or "".

    Example:
        >>> first_key("“The Tempest”"), first_key("...")
        ('the', '')
    """
    match = (_ASCII_WORD if text.isascii() else _WORD).search(text)
    return match[0].casefold() if match else ""


def find_words(text: str, abbreviations: Collection[str] = ()) -> list[Word]:
    """Return the words of a text.

    Args:
        text: The text, in NFKC.
        abbreviations: Words with their case folded whose full stop ends no sentence.

    Example:
        >>> [(word.key, word.begins) for word in find_words("Anna left. Ben came.")]
        [('anna', True), ('left', False), ('ben', True), ('came', False)]
    """
    parts = (_ASCII_WORD if text.isascii() else _WORD).split(text)  # gaps and words in turn
    ends = list(accumulate(map(len, parts)))
    found, starts = parts[1::2], ends[:-1:2]
    keys = list(map(str.casefold, found))
    begins, sentences = list[bool](), list[int]()
    sentence, last = 0, ""
    for gap, word, start in zip(parts[:-1:2], found, starts, strict=True):
        is_first = not last or (gap != " " and _ends_sentence(gap, last, abbreviations))
        if is_first:
            sentence = start
        begins.append(is_first)
        sentences.append(sentence)
        last = word
    capitals = [
        word != key if word.isascii() else not word.islower() and any(map(str.isupper, word))
        for word, key in zip(found, keys, strict=True)
    ]
    opens = [
        capital or not ("a" <= key[0] <= "z" or key[0].lower() != key[0].upper())
        for capital, key in zip(capitals, keys, strict=True)
    ]
    columns = zip(starts, ends[1::2], keys, begins, capitals, sentences, opens, strict=True)
    return list(map(partial(tuple.__new__, Word), columns))  # in half the time of `Word._make`


def find_runs(
    text: str,
    words: Sequence[Word],
    titles: TitleWords,
    inner_words: Collection[str],
    max_words: int,
) -> Iterator[Run]:
    """Yield the runs of capitalised words; none overlap.

    Args:
        text: The text.
        words: Its words.
        titles: The words of titles by their first two, the longest title first. A title that is
            longer than the run at its place replaces it.
        inner_words: Small words that may be between two capitalised ones.
        max_words: The number of words that a run may have.
    """
    behind = 0  # the last run
    for i, word in enumerate(words):
        if i < behind or not word.opens:
            continue
        run_end = _run_end(text, words, i, inner_words, max_words) if word.capital else i
        title_end = i + _title_length(words, i, titles)
        if title_end > run_end:
            yield Run(tuple(words[i:title_end]), is_title=True)
        elif run_end > i:
            yield Run(tuple(words[i:run_end]), is_title=False)
        behind = max(run_end, title_end)


def without_possessive(word: str) -> str:
    """Return a word without the ending of a possessive.

    Example:
        >>> without_possessive("Anna's"), without_possessive("Anna")
        ('Anna', 'Anna')
    """
    return _POSSESSIVE.sub("", word) if "'" in word or "’" in word else word


def find_quoted(text: str, start: int = 0) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, text) of quotations of at most eight words; the span has the marks.

    Example:
        >>> list(find_quoted('the play "Hamlet" of 1600'))
        [(9, 17, 'Hamlet')]
    """
    for match in _QUOTED.finditer(text, start):
        content = (match[1] or match[2]).strip(" ,.;:!?")
        if content and len(content.split()) <= MAX_QUOTED_WORDS:
            yield match.start(), match.end(), content


def _ends_sentence(gap: str, before: str, abbreviations: Collection[str]) -> bool:
    """Return whether a sentence ends in the gap behind a word."""
    if gap in (" ", ", "):
        return False
    is_abbreviated = len(before) == 1 or "." in before or before.casefold() in abbreviations
    if gap == ". " and is_abbreviated:
        return False
    return _SENTENCE_END.search(gap) is not None


def _run_end(
    text: str, words: Sequence[Word], first: int, inner_words: Collection[str], max_words: int
) -> int:
    """Return the position behind the run that begins at a word."""
    end = first + 1
    while end < len(words) and end - first < max_words and _is_joined(text, words, end):
        if words[end].capital:
            end += 1
            continue
        last = end
        while last < len(words) and last - end < MAX_SMALL_WORDS and words[last].key in inner_words:
            last += 1
        if last == end or last == len(words) or not words[last].capital:
            break
        if not all(_is_joined(text, words, i) for i in range(end + 1, last + 1)):
            break
        end = last + 1
    return end


def _is_joined(text: str, words: Sequence[Word], i: int) -> bool:
    """Return whether a word may continue the name that the word before it is part of."""
    before = words[i - 1]
    return (
        not words[i].begins
        and text[before.end : words[i].start] in _INSIDE_NAME
        and not before.key.endswith(("'s", "’s"))
    )


def _title_length(words: Sequence[Word], first: int, titles: TitleWords) -> int:
    """Return how many words from the first on are a title; 0 if none is."""
    if first + 1 == len(words):
        return 0
    start = words[first].key, without_possessive(words[first + 1].key)
    for title in titles.get(start, ()):
        keys = tuple(word.key for word in words[first : first + len(title)])
        if keys == title or (*keys[:-1], without_possessive(keys[-1])) == title:
            return len(title)
    return 0
