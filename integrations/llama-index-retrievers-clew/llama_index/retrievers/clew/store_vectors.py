"""What LlamaIndex has no call for: the vectors that a vector store holds, by the ids of its nodes.

A store means what it likes by a similarity; its vectors mean the same everywhere. So each store
that is known here is asked in its own way. Another one gives no vectors.

A search brings them along where the client of the store can give them with what it finds. The store
itself searches, with its own filters and modes, and parses the nodes: what it asks its client for
is widened, and what is added to the answer is taken out before the store sees it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from llama_index.retrievers.clew.store_searches import known_class
from numpy.typing import ArrayLike

Vectors = Mapping[str, ArrayLike]
ReadVectors = Callable[[BasePydanticVectorStore, Sequence[str]], Vectors | Awaitable[Vectors]]
"""(store, ids of nodes) -> the vectors that the store has of them, by id.

A store that works by its async client alone gives them to be awaited.
"""


class Recording(NamedTuple):
    """A store that keeps the vectors of what it finds.

    Attributes:
        store: Finds what the store that it was made of finds, for one search.
        vectors: What it has kept so far, by the ids of the nodes.
    """

    store: BasePydanticVectorStore
    vectors: dict[str, ArrayLike]


def reader_of(store: BasePydanticVectorStore) -> ReadVectors | None:
    """Return what reads the vectors of a store, or None where they cannot be had."""
    known = _known(store)
    return None if known is None else READERS[known]


def nodes_by_id(store: BasePydanticVectorStore, ids: Sequence[str]) -> Sequence[BaseNode]:
    """Return the nodes that a store has of these ids, as far as they are there.

    Raises:
        NotImplementedError: The store gives no nodes by their ids.
    """
    if _known(store) == "LanceDBVectorStore":  # whose own condition quotes ids as names of columns
        by_condition: Callable[..., Sequence[BaseNode]] = store.get_nodes
        return by_condition(where=_among_ids(ids))
    return store.get_nodes(list(ids))


def recording_of(store: BasePydanticVectorStore) -> Recording | None:
    """Return a store for one search that keeps vectors, or None where a search brings none."""
    known = _known(store)
    return None if known is None or known not in RECORDERS else RECORDERS[known](store)


def vectors_on(store: object, nodes: Sequence[NodeWithScore]) -> Vectors:
    """Return the vectors of those nodes that the search of a store gave with them."""
    if _known(store) != "LanceDBVectorStore":  # elsewhere they may be of another space
        return {}
    vectors = ((scored.node.node_id, scored.node.embedding) for scored in nodes)
    return {id: vector for id, vector in vectors if vector is not None}


def _known(store: object) -> str | None:
    """Return the name under which a store is known here, if its vectors can be had."""
    known = known_class(store, READERS)
    return None if known == "ElasticsearchStore" and not _has_dense_vectors(store) else known


def _in_memory(store: Any, ids: Sequence[str]) -> Vectors:  # noqa: ANN401
    vectors = store.data.embedding_dict
    return {id: vectors[id] for id in ids if id in vectors}


def _chroma(store: Any, ids: Sequence[str]) -> Vectors:  # noqa: ANN401  # of any store, here and below
    found = store._collection.get(ids=list(ids), include=["embeddings"])
    return dict(zip(found["ids"], found["embeddings"], strict=True))


def _qdrant(store: Any, ids: Sequence[str]) -> Vectors:  # noqa: ANN401
    if store._client is None:
        return {}
    points = store._client.retrieve(
        store.collection_name, list(ids), with_payload=False, with_vectors=True
    )
    return {str(point.id): _dense_vector(point, store.dense_vector_name) for point in points}


def _dense_vector(point: Any, name: str) -> Any:  # noqa: ANN401
    """Return the vector of a point, or that under a name; an older collection calls it nothing."""
    own = point.vector
    return own.get(name, own.get("")) if isinstance(own, Mapping) else own


def _postgres(store: Any, ids: Sequence[str]) -> Vectors:  # noqa: ANN401
    table = store._table_class
    with store._session() as session:
        rows = (
            session.query(table.node_id, table.embedding).filter(table.node_id.in_(list(ids))).all()
        )
    return dict(tuple(row) for row in rows)


def _lancedb(store: Any, ids: Sequence[str]) -> Vectors:  # noqa: ANN401
    wanted, vector = _among_ids(ids), store.vector_column_name
    rows = store.table.search().where(wanted).select(["id", vector]).limit(len(ids)).to_list()
    return {row["id"]: row[vector] for row in rows}


def _among_ids(ids: Sequence[str]) -> str:
    """Return a condition of LanceDB's for the rows of these ids."""
    return "id IN ('" + "', '".join(id.replace("'", "''") for id in ids) + "')"


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
    "SimpleVectorStore": _in_memory,
}
"""By the name of the class of the store or of one that it is derived from."""


class _Wrapped:
    """Something of a store's that does a few things in another way.

    Args:
        inner: What does the others.
        **methods: By the names of the methods, what is called instead.
    """

    def __init__(self, inner: object, **methods: Callable[..., Any]) -> None:
        self._inner = inner
        self.__dict__.update(methods)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._inner, name)


def _recording_chroma(store: Any) -> Recording:  # noqa: ANN401
    recorded, vectors = store.model_copy(), dict[str, ArrayLike]()

    def query(**how: Any) -> Any:  # noqa: ANN401
        wanted = how.pop("include", None) or ["metadatas", "documents", "distances"]
        found = store._collection.query(**how, include=[*{*wanted, "embeddings"}])
        vectors.update(zip(found["ids"][0], found["embeddings"][0], strict=True))
        return found

    recorded._collection = _Wrapped(store._collection, query=query)
    return Recording(recorded, vectors)


def _recording_qdrant(store: Any) -> Recording | None:  # noqa: ANN401
    if store._client is None:  # what the store learns at its first search, it would learn anew
        return None
    recorded, vectors = store.model_copy(), dict[str, ArrayLike]()

    def kept(answer: Any) -> Any:  # noqa: ANN401
        for point in answer.points:
            vector = _dense_vector(point, recorded.dense_vector_name)
            if vector is not None:
                vectors[str(point.id)] = vector
            point.vector = None
        return answer

    def query_points(**how: Any) -> Any:  # noqa: ANN401
        return kept(store._client.query_points(**how, with_vectors=True))

    async def aquery_points(**how: Any) -> Any:  # noqa: ANN401
        return kept(await store._aclient.query_points(**how, with_vectors=True))

    def query_batch_points(**how: Any) -> Any:  # noqa: ANN401
        return [kept(one) for one in store._client.query_batch_points(**_wider_batch(how))]

    async def aquery_batch_points(**how: Any) -> Any:  # noqa: ANN401
        return [kept(one) for one in await store._aclient.query_batch_points(**_wider_batch(how))]

    recorded._client = _Wrapped(
        store._client, query_points=query_points, query_batch_points=query_batch_points
    )
    if store._aclient is not None:
        recorded._aclient = _Wrapped(
            store._aclient, query_points=aquery_points, query_batch_points=aquery_batch_points
        )
    return Recording(recorded, vectors)


def _wider_batch(how: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of several queries of Qdrant's that are to give vectors, too."""
    requests = [one.model_copy(update={"with_vector": True}) for one in how["requests"]]
    return {**how, "requests": requests}


def _recording_postgres(store: Any) -> Recording | None:  # noqa: ANN401
    """Add a column to the store's own query; what is in such columns comes in `custom_fields`."""
    query_of, result_of = (
        getattr(store, name, None) for name in ("_build_query", "_db_rows_to_query_result")
    )
    if query_of is None or result_of is None:
        return None
    store._initialize()  # it connects once, and not once for each search
    recorded, vectors = store.model_copy(), dict[str, ArrayLike]()

    def build_query(*what: Any, **how: Any) -> Any:  # noqa: ANN401
        column = store._table_class.embedding.label(VECTOR_COLUMN)
        return query_of(*what, **how).add_columns(column)

    def query_result(rows: Sequence[Any]) -> Any:  # noqa: ANN401
        for row in rows:
            vector = (getattr(row, "custom_fields", None) or {}).pop(VECTOR_COLUMN, None)
            if vector is not None:
                vectors[row.node_id] = vector
        return result_of(rows)

    object.__setattr__(recorded, "_build_query", build_query)
    object.__setattr__(recorded, "_db_rows_to_query_result", query_result)
    return Recording(recorded, vectors)


VECTOR_COLUMN = "clew_vector"


def _recording_elasticsearch(store: Any) -> Recording:  # noqa: ANN401
    recorded, vectors, field = store.model_copy(), dict[str, ArrayLike](), store.vector_field

    async def search(custom_query: Any = None, **how: Any) -> Any:  # noqa: ANN401
        def body_with_vectors(body: dict[str, Any], question: Any) -> dict[str, Any]:  # noqa: ANN401
            own = body if custom_query is None else custom_query(body, question)
            return {**own, "fields": [*own.get("fields", ()), field]}

        hits = await store._store.search(**how, custom_query=body_with_vectors)
        fields = ((hit["_id"], hit.get("fields", {})) for hit in hits)
        vectors.update({id: own[field] for id, own in fields if field in own})
        return hits

    recorded._store = _Wrapped(store._store, search=search)
    return Recording(recorded, vectors)


RECORDERS: Mapping[str, Callable[[BasePydanticVectorStore], Recording | None]] = {
    "ChromaVectorStore": _recording_chroma,
    "ElasticsearchStore": _recording_elasticsearch,
    "PGVectorStore": _recording_postgres,
    "QdrantVectorStore": _recording_qdrant,
}
"""As `READERS`. The nodes of LanceDB's store have their vectors already."""
