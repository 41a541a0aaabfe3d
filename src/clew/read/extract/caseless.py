"""Names in scripts without capitals: titles, and words that are rare but come back.

Where words are separated by spaces (Arabic, Hebrew, Hindi ...), the corpus tells names from other
words by how often they come: in at least two passages, but in few. Where they are not (Chinese,
Japanese, Thai ...), only titles and runs of katakana are found, beside what is quoted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from clew.read.extract.relations import Mention
from clew.read.extract.word_columns import TextWords, Word
from clew.text.words import IDEOGRAPHS, OTHER_SCRIPT

_KATAKANA = re.compile("[\u30a1-\u30faー][\u30a1-\u30faー・]+")
ASCII = "\x7f"  # the last sign that is
_WIDE_SPACE = "\u3000"
MAX_SHARE = 0.05  # of the passages that may have a word without capitals that is a name
MIN_JOINED = 2  # times that two words come together in the name that they form


def caseless_words(words: TextWords) -> list[Word]:
    """Return the words that are written in letters that have no capitals."""
    text, starts = words.text, words.columns.starts
    if text.isascii():
        return []
    numbers = range(words.first, words.end)
    letters = [(i, text[starts[i]]) for i in numbers if text[starts[i]] > ASCII]
    return [
        words.columns.word(i)
        for i, letter in letters
        if letter.isalpha() and letter.lower() == letter.upper()
    ]


def blank_unspaced(text: str) -> str:
    """Return the text with wide spaces for scripts that put none between words; as long as before.

    Example:
        >>> len(blank_unspaced("Soseki 夏目")), blank_unspaced("Soseki 夏目").split()
        (9, ['Soseki'])
    """
    return text if text.isascii() else _unspaced().sub(lambda run: _WIDE_SPACE * len(run[0]), text)


@lru_cache(maxsize=1)
def _unspaced() -> re.Pattern[str]:
    """The pattern of a run of letters in scripts without spaces, which most texts have not."""
    return re.compile(rf"[{IDEOGRAPHS}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")


def group_unspaced_titles(titles: Sequence[str]) -> dict[str, list[str]]:
    """Return the titles in scripts without spaces by their first two letters, the longest first."""
    by_start: defaultdict[str, set[str]] = defaultdict(set)
    for title in titles:
        if title.isascii() or len(title) < 2 or not OTHER_SCRIPT.match(title):  # as most are
            continue
        if _unspaced().match(title):
            by_start[title[:2]].add(title)
    return {
        start: sorted(group, key=lambda title: (-len(title), title))
        for start, group in by_start.items()
    }


def find_unspaced_mentions(
    text: str, start: int, titles: Mapping[str, Sequence[str]]
) -> Iterator[Mention]:
    """Yield titles and runs of katakana in scripts without spaces.

    Args:
        text: The text.
        start: Where to begin.
        titles: What `group_unspaced_titles` returns.
    """
    if text.isascii():
        return
    for run in _unspaced().finditer(text, start):
        sentence = max(text.rfind(sign, start, run.start()) for sign in "\n。！？") + 1
        i = run.start()
        while i < run.end():
            candidates = titles.get(text[i : i + 2], ())
            name = next((title for title in candidates if text.startswith(title, i)), "")
            if not name and (katakana := _KATAKANA.match(text, i, run.end())):
                name = katakana[0]
            if name:
                yield Mention(name, i, i + len(name), max(sentence, start))
            i += max(1, len(name))


def keys_of_pairs(words: Sequence[Word]) -> set[str]:
    """Return the pairs of neighbours among the caseless words of a text, as "first second"."""
    return {f"{a.key} {b.key}" for a, b in pairwise(words) if _adjoins(a, b)}


def find_spaced_mentions(
    text: str, words: Sequence[Word], names: Collection[str], pairs: Mapping[str, int]
) -> list[Mention]:
    """Return the names among the caseless words of a text, neighbours as one where they come back.

    Args:
        text: The text.
        words: Its caseless words.
        names: The keys that are names.
        pairs: In how many texts two words come together, as `keys_of_pairs` has them.
    """
    mentions: list[Mention] = []
    last: Word | None = None
    for word in words:
        if word.key not in names:
            last = None
            continue
        start, sentence = word.start, word.sentence
        if (
            last is not None
            and _adjoins(last, word)
            and pairs.get(f"{last.key} {word.key}", 0) >= MIN_JOINED
        ):
            before = mentions.pop()
            start, sentence = before.start, before.sentence
        mentions.append(Mention(text[start : word.end], start, word.end, sentence))
        last = word
    return mentions


def is_spaced_name(key: str, passages_with: Mapping[str, int], n_passages: int) -> bool:
    """Return whether a caseless word is a name: at least two passages have it, but few.

    Args:
        key: The word.
        passages_with: The number of passages that have each word.
        n_passages: The number of all passages.
    """
    max_passages = max(2, int(MAX_SHARE * n_passages))
    return len(key) > 1 and 2 <= passages_with.get(key, 0) <= max_passages


def _adjoins(first: Word, second: Word) -> bool:
    """Return whether only one space is between two words of one sentence."""
    return second.start == first.end + 1 and not second.begins
