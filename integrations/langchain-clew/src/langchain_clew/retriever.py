"""A context as a LangChain retriever: over an index of clew's, or over any vector store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Self, TypedDict, Unpack, cast

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, LangSmithRetrieverParams
from langchain_core.vectorstores import VectorStore
from pydantic import AfterValidator, ConfigDict, Field, model_validator

import clew
from langchain_clew.candidates import Triples, facts_of
from langchain_clew.documents import documents_of
from langchain_clew.filters import where_of
from langchain_clew.shortlist import Shortlist


class Overrides(TypedDict, total=False):
    """What a single question may set in the place of the retriever's own."""

    recipe: Any
    budget: int | None
    k: int | None
    filter: Any
    deadline: float | None
    model: Any


def known_recipe(recipe: Any) -> Any:
    """Return a recipe's name or a method as it came, once it is known to be one."""
    clew.recipes.get(recipe)
    return recipe


def askable(index: Any) -> clew.Index | Shortlist:
    """Return what a retriever can ask."""
    if isinstance(index, (clew.Index, Shortlist)):
        return index
    wanted = "ClewRetriever.from_documents, from_texts or from_vectorstore make one"
    raise TypeError(f"a retriever asks a clew.Index, not a {type(index).__name__}; {wanted}")


def several(given: Any, what: str) -> list[Any]:
    """Return documents or texts as a list; a single document is a list of one.

    Raises:
        TypeError: a text or a path, which would be read letter by letter, or nothing to go through.
    """
    if isinstance(given, Document):
        return [given]
    if isinstance(given, (str, bytes, Path)) or not isinstance(given, Iterable):
        raise TypeError(
            f"{what} are a list of {what}, not a {type(given).__name__} ({str(given)[:60]!r}); for one text: from_texts([text]); for a "
            "file or a folder: ClewRetriever(index=clew.Index.from_documents(folder, embedder=embeddings))"
        )
    return list(given)


class ClewRetriever(BaseRetriever):
    """Retrieves what a language model should read: connected, within a budget of tokens, in reading order.

    Make one with `from_documents`, `from_texts` or `from_vectorstore`, or over a `clew.Index`. The fields from `recipe` on are also
    keyword arguments of `invoke`, `ainvoke`, `batch`, `abatch`, `stream`, `context` and `acontext`, for that question alone.

    Attributes:
        index: what is asked. recipe: a name of `clew.recipes.names()`, or a method of one's own.
        budget: the most tokens of the whole context, by the index's counter; None for no ceiling.
        k: exactly so many documents while there are so many; None leaves it to the recipe and the budget.
        filter: what may be read. Over an index: a mapping of metadata values and operators (`{"year": {"$gte": 2020}}`), or a function of
            the metadata; over a vector store: whatever that store takes as its `filter`.
        deadline: seconds after which a method that can returns its best so far. model: a language model for the recipes that ask one.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    index: Annotated[
        Any, AfterValidator(askable)
    ]  # Any, since pydantic would take a dataclass apart and make it again
    recipe: Annotated[Any, AfterValidator(known_recipe)] = clew.recipes.DEFAULT
    budget: int | None = Field(default=2000, ge=1)
    k: int | None = Field(default=None, ge=1)
    filter: Any = None
    deadline: float | None = Field(default=None, gt=0)
    model: Any = None

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[Document],
        embeddings: Any = None,
        *,
        facts: Triples | None = None,
        extractor: Any = None,
        splitter: Any = None,
        count: Any = None,
        canonical: Any = None,
        progress: bool = False,
        **fields: Any,
    ) -> Self:
        """Return a retriever over a new index of the documents.

        Args:
            documents: LangChain documents; one without an id gets one.
            embeddings: LangChain `Embeddings`, or anything else that `clew.Index.from_documents` takes; None for clew's own.
            facts: triples (subject, relation, object) by document id. extractor: reads more out of the texts, such as `clew.Names()`.
            splitter: cuts documents further; None keeps each whole.
            count: the tokenizer, for instance `llm.get_num_tokens` or a tiktoken name. progress: show bars.
            canonical: text -> the text by which it is found, such as `clew.Plain()`; what is read stays as it is.
            **fields: `recipe`, `budget`, `k`, ... as in the constructor.
        """
        cls._refuse_unknown(fields)
        index = clew.Index.from_documents(
            several(documents, "documents"),
            embedder=embeddings,
            facts=None if facts is None else facts_of(facts),
            extractor=extractor,
            splitter=splitter,
            count=count,
            canonical=canonical,
            progress=progress,
        )
        return cls(index=index, **fields)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        embeddings: Any = None,
        metadatas: Iterable[dict[str, Any]] | None = None,
        *,
        ids: Iterable[str] | None = None,
        **how: Any,
    ) -> Self:
        """Return a retriever over a new index of the texts, with their metadata and ids if given; the rest as in `from_documents`."""
        texts = several(texts, "texts")
        named: Iterable[str | None] = [None] * len(texts) if ids is None else ids
        said = [{} for _ in texts] if metadatas is None else metadatas
        parts = zip(texts, named, said, strict=True)
        return cls.from_documents(
            [Document(text, id=id, metadata=metadata) for text, id, metadata in parts],
            embeddings,
            **how,
        )

    @classmethod
    def from_vectorstore(
        cls,
        store: VectorStore,
        candidates: int = 50,
        search_kwargs: Mapping[str, Any] | None = None,
        embeddings: Any = None,
        *,
        facts: Triples | None = None,
        count: Any = None,
        **fields: Any,
    ) -> Self:
        """Return a retriever that asks a vector store for candidates and makes the context of those; nothing is indexed.

        Args:
            candidates: how many documents to ask the store for. search_kwargs: what else its search takes.
            embeddings: None for the store's own. facts, count, **fields: as in `from_documents`.
        """
        cls._refuse_unknown(fields)
        other = embeddings is not None and embeddings is not getattr(store, "embeddings", None)
        embedder = clew.Embedder.of(embeddings) if other else None
        return cls(
            index=Shortlist(
                store, candidates, dict(search_kwargs or {}), embedder, facts_of(facts), count
            ),
            **fields,
        )

    def context(self, question: str, **overrides: Unpack[Overrides]) -> clew.Context:
        """Return the whole context: its rendered `text`, its tokens, edges, reasons and trace; empty if the filter allows nothing."""
        how = self._how(cast("dict[str, Any]", overrides))
        asked: clew.Context = self.index.ask(question, **how)
        return asked

    async def acontext(self, question: str, **overrides: Unpack[Overrides]) -> clew.Context:
        """Return what `context` returns without blocking the event loop."""
        how = self._how(cast("dict[str, Any]", overrides))
        asked: clew.Context = await self.index.aask(question, **how)
        return asked

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        **overrides: Unpack[Overrides],
    ) -> list[Document]:
        return self._documents(self.context(query, **overrides))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **overrides: Unpack[Overrides],
    ) -> list[Document]:
        return self._documents(await self.acontext(query, **overrides))

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        params = super()._get_ls_params(**kwargs)
        embedder = self.index.embedder
        if isinstance(self.index, Shortlist):
            embedder = self.index.embeds
            params["ls_vector_store_provider"] = type(self.index.store).__name__
            if self.index.embedder is None:
                params["ls_embedding_provider"] = type(self.index.store.embeddings).__name__
        if embedder is not None:
            params["ls_embedding_model"] = embedder.name
        return params

    def _documents(self, context: clew.Context) -> list[Document]:
        return documents_of(context, as_they_came=isinstance(self.index, Shortlist))

    def _how(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        """What the index is asked with: the overrides are checked as the fields are, by the fields' own rules."""
        unknown = sorted(set(overrides) - set(Overrides.__annotations__))
        if unknown:
            raise TypeError(
                f"a question does not take {', '.join(unknown)}; it takes {', '.join(Overrides.__annotations__)}"
            )
        asked = type(self)(**{**self.__dict__, **overrides}) if overrides else self
        return {
            "recipe": asked.recipe,
            "budget": asked.budget,
            "limit": asked.k,
            "where": asked.filter if isinstance(self.index, Shortlist) else where_of(asked.filter),
            "deadline": asked.deadline,
            "model": asked.model,
        }

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Share what is asked: an index does not change, and a store is the caller's."""
        return super().__deepcopy__({id(self.index): self.index, **(memo or {})})

    @model_validator(mode="after")
    def _check_filter(self) -> Self:
        if isinstance(self.index, clew.Index):
            where_of(self.filter)
        return self

    @classmethod
    def _refuse_unknown(cls, fields: Mapping[str, Any]) -> None:
        """Before the work of an index is done, not after it."""
        unknown = sorted(set(fields) - (set(cls.model_fields) - {"index"}))
        if unknown:
            raise TypeError(
                f"{cls.__name__} does not take {', '.join(unknown)}; it takes {', '.join(cls.model_fields)}"
            )
