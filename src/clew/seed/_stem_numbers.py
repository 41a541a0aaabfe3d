"""Numbers for the stems of many texts, of which each distinct run of signs is read once.

A run is what stands between signs that are in no word and in no name of code, such as `read_path`.
All terms of a plain text are those of its runs, and a corpus has few distinct ones: a text is split
and its runs are numbered, and all else is done on arrays.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.graph import EMPTY, expand_ranges, offsets_of
from clew.text.stems import stem_words
from clew.text.words import runs_of, terms_of_run


class Forms(dict[str, int]):
    """The number of the stem of each term in a language; a new stem gets the next number.

    Args:
        language: The code of the language.
        stems: Every stem and its number; those of all languages are numbered together.
        known: The numbers of the stems of terms.
    """

    def __init__(
        self, language: str, stems: dict[str, int], known: Mapping[str, int] = EMPTY
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


class SearchedText(NamedTuple):
    """A text and what it is found by beside its own terms.

    Attributes:
        text: The text.
        heading: The terms of its heading, which are those of many texts; None for none.
        n: How often these count once more.
    """

    text: str
    heading: tuple[str, ...] | None = None
    n: int = 0


class RunStems:
    """The numbers of the stems of texts in one language.

    Args:
        forms: Those of its terms, to which new ones are added.
        terms_of_all: Returns the terms of texts that are not plain.

    Example:
        >>> forms, terms = Forms("en", {}), lambda texts: [text.split() for text in texts]
        >>> texts = [SearchedText("Read read_path.", ("paths",), 2), SearchedText("the path")]
        >>> numbers, owners = RunStems(forms, terms).numbers_of(texts)
        >>> numbers.tolist(), owners.tolist()
        ([0, 0, 1, 2, 1, 1, 3, 1], [0, 0, 0, 0, 0, 0, 1, 1])
        >>> dict(forms)
        {'read': 0, 'path': 1, 'read_path': 2, 'paths': 1, 'the': 3}
    """

    def __init__(
        self, forms: Forms, terms_of_all: Callable[[Sequence[str]], Sequence[Sequence[str]]]
    ) -> None:
        self._forms, self._terms_of_all = forms, terms_of_all
        self._runs = _Runs()
        self._stems, self._ends = array("i"), array("q", [0])  # of each run, one after the other

    def numbers_of(
        self, texts: Sequence[SearchedText]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the numbers of all stems, and the place of the text that has each.

        Stems get their numbers in the order in which `clew.text.words.terms` has their terms, text
        by text, a text's heading last.

        Args:
            texts: The texts.
        """
        runs, numbers, ends = self._runs, array("i"), [0]
        come = list[str]()  # terms, some of which have no number yet
        read, read_ends = list[str](), list[int]()  # the terms of new runs, one after the other
        others = [i for i, one in enumerate(texts) if not one.text.isascii()]
        found = self._terms_of_all([texts[i].text for i in others])
        terms_of = dict(zip(others, found, strict=True))
        for i, (text, heading, n) in enumerate(texts):
            own = None if i in terms_of else runs_of(text)
            if own is None:
                if i not in terms_of:
                    (terms_of[i],) = self._terms_of_all([text])
                come += terms_of[i]
            else:
                numbers.extend(map(runs.__getitem__, own))
                names_of_new = list[str]()
                for run in runs.take_new():
                    words, names = terms_of_run(run)
                    come += words
                    names_of_new += names
                    read += words
                    read += names
                    read_ends.append(len(read))
                come += names_of_new
            if heading is not None and n:
                numbers.extend([runs[heading]] * n)
                if runs.take_new():
                    come += heading
                    read += heading
                    read_ends.append(len(read))
            ends.append(len(numbers))
        forms, before = self._forms, len(self._stems)
        forms.number(come)
        self._stems.extend(map(forms.__getitem__, read))
        self._ends.extend([before + end for end in read_ends])
        stems, owners = self._expanded(np.array(numbers, np.int32), np.diff(ends))
        if not terms_of:
            return stems, owners
        more = array("i", map(forms.__getitem__, chain.from_iterable(terms_of.values())))
        lengths = list(map(len, terms_of.values()))
        places = np.array(list(terms_of), np.int32)
        return (
            np.concatenate([stems, np.array(more, np.int32)]),
            np.concatenate([owners, np.repeat(places, lengths)]),
        )

    def _expanded(
        self, runs: NDArray[np.int32], n_runs: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the stems of runs, and the place of the text that has each.

        Args:
            runs: The numbers of the runs of all texts.
            n_runs: How many each text has.
        """
        ends = np.frombuffer(self._ends, np.int64)  # no array grows while these look at it
        lengths = np.diff(ends)[runs]
        stems = np.frombuffer(self._stems, np.int32)[expand_ranges(ends[runs], lengths)]
        behind = offsets_of(lengths)[offsets_of(n_runs)]
        return stems, np.repeat(np.arange(len(n_runs), dtype=np.int32), np.diff(behind))


class _Runs(dict[str | tuple[str, ...], int]):
    """The numbers of runs, and of headings by their terms; those that are new wait to be read."""

    def __init__(self) -> None:
        super().__init__()
        self.new = list[str]()

    def __missing__(self, run: str | tuple[str, ...]) -> int:
        number = self[run] = len(self)
        self.new.append(run if isinstance(run, str) else "")
        return number

    def take_new(self) -> list[str]:
        """Return the runs that came since the last time."""
        if not self.new:
            return self.new
        taken, self.new = self.new, []
        return taken
