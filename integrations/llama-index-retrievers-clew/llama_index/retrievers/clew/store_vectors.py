"""What LlamaIndex has no call for: the vectors that a vector store holds, by the ids of its nodes.

A store means what it likes by a similarity; its vectors mean the same everywhere. So each store
that is known here is asked in its own way. Another one gives no vectors.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

Vectors = Mapping[str, Any]
ReadVectors = Callable[[Any, Sequence[str]], Vectors | Awaitable[Vectors]]
"""(store, ids of nodes) -> the vectors that the store has of them, by id.

A store that works by its async client alone gives them to be awaited.
"""


def reader_of(store: object) -> ReadVectors | None:
    """Return what reads the vectors of a store, or None where they cannot be had."""
    names = (base.__name__ for base in type(store).__mro__)
    known = next((READERS[name] for name in names if name in READERS), None)
    return None if known is _elasticsearch and not _has_dense_vectors(store) else known


def _chroma(store: Any, ids: Sequence[str]) -> Vectors:  # noqa: ANN401  # of any store, here and below
    found = store._collection.get(ids=list(ids), include=["embeddings"])
    return dict(zip(found["ids"], found["embeddings"], strict=True))


def _qdrant(store: Any, ids: Sequence[str]) -> Vectors:  # noqa: ANN401
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


def _postgres(store: Any, ids: Sequence[str]) -> Vectors:  # noqa: ANN401
    table = store._table_class
    with store._session() as session:
        rows = (
            session.query(table.node_id, table.embedding).filter(table.node_id.in_(list(ids))).all()
        )
    return dict(tuple(row) for row in rows)


def _lancedb(store: Any, ids: Sequence[str]) -> Vectors:  # noqa: ANN401
    quoted = (id.replace("'", "''") for id in ids)
    wanted, vector = "id IN ('" + "', '".join(quoted) + "')", store.vector_column_name
    rows = store.table.search().where(wanted).select(["id", vector]).limit(len(ids)).to_list()
    return {row["id"]: row[vector] for row in rows}


async def _elasticsearch(store: Any, ids: Sequence[str]) -> Vectors:  # noqa: ANN401
    """Read by `fields`, since Elasticsearch 9.2 leaves vectors out of what was stored."""
    found = await store.client.search(
        index=store.index_name,
        query={"ids": {"values": list(ids)}},
        fields=[store.vector_field],
        source=False,
        size=len(ids),
    )
    hits = ((hit["_id"], hit.get("fields", {})) for hit in found["hits"]["hits"])
    return {id: fields[store.vector_field] for id, fields in hits if store.vector_field in fields}


def _has_dense_vectors(store: Any) -> bool:  # noqa: ANN401
    """Return whether an `ElasticsearchStore` searches by vectors of its nodes alone."""
    strategy = store.retrieval_strategy
    is_dense = type(strategy).__name__.startswith("AsyncDenseVector")
    return is_dense and not getattr(strategy, "hybrid", False)


READERS: Mapping[str, ReadVectors] = {
    "ChromaVectorStore": _chroma,
    "ElasticsearchStore": _elasticsearch,
    "LanceDBVectorStore": _lancedb,
    "PGVectorStore": _postgres,
    "QdrantVectorStore": _qdrant,
}
"""By the name of the class of the store or of one that it is derived from."""
