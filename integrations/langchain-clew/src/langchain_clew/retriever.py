"""A LangChain retriever over an index of clew's, or over any vector store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Self, Unpack

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.prompts import BasePromptTemplate
from langchain_core.retrievers import LangSmithRetrieverParams
from langchain_core.vectorstores import VectorStore
from pydantic import BeforeValidator, ConfigDict, Field, InstanceOf, model_validator

import clew
from clew.adapters import (
    Ask,
    EmbedderSource,
    FactsByDocument,
    IndexKeywords,
    OptionNames,
    QueryKeywords,
    QueryOptions,
    as_list,
    facts_by_document,
)
from clew.remote import PulledIndex
from langchain_clew.chain_page import SEPARATOR, ChainPage
from langchain_clew.changes import ChangingRetriever, NoDocuments
from langchain_clew.documents import documents_of
from langchain_clew.fields import ModelField, RecipeField
from langchain_clew.filters import where_of
from langchain_clew.search_types import SearchWords
from langchain_clew.shortlist import Shortlist
from langchain_clew.stores import embeddings_of

NAMES = OptionNames(
    {"limit": "k", "where": "filter", "embedder": "embeddings"},
    own=("explain", "document_prompt", "document_separator"),
)
ADVICE = (
    "for one text: from_texts([text]); for a file or a folder: "
    "ClewRetriever(index=clew.Index.from_documents(folder, embedder=embeddings))"
)
AT_FIRST = QueryOptions()


class QuestionKeywords(QueryKeywords, total=False):
    """What a single question may set in place of the retriever's own.

    `limit` and `where` have LangChain's names here.
    """

    k: int | None
    filter: object
    explain: bool
    document_prompt: BasePromptTemplate[str] | None
    document_separator: str


class StoreKeywords(QuestionKeywords, IndexKeywords, total=False):
    """What `from_vectorstore` takes: options of the graph, and fields of the retriever."""

    name: str | None
    tags: list[str] | None
    metadata: dict[str, object] | None
    search_type: str | None


class IndexingKeywords(StoreKeywords, total=False):
    """What `from_documents` and `from_texts` take."""

    search_kwargs: Mapping[str, object] | None


def _asking_again(index: clew.Index | PulledIndex, question: str) -> Ask:
    """Return what asks a question once more, with other options: it is embedded once for all.

    In a database the embedded default may be another by then, so the vector is made anew.
    """
    if isinstance(index, PulledIndex) and index.fitted:
        return lambda options: index.ask(question, options=options)
    embed = cache(index.embed_question)
    return lambda options: index.ask(question, vector=embed(question), options=options)


def _no_words_if_none(search_kwargs: object) -> object:
    return {} if search_kwargs is None else search_kwargs


def _searched_as(words: SearchWords, index: Any, *, is_recipe_given: bool) -> Any:  # noqa: ANN401  # as the field has it
    """Return what is asked as search words have it.

    Args:
        words: What is said.
        index: What is asked.
        is_recipe_given: Whether the question names a recipe, which goes before a search type.

    Raises:
        ValueError: The words are those of a vector store, and this is an index.
    """
    if isinstance(index, Shortlist):
        fetch_k = None if words.mmr is None else words.mmr.fetch_k
        return replace(
            index,
            candidates=index.candidates if fetch_k is None else fetch_k,
            mmr=None if is_recipe_given else words.mmr,
            is_one_search=words.is_single,
            search_kwargs=words.rest,
            score_threshold=words.score_threshold,
            hops=0 if words.is_single and index.hops is None else index.hops,
        )
    if words.score_threshold is not None:
        raise ValueError(
            "score_threshold is of a vector store, which says what its scores mean; "
            "over an index give min_relevance=, from 0 to 1"
        )
    if words.rest:
        raise ValueError(
            f"search_kwargs of an index are k, filter, and of search_type='mmr' fetch_k and "
            f"lambda_mult; got {', '.join(map(str, words.rest))}"
        )
    return index


class ClewRetriever(ChangingRetriever):
    """Retrieves what a language model should read: connected, within a budget, in reading order.

    Make one with `from_documents`, `from_texts` or `from_vectorstore`, or over a `clew.Index`; keep
    it with `add_documents` and `delete`, or as the destination of `langchain_core.indexing`. The
    fields from `recipe` to `document_separator` are also keyword arguments of `invoke`, `ainvoke`,
    `batch`, `abatch`, `stream`, `context` and `acontext`, for that question alone.

    Attributes:
        index: What is asked; a `RemoteIndex` is one in a database, a `ShardedIndex` several as one.
        recipe: A name of `clew.recipes.names()`, or a method of your own.
        budget: Tokens of the whole context at most, by the index's counter. None sets no ceiling.
        k: The exact number of documents, as long as there are so many. None leaves it to the recipe
            and the budget.
        filter: What may be read. Over an index: a mapping of metadata values and operators
            (`{"year": {"$gte": 2020}}`), or a function of the metadata. Over a vector store:
            whatever that store takes as its `filter`.
        deadline: Seconds after which the best answer so far comes back, by any recipe.
        model: A language model, for recipes that ask one.
        strict: Whether a budget that holds none of the documents raises `BudgetError`. Otherwise
            there are none, and a warning says what to do.
        explain: Whether the metadata of a document say why it is read. That depends on the
            question, and LangChain's retrievers that merge the answers to several questions take
            documents of different metadata for different ones. `context` says it anyway.
        document_prompt: How the chain behind prints a document, as in
            `create_stuff_documents_chain`. The budget holds for what is printed by it, the
            separators included. None stands for the text alone.
        document_separator: What the chain prints between two documents.
        search_type: As for `vectorstore.as_retriever`; see `from_vectorstore`.
        search_kwargs: Likewise. Both are read at every question as the fields that they stand for,
            so that a copy has them, and what is changed in them counts. A question's own `k`,
            `filter` or `recipe` goes before.

    Every other option of `clew.Index.ask` is a field and a keyword argument, too, so that LangChain
    can configure it.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="allow")

    recipe: RecipeField = clew.recipes.DEFAULT
    budget: int | None = Field(default=2000, ge=1)
    k: int | None = Field(default=None, ge=1)
    filter: object = None
    deadline: float | None = Field(default=None, gt=0)
    model: ModelField = None
    max_question: int = AT_FIRST.max_question
    max_share: float | None = AT_FIRST.max_share
    min_relevance: float | None = AT_FIRST.min_relevance
    strict: bool = False
    explain: bool = False
    document_prompt: InstanceOf[BasePromptTemplate[str]] | None = None
    document_separator: str = SEPARATOR
    search_type: str | None = None
    search_kwargs: Annotated[dict[str, Any], BeforeValidator(_no_words_if_none)] = Field(
        default_factory=dict
    )

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[Document],
        embeddings: EmbedderSource | None = None,
        *,
        facts: FactsByDocument | None = None,
        progress: bool = False,
        **options: Unpack[IndexingKeywords],
    ) -> Self:
        """Return a retriever over a new index of the documents.

        Args:
            documents: LangChain documents. One without an id gets one. Without any, the retriever
                finds nothing until `add_documents` adds some.
            embeddings: LangChain `Embeddings`, or anything else that `clew.Index.from_documents`
                takes. None stands for clew's own embedder.
            facts: Triples (subject, relation, object) by document id.
            progress: Whether to show bars on stderr.
            **options: What else `clew.Index.from_documents` takes (`extractor`, `splitter`,
                `count`, `canonical`, `links`, ...), and the fields of the retriever (`recipe`,
                `budget`, `k`, ...).
        """
        cls._check_names(options)
        documents = as_list(documents, Document, "documents", ADVICE)
        config = NAMES.index_config(options, embedder=embeddings)
        index: clew.Index | NoDocuments = NoDocuments(config)
        if documents:
            index = clew.Index.from_documents(
                documents, facts=facts_by_document(facts), progress=progress, config=config
            )
        return cls(index=index, **NAMES.without_index(options))

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        embeddings: EmbedderSource | None = None,
        metadatas: Iterable[Mapping[str, object]] | None = None,
        *,
        ids: Iterable[str] | None = None,
        facts: FactsByDocument | None = None,
        progress: bool = False,
        **options: Unpack[IndexingKeywords],
    ) -> Self:
        """Return a retriever over a new index of the texts.

        Args:
            texts: What is read.
            embeddings: As in `from_documents`.
            metadatas: The metadata of each text.
            ids: The id of each text. Without them, each gets one.
            facts: As in `from_documents`.
            progress: As in `from_documents`.
            **options: As in `from_documents`.
        """
        texts = as_list(texts, Document, "texts", ADVICE)
        named: Iterable[str | None] = [None] * len(texts) if ids is None else ids
        no_metadata: list[Mapping[str, object]] = [{}] * len(texts)
        each_metadata = no_metadata if metadatas is None else metadatas
        documents = [
            Document(text, id=id, metadata=dict(metadata))
            for text, id, metadata in zip(texts, named, each_metadata, strict=True)
        ]
        options.setdefault("untrusted", True)
        return cls.from_documents(documents, embeddings, facts=facts, progress=progress, **options)

    @classmethod
    def from_vectorstore(
        cls,
        store: VectorStore,
        candidates: int | None = None,
        search_kwargs: Mapping[str, object] | None = None,
        embeddings: EmbedderSource | None = None,
        *,
        facts: FactsByDocument | None = None,
        hops: int | None = None,
        edges: Iterable[tuple[str, str]] = (),
        **options: Unpack[StoreKeywords],
    ) -> Self:
        """Return a retriever that makes a context of a vector store's candidates.

        Nothing is indexed, and no document is embedded. Each question searches the store, reads
        names and symbols in what it finds (`extractor=None` reads none), and searches twice more
        for what this leads to: names that a document which the question names gives for its other
        words, as a film gives its director, then the question with three names. Where it finds few
        names, as in documentation, none is read or followed. How near a document is, the store's
        own vectors say, where they can be had: those of LangChain's store in memory, Chroma,
        Elasticsearch, FAISS, LanceDB, pgvector and Qdrant; else the order that the store gives.
        A class derived from one of these that overrides a search gives its order, too, and is
        asked as its own retriever would ask it. The searches bring these vectors along. So a
        question calls the store three times by default, once for each search, and once more for
        each edge; under a `score_threshold` once more, to read the vectors of what was found first.

        Args:
            store: Any vector store.
            candidates: How many documents it is asked for; None for 50, or for `k` if that is more.
            search_kwargs: As for `store.as_retriever`: `k` and `filter` are the retriever's own,
                `score_threshold`, `fetch_k` and `lambda_mult` belong to a `search_type`, and the
                search of the store takes the others.
            embeddings: What the candidates, names and facts are compared with each other by. None
                stands for clew's own, in a few milliseconds, and so do those of the store itself:
                it says how near the candidates are in any case.
            facts: As in `from_documents`, by the ids that the store gives. Where there are some of
                what is found, none are read.
            hops: How many more searches follow the first, each adding up to 15 documents. None
                stands for two, and for none where `search_type` is "similarity" or "mmr". Under a
                `score_threshold` these are documents that are relevant enough to the question
                itself, and where the store's vectors do not say how relevant they are, there is no
                further search.
            edges: Pairs of keys of metadata. A document leads to those whose value of the second
                key is its own value of the first, or one of its own: `[("see", "url")]`. Each
                pair is one more search, for up to 15 documents, under the same filter.
                `("page_content", "source")` follows the links in the texts of the ten best
                documents, relative to their own `source`.
            **options: As in `from_documents`; the options of the index are for the small graph of
                the candidates. `search_type`, as for `store.as_retriever`, is another name for a
                recipe: "similarity" for "dense", "mmr" for "mmr" among `fetch_k` candidates (None
                for 20, or for `k` if that is more) by the store's vectors or a method of its own,
                and "similarity_score_threshold" for "dense", or for the recipe that is given, among
                documents whose relevance by the store is at least `score_threshold`.

        Raises:
            ValueError: Something came twice, or what came contradicts itself.
        """
        search_type = options.get("search_type")
        words = SearchWords.of(search_type, search_kwargs, options)
        if words.mmr is not None and words.mmr.fetch_k is not None and candidates is not None:
            raise ValueError("fetch_k in search_kwargs and candidates are one; give one of them")
        cls._check_names(options)
        is_other = embeddings is not None and embeddings is not embeddings_of(store)
        config = NAMES.candidates_config(options, embedder=embeddings if is_other else None)
        shortlist = Shortlist(
            store,
            candidates,
            config=config,
            facts=facts_by_document(facts),
            hops=hops,
            edges=tuple(edges),
        )
        words_as_given = dict(search_kwargs or {})
        return cls(index=shortlist, search_kwargs=words_as_given, **NAMES.without_index(options))

    def context(self, question: str, **overrides: Unpack[QuestionKeywords]) -> clew.Context:
        """Return the whole context: its rendered `text`, its tokens, edges, reasons and trace.

        It is empty if the filter allows nothing.

        Args:
            question: A text with at least one word.
            **overrides: Fields of the retriever, for this question alone.
        """
        asked = self._with(overrides)
        index, options, page = asked.index, asked._options(), asked._page()
        if not isinstance(index, (clew.Index, PulledIndex)):
            context: clew.Context = index.ask(question, options=options, page=page)
            return context
        first = index.ask(question, options=options)
        return page.fit(_asking_again(index, question), options, first)

    async def acontext(self, question: str, **overrides: Unpack[QuestionKeywords]) -> clew.Context:
        """Return what `context` returns without blocking the event loop."""
        asked = self._with(overrides)
        index, options, page = asked.index, asked._options(), asked._page()
        if not isinstance(index, (clew.Index, PulledIndex)):
            context: clew.Context = await index.aask(question, options=options, page=page)
            return context
        first = await index.aask(question, options=options)
        again = _asking_again(index, question)
        return await asyncio.to_thread(page.fit, again, options, first)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        **overrides: Unpack[QuestionKeywords],
    ) -> list[Document]:
        asked = self._with(overrides)
        return asked._documents(asked.context(query))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **overrides: Unpack[QuestionKeywords],
    ) -> list[Document]:
        asked = self._with(overrides)
        return asked._documents(await asked.acontext(query))

    def _get_ls_params(self, **kwargs: object) -> LangSmithRetrieverParams:
        params = super()._get_ls_params(**kwargs)
        if isinstance(self.index, Shortlist):
            params["ls_vector_store_provider"] = type(self.index.store).__name__
            if self.index.config.embedder is None:
                own = embeddings_of(self.index.store)
                params["ls_embedding_provider"] = type(own).__name__
        if self.index.embedder is not None:
            params["ls_embedding_model"] = self.index.embedder.name
        return params

    def _documents(self, context: clew.Context) -> list[Document]:
        is_store = isinstance(self.index, Shortlist)
        return documents_of(context, ids_as_given=is_store, explain=self.explain)

    def _page(self) -> ChainPage:
        count = self.index.config.count
        return ChainPage(self._documents, count, self.document_prompt, self.document_separator)

    def _with(self, overrides: Mapping[str, object]) -> Self:
        """Return the retriever of a question, in which `search_kwargs` are read as other fields.

        These are checked by the same rules.
        """
        NAMES.check(overrides, NAMES.of_question, "a question")
        if not overrides and self.search_type is None and not self.search_kwargs:
            return self
        words = SearchWords.of(self.search_type, self.search_kwargs, self._beside_search_words)
        is_recipe_given = "recipe" in overrides
        index = _searched_as(words, self.index, is_recipe_given=is_recipe_given)
        read = {**words.fields, "index": index}
        if words.mmr is not None:
            k: Any = overrides.get("k", words.fields.get("k", self.k))
            read["recipe"] = words.mmr.method(words.mmr.among(k))
        none = {"search_type": None, "search_kwargs": None}
        return type(self)(**{**self._values, **read, **overrides, **none})

    @property
    def _beside_search_words(self) -> dict[str, Any]:
        """The fields that search words stand for, as far as they were given by their own names."""
        is_default = self.recipe == type(self).model_fields["recipe"].default
        return {"recipe": None if is_default else self.recipe, "k": self.k, "filter": self.filter}

    def _options(self) -> QueryOptions:
        is_store = isinstance(self.index, Shortlist)
        where = self.filter if is_store else where_of(self.filter)
        return NAMES.query_options(self._values, where=where)

    @property
    def _values(self) -> dict[str, Any]:
        fields = type(self).model_fields  # in `__dict__` there may be what a tracer has set, too
        own = {name: value for name, value in self.__dict__.items() if name in fields}
        return {**own, **(self.model_extra or {})}

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse a name of no option: pydantic would take it, and it would have no effect."""
        NAMES.check_field(self, name, NAMES.of_question)
        super().__setattr__(name, value)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Share what is asked: an index is no other after a change, and a store is the caller's."""
        other = self.model_copy()  # whose index no other thread changes meanwhile
        shared = {id(other.index): other.index, **(memo or {})}
        return super(ClewRetriever, other).__deepcopy__(shared)

    @model_validator(mode="after")
    def _check(self) -> Self:
        NAMES.check_extra(self.model_extra, NAMES.of_question)
        if not isinstance(self.index, Shortlist):
            where_of(self.filter)
        self._with({})
        return self

    @classmethod
    def _check_names(cls, options: Mapping[str, object]) -> None:
        """Refuse an unknown name before the work of an index is done, not after it."""
        fields = cls.model_fields.keys() - {"index"}
        of_index = (name for name in NAMES.of_index if name != "embeddings")
        known = dict.fromkeys((*of_index, *NAMES.of_question, *sorted(fields)))
        NAMES.check(options, known, cls.__name__)
