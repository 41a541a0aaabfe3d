"""The vectors that a vector store holds, by the ids of its documents.

A store means what it likes by a score: a cosine, a distance, half of one more than a cosine. Its
vectors mean the same everywhere. LangChain has no call for them, so each store is asked in its own
way. A store that is not known here gives none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

ReadVectors = Callable[[Mapping[str, Document]], Mapping[str, Any]]
"""Documents by id -> the vectors that the store has of them, by the same ids."""


def reader_of(store: VectorStore) -> ReadVectors | None:
    """Return what reads the vectors of a store, or None where they cannot be had.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> store = InMemoryVectorStore(DeterministicFakeEmbedding(size=2))
        >>> ids = store.add_documents([Document("The sea.", id="sea")])
        >>> read = reader_of(store)
        >>> len(read({"sea": Document("The sea.", id="sea")})["sea"])
        2
    """
    if store.embeddings is None:
        return None
    names = {base.__name__ for base in type(store).__mro__}
    known = next((name for name in READERS if name in names), None)
    return None if known is None else READERS[known](store)


def _in_memory(store: Any) -> ReadVectors:  # noqa: ANN401  # of any store, here and below
    return lambda documents: {
        id: store.store[document.id]["vector"]
        for id, document in documents.items()
        if document.id in store.store
    }


def _faiss(store: Any) -> ReadVectors:  # noqa: ANN401
    def read(documents: Mapping[str, Document]) -> Mapping[str, Any]:
        wanted = {document.id: id for id, document in documents.items()}
        places = {
            wanted[own]: place for place, own in store.index_to_docstore_id.items() if own in wanted
        }
        try:
            return {id: store.index.reconstruct(int(place)) for id, place in places.items()}
        except RuntimeError:  # an index that keeps no vectors, such as one of product codes
            return {}

    return read


def _chroma(store: Any) -> ReadVectors:  # noqa: ANN401
    def read(documents: Mapping[str, Document]) -> Mapping[str, Any]:
        found = store.get(ids=_own_ids(documents.values()), include=["embeddings"])
        return _by_id(documents, dict(zip(found["ids"], found["embeddings"], strict=True)))

    return read


def _qdrant(store: Any) -> ReadVectors:  # noqa: ANN401
    def read(documents: Mapping[str, Document]) -> Mapping[str, Any]:
        numbers = {
            document.metadata["_id"]: id
            for id, document in documents.items()
            if "_id" in document.metadata
        }
        points = store.client.retrieve(
            store.collection_name, list(numbers), with_payload=False, with_vectors=True
        )
        vectors = ((numbers[point.id], point.vector) for point in points)
        return {
            id: vector[store.vector_name] if isinstance(vector, Mapping) else vector
            for id, vector in vectors
        }

    return read


def _postgres(store: Any) -> ReadVectors:  # noqa: ANN401
    def read(documents: Mapping[str, Document]) -> Mapping[str, Any]:
        table = store.EmbeddingStore
        with store._make_sync_session() as session:
            rows = (
                session.query(table.id, table.embedding)
                .filter(table.id.in_(_own_ids(documents.values())))
                .all()
            )
        return _by_id(documents, {str(id): vector for id, vector in rows})

    return read


READERS: Mapping[str, Callable[[Any], ReadVectors]] = {
    "InMemoryVectorStore": _in_memory,
    "FAISS": _faiss,
    "Chroma": _chroma,
    "QdrantVectorStore": _qdrant,
    "PGVector": _postgres,
}
"""By the name of the class of the store or of one that it is derived from."""


def having(store: VectorStore, key: str, values: Sequence[object], filter: object) -> object:
    """Return a filter, in a store's own language, for documents with one of some values.

    Args:
        store: The store.
        key: The key of the metadata.
        values: The wanted values.
        filter: What is allowed anyway, which stays so; None allows everything.

    Raises:
        TypeError: How this store filters is not known.
    """
    names = {base.__name__ for base in type(store).__mro__}
    if "QdrantVectorStore" in names:
        return _having_in_qdrant(store, key, values, filter)
    if names & {"InMemoryVectorStore", "FAISS"} and (filter is None or callable(filter)):
        return _test_having(key, values, filter)
    if names & MONGO_LIKE and (filter is None or isinstance(filter, Mapping)):
        only = {key: {"$in": list(values)}}
        return {"$and": [filter, only]} if filter else only
    raise TypeError(
        f"edges need a filter by metadata, and how a {type(store).__name__} filters "
        f"{'beside such a filter ' if filter is not None else ''}is not known; without edges, "
        "hops follow names by searches alone"
    )


def _test_having(key: str, values: Sequence[object], filter: Any) -> Callable[[Any], bool]:  # noqa: ANN401
    def test(document: Any) -> bool:  # noqa: ANN401  # FAISS asks of the metadata
        own = (document.metadata if isinstance(document, Document) else document).get(key)
        listed = own if isinstance(own, (list, tuple, set)) else [own]
        return any(one in values for one in listed) and (filter is None or bool(filter(document)))

    return test


def _having_in_qdrant(store: Any, key: str, values: Sequence[object], filter: object) -> object:  # noqa: ANN401
    from qdrant_client import models

    path = f"{store.metadata_payload_key}.{key}"
    only = models.FieldCondition(key=path, match=models.MatchAny(any=list(values)))
    return models.Filter(must=[only] if filter is None else [only, filter])


MONGO_LIKE = {"AstraDBVectorStore", "Chroma", "FAISS", "PGVector", "PineconeVectorStore"}
"""Stores whose filters are mappings with "$in" and "$and"."""


def _own_ids(documents: Iterable[Document]) -> list[str]:
    return [document.id for document in documents if document.id is not None]


def _by_id(documents: Mapping[str, Document], vectors: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        id: vectors[document.id] for id, document in documents.items() if document.id in vectors
    }
