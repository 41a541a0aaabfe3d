"""A retriever whose documents change: what LangChain's indexing API asks of its destination.

An index of clew's does not change; a change makes the next one, and the retriever then holds that.
So a question under way is answered by the index that it began with.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from langchain_core.documents import Document
from langchain_core.indexing import DeleteResponse, DocumentIndex, UpsertResponse
from langchain_core.runnables import run_in_executor
from pydantic import AfterValidator, PrivateAttr

import clew
from clew.adapters import (
    FactsByDocument,
    IndexConfig,
    QueryOptions,
    empty_context,
    own_metadata,
    renew_after_fork,
    text_id,
)
from clew.remote import PulledIndex
from langchain_clew.chain_page import ChainPage
from langchain_clew.documents import fresh_document
from langchain_clew.fields import AS_IT_COMES
from langchain_clew.shortlist import Shortlist

NOTHING_YET = "there are no documents yet"


@dataclass(frozen=True, eq=False)
class NoDocuments:
    """What is asked where nothing was added yet, or everything was deleted.

    Attributes:
        config: What an index is made with, as soon as there are documents.
    """

    config: IndexConfig

    @property
    def embedder(self) -> clew.Embedder | None:
        """What questions will be embedded with."""
        return self.config.embedder

    def ask(
        self, question: str, *, options: QueryOptions, page: ChainPage | None = None
    ) -> clew.Context:
        """Return a context without items, which says why."""
        return empty_context(question, options, NOTHING_YET)

    async def aask(
        self, question: str, *, options: QueryOptions, page: ChainPage | None = None
    ) -> clew.Context:
        """Return what `ask` returns."""
        return self.ask(question, options=options)


def askable(index: object) -> clew.Index | PulledIndex | Shortlist | NoDocuments:
    """Return what a retriever can ask.

    Raises:
        TypeError: It is something else.
    """
    if isinstance(index, (clew.Index, PulledIndex, Shortlist, NoDocuments)):
        return index
    raise TypeError(
        f"a retriever asks a clew.Index or a RemoteIndex, not a {type(index).__name__}; "
        "ClewRetriever.from_documents, from_texts or from_vectorstore make one"
    )


class _RenewedLock:
    """A lock that nobody holds in a process that was forked."""

    def __init__(self) -> None:
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        self.lock = threading.Lock()


class ChangeLock:
    """Lets one change of a retriever wait for another.

    It is no part of what the retriever is: two are equal, and a copy or a pickle has its own.
    """

    def __init__(self) -> None:
        self._held = _RenewedLock()

    def __enter__(self) -> None:
        self._held.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._held.lock.release()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChangeLock)

    __hash__ = None  # type: ignore[assignment]  # equal, so no key of a set

    def __reduce__(self) -> tuple[type[ChangeLock], tuple[()]]:
        return ChangeLock, ()


class ChangingRetriever(DocumentIndex):
    """A destination of `langchain_core.indexing.index`, over an index or over a vector store.

    Questions that are asked during a change are answered by the documents before it or after it,
    never by half of them. Changes of one retriever wait for each other. A copy that was made
    before keeps the documents that it had, except over a vector store or a database, which all
    share.

    Attributes:
        index: What is asked.
    """

    index: Annotated[
        Annotated[clew.Index, AS_IT_COMES]
        | Annotated[PulledIndex, AS_IT_COMES]
        | Annotated[Shortlist, AS_IT_COMES]
        | Annotated[NoDocuments, AS_IT_COMES],
        AfterValidator(askable),
    ]

    _changes: ChangeLock = PrivateAttr(default_factory=ChangeLock)

    def add_documents(
        self,
        documents: Sequence[Document],
        *,
        ids: Sequence[str] | None = None,
        **kwargs: Any,  # noqa: ANN401  # as LangChain has them, here and below
    ) -> list[str]:
        """Add documents, or put them in the place of those with their ids; return the ids.

        Over an index, one without an id gets a hash of its text and metadata as its id. Documents
        that are there already cost nothing: none is embedded twice. One without text is left out.
        Over a vector store they go there.

        Args:
            documents: LangChain documents.
            ids: Their ids, in the place of their own.
            **kwargs: Over an index `facts`, triples (subject, relation, object) by document id.
                Over a vector store what that takes.

        Example:
            >>> from langchain_clew import ClewRetriever
            >>> retriever = ClewRetriever.from_documents([])
            >>> retriever.add_documents([Document("Ferries sail at ten.", id="times")])
            ['times']
            >>> [document.id for document in retriever.invoke("When do ferries sail?")]
            ['times']
        """
        return list(self.upsert(_with_ids(documents, ids), **kwargs)["succeeded"])

    async def aadd_documents(
        self,
        documents: Sequence[Document],
        *,
        ids: Sequence[str] | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> list[str]:
        """Do what `add_documents` does without blocking the event loop."""
        return list((await self.aupsert(_with_ids(documents, ids), **kwargs))["succeeded"])

    def upsert(self, items: Sequence[Document], /, **kwargs: Any) -> UpsertResponse:  # noqa: ANN401
        """Do what `add_documents` does, as LangChain's `DocumentIndex` has it.

        What has no text is among the `failed`.
        """
        if isinstance(self.index, Shortlist):
            return _upserted(self.index.store.add_documents(list(items), **kwargs))
        facts: FactsByDocument | None = kwargs.pop("facts", None)
        if kwargs:
            raise TypeError(f"documents of an index come with facts=, not with {min(kwargs)}")
        named = {str(one.id): one for one in _named(items)}  # of one id the last counts
        blank = {id for id, document in named.items() if not document.page_content.strip()}
        added = [document for id, document in named.items() if id not in blank]
        if added:
            with self._changes:
                self.index = _with_documents(self.index, added, facts)
        return _upserted([id for id in named if id not in blank], list(blank))

    async def aupsert(
        self,
        items: Sequence[Document],
        /,
        **kwargs: Any,  # noqa: ANN401
    ) -> UpsertResponse:
        """Do what `upsert` does without blocking the event loop."""
        if isinstance(self.index, Shortlist):
            return _upserted(await self.index.store.aadd_documents(list(items), **kwargs))
        return await run_in_executor(None, self.upsert, items, **kwargs)

    def delete(self, ids: Sequence[str] | None = None, **kwargs: Any) -> DeleteResponse:  # noqa: ANN401
        """Delete documents; facts go with the last passage that they were read from.

        Args:
            ids: The ids of documents. One that is not there changes nothing.
            **kwargs: Over a vector store what that takes.

        Raises:
            ValueError: No ids came.
        """
        ids = _given(ids)
        if isinstance(self.index, Shortlist):
            return _deleted_in_store(ids, self.index.store.delete(ids, **kwargs))
        if kwargs:
            raise TypeError(f"documents of an index are deleted by ids, not by {min(kwargs)}")
        with self._changes:
            there = [] if isinstance(self.index, NoDocuments) else self.index.document_of
            found = [id for id in ids if id in there]
            if found and not isinstance(self.index, NoDocuments):
                self.index = _without_documents(self.index, found)
        return _deleted(found)

    async def adelete(self, ids: Sequence[str] | None = None, **kwargs: Any) -> DeleteResponse:  # noqa: ANN401
        """Do what `delete` does without blocking the event loop."""
        ids = _given(ids)
        if isinstance(self.index, Shortlist):
            return _deleted_in_store(ids, await self.index.store.adelete(ids, **kwargs))
        return await run_in_executor(None, self.delete, ids, **kwargs)

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents of these ids, whole and as fresh objects, as far as they are there.

        Args:
            ids: The ids of documents.
        """
        if isinstance(self.index, Shortlist):
            return self.index.store.get_by_ids(ids)
        there = {} if isinstance(self.index, NoDocuments) else self.index.document_of
        found = [there[id] for id in dict.fromkeys(ids) if id in there]
        return [
            fresh_document(one.original, one.text, one.id, own_metadata(one.metadata))
            for one in found
        ]

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Do what `get_by_ids` does without blocking the event loop."""
        if isinstance(self.index, Shortlist):
            return await self.index.store.aget_by_ids(ids)
        return self.get_by_ids(ids)

    def get(self, ids: Sequence[str], /, **kwargs: Any) -> list[Document]:  # noqa: ANN401
        """Do what `get_by_ids` does, as LangChain's `DocumentIndex` has it."""
        return self.get_by_ids(ids, **kwargs)

    async def aget(self, ids: Sequence[str], /, **kwargs: Any) -> list[Document]:  # noqa: ANN401
        """Do what `aget_by_ids` does."""
        return await self.aget_by_ids(ids, **kwargs)


def _with_documents(
    index: clew.Index | PulledIndex | NoDocuments,
    documents: list[Document],
    facts: FactsByDocument | None,
) -> clew.Index | PulledIndex:
    if isinstance(index, NoDocuments):
        return clew.Index.from_documents(documents, facts=facts, config=index.config)
    if isinstance(index, PulledIndex):
        index.upsert(documents, facts=facts)
        return index
    return index.upsert(documents, facts=facts)


def _without_documents(
    index: clew.Index | PulledIndex, ids: list[str]
) -> clew.Index | PulledIndex | NoDocuments:
    if isinstance(index, PulledIndex):
        index.delete(ids)
        return index
    is_all = len(set(ids)) == len(index.documents)
    return NoDocuments(index.config) if is_all else index.delete(ids)


def _with_ids(documents: Sequence[Document], ids: Sequence[str] | None) -> list[Document]:
    if ids is None:
        return list(documents)
    return [
        document.model_copy(update={"id": id}) for document, id in zip(documents, ids, strict=True)
    ]


def _named(documents: Sequence[Document]) -> list[Document]:
    """Return the documents, each with an id: the one that an index would give it."""
    return [
        document
        if document.id
        else document.model_copy(update={"id": text_id(document.page_content, document.metadata)})
        for document in documents
    ]


def _given(ids: Sequence[str] | None) -> list[str]:
    if ids is None:
        raise ValueError("say what to delete: ids, a list of the ids of documents")
    return [ids] if isinstance(ids, str) else list(ids)


def _upserted(succeeded: list[str], failed: Sequence[str] = ()) -> UpsertResponse:
    return UpsertResponse(succeeded=succeeded, failed=list(failed))


def _deleted(ids: list[str]) -> DeleteResponse:
    return DeleteResponse(num_deleted=len(ids), succeeded=ids, num_failed=0, failed=[])


def _deleted_in_store(ids: list[str], is_done: bool | None) -> DeleteResponse:
    """Return the response of a store, which does not say what of these ids was there.

    None is how some stores say that it is done.
    """
    if is_done is False:
        return DeleteResponse(num_deleted=0, succeeded=[], num_failed=len(ids), failed=ids)
    return DeleteResponse(num_failed=0, failed=[])
