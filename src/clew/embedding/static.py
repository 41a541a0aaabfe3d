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

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain, pairwise, repeat
from typing import Any, ClassVar, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.kernels.bag_vectors import centre_at_once
from clew.embedding.latent_semantic import signature_rows
from clew.embedding.mean_sample import sample_places
from clew.embedding.word_vectors import DIMENSIONS, PIECES, piece_numbers, stored_vectors
from clew.graph import Floats, SearchableTexts, Vectors, freeze, offsets_of, seal, unit_rows
from clew.second_thread import both
from clew.text.kept import Kept
from clew.text.numbering import Numbering
from clew.text.words import BOUNDARY, cased_words, number_words, terms

MEANING_SHARE = 0.6  # of the first half, in a dot product
SIGNATURE_WIDTH = 512
MAX_WORDS = 65_536  # whose counts are kept, the most widespread first; others count as in 1
TERM_IDF_POWER = 1.5
MIN_BESIDE = 2048  # texts from which two threads make their vectors
MAX_LOOKED_UP = 256  # terms that are looked for one by one, such as those of a question
MAX_KNOWN_COUNTS = 2048  # terms of texts that are looked for one by one, before a table is made
BATCH = 256  # texts whose vectors are made at once, in arrays that are used again
MAX_SAMPLE = 1024  # texts that the mean is computed from
PRIOR_TEXTS = 30
PRIOR_WORDS = 10  # rank of the piece that is in one of these texts in the mean
MAX_KNOWN_TERMS = 4096  # of questions, whose signatures are kept: some 5 MB
FIRST_MERGE = 259  # the place of the first piece of several letters; those before are single bytes

Counts: TypeAlias = NDArray[np.int32]


class _KnownTerm(NamedTuple):
    """What a term of a question has.

    Attributes:
        columns: int32, the dimensions of its signature that are not 0.
        values: float64, what they are.
        weight: idf^1.5.
    """

    columns: NDArray[np.int32]
    values: Floats
    weight: float


class TextSums(NamedTuple):
    """What texts are by their words, before what all have in common is subtracted.

    Attributes:
        vectors: float32 [n, dimensions], the two halves side by side, unit rows.
        lengths: float64 [n, 2], of the halves, before they were made unit rows.
    """

    vectors: Vectors
    lengths: Floats


@dataclass(frozen=True, eq=False)
class StaticEmbedding:
    """An embedder that is weighted by a corpus: texts -> float32 rows of length 1.

    Attributes:
        languages: ISO 639-1 codes of the languages whose words the vectors were trained on.
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

    languages: ClassVar[tuple[str, ...]] = ("en",)

    n_texts: int
    vocabulary: tuple[str, ...] = field(repr=False)
    word_counts: Counts = field(repr=False)
    piece_counts: Counts = field(repr=False)
    mean: Vectors = field(repr=False)

    @classmethod
    def fit(cls, texts: Sequence[str]) -> StaticEmbedding:
        """Return the embedder that this corpus weights.

        Args:
            texts: the passages; there may be none, and they may have no words.
        """
        return cls.fit_and_embed(texts)[0]

    @classmethod
    def fit_and_embed(
        cls, texts: Sequence[str], counts_of: CountsOf | None = None
    ) -> tuple[StaticEmbedding, Vectors]:
        """Return the embedder that this corpus weights, and the vectors of its texts.

        A text is counted once for both, which is most of the time.

        Args:
            texts: as in `fit`.
            counts_of: counts the texts; None for `TextCounts.of`.
        """
        return cls.fit_and_embed_counted((counts_of or TextCounts.of)(texts))

    @classmethod
    def fit_and_embed_counted(cls, counts: TextCounts) -> tuple[StaticEmbedding, Vectors]:
        """Return what `fit_and_embed` returns, of texts that are counted already.

        Args:
            counts: of the texts.
        """
        uncentred = cls._uncentred([counts])
        vectors, _ = uncentred._vectors_of(counts)
        fitted = uncentred._with_mean_of(vectors[_sample([counts])])
        return fitted, fitted.centre(vectors)

    @classmethod
    def fit_counted(cls, texts: Sequence[str], batches: Sequence[TextCounts]) -> StaticEmbedding:
        """Return what `fit` returns, of texts that are counted already.

        Args:
            texts: as in `fit`.
            batches: their counts, in turn.

        Example:
            >>> texts = ["The ferry to Corfu leaves at nine.", "Anna met Ben."]
            >>> batches = [TextCounts.of([text]) for text in texts]
            >>> fitted = StaticEmbedding.fit_counted(texts, batches)
            >>> fitted.has_counts_of(StaticEmbedding.fit(texts))
            True
        """
        uncentred = cls._uncentred(batches)
        sample = TextCounts.of([texts[i] for i in _sample(batches).tolist()])
        return uncentred._with_mean_of(uncentred._vectors_of(sample)[0])

    @classmethod
    def fit_and_sum(cls, batches: Sequence[TextCounts]) -> tuple[StaticEmbedding, list[TextSums]]:
        """Return what `fit` returns of texts that are counted, and the sums of all these texts.

        Args:
            batches: the counts of the texts, in turn.

        Example:
            >>> texts = ["The ferry to Corfu leaves at nine.", "Anna met Ben."]
            >>> fitted, (sums,) = StaticEmbedding.fit_and_sum([TextCounts.of(texts)])
            >>> vectors, _ = fitted.centre_sums(sums)
            >>> bool((vectors == StaticEmbedding.fit(texts)(texts)).all())
            True
        """
        uncentred = cls._uncentred(batches)
        sums = [uncentred._vectors_of(counts) for counts in batches]
        starts = offsets_of([len(counts) for counts in batches])
        sample = _sample(batches)
        bounds = np.searchsorted(sample, starts)
        chosen = [
            one.vectors[sample[first:last] - start]
            for one, start, (first, last) in zip(sums, starts[:-1], pairwise(bounds), strict=True)
        ]
        vectors = np.concatenate([np.zeros((0, uncentred.dimensions), np.float32), *chosen])
        return uncentred._with_mean_of(vectors), sums

    @classmethod
    def _uncentred(cls, batches: Sequence[TextCounts]) -> StaticEmbedding:
        """Return the embedder that texts weight, whose mean is 0."""
        piece_counts = np.zeros(PIECES, np.int64)
        for counts in batches:
            in_pieces = np.bincount(counts.of_pieces.columns, minlength=len(counts.pieces))
            piece_counts[counts.pieces] += in_pieces
        every, in_texts = _texts_with_each(batches)
        # Of words that come equally often, the order of the alphabet stays.
        ranked = np.argsort(-in_texts, kind="stable")[:MAX_WORDS]
        vocabulary = tuple(map(every.__getitem__, ranked.tolist()))
        return cls(
            sum(len(counts.of_terms) for counts in batches),
            vocabulary,
            freeze(in_texts[ranked], np.int32),
            freeze(piece_counts, np.int32),
            freeze(np.zeros(DIMENSIONS + SIGNATURE_WIDTH), np.float32),
        )

    def _with_mean_of(self, vectors: Vectors) -> StaticEmbedding:
        mean = vectors.sum(axis=0, dtype=np.float64) / (len(vectors) + PRIOR_TEXTS)
        fitted = replace(self, mean=freeze(mean, np.float32))
        for name in ("_count_of", "piece_weights"):  # the mean changes neither
            if name in self.__dict__:
                fitted.__dict__[name] = self.__dict__[name]
        return fitted

    @property
    def dimensions(self) -> int:
        """The number of dimensions of a vector."""
        return DIMENSIONS + SIGNATURE_WIDTH

    def __call__(self, texts: Iterable[str]) -> Vectors:
        """Return float32 [n, dimensions], unit rows; zeros for a text without letters or digits."""
        return self.vectors_of(TextCounts.of(list(texts)))

    def vectors_of(self, counts: TextCounts) -> Vectors:
        """Return the vectors of texts that are counted: float32 [n, dimensions]."""
        return self.centre(self._vectors_of(counts)[0])

    def embed_question(self, text: str) -> Vectors:
        """Return the vector of one text, to the bit as among others: float32 [dimensions].

        What a term has is kept: of the words of a question most came in earlier ones.
        """
        words = cased_words(text) if text.isascii() else []
        if not words:
            return cast("Vectors", self([text])[0])
        meaning, spelling = self._meaning_of(words), self._spelling_of(words)
        joined, _ = self._joined_halves(meaning[None], spelling[None])
        rows: Vectors = joined.astype(np.float32)
        return cast("Vectors", self.centre(rows)[0])

    def _meaning_of(self, words: Sequence[str]) -> Floats:
        """Return the weighted sum of the vectors of the words' pieces: float64 [DIMENSIONS]."""
        counts = Counter(chain.from_iterable(piece_numbers().of_all(words)))
        pieces = np.array(sorted(counts), np.int64)
        times = np.array([counts[piece] for piece in pieces.tolist()], np.float64)
        weights = np.sqrt(times * self.piece_weights[pieces]).tolist()
        vectors, meaning = stored_vectors()[pieces].astype(np.float64), np.zeros(DIMENSIONS)
        for weight, vector in zip(weights, vectors, strict=True):
            meaning += weight * vector
        return meaning

    def _spelling_of(self, words: Sequence[str]) -> Floats:
        """Return the weighted sum of the terms' signatures: float64 [SIGNATURE_WIDTH]."""
        counts = sorted(Counter(word.lower() for word in words).items())
        known = self._known([term for term, _ in counts])
        times = np.array([count for _, count in counts], np.float64)
        weights = ((1 + np.log(times)) * [term.weight for term in known]).tolist()
        spelling = np.zeros(SIGNATURE_WIDTH)
        for weight, term in zip(weights, known, strict=True):
            spelling[term.columns] += weight * term.values
        return spelling

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the fields, since questions add to what else is known."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def _known_terms(self) -> Kept[str, _KnownTerm]:
        return Kept(MAX_KNOWN_TERMS)

    def _known(self, terms: Sequence[str]) -> list[_KnownTerm]:
        """Return what is known of terms; what is not known of some is made for all at once."""
        kept = self._known_terms
        found = {term: known for term in terms if (known := kept.get(term)) is not None}
        new = [term for term in terms if term not in found]
        if new:
            signatures, weights = term_signatures(new), self.term_weights(new)
            bounds = pairwise(signatures.starts.tolist())
            for term, (start, end), weight in zip(new, bounds, weights.tolist(), strict=True):
                columns, values = signatures.columns[start:end], signatures.values[start:end]
                # Copied: what is kept would else keep that of the others, too.
                of_term = _KnownTerm(columns.copy(), values.copy(), weight)
                found[term] = kept.put(term, of_term)
        return [found[term] for term in terms]

    def has_counts_of(self, other: StaticEmbedding) -> bool:
        """Return whether both are weighted by the same counts.

        Example:
            >>> static = StaticEmbedding.fit(["The ferry leaves at nine."])
            >>> static.has_counts_of(StaticEmbedding.fit(["The ferry leaves at ten."]))
            False
        """
        return self is other or (
            self.n_texts == other.n_texts
            and self.vocabulary == other.vocabulary
            and np.array_equal(self.word_counts, other.word_counts)
            and np.array_equal(self.piece_counts, other.piece_counts)
        )

    def embed_counts(self, counts: TextCounts) -> tuple[Vectors, Vectors]:
        """Return the vectors of texts that are counted, and what they are sums with.

        A vector is the weighted sum of the vectors of its pieces, times its first scale, and beside
        it that of the signatures of its terms, times its second, less its third times the mean.

        Args:
            counts: of the texts.

        Returns:
            The vectors, float32 [n, dimensions], and the scales, float32 [n, 3].
        """
        return self.centre_sums(self._vectors_of(counts))

    def centre_sums(self, sums: TextSums) -> tuple[Vectors, Vectors]:
        """Return what `embed_counts` returns, of sums whose vectors become those.

        Args:
            sums: of the texts, by an embedder with these counts.
        """
        scales = self._scales_of(sums)
        return self.centre(sums.vectors), scales

    def scale_counts(self, counts: TextCounts) -> Vectors:
        """Return what vectors are sums with, as `embed_counts` does, without the vectors.

        Args:
            counts: of the texts.

        Example:
            >>> static = StaticEmbedding.fit(["The ferry leaves at nine."])
            >>> counts = TextCounts.of(["A ferry", "..."])
            >>> bool((static.scale_counts(counts) == static.embed_counts(counts)[1]).all())
            True
        """
        scales = np.zeros((len(counts), 3), np.float32)

        def take(start: int, end: int, meaning: Floats, spelling: Floats) -> None:
            halves, lengths = self._joined_halves(meaning, spelling)
            scales[start:end] = self._scales_of(TextSums(halves.astype(np.float32), lengths))

        self._sum_in_batches(counts, take)  # which are not all in memory at once
        return scales

    def scale_sums(self, counts: TextCounts) -> Vectors:
        """Return what `scale_counts` returns, but for the rounding, in half the time.

        The halves are not made unit rows: their lengths, and their products with the mean, say
        where the vectors are.

        Args:
            counts: of the texts.

        Example:
            >>> static = StaticEmbedding.fit(["The ferry leaves at nine."])
            >>> counts = TextCounts.of(["A ferry", "..."])
            >>> bool(np.allclose(static.scale_sums(counts), static.scale_counts(counts)))
            True
        """
        lengths, products = np.zeros((len(counts), 2)), np.zeros((len(counts), 2))
        mean = self.mean.astype(np.float64)

        def take(start: int, end: int, meaning: Floats, spelling: Floats) -> None:
            lengths[start:end] = _half_lengths(meaning, spelling)
            products[start:end, 0] = meaning @ mean[:DIMENSIONS]
            products[start:end, 1] = spelling @ mean[DIMENSIONS:]

        self._sum_in_batches(counts, take)
        return self.scales_of_halves(half_scales(lengths), products)

    def scales_of_halves(self, halves: Floats, products: Floats) -> Vectors:
        """Return the scales of texts, as `scale_sums` does.

        Args:
            halves: float64 [n, 2], what the halves are multiplied by before the mean is subtracted.
            products: float64 [n, 2], the products of the sums of each half with the mean.
        """
        mean = self.mean.astype(np.float64)
        with_mean = (halves * products).sum(axis=1)
        centred = np.sqrt(np.maximum(1 - 2 * with_mean + mean @ mean, 0))
        scale = halves.any(axis=1) / np.maximum(centred, 1e-300)
        return np.column_stack([halves * scale[:, None], scale]).astype(np.float32)

    def _scales_of(self, sums: TextSums) -> Vectors:
        vectors, lengths = sums
        scales = np.zeros((len(vectors), 3), np.float32)
        for start in range(0, len(vectors), BATCH):
            some = slice(start, start + BATCH)
            scales[some] = self._scales_of_some(vectors[some], lengths[some])
        return scales

    def _scales_of_some(self, vectors: Vectors, lengths: Floats) -> Vectors:
        scales = np.zeros((len(vectors), 3), np.float32)
        centred = np.linalg.norm(vectors.astype(np.float64) - self.mean, axis=1)
        factors = np.where(lengths > 0, [MEANING_SHARE, 1 - MEANING_SHARE], 0)
        scale = 1 / np.maximum(np.sqrt(factors.sum(axis=1)) * centred, 1e-300)
        halves = np.sqrt(factors) / np.where(lengths > 0, lengths, 1)
        scales[:, :2] = halves * scale[:, None]
        scales[:, 2] = np.where(factors.any(axis=1), 1 / np.maximum(centred, 1e-300), 0)
        return scales

    def _vectors_of(self, counts: TextCounts) -> TextSums:
        """Return the two halves side by side, before the mean is subtracted, and their lengths."""
        n = len(counts)
        lengths = np.zeros((n, 2))
        vectors = np.zeros((n, self.dimensions), np.float32)

        def take(start: int, end: int, meaning: Floats, spelling: Floats) -> None:
            joined = self._joined_halves(meaning, spelling)
            vectors[start:end], lengths[start:end] = joined

        self._sum_in_batches(counts, take)
        return TextSums(vectors, lengths)

    def _sum_in_batches(
        self, counts: TextCounts, take: Callable[[int, int, Floats, Floats], None]
    ) -> None:
        """Add up the pieces and the terms of texts, batch by batch, perhaps in two threads.

        Args:
            counts: of the texts, perhaps in narrow types.
            take: called with the places of a batch, from one on and up to another, and the sums,
                float64 [n, DIMENSIONS] and float64 [n, SIGNATURE_WIDTH].
        """
        n = len(counts)
        if not n:  # whatever terms there are
            return
        pieces = stored_vectors()[counts.pieces].astype(np.float64)
        spellings = counts.signatures_of_terms()
        of_terms = self.term_weights(counts.terms, counts.rarest)
        weights = self.piece_weights[counts.pieces], of_terms

        def make(first: int, last: int) -> None:
            for start in range(first, last, BATCH):
                end = min(start + BATCH, last)
                of_pieces, of_terms = _weighted(widened(counts.part(start, end)), *weights)
                meaning = of_pieces.times_dense(pieces)
                spelling = of_terms.dense_product(spellings)
                take(start, end, meaning, spelling)

        if n <= MIN_BESIDE:
            make(0, n)
        else:
            half = n // (2 * BATCH) * BATCH
            both(lambda: make(0, half), lambda: make(half, n))

    def _joined_halves(self, meaning: Floats, spelling: Floats) -> tuple[Floats, Floats]:
        """Return unit rows that consist of two weighted halves, and the lengths of the halves.

        Args:
            meaning: float64 [n, DIMENSIONS].
            spelling: float64 [n, SIGNATURE_WIDTH].

        Returns:
            float64 [n, dimensions], and float64 [n, 2].
        """
        halves, lengths = np.empty((len(meaning), self.dimensions)), np.empty((len(meaning), 2))
        lengths[:, 0], lengths[:, 1] = (
            np.linalg.norm(half, axis=1) for half in (meaning, spelling)
        )
        divisors = np.where(lengths > 0, lengths, 1)
        first, second = halves[:, :DIMENSIONS], halves[:, DIMENSIONS:]
        np.divide(meaning, divisors[:, :1], out=first)
        np.divide(spelling, divisors[:, 1:], out=second)
        first *= np.sqrt(MEANING_SHARE)
        second *= np.sqrt(1 - MEANING_SHARE)
        return unit_rows(halves), lengths

    def term_weights(self, terms: Sequence[str], rarest: NDArray[np.int64] | None = None) -> Floats:
        """Return the weight of each term, idf^1.5: float64 [terms].

        Args:
            terms: the terms.
            rarest: int64 [terms], their rarest pieces, or others that weigh the same; None to look
                for them.
        """
        frequencies = np.fromiter(self._counts_of(terms), np.float64, len(terms))
        rarest = rarest_pieces(terms) if rarest is None else rarest
        return self.weights_of_counts(frequencies, rarest)

    def _counts_of(self, terms: Sequence[str]) -> Iterator[int]:
        """Yield the number of texts that have each term; 1 for one that none has.

        Terms of stored texts are looked for one by one: those of a question always, and those of
        texts until a table of all takes no longer.
        """
        are_few = len(terms) <= MAX_LOOKED_UP
        known = {} if are_few else self._known_counts
        is_stored = isinstance(self.vocabulary, SearchableTexts) and "_count_of" not in vars(self)
        if not is_stored or (not are_few and len(known) + len(terms) > MAX_KNOWN_COUNTS):
            yield from map(self._count_of.get, terms, repeat(1))
            return
        for term in terms:
            count = known.get(term)
            if count is None:
                place = self._place_of(term)
                count = known[term] = 1 if place is None else self.word_counts.item(place)
            yield count

    def weights_of_counts(self, counts: Floats, rarest: NDArray[np.int64]) -> Floats:
        """Return the weights of terms that so many texts have: float64 [n].

        Args:
            counts: the number of texts; a term that none has counts as one of a single text.
            rarest: int64 [n], the rarest piece of each term.
        """
        weights: Floats = _idf(np.maximum(counts, 1), rarest, self.n_texts) ** TERM_IDF_POWER
        return weights

    def rarest_pieces_of(self, terms: Sequence[str], weights: Floats) -> NDArray[np.int64]:
        """Return the rarest pieces of terms whose weights are known, or others that weigh the same.

        A weight says how many texts have a term, which is known, and how rare its rarest piece is.
        To look for the pieces of all terms of an index takes a new process longer than a question.

        Args:
            terms: the terms.
            weights: float64 [n], those that `term_weights` returns.

        Returns:
            int64 [n]: with them, `weights_of_counts` returns what it does with `rarest_pieces`.

        Example:
            >>> static, terms = StaticEmbedding.fit(["The ferry leaves at nine."]), ["the", "ferry"]
            >>> found = static.rarest_pieces_of(terms, static.term_weights(terms))
            >>> bool(found[1] == rarest_pieces(["ferry"])[0])
            True
        """
        count_of, n = self._count_of, self.n_texts + PRIOR_TEXTS
        counts = np.fromiter(map(count_of.get, terms, repeat(1)), np.float64, len(terms))
        ratios = np.expm1(weights ** (1 / TERM_IDF_POWER))
        prior = (n + 0.5 - 0.5 * ratios) / (1 + ratios) - np.maximum(counts, 1)
        least = PRIOR_TEXTS * PRIOR_WORDS / PIECES  # of the rarest piece of all
        ranks = np.rint(PRIOR_TEXTS * PRIOR_WORDS / np.maximum(prior, least)).astype(np.int64)
        found: NDArray[np.int64] = np.clip(ranks, PRIOR_WORDS, PIECES - 1 - FIRST_MERGE)
        found += FIRST_MERGE
        others = np.flatnonzero(self.weights_of_counts(counts, found) != weights)
        found[others] = rarest_pieces([terms[i] for i in others.tolist()])
        return found

    def centre(self, vectors: Vectors) -> Vectors:
        """Subtract the mean from the vectors, in place, and return them as unit rows."""
        centre_at_once(vectors, self.mean)  # a build would load the compiler for this alone
        return seal(vectors)

    @cached_property
    def _place_of(self) -> Callable[[str], int | None]:
        vocabulary: object = self.vocabulary
        assert isinstance(vocabulary, SearchableTexts)
        return vocabulary.places()

    @cached_property
    def _known_counts(self) -> dict[str, int]:
        """The number of texts that have each term which was looked for."""
        return {}

    @cached_property
    def _count_of(self) -> dict[str, int]:
        return dict(zip(self.vocabulary, self.word_counts.tolist(), strict=True))

    @cached_property
    def piece_weights(self) -> Floats:
        """The weight of each piece, idf: float64 [32000]."""
        counts = self.piece_counts.astype(np.float64)
        return _idf(counts, np.arange(PIECES), self.n_texts)


def _texts_with_each(batches: Sequence[TextCounts]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the terms of all batches, sorted, and the number of texts that have each."""
    each = [np.bincount(one.of_terms.columns, minlength=len(one.terms)) for one in batches]
    if len(batches) == 1:
        return batches[0].terms, each[0]
    number_of = Counter[str]()
    for counts, in_texts in zip(batches, each, strict=True):
        number_of.update(dict(zip(counts.terms, in_texts.tolist(), strict=True)))
    every = sorted(number_of)
    return every, np.fromiter(map(number_of.__getitem__, every), np.int64, len(every))


def term_signatures(terms: Sequence[str]) -> CompressedRows:
    """Return the signature of each term, in the numbers that an index keeps of it.

    Args:
        terms: the terms.

    Returns:
        float64 [terms, SIGNATURE_WIDTH], each a float32: so a vector is the same from a text as
        from a saved index.

    Example:
        >>> values = term_signatures(["ferry"]).values
        >>> bool((values == values.astype(np.float32)).all())
        True
    """
    rows = signature_rows(terms, SIGNATURE_WIDTH)
    return rows.with_values(rows.values.astype(np.float32).astype(np.float64))


def rarest_pieces(terms: Sequence[str]) -> NDArray[np.int64]:
    """Return the rarest piece of each term, 0 where it has none: int64 [n].

    Example:
        >>> (rarest_pieces(["the", "Corfu"]) > 0).tolist(), rarest_pieces([""]).tolist()
        ([True, True], [0])
    """
    pieces_of = piece_numbers().of_all(terms)
    return np.fromiter([max(own) if own else 0 for own in pieces_of], np.int64, len(terms))


def _half_lengths(meaning: Floats, spelling: Floats) -> Floats:
    """Return the lengths of the sums of both halves: float64 [n, 2]."""
    squares = [np.einsum("ij,ij->i", half, half) for half in (meaning, spelling)]
    lengths: Floats = np.sqrt(np.stack(squares, axis=1))
    return lengths


def half_scales(lengths: Floats) -> Floats:
    """Return what two halves are multiplied by, so that they make unit rows side by side.

    Args:
        lengths: float64 [n, 2], of the halves; 0 for one without words.

    Example:
        >>> half_scales(np.array([[2.0, 0.0], [0.0, 0.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.0]]
    """
    shares = np.where(lengths > 0, [MEANING_SHARE, 1 - MEANING_SHARE], 0)
    halves = np.sqrt(shares) / np.where(lengths > 0, lengths, 1)
    total = np.sqrt(shares.sum(axis=1))
    total[total == 0] = 1
    scales: Floats = halves / total[:, None]
    return scales


def _sample(batches: Sequence[TextCounts]) -> NDArray[np.int64]:
    """Return the places of the texts whose vectors give the mean."""
    return sample_places([(counts.pieces, counts.of_pieces) for counts in batches], MAX_SAMPLE)


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
class TextCounts:
    """How often each text has each of its terms, and each piece of its words.

    Attributes:
        terms: the distinct terms, sorted.
        of_terms: float64 [texts, terms].
        pieces: the distinct pieces, as rows of `stored_vectors`, ascending.
        of_pieces: float64 [texts, pieces].
        signatures: those of the terms, where they are known, float32 or float64.
        rarest: int64 [terms], the rarest piece of each, where they are known, or others that weigh
            the same.
    """

    terms: list[str]
    of_terms: CompressedRows
    pieces: NDArray[np.int64]
    of_pieces: CompressedRows
    signatures: CompressedRows | None = None
    rarest: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.of_terms)

    def signatures_of_terms(self) -> CompressedRows:
        """Return what `term_signatures` does of the terms."""
        return term_signatures(self.terms) if self.signatures is None else self.signatures

    def take(self, rows: NDArray[np.int64]) -> TextCounts:
        """Return the counts of some of the texts, in any order."""
        return replace(self, of_terms=self.of_terms.take(rows), of_pieces=self.of_pieces.take(rows))

    def part(self, start: int, end: int) -> TextCounts:
        """Return the counts of neighbouring texts."""
        of_terms, of_pieces = self.of_terms.part(start, end), self.of_pieces.part(start, end)
        return replace(self, of_terms=of_terms, of_pieces=of_pieces)

    @classmethod
    def joined(cls, parts: Sequence[TextCounts]) -> TextCounts:
        """Return the counts of the texts of all parts, one part after the other.

        Example:
            >>> one, other = TextCounts.of(["a red fox"]), TextCounts.of(["the fox"])
            >>> joined = TextCounts.joined([one, other])
            >>> joined.terms, joined.of_terms.dense().tolist()
            (['a', 'fox', 'red', 'the'], [[1.0, 1.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
        """
        terms = sorted(set().union(*(part.terms for part in parts)))
        number_of = {term: number for number, term in enumerate(terms)}
        pieces = np.flatnonzero(np.bincount(np.concatenate([part.pieces for part in parts])))
        of_terms = [
            _with_numbers(part.of_terms, [number_of[term] for term in part.terms], len(terms))
            for part in parts
        ]
        of_pieces = [
            _with_numbers(part.of_pieces, np.searchsorted(pieces, part.pieces), len(pieces))
            for part in parts
        ]
        return cls(
            terms, CompressedRows.stacked(of_terms), pieces, CompressedRows.stacked(of_pieces)
        )

    @classmethod
    def of(cls, texts: Sequence[str]) -> TextCounts:
        texts = [t if t.isascii() else unicodedata.normalize("NFKC", t) for t in texts]
        words, rows, word_numbers = _words_by_numbers(texts)
        piece_values, piece_starts = _joined(piece_numbers().of_all(words))
        # `np.unique` sorts them, and imports masked arrays.
        pieces = np.flatnonzero(np.bincount(piece_values, minlength=PIECES))
        place_of_piece = np.zeros(PIECES, np.int64)
        place_of_piece[pieces] = np.arange(len(pieces))
        of_words = CompressedRows.counted(rows, word_numbers, (len(texts), len(words)))
        by_piece = place_of_piece[piece_values]
        of_pieces = of_words.times(_counted(by_piece, piece_starts, len(pieces)))
        # The terms of plain English letters are the words, in lower case.
        number_of_term = Numbering[str]()
        lower_numbers = number_of_term.of_all(list(map(str.lower, words)))
        is_plain = np.array([text.isascii() for text in texts], np.bool_)
        others = np.flatnonzero(~is_plain)
        other_numbers, other_starts = number_of_term.of_lists(
            terms(texts[i], identifiers=False) for i in others.tolist()
        )
        if len(others):
            of_plain = is_plain[rows]
            rows, word_numbers = rows[of_plain], word_numbers[of_plain]
        rows = np.concatenate([rows, np.repeat(others, other_starts[1:] - other_starts[:-1])])
        numbers = np.concatenate([lower_numbers[word_numbers], other_numbers])
        all_terms, of_terms = _by_name(list(number_of_term), rows, numbers, len(texts))
        return cls(all_terms, of_terms, pieces.astype(np.int64), of_pieces)


CountsOf: TypeAlias = Callable[[Sequence[str]], TextCounts]
"""What counts texts."""


def widened(counts: TextCounts) -> TextCounts:
    """Return counts as `TextCounts.of` does, of those that are the same in narrower types."""

    def as_counted(rows: CompressedRows) -> CompressedRows:
        columns: NDArray[np.int32] = rows.columns.astype(np.int32, copy=False)
        return replace(rows, columns=columns, values=rows.values.astype(np.float64, copy=False))

    of_terms, of_pieces = as_counted(counts.of_terms), as_counted(counts.of_pieces)
    return replace(counts, of_terms=of_terms, of_pieces=of_pieces)


def _weighted(
    counts: TextCounts, of_each_piece: Floats, of_each_term: Floats
) -> tuple[CompressedRows, CompressedRows]:
    """The weights of the pieces and of the terms of every text.

    Args:
        counts: of the texts.
        of_each_piece: float64 [pieces], the weights of the pieces by themselves.
        of_each_term: float64 [terms].
    """
    of_pieces, of_terms = counts.of_pieces, counts.of_terms
    return (
        of_pieces.with_values(np.sqrt(of_pieces.values * of_each_piece[of_pieces.columns])),
        of_terms.with_values((1 + np.log(of_terms.values)) * of_each_term[of_terms.columns]),
    )


def _with_numbers(
    counts: CompressedRows, numbers: Sequence[int] | NDArray[np.integer], width: int
) -> CompressedRows:
    """The counts with other numbers for the columns, in the same order."""
    columns = np.asarray(numbers, np.int32)[counts.columns]
    return replace(counts, columns=columns, width=width)


def _words_by_numbers(
    texts: Sequence[str],
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int32]]:
    """Return the distinct words of texts in NFKC, and of each word that comes its text and number.

    Args:
        texts: the texts.

    Returns:
        The words by their numbers; int64 [m], the text of each that comes; and int32 [m], which it
        is. They are in no order.
    """
    number_of = Numbering[str]({BOUNDARY: 0})
    plain = number_words(texts, number_of)
    more, starts = number_of.of_lists(cased_words(texts[i]) for i in plain.others)
    owners = np.repeat(np.array(plain.others, np.int64), np.diff(starts))
    rows: NDArray[np.int64] = np.concatenate([plain.owners, owners])
    numbers = np.concatenate([plain.numbers, more]) - np.int32(1)  # without the boundary
    return list(number_of)[1:], rows, numbers


def _by_name(
    things: Sequence[str], rows: NDArray[np.int64], numbers: NDArray[np.int32], n_rows: int
) -> tuple[list[str], CompressedRows]:
    """The things that come, sorted, and how often each row has each.

    Args:
        things: by number.
        rows: the row of each one that comes.
        numbers: the number of each one that comes.
        n_rows: the number of rows.
    """
    used = np.flatnonzero(np.bincount(numbers, minlength=len(things))).tolist()
    used.sort(key=things.__getitem__)
    column_of = np.zeros(len(things), np.int32)
    column_of[used] = np.arange(len(used), dtype=np.int32)
    counts = CompressedRows.counted(rows, column_of[numbers], (n_rows, len(used)))
    return [things[number] for number in used], counts


def _joined(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All lists one after the other, and where each starts and ends."""
    values = np.fromiter(chain.from_iterable(lists), np.int64)
    return values, offsets_of(np.fromiter(map(len, lists), np.int64, len(lists)))


def _counted(columns: NDArray[np.integer], starts: NDArray[np.int64], width: int) -> CompressedRows:
    """How often each column comes in each row, by the columns of the rows one after the other."""
    rows = np.repeat(np.arange(len(starts) - 1), starts[1:] - starts[:-1])
    return CompressedRows.counted(rows, columns, (len(starts) - 1, width))
