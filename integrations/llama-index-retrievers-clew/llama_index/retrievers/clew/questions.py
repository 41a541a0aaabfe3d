"""Questions: LlamaIndex's query bundles, and the vectors that they bring along."""

from __future__ import annotations

import asyncio

import numpy as np
from llama_index.core.schema import QueryBundle
from numpy.typing import ArrayLike

import clew
from clew.remote import PulledIndex


def bundle_of(query: str | QueryBundle) -> QueryBundle:
    """Return a bundle of our own with the question stripped.

    Tools add line ends, and the caller's bundle is not written to.

    Raises:
        ValueError: The question has no word.
    """
    bundle = query if isinstance(query, QueryBundle) else QueryBundle(query)
    question = bundle.query_str.strip()
    if not question:
        raise ValueError(f"a question is a text with at least one word; got {bundle.query_str!r}")
    return QueryBundle(question, bundle.image_path, bundle.custom_embedding_strs, bundle.embedding)


def with_vector(bundle: QueryBundle, vector: ArrayLike) -> QueryBundle:
    """Return the bundle with the question's vector."""
    return QueryBundle(
        bundle.query_str,
        bundle.image_path,
        bundle.custom_embedding_strs,
        np.asarray(vector, np.float64).tolist(),
    )


def bundle_vector(embedder: clew.Embedder, bundle: QueryBundle) -> ArrayLike | None:
    """Return the question's vector where the bundle says what it is.

    It is the bundle's embedding, or the mean over its custom texts. Otherwise it is None. An index
    without an embed_model never comes here: its own embedder is fitted on its passages, so a vector
    that another retriever left in the bundle is of another space.
    """
    if bundle.embedding is not None:
        return bundle.embedding
    if not bundle.custom_embedding_strs:
        return None
    return _mean([embedder.embed_question(text) for text in bundle.custom_embedding_strs])


async def abundle_vector(embedder: clew.Embedder, bundle: QueryBundle) -> ArrayLike | None:
    """Return what `bundle_vector` returns, without blocking the event loop."""
    embed, texts = embedder.aembed_question, bundle.custom_embedding_strs
    if bundle.embedding is not None or not texts or embed is None:
        return await asyncio.to_thread(bundle_vector, embedder, bundle)
    return _mean([await embed(text) for text in texts])


def question_vector(index: clew.Index | PulledIndex, bundle: QueryBundle) -> ArrayLike | None:
    """Return the question's vector for an index; None where its embedder is a fitted one."""
    if index.fitted:
        return None
    vector = bundle_vector(index.embedder, bundle)
    return index.embed_question(bundle.query_str) if vector is None else vector


async def aquestion_vector(index: clew.Index, bundle: QueryBundle) -> ArrayLike | None:
    """Return what `question_vector` returns, without blocking the event loop."""
    if index.fitted:
        return None
    vector = await abundle_vector(index.embedder, bundle)
    return await index.aembed_question(bundle.query_str) if vector is None else vector


def _mean(vectors: list[ArrayLike]) -> ArrayLike:
    mean: ArrayLike = np.mean([np.asarray(vector, np.float64) for vector in vectors], axis=0)
    return mean
