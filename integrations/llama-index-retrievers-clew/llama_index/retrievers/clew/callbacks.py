"""Whom a retriever tells what it does, and its embedding model with it.

A callback manager forgets the events of a question when the next one begins with it. One that the
model alone has would never forget, and a question's trace would not have its embedding.
"""

from __future__ import annotations

from llama_index.core import Settings
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager

import clew


def shared_callback_manager(
    given: CallbackManager | None, embedder: clew.Embedder | None
) -> CallbackManager:
    """Return the manager that a retriever tells: the given one, or that of the settings.

    The latter a model of LlamaIndex's gets, too, as from LlamaIndex's own indexes; but for one
    whose manager has handlers of its own. A given one may be of a single request.

    Args:
        given: The manager that came, if any.
        embedder: What texts and questions are embedded with.
    """
    if given is not None:
        return given
    manager = Settings.callback_manager
    model = None if embedder is None else getattr(embedder.embed_question, "source", None)
    if isinstance(model, BaseEmbedding) and all(
        handler in manager.handlers for handler in model.callback_manager.handlers
    ):
        model.callback_manager = manager
    return manager
