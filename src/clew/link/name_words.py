"""The words of all names as numbers, which follow a change of the names.

What a word weighs depends on all names, so edges by words are made anew after each change. What
takes longest of it does not: to read the words of each name, and to find their stems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.compressed_rows import CompressedRows
from clew.graph import (
    Graph,
    Mask,
    Ragged,
    Rows,
    canonical_text,
    first_places,
    offsets_of,
    seal,
    texts_at,
)
from clew.text.numbering import Numbering
from clew.text.stems import stem_words
from clew.text.words import BOUNDARY, SPACE_FOR_OTHERS, number_words, terms

LANGUAGE = "en"  # whose endings do not count, as the vectors of the embedded default are trained on


@dataclass(frozen=True, eq=False)
class NameWords:
    """The words of names.

    Attributes:
        stems: The number of each stem; some may be of names that are gone.
        words: The number of the stem of each word, name by name, in the order of the words.
        is_plain: bool [names], whether a name is read with many others at once. Those that are not
            come after these where stems are numbered.
        letters: int32 [names], how many letters and digits each name has.

    Example:
        >>> found = NameWords.of(["Anna Bell", "Anna Bells", "Ben"])
        >>> found.stems, found.words.values.tolist(), found.letters.tolist()
        ({'anna': 0, 'bell': 1, 'ben': 2}, [0, 1, 0, 1, 2], [8, 9, 3])
    """

    stems: Mapping[str, int]
    words: Ragged
    is_plain: Mask
    letters: Rows

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        read: Sequence[str] | None = None,
        stems: Mapping[str, int] | None = None,
    ) -> NameWords:
        """Return the words of names.

        Args:
            names: The names.
            read: What is read in the place of each; None for the names.
            stems: Stems that have a number already; None for none.
        """
        read, known = names if read is None else read, {} if stems is None else stems
        number_of = Numbering[str]({BOUNDARY: 0})
        plain = number_words(read, number_of)
        more, starts = number_of.of_lists(terms(read[i], identifiers=False) for i in plain.others)
        others = np.array(plain.others, np.int64)
        owners = np.concatenate([plain.owners, np.repeat(others, np.diff(starts))])
        found = stem_words(list(map(str.lower, number_of))[1:], LANGUAGE)  # without the boundary
        numbering = Numbering[str](known)
        stem_of = np.append(np.int32(-1), numbering.of_all(found))
        is_plain = np.ones(len(read), np.bool_)
        is_plain[others] = False
        values = stem_of[np.concatenate([plain.numbers, more])]
        if len(others):
            values = values[np.argsort(owners, kind="stable")]
        lengths = np.bincount(owners, minlength=len(read))
        return cls(
            known if len(numbering) == len(known) else numbering,
            Ragged(seal(offsets_of(lengths)), seal(values.astype(np.int32, copy=False))),
            seal(is_plain),
            seal(_letters_of(names)),
        )

    def __len__(self) -> int:
        return len(self.is_plain)

    def counts(self) -> CompressedRows:
        """Return how often each name has each stem: float64 [names, stems that there are].

        Stems have numbers in the order in which they first come, however they were numbered before.
        """
        owners, stems = self.words.owners, self.words.values
        if not self.is_plain.all():
            order = np.argsort(~self.is_plain[owners], kind="stable")
            owners, stems = owners[order], stems[order]
        firsts = first_places(stems, len(self.stems))
        there = np.flatnonzero(np.bincount(stems, minlength=len(self.stems)))
        there = there[np.argsort(firsts[there])]
        numbers = np.zeros(len(self.stems), np.int32)
        numbers[there] = np.arange(len(there), dtype=np.int32)
        return CompressedRows.counted(owners, numbers[stems], (len(self), len(there)))

    def joined(self, more: NameWords) -> NameWords:
        """Return the words of these names and more, whose stems were numbered after these."""
        return NameWords(
            more.stems,
            Ragged.join([self.words, more.words]),
            seal(np.concatenate([self.is_plain, more.is_plain])),
            seal(np.concatenate([self.letters, more.letters])),
        )

    def take(self, rows: NDArray[np.int64]) -> NameWords:
        """Return the words of some names, in their order."""
        words = self.words.take(rows)
        return replace(
            self, words=words, is_plain=seal(self.is_plain[rows]), letters=seal(self.letters[rows])
        )


@dataclass(frozen=True)
class NameWordsPart:
    """The part with the words of the entities of a graph, in the order of their rows."""

    of_texts: ClassVar[bool] = True

    def compute(self, graph: Graph) -> NameWords:
        return _words_of(graph, graph.rows("entity"))

    def grow(self, graph: Graph, base: Graph, before: NameWords) -> NameWords:
        new = np.flatnonzero(graph.kinds.mask("entity")[len(base) :]) + len(base)
        return before.joined(_words_of(graph, new, before.stems)) if len(new) else before

    def shrink(self, graph: Graph, base: Graph, stays: Mask, before: NameWords) -> NameWords:
        left = stays[base.rows("entity")]
        return before if left.all() else before.take(np.flatnonzero(left))


def _words_of(
    graph: Graph, rows: NDArray[np.integer], stems: Mapping[str, int] | None = None
) -> NameWords:
    names = texts_at(graph.texts, rows.tolist())
    if graph.canonical is None:
        return NameWords.of(names, stems=stems)
    return NameWords.of(names, [canonical_text(graph, name) for name in names], stems)


def _letters_of(names: Sequence[str]) -> Rows:
    """Return how many letters and digits each name has: int32 [names]."""
    others = [i for i, name in enumerate(names) if not name.isascii()]
    plain = names if not others else [name if name.isascii() else "" for name in names]
    spaced = "".join(plain).translate(SPACE_FOR_OTHERS).encode("ascii")
    before = offsets_of(np.frombuffer(spaced, np.uint8) != ord(" "))
    ends = before[offsets_of(list(map(len, plain)))]
    letters = (ends[1:] - ends[:-1]).astype(np.int32)
    letters[others] = [sum(map(str.isalnum, names[i])) for i in others]
    return letters
