"""Where a text may name something, by its looks: capitals, quotation marks, titles.

Texts are NFKC. No language is known here except for the small words inside names ("of", "de",
"van"), which the caller gives. A capital at the start of a sentence proves nothing by itself, so
such words are marked, for a caller who has seen the whole corpus to judge.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from clew.read.extract.word_columns import TextWords
from clew.text.words import OTHER_SCRIPT, PLAIN_LETTER, PLAIN_SIGN

_ASCII_MARK = '"'
_MARKS = '"“«„『「《'  # that a quotation begins with
_POSSESSIVE = re.compile(r"['’]s?$")
_SHORT_WORD = re.compile(r"([^\W\d_]{2,4})\b(\.(?= ))?")
_ASCII_RUN = re.compile(r"(?<![a-z])[a-z]{2,}+(?![0-9_])")
_STOPPED_ASCII_RUN = re.compile(r"(?<![a-z])[a-z]{2,}+(?=\. )")
MAX_SHORT = 4  # letters of a short word, or of the end of a longer one
_POSSESSIVES = ("'s", "’s")
_INSIDE_NAME = (" ", ". ", " & ")  # what may be between two words of a name
MIN_ABBREVIATED = 3  # times that an abbreviation has a full stop
MIN_ABBREVIATED_SHARE = 0.8  # of its occurrences
MAX_QUOTED_WORDS = 8
MAX_SMALL_WORDS = 2  # between two capitalised words of a name

ShortWords = tuple[tuple[str, ...], tuple[str, ...]]  # all, and those before a full stop
TitleWords = Mapping[tuple[str, ...], Sequence[tuple[str, ...]]]
FirstWords = Mapping[str, Collection[str]]
Run = tuple[int, int, bool]
"""Neighbouring words that may be a name: the number of the first, the number behind the last, and
whether they are, word for word, the title of a document."""


class KeptShortWords(NamedTuple):
    """The short words of a text; see `find_short_words`.

    Attributes:
        every: All of them, each between two spaces or more: few are ever counted.
        stopped: Those before a full stop, as often as they come there.
    """

    every: str
    stopped: tuple[str, ...]

    @classmethod
    def of(cls, short: ShortWords) -> KeptShortWords:
        """Return what is kept of the short words of a text."""
        every, stopped = short
        return cls(f" {' '.join(every)} ", stopped)

    def times(self, word: str) -> int:
        """Return how often a word comes.

        Example:
            >>> KeptShortWords(" st st stay ", ()).times("st")
            2
        """
        found = self.every.count(f" {word} ")
        if found and f" {word} {word} " in self.every:  # the space between two is of both
            return self.every.split().count(word)
        return found

    def words(self) -> ShortWords:
        """Return what `find_short_words` returns."""
        return tuple(self.every.split()), self.stopped


def without_possessive(word: str) -> str:
    """Return a word without the ending of a possessive.

    Example:
        >>> without_possessive("Anna's"), without_possessive("O'Neill")
        ('Anna', "O'Neill")
    """
    return _POSSESSIVE.sub("", word) if "'" in word or "’" in word else word


@lru_cache(maxsize=1)
def _run() -> re.Pattern[str]:
    """The pattern of letters that end as a short word does, where no script is another."""
    return re.compile(rf"(?<![{PLAIN_LETTER}])[{PLAIN_LETTER}]{{2,}}+(?![{PLAIN_SIGN}_])")


@lru_cache(maxsize=1)
def _stopped_run() -> re.Pattern[str]:
    """The pattern of such letters before a full stop."""
    return re.compile(rf"(?<![{PLAIN_LETTER}])[{PLAIN_LETTER}]{{2,}}+(?=\. )")


def find_short_words(text: str) -> ShortWords:
    """Return the short words of a text, and those with a full stop, with their case folded.

    Example:
        >>> find_short_words("St. Ives, the st of old")
        (('st', 'ives', 'the', 'st', 'of', 'old'), ('st',))
    """
    if text.isascii():
        text = text.lower()
        runs, stopped = _ASCII_RUN.findall(text), _STOPPED_ASCII_RUN.findall(text)
        return (
            tuple([run[-MAX_SHORT:] for run in runs]),
            tuple([run[-MAX_SHORT:] for run in stopped]),
        )
    if not OTHER_SCRIPT.search(text):
        runs, stopped = _run().findall(text), _stopped_run().findall(text)
        return (
            tuple([run[-MAX_SHORT:].casefold() for run in runs]),
            tuple([run[-MAX_SHORT:].casefold() for run in stopped]),
        )
    folded = [(word.casefold(), stop) for word, stop in _SHORT_WORD.findall(text)]
    return tuple([word for word, _ in folded]), tuple([word for word, stop in folded if stop])


def choose_abbreviations(total: Mapping[str, int], with_stop: Mapping[str, int]) -> frozenset[str]:
    """Return the short words that nearly always have a full stop, which ends no sentence.

    After Kiss and Strunk, "Unsupervised multilingual sentence boundary detection", 2006.

    Args:
        total: How often each short word comes.
        with_stop: How often it has a full stop.

    Example:
        >>> choose_abbreviations({"st": 3, "ives": 1}, {"st": 3})
        frozenset({'st'})
    """
    return frozenset(
        word
        for word, times in with_stop.items()
        if times >= MIN_ABBREVIATED and times > MIN_ABBREVIATED_SHARE * total[word]
    )


def find_runs(
    words: TextWords,
    titles: TitleWords,
    firsts: FirstWords,
    inner_words: Collection[str],
    max_words: int,
) -> Iterator[Run]:
    """Yield the runs of capitalised words; none overlap.

    Args:
        words: The words of a text.
        titles: The words of titles by their first two, the longest title first. A title that is
            longer than the run at its place replaces it.
        firsts: The first words of these titles, as `first_words` returns them.
        inner_words: Small words that may be between two capitalised ones.
        max_words: The number of words that a run may have.
    """
    behind, capitals, keys = 0, words.columns.capitals, words.columns.keys  # the last run
    last = words.end - 1
    for i in words.openings:
        if i < behind:
            continue
        if not capitals[i]:
            run_end = i
        elif i == last or not (capitals[i + 1] or keys[i + 1] in inner_words):
            run_end = i + 1  # as most do
        else:
            run_end = _run_end(words, i, inner_words, max_words)
        title_end = i
        if i < last and (seconds := firsts.get(keys[i])) is not None:
            second = keys[i + 1]
            if second in seconds or not second.isalnum():  # such as a possessive
                title_end += _title_length(words, i, titles)
        if title_end > run_end:
            yield i, title_end, True
            behind = title_end
        else:
            if run_end > i:
                yield i, run_end, False
            behind = run_end


def first_words(titles: TitleWords) -> FirstWords:
    """Return the second words of titles, by the first ones; it is done once for many titles.

    Example:
        >>> first_words({("anna", "bell"): [("anna", "bell")]})
        {'anna': {'bell'}}
    """
    seconds: dict[str, set[str]] = {}
    for first, second in titles:
        seconds.setdefault(first, set()).add(second)
    return seconds


@lru_cache(maxsize=1)
def _quoted() -> re.Pattern[str]:
    """The pattern of a quotation.

    It begins with a set, not with one of two patterns, so that most signs are passed by quickly.
    """
    return re.compile(
        r"[\"“«„『「《](?:(?<!\")([^“”«»„『』「」《》\n]{2,80})[”“»』」》]|(?<=\")([^\"\n]{2,80})\")"
    )


def find_quoted(text: str, start: int = 0) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, text) of quotations of at most eight words; the span has the marks.

    Example:
        >>> list(find_quoted('the play "Hamlet" of 1600'))
        [(9, 17, 'Hamlet')]
    """
    for sign in _ASCII_MARK if text.isascii() else _MARKS:  # `any` would take twice as long
        if sign in text:
            break
    else:
        return  # as in most texts
    for match in _quoted().finditer(text, start):
        content = (match[1] or match[2]).strip(" ,.;:!?")
        if content and len(content.split()) <= MAX_QUOTED_WORDS:
            yield match.start(), match.end(), content


def _run_end(words: TextWords, first: int, inner_words: Collection[str], max_words: int) -> int:
    """Return the number behind the run that begins at a word."""
    text, (starts, ends, keys, begins, capitals, *_), behind = words.text, words.columns, words.end
    end = first + 1
    while (
        end < behind
        and end - first < max_words
        and not begins[end]  # and what `_is_joined` looks at besides
        and text[ends[end - 1] : starts[end]] in _INSIDE_NAME
        and not keys[end - 1].endswith(_POSSESSIVES)
    ):
        if capitals[end]:
            end += 1
            continue
        last = end
        while last < behind and last - end < MAX_SMALL_WORDS and keys[last] in inner_words:
            last += 1
        if last in (end, behind) or not capitals[last]:
            break
        if not all(_is_joined(words, i) for i in range(end + 1, last + 1)):
            break
        end = last + 1
    return end


def _is_joined(words: TextWords, i: int) -> bool:
    """Return whether a word may continue the name that the word before it is part of."""
    columns = words.columns
    return (
        not columns.begins[i]
        and words.text[columns.ends[i - 1] : columns.starts[i]] in _INSIDE_NAME
        and not columns.keys[i - 1].endswith(_POSSESSIVES)
    )


def _title_length(words: TextWords, first: int, titles: TitleWords) -> int:
    """Return how many words from the first on are a title; 0 if none is."""
    every, left = words.columns.keys, words.end - first
    if left < 2:
        return 0
    start = every[first], without_possessive(every[first + 1])
    for title in titles.get(start, ()):
        n = len(title)
        if n <= left:
            keys = tuple(every[first : first + n])
            if keys == title or (*keys[:-1], without_possessive(keys[-1])) == title:
                return n
    return 0
