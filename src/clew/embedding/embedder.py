"""Embedders: whatever turns texts into vectors, met by the methods it has."""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.embedding.latent_semantic import DIMENSIONS, LatentSemantic
from clew.graph import Floats, Vectors, freeze

LATENT = "clew-latent-semantic-2"
WANTED = "an array [n, d] of numbers, or n lists of d numbers"


@dataclass(frozen=True, eq=False)
class Embedder:
    """An embedder in clew's terms: `texts` and `question` return raw vectors; `name` is recorded in an index.

    `ask` embeds a question without blocking an event loop, where the embedder can. `fact_question` embeds it as it is compared with
    facts, where the embedder tells the two apart. `latent` is what the embedded default is made of, None for any other. An embedder can
    be pickled where what it was made of can.
    """

    name: str
    embed_texts: Callable[[list[str]], Any]
    embed_question: Callable[[str], Any]
    aembed_question: Callable[[str], Awaitable[Any]] | None = None
    embed_fact_question: Callable[[str], Any] | None = None
    latent: LatentSemantic | None = None

    @classmethod
    def of(cls, source: Any) -> Embedder:
        """Return the embedder behind a callable, a LlamaIndex, LangChain or sentence-transformers object, or a model's name or folder.

        Raises:
            TypeError: none of these came, or a class in the place of an object, or an async function. ImportError: a name came and
            sentence-transformers is not installed.
        """
        if isinstance(source, Embedder):
            return source
        if isinstance(source, LatentSemantic):
            return cls.from_latent(source)
        if isinstance(source, (str, os.PathLike)):
            return replace(cls.of(_sentence_transformer(os.fspath(source))), name=os.fspath(source))
        if inspect.isclass(source):
            raise TypeError(f"the embedder is the class {source.__name__}; give an object of it")
        name = _name_of(source)
        if hasattr(source, "get_text_embedding_batch"):  # LlamaIndex BaseEmbedding
            ask = getattr(source, "aget_query_embedding", None)
            plain = (
                _Method(source, "get_text_embedding_batch"),
                _Method(source, "get_query_embedding"),
            )
            return cls(
                name, *plain, None if ask is None else _Method(source, "aget_query_embedding")
            )
        if hasattr(source, "embed_documents"):  # LangChain Embeddings
            return cls(
                name,
                source.embed_documents,
                source.embed_query,
                getattr(source, "aembed_query", None),
            )
        if hasattr(source, "encode"):  # sentence-transformers
            texts = getattr(source, "encode_document", source.encode)
            return cls(name, texts, _Alone(getattr(source, "encode_query", source.encode)))
        if callable(source):
            if inspect.iscoroutinefunction(source) or inspect.iscoroutinefunction(
                type(source).__call__
            ):
                raise TypeError(
                    f"the embedder {name} is async; give a plain callable, or a framework's embedder, which has both"
                )
            return cls(name, source, _Alone(source))
        raise TypeError(
            f"cannot embed with a {type(source).__name__}: wanted a callable list[str] -> array [n, d], a LlamaIndex BaseEmbedding, "
            "LangChain Embeddings, a sentence-transformers model, or the name or folder of one"
        )

    @classmethod
    def from_latent(cls, latent: LatentSemantic) -> Embedder:
        """Return the embedded default of a corpus that it is fitted on already."""
        return cls(LATENT, latent, latent.question, latent=latent)

    @property
    def allows_zero_vectors(self) -> bool:
        """Whether a text may have a row of zeros, "no vector": only the embedded default says so of texts without words."""
        return self.latent is not None


@dataclass(frozen=True)
class _Method:
    """A method by its name: LlamaIndex wraps its own so that they cannot be pickled, while the object can."""

    source: Any
    name: str

    def __call__(self, given: Any) -> Any:
        return getattr(self.source, self.name)(given)


@dataclass(frozen=True)
class _Alone:
    """Embeds one text with what embeds lists of them."""

    texts: Callable[[list[str]], Any]

    def __call__(self, text: str) -> Any:
        raw = self.texts([text])
        vectors = raw if isinstance(raw, np.ndarray) else _array(raw)
        if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or len(vectors) != 1:
            came = (
                f"an array of shape {vectors.shape}"
                if isinstance(vectors, np.ndarray)
                else "ragged lists"
            )
            raise ValueError(f"the embedder returned {came} for 1 text; wanted [1, d]")
        return vectors[0]


def fit_latent_semantic(texts: Sequence[str], dimensions: int = DIMENSIONS) -> Embedder:
    """Return the embedded default, fitted on these texts."""
    return Embedder.from_latent(LatentSemantic.fit(texts, dimensions))


def embed_texts(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    batch: int = 256,
    width: int | None = None,
    progress: bool = False,
) -> Vectors:
    """Return unit rows for all texts, batch by batch; equal texts are embedded once.

    Raises:
        RuntimeError: the embedder failed; says on which batch, and has the embedder's own exception as its cause.
        ValueError, TypeError: as `unit_rows`.
    """
    from tqdm import tqdm

    distinct = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    order = list(distinct)
    parts: list[Vectors] = []
    with tqdm(total=len(order), desc="embedding", unit="text", disable=not progress) as bar:
        for start in range(0, len(order), batch):
            some = order[start : start + batch]
            try:
                raw = embedder.embed_texts(list(some))
                raw = list(raw) if isinstance(raw, Iterator) else raw
            except Exception as error:
                which = f"batch {start // batch + 1} of {-(-len(order) // batch)}, texts {start + 1:,} to {start + len(some):,}"
                raise RuntimeError(
                    f"the embedder {embedder.name!r} failed on {which}: {type(error).__name__}: {error}"
                ) from error
            parts.append(unit_rows(raw, some, width, zeros=embedder.allows_zero_vectors))
            width = parts[-1].shape[1]
            bar.update(len(some))
    if not parts:
        return freeze(np.zeros((0, width or 0)), np.float32)
    vectors = np.concatenate(parts) if len(parts) > 1 else parts[0]
    return freeze(
        vectors if len(order) == len(texts) else vectors[[distinct[text] for text in texts]],
        np.float32,
    )


def unit_rows(
    vectors: Any, texts: Sequence[str], width: int | None = None, zeros: bool = False
) -> Vectors:
    """Return the vectors as float32 rows of length 1.

    Args:
        vectors: what an embedder returned for `texts`: an array, tensor, sparse matrix, generator or list of any float type.
        width: the dimension they must have, or None. zeros: allow rows of zeros.

    Raises:
        ValueError: naming the first text whose vector is missing, ragged, not finite, zero, or of another dimension.
        TypeError: what came holds no numbers, or is awaitable.
    """
    matrix = _array(vectors)
    one = isinstance(matrix, np.ndarray) and not matrix.ndim
    if one or len(matrix) != len(texts):
        what = f"a {type(vectors).__name__}" if one else f"{len(matrix)} vectors"
        raise ValueError(
            f"the embedder returned {what} for {len(texts)} texts; wanted {WANTED}, one row per text"
        )
    if not len(matrix):
        return freeze(np.zeros((0, width or 0)), np.float32)
    rows = _checked(matrix, texts, width)
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(bad):
        raise ValueError(
            f"the vector of {_short(texts[bad[0]])} has NaN or infinite values{_more(bad)}"
        )
    largest = np.abs(rows).max(axis=1, keepdims=True)
    bad = np.flatnonzero(largest[:, 0] == 0)
    if len(bad) and not zeros:
        raise ValueError(
            f"the vector of {_short(texts[bad[0]])} is all zeros: the embedder found nothing in that text{_more(bad)}"
        )
    largest[bad] = 1
    rows = rows / largest  # first, lest squares of huge or tiny values leave the range of floats
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    length[bad] = 1
    return freeze(rows / length, np.float32)


def _array(raw: Any) -> Any:
    """What came as one array where it has one shape, else as a list of arrays."""
    if inspect.isawaitable(raw):
        if hasattr(raw, "close"):
            raw.close()
        raise TypeError(
            "the embedder returned an awaitable; give a plain callable, or a framework's embedder, which has both"
        )
    if isinstance(raw, (str, bytes, Mapping, set, frozenset)) or not (
        hasattr(raw, "__iter__") or hasattr(raw, "__array__")
    ):
        raise TypeError(f"the embedder returned a {type(raw).__name__}; wanted {WANTED}")
    if hasattr(raw, "toarray"):  # a sparse matrix
        return raw.toarray()
    if hasattr(
        raw, "detach"
    ):  # a tensor: off its device, and of a type that numpy has (bfloat16 it has not)
        return raw.detach().cpu().float().numpy()
    if hasattr(raw, "__array__") and (
        (array := np.asarray(raw)).ndim != 1 or array.dtype != object
    ):
        return array
    rows = list(raw)  # a column of lists, as in a table, too
    rows = [
        _array(row) if hasattr(row, "detach") or hasattr(row, "toarray") else row for row in rows
    ]
    try:
        return np.asarray(rows)
    except ValueError:  # ragged
        return [np.asarray(row, object) for row in rows]


def _checked(matrix: Any, texts: Sequence[str], width: int | None) -> Floats:
    """The rows as float64 [n, d], d being `width` if that is known."""
    wanted = np.size(matrix[0]) if width is None else width
    alike = isinstance(matrix, np.ndarray)  # then the first row speaks for all
    for row, text in zip(matrix[:1] if alike else matrix, texts, strict=not alike):
        if np.ndim(row) != 1 or not len(row):
            raise ValueError(
                f"the vector of {_short(text)} came as an array of shape {np.shape(row)}; wanted {WANTED}"
            )
        if len(row) != wanted:
            raise ValueError(
                f"the vector of {_short(text)} has {len(row)} dimensions; wanted {wanted}, as the others have"
            )
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind not in "fiubO":
        raise TypeError(f"the vectors hold values of type {matrix.dtype}; wanted {WANTED}")
    try:
        return np.asarray(matrix, np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the vectors hold values that are not numbers ({error}); wanted {WANTED}"
        ) from error


def _sentence_transformer(name: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        hint = "pip install 'clew[st]'"
        raise ImportError(
            f"an embedder by name ({name!r}) needs sentence-transformers: {hint}, or give a callable"
        ) from error
    return SentenceTransformer(name)


def _name_of(source: Any) -> str:
    """What a model calls itself, else the name of the function or class."""
    said = [getattr(source, attribute, None) for attribute in ("model_name", "model", "model_id")]
    said.append(
        getattr(getattr(source, "model_card_data", None), "base_model", None)
    )  # sentence-transformers
    own = getattr(source, "__qualname__", type(source).__qualname__)
    return next((name for name in said if isinstance(name, str) and name), str(own))


def _more(bad: Any) -> str:
    return f", as have {len(bad) - 1:,} more of its batch" if len(bad) > 1 else ""


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
