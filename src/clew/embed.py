"""Embedders: whatever turns texts into vectors, met by the methods it has."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.graph import Vectors, frozen


@dataclass(frozen=True, eq=False)
class Embedder:
    """An embedder in clew's terms: `texts` and `question` return raw vectors; `name` is recorded in an index.

    `ask` embeds a question without blocking an event loop, where the embedder can. `fact_question` embeds it as it is compared with
    facts, where the embedder tells the two apart.
    """

    name: str
    texts: Callable[[list[str]], Any]
    question: Callable[[str], Any]
    ask: Callable[[str], Awaitable[Any]] | None = None
    fact_question: Callable[[str], Any] | None = None

    @classmethod
    def of(cls, source: Any) -> Embedder:
        """Return the embedder behind a callable, a LlamaIndex, LangChain or sentence-transformers object, or a model's name."""
        if isinstance(source, Embedder):
            return source
        if isinstance(source, str):
            return cls.of(_sentence_transformer(source))
        name = str(getattr(source, "model_name", "") or getattr(source, "model", "") or _name_of(source))
        if hasattr(source, "get_text_embedding_batch"):  # LlamaIndex BaseEmbedding
            return cls(name, source.get_text_embedding_batch, source.get_query_embedding, source.aget_query_embedding)
        if hasattr(source, "embed_documents"):  # LangChain Embeddings
            return cls(name, source.embed_documents, source.embed_query, getattr(source, "aembed_query", None))
        if hasattr(source, "encode"):  # sentence-transformers
            texts = getattr(source, "encode_document", source.encode)
            question = getattr(source, "encode_query", source.encode)
            return cls(name, lambda t: texts(t), lambda q: question([q])[0])
        if callable(source):
            if inspect.iscoroutinefunction(source):
                raise TypeError("the embedder is an async function; give a plain one, or a framework's embedder, which has both")
            return cls(name, source, lambda q: np.asarray(source([q]))[0])
        raise TypeError(
            f"cannot embed with a {type(source).__name__}: wanted a callable list[str] -> array [n, d], a LlamaIndex BaseEmbedding, "
            "LangChain Embeddings, a sentence-transformers model, or the name of one"
        )


def unit_rows(vectors: Any, texts: Sequence[str], width: int | None = None, zeros: bool = False) -> Vectors:
    """Return the vectors as float32 rows of length 1.

    Args:
        vectors: what an embedder returned for `texts`. width: the dimension they must have, or None. zeros: allow rows of zeros.

    Raises:
        ValueError: naming the first text whose vector is missing, ragged, not finite, zero, or of another dimension.
    """
    rows = [np.asarray(row, np.float64).ravel() for row in vectors]
    if len(rows) != len(texts):
        raise ValueError(f"the embedder returned {len(rows)} vectors for {len(texts)} texts")
    if not rows:
        return frozen(np.zeros((0, width or 0)), np.float32)
    wanted = len(rows[0]) if width is None else width
    for row, text in zip(rows, texts, strict=True):
        if len(row) != wanted:
            raise ValueError(f"the vector of {_short(text)} has {len(row)} dimensions; wanted {wanted}, as the others have")
        if not np.isfinite(row).all():
            raise ValueError(f"the vector of {_short(text)} has NaN or infinite values")
        if not zeros and not row.any():
            raise ValueError(f"the vector of {_short(text)} is all zeros: the embedder found nothing in that text")
    matrix = np.stack(rows)
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return frozen(np.divide(matrix, length, out=np.zeros_like(matrix), where=length > 0), np.float32)


def embed_all(embedder: Embedder, texts: Sequence[str], *, batch: int = 256, width: int | None = None, progress: bool = False) -> Vectors:
    """Return unit rows for all texts, batch by batch; equal texts are embedded once."""
    from tqdm import tqdm

    distinct = list(dict.fromkeys(texts))
    parts: list[Vectors] = []
    with tqdm(total=len(distinct), desc="embedding", unit="text", disable=not progress) as bar:
        for start in range(0, len(distinct), batch):
            some = distinct[start : start + batch]
            parts.append(unit_rows(embedder.texts(some), some, width, zeros=isinstance(embedder, Embedder) and embedder.name == LATENT))
            width = parts[-1].shape[1]
            bar.update(len(some))
    if not parts:
        return frozen(np.zeros((0, width or 0)), np.float32)
    row = {text: i for i, text in enumerate(distinct)}
    return frozen(np.concatenate(parts)[[row[text] for text in texts]], np.float32)


LATENT = "clew-latent-semantic-1"


def fit_latent(texts: Sequence[str], dimensions: int = 256) -> Embedder:
    """Return the embedded default, fitted on these texts."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    from clew.algorithms.words import words

    tfidf = TfidfVectorizer(analyzer=words, sublinear_tf=True, dtype=np.float64)
    matrix = tfidf.fit_transform(texts)
    rank = min(dimensions, min(matrix.shape) - 1)
    if rank < 1:
        return Embedder(LATENT, lambda t: tfidf.transform(t).toarray(), lambda q: tfidf.transform([q]).toarray()[0])
    svd = TruncatedSVD(rank, random_state=0)
    svd.fit(matrix)
    return Embedder(LATENT, lambda t: svd.transform(tfidf.transform(t)), lambda q: svd.transform(tfidf.transform([q]))[0])


def _sentence_transformer(name: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        hint = "pip install 'clew[st]'"
        raise ImportError(f"an embedder by name ({name!r}) needs sentence-transformers: {hint}, or give a callable") from error
    return SentenceTransformer(name)


def _name_of(source: Any) -> str:
    return str(getattr(source, "__qualname__", type(source).__qualname__))


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
