"""Postings: the texts that have each term, and how often; texts come and go without counting anew.

As in Lucene, postings are a list of immutable segments. Texts that are added are a new small
segment. Small neighbours are merged, so that a corpus has a number of segments that grows with the
logarithm of its size (O'Neil et al., "The log-structured merge-tree", 1996). Every number that a
score depends on is a sum over segments, so that scores are those of texts counted all at once.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.compressed_rows import CompressedRows, Slots
from clew.algorithms.kernels.postings import add_constant, add_term, add_to_groups
from clew.graph import (
    Floats,
    Mask,
    Rows,
    Vectors,
    expand_ranges,
    first_places,
    freeze,
    offsets_of,
)

MAX_SHORT = 1 << 16  # numbers of 16 bits
BLOCK = 2**20  # postings that are added up at once, of 16 bytes each
TOGETHER = 64  # texts whose terms are counted at once: of more there are too many pairs
MERGED_BELOW = 4  # a segment is merged with the one before that has at most so many times its size


class CountedTerms(NamedTuple):
    """The terms of a text, each once, and how often each comes.

    Attributes:
        terms: int32 [m], by their numbers, in the order in which they come first.
        counts: float32 [m].
    """

    terms: NDArray[np.int32]
    counts: NDArray[np.float32]

    @classmethod
    def of(cls, terms: Collection[int], counts: Collection[int]) -> CountedTerms:
        """Return these terms and counts as arrays."""
        n = len(terms)
        return cls(np.fromiter(terms, np.int32, n), np.fromiter(counts, np.float32, n))

    @classmethod
    def of_all(cls, terms: NDArray[np.int32], lengths: Sequence[int]) -> list[CountedTerms]:
        """Return the terms of several texts, counted together.

        Args:
            terms: int32 [n], the terms of all texts as they come, one text after the other.
            lengths: how many each text has.

        Example:
            >>> counted = CountedTerms.of_all(np.array([7, 3, 7, 3], np.int32), [3, 0, 1])
            >>> [(text.terms.tolist(), text.counts.tolist()) for text in counted]
            [([7, 3], [2.0, 1.0]), ([], []), ([3], [1.0])]
        """
        found, ends = list[CountedTerms](), np.cumsum([0, *lengths]).tolist()
        for first in range(0, len(lengths), TOGETHER):
            some = lengths[first : first + TOGETHER]
            own = terms[ends[first] : ends[first + len(some)]]
            numbers, distinct = _renumbered(own)
            owners = np.repeat(np.arange(len(some)), some)
            pairs = owners * len(distinct) + numbers
            counts = np.bincount(pairs)
            is_first = first_places(pairs, len(counts))[pairs] == np.arange(len(pairs))
            bounds = np.flatnonzero(is_first).searchsorted(np.cumsum([0, *some])).tolist()
            chosen, often = own[is_first], counts[pairs[is_first]].astype(np.float32)
            found += [cls(chosen[a:b], often[a:b]) for a, b in pairwise(bounds)]
        return found


class _ScoredTexts:
    """What BM25 needs to know of texts besides their terms."""

    def __len__(self) -> int:
        raise NotImplementedError

    @cached_property
    def lengths(self) -> Floats:
        """The number of terms of every text: float64 [n]."""
        raise NotImplementedError

    def idf(self, frequency: int) -> float:
        """Return the weight of a term that so many texts have, in Lucene's form."""
        return math.log1p((len(self) - frequency + 0.5) / (frequency + 0.5))

    def _norms(self, k1: float, b: float) -> Floats:
        """Return what marks long texts down, computed once for the parameters of all questions."""
        norms = self._known_norms.get((k1, b))
        if norms is None:
            norms = k1 * (1 - b + b * self.lengths / max(self._mean_length, 1e-300))
            self._known_norms.clear()  # an experiment may try many
            self._known_norms[k1, b] = norms
        return norms

    @cached_property
    def _known_norms(self) -> dict[tuple[float, float], Floats]:
        return {}

    @cached_property
    def _mean_length(self) -> float:
        return float(self.lengths.mean()) if len(self) else 0.0


@dataclass(frozen=True, eq=False)
class Postings(_ScoredTexts):
    """How often each of n texts has each term. Terms are numbered by the caller.

    Attributes:
        segments: matrices [terms, texts of the segment], one beside the other. A segment knows the
            terms that were numbered when it was made; it has no later one.

    Example:
        >>> postings = Postings.of([[0, 1, 1], [2]])
        >>> more = postings.with_texts([[1, 3]])
        >>> len(more), more.texts_with(1).tolist(), more.with_only(np.array([False, True, True]))
        (3, [0, 2], Postings(2 texts, 3 postings))
    """

    segments: tuple[CompressedRows, ...]

    @classmethod
    def of(cls, texts: Iterable[Sequence[int]]) -> Postings:
        """Return the postings of texts that are given as the numbers of their terms."""
        return cls((_counted(texts),))

    @classmethod
    def of_counts(cls, texts: Sequence[CountedTerms]) -> tuple[NDArray[np.int32], Postings]:
        """Return the postings of a few texts that say how often each term comes.

        Args:
            texts: the terms that each has, each once, by numbers of any order, and how often.

        Returns:
            The terms in the order in which they come first, which is that of their numbers in the
            postings: int32 [terms]; and the postings.

        Example:
            >>> sea, isle = 7, 3
            >>> texts = [CountedTerms.of([sea], [2]), CountedTerms.of([isle, sea], [1, 1])]
            >>> terms, postings = Postings.of_counts(texts)
            >>> terms.tolist(), [part.tolist() for part in postings.of_term(0)]
            ([7, 3], [[0, 1], [2.0, 1.0]])
        """
        lengths = np.fromiter([len(own.terms) for own in texts], np.int64, len(texts))
        every = np.concatenate([np.zeros(0, np.int32), *(own.terms for own in texts)])
        counts = np.concatenate([np.zeros(0, np.float32), *(own.counts for own in texts)])
        terms, distinct = _renumbered(every)
        if len(distinct) <= MAX_SHORT:
            terms = terms.astype(np.uint16)  # short numbers are sorted by their digits
        order = np.argsort(terms, kind="stable")  # the texts of a term ascend already
        owners = np.repeat(np.arange(len(texts), dtype=np.int32), lengths)
        starts = offsets_of(np.bincount(terms, minlength=len(distinct)))
        return distinct, cls((CompressedRows(starts, owners[order], counts[order], len(texts)),))

    @classmethod
    def of_pairs(cls, terms: NDArray[np.int32], texts: NDArray[np.int32], n_texts: int) -> Postings:
        """Return the postings of texts of which every term is given with its text, in any order.

        Args:
            terms: int32 [m], the numbers of the terms.
            texts: int32 [m], the text that has each.
            n_texts: the number of texts.

        Example:
            >>> postings = Postings.of_pairs(np.array([0, 1, 1]), np.array([0, 1, 0]), 2)
            >>> postings.texts_with(1).tolist()
            [0, 1]
        """
        shape = int(terms.max(initial=-1)) + 1, n_texts
        return cls((CompressedRows.counted(terms, texts, shape, np.float32),))

    @classmethod
    def of_parts(cls, parts: Iterable[Postings]) -> Postings:
        """Return the postings of the texts of all parts, one part after the other, as one segment.

        Args:
            parts: the postings of some texts each; there is at least one.

        Example:
            >>> parts = [Postings.of([[0, 1]]), Postings.of([[1], [0]])]
            >>> joined = Postings.of_parts(parts)
            >>> joined.texts_with(0).tolist(), joined.texts_with(1).tolist()
            ([0, 2], [0, 1])
        """
        return cls((_stacked([segment for part in parts for segment in part.segments]),))

    @classmethod
    def of_arrays(
        cls, starts: Slots, texts: Rows, counts: NDArray[Any], n_texts: int, n_terms: int
    ) -> Postings:
        """Return the postings whose `arrays` these are.

        Args:
            starts: int [n_terms + 1].
            texts: int [m], each at most once for a term, ascending.
            counts: [m], at least 1.
            n_texts: the number of texts.
            n_terms: the number of terms.

        Raises:
            ValueError: The arrays are not those of so many texts and terms.
        """
        if (
            starts.shape != (n_terms + 1,)
            or texts.shape != counts.shape
            or starts[0] != 0
            or starts[-1] != len(texts)
            or (np.diff(starts) < 0).any()
            or (len(texts) and not 0 <= texts.min() <= texts.max() < n_texts)
            or (counts < 1).any()
        ):
            raise ValueError(f"the postings are not those of {n_texts} texts and {n_terms} terms")
        rises = np.diff(texts, prepend=-1) > 0
        rises[starts[:-1][starts[:-1] < len(texts)]] = True
        if not rises.all():
            raise ValueError("the texts that have a term do not ascend")
        parts = starts.astype(np.int64), texts.astype(np.int32), counts.astype(np.float32)
        return cls((CompressedRows(*parts, n_texts),))

    def arrays(self, n_terms: int) -> tuple[Slots, Rows, Vectors]:
        """Return where the postings of every term start, their texts, and how often these have it.

        Args:
            n_terms: the number of terms.
        """
        whole = _stacked(self.segments)
        after = np.full(n_terms - len(whole), len(whole.columns))
        return np.concatenate([whole.starts, after]), whole.columns, whole.values

    def __len__(self) -> int:
        return sum(segment.width for segment in self.segments)

    def __repr__(self) -> str:
        postings = sum(len(segment.columns) for segment in self.segments)
        return f"Postings({len(self):,} texts, {postings:,} postings)"

    @cached_property
    def lengths(self) -> Floats:
        """The number of terms of every text: float64 [n]."""
        parts = [np.zeros(segment.width) for segment in self.segments]
        for part, segment in zip(parts, self.segments, strict=True):
            for start in range(0, len(segment.columns), BLOCK):
                some = slice(start, start + BLOCK)
                part += np.bincount(segment.columns[some], segment.values[some], len(part))
        lengths: Floats = freeze(np.concatenate(parts), np.float64)
        return lengths

    def has(self, term: int) -> bool:
        """Return whether a text has a term."""
        return any(True for _ in self.found(term))

    def frequency(self, term: int) -> int:
        """Return how many texts have a term, of all that its idf is counted in."""
        return sum(end - start for _, start, end, _ in self.found(term))

    def texts_with(self, term: int) -> Rows:
        """Return the texts that have a term, ascending."""
        found = [texts for texts, _ in self._postings(term)]
        return freeze(np.concatenate([[], *found]), np.int32)

    def of_term(self, term: int) -> tuple[Rows, Floats]:
        """Return the texts that have a term, int32 ascending, and how often each has it."""
        found = list(self._postings(term))
        texts = np.concatenate([np.zeros(0, np.int32), *(texts for texts, _ in found)])
        counts = np.concatenate([np.zeros(0), *(counts for _, counts in found)])
        return freeze(texts, np.int32), freeze(counts, np.float64)

    def bm25(self, weights: Mapping[int, float], k1: float, b: float) -> Floats:
        """Return the score of every text by BM25, in Lucene's form: float64 [n].

        Args:
            weights: the terms of a question, and how often each counts.
            k1: how much a repeated term adds, >= 0.
            b: how far long texts are marked down, in [0, 1].
        """
        scores = np.zeros(len(self))
        norms = self._norms(k1, b)
        for term, weight in weights.items():
            found = list(self.found(term))
            idf = np.float32(weight * self.idf(sum(end - start for _, start, end, _ in found)))
            for segment, start, end, first in found:
                parts = segment.columns, segment.values, start, end
                add_term(scores[first:], *parts, norms[first:], idf)
        return scores

    def covered(self, terms: Iterable[int]) -> tuple[Floats, float]:
        """Return how much of some terms every text has: the sum of their idf, float64 [n].

        Args:
            terms: the terms, each once.

        Returns:
            The sums, and the sum over all the terms.

        Example:
            >>> sums, total = Postings.of([[0, 1, 1], [1]]).covered([0, 1])
            >>> (sums / total).round(2).tolist()
            [1.0, 0.21]
        """
        sums, total = np.zeros(len(self)), 0.0
        for term in terms:
            found = list(self.found(term))
            idf = self.idf(sum(end - start for _, start, end, _ in found))
            for segment, start, end, first in found:
                add_constant(sums[first:], segment.columns, start, end, idf)
            total += idf
        return sums, total

    def with_texts(self, texts: Iterable[Sequence[int]]) -> Postings:
        """Return the postings of these texts too, which come after the others."""
        came = Postings((_counted(texts),))
        segments = [*self.segments, *came.segments]
        while len(segments) > 1 and segments[-2].width <= MERGED_BELOW * segments[-1].width:
            segments[-2:] = [_stacked(segments[-2:])]
        more = Postings(tuple(segments))
        if "lengths" in self.__dict__:
            more.__dict__["lengths"] = freeze(np.append(self.lengths, came.lengths), np.float64)
        return more

    def with_only(self, stays: Mask) -> Postings:
        """Return the postings of the texts that stay, renumbered.

        Args:
            stays: bool [n].
        """
        starts = offsets_of([segment.width for segment in self.segments])
        left = [
            segment if stays[start:end].all() else segment.with_columns(stays[start:end])
            for segment, start, end in zip(self.segments, starts[:-1], starts[1:], strict=True)
        ]
        fewer = Postings(tuple(segment for segment in left if segment.width) or (left[0],))
        if "lengths" in self.__dict__:
            fewer.__dict__["lengths"] = freeze(self.lengths[stays], np.float64)
        return fewer

    def grouped(self, groups: NDArray[np.int64], n: int) -> GroupedPostings:
        """Return the postings of groups of texts, each as if its texts were one.

        Args:
            groups: int64 [texts], the group of each text, from 0 to n - 1.
            n: the number of groups.

        Example:
            >>> postings = Postings.of([[0], [1], [0, 1]]).grouped(np.array([0, 1, 0]), 2)
            >>> postings.of_term(1)[0].tolist(), postings.lengths.tolist()
            ([0, 1], [3.0, 1.0])
        """
        return GroupedPostings(self, groups, n)

    def _postings(self, term: int) -> Iterable[tuple[Rows, Vectors]]:
        """Yield the texts that have a term, and how often, segment by segment."""
        for segment, start, end, first in self.found(term):
            yield segment.columns[start:end] + first, segment.values[start:end]

    def found(self, term: int) -> Iterator[tuple[CompressedRows, int, int, int]]:
        """Yield each segment that has a term, its run of postings, and the segment's first text."""
        first = 0
        for segment in self.segments:
            if term < len(segment):
                start, end = segment.starts[term : term + 2].tolist()
                if end > start:
                    yield segment, start, end, first
            first += segment.width


@dataclass(frozen=True, eq=False)
class GroupedPostings(_ScoredTexts):
    """The postings of groups of texts, each as if its texts were one.

    The postings of a term are added up when a question has it: a question has few, and to add all
    of them up takes longer than all else that a changed index has to find out again.

    Attributes:
        postings: those of the texts.
        groups: int64 [texts], the group of each text.
        n: the number of groups.
    """

    postings: Postings
    groups: NDArray[np.int64]
    n: int

    def __len__(self) -> int:
        return self.n

    @cached_property
    def lengths(self) -> Floats:
        """The number of terms of every group: float64 [n]."""
        lengths = np.bincount(self.groups, self.postings.lengths, self.n)
        return freeze(lengths, np.float64)

    def of_term(self, term: int) -> tuple[Rows, Vectors]:
        """Return the groups that have a term, int32 ascending, and how often, float32."""
        sums = np.zeros(self.n, np.float32)
        for segment, start, end, first in self.postings.found(term):
            run = segment.columns, segment.values, start, end
            add_to_groups(sums, self.groups[first:], *run)
        found = np.flatnonzero(sums).astype(np.int32)
        return found, sums[found]

    def bm25(self, weights: Mapping[int, float], k1: float, b: float) -> Floats:
        """Return the score of every group by BM25, as `Postings.bm25` does: float64 [n]."""
        scores = np.zeros(self.n)
        norms = self._norms(k1, b)
        for term, weight in weights.items():
            groups, counts = self.of_term(term)
            idf = np.float32(weight * self.idf(len(groups)))
            add_term(scores, groups, counts, 0, len(groups), norms, idf)
        return scores


def _renumbered(
    numbers: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return new numbers in the order in which they come first, and the old number of each."""
    first_of_each = first_places(numbers, int(numbers.max(initial=-1)) + 1)[numbers]
    is_first = first_of_each == np.arange(len(numbers))
    return (np.cumsum(is_first) - 1)[first_of_each], numbers[is_first]


def _counted(texts: Iterable[Sequence[int]]) -> CompressedRows:
    """Return how often each text has each term; the texts may be made one by one."""
    numbers, lengths = array("i"), array("i")
    for text in texts:
        numbers.extend(text)
        lengths.append(len(text))
    owners = np.repeat(np.arange(len(lengths), dtype=np.int32), np.array(lengths, np.int32))
    return Postings.of_pairs(np.array(numbers, np.int32), owners, len(lengths)).segments[0]


def _stacked(segments: Sequence[CompressedRows]) -> CompressedRows:
    """Return one segment beside the other, as one.

    Every term's postings are put behind those of the segments before: nothing is sorted.
    """
    if len(segments) == 1:
        return segments[0]
    lengths = np.zeros(max(map(len, segments)), np.int64)
    for segment in segments:
        lengths[: len(segment)] += segment.lengths
    starts, width = offsets_of(lengths), 0
    columns, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    free = starts[:-1].copy()  # where the next posting of each term comes
    for segment in segments:
        own = segment.lengths
        slots = expand_ranges(free[: len(segment)], own)
        columns[slots] = segment.columns + np.int32(width)
        values[slots] = segment.values
        free[: len(segment)] += own
        width += segment.width
    return CompressedRows(starts, columns, values, width)
