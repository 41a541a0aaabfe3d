"""The embedded default: vectors made of the corpus's own words, with no download and no network.

A text is a bag of terms (`clew.text.words.terms`), weighted by tf-idf. The part of it that lies in the corpus's leading singular
directions (latent semantic analysis, Deerwester et al. 1990) is kept as it is; what those leave out, which is nearly all there is of a
rare name, is projected at random (Achlioptas 2003) with word signatures made of character trigrams (as in fastText, Bojanowski et al.
2017), so that spelling variants and words never seen before come near what they look like. On MuSiQue and HotpotQA, recall at 2, 5 and 10
was above BM25's; truncated singular vectors alone were far below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import levels
from clew.graph import Floats, Vectors, freeze
from clew.text.words import terms

DIMENSIONS = 1024
WORDS = 32_768  # with a direction of their own, the most widespread first: 384 float32 each are 48 MB in all
TEXTS = 8_192  # at most so many, evenly spaced, find the directions; the idf counts all
EXACT = 1_024  # up to so many texts the directions are exact; above, by randomised projection (Halko et al. 2011)
RARITY = 1.5  # power of the idf
RESIDUAL = 0.5  # weight of what the directions leave out, in a dot product
WHOLE = 0.15  # share of a word's signature that is the word itself and not its trigrams
REPEATS = 4  # places of the word itself


@dataclass(frozen=True, eq=False)
class LatentSemantic:
    """An embedder fitted on a corpus: call it with texts, get float32 rows of length 1. Plain arrays, at most about 50 MB.

    Attributes (v words, r directions, h signature places; a vector has r + h dimensions):
        vocabulary: the v known words. idf: float64 [v], their weights. unknown: the weight of any other word.
        components: float32 [v, r], orthonormal columns. overlap: float32 [r, h], the signatures' share in each direction.
    """

    vocabulary: tuple[str, ...]
    idf: Floats
    unknown: float
    components: Vectors
    overlap: Vectors

    @classmethod
    def fit(cls, texts: Sequence[str], dimensions: int = DIMENSIONS) -> LatentSemantic:
        """Return the embedder of this corpus; the same texts give the same vectors, whatever the hash seed and the number of threads.

        Args:
            texts: the passages; none, one, or such without any word will do. dimensions: of the vectors, at least 16.
        """
        if (
            isinstance(dimensions, bool)
            or not isinstance(dimensions, (int, np.integer))
            or dimensions < 16
        ):
            raise ValueError(f"dimensions is a whole number of at least 16; got {dimensions!r}")
        sample = set(
            np.linspace(0, len(texts) - 1, min(len(texts), TEXTS)).round().astype(int).tolist()
        )
        spread: Counter[str] = Counter()  # in how many texts
        bags = []
        for i, text in enumerate(texts):
            bag = Counter(terms(text, identifiers=False))
            spread.update(bag.keys())
            if i in sample and bag:
                bags.append(bag)
        vocabulary = tuple(sorted(spread, key=lambda word: (-spread[word], word))[:WORDS])
        idf = _rarity(np.array([spread[word] for word in vocabulary], np.float64), len(texts))
        bare = cls(
            vocabulary,
            freeze(idf, np.float64),
            float(_rarity(np.ones(1), len(texts))[0]),
            *_empty(len(vocabulary), dimensions),
        )
        found, matrix = bare._matrix(bags)
        known = np.array([bare._row.get(word, -1) for word in found], np.int64)
        directions = _directions(matrix[:, np.flatnonzero(known >= 0)], 3 * dimensions // 8)
        components = np.zeros((len(vocabulary), len(directions)))
        components[known[known >= 0]] = directions.T
        overlap = components.T @ signatures(vocabulary, int(dimensions) - len(directions))
        return cls(
            vocabulary,
            bare.idf,
            bare.unknown,
            freeze(components, np.float32),
            freeze(overlap, np.float32),
        )

    @property
    def dimensions(self) -> int:
        return sum(self.overlap.shape)

    def __call__(self, texts: Iterable[str]) -> Vectors:
        """Return float32 [n, dimensions], rows of length 1; a row of zeros for a text without any letter or digit."""
        found, matrix = self._matrix([Counter(terms(text, identifiers=False)) for text in texts])
        rows = np.array([self._row.get(word, -1) for word in found], np.int64)
        known = np.flatnonzero(rows >= 0)
        latent = matrix[:, known] @ self.components[rows[known]].astype(np.float64)
        rest = matrix @ signatures(found, self.overlap.shape[1])
        vectors = np.hstack([latent, np.sqrt(RESIDUAL) * (rest.toarray() - latent @ self.overlap)])
        return freeze(_unit(vectors), np.float32)

    def question(self, text: str) -> Vectors:
        """Return the vector of one text: float32 [dimensions]."""
        vector: Vectors = self([text])[0]
        return vector

    @cached_property
    def _row(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.vocabulary)}

    def _matrix(self, bags: Sequence[Counter[str]]) -> tuple[list[str], Any]:
        """The distinct words of the bags, and float64 [bags, words]: (1 + ln tf) * idf, in sparse rows of length 1."""
        from scipy.sparse import csr_array

        place: dict[str, int] = {}
        columns = [place.setdefault(word, len(place)) for bag in bags for word in bag]
        counts = np.array([count for bag in bags for count in bag.values()], np.float64)
        owners = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
        weights = np.array(
            [self.idf[self._row[word]] if word in self._row else self.unknown for word in place]
        )
        values = (1 + np.log(counts)) * weights[columns]
        values /= np.sqrt(np.bincount(owners, values**2, minlength=len(bags)))[owners]
        return list(place), csr_array((values, (owners, columns)), shape=(len(bags), len(place)))


def signatures(vocabulary: Sequence[str], width: int) -> Any:
    """Return sparse float64 [v, width] rows of length 1 that are near for words spelt alike and near 0 for others.

    A word's signature has a +1 or -1 for each of its trigrams, the ends marked, at a place that a hash chooses, and some for the word
    itself. The hash is fixed arithmetic on code points: the same on every machine.
    """
    from scipy.sparse import csr_array

    if not vocabulary:
        return csr_array((0, width))
    letters = np.frombuffer(
        "".join(f"\x02{word}\x03" for word in vocabulary).encode("utf-32-le"), "<u4"
    ).astype(np.uint64)
    lengths = np.array([len(word) + 2 for word in vocabulary])
    starts = np.cumsum(lengths) - lengths
    owners = np.repeat(np.arange(len(vocabulary)), lengths)
    whole = np.add.reduceat(
        _mixed(
            letters
            + (np.arange(len(letters)) - starts[owners]).astype(np.uint64) * np.uint64(2**32)
        ),
        starts,
    )
    grams = _mixed(
        (letters[:-2] * np.uint64(2**21) + letters[1:-1]) * np.uint64(2**21) + letters[2:]
    )
    inside = owners[:-2] == owners[2:]
    again = np.arange(1, REPEATS + 1, dtype=np.uint64)
    hashes = np.concatenate([grams[inside], _mixed(whole[:, None] + again).ravel()])
    rows = np.concatenate([owners[:-2][inside], np.repeat(np.arange(len(vocabulary)), REPEATS)])
    share = np.concatenate(
        [
            ((1 - WHOLE) / (lengths - 2))[owners[:-2][inside]],
            np.full(len(vocabulary) * REPEATS, WHOLE / REPEATS),
        ]
    )
    values = np.sqrt(share) * np.where(hashes >> np.uint64(63), 1.0, -1.0)
    found = csr_array(
        (values, (rows, (hashes % np.uint64(width)).astype(np.int64))),
        shape=(len(vocabulary), width),
    )
    size = np.sqrt(found.multiply(found).sum(axis=1))
    return found.multiply((1 / np.where(size > 0, size, 1))[:, None]).tocsr()


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread 64-bit numbers so that every bit depends on every bit (the finaliser of SplitMix64, Steele et al. 2014)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _rarity(spread: Floats, texts: int) -> Floats:
    """The weight of words that occur in `spread` of the texts: near 0 for what stands in nearly all of them, in any language."""
    weight: Floats = np.log1p((max(texts, 1) - spread + 0.5) / (spread + 0.5)) ** RARITY
    return weight


def _directions(matrix: Any, most: int) -> Floats:
    """The leading right singular vectors of sparse rows: [r, v], orthonormal, each with its largest entry positive."""
    rank = min(most, *matrix.shape)
    if rank == 0:
        return np.zeros((0, matrix.shape[1]))
    if matrix.shape[0] <= EXACT:
        values, left = np.linalg.eigh((matrix @ matrix.T).toarray())
        values, left = values[::-1], left[:, ::-1]
        real = np.flatnonzero(values > 1e-9 * values[0])
        turns = levels(
            values[real]
        )  # of equal values, any directions within one space may come: the cut takes all of them or none
        whole = real[turns < turns[rank]] if len(real) > rank else real
        right = (matrix.T @ left[:, whole] / np.sqrt(values[whole])).T
    else:
        # The values of a sketch at random are all different, so that no cut parts equal ones.
        from sklearn.utils.extmath import randomized_svd

        right = randomized_svd(matrix, rank, n_iter=2, random_state=0)[2]
    largest = np.abs(right).argmax(axis=1)
    signed: Floats = right * np.sign(right[np.arange(len(right)), largest])[:, None]
    return signed


def _empty(words_known: int, dimensions: int) -> tuple[Vectors, Vectors]:
    return freeze(np.zeros((words_known, 0)), np.float32), freeze(
        np.zeros((0, dimensions)), np.float32
    )


def _unit(rows: Floats) -> Floats:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    length[length == 0] = 1
    scaled: Floats = rows / length
    return scaled
