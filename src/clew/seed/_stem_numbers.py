"""Numbers for the stems of many texts, of which each distinct run of signs is read once.

A run is what stands between signs that are in no word and in no name of code, such as `read_path`.
All terms of a plain text are those of its runs, and a corpus has few distinct ones: texts are split
and their runs are numbered, and all else is done on arrays.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from clew.graph import EMPTY, expand_ranges
from clew.text.numbering import GrownNumbers, Numbering
from clew.text.stems import stem_words
from clew.text.words import BOUNDARY, number_runs, terms_of_run


class Forms(dict[str, int]):
    """The number of the stem of each term in a language; a new stem gets the next number.

    Args:
        language: The code of the language.
        stems: Every stem and its number; those of all languages are numbered together.
        known: The numbers of the stems of terms.
    """

    def __init__(
        self,
        language: str,
        stems: dict[str, int] | GrownNumbers[str],
        known: Mapping[str, int] = EMPTY,
    ) -> None:
        super().__init__(known)
        self._language, self._stems = language, stems

    def number(self, terms: Iterable[str]) -> None:
        """Give the stems of terms their numbers, in the order in which these come."""
        stems = self._stems
        new = [term for term in dict.fromkeys(terms) if term not in self]
        for term, stem in zip(new, stem_words(new, self._language), strict=True):
            self[term] = stems.setdefault(stem, len(stems))

    def numbers_of(self, lists: Sequence[Sequence[str]]) -> Iterator[list[int]]:
        """Yield the numbers of the stems of the terms in each list."""
        self.number(chain.from_iterable(lists))
        return (list(map(self.__getitem__, terms)) for terms in lists)


class RunStems:
    """The numbers of the stems of texts in one language.

    Args:
        forms: Those of its terms, to which new ones are added.
        terms_of_all: Returns the terms of texts that are not plain.

    Example:
        >>> forms, terms = Forms("en", {}), lambda texts: [text.split() for text in texts]
        >>> numbers, owners = RunStems(forms, terms).numbers_of(["Read read_path.", "the paths"])
        >>> numbers.tolist(), owners.tolist()
        ([0, 0, 1, 2, 3, 1], [0, 0, 0, 0, 1, 1])
        >>> dict(forms)
        {'read': 0, 'path': 1, 'read_path': 2, 'the': 3, 'paths': 1}
    """

    def __init__(
        self, forms: Forms, terms_of_all: Callable[[Sequence[str]], Sequence[Sequence[str]]]
    ) -> None:
        self._forms, self._terms_of_all = forms, terms_of_all
        self._runs = Numbering[str]({BOUNDARY: 0})
        # The stems of each run, one after the other, and where they end; a boundary has none.
        self._stems, self._ends = array("i"), array("q", [0, 0])

    def numbers_of(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the numbers of all stems, and the place of the text that has each.

        Stems get their numbers in the order in which `clew.text.words.terms` has their terms, text
        by text.

        Args:
            texts: The texts.
        """
        before = len(self._runs)
        runs, owners, others = number_runs(texts, self._runs)
        # A run comes first where no number so large has come before.
        new_at = np.searchsorted(np.maximum.accumulate(runs), range(before, len(self._runs)))
        found = self._terms_of_all([texts[i] for i in others])
        terms_of: dict[int, Sequence[str]] = dict(zip(others, found, strict=True))
        self._read(islice(self._runs, before, None), owners[new_at].tolist(), terms_of)
        stems, owners = self._expanded(runs, owners)
        if not terms_of:
            return stems, owners
        more = array("i", map(self._forms.__getitem__, chain.from_iterable(terms_of.values())))
        places, lengths = np.array(others, np.int32), list(map(len, terms_of.values()))
        return (
            np.concatenate([stems, np.array(more, np.int32)]),
            np.concatenate([owners, np.repeat(places, lengths)]),
        )

    def _read(
        self, runs: Iterable[str], texts: Sequence[int], terms_of: Mapping[int, Sequence[str]]
    ) -> None:
        """Give the terms of new runs and of other texts the numbers of their stems.

        Args:
            runs: The runs.
            texts: The text that each comes in first, ascending.
            terms_of: The terms of texts that have no runs.
        """
        read, ends = list[str](), list[int]()  # the terms of the runs, one after the other
        of_texts = dict[int, Sequence[str]](terms_of)
        for text, group in groupby(zip(texts, runs, strict=True), itemgetter(0)):
            words, names = list[str](), list[str]()
            for _, run in group:
                if "_" not in run and (run.islower() or run.istitle()):  # as most: a word
                    word = run.lower()
                    words.append(word)
                    read.append(word)
                else:
                    own_words, own_names = terms_of_run(run)
                    words += own_words
                    names += own_names
                    read += own_words
                    read += own_names
                ends.append(len(read))
            of_texts[text] = words + names
        forms, before = self._forms, len(self._stems)
        forms.number(chain.from_iterable(map(of_texts.__getitem__, sorted(of_texts))))
        self._stems.extend(map(forms.__getitem__, read))
        self._ends.extend([before + end for end in ends])

    def _expanded(
        self, runs: NDArray[np.int32], owners: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the stems of runs, and the text that has each.

        Args:
            runs: The numbers of the runs of all texts.
            owners: The text that has each.
        """
        ends = np.frombuffer(self._ends, np.int64)  # no array grows while these look at it
        lengths = np.diff(ends)[runs]
        stems = np.frombuffer(self._stems, np.int32)[expand_ranges(ends[runs], lengths)]
        return stems, np.repeat(owners, lengths)
