"""What the words of texts contribute to their vectors, kept for the texts that come next.

Where no corpus weights the words, what a word contributes depends on itself alone: the pieces that
it consists of, and the signature and the weight of its term. So these are looked up, and a text of
known words is counted and added up by arrays. The sums are those of `StaticEmbedding`, in another
order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.kernels.bag_vectors import bag_vectors, centre_rows
from clew.algorithms.kernels.compiled import Kernel
from clew.algorithms.kernels.word_numbers import find_words, put_words
from clew.embedding.static import (
    MEANING_SHARE,
    SIGNATURE_WIDTH,
    StaticEmbedding,
    term_signatures,
)
from clew.embedding.word_vectors import PIECES, piece_numbers, piece_vectors
from clew.forking import renew_after_fork
from clew.graph import Floats, Vectors
from clew.text.words import FoundWords, cased_words, find_cased_words
from clew.text.words import terms as terms_of

SHARES = np.array([MEANING_SHARE, 1 - MEANING_SHARE])  # of a vector: its meaning and its spelling
MIN_SLOTS = 1 << 12  # of the table that words are looked up in
MAX_KEPT = 65_536  # words, or terms, with what they contribute: some 15 MB

Numbers = NDArray[np.int64]
Number = TypeVar("Number", bound=np.number[Any])


@dataclass(frozen=True, eq=False)
class _Entries:
    """Lists of numbers, one after the other, with room behind them.

    A list stays where it is as others follow, so that whoever has the arrays may go on reading.

    Attributes:
        starts: int64 [m], where each list starts, and where the last one ends.
        columns: int32 [m], the numbers.
        values: float64 [m], what belongs to each number.
        n: how many lists there are.
    """

    starts: Numbers
    columns: NDArray[np.int32]
    values: Floats
    n: int = 0

    @classmethod
    def none(cls) -> _Entries:
        return cls(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))

    def extended(self, others: CompressedRows) -> _Entries:
        """Return these lists and the rows of a matrix behind them."""
        n, used = self.n + len(others), int(self.starts[self.n])
        end = used + int(others.starts[-1])
        starts = _with_room(self.starts, n + 1)
        columns, values = _with_room(self.columns, end), _with_room(self.values, end)
        starts[self.n + 1 : n + 1] = used + others.starts[1:]
        columns[used:end], values[used:end] = others.columns, others.values
        return _Entries(starts, columns, values, n)

    @property
    def arrays(self) -> tuple[Numbers, NDArray[np.int32], Floats]:
        """The lists as arrays, `starts` without the room behind them."""
        return self.starts[: self.n + 1], self.columns, self.values


@dataclass(frozen=True, eq=False)
class _Known:
    """What is known of words and terms, by their numbers.

    Attributes:
        of_words: the pieces of each word, and how often each comes in it.
        of_terms: the signature of each term.
        weights: float64 [terms or more], the weight of each term.
        term_of_word: int64 [words or more], the term of each word in a text of plain letters.
    """

    of_words: _Entries
    of_terms: _Entries
    weights: Floats
    term_of_word: Numbers

    @classmethod
    def nothing(cls) -> _Known:
        return cls(_Entries.none(), _Entries.none(), np.zeros(0), np.zeros(0, np.int64))


class WordTable:
    """What words and terms contribute to the vectors of texts.

    Args:
        static: what weights the words.
        most: about how many words are kept; then all are forgotten.

    Example:
        >>> static = StaticEmbedding.fit(())
        >>> vectors = WordTable(static).vectors(["Anna met Ben."])
        >>> bool(np.allclose(vectors, static(["Anna met Ben."])))
        True
    """

    def __init__(self, static: StaticEmbedding, most: int = MAX_KEPT) -> None:
        self._static, self._most = static, most
        self._forget()
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Replace the lock by a new one, which nobody holds."""
        self._lock = Lock()

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return what the embedder returns of the texts, rounded in another order.

        That is float32 [n, dimensions], with unit rows; zeros for a text without letters or digits.
        The array is the caller's.
        """
        cut = _Cut.of(texts)
        with self._lock:
            words = np.concatenate(
                [self._numbers_of_found(cut.found), self._numbers_of_words(cut.words)]
            )
            terms = self._numbers_of_terms(cut.terms)
            known = self._known
            if max(known.of_words.n, known.of_terms.n) > self._most:
                self._forget()  # the arrays at hand stay as they are
        static, numbers = self._static, known.term_of_word[words[: cut.n_folded]]
        most = int((cut.term_ends - cut.term_starts).max(initial=0))
        vectors: Vectors = bag_vectors(
            (cut.word_starts, cut.word_ends, words),
            known.of_words.arrays,
            (static.piece_weights, piece_vectors()),
            (cut.term_starts, cut.term_ends, np.concatenate([numbers, terms])),
            known.of_terms.arrays,
            (known.weights, np.append(0.0, 1 + np.log(np.arange(1, most + 1)))),
            SHARES,
            SIGNATURE_WIDTH,
        )
        if static.mean.any():  # a corpus has weighted the words
            centre_rows(vectors, static.mean)
        return vectors

    def _forget(self) -> None:
        self._number_of_word: dict[str, int] = {}
        self._number_of_term: dict[str, int] = {}
        self._known = _Known.nothing()
        self._letters = _Letters()

    def _numbers_of_found(self, found: FoundWords) -> Numbers:
        """Return the numbers of words in texts, after those that are new have got one."""
        numbers = self._letters.find(found)
        if numbers is None:
            return self._numbers_of_words(found.all_words())
        missing = np.flatnonzero(numbers < 0)
        if len(missing):
            numbers[missing] = self._numbers_of_words(found.words(missing))
        return numbers

    def _numbers_of_words(self, words: Sequence[str]) -> Numbers:
        """Return the numbers of words, after those that are new have got one."""
        number_of = self._number_of_word
        numbers, missing = _numbers(number_of, words)
        new = list(dict.fromkeys(words[i] for i in missing))
        if new:
            lists = piece_numbers().of_all(new)
            rows = np.repeat(np.arange(len(new)), [len(pieces) for pieces in lists])
            pieces = np.fromiter(chain.from_iterable(lists), np.int64, len(rows))
            of_new = CompressedRows.counted(rows, pieces, (len(new), PIECES))
            of_terms = self._numbers_of_terms([word.casefold() for word in new])
            n = len(number_of)
            term_of_word = _with_room(self._known.term_of_word, n + len(new))
            term_of_word[n : n + len(new)] = of_terms
            self._known = replace(
                self._known,
                of_words=self._known.of_words.extended(of_new),
                term_of_word=term_of_word,
            )
            number_of.update(zip(new, range(n, n + len(new)), strict=True))
            self._letters.add(new)
            numbers[missing] = [number_of[words[i]] for i in missing]
        return numbers

    def _numbers_of_terms(self, terms: Sequence[str]) -> Numbers:
        """Return the numbers of terms, after those that are new have got one."""
        number_of = self._number_of_term
        numbers, missing = _numbers(number_of, terms)
        new = list(dict.fromkeys(terms[i] for i in missing))
        if new:
            n = len(number_of)
            weights = _with_room(self._known.weights, n + len(new))
            weights[n : n + len(new)] = self._static.term_weights(new)
            signatures = term_signatures(new)
            of_terms = self._known.of_terms.extended(signatures)
            self._known = replace(self._known, of_terms=of_terms, weights=weights)
            number_of.update(zip(new, range(n, n + len(new)), strict=True))
            numbers[missing] = [number_of[terms[i]] for i in missing]
        return numbers


class _Letters:
    """The words with a number, letter by letter, as a loop of machine code finds them."""

    def __init__(self) -> None:
        self._n = self._n_put = 0  # words, and those of them that are in a slot
        self._letters = np.zeros(0, np.uint32)
        self._starts = np.zeros(1, np.int64)
        self._slots = np.full(MIN_SLOTS, -1, np.int32)

    def add(self, words: Sequence[str]) -> None:
        """Give some words the next numbers."""
        begin, n = int(self._starts[self._n]), self._n + len(words)
        self._starts = _with_room(self._starts, n + 1)
        ends = begin + np.cumsum(np.fromiter(map(len, words), np.int64, len(words)))
        self._starts[self._n + 1 : n + 1] = ends
        self._letters = _with_room(self._letters, int(self._starts[n]))
        encoded = "".join(words).encode("utf-32-le", "surrogatepass")
        self._letters[begin : int(self._starts[n])] = np.frombuffer(encoded, "<u4")
        self._n = n

    def find(self, found: FoundWords) -> Numbers | None:
        """Return the number of each word, -1 for none; None before there is machine code."""
        put = self._slots, self._n_put, self._n, self._starts, self._letters
        signs = found.signs.astype(np.uint32)
        find = signs, found.begins, found.ends, self._slots, self._starts, self._letters
        if not all([_is_ready(put_words, *put), _is_ready(find_words, *find)]):
            return None
        if 2 * self._n > len(self._slots):
            self._slots = np.full(2 << (2 * self._n).bit_length(), -1, np.int32)
            self._n_put = 0
        if self._n_put < self._n:
            put_words(self._slots, self._n_put, self._n, self._starts, self._letters)
            self._n_put = self._n
        numbers: Numbers = find_words(*find[:3], self._slots, self._starts, self._letters)
        return numbers


def _is_ready(kernel: Kernel, *arguments: object) -> bool:
    return kernel.dispatcher is not None or kernel.is_ready(*arguments)


class _Cut(NamedTuple):
    """The words and the terms of texts, one after the other, in whatever order of the texts.

    Attributes:
        found: the words of most texts, which are terms with their case folded.
        words: the words of the other texts, behind them.
        word_starts: int64 [n], where those of each text start.
        word_ends: int64 [n], where they end.
        terms: the terms of the texts that have others.
        term_starts: int64 [n], where the terms of each text start: words that are folded, or, with
            the number of those added, terms.
        term_ends: int64 [n], where they end.
    """

    found: FoundWords
    words: list[str]
    word_starts: Numbers
    word_ends: Numbers
    terms: list[str]
    term_starts: Numbers
    term_ends: Numbers

    @property
    def n_folded(self) -> int:
        """How many of the words, from the first on, are terms with their case folded."""
        return len(self.found.begins)

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Cut:
        """Return the words and the terms of texts."""
        found, words, terms = find_cased_words(texts), list[str](), list[str]()
        starts, n_folded = found.starts, len(found.begins)
        places = np.stack([starts[:-1], starts[1:], starts[:-1], starts[1:]])
        for i in found.apart.tolist():
            its_words, its_terms = cased_words(texts[i]), terms_of(texts[i], identifiers=False)
            first = n_folded + len(words)
            places[:2, i] = first, first + len(its_words)
            places[2:, i] = n_folded + len(terms), n_folded + len(terms) + len(its_terms)
            words += its_words
            terms += its_terms
        return cls(found, words, places[0], places[1], terms, places[2], places[3])


def _numbers(number_of: Mapping[str, int], things: Sequence[str]) -> tuple[Numbers, list[int]]:
    """Return the numbers of things, and the places of those that have none."""
    numbers = np.fromiter(map(number_of.get, things, repeat(-1)), np.int64, len(things))
    return numbers, np.flatnonzero(numbers < 0).tolist()


def _with_room(array: NDArray[Number], size: int) -> NDArray[Number]:
    """Return an array of at least a size that begins as another: that one, if it is long enough."""
    if size <= len(array):
        return array
    longer = np.zeros(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer
