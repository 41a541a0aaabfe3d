"""The embedded default for texts whose corpus nobody has: the candidates of another retriever.

Fifty candidates say little of how rare a word is in the corpus that they were found in. So words
are weighted as Zipf's law has it (see `clew.embedding.static`), and only a mean is subtracted: of
the facts that were read in the candidates, or of the candidates where there are none. A vector is
then made of its text alone before the mean is subtracted, and is kept for the next question that
finds the same text. On the 200 questions of two multi-hop sets recall
is nowhere below that of weights by the candidates beyond its interval (in 512 tokens +.020, -.025).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import compress, repeat
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.bag_vectors import centre_rows, put_halves, round_rows, sum_rows
from clew.embedding.embedder import FITTED, Embedder, fit_default
from clew.embedding.static import PRIOR_TEXTS, StaticEmbedding
from clew.embedding.word_table import WordTable
from clew.embedding.word_vectors import MissingVectorsError, stored_vectors
from clew.forking import renew_after_fork
from clew.graph import Vectors, freeze, seal
from clew.text.kept import MAX_KEPT_TEXT

MAX_KEPT = 32_768  # texts whose vectors are kept, as bfloat16: at most 50 MB


class KeptVectors:
    """Vectors by text; the oldest make room for the newest.

    Example:
        >>> kept = KeptVectors(StaticEmbedding.fit(()))
        >>> bool((kept(["Anna met Ben."]) == kept(["Anna met Ben."])).all())
        True
    """

    def __init__(self, static: StaticEmbedding, most: int = MAX_KEPT) -> None:
        self.static, self._most = static, most
        self._table = WordTable(static)
        self._texts: list[str | None] = []  # by their place
        self._place_of: dict[str, int] = {}
        self._vectors = np.zeros((0, static.dimensions), np.uint16)
        self._next = 0
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Replace the lock by a new one, which nobody holds."""
        self._lock = Lock()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return the vector of each text, float32 [n, dimensions], in an array of the caller's."""
        vectors = np.empty((len(texts), self.static.dimensions), np.float32)
        bits = vectors.view(np.uint32)
        with self._lock:
            places = np.fromiter(map(self._place_of.get, texts, repeat(-1)), np.int64, len(texts))
            is_missing = places < 0
            known = np.flatnonzero(~is_missing)
            put_halves(bits, known, self._vectors, places[known])
        if len(known) == len(texts):
            return vectors
        new = list(compress(texts, is_missing.tolist()))
        made = self._table.vectors(new)
        halves = np.empty(made.shape, np.uint16)
        round_rows(made.view(np.uint32), halves)  # and these numbers, too
        with self._lock:
            self._keep(new, halves)
        if not len(known):
            return made
        vectors[is_missing] = made
        return vectors

    def _keep(self, texts: Sequence[str], vectors: NDArray[np.uint16]) -> None:
        row_of = dict(zip(texts, range(len(texts)), strict=True))
        if max(map(len, texts)) > MAX_KEPT_TEXT or not self._place_of.keys().isdisjoint(texts):
            row_of = {
                text: row
                for text, row in row_of.items()
                if text not in self._place_of and len(text) <= MAX_KEPT_TEXT
            }
        new, rows = list(row_of)[-self._most :], list(row_of.values())[-self._most :]
        places = (self._next + np.arange(len(new))) % self._most
        self._next = (self._next + len(new)) % self._most
        end = int(places.max(initial=-1)) + 1
        if end > len(self._vectors):
            size = min(self._most, max(512, 2 * len(self._vectors), end))
            grown = np.empty((size, self._vectors.shape[1]), np.uint16)
            grown[: len(self._vectors)] = self._vectors
            self._vectors = grown
        if len(self._texts) + len(new) == end:  # nothing has to make room
            self._vectors[len(self._texts) : end] = (
                vectors if len(new) == len(vectors) else vectors[rows]
            )
            self._texts += new
            self._place_of.update(zip(new, places.tolist(), strict=True))
            return
        self._texts += [None] * (end - len(self._texts))
        for text, place in zip(new, places.tolist(), strict=True):
            if (before := self._texts[place]) is not None:
                del self._place_of[before]
            self._texts[place] = text
            self._place_of[text] = place
        self._vectors[places] = vectors[rows]


def _mean_of(vectors: Vectors) -> Vectors:
    mean = sum_rows(vectors) / (len(vectors) + PRIOR_TEXTS)
    return freeze(mean, np.float32)


@lru_cache(maxsize=1)
def kept_vectors() -> KeptVectors:
    """Return the vectors of texts that all questions of this process share."""
    return KeptVectors(StaticEmbedding.fit(()))


class GeneralEmbedding(StaticEmbedding):
    """`StaticEmbedding` weighted by no corpus, from whose vectors the mean of some is subtracted.

    Example:
        >>> texts = ["The ferry to Corfu leaves at nine.", "Anna met Ben."]
        >>> ship, person = GeneralEmbedding.centred(texts)(texts) @ GeneralEmbedding.centred(
        ...     texts
        ... ).embed_question("When does the boat depart?")
        >>> bool(ship > person)
        True
    """

    _centred_on: list[str]
    _wanted_next: list[str]

    @classmethod
    def centred(cls, texts: Sequence[str], wanted_next: Sequence[str] = ()) -> GeneralEmbedding:
        """Return the embedder from whose vectors the mean of these texts is subtracted.

        Args:
            texts: The texts.
            wanted_next: Other texts that are embedded soon: they are, with the first ones that
                come, and then are known.

        Raises:
            MissingVectorsError: The word vectors are not installed.
        """
        stored_vectors()
        static, made = kept_vectors().static, object.__new__(cls)
        made.__dict__.update(
            n_texts=0,
            vocabulary=static.vocabulary,
            word_counts=static.word_counts,
            piece_counts=static.piece_counts,
            _centred_on=list(texts),
            _wanted_next=list(wanted_next),
        )
        return made

    def centre_on(self, texts: Sequence[str]) -> None:
        """Subtract the mean of other texts from all vectors; to be called before any is made."""
        self.__dict__["_centred_on"] = list(texts)

    @cached_property
    def mean(self) -> Vectors:
        """What is subtracted from every vector: float32 [dimensions]."""
        return _mean_of(kept_vectors()(self._centred_on))

    def __call__(self, texts: Iterable[str]) -> Vectors:
        """Return float32 [n, dimensions], unit rows; zeros for a text without letters or digits."""
        listed = list(texts)
        others = self.__dict__.pop("_wanted_next", ())  # two calls would take longer than one
        vectors = kept_vectors()([*listed, *others])[: len(listed)]
        own = self.__dict__.get("_centred_on", ())
        if "mean" not in self.__dict__ and listed[: len(own)] == own:
            self.__dict__["mean"] = _mean_of(vectors[: len(own)])  # all are embedded at once
        centre_rows(vectors, self.mean)
        return seal(vectors)

    def embed_question(self, text: str) -> Vectors:
        """Return the vector of one text, as among others: float32 [dimensions]."""
        vector: Vectors = self([text])[0]
        return vector


def general_embedder(texts: Sequence[str], wanted_next: Sequence[str] = ()) -> Embedder:
    """Return the embedded default for texts whose corpus nobody has.

    Where its word vectors are not installed, it is fitted on the texts; see `fit_default`.

    Args:
        texts: The texts.
        wanted_next: As in `GeneralEmbedding.centred`.

    Example:
        >>> general_embedder(["Anna knows Ben."]).name
        'clew-static-1'
    """
    try:
        fitted = GeneralEmbedding.centred(texts, wanted_next)
    except MissingVectorsError:
        return fit_default(texts)[0]
    return Embedder(FITTED[StaticEmbedding], fitted, fitted.embed_question, fitted=fitted)
