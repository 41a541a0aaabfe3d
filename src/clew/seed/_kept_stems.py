"""The stems of texts and how often each comes, kept for the texts that come again.

What is among the candidates of one question is soon among those of another. Stems are kept by
numbers, in arrays. These are counted together without a look at a word, which is mostly far away in
memory, and the garbage collector has nothing to look at in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, repeat
from typing import NamedTuple, cast

import numpy as np

from clew.algorithms.postings import CountedTerms, Postings
from clew.text.kept import MAX_KEPT_TEXT, Kept
from clew.text.numbering import ChosenNumbers, SharedNumbering
from clew.text.stems import stem_words
from clew.text.words import terms_of_all

MAX_TEXTS = 2_048  # whose stems are kept
MAX_FORMS = 65_536  # about so many words have the numbers of their stems; then all is forgotten


class StemmedText(NamedTuple):
    """A text, the language that its words are stemmed by, and terms that it has besides.

    Attributes:
        text: The text.
        language: An ISO 639-1 code, or "".
        others: The terms, such as those of its heading.
    """

    text: str
    language: str
    others: Sequence[str] = ()


class _Table:
    """Numbers for stems and for the words that have them, and texts by these numbers.

    Any thread may use it, and no lock is held, so that a fork finds none.

    Attributes:
        stems: The numbers of the stems.
        counts: The stems of texts, by the text and its language.
        n_forms: About how many words have a number.
    """

    def __init__(self) -> None:
        self.stems = SharedNumbering[str]()
        self.counts = Kept[tuple[str, str], CountedTerms](MAX_TEXTS)
        self.n_forms = 0
        self._forms: dict[str, dict[str, int]] = {}  # by language

    def count(self, texts: Sequence[Sequence[str]], language: str) -> list[CountedTerms]:
        """Return how often the stem of each term of each text comes, by the numbers of stems."""
        number_of, every = self._forms.setdefault(language, {}), list(chain.from_iterable(texts))
        numbers = np.fromiter(map(number_of.get, every, repeat(-1)), np.int32, len(every))
        missing = np.flatnonzero(numbers < 0)
        if len(missing):
            without = [every[place] for place in missing.tolist()]
            new = list(dict.fromkeys(without))
            self.n_forms += len(new)
            number_of.update(zip(new, self.stems.of(stem_words(new, language)), strict=True))
            numbers[missing] = list(map(number_of.__getitem__, without))
        return CountedTerms.of_all(numbers, list(map(len, texts)))


class KeptStems:
    """The stems of texts, found once for each.

    Args:
        max_forms: About how many words have numbers; then all is forgotten.

    Example:
        >>> texts = [StemmedText("Foxes, a fox.", "en")]
        >>> stems, postings = KeptStems().postings(texts)
        >>> dict(stems), [part.tolist() for part in postings.of_term(0)]
        ({'fox': 0, 'a': 1}, [[0], [2.0]])
    """

    def __init__(self, max_forms: int = MAX_FORMS) -> None:
        self._max_forms = max_forms
        self._table = _Table()

    def postings(self, texts: Sequence[StemmedText]) -> tuple[ChosenNumbers[str], Postings]:
        """Return the number of each stem, in the order in which they come first; and the postings.

        Args:
            texts: The texts.
        """
        table = self._table
        if table.n_forms > self._max_forms:
            self._table = table = _Table()
        counts = list(map(table.counts.get, [one[:2] for one in texts]))
        missing = [i for i, known in enumerate(counts) if known is None]
        terms = terms_of_all([texts[i].text for i in missing])
        for language in dict.fromkeys(texts[i].language for i in missing):
            own = [place for place, i in enumerate(missing) if texts[i].language == language]
            of_own = table.count([terms[place] for place in own], language)
            for place, counted in zip(own, of_own, strict=True):
                one = texts[missing[place]]
                counts[missing[place]] = counted
                if len(one.text) <= MAX_KEPT_TEXT:
                    table.counts.put(one[:2], counted)
        found = cast("list[CountedTerms]", counts)
        for i, one in enumerate(texts):
            if one.others:
                times = Counter[int]()
                for part in (found[i], *table.count([one.others], one.language)):
                    times.update(dict(zip(*(column.tolist() for column in part), strict=True)))
                found[i] = CountedTerms.of(times, times.values())
        chosen, postings = Postings.of_counts(found)
        return ChosenNumbers(table.stems, chosen), postings


KEPT_STEMS = KeptStems()
"""Those that all questions of this process share."""
