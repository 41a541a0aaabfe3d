"""What LangChain has no call for: the vectors of a vector store, and its filters by metadata.

A store means what it likes by a score: a cosine, a distance, half of one more than a cosine. Its
vectors mean the same everywhere. So each store that is known here is asked in its own way. Another
one gives no vectors, and neither does a class derived from a known one that overrides a search.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from numpy.typing import ArrayLike

from clew.adapters import LastPlaces
from langchain_clew.overrides import overrides_a_search, scores_its_search
from langchain_clew.store_filters import (
    Having,
    Value,
    either_having,
    elasticsearch_having,
    function_having,
    lancedb_condition,
    lancedb_having,
    mapping_having,
    no_having,
    qdrant_having,
    sql_literal,
    table_having,
    table_of,
)

Vectors = Mapping[str, ArrayLike]
"""Vectors by the ids of documents."""

Read = Callable[[VectorStore, Mapping[str, Document]], Vectors]
"""(store, documents by id) -> the vectors that the store has of them, by the same ids."""

ReadAwaited = Callable[[VectorStore, Mapping[str, Document]], Awaitable[Vectors]]
"""What `Read` does, to be awaited."""


FAISS_PLACES = LastPlaces[int]()


class FoundDocument(NamedTuple):
    """A document that a search by vector found, with the id that it has.

    Attributes:
        document: The document.
        vector: Its vector, where the search brought that along; else None.
    """

    document: Document
    vector: ArrayLike | None


FindNear = Callable[[VectorStore, list[float], Mapping[str, object]], list[FoundDocument] | None]
"""(store, vector, arguments of a search) -> the nearest documents with their vectors, in one call.

None where a particular store can only be searched by its own method.
"""

FindNearAwaited = Callable[
    [VectorStore, list[float], Mapping[str, object]], Awaitable[list[FoundDocument] | None]
]
"""What `FindNear` does, to be awaited."""


@dataclass(frozen=True)
class KnownStore:
    """How a kind of store is asked.

    Attributes:
        having: How it filters by metadata.
        read: How its vectors are read, in one call. None where they cannot be.
        find_near: How it is searched by vector so that it gives the vectors along with the
            documents, which its own method leaves out. None where vectors are read in memory.
        has_vectors: Whether a particular store has vectors of one kind, by which alone it searches.
        embeddings: What a store embeds with.
        beside_filter: What a search by a filter is to be told besides, from the store and how many
            documents are wanted.
        most: How many documents it has, where a search may ask for no more. None where it may.
        aread: What `read` does, for a store that is asked in an event loop; None for a thread.
        afind_near: What `find_near` does, likewise.
        beneath: The methods by which all of its searches find, also those that are made here. A
            derived class may override them.
    """

    having: Having
    read: Read | None = None
    find_near: FindNear | None = None
    has_vectors: Callable[[VectorStore], bool] = lambda _: True
    embeddings: Callable[[VectorStore], Embeddings | None] = lambda store: store.embeddings
    beside_filter: Callable[[VectorStore, int], Mapping[str, object]] = lambda _, __: {}
    most: Callable[[VectorStore], int | None] = lambda _: None
    aread: ReadAwaited | None = None
    afind_near: FindNearAwaited | None = None
    beneath: tuple[str, ...] = ()


def known_store(store: VectorStore) -> KnownStore | None:
    """Return how a store is asked, by its class or one that it is derived from.

    One that overrides a search gives no vectors, and nothing is known of its filters.
    """
    found = _class_and_known(store)
    if found is None:
        return None
    kind, known = found
    if not overrides_a_search(store, kind, known.beneath):
        return known
    return KnownStore(no_having, embeddings=known.embeddings, most=known.most)


def gives_scores(store: VectorStore) -> bool:
    """Return whether a search with scores finds what a store's own retriever would find."""
    found = _class_and_known(store)
    if found is None:
        return scores_its_search(store)
    kind, known = found
    return not overrides_a_search(store, kind, known.beneath)


def _class_and_known(store: object) -> tuple[type, KnownStore] | None:
    """Return the class by which a store is known, of LangChain's packages, and how it is asked."""
    for kind in reversed(type(store).__mro__):  # a derived class may have the same name
        package = kind.__module__.partition(".")[0]
        for name in (f"{package}.{kind.__name__}", kind.__name__):
            if package.startswith("langchain") and name in STORES:
                return kind, STORES[name]
    return None


def embeddings_of(store: VectorStore) -> Embeddings | None:
    """Return what a store embeds with, or None where it does not show that."""
    known = known_store(store)
    return getattr(store, "embeddings", None) if known is None else known.embeddings(store)


def store_with_vectors(store: VectorStore) -> KnownStore | None:
    """Return how a store is asked for its vectors, or None where they cannot be had.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> store = InMemoryVectorStore(DeterministicFakeEmbedding(size=2))
        >>> ids = store.add_documents([Document("The sea.", id="sea")])
        >>> known = store_with_vectors(store)
        >>> len(known.read(store, {"sea": Document("The sea.", id="sea")})["sea"])
        2
    """
    known = known_store(store)
    if known is None or known.read is None or known.embeddings(store) is None:
        return None
    return known if known.has_vectors(store) else None


def having(store: VectorStore, key: str, values: Sequence[Value], filter: object) -> object:
    """Return a filter, in a store's own language, for documents with one of some values.

    Args:
        store: The store.
        key: The key of the metadata.
        values: The wanted values.
        filter: What is allowed anyway, which stays so; None allows everything.

    Raises:
        TypeError: How this store filters is not known.
    """
    known = known_store(store)
    made = NotImplemented if known is None else known.having(store, key, values, filter)
    if made is not NotImplemented:
        return made
    raise TypeError(
        f"edges need a filter by metadata, and how a {type(store).__name__} filters "
        f"{'beside such a filter ' if filter is not None else ''}is not known; without edges, "
        "hops follow names by searches alone"
    )


def _read_in_memory(store: Any, documents: Mapping[str, Document]) -> Vectors:  # noqa: ANN401  # of any store, here and below
    return {
        id: store.store[document.id]["vector"]
        for id, document in documents.items()
        if document.id in store.store
    }


def _widely(store: Any, k: int) -> Mapping[str, object]:  # noqa: ANN401
    """Return how many of its nearest FAISS filters: twenty, unless it is told a number."""
    return {"fetch_k": max(k, min(MAX_FILTERED, store.index.ntotal))}


def _read_faiss(store: Any, documents: Mapping[str, Document]) -> Vectors:  # noqa: ANN401
    places = FAISS_PLACES.of(store, store.index_to_docstore_id)
    own_ids = {id: one.id or "" for id, one in documents.items()}
    wanted = {id: places[own] for id, own in own_ids.items() if own in places}
    try:
        return {id: store.index.reconstruct(int(place)) for id, place in wanted.items()}
    except RuntimeError:  # an index that keeps no vectors, such as one of product codes
        return {}


def _read_chroma(store: Any, documents: Mapping[str, Document]) -> Vectors:  # noqa: ANN401
    found = store.get(ids=_own_ids(documents.values()), include=["embeddings"])
    return _by_id(documents, dict(zip(found["ids"], found["embeddings"], strict=True)))


def _find_in_chroma(
    store: Any,  # noqa: ANN401
    vector: list[float],
    search: Mapping[str, Any],
) -> list[FoundDocument]:
    others = {name: one for name, one in search.items() if name not in ("k", "filter", "include")}
    found = store._collection.query(
        query_embeddings=[vector],
        n_results=search["k"],
        where=search.get("filter"),
        include=["documents", "metadatas", "embeddings"],
        **others,
    )
    columns = (found[name][0] for name in ("ids", "documents", "metadatas", "embeddings"))
    return [
        FoundDocument(Document(text, id=id, metadata=metadata or {}), own)
        for id, text, metadata, own in zip(*columns, strict=True)
        if text is not None  # a picture, which the store leaves out as well
    ]


def _read_qdrant(store: Any, documents: Mapping[str, Document]) -> Vectors:  # noqa: ANN401
    numbers = {
        document.metadata["_id"]: id
        for id, document in documents.items()
        if "_id" in document.metadata
    }
    points = store.client.retrieve(
        store.collection_name, list(numbers), with_payload=False, with_vectors=True
    )
    return {numbers[point.id]: _dense_vector(store, point) for point in points}


def _find_in_qdrant(
    store: Any,  # noqa: ANN401
    vector: list[float],
    search: Mapping[str, Any],
) -> list[FoundDocument]:
    collection, name = store.collection_name, store.vector_name
    others = {name: one for name, one in search.items() if name not in ("k", "filter")}
    try:
        points = store.client.query_points(
            collection,
            query=vector,
            using=name,
            query_filter=search.get("filter"),
            limit=search["k"],
            with_payload=True,
            with_vectors=[name] if name else True,
            **others,
        ).points
    except Exception:
        # The store says what is wrong with a collection before it searches it, in a call of its own
        store._validate_collection_for_dense(store.client, collection, name, store.distance, vector)
        raise
    keys = store.content_payload_key, store.metadata_payload_key
    return [
        FoundDocument(
            store._document_from_point(point, collection, *keys), _dense_vector(store, point)
        )
        for point in points
    ]


def _is_dense_in_qdrant(store: Any) -> bool:  # noqa: ANN401
    """Return whether a store searches by dense vectors alone, and not by words, too."""
    mode = getattr(store, "retrieval_mode", None)
    return mode is None or getattr(mode, "value", mode) == "dense"


def _dense_vector(store: Any, point: Any) -> Any:  # noqa: ANN401
    """Return the vector of a point that a store searches by, of several with names."""
    own = point.vector
    return own[store.vector_name] if isinstance(own, Mapping) else own


def _read_postgres(store: Any, documents: Mapping[str, Document]) -> Vectors:  # noqa: ANN401
    table = store.EmbeddingStore
    with store._make_sync_session() as session:
        rows = (
            session.query(table.id, table.embedding)
            .filter(table.id.in_(_own_ids(documents.values())))
            .all()
        )
    return _by_id(documents, {str(id): vector for id, vector in rows})


def _has_sessions(store: Any) -> bool:  # noqa: ANN401
    """Return whether a `PGVector` can be asked for vectors: one that is async alone cannot."""
    return not getattr(store, "async_mode", False)


def _find_in_postgres(
    store: Any,  # noqa: ANN401
    vector: list[float],
    search: Mapping[str, Any],
) -> list[FoundDocument] | None:
    """Return the nearest documents with their vectors, of rows that the store makes these from."""
    query = getattr(store, "_PGVector__query_collection", None)
    documents_of = getattr(store, "_results_to_docs_and_scores", None)
    if query is None or documents_of is None:
        return None
    rows = query(embedding=vector, k=search["k"], filter=search.get("filter"))
    scored = documents_of(rows)
    return [
        FoundDocument(one, row.EmbeddingStore.embedding)
        for row, (one, _) in zip(rows, scored, strict=True)
    ]


def _read_table(store: Any, documents: Mapping[str, Document]) -> Vectors:  # noqa: ANN401
    ids = _own_ids(documents.values())
    if not ids:  # for which the store would give all that it has
        return {}
    return _by_id(documents, _vectors_got(store.get(ids=ids, include=["embeddings"])))


async def _aread_table(store: Any, documents: Mapping[str, Document]) -> Vectors:  # noqa: ANN401
    ids = _own_ids(documents.values())
    if not ids:
        return {}
    got = await store.aget(ids=ids, include=["embeddings"])
    return _by_id(documents, await asyncio.to_thread(_vectors_got, got))


def _vectors_got(got: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    pairs = zip(got["ids"], got["embeddings"], strict=True)
    return {id: _vector_in_row(own) for id, own in pairs if own is not None}


def _vector_in_row(vector: Any) -> Any:  # noqa: ANN401
    """Return a vector that comes as text, unless the connection knows pgvector's types."""
    return json.loads(vector) if isinstance(vector, str) else vector


def _has_vectors_alone(store: Any) -> bool:  # noqa: ANN401
    """Return whether a `PGVectorStore` is searched by vectors that are made here.

    One with a `hybrid_search_config` searches by words, too; for another the server embeds. Before
    langchain_postgres 0.0.17 none can be read.
    """
    table = table_of(store)
    if not hasattr(table, "aget"):
        return False
    embeds_there = callable(getattr(table.embedding_service, "embed_query_inline_template", None))
    return table.hybrid_search_config is None and not embeds_there


def _find_in_table(
    store: Any,  # noqa: ANN401
    vector: list[float],
    search: Mapping[str, Any],
) -> list[FoundDocument] | None:
    engine = getattr(store, "_engine", None)
    if engine is None or engine._loop is None or not _shows_rows(store):
        return None  # the store says that it has no such search
    return _as_numbers(engine._run_as_sync(_rows_near(store, vector, search)))


async def _afind_in_table(
    store: Any,  # noqa: ANN401
    vector: list[float],
    search: Mapping[str, Any],
) -> list[FoundDocument] | None:
    if not _shows_rows(store):
        return None
    near, engine = _rows_near(store, vector, search), getattr(store, "_engine", None)
    found = await (near if engine is None else engine._run_as_async(near))
    return await asyncio.to_thread(_as_numbers, found)


ROWS = "_AsyncPGVectorStore__query_collection"


def _shows_rows(store: object) -> bool:
    return hasattr(table_of(store), ROWS)


async def _rows_near(
    store: object, vector: list[float], search: Mapping[str, Any]
) -> list[FoundDocument]:
    """Return the nearest documents with their vectors, of rows that the store makes these from."""
    table, vectors = copy.copy(table_of(store)), dict[str, Any]()
    rows_of = getattr(table, ROWS)

    async def rows(*what: Any, **how: Any) -> Any:  # noqa: ANN401
        found = await rows_of(*what, **how)
        for row in found:
            vectors[str(row[table.id_column])] = row[table.embedding_column]
        return found

    setattr(table, ROWS, rows)
    documents = await table.asimilarity_search_by_vector(vector, **search)
    return [FoundDocument(one, vectors.get(one.id)) for one in documents]


def _as_numbers(found: list[FoundDocument]) -> list[FoundDocument]:
    return [one._replace(vector=_vector_in_row(one.vector)) for one in found]


def _read_lancedb(store: Any, documents: Mapping[str, Document]) -> Vectors:  # noqa: ANN401
    ids, table = _own_ids(documents.values()), store.get_table()
    if table is None or not ids:
        return {}
    key, vector = store._id_key, store._vector_key
    wanted = f"{key} IN ({', '.join(map(sql_literal, ids))})"
    rows = table.search().where(wanted).select([key, vector]).limit(len(ids)).to_list()
    return _by_id(documents, {row[key]: row[vector] for row in rows})


def _find_in_lancedb(
    store: Any,  # noqa: ANN401
    vector: list[float],
    search: Mapping[str, Any],
) -> list[FoundDocument]:
    """Return the nearest documents with their ids, which the store's own searches leave out."""
    table = store.get_table(search.get("name"))
    if table is None:
        return []
    query = table.search(vector, vector_column_name=store._vector_key).limit(search["k"])
    if search.get("metrics"):
        query = query.distance_type(search["metrics"])
    condition = lancedb_condition(search.get("filter"))
    if condition is not None:
        query = query.where(condition, prefilter=search.get("prefilter", True))
    text, key, own = store._text_key, store._id_key, store._vector_key
    return [
        FoundDocument(
            Document(row[text], id=row[key], metadata=row.get("metadata") or {}), row[own]
        )
        for row in query.to_list()
    ]


def _embeddings_of_lancedb(store: Any) -> Embeddings | None:  # noqa: ANN401
    embeddings: Embeddings | None = store._embedding_function
    return embeddings


def _read_lancedb_of_package(store: Any, documents: Mapping[str, Document]) -> Vectors:  # noqa: ANN401
    ids, (table, _) = _own_ids(documents.values()), store._get_or_create_table()
    if table is None or not ids:
        return {}
    wanted = f"id IN ({', '.join(map(sql_literal, ids))})"
    rows = table.search().where(wanted).select(["id", "vector"]).limit(len(ids)).to_list()
    return _by_id(documents, {row["id"]: row["vector"] for row in rows})


def _find_in_lancedb_of_package(
    store: Any,  # noqa: ANN401
    vector: list[float],
    search: Mapping[str, Any],
) -> list[FoundDocument]:
    """Return the nearest documents of `langchain_lancedb.LanceDB`, which has no such search.

    Raises:
        ValueError: There is a filter, which this store would leave aside without a word.
    """
    if search.get("filter") is not None:
        raise ValueError(
            "langchain_lancedb.LanceDB takes no filter; "
            "langchain_community.vectorstores.LanceDB takes one, in SQL"
        )
    table, _ = store._get_or_create_table()
    if table is None:
        return []
    rows = table.search(vector).limit(search["k"]).to_list()
    return [
        FoundDocument(
            Document(
                row["text"],
                id=row["id"],
                metadata={**json.loads(row["metadata"]), "source": store._uri},  # as the store does
            ),
            row["vector"],
        )
        for row in rows
    ]


def _read_elasticsearch(store: Any, documents: Mapping[str, Document]) -> Vectors:  # noqa: ANN401
    """Read by `fields`, since Elasticsearch 9.2 leaves vectors out of what was stored."""
    ids, field = _own_ids(documents.values()), store.vector_query_field
    if not ids:
        return {}
    found = store.client.search(
        index=store._store.index if hasattr(store, "_store") else store.index_name,
        query={"ids": {"values": ids}},
        fields=[field],
        source=False,
        size=len(ids),
    )
    hits = (hit for hit in found["hits"]["hits"] if field in hit.get("fields", {}))
    return _by_id(documents, {hit["_id"]: hit["fields"][field] for hit in hits})


def _find_in_elasticsearch(
    store: Any,  # noqa: ANN401
    vector: list[float],
    search: Mapping[str, Any],
) -> list[FoundDocument]:
    """Return the nearest documents with their ids and vectors, which are in the hits alone."""
    text, field, vectors = store.query_field, store.vector_query_field, list[Any]()

    def document(hit: Mapping[str, Any]) -> Document:
        vectors.append(hit.get("fields", {}).get(field))
        source = hit["_source"]
        return Document(source.get(text, ""), id=hit["_id"], metadata=source.get("metadata", {}))

    def body_with_vectors(body: dict[str, Any], _: str | None) -> dict[str, Any]:
        return {**_wide(body), "fields": [*body.get("fields", ()), field]}

    how = {"doc_builder": document, "custom_query": body_with_vectors, **search}
    scored = store.similarity_search_by_vector_with_relevance_scores(vector, **how)
    known = vectors if len(vectors) == len(scored) else [None] * len(scored)  # a builder came along
    return [FoundDocument(one, own) for (one, _), own in zip(scored, known, strict=True)]


def _wide(body: dict[str, Any]) -> dict[str, Any]:
    """Return a search that looks at as many neighbours as it is to find, at least."""
    knn = body.get("knn")
    if knn is None:
        return body
    return {**body, "knn": {**knn, "num_candidates": max(knn["num_candidates"], knn["k"])}}


def _has_dense_vectors(store: Any) -> bool:  # noqa: ANN401
    """Return whether an `ElasticsearchStore` searches by vectors of its documents alone.

    That of `langchain_community` calls its strategies otherwise, and may have the server embed.
    """
    strategy = getattr(getattr(store, "_store", None), "retrieval_strategy", None)
    strategy = getattr(store, "strategy", None) if strategy is None else strategy
    is_dense = type(strategy).__name__.startswith(DENSE_STRATEGIES)
    others = (getattr(strategy, name, None) for name in ("hybrid", "query_model_id"))
    return is_dense and not any(others)


def _size_of_sklearn(store: Any) -> int:  # noqa: ANN401
    return len(store._texts)


DENSE_STRATEGIES = "DenseVector", "ApproxRetrieval", "ExactRetrieval"

MAX_FILTERED = 20_000
"""Documents of which a store is told to filter the nearest, where it filters what it has found."""

POSTGRES_TABLE = KnownStore(
    table_having,
    _read_table,
    _find_in_table,
    _has_vectors_alone,
    aread=_aread_table,
    afind_near=_afind_in_table,
)
"""A `PGVectorStore`, and the `AsyncPGVectorStore` that it asks."""

STORES: Mapping[str, KnownStore] = {
    "AstraDBVectorStore": KnownStore(mapping_having),
    "AsyncPGVectorStore": POSTGRES_TABLE,
    "Chroma": KnownStore(mapping_having, _read_chroma, _find_in_chroma),
    "ElasticsearchStore": KnownStore(
        elasticsearch_having, _read_elasticsearch, _find_in_elasticsearch, _has_dense_vectors
    ),
    "FAISS": KnownStore(either_having, _read_faiss, beside_filter=_widely),
    "InMemoryVectorStore": KnownStore(
        function_having, _read_in_memory, beneath=("_similarity_search_with_score_by_vector",)
    ),
    "LanceDB": KnownStore(lancedb_having, _read_lancedb, _find_in_lancedb),
    "langchain_lancedb.LanceDB": KnownStore(
        no_having,
        _read_lancedb_of_package,
        _find_in_lancedb_of_package,
        embeddings=_embeddings_of_lancedb,
    ),
    "PGVector": KnownStore(mapping_having, _read_postgres, _find_in_postgres, _has_sessions),
    "PGVectorStore": POSTGRES_TABLE,
    "PineconeVectorStore": KnownStore(mapping_having),
    "QdrantVectorStore": KnownStore(
        qdrant_having, _read_qdrant, _find_in_qdrant, _is_dense_in_qdrant
    ),
    "SKLearnVectorStore": KnownStore(no_having, most=_size_of_sklearn),
}
"""By the name of the class, with its package where another one has a class of this name."""


def _own_ids(documents: Iterable[Document]) -> list[str]:
    return [document.id for document in documents if document.id is not None]


def _by_id(documents: Mapping[str, Document], vectors: Vectors) -> Vectors:
    return {
        id: vectors[document.id]
        for id, document in documents.items()
        if document.id is not None and document.id in vectors
    }
