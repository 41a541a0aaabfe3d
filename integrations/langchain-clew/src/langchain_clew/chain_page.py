"""What a chain prints of a context: each document by its prompt, a separator between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from langchain_core.documents import Document
from langchain_core.prompts import BasePromptTemplate, format_document

import clew
from clew.adapters import Ask, Printer, QueryOptions, fit_printed

SEPARATOR = "\n\n"
"""What `create_stuff_documents_chain` prints between two documents."""


@dataclass(frozen=True)
class ChainPage:
    """How a chain prints the documents of a context.

    Attributes:
        documents_of: Returns the documents of a context, one for each item, in their order.
        count: The tokenizer.
        prompt: How a document is printed; None for its text alone.
        separator: What stands between two.
    """

    documents_of: Callable[[clew.Context], list[Document]]
    count: Callable[[str], int]
    prompt: BasePromptTemplate[str] | None = None
    separator: str = SEPARATOR

    def fit(
        self, ask: Ask, options: QueryOptions, first: clew.Context | None = None
    ) -> clew.Context:
        """Return the context whose documents are printed within the budget.

        Args:
            ask: As in `clew.adapters.fit_printed`, like the others.
            options: What the question says.
            first: What `ask` returns for these options, where that is known already.

        Raises:
            BudgetError: None of the chosen documents fits as it is printed, and the question is
                strict.
        """
        names = "documents as document_prompt prints them"
        advice = "a document_prompt that prints less"
        printer = Printer(self._texts_of, self.count, names, advice, self.separator)
        return fit_printed(printer, ask, options, first)

    def _texts_of(self, context: clew.Context) -> list[str]:
        if self.prompt is None:
            return [item.text for item in context]
        return [format_document(one, self.prompt) for one in self.documents_of(context)]
