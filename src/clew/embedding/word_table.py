"""What the words of texts contribute to their vectors, kept for the texts that come next.

Where no corpus weights the words, what a word contributes depends on itself alone: the pieces that
it consists of, and the signature and the weight of its term. So these are looked up, and a text of
known words is counted and added up by arrays. The sums are those of `StaticEmbedding`, in another
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.compressed_rows import CompressedRows
from clew.embedding.latent_semantic import signature_rows
from clew.embedding.static import MEANING_SHARE, SIGNATURE_WIDTH, StaticEmbedding
from clew.embedding.word_vectors import DIMENSIONS, PIECES, piece_numbers, piece_vectors
from clew.forking import renew_after_fork
from clew.graph import Floats, Vectors, expand_ranges
from clew.text.words import OTHER_SCRIPT, cased_words_and_terms_of_all, cased_words_of_all

BATCH = 1024
HALVES = slice(DIMENSIONS), slice(DIMENSIONS, None)  # of a vector: its meaning and its spelling
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

    def rows(self, width: int) -> CompressedRows:
        """Return the lists as the rows of a matrix."""
        return CompressedRows(self.starts[: self.n + 1], self.columns, self.values, width)


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
        """
        plain = [i for i, text in enumerate(texts) if text.isascii()]
        others = [i for i, text in enumerate(texts) if not text.isascii()]
        # One text of another script would have all beside it read one by one.
        simple = [i for i in others if not OTHER_SCRIPT.search(texts[i])]
        foreign = [i for i in others if OTHER_SCRIPT.search(texts[i])]
        found = [cased_words_of_all([texts[i] for i in plain])]
        found_terms = []
        for group in (simple, foreign):
            its_words, its_terms = cased_words_and_terms_of_all([texts[i] for i in group])
            found.append(its_words)
            found_terms.append(its_terms)
        with self._lock:
            words = self._numbers_of_words([word for some, _ in found for word in some])
            terms = self._numbers_of_terms([term for some, _ in found_terms for term in some])
            known = self._known
            if max(known.of_words.n, known.of_terms.n) > self._most:
                self._forget()  # the arrays at hand stay as they are
        rows = _rows((plain, simple, foreign), found)
        n_plain = len(found[0][0])
        return self._vectors_of(
            _counted_pieces(known.of_words.rows(PIECES), rows, words, len(texts)),
            CompressedRows.counted(
                np.concatenate([rows[:n_plain], _rows((simple, foreign), found_terms)]),
                np.concatenate([known.term_of_word[words[:n_plain]], terms]),
                (len(texts), max(known.of_terms.n, 1)),
            ),
            known,
        )

    def _forget(self) -> None:
        self._number_of_word: dict[str, int] = {}
        self._number_of_term: dict[str, int] = {}
        self._known = _Known.nothing()

    def _numbers_of_words(self, words: Sequence[str]) -> Numbers:
        """Return the numbers of words, after those that are new have got one."""
        number_of = self._number_of_word
        new = [word for word in dict.fromkeys(words) if word not in number_of]
        if new:
            pieces_of = piece_numbers()
            lists = [pieces_of[word] for word in new]
            rows = np.repeat(np.arange(len(new)), [len(pieces) for pieces in lists])
            pieces = np.fromiter(chain.from_iterable(lists), np.int64, len(rows))
            of_new = CompressedRows.counted(rows, pieces, (len(new), PIECES))
            of_terms = self._numbers_of_terms([word.lower() for word in new])
            n = len(number_of)
            term_of_word = _with_room(self._known.term_of_word, n + len(new))
            term_of_word[n : n + len(new)] = of_terms
            self._known = replace(
                self._known,
                of_words=self._known.of_words.extended(of_new),
                term_of_word=term_of_word,
            )
            number_of.update(zip(new, range(n, n + len(new)), strict=True))
        return _numbers(number_of, words)

    def _numbers_of_terms(self, terms: Sequence[str]) -> Numbers:
        """Return the numbers of terms, after those that are new have got one."""
        number_of = self._number_of_term
        new = [term for term in dict.fromkeys(terms) if term not in number_of]
        if new:
            n = len(number_of)
            weights = _with_room(self._known.weights, n + len(new))
            weights[n : n + len(new)] = self._static.term_weights(new)
            signatures = signature_rows(new, SIGNATURE_WIDTH)
            of_terms = self._known.of_terms.extended(signatures)
            self._known = replace(self._known, of_terms=of_terms, weights=weights)
            number_of.update(zip(new, range(n, n + len(new)), strict=True))
        return _numbers(number_of, terms)

    def _vectors_of(
        self, of_pieces: CompressedRows, of_terms: CompressedRows, known: _Known
    ) -> Vectors:
        """Return the vectors of texts by how often each has each piece and each term."""
        static, n = self._static, len(of_pieces)
        piece_weights = static.piece_weights[of_pieces.columns]
        of_pieces = of_pieces.with_values(np.sqrt(of_pieces.values * piece_weights))
        of_pieces, used = _with_used_columns(of_pieces)
        pieces = piece_vectors()[used].astype(np.float64)
        weights = known.weights[of_terms.columns]
        of_terms = of_terms.with_values((1 + np.log(of_terms.values)) * weights)
        of_terms, used = _with_used_columns(of_terms)
        signatures = known.of_terms.rows(SIGNATURE_WIDTH).take(used)
        vectors = np.zeros((n, static.dimensions), np.float32)
        for start in range(0, n, BATCH):
            end = min(start + BATCH, n)
            meaning = of_pieces.part(start, end).times_dense(pieces)
            spelling = of_terms.part(start, end).dense_product(signatures)
            lengths = np.sqrt([np.einsum("ij,ij->i", half, half) for half in (meaning, spelling)])
            shares = np.where(lengths > 0, [[MEANING_SHARE], [1 - MEANING_SHARE]], 0)
            whole = np.maximum(np.sqrt(shares.sum(axis=0)), 1e-300)
            scales = np.sqrt(shares) / whole / np.where(lengths > 0, lengths, 1)
            for half, scale, place in zip((meaning, spelling), scales, HALVES, strict=True):
                np.multiply(half, scale[:, None], vectors[start:end, place], casting="same_kind")
        return static.centre(vectors)


def _counted_pieces(
    of_words: CompressedRows, rows: Numbers, words: Numbers, n_rows: int
) -> CompressedRows:
    """Return how often each text has each piece.

    Args:
        of_words: how often each word has each piece.
        rows: the text of each word that comes.
        words: the number of each word that comes.
        n_rows: the number of texts.
    """
    starts = of_words.starts[words]
    lengths = of_words.starts[words + 1] - starts
    places = expand_ranges(starts, lengths)
    columns, values = of_words.columns[places], of_words.values[places]
    return CompressedRows.summed(np.repeat(rows, lengths), columns, values, (n_rows, PIECES))


def _with_used_columns(matrix: CompressedRows) -> tuple[CompressedRows, Numbers]:
    """Return the matrix of the columns that have entries, and which these are."""
    is_used = np.zeros(matrix.width, np.bool_)
    is_used[matrix.columns] = True
    used = np.flatnonzero(is_used)
    place_of = np.zeros(matrix.width, np.int32)
    place_of[used] = np.arange(len(used), dtype=np.int32)
    return replace(matrix, columns=place_of[matrix.columns], width=len(used)), used


def _numbers(number_of: dict[str, int], things: Sequence[str]) -> Numbers:
    """Return the numbers of things, all of which have one."""
    if len(things) < 2:  # for which `itemgetter` returns no tuple
        return np.array([number_of[thing] for thing in things], np.int64)
    return np.array(itemgetter(*things)(number_of), np.int64)


def _rows(groups: Sequence[Sequence[int]], found: Sequence[tuple[list[str], list[int]]]) -> Numbers:
    """Return the text of each word.

    Args:
        groups: the texts of each group.
        found: the words of each group, and where each text starts and ends.
    """
    pairs = zip(groups, found, strict=True)
    return np.concatenate(
        [np.repeat(np.array(group, np.int64), np.diff(starts)) for group, (_, starts) in pairs]
    )


def _with_room(array: NDArray[Number], size: int) -> NDArray[Number]:
    """Return an array of at least a size that begins as another: that one, if it is long enough."""
    if size <= len(array):
        return array
    longer = np.zeros(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer
