"""The titles of a corpus as they are looked for, made of those before where few came or went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from clew.read.extract.word_columns import first_key
from clew.text.words import fold_case

MAX_TITLES = 65_536  # of which those that were looked for last are kept
MAX_CHANGED = 16  # titles for each that came or went, below which all are made anew


@dataclass(frozen=True, eq=False)
class LearntTitles:
    """Titles, and what they are found by.

    Attributes:
        titles: The titles as they are shown.
        folded: How many titles are the same with their case folded, for each such title.
        by_first: The titles by their first word.

    Example:
        >>> titles = LearntTitles.of({"The Tempest": 1, "THE TEMPEST": 2, "Emma": 1})
        >>> sorted(titles.folded), sorted(titles.beginning_with({"the", "a"}))
        (['emma', 'the tempest'], ['THE TEMPEST', 'The Tempest'])
        >>> sorted(titles.changed({"Emma": 1, "THE TEMPEST": 1, "Ulysses": 1}).folded)
        ['emma', 'the tempest', 'ulysses']
    """

    titles: frozenset[str]
    folded: Mapping[str, int]
    by_first: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, titles: Collection[str]) -> LearntTitles:
        """Return the titles with what they are found by."""
        by_first: dict[str, set[str]] = {}
        for title in titles:
            by_first.setdefault(first_key(title), set()).add(title)
        return cls(
            frozenset(titles),
            Counter(map(fold_case, titles)),
            {first: frozenset(some) for first, some in by_first.items()},
        )

    def changed(self, titles: Collection[str]) -> LearntTitles:
        """Return what `of` returns, made of these where little is new."""
        now = frozenset(titles)
        came, gone = now - self.titles, self.titles - now
        if not came and not gone:
            return self
        if MAX_CHANGED * (len(came) + len(gone)) > len(now):
            return LearntTitles.of(now)
        folded, by_first = Counter(self.folded), dict(self.by_first)
        for title in came:
            folded[fold_case(title)] += 1
            first = first_key(title)
            by_first[first] = by_first.get(first, frozenset()) | {title}
        for title in gone:
            key, first = fold_case(title), first_key(title)
            folded[key] -= 1
            if not folded[key]:
                del folded[key]
            by_first[first] -= {title}
        return LearntTitles(now, folded, by_first)

    def beginning_with(self, words: Collection[str]) -> Iterator[str]:
        """Yield the titles whose first word is one of some."""
        for word in words:
            yield from self.by_first.get(word, ())


_LAST: list[LearntTitles] = [LearntTitles.of(())]


def learnt_titles(titles: Collection[str]) -> LearntTitles:
    """Return titles with what they are found by; the next call with nearly the same takes little.

    Example:
        >>> learnt_titles(["Emma"]) is learnt_titles({"Emma": 2})
        True
    """
    made = _LAST[0].changed(titles)
    if len(made.titles) <= MAX_TITLES:
        _LAST[0] = made
    return made
