"""The vectors that a vector store of LlamaIndex's holds, by the ids of its nodes.

A store means what it likes by a similarity; its vectors mean the same everywhere. LlamaIndex has no
call for them, so each store is asked in its own way. A store that is not known here gives none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

ReadVectors = Callable[[Sequence[str]], Mapping[str, Any]]
"""Ids of nodes -> the vectors that the store has of them, by id."""


def reader_of(store: object) -> ReadVectors | None:
    """Return what reads the vectors of a store, or None where they cannot be had."""
    names = {base.__name__ for base in type(store).__mro__}
    known = next((name for name in READERS if name in names), None)
    return None if known is None else READERS[known](store)


def _chroma(store: Any) -> ReadVectors:  # noqa: ANN401  # of any store, here and below
    def read(ids: Sequence[str]) -> Mapping[str, Any]:
        found = store._collection.get(ids=list(ids), include=["embeddings"])
        return dict(zip(found["ids"], found["embeddings"], strict=True))

    return read


def _qdrant(store: Any) -> ReadVectors:  # noqa: ANN401
    def read(ids: Sequence[str]) -> Mapping[str, Any]:
        if store._client is None:
            return {}
        points = store._client.retrieve(
            store.collection_name, list(ids), with_payload=False, with_vectors=True
        )
        vectors = ((str(point.id), point.vector) for point in points)
        return {
            id: next(iter(vector.values())) if isinstance(vector, Mapping) else vector
            for id, vector in vectors
        }

    return read


def _postgres(store: Any) -> ReadVectors:  # noqa: ANN401
    def read(ids: Sequence[str]) -> Mapping[str, Any]:
        table = store._table_class
        with store._session() as session:
            rows = (
                session.query(table.node_id, table.embedding)
                .filter(table.node_id.in_(list(ids)))
                .all()
            )
        return dict(tuple(row) for row in rows)

    return read


READERS: Mapping[str, Callable[[Any], ReadVectors]] = {
    "ChromaVectorStore": _chroma,
    "PGVectorStore": _postgres,
    "QdrantVectorStore": _qdrant,
}
"""By the name of the class of the store or of one that it is derived from."""
