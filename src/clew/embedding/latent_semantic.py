"""The embedded default: vectors computed from the corpus itself, with no download and no network.

A text is a bag of terms (`clew.text.words.terms`) with tf-idf weights. Its vector has two parts.

1. Its projection on the leading singular directions of the corpus: latent semantic analysis,
   Deerwester et al. 1990.
2. What these directions leave out, which is nearly everything of a rare name: projected at random
   (Achlioptas 2003), by word signatures that are made of character trigrams (as in fastText,
   Bojanowski et al. 2017). So a spelling variant, or a word that the corpus lacks, comes near the
   words that it looks like.

On MuSiQue and HotpotQA, recall at 2, 5 and 10 is above that of BM25. That of the first part alone
is far below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.ranking import dense_ranks
from clew.graph import CopiedAtOnce, Floats, Vectors, freeze, unit_rows
from clew.text.words import terms

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Matrix: TypeAlias = csr_array[Any, tuple[int, int]]

DIMENSIONS = 1024
MAX_WORDS = 32_768  # with a direction of their own, the most widespread first: 48 MB at 384 float32
MAX_SAMPLE = 8_192  # texts that the directions are computed from, evenly spaced; idf counts all
MAX_EXACT = 1_024  # texts with exact directions; above, randomised projection (Halko et al. 2011)
IDF_POWER = 1.5
RESIDUAL_WEIGHT = 0.5  # of the second part, in a dot product
WHOLE_WORD_SHARE = 0.15  # of a word's signature: the word itself; the rest are its trigrams
WHOLE_WORD_PLACES = 4  # of the word itself in its signature


@dataclass(frozen=True, eq=False)
class LatentSemantic(CopiedAtOnce):
    """An embedder that is fitted on a corpus: texts -> float32 rows of length 1.

    It consists of plain arrays of at most about 50 MB. With v words, r directions and h signature
    places, a vector has r + h dimensions.

    Attributes:
        vocabulary: the v known words.
        idf: float64 [v], their weights.
        unknown: the weight of any other word.
        components: float32 [v, r], the directions, as orthonormal columns.
        overlap: float32 [r, h], the share of the signatures in each direction.

    Example:
        >>> latent = LatentSemantic.fit(["Anna met Ben.", "Ben left."], dimensions=32)
        >>> latent(["Who met Ben?"]).shape
        (1, 32)
    """

    vocabulary: tuple[str, ...]
    idf: Floats
    unknown: float
    components: Vectors
    overlap: Vectors

    @classmethod
    def fit(cls, texts: Sequence[str], dimensions: int = DIMENSIONS) -> LatentSemantic:
        """Return the embedder of this corpus.

        The same texts give the same vectors for any hash seed and number of threads.

        Args:
            texts: the passages; there may be none, and they may have no words.
            dimensions: of the vectors, at least 16.
        """
        if (
            isinstance(dimensions, bool)
            or not isinstance(dimensions, (int, np.integer))
            or dimensions < 16
        ):
            raise ValueError(f"dimensions is a whole number of at least 16; got {dimensions!r}")
        frequency, bags = _count_terms(texts)
        vocabulary = tuple(sorted(frequency, key=lambda word: (-frequency[word], word))[:MAX_WORDS])
        frequencies = np.array([frequency[word] for word in vocabulary], np.float64)
        without_directions = cls(
            vocabulary,
            freeze(_idf(frequencies, len(texts)), np.float64),
            float(_idf(np.ones(1), len(texts))[0]),
            freeze(np.zeros((len(vocabulary), 0)), np.float32),
            freeze(np.zeros((0, dimensions)), np.float32),
        )
        words, matrix = without_directions._matrix(bags)
        rows = without_directions._rows(words)
        known = np.flatnonzero(rows >= 0)
        directions = _directions(matrix[:, known], 3 * dimensions // 8)
        components = np.zeros((len(vocabulary), len(directions)))
        components[rows[known]] = directions.T
        overlap = components.T @ signatures(vocabulary, int(dimensions) - len(directions))
        return cls(
            vocabulary,
            without_directions.idf,
            without_directions.unknown,
            freeze(components, np.float32),
            freeze(overlap, np.float32),
        )

    @property
    def dimensions(self) -> int:
        """The number of dimensions of a vector."""
        return sum(self.overlap.shape)

    def __call__(self, texts: Iterable[str]) -> Vectors:
        """Return float32 [n, dimensions], unit rows; zeros for a text without letters or digits."""
        words, matrix = self._matrix([_bag(text) for text in texts])
        rows = self._rows(words)
        known = np.flatnonzero(rows >= 0)
        latent = matrix[:, known] @ self.components[rows[known]].astype(np.float64)
        signature = (matrix @ signatures(words, self.overlap.shape[1])).toarray()
        residual = signature - latent @ self.overlap
        vectors = np.hstack([latent, np.sqrt(RESIDUAL_WEIGHT) * residual])
        return freeze(unit_rows(vectors), np.float32)

    def embed_question(self, text: str) -> Vectors:
        """Return the vector of one text: float32 [dimensions]."""
        vector: Vectors = self([text])[0]
        return vector

    @cached_property
    def _row(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.vocabulary)}

    def _rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The row of every word in the vocabulary, -1 for an unknown one."""
        return np.array([self._row.get(word, -1) for word in words], np.int64)

    def _matrix(self, bags: Sequence[Counter[str]]) -> tuple[list[str], Matrix]:
        """The distinct words of the bags, and float64 [bags, words], sparse unit rows.

        The weight of a word in a bag is (1 + ln tf) * idf, before the rows are scaled.
        """
        from scipy.sparse import csr_array

        column_of: dict[str, int] = {}
        columns = [column_of.setdefault(word, len(column_of)) for bag in bags for word in bag]
        counts = np.array([count for bag in bags for count in bag.values()], np.float64)
        owners = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
        idf = np.array(
            [self.idf[self._row[word]] if word in self._row else self.unknown for word in column_of]
        )
        values = (1 + np.log(counts)) * idf[columns]
        values /= np.sqrt(np.bincount(owners, values**2, minlength=len(bags)))[owners]
        shape = (len(bags), len(column_of))
        return list(column_of), csr_array((values, (owners, columns)), shape=shape)


def signatures(vocabulary: Sequence[str], width: int) -> Matrix:
    """Return a signature for every word: sparse float64 [v, width], unit rows.

    The signatures of words with a similar spelling are near, those of others nearly orthogonal. A
    signature has +1 or -1 for each trigram of the word (with its ends marked), at a place that a
    hash chooses, and a few more for the word itself. The hash is fixed arithmetic on code points:
    it is the same on every machine.

    Args:
        vocabulary: the words.
        width: the number of places.

    Example:
        >>> one, other = signatures(["durrell", "durrells"], 512).toarray()
        >>> bool(one @ other > 0.5)
        True
    """
    return signature_rows(vocabulary, width).for_scipy()


def signature_rows(vocabulary: Sequence[str], width: int) -> CompressedRows:
    """Return the `signatures` of words as numpy's arrays."""
    n = len(vocabulary)
    if not n:
        none = np.zeros(0, np.int64)
        return CompressedRows.counted(none, none, (0, width))
    marked = "\x02" + "\x03\x02".join(vocabulary) + "\x03"
    letters = np.frombuffer(marked.encode("utf-32-le"), "<u4").astype(np.uint64)
    lengths = np.fromiter(map(len, vocabulary), np.int64, n) + 2
    starts = np.cumsum(lengths) - lengths
    owners = np.repeat(np.arange(n), lengths)

    place_in_word = (np.arange(len(letters)) - starts[owners]).astype(np.uint64)
    whole_words = np.add.reduceat(mix_bits(letters + place_in_word * np.uint64(2**32)), starts)
    repeats = np.arange(1, WHOLE_WORD_PLACES + 1, dtype=np.uint64)
    pairs = letters[:-2] * np.uint64(2**21) + letters[1:-1]
    trigrams = mix_bits(pairs * np.uint64(2**21) + letters[2:])
    in_one_word = owners[:-2] == owners[2:]
    owners_of_trigrams = owners[:-2][in_one_word]

    hashes = np.concatenate(
        [trigrams[in_one_word], mix_bits(whole_words[:, None] + repeats).ravel()]
    )
    rows = np.concatenate([owners_of_trigrams, np.repeat(np.arange(n), WHOLE_WORD_PLACES)])
    trigram_share = (1 - WHOLE_WORD_SHARE) / (lengths - 2)
    whole_share = np.full(n * WHOLE_WORD_PLACES, WHOLE_WORD_SHARE / WHOLE_WORD_PLACES)
    share = np.concatenate([trigram_share[owners_of_trigrams], whole_share])
    values = np.sqrt(share) * np.where(hashes >> np.uint64(63), 1.0, -1.0)
    columns = (hashes % np.uint64(width)).astype(np.int64)
    matrix = CompressedRows.summed(rows, columns, values, (n, width))
    size = np.sqrt(np.bincount(matrix.rows, matrix.values**2, n))
    return matrix.with_values(matrix.values * (1 / np.where(size > 0, size, 1))[matrix.rows])


def _bag(text: str) -> Counter[str]:
    return Counter(terms(text, identifiers=False))


def _count_terms(texts: Sequence[str]) -> tuple[Counter[str], list[Counter[str]]]:
    """The number of texts that have each term, and the bags of an evenly spaced sample of texts."""
    places = np.linspace(0, len(texts) - 1, min(len(texts), MAX_SAMPLE))
    sample = set(places.round().astype(int).tolist())
    frequency: Counter[str] = Counter()
    bags = []
    for i, text in enumerate(texts):
        bag = _bag(text)
        frequency.update(bag.keys())
        if i in sample and bag:
            bags.append(bag)
    return frequency, bags


def mix_bits(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers whose every bit depends on every bit, by SplitMix64's finaliser.

    Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).

    Example:
        >>> mix_bits(np.array([1, 2], np.uint64)).tolist()
        [6238072747940578789, 15839785061582574730]
    """
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _idf(frequency: Floats, texts: int) -> Floats:
    """The weight of words that occur in so many of the texts: near 0 if these are nearly all."""
    ratio = (max(texts, 1) - frequency + 0.5) / (frequency + 0.5)
    weight: Floats = np.log1p(ratio) ** IDF_POWER
    return weight


def _directions(matrix: Matrix, max_rank: int) -> Floats:
    """The leading right singular vectors [r, v], orthonormal, with a positive largest entry."""
    rows, columns = matrix.shape
    rank = min(max_rank, rows, columns)
    if rank == 0:
        return np.zeros((0, columns))
    if rows <= MAX_EXACT:
        values, left = np.linalg.eigh((matrix @ matrix.T).toarray())
        values, left = values[::-1], left[:, ::-1]
        nonzero = np.flatnonzero(values > 1e-9 * values[0])
        # Within the space of equal values any directions may come: take all of them or none.
        level = dense_ranks(values[nonzero])
        chosen = nonzero[level < level[rank]] if len(nonzero) > rank else nonzero
        right = (matrix.T @ left[:, chosen] / np.sqrt(values[chosen])).T
    else:
        # The values of a random sketch are all different, so that no equal ones are separated.
        from sklearn.utils.extmath import randomized_svd

        right = randomized_svd(matrix, rank, n_iter=2, random_state=0)[2]
    largest = np.abs(right).argmax(axis=1)
    signed: Floats = right * np.sign(right[np.arange(len(right)), largest])[:, None]
    return signed
