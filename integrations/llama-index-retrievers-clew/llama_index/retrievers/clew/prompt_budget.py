"""What a response synthesizer prints of a context: each node with its metadata for a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from llama_index.core.node_parser.text.sentence_window import (
    DEFAULT_OG_TEXT_METADATA_KEY,
    DEFAULT_WINDOW_METADATA_KEY,
)
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

import clew
from clew.adapters import Printer, QueryOptions, fit_printed

WINDOW, ORIGINAL = DEFAULT_WINDOW_METADATA_KEY, DEFAULT_OG_TEXT_METADATA_KEY
"""Keys of metadata by which a `SentenceWindowNodeParser` keeps the window and the sentence."""


class Ask(Protocol):
    """Asks one question with these options."""

    def __call__(self, *, options: QueryOptions) -> clew.Context:
        """Return the context."""
        ...


def within_budget(
    ask: Ask,
    nodes_of: Callable[[clew.Context], list[NodeWithScore]],
    count: Callable[[str], int],
    options: QueryOptions,
) -> clew.Context:
    """Return the context whose nodes are printed within the budget.

    Args:
        ask: Asks the question.
        nodes_of: Returns the nodes of a context, one for each item, in their order.
        count: The tokenizer.
        options: What the question says. Its budget holds for the printed nodes.

    Raises:
        BudgetError: Not one of the chosen nodes fits with its metadata, and the question is strict.
    """
    printer = Printer(
        lambda context: [_printed(scored.node) for scored in nodes_of(context)],
        count,
        "nodes as a prompt shows them, with their metadata",
        "name in excluded_llm_metadata_keys what no model needs to read",
    )
    return fit_printed(printer, lambda options: ask(options=options), options)


def _printed(node: BaseNode) -> str:
    """Return a node as a prompt shows it; one of a sentence window with the window in its place.

    Such nodes are found by their sentence and read by their window, which a
    `MetadataReplacementPostProcessor` puts there behind this.
    """
    window = node.metadata.get(WINDOW)
    if isinstance(window, str) and ORIGINAL in node.metadata:
        node = node.model_copy(deep=True)
        node.set_content(window)
    return node.get_content(metadata_mode=MetadataMode.LLM)
