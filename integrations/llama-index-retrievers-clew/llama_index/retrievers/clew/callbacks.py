"""Whom a retriever's embedding model tells what it does: the one that the retriever tells, too.

A callback manager forgets the events of a question when the next one begins with it. One that the
model alone has would never forget, and a question's trace would not have its embedding.
"""

from __future__ import annotations

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager

import clew


def tell(embedder: clew.Embedder | None, manager: CallbackManager) -> None:
    """Give a model of LlamaIndex's the manager of its retriever, as indexes of LlamaIndex do.

    A model whose manager has handlers that this one lacks keeps it.

    Args:
        embedder: What questions are embedded with.
        manager: The manager.
    """
    model = None if embedder is None else getattr(embedder.embed_question, "source", None)
    if isinstance(model, BaseEmbedding) and all(
        handler in manager.handlers for handler in model.callback_manager.handlers
    ):
        model.callback_manager = manager
