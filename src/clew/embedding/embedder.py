"""Embedders: objects that turn texts into vectors, recognized by the methods they have."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.embedding.cached_embedder import CachedEmbedder, VectorFile
from clew.embedding.latent_semantic import LatentSemantic
from clew.embedding.raw_vectors import normalize_vectors, to_array
from clew.embedding.recent_vectors import (
    MAX_BYTES,
    MAX_QUESTION_BYTES,
    RecentVectors,
    recent_vectors,
)
from clew.embedding.static import CountsOf, StaticEmbedding
from clew.embedding.word_vectors import MissingVectorsError
from clew.graph import EMPTY, Vectors, seal
from clew.progress import progress_bar

__all__ = [
    "FITTED",
    "Embedder",
    "EmbedderSource",
    "FittedEmbedder",
    "embed_batches",
    "embed_texts",
    "fit_default",
    "with_recent_vectors",
]

BATCH = 256  # texts that an embedder gets at once
MAX_LOADED = 2  # models by their names that stay in memory
FITTED_BATCH = 8192  # that the embedded default gets, which counts the words of all of them first

FittedEmbedder: TypeAlias = StaticEmbedding | LatentSemantic
"""The embedded default of this version, and that of the versions before."""

FITTED: dict[type, str] = {
    StaticEmbedding: "clew-static-1",
    LatentSemantic: "clew-latent-semantic-2",
}
"""Their names in a saved index."""


class LlamaIndexEmbedding(Protocol):
    """A `BaseEmbedding` of LlamaIndex."""

    def get_text_embedding_batch(self, texts: list[str], /) -> object:
        """Return the vectors of texts."""
        ...

    def get_query_embedding(self, query: str, /) -> object:
        """Return the vector of a question."""
        ...


class LangChainEmbeddings(Protocol):
    """An `Embeddings` of LangChain."""

    def embed_documents(self, texts: list[str], /) -> ArrayLike:
        """Return the vectors of texts."""
        ...

    def embed_query(self, text: str, /) -> ArrayLike:
        """Return the vector of a question."""
        ...


class SentenceEncoder(Protocol):
    """A model of sentence-transformers.

    Newer ones have `encode_document` and `encode_query` too, which are preferred.
    """

    def encode(self, texts: list[str], /) -> object:
        """Return the vectors of texts."""
        ...


AsyncQuestion: TypeAlias = Callable[[str], Awaitable[ArrayLike]]


@dataclass(frozen=True, eq=False)
class Embedder:
    """An embedder of any library, with the same methods for all. Vectors come as it returns them.

    It can be pickled if the object that it was made from can.

    Attributes:
        name: the name that is recorded in an index.
        embed_texts: texts -> their vectors, raw: see `normalize_vectors`.
        embed_question: a question -> its vector, raw.
        aembed_question: the same without blocking an event loop; None where that is not possible.
        embed_fact_question: a question -> its vector for the comparison with facts; None where that
            is the same.
        fitted: the model of the embedded default; None for any other embedder.
        kept: where vectors of texts are kept as they are made; None for nowhere.
        kept_as: the name that they are kept under.
        recent: vectors of texts that were embedded lately, see `with_recent_vectors`; None where
            every text that comes is embedded.

    Example:
        >>> embedder = Embedder.of(lambda texts: [[len(text), 1] for text in texts])
        >>> embedder.embed_question("why?")
        array([4, 1])
    """

    name: str
    embed_texts: Callable[[list[str]], ArrayLike]
    embed_question: Callable[[str], ArrayLike]
    aembed_question: AsyncQuestion | None = None
    embed_fact_question: Callable[[str], ArrayLike] | None = None
    fitted: FittedEmbedder | None = None
    kept: VectorFile | None = None
    kept_as: str = ""
    recent: RecentVectors | None = None

    @classmethod
    def of(cls, source: object) -> Embedder:
        """Return the embedder behind an object.

        Args:
            source: a callable list[str] -> array [n, d]; an embedder of LlamaIndex, LangChain or
                sentence-transformers; the name or folder of a sentence-transformers model; or one
                of these as `CachedEmbedder`. None is refused, as any other object is.

        Raises:
            TypeError: none of these came, or a class in place of an object, or an async function.
            ImportError: a name came and sentence-transformers is not installed.
        """
        if isinstance(source, Embedder):
            return source
        if isinstance(source, FittedEmbedder):
            name = FITTED[type(source)]
            return cls(name, source, source.embed_question, fitted=source)
        if isinstance(source, (str, os.PathLike)):
            return cls.of(_loaded_once(os.fspath(source)))
        if isinstance(source, CachedEmbedder):
            embedder, file = cls.of(source.embedder), VectorFile(Path(source.path))
            return replace(embedder, kept=file, kept_as=source.name or embedder.name)
        if inspect.isclass(source):
            raise TypeError(f"the embedder is the class {source.__name__}; give an object of it")
        return cls._of_object(source)

    @classmethod
    def _of_object(cls, source: object) -> Embedder:
        name = source.model_name if isinstance(source, _NamedModel) else _name_of(source)
        aembed: AsyncQuestion | None = None
        if hasattr(source, "get_text_embedding_batch"):  # LlamaIndex
            if hasattr(source, "aget_query_embedding"):
                aembed = cast("AsyncQuestion", _Method(source, "aget_query_embedding"))
            return cls(
                name,
                _Method(source, "get_text_embedding_batch"),
                _Method(source, "get_query_embedding"),
                aembed,
            )
        if hasattr(source, "embed_documents"):  # LangChain
            chain = cast("LangChainEmbeddings", source)
            aembed = getattr(source, "aembed_query", None)
            return cls(name, chain.embed_documents, chain.embed_query, aembed)
        if hasattr(source, "encode"):  # sentence-transformers
            newer = ("encode_document", "encode_query")
            texts, question = (one if hasattr(source, one) else "encode" for one in newer)
            return cls(name, _Method(source, texts), _EmbedOne(_Method(source, question)))
        if not callable(source):
            raise TypeError(
                f"cannot embed with a {type(source).__name__}: wanted a callable list[str] -> "
                "array [n, d], a LlamaIndex BaseEmbedding, LangChain Embeddings, a "
                "sentence-transformers model, or the name or folder of one"
            )
        if any(map(inspect.iscoroutinefunction, (source, type(source).__call__))):
            raise TypeError(
                f"the embedder {name} is async; give a plain callable, or a framework's embedder, "
                "which has both"
            )
        return cls(name, source, _EmbedOne(source))

    @property
    def allows_zero_vectors(self) -> bool:
        """Whether a row of zeros means "no vector".

        That is so for the embedded default alone, which gives it to a text without words.
        """
        return self.fitted is not None


EmbedderSource: TypeAlias = (
    Embedder
    | FittedEmbedder
    | str
    | os.PathLike[str]
    | LlamaIndexEmbedding
    | LangChainEmbeddings
    | SentenceEncoder
    | CachedEmbedder
    | Callable[[list[str]], object]
)
"""What `Embedder.of` takes."""


@dataclass(frozen=True)
class _Method:
    """A method by its name. LlamaIndex wraps its methods so that they cannot be pickled."""

    source: object
    name: str

    def __call__(self, argument: str | list[str]) -> ArrayLike:
        result: ArrayLike = getattr(self.source, self.name)(argument)
        return result


@dataclass(frozen=True)
class _EmbedOne:
    """A function text -> vector, made of one for lists of texts."""

    embed_texts: Callable[[list[str]], ArrayLike]

    def __call__(self, text: str) -> NDArray[Any]:
        raw = self.embed_texts([text])
        vectors = raw if isinstance(raw, np.ndarray) else to_array(raw)
        if not isinstance(vectors, np.ndarray):
            raise _wrong_shape("ragged lists")
        if vectors.ndim != 2 or len(vectors) != 1:
            raise _wrong_shape(f"an array of shape {vectors.shape}")
        return cast("NDArray[Any]", vectors[0])


@dataclass(frozen=True)
class _RecentQuestion:
    """A function question -> vector that embeds no question that it embedded lately."""

    embed: Callable[[str], ArrayLike]
    recent: RecentVectors

    def __call__(self, question: str) -> ArrayLike:
        known = self.recent.find([question])
        return known[question] if known else _keep(self.recent, question, self.embed(question))


@dataclass(frozen=True)
class _AsyncRecentQuestion:
    """The same as a coroutine function."""

    embed: AsyncQuestion
    recent: RecentVectors

    async def __call__(self, question: str) -> ArrayLike:
        known = self.recent.find([question])
        if known:
            return known[question]
        return _keep(self.recent, question, await self.embed(question))


def _keep(recent: RecentVectors, question: str, raw: ArrayLike) -> ArrayLike:
    """Keep a question's vector as it came, and return it; what is no vector is not kept."""
    vector = raw if isinstance(raw, np.ndarray) else to_array(raw)
    if isinstance(vector, np.ndarray) and vector.ndim == 1 and vector.dtype.kind in "fiu":
        recent.put([(question, vector)])
    return raw


def with_recent_vectors(embedder: Embedder) -> Embedder:
    """Return the embedder as one that embeds nothing again that it embedded lately.

    Whatever embeds by the same object shares these vectors, within 64 MiB for texts and 4 MiB for
    questions. They go with that object. Texts of an embedder that has a file of vectors come from
    there, and the embedded default stays as it is.

    Args:
        embedder: the embedder. Whoever changes its model in place gives the model another name, or
            makes another object.

    Example:
        >>> def embed(texts):
        ...     print(len(texts), "to embed")
        ...     return [[len(text), 1] for text in texts]
        >>> for texts in (["Anna", "Ben"], ["Ben", "Corfu"]):
        ...     vectors = embed_texts(with_recent_vectors(Embedder.of(embed)), texts)
        2 to embed
        1 to embed
    """
    if embedder.recent is not None or embedder.fitted is not None:
        return embedder

    def recent_of(embed: Callable[[Any], ArrayLike], max_bytes: int) -> RecentVectors:
        return recent_vectors(*_owner(embed), embedder.name, max_bytes)

    questions = recent_of(embedder.embed_question, MAX_QUESTION_BYTES)
    embed, aembed = embedder.embed_fact_question, embedder.aembed_question
    if embed is not None:
        embed = _RecentQuestion(embed, recent_of(embed, MAX_QUESTION_BYTES))
    return replace(
        embedder,
        embed_question=_RecentQuestion(embedder.embed_question, questions),
        aembed_question=None if aembed is None else _AsyncRecentQuestion(aembed, questions),
        embed_fact_question=embed,
        recent=recent_of(embedder.embed_texts, MAX_BYTES),
    )


def _owner(embed: Callable[[Any], ArrayLike]) -> tuple[object, str]:
    """Return what a function embeds by, which outlives it, and what tells its methods apart."""
    if isinstance(embed, _EmbedOne):
        owner, method = _owner(embed.embed_texts)
        return owner, f"{method} for one"
    if isinstance(embed, _Method):
        return embed.source, embed.name
    if inspect.ismethod(embed):
        return embed.__self__, embed.__name__
    return embed, ""


def _wrong_shape(came: str) -> ValueError:
    return ValueError(f"the embedder returned {came} for 1 text; wanted [1, d]")


def fit_default(
    texts: Sequence[str], counts_of: CountsOf | None = None
) -> tuple[Embedder, Mapping[str, Vectors]]:
    """Return the embedded default, weighted by these texts, and the vectors that it has of them.

    Where its word vectors are not installed, it is that of the versions before, and a warning is
    logged. See `StaticEmbedding.fit`.

    Args:
        texts: the passages.
        counts_of: counts texts; None for `TextCounts.of`.

    Example:
        >>> embedder, vectors = fit_default(["Anna knows Ben."])
        >>> embedder.name, list(vectors)
        ('clew-static-1', ['Anna knows Ben.'])
    """
    try:
        fitted, vectors = StaticEmbedding.fit_and_embed(texts, counts_of)
        return Embedder.of(fitted), dict(zip(texts, vectors, strict=True))
    except MissingVectorsError as error:
        logging.getLogger("clew").warning(
            "texts are compared by their own words alone, which finds less: %s", error
        )
        return Embedder.of(LatentSemantic.fit(texts)), EMPTY


def embed_texts(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    batch_size: int | None = None,
    width: int | None = None,
    progress: bool = False,
) -> Vectors:
    """Return unit rows for all texts, batch by batch; equal texts are embedded once.

    Args:
        embedder: the embedder.
        texts: the texts, one a row.
        batch_size: as in `embed_batches`.
        width: as in `embed_batches`.
        progress: as in `embed_batches`.

    Raises:
        RuntimeError: as `embed_batches`.
        ValueError: as `normalize_vectors`.
        TypeError: as `normalize_vectors`.

    Example:
        >>> embed_texts(Embedder.of(lambda texts: [[3, 4] for _ in texts]), ["a", "b"]).shape
        (2, 2)
    """
    row_of = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    distinct = list(row_of)
    vectors: Vectors = np.zeros((0, width or 0), np.float32)
    batches = embed_batches(
        embedder, distinct, batch_size=batch_size, width=width, progress=progress
    )
    for start, rows in batches:
        if not start:
            vectors = np.empty((len(distinct), rows.shape[1]), np.float32)
        vectors[start : start + len(rows)] = rows
    return seal(vectors if len(distinct) == len(texts) else vectors[[row_of[t] for t in texts]])


def embed_batches(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    batch_size: int | None = None,
    width: int | None = None,
    progress: bool = False,
) -> Iterator[tuple[int, Vectors]]:
    """Yield the place of the first text of each batch, and unit rows for its texts.

    Args:
        embedder: the embedder.
        texts: the texts, each once.
        batch_size: the number of texts that the embedder gets at once; None for 256, and for more
            by the embedded default, whose vectors do not depend on it.
        width: the dimension that the vectors must have; None for any.
        progress: whether to show a progress bar.

    Raises:
        RuntimeError: the embedder failed. The message names the batch; the cause is the embedder's
            own exception.
        ValueError: as `normalize_vectors`.
        TypeError: as `normalize_vectors`.
    """
    batch_size = batch_size or (BATCH if embedder.fitted is None else FITTED_BATCH)
    is_static = isinstance(embedder.fitted, StaticEmbedding)  # whose rows are unit rows already
    with progress_bar(shown=progress, total=len(texts), label="embedding", unit="text") as bar:
        if embedder.kept is not None:
            yield from _kept_batches(embedder, embedder.kept, texts, batch_size, width, bar.update)
            return
        if embedder.recent is not None:
            recent = replace(embedder, recent=None), embedder.recent
            yield from _recent_batches(*recent, texts, batch_size, width, bar.update)
            return
        start = 0
        for some, raw in _raw_batches(embedder, texts, batch_size):
            if not (is_static and width in (None, np.shape(raw)[1])):
                raw = normalize_vectors(raw, some, width, zeros=embedder.allows_zero_vectors)
            rows = cast("Vectors", raw)
            width = rows.shape[1]
            yield start, rows
            start += len(some)
            bar.update(len(some))


def _kept_batches(
    embedder: Embedder,
    kept: VectorFile,
    texts: Sequence[str],
    batch_size: int,
    width: int | None,
    update: Callable[[int], object],
) -> Iterator[tuple[int, Vectors]]:
    """Yield what `embed_batches` does, from a file to which comes first what it does not have."""
    missing = kept.missing(embedder.kept_as, texts)
    update(len(texts) - len(missing))

    def keep(batch: _Batch, raw: ArrayLike) -> None:
        kept.put(embedder.kept_as, batch.texts, normalize_vectors(raw, batch.texts, width))
        update(len(batch.texts))

    for _ in _raw_batches(embedder, missing, batch_size, keep):
        pass  # they are on the disk
    for start in range(0, len(texts), batch_size):
        rows = kept.vectors(embedder.kept_as, texts[start : start + batch_size])
        if width not in (None, rows.shape[1]):
            rows = normalize_vectors(rows, texts[start : start + batch_size], width)  # raises
        yield start, rows


def _recent_batches(
    embedder: Embedder,
    recent: RecentVectors,
    texts: Sequence[str],
    batch_size: int,
    width: int | None,
    update: Callable[[int], object],
) -> Iterator[tuple[int, Vectors]]:
    """Yield what `embed_batches` does, and embed those texts alone that were not lately."""
    vectors = recent.find(texts)
    update(len(vectors))
    missing = [text for text in texts if text not in vectors]
    width = width or next(map(len, vectors.values()), None)
    for start, rows in embed_batches(embedder, missing, batch_size=batch_size, width=width):
        new = list(zip(missing[start : start + len(rows)], rows, strict=True))
        recent.put(new)
        vectors.update(new)
        update(len(new))
    for start in range(0, len(texts), batch_size):
        some = texts[start : start + batch_size]
        rows = np.array([vectors[text] for text in some])
        if width not in (None, rows.shape[1]):
            rows = normalize_vectors(rows, some, width)  # raises
        yield start, seal(rows)


def _raw_batches(
    embedder: Embedder,
    texts: Sequence[str],
    batch_size: int,
    done: Callable[[_Batch, ArrayLike], object] = lambda *_: None,
) -> Iterator[tuple[Sequence[str], ArrayLike]]:
    """Yield the texts of each batch, and what the embedder makes of them, in order.

    Args:
        embedder: the embedder.
        texts: the texts.
        batch_size: how many it gets at once.
        done: called with each batch and its vectors as soon as they are there, in any order.
    """
    number = -(-len(texts) // batch_size)
    batches = [
        _Batch(texts[place * batch_size : (place + 1) * batch_size], place, batch_size, number)
        for place in range(number)
    ]
    embed = partial(_embed, embedder.name, embedder.embed_texts)
    if embedder.fitted is not None:  # which counts words, faster than they could be sent elsewhere
        yield from ((batch.texts, embed(batch)) for batch in batches)
        return
    from clew.processes import run_batches  # which no fitted embedder needs

    for batch, raw in zip(batches, run_batches(embed, batches, done), strict=True):
        yield batch.texts, raw


class _Batch(NamedTuple):
    """Texts that an embedder gets at once.

    Attributes:
        texts: the texts.
        place: which batch it is, from 0.
        size: of every batch but the last.
        number: of all batches.
    """

    texts: Sequence[str]
    place: int
    size: int
    number: int


def _embed(name: str, embed_texts: Callable[[list[str]], ArrayLike], batch: _Batch) -> ArrayLike:
    try:
        raw = embed_texts(list(batch.texts))
        return list(raw) if isinstance(raw, Iterator) else raw
    except Exception as error:
        first = batch.place * batch.size
        raise RuntimeError(
            f"the embedder {name!r} failed on batch {batch.place + 1} of {batch.number}, "
            f"texts {first + 1:,} to {first + len(batch.texts):,}: {type(error).__name__}: {error}"
        ) from error


class _NamedModel:
    """A model of sentence-transformers by its name, which alone is pickled."""

    def __init__(self, name: str) -> None:
        self.model_name, self._model = name, _load_sentence_transformer(name)

    def __reduce__(self) -> tuple[Callable[[str], _NamedModel], tuple[str]]:
        return _loaded_once, (self.model_name,)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._model, name)


@lru_cache(maxsize=MAX_LOADED)
def _loaded_once(name: str) -> _NamedModel:
    """Return a model by its name, which every question and every batch of texts may come with."""
    return _NamedModel(name)


def _load_sentence_transformer(name: str) -> SentenceEncoder:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ImportError(
            f"an embedder by name ({name!r}) needs sentence-transformers: "
            "pip install 'clew[st]', or give a callable"
        ) from error
    return cast("SentenceEncoder", SentenceTransformer(name))


def _name_of(source: object) -> str:
    """The name that a model has itself, or else that of the function or class."""
    names = [getattr(source, attribute, None) for attribute in ("model_name", "model", "model_id")]
    card = getattr(source, "model_card_data", None)  # of sentence-transformers
    names.append(getattr(card, "base_model", None))
    own = getattr(source, "__qualname__", type(source).__qualname__)
    return next((name for name in names if isinstance(name, str) and name), str(own))
