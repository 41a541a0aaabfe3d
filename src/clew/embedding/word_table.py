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
from clew.embedding.latent_semantic import signature_rows
from clew.embedding.static import MEANING_SHARE, SIGNATURE_WIDTH, StaticEmbedding
from clew.embedding.word_vectors import PIECES, piece_numbers, piece_vectors
from clew.forking import renew_after_fork
from clew.graph import Floats, Vectors
from clew.text.words import cased_words, cased_words_of_all
from clew.text.words import terms as terms_of

SHARES = np.array([MEANING_SHARE, 1 - MEANING_SHARE])  # of a vector: its meaning and its spelling
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
            words = self._numbers_of_words(cut.words)
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
        centre_rows(vectors, static.mean)
        return vectors

    def _forget(self) -> None:
        self._number_of_word: dict[str, int] = {}
        self._number_of_term: dict[str, int] = {}
        self._known = _Known.nothing()

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
            signatures = signature_rows(new, SIGNATURE_WIDTH)
            of_terms = self._known.of_terms.extended(signatures)
            self._known = replace(self._known, of_terms=of_terms, weights=weights)
            number_of.update(zip(new, range(n, n + len(new)), strict=True))
            numbers[missing] = [number_of[terms[i]] for i in missing]
        return numbers


class _Cut(NamedTuple):
    """The words and the terms of texts, one after the other, in whatever order of the texts.

    Attributes:
        words: the words.
        word_starts: int64 [n], where those of each text start.
        word_ends: int64 [n], where they end.
        n_folded: how many of the words, from the first on, are terms with their case folded.
        terms: the terms of the texts that have others.
        term_starts: int64 [n], where the terms of each text start: words that are folded, or, with
            `n_folded` added, terms.
        term_ends: int64 [n], where they end.
    """

    words: list[str]
    word_starts: Numbers
    word_ends: Numbers
    n_folded: int
    terms: list[str]
    term_starts: Numbers
    term_ends: Numbers

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Cut:
        """Return the words and the terms of texts."""
        words, starts, others = cased_words_of_all(texts)
        places = np.tile(np.stack([starts[:-1], starts[1:]]), (2, 1))
        n_folded, terms = len(words), list[str]()
        for i in others.tolist():
            its_words, its_terms = cased_words(texts[i]), terms_of(texts[i], identifiers=False)
            places[:2, i] = len(words), len(words) + len(its_words)
            places[2:, i] = n_folded + len(terms), n_folded + len(terms) + len(its_terms)
            words += its_words
            terms += its_terms
        return cls(words, places[0], places[1], n_folded, terms, places[2], places[3])


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
