"""Names in scripts without capitals: titles of documents, and words that are rare and yet seen in several passages.

Where words stand between spaces (Arabic, Hebrew, Hindi ...) the corpus tells names from the rest by how often they come back: in two
passages, but in few. Where they do not (Chinese, Japanese, Thai ...) only titles and runs of katakana are found, beside what is quoted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from clew.read.extract.mentions import Word
from clew.read.extract.relations import Mention
from clew.text.words import IDEOGRAPHS

UNSPACED = re.compile(rf"[{IDEOGRAPHS}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")
KATAKANA = re.compile("[\u30a1-\u30faー][\u30a1-\u30faー・]+")
OFTEN = 0.05  # share of the passages beyond which a word without capitals is no name


def is_caseless(text: str, word: Word) -> bool:
    """Return whether a word is written in letters that have no capitals."""
    letter = text[word.start]
    return letter.isalpha() and letter.lower() == letter.upper()


def without_unspaced(text: str) -> str:
    """Return the text, as long as it was, with wide spaces in the place of scripts that put none between words."""
    return text if text.isascii() else UNSPACED.sub(lambda run: "\u3000" * len(run[0]), text)


def unspaced_titles(titles: Sequence[str]) -> dict[str, list[str]]:
    """Return the titles in scripts without spaces by their first two letters; the longest first."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for title in titles:
        if not title.isascii() and len(title) > 1 and UNSPACED.match(title):
            found[title[:2]].add(title)
    return {
        start: sorted(some, key=lambda title: (-len(title), title)) for start, some in found.items()
    }


def unspaced_mentions(
    text: str, start: int, titles: Mapping[str, Sequence[str]]
) -> Iterator[Mention]:
    """Yield titles, and runs of katakana, in what is written without spaces."""
    if text.isascii():
        return
    for run in UNSPACED.finditer(text, start):
        sentence = max(text.rfind(sign, start, run.start()) for sign in "\n。！？") + 1
        i = run.start()
        while i < run.end():
            title = next(
                (title for title in titles.get(text[i : i + 2], ()) if text.startswith(title, i)),
                None,
            )
            kana = KATAKANA.match(text, i, run.end()) if title is None else None
            name = title or (kana[0] if kana else "")
            if name:
                yield Mention(name, i, i + len(name), max(sentence, start))
            i += max(1, len(name))


def spaced_mentions(
    texts: Sequence[str], words: Sequence[Sequence[Word]], titles: Collection[str]
) -> list[list[Mention]]:
    """Return, for every text, the caseless words that are in two passages at least and in few, joined where they come back joined.

    Args:
        words: the caseless ones of every text. titles: casefolded; a word that is one is a name however often it comes.
    """
    alone, joined = Counter[str](), Counter[tuple[str, str]]()
    for some in words:
        alone.update({word.key for word in some})
        joined.update(
            {(a.key, b.key) for a, b in pairwise(some) if b.start == a.end + 1 and not b.begins}
        )
    most = max(2, int(OFTEN * len(texts)))
    found: list[list[Mention]] = []
    for text, some in zip(texts, words, strict=True):
        mentions: list[Mention] = []
        last: Word | None = None
        for word in some:
            if word.key not in titles and (not 2 <= alone[word.key] <= most or len(word.key) < 2):
                last = None
                continue
            if (
                last is not None
                and word.start == last.end + 1
                and not word.begins
                and joined[last.key, word.key] >= 2
            ):
                before = mentions.pop()
                mentions.append(
                    Mention(text[before.start : word.end], before.start, word.end, before.sentence)
                )
            else:
                mentions.append(
                    Mention(text[word.start : word.end], word.start, word.end, word.sentence)
                )
            last = word
        found.append(mentions)
    return found
