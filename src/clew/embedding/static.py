"""The embedded default: static vectors, weighted by the corpus, with no download and no network.

A text is a bag of words. Its vector has two halves, each of length 1 before they are joined.

1. Meaning: the sum of the static vectors of the pieces that its words consist of
   (`clew.embedding.word_vectors`), each times sqrt(tf * idf). The rarer a piece in the corpus, the
   more it counts, as in Arora, Liang and Ma, "A simple but tough-to-beat baseline for sentence
   embeddings" (2017).
2. Spelling: the sum of the signatures of its terms (`clew.text.words.terms`), each times
   (1 + ln tf) * idf^1.5. A signature is made of character trigrams (as in fastText, Bojanowski et
   al. 2017) and projected at random (Achlioptas 2003). So a rare name is near to itself and to its
   variants, whether or not the static vectors know it.

The mean vector of the corpus, which says what all its texts have in common, is subtracted from each
(Mu and Viswanath, "All-but-the-top", 2018), so that texts on different things have a cosine near 0.

Nothing but this mean and the counts of words and pieces depends on the corpus: no matrix is
factorised, and time grows in proportion to the text. A small corpus says little of how rare a word
is, so that `PRIOR_TEXTS` texts are counted with it in which pieces are as frequent as Zipf's law
has it, and whose mean is zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.embedding.latent_semantic import signatures
from clew.embedding.word_vectors import DIMENSIONS, PIECES, piece_numbers, piece_vectors
from clew.graph import Floats, Vectors, freeze, unit_rows
from clew.text.words import cased_words, terms

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Matrix: TypeAlias = csr_array[Any, tuple[int, int]]

MEANING_SHARE = 0.6  # of the first half, in a dot product
SIGNATURE_WIDTH = 512
MAX_WORDS = 65_536  # whose counts are kept, the most widespread first; others count as in 1
TERM_IDF_POWER = 1.5
BATCH = 2048  # texts whose vectors are made at once
MAX_SAMPLE = 1024  # texts that the mean is computed from, evenly spaced
PRIOR_TEXTS = 30
PRIOR_WORDS = 10  # rank of the piece that is in one of these texts in the mean
FIRST_MERGE = 259  # the place of the first piece of several letters; those before are single bytes

T = TypeVar("T")
Counts: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class StaticEmbedding:
    """An embedder that is weighted by a corpus: texts -> float32 rows of length 1.

    Attributes:
        n_texts: the number of texts of the corpus.
        vocabulary: its words, the most widespread first.
        word_counts: int32 [words], the number of texts that have each word.
        piece_counts: int32 [32000], the number of texts that have each piece of a word.
        mean: float32 [dimensions], what is subtracted from every vector.

    Example:
        >>> static = StaticEmbedding.fit(["The ferry to Corfu leaves at nine.", "Anna met Ben."])
        >>> ship, person = static(["When does the boat depart?", "Who saw Anna?"]) @ static(
        ...     ["The ferry to Corfu leaves at nine.", "Anna met Ben."]
        ... ).T
        >>> bool(ship[0] > ship[1]), bool(person[1] > person[0])
        (True, True)
    """

    n_texts: int
    vocabulary: tuple[str, ...]
    word_counts: Counts
    piece_counts: Counts
    mean: Vectors

    @classmethod
    def fit(cls, texts: Sequence[str]) -> StaticEmbedding:
        """Return the embedder that this corpus weights.

        Args:
            texts: the passages; there may be none, and they may have no words.
        """
        return cls.fit_and_embed(texts)[0]

    @classmethod
    def fit_and_embed(cls, texts: Sequence[str]) -> tuple[StaticEmbedding, Vectors]:
        """Return the embedder that this corpus weights, and the vectors of its texts.

        A text is counted once for both, which is most of the time.

        Args:
            texts: as in `fit`.
        """
        counts = _Counts.of(texts)
        in_texts = np.bincount(counts.of_terms.indices, minlength=len(counts.terms))
        number_of = dict(zip(counts.terms, in_texts.tolist(), strict=True))
        vocabulary = tuple(sorted(number_of, key=lambda word: (-number_of[word], word))[:MAX_WORDS])
        piece_counts = np.zeros(PIECES, np.int64)
        piece_counts[counts.pieces] = np.bincount(
            counts.of_pieces.indices, minlength=len(counts.pieces)
        )
        uncentred = cls(
            len(texts),
            vocabulary,
            freeze(np.array([number_of[word] for word in vocabulary], np.int32), np.int32),
            freeze(piece_counts, np.int32),
            freeze(np.zeros(DIMENSIONS + SIGNATURE_WIDTH), np.float32),
        )
        vectors = uncentred._vectors_of(counts)
        places = np.linspace(0, len(texts) - 1, min(len(texts), MAX_SAMPLE)).round().astype(int)
        mean = vectors[places].sum(axis=0, dtype=np.float64) / (len(places) + PRIOR_TEXTS)
        fitted = replace(uncentred, mean=freeze(mean, np.float32))
        return fitted, fitted._centred(vectors)

    @property
    def dimensions(self) -> int:
        """The number of dimensions of a vector."""
        return DIMENSIONS + SIGNATURE_WIDTH

    def __call__(self, texts: Iterable[str]) -> Vectors:
        """Return float32 [n, dimensions], unit rows; zeros for a text without letters or digits."""
        return self._centred(self._vectors_of(_Counts.of(list(texts))))

    def embed_question(self, text: str) -> Vectors:
        """Return the vector of one text: float32 [dimensions]."""
        vector: Vectors = self([text])[0]
        return vector

    def has_counts_of(self, other: StaticEmbedding) -> bool:
        """Return whether both are weighted by the same counts.

        Example:
            >>> static = StaticEmbedding.fit(["The ferry leaves at nine."])
            >>> static.has_counts_of(StaticEmbedding.fit(["The ferry leaves at ten."]))
            False
        """
        return (
            self.n_texts == other.n_texts
            and self.vocabulary == other.vocabulary
            and np.array_equal(self.word_counts, other.word_counts)
            and np.array_equal(self.piece_counts, other.piece_counts)
        )

    def _vectors_of(self, counts: _Counts) -> Vectors:
        """The two halves side by side, unit rows, before the mean is subtracted."""
        n = counts.of_terms.shape[0]
        vectors = np.zeros((n, self.dimensions), np.float32)
        pieces = piece_vectors()[counts.pieces].astype(np.float64)
        spellings = signatures(counts.terms, SIGNATURE_WIDTH)
        of_pieces, of_terms = self._weighted(counts)
        for start in range(0, n, BATCH):
            some = slice(start, start + BATCH)
            meaning = unit_rows(of_pieces[some] @ pieces)
            spelling = unit_rows((of_terms[some] @ spellings).toarray())
            vectors[some] = unit_rows(
                np.hstack([np.sqrt(MEANING_SHARE) * meaning, np.sqrt(1 - MEANING_SHARE) * spelling])
            )
        return vectors

    def _weighted(self, counts: _Counts) -> tuple[Matrix, Matrix]:
        """The weights of the pieces and of the terms of every text."""
        of_pieces, of_terms = counts.of_pieces.copy(), counts.of_terms.copy()
        of_pieces.data = np.sqrt(of_pieces.data * self._piece_idf[counts.pieces][of_pieces.indices])
        frequencies = np.array([self._count_of.get(term, 1) for term in counts.terms], np.float64)
        pieces_of = piece_numbers()
        rarest = np.array([max(pieces_of[term], default=0) for term in counts.terms], np.int64)
        idf = _idf(frequencies, rarest, self.n_texts) ** TERM_IDF_POWER
        of_terms.data = (1 + np.log(of_terms.data)) * idf[of_terms.indices]
        return of_pieces, of_terms

    def _centred(self, vectors: Vectors) -> Vectors:
        has_words = vectors.any(axis=1, keepdims=True)
        centred = np.where(has_words, vectors - self.mean, 0)
        return freeze(unit_rows(centred), np.float32)

    @cached_property
    def _count_of(self) -> dict[str, int]:
        return dict(zip(self.vocabulary, self.word_counts.tolist(), strict=True))

    @cached_property
    def _piece_idf(self) -> Floats:
        counts = self.piece_counts.astype(np.float64)
        return _idf(counts, np.arange(PIECES), self.n_texts)


def _idf(counts: Floats, pieces: NDArray[np.int64], n_texts: int) -> Floats:
    """The weight of words that occur in so many of the texts: near 0 if these are nearly all.

    Args:
        counts: the number of texts with each word.
        pieces: the rarest piece of each word. Pieces are numbered by their frequency.
        n_texts: the number of texts.
    """
    ranks = np.maximum(pieces - FIRST_MERGE, 1)
    counts = counts + PRIOR_TEXTS * np.minimum(1, PRIOR_WORDS / ranks)
    n_texts += PRIOR_TEXTS
    weights: Floats = np.log1p((np.maximum(n_texts - counts, 0) + 0.5) / (counts + 0.5))
    return weights


@dataclass(frozen=True, eq=False)
class _Counts:
    """How often each text has each of its terms, and each piece of its words.

    Attributes:
        terms: the distinct terms.
        of_terms: float64 [texts, terms].
        pieces: the distinct pieces, as rows of `piece_vectors`.
        of_pieces: float64 [texts, pieces].
    """

    terms: list[str]
    of_terms: Matrix
    pieces: NDArray[np.int64]
    of_pieces: Matrix

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Counts:
        in_words, in_terms = _Bags[str](), _Bags[str]()
        is_plain = np.array([text.isascii() for text in texts], np.float64)
        for text, plain in zip(texts, is_plain, strict=True):
            in_words.add(Counter(cased_words(text)))
            in_terms.add(Counter[str]() if plain else Counter(terms(text, identifiers=False)))
        words, of_words = list(in_words.column_of), in_words.matrix()
        pieces_of = piece_numbers()
        pieces, by_word = _count([pieces_of[word] for word in words])
        # The terms of plain English letters are the words, in lower case.
        lower, lower_by_word = _count([(word.lower(),) for word in words])
        of_plain = of_words.multiply(is_plain[:, None]).tocsr() @ lower_by_word
        all_terms, of_terms = _side_by_side(
            (lower, of_plain), (list(in_terms.column_of), in_terms.matrix())
        )
        return cls(all_terms, of_terms, np.array(pieces, np.int64), (of_words @ by_word).tocsr())


def _count(lists: Iterable[Iterable[T]]) -> tuple[list[T], Matrix]:
    """The distinct things in all lists, and how often each list has them."""
    bags = _Bags[T]()
    for things in lists:
        bags.add(Counter(things))
    return list(bags.column_of), bags.matrix()


def _side_by_side(*columns: tuple[list[T], Matrix]) -> tuple[list[T], Matrix]:
    """The things of several matrices of the same texts, each once, and the sum of its columns."""
    from scipy.sparse import csr_array, hstack

    all_things = [thing for things, _ in columns for thing in things]
    number_of = {thing: number for number, thing in enumerate(dict.fromkeys(all_things))}
    numbers = [number_of[thing] for thing in all_things]
    ones = np.ones(len(numbers))
    merge = csr_array(
        (ones, (np.arange(len(numbers)), np.array(numbers, np.int64))),
        shape=(len(numbers), len(number_of)),
    )
    merged = (hstack([matrix for _, matrix in columns], format="csr") @ merge).tocsr()
    merged.eliminate_zeros()
    used = np.flatnonzero(np.bincount(merged.indices, minlength=len(number_of)))
    things = list(number_of)
    return [things[number] for number in used.tolist()], merged[:, used]


class _Bags(Generic[T]):
    """Texts as bags of things: which, and how often.

    Attributes:
        column_of: the number of every thing.
    """

    def __init__(self) -> None:
        self.column_of: dict[T, int] = {}
        self._columns: list[int] = []
        self._counts: list[int] = []
        self._ends = [0]

    def add(self, bag: Counter[T]) -> None:
        """Add a text."""
        column_of = self.column_of
        self._columns += [column_of.setdefault(thing, len(column_of)) for thing in bag]
        self._counts += bag.values()
        self._ends.append(len(self._columns))

    def matrix(self) -> Matrix:
        """Return how often each text has each thing."""
        from scipy.sparse import csr_array

        shape = (len(self._ends) - 1, len(self.column_of))
        columns = np.array(self._columns, np.int32)
        counts: Matrix = csr_array(
            (np.array(self._counts, np.float64), columns, np.array(self._ends)), shape=shape
        )
        return counts
