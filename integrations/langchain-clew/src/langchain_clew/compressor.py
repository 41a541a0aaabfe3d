"""A LangChain document compressor: what another retriever found becomes a context."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Self

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.prompts import BasePromptTemplate
from numpy.typing import ArrayLike
from pydantic import ConfigDict, Field, InstanceOf, model_validator

import clew
from clew.adapters import OptionNames, aembed_question, with_recent_vectors
from langchain_clew.candidates import Candidates, scores_in_metadata
from langchain_clew.chain_page import SEPARATOR, ChainPage
from langchain_clew.documents import documents_of
from langchain_clew.fields import (
    CounterField,
    EmbeddingsField,
    FactsField,
    ModelField,
    RecipeField,
    embedder_of,
)

SCORES = ("relevance_score", "clew_score", "_similarity_score")
"""The first that every document has counts: a reranker may come behind clew."""

NAMES = OptionNames({"limit": "k", "embedder": "embeddings"})
KNOWN = ("facts", *NAMES.of_question, *NAMES.of_index)


class ClewCompressor(BaseDocumentCompressor):
    """Makes a connected, budgeted, ordered context of the documents another retriever found.

    Scores in the metadata (`relevance_score`, as LangChain's rerankers write it; higher is better)
    count where every document has one. Otherwise the cosine by `embeddings` counts, or the order
    where there are none. Names and symbols are read in the documents, and facts about them, unless
    `facts` come with them or `extractor` is given; then, and for a recipe that walks along no
    links, such as "dense" or "mmr", documents without scores count by their order in any case.

    Attributes:
        embeddings: LangChain `Embeddings`, or anything else that `clew.narrow` takes. None stands
            for clew's own embedder. They get no document and no question again that they embedded
            lately: the vectors are kept as long as the embeddings live, in up to 64 MiB, and 4 MiB
            for questions.
        recipe: A name of `clew.recipes.names()`, or a method.
        budget: Tokens of the whole context at most. None sets no ceiling.
        k: The exact number of documents, as long as there are so many.
        facts: Triples by document id. Those of other documents are left aside.
        count: The tokenizer, for instance `llm.get_num_tokens`.
        model: A language model, for recipes that ask one.
        strict: As in `ClewRetriever`.
        explain: As in `ClewRetriever`.
        document_prompt: As in `ClewRetriever`.
        document_separator: As in `ClewRetriever`.

    Every other option of `clew.narrow` is a field, too.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="allow")

    embeddings: EmbeddingsField = None
    recipe: RecipeField = clew.recipes.DEFAULT
    budget: int | None = Field(default=1500, ge=1)
    k: int | None = Field(default=None, ge=1)
    facts: FactsField = Field(default_factory=dict)
    count: CounterField = None
    model: ModelField = None
    strict: bool = False
    explain: bool = False
    document_prompt: InstanceOf[BasePromptTemplate[str]] | None = None
    document_separator: str = SEPARATOR

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Return what to read, in reading order, as fresh objects with their ids as they came."""
        return self._documents(self.context(documents, query))

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Return what `compress_documents` returns without blocking the event loop."""
        return self._documents(await self.acontext(documents, query))

    def context(
        self, documents: Sequence[Document], question: str, *, vector: ArrayLike | None = None
    ) -> clew.Context:
        """Return the whole context made of the documents.

        Args:
            documents: What another retriever found.
            question: What is asked.
            vector: The question's vector by the same embedder, if it is known already.
        """
        scores, meaning = scores_in_metadata(documents, SCORES)
        candidates = Candidates.from_documents(documents, scores, {"scores": meaning})
        values = {**self.__dict__, **(self.model_extra or {})}
        options, config = NAMES.query_options(values), NAMES.candidates_config(values)
        page = ChainPage(
            self._documents, config.count, self.document_prompt, self.document_separator
        )
        return page.fit(candidates.ask(question, config, self.facts, vector), options)

    async def acontext(self, documents: Sequence[Document], question: str) -> clew.Context:
        """Return what `context` returns without blocking the event loop."""
        embedder, vector = embedder_of(self.embeddings), None
        if embedder is not None and documents:
            vector = await aembed_question(with_recent_vectors(embedder), question)
        return await asyncio.to_thread(self.context, documents, question, vector=vector)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse a name of no option: pydantic would take it, and it would have no effect."""
        NAMES.check_field(self, name, KNOWN)
        super().__setattr__(name, value)

    def _documents(self, context: clew.Context) -> list[Document]:
        return documents_of(context, ids_as_given=True, explain=self.explain)

    @model_validator(mode="after")
    def _check_extra(self) -> Self:
        NAMES.check_extra(self.model_extra, KNOWN)
        return self
