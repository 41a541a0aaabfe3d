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
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

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
        numbers = piece_numbers()
        words: Counter[str] = Counter()
        piece_counts = np.zeros(PIECES, np.int64)
        for text in texts:
            words.update(set(terms(text, identifiers=False)))
            pieces = {piece for word in set(cased_words(text)) for piece in numbers[word]}
            piece_counts[list(pieces)] += 1
        vocabulary = tuple(sorted(words, key=lambda word: (-words[word], word))[:MAX_WORDS])
        uncentred = cls(
            len(texts),
            vocabulary,
            freeze(np.array([words[word] for word in vocabulary], np.int32), np.int32),
            freeze(piece_counts, np.int32),
            freeze(np.zeros(DIMENSIONS + SIGNATURE_WIDTH), np.float32),
        )
        places = np.linspace(0, len(texts) - 1, min(len(texts), MAX_SAMPLE)).round().astype(int)
        vectors = uncentred._uncentred([texts[place] for place in places.tolist()])
        mean = vectors.sum(axis=0) / (len(vectors) + PRIOR_TEXTS)
        return replace(uncentred, mean=freeze(mean, np.float32))

    @property
    def dimensions(self) -> int:
        """The number of dimensions of a vector."""
        return DIMENSIONS + SIGNATURE_WIDTH

    def __call__(self, texts: Iterable[str]) -> Vectors:
        """Return float32 [n, dimensions], unit rows; zeros for a text without letters or digits."""
        vectors = self._uncentred(list(texts))
        has_words = vectors.any(axis=1)
        vectors[has_words] -= self.mean
        return freeze(unit_rows(vectors), np.float32)

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

    def _uncentred(self, texts: Sequence[str]) -> Floats:
        """The two halves side by side, unit rows: float64 [texts, dimensions]."""
        meaning, spelling = unit_rows(self._meanings(texts)), unit_rows(self._spellings(texts))
        return unit_rows(
            np.hstack([np.sqrt(MEANING_SHARE) * meaning, np.sqrt(1 - MEANING_SHARE) * spelling])
        )

    def _meanings(self, texts: Sequence[str]) -> Floats:
        """The weighted sums of the pieces' vectors: float64 [texts, 256]."""
        pieces_of = piece_numbers()
        pieces, matrix = _count(
            Counter(piece for word in cased_words(text) for piece in pieces_of[word])
            for text in texts
        )
        rows = np.array(pieces, np.int64)
        matrix.data = np.sqrt(matrix.data * self._piece_idf[rows][matrix.indices])
        sums: Floats = matrix @ piece_vectors()[rows].astype(np.float64)
        return sums

    def _spellings(self, texts: Sequence[str]) -> Floats:
        """The weighted sums of the terms' signatures: float64 [texts, 512]."""
        known, matrix = _count(Counter(terms(text, identifiers=False)) for text in texts)
        counts = np.array([self._count_of.get(term, 1) for term in known], np.float64)
        pieces_of = piece_numbers()
        rarest = np.array([max(pieces_of[term], default=0) for term in known], np.int64)
        idf = _idf(counts, rarest, self.n_texts) ** TERM_IDF_POWER
        matrix.data = (1 + np.log(matrix.data)) * idf[matrix.indices]
        sums: Floats = (matrix @ signatures(known, SIGNATURE_WIDTH)).toarray()
        return sums

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


def _count(bags: Iterable[Counter[T]]) -> tuple[list[T], Matrix]:
    """The distinct things in all bags, and how often each bag has them: float64 [bags, things]."""
    from scipy.sparse import csr_array

    column_of: dict[T, int] = {}
    columns: list[int] = []
    counts: list[int] = []
    ends = [0]
    for bag in bags:
        columns += [column_of.setdefault(thing, len(column_of)) for thing in bag]
        counts += bag.values()
        ends.append(len(columns))
    shape = (len(ends) - 1, len(column_of))
    values = np.array(counts, np.float64)
    return list(column_of), csr_array((values, np.array(columns, np.int32), ends), shape=shape)
