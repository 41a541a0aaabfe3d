"""A context as a LangChain document compressor: what another retriever found becomes what should be read of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import AfterValidator, ConfigDict, Field

import clew
from langchain_clew.candidates import Candidates, facts_of, scores_in
from langchain_clew.documents import documents_of
from langchain_clew.retriever import known_recipe

SCORES = ("clew_score", "relevance_score", "score", "_similarity_score")


def embedder_of(embeddings: Any) -> clew.Embedder | None:
    return None if embeddings is None else clew.Embedder.of(embeddings)


class ClewCompressor(BaseDocumentCompressor):
    """Makes a connected, budgeted, ordered context of the documents another retriever found.

    Scores in the metadata (`relevance_score`, `score`, ...; higher is better) count where every document has one, else the order does.

    Attributes:
        embeddings: LangChain `Embeddings`, or anything else that `clew.narrow` takes; None for clew's own.
        recipe: a name of `clew.recipes.names()`, or a method. budget: the most tokens of the whole context; None for no ceiling.
        k: exactly so many documents while there are so many. facts: triples by document id; those of other documents are left aside.
        count: the tokenizer, for instance `llm.get_num_tokens`. model: a language model for the recipes that ask one.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    embeddings: Annotated[Any, AfterValidator(embedder_of)] = None
    recipe: Annotated[Any, AfterValidator(known_recipe)] = clew.recipes.DEFAULT
    budget: int | None = Field(default=1500, ge=1)
    k: int | None = Field(default=None, ge=1)
    facts: Annotated[Any, AfterValidator(facts_of)] = Field(default_factory=dict)
    count: Any = None
    model: Any = None

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Return the documents worth reading, in reading order, as fresh objects with their ids as they came."""
        return documents_of(self.context(documents, query), as_they_came=True)

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Return what `compress_documents` returns without blocking the event loop."""
        return documents_of(await self.acontext(documents, query), as_they_came=True)

    def context(
        self, documents: Sequence[Document], question: str, *, vector: Any = None
    ) -> clew.Context:
        """Return the whole context made of the documents.

        Args:
            vector: the question's vector by the same embedder, if it is known already.
        """
        scores, meaning = scores_in(documents, SCORES)
        return Candidates.of(documents, scores, {"scores": meaning}).narrow(
            question,
            recipe=self.recipe,
            budget=self.budget,
            limit=self.k,
            embedder=self.embeddings,
            vector=vector,
            facts=self.facts,
            count=self.count,
            model=self.model,
        )

    async def acontext(self, documents: Sequence[Document], question: str) -> clew.Context:
        """Return what `context` returns without blocking the event loop."""
        vector = None
        if (
            documents
            and self.embeddings is not None
            and self.embeddings.aembed_question is not None
        ):
            vector = await self.embeddings.aembed_question(question)
        return await asyncio.to_thread(self.context, documents, question, vector=vector)
