"""LanceDB itself, and the client of Elasticsearch over a server that is made up: both frameworks give what the store in memory gives.

Of Chroma, PostgreSQL and Qdrant, and of these two, searches bring along the vectors that a call of its own would read.
What is not installed is left out, but for `.ci/stores`, which fails without: the extra `stores` brings all.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
import uuid
import warnings
from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from langchain_clew import ClewRetriever as OverLangChain
from langchain_clew.stores import STORES, store_with_vectors
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
from llama_index.retrievers.clew import ClewRetriever as OverLlamaIndex
from llama_index.retrievers.clew import candidates

pytestmark = pytest.mark.filterwarnings("ignore")  # of the stores, which are others' concern

NAMES = ("Anna Alm", "Ben Berg", "Cleo Dahl", "Dora Ek", "Emil Holm", "Fay Lind", "Gus Moe")
TEXTS = {
    f"p{i}-{j}": f"{one}\nOnce {one} met {other} on island {i * j}, it's said."
    for i, one in enumerate(NAMES)
    for j, other in enumerate(NAMES)
    if one != other
} | {f"x{i}": f"The ferry number {i} sails at {i % 12} to a port." for i in range(40)}
ISLES = {
    id: {
        "isle": f"isle {len(id)}'s",
        "deck": i % 3,
        "port": ("Paxos", "Gaios")[i % 2],
        "stops": [f"quay {i}", f"quay {i + 1}"],
    }
    for i, id in enumerate(TEXTS)
}
LINKS = {f"p{i}-{j}": {"see": "isle 2's"} for i, j in ((0, 1), (1, 0))}
QUESTIONS = [f"Whom did the friend of {name} meet?" for name in NAMES] + ["When sails ferry 7?"]
embedded = []


def vector_of(text):
    vector = [0.01] * 32
    for word in text.lower().replace(".", " ").replace("?", " ").split():
        vector[crc32(word.encode()) % 32] += 1
    # No two texts are equally near: stores order those as they like, and names are followed in the store's order.
    vector[crc32(text.encode()) % 32] += 0.1 * crc32(text[::-1].encode()) / 2**32
    return [number / math.hypot(*vector) for number in vector]


class ForLangChain(Embeddings):
    def embed_documents(self, texts):
        embedded.extend(texts)
        return [vector_of(text) for text in texts]

    def embed_query(self, text):
        return vector_of(text)


class ForLlamaIndex(BaseEmbedding):
    def _get_text_embedding(self, text):
        embedded.append(text)
        return vector_of(text)

    def _get_query_embedding(self, query):
        return vector_of(query)

    async def _aget_query_embedding(self, query):
        return vector_of(query)


def documents():
    return [
        Document(text, id=id, metadata={"see": "", **ISLES[id], **LINKS.get(id, {})})
        for id, text in TEXTS.items()
    ]


@pytest.fixture
def server():
    pytest.importorskip("elasticsearch")
    from tests.fake_elasticsearch import Server

    return Server(hides_vectors=True)


def client_of(server):
    from elasticsearch import Elasticsearch

    from tests.fake_elasticsearch import nodes_of

    return Elasticsearch("http://localhost:9200", node_class=nodes_of(server)[0])


def elasticsearch_of_llama_index(server, monkeypatch):
    module = pytest.importorskip("llama_index.vector_stores.elasticsearch")
    from elasticsearch import AsyncElasticsearch

    from tests.fake_elasticsearch import nodes_of

    # The store changes `asyncio.run` for the whole process, to one that closes no loop.
    monkeypatch.setattr("nest_asyncio.apply", lambda: None)
    client = AsyncElasticsearch("http://localhost:9200", node_class=nodes_of(server)[1])
    return module.ElasticsearchStore("texts", es_client=client)


def of_the_community(client, **strategy):
    community = pytest.importorskip("langchain_community.vectorstores")
    how = {"embedding": ForLangChain(), "es_connection": client}
    return community.ElasticsearchStore("texts", **how, **strategy)


@pytest.fixture(params=["lancedb", "elasticsearch", "elasticsearch of the community"])
def store(request, tmp_path):
    """A store of LangChain's, filled."""
    if request.param == "lancedb":
        pytest.importorskip("lancedb")
        community = pytest.importorskip("langchain_community.vectorstores")
        store = community.LanceDB(uri=str(tmp_path), embedding=ForLangChain(), distance="cosine")
    else:
        client = client_of(request.getfixturevalue("server"))
        if request.param == "elasticsearch":
            module = pytest.importorskip("langchain_elasticsearch")
            store = module.ElasticsearchStore("texts", embedding=ForLangChain(), client=client)
        else:
            store = of_the_community(client)
    store.add_documents(documents())
    return store


@pytest.fixture
def loop():
    """The event loop in which the store of Elasticsearch waits."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture(params=["lancedb", "elasticsearch", "faiss", "faiss by id"])
def hosted(request, tmp_path, loop, monkeypatch):
    """An index of LlamaIndex's, filled, over a store that keeps the text or one over FAISS."""
    if request.param == "lancedb":
        module = pytest.importorskip("llama_index.vector_stores.lancedb")
        store = module.LanceDBVectorStore(uri=str(tmp_path))
    elif request.param.startswith("faiss"):
        faiss = pytest.importorskip("faiss")
        module = pytest.importorskip("llama_index.vector_stores.faiss")
        flat = faiss.IndexFlatL2(32)
        if request.param == "faiss":
            store = module.FaissVectorStore(flat)
        else:
            store = module.FaissMapVectorStore(faiss.IndexIDMap2(flat))
    else:
        store = elasticsearch_of_llama_index(request.getfixturevalue("server"), monkeypatch)
    return VectorStoreIndex(
        [
            TextNode(
                text=one.page_content,
                id_=one.id,
                metadata={name: said for name, said in one.metadata.items() if name != "stops"},
                excluded_embed_metadata_keys=list(one.metadata),
            )
            for one in documents()
        ],
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=ForLlamaIndex(),
    )


def best(context):
    """The ten best, with what they score."""
    ranked = sorted(context, key=lambda item: (-round(item.score, 4), item.text))
    return [(item.text, round(item.score, 4)) for item in ranked][:10]


def in_memory(**how):
    store = InMemoryVectorStore.from_documents(documents(), ForLangChain())
    return OverLangChain.from_vectorstore(store, **how)


async def test_langchain_reads_vectors_by_id_and_embeds_nothing(store):
    how = {"candidates": len(TEXTS), "budget": None}
    same, retriever = in_memory(**how), OverLangChain.from_vectorstore(store, **how)
    embedded.clear()
    for question in QUESTIONS:
        context = retriever.context(question)
        assert context.trace[0].notes["scores"] == "cosine of the store's vectors"
        assert best(context) == best(same.context(question))
        assert best(await retriever.acontext(question)) == best(context)
        assert {one.id for one in retriever.invoke(question)} <= TEXTS.keys()
    assert embedded == []


def test_the_package_of_lancedb_gives_its_vectors_too(tmp_path):
    pytest.importorskip("lancedb")
    package = pytest.importorskip("langchain_lancedb")
    store = package.LanceDB(ForLangChain(), tmp_path)
    how = {"candidates": len(TEXTS), "budget": None}
    same, retriever = in_memory(**how), OverLangChain.from_vectorstore(store, **how)
    assert retriever.invoke(QUESTIONS[0]) == []  # there is no table yet
    store.add_documents(documents())
    embedded.clear()
    for question in QUESTIONS:
        context = retriever.context(question)
        assert context.trace[0].notes["scores"] == "cosine of the store's vectors"
        assert [item.metadata["source"] for item in context] == [str(tmp_path)] * len(context)
        found, wanted = best(context), best(same.context(question))
        assert [text for text, _ in found] == [text for text, _ in wanted]
        scores = [[score for _, score in some] for some in (found, wanted)]
        assert scores[0] == pytest.approx(scores[1], abs=2e-4)
    assert embedded == []
    with pytest.raises(ValueError, match="takes no filter"):
        retriever.invoke(QUESTIONS[0], filter="metadata.deck = 0")
    with pytest.raises(TypeError, match="how a LanceDB filters"):
        OverLangChain.from_vectorstore(store, edges=[("see", "isle")])


def test_a_server_that_embeds_or_searches_by_words_too_is_asked_by_text(server):
    client = client_of(server)
    community = pytest.importorskip("langchain_community.vectorstores")
    kinds = community.ElasticsearchStore
    for strategy in (
        kinds.ApproxRetrievalStrategy(hybrid=True),
        kinds.ApproxRetrievalStrategy(query_model_id="theirs"),
        kinds.SparseVectorRetrievalStrategy(),
    ):
        assert store_with_vectors(of_the_community(client, strategy=strategy)) is None
    exact = of_the_community(client, strategy=kinds.ExactRetrievalStrategy())
    assert store_with_vectors(exact) is not None


def test_langchain_follows_edges_under_the_same_filter(store):
    how = {"candidates": 1, "hops": 0, "edges": [("see", "isle")], "recipe": "dense", "k": 16}
    question = "Whom did Anna Alm meet with Ben Berg on island 0?"
    retriever = OverLangChain.from_vectorstore(store, **how)
    found = retriever.context(question)
    assert {item.id for item in found} == {item.id for item in in_memory(**how).context(question)}
    assert [item.metadata["isle"] for item in found].count("isle 2's") == 10 == len(found) - 1
    is_lance = type(store).__name__ == "LanceDB"
    only = "metadata.deck = 0" if is_lance else [{"term": {"metadata.deck": {"value": 0}}}]
    some = retriever.context(question, filter=only)
    assert {item.metadata["deck"] for item in some} == {0}
    assert 1 < len(some) < len(found)
    quays = {**how, "edges": [("stops", "stops")]}
    stopping = OverLangChain.from_vectorstore(store, **quays).context(question)
    assert {item.id for item in stopping} == {
        item.id for item in in_memory(**quays).context(question)
    }
    assert len(stopping) == 3
    numbers = OverLangChain.from_vectorstore(store, **{**how, "edges": [("deck", "deck")]})
    assert {item.metadata["deck"] for item in numbers.context(question)} == {0}
    of_another_type = OverLangChain.from_vectorstore(store, **{**how, "edges": [("deck", "isle")]})
    assert of_another_type.context(question).trace[0].notes["further"][0]["found"] == 0


def test_edges_of_several_types_find_what_has_one_of_their_values_in_qdrant():
    pytest.importorskip("qdrant_client")
    module = pytest.importorskip("langchain_qdrant")
    values = ["u1", 7, 2.5, True]
    first = Document(QUESTIONS[0], metadata={"links": values})
    others = [
        Document(f"Granite {value}.", metadata={"url": value}) for value in (*values, "no", 8, 0.5)
    ]
    store = module.QdrantVectorStore.from_documents(
        [first, *others], ForLangChain(), location=":memory:", collection_name="texts"
    )
    how = {"hops": 0, "edges": [("links", "url")], "recipe": "dense", "k": 8}
    found = OverLangChain.from_vectorstore(store, 1, **how).context(QUESTIONS[0])
    assert {item.text for item in found} == {
        first.page_content,
        *(f"Granite {one}." for one in values),
    }


@pytest.mark.parametrize("kind", ["chroma", "postgres", "postgres table"])
def test_edges_of_several_types_find_what_has_one_of_their_values(kind, request):
    """Chroma takes one type in a list, PGVector no truth value, PGVectorStore one type in all rows."""
    first = Document(QUESTIONS[0], metadata={"see": 7, "is_open": True})
    others = [Document(f"Granite {n}.", metadata={"url": n}) for n in (7, "u1", 2.5, True, 8)]
    others.append(Document("Basalt.", metadata={"see": "u1"}))
    others.append(Document("Basalts.", metadata={"see": 2.5}))
    if kind == "chroma":
        module = pytest.importorskip("langchain_chroma")
        store = module.Chroma(f"texts-{uuid.uuid4()}", ForLangChain())
    elif kind == "postgres table":
        store = table_in_postgres(request)
    else:
        module = pytest.importorskip("langchain_postgres")
        address = request.getfixturevalue("database").get_uri().replace("://", "+psycopg://")
        how = {"collection_name": "of several types", "pre_delete_collection": True}
        store = module.PGVector(ForLangChain(), connection=address, **how)
        request.addfinalizer(store._engine.dispose)
    store.add_documents([first, *others])
    how = {"hops": 0, "edges": [("see", "url"), ("is_open", "url")], "recipe": "dense", "k": 9}
    found = OverLangChain.from_vectorstore(store, len(others) + 1, **how)
    steps = found.context(QUESTIONS[0]).trace[0].notes["further"]
    assert [set(step) - {"found"} for step in steps] == [{"see -> url"}, {"is_open -> url"}]
    one = OverLangChain.from_vectorstore(store, 1, **how).context(QUESTIONS[0])
    assert {"Granite 7.", "Granite True."} <= {item.text for item in one}


DRIVERS = pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])


def table_in_postgres(request, driver="psycopg", columns=(), **how):
    """LangChain's newer store in PostgreSQL, with an event loop of its own, over a new table."""
    module = pytest.importorskip("langchain_postgres")
    pytest.importorskip(driver)
    if not hasattr(getattr(module, "PGVectorStore", None), "get"):
        pytest.skip("this langchain_postgres gives no vectors of a PGVectorStore")
    address = request.getfixturevalue("database").get_uri()
    engine = module.PGEngine.from_connection_string(address.replace("://", f"+{driver}://"))
    request.addfinalizer(lambda: asyncio.run(engine.close()))
    engine.init_vectorstore_table(
        "texts",
        32,
        id_column=module.Column("langchain_id", "TEXT", nullable=False),
        metadata_columns=[module.Column(*column) for column in columns],
        overwrite_existing=True,
    )
    names = [name for name, _ in columns]
    return module.PGVectorStore.create_sync(
        engine, ForLangChain(), "texts", metadata_columns=names, **how
    )


@DRIVERS
async def test_a_table_in_postgres_gives_what_the_store_in_memory_gives(driver, request):
    store = table_in_postgres(request, driver)
    store.add_documents(documents())
    how = {"candidates": len(TEXTS), "budget": None}
    same, retriever = in_memory(**how), OverLangChain.from_vectorstore(store, **how)
    embedded.clear()
    for question in QUESTIONS:
        context = retriever.context(question)
        assert context.trace[0].notes["scores"] == "cosine of the store's vectors"
        assert best(context) == best(same.context(question))
        assert best(await retriever.acontext(question)) == best(context)
        assert {one.id for one in retriever.invoke(question)} <= TEXTS.keys()
    assert embedded == []


@DRIVERS
@pytest.mark.parametrize(
    "columns", [(), [("isle", "TEXT"), ("deck", "INTEGER")]], ids=["json", "columns"]
)
async def test_edges_in_a_table_in_postgres_are_followed_under_the_same_filter(
    driver, columns, request
):
    store = table_in_postgres(request, driver, columns)
    store.add_documents(documents())
    how = {"candidates": 1, "hops": 0, "recipe": "dense", "k": 16}
    question = "Whom did Anna Alm meet with Ben Berg on island 0?"
    seeing = OverLangChain.from_vectorstore(store, **how, edges=[("see", "isle")])
    found = seeing.context(question)
    wanted = in_memory(**how, edges=[("see", "isle")]).context(question)
    assert {item.id for item in found} == {item.id for item in wanted}
    assert len(found) == 11
    assert {item.id for item in await seeing.acontext(question)} == {item.id for item in found}
    some = seeing.context(question, filter={"deck": 0, "port": "Paxos"})
    assert {(item.metadata["deck"], item.metadata["port"]) for item in some} == {(0, "Paxos")}
    assert 1 < len(some) < len(found)
    numbers = OverLangChain.from_vectorstore(store, **how, edges=[("deck", "deck")])
    assert {item.metadata["deck"] for item in numbers.context(question)} == {0}
    for edge in (("deck", "isle"), ("isle", "deck")):  # of other types
        retriever = OverLangChain.from_vectorstore(store, **how, edges=[edge])
        context = await retriever.acontext(question, filter={"deck": 0})
        assert context.trace[0].notes["further"][0]["found"] == 0
    by_id = OverLangChain.from_vectorstore(store, **how, edges=[("see", "langchain_id")])
    assert by_id.context(question).trace[0].notes["further"][0]["found"] == 0
    with pytest.raises(TypeError, match="beside such a filter"):
        numbers.context(question, filter="deck = 0")


@DRIVERS
async def test_a_table_in_postgres_of_an_event_loop_is_asked_in_it(driver, request, monkeypatch):
    filled = table_in_postgres(request, driver, [("deck", "INTEGER")])
    filled.add_documents(documents())
    module = pytest.importorskip("langchain_postgres.v2.async_vectorstore")
    engines = pytest.importorskip("sqlalchemy.ext.asyncio")
    address = request.getfixturevalue("database").get_uri().replace("://", f"+{driver}://")
    own = engines.create_async_engine(address)
    how = {"embedding_service": ForLangChain(), "metadata_columns": ["deck"]}
    how["table_name"] = "texts"
    engine = type(filled._engine).from_engine(own)
    of_this_loop = type(filled._engine).from_engine(own, asyncio.get_running_loop())
    stores = [
        await module.AsyncPGVectorStore.create(engine, **how),
        await type(filled).create(engine, **how),
        await type(filled).create(of_this_loop, **how),
    ]
    calls = statements('"public"."texts"')
    options = {"candidates": 9, "budget": None, "edges": [("deck", "deck")]}
    context = OverLangChain.from_vectorstore(filled, **options).context(QUESTIONS[0])
    for store in stores:
        retriever = OverLangChain.from_vectorstore(store, **options)
        calls.clear()
        awaited = await retriever.acontext(QUESTIONS[0])
        assert [all_of(awaited)[0], awaited.trace[0].notes["scores"]] == [
            all_of(context)[0], "cosine of the store's vectors"
        ]  # fmt: skip
        searches = 1 + len(awaited.trace[0].notes["further"])
        kinds = [one for one in calls if "distance" not in one]  # what is in the column of an edge
        assert len(calls) - len(kinds) == searches > 2
        assert len(kinds) == (store is stores[2])
        known = store_with_vectors(store)
        with monkeypatch.context() as patch:
            patch.setitem(STORES, type(store).__name__, replace(known, find_near=None))
            calls.clear()
            assert all_of(await retriever.acontext(QUESTIONS[0])) == all_of(awaited)
            assert len(calls) == searches + len(kinds) + 1
    with pytest.raises(NotImplementedError, match="Use PGVectorStore"):
        OverLangChain.from_vectorstore(stores[0]).context(QUESTIONS[0])
    await own.dispose()


def test_a_table_in_postgres_that_is_searched_by_words_too_is_asked_by_text(request):
    module = pytest.importorskip("langchain_postgres.v2.hybrid_search_config")
    both = module.HybridSearchConfig(fts_query="ferry")
    store = table_in_postgres(request, hybrid_search_config=both)
    store.add_documents(documents()[-3:])
    assert store_with_vectors(store) is None
    context = OverLangChain.from_vectorstore(store).context(QUESTIONS[-1])
    assert context.trace[0].notes["search"] == "similarity_search_with_score"
    assert {item.id for item in context} == {one.id for one in documents()[-3:]}


async def test_a_store_in_postgres_that_is_async_alone_is_asked_by_text(database):
    module = pytest.importorskip("langchain_postgres")
    address = database.get_uri().replace("://", "+psycopg://")
    how = {"connection": address, "collection_name": "async alone", "async_mode": True}
    store = module.PGVector(ForLangChain(), pre_delete_collection=True, **how)
    await store.aadd_documents([Document("Granite."), Document(TEXTS["p0-1"])])
    context = await OverLangChain.from_vectorstore(store).acontext(QUESTIONS[0])
    assert context.items[0].text == TEXTS["p0-1"]
    assert context.trace[0].notes["scores"] == "distance"
    await store._async_engine.dispose()


def test_a_store_of_qdrant_that_searches_by_words_too_is_asked_by_text():
    pytest.importorskip("qdrant_client")
    module = pytest.importorskip("langchain_qdrant")
    store = module.QdrantVectorStore.from_texts(
        list(TEXTS.values()), ForLangChain(), location=":memory:", collection_name="texts"
    )
    assert store_with_vectors(store) is not None
    for mode in (module.RetrievalMode.HYBRID, module.RetrievalMode.SPARSE):
        store.retrieval_mode = mode
        assert store_with_vectors(store) is None


def test_faiss_filters_all_that_it_has_and_not_its_twenty_nearest(tmp_path):
    pytest.importorskip("faiss")
    community = pytest.importorskip("langchain_community.vectorstores")
    kinds = {"x": 60, "y": 1}  # the last is the farthest from the question
    texts = [
        Document(f"{QUESTIONS[0]} {i}" if kind == "x" else "Granite.", id=f"{kind}{i}",
                 metadata={"kind": kind, "see": "target", "isle": "target" if kind == "y" else ""})
        for kind, n in kinds.items() for i in range(n)
    ]  # fmt: skip
    store = community.FAISS.from_documents(texts, ForLangChain(), ids=[one.id for one in texts])
    retriever = OverLangChain.from_vectorstore(store, 50, edges=[("see", "isle")], hops=0)
    context = retriever.context(QUESTIONS[0])
    assert context.trace[0].notes["further"][0]["found"] == 1
    notes = retriever.context(QUESTIONS[0], filter={"kind": "x"}).trace[0].notes
    assert notes["candidates"] == 50
    (only,) = retriever.invoke(QUESTIONS[0], filter={"kind": "y"}, k=1)
    assert only.id == "y0"
    few = OverLangChain.from_vectorstore(store, 50, search_kwargs={"fetch_k": 20}, hops=0)
    notes = few.context(QUESTIONS[0], filter={"kind": "x"}).trace[0].notes
    assert notes["candidates"] == 20  # as somebody has said


@pytest.mark.parametrize("size", [1, 3, 55])
def test_a_store_that_gives_no_more_than_it_has_is_asked_for_no_more(size, loop):
    pytest.importorskip("sklearn")
    community = pytest.importorskip("langchain_community.vectorstores")
    texts = list(TEXTS.values())[:size]
    store = community.SKLearnVectorStore.from_texts(texts, ForLangChain())
    retriever = OverLangChain.from_vectorstore(store, k=size)
    found = retriever.invoke(QUESTIONS[0])
    assert {one.page_content for one in found} == set(texts)
    assert loop.run_until_complete(retriever.ainvoke(QUESTIONS[0])) == found
    with pytest.raises(TypeError, match="how a SKLearnVectorStore filters"):
        OverLangChain.from_vectorstore(store, edges=[("see", "isle")])


def test_llama_index_reads_vectors_by_id_and_embeds_nothing(hosted, loop):
    how = {"candidates": len(TEXTS), "budget": None}
    same, retriever = in_memory(**how), OverLlamaIndex.from_index(hosted, **how)
    embedded.clear()
    for question in QUESTIONS:
        context = retriever.context(question)
        assert best(loop.run_until_complete(retriever.acontext(question))) == best(context)
        assert context.trace[0].notes["scores"] == "cosine of the store's vectors"
        assert best(context) == best(same.context(question))
    assert embedded == []


def test_llama_index_follows_edges_under_the_same_filters(hosted):
    how = {"hops": 0, "edges": [("see", "isle")], "recipe": "dense"}
    question = "Whom did Anna Alm meet with Ben Berg on island 0?"
    retriever = OverLlamaIndex.from_index(hosted, candidates=1, budget=None, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {one.node.node_id for one in retriever.retrieve(question)}
        wanted = {item.id for item in in_memory(candidates=1, budget=None, **how).context(question)}
        assert found == wanted
        assert len(found) == 11
        port = MetadataFilters(filters=[MetadataFilter(key="port", value="Paxos")])
        some = retriever.with_options(filters=port).retrieve(question)
        assert {one.node.metadata["port"] for one in some} == {"Paxos"}
        assert 1 < len(some) < len(found)
        nowhere = MetadataFilters(filters=[MetadataFilter(key="port", value="nowhere")])
        assert retriever.with_options(filters=nowhere).retrieve(question) == []


def test_what_is_deleted_from_faiss_is_found_no_more():
    faiss = pytest.importorskip("faiss")
    module = pytest.importorskip("llama_index.vector_stores.faiss")
    store = module.FaissMapVectorStore(faiss.IndexIDMap2(faiss.IndexFlatL2(32)))
    nodes = [TextNode(text=text, id_=id) for id, text in TEXTS.items()]
    context = StorageContext.from_defaults(vector_store=store)
    index = VectorStoreIndex(nodes, storage_context=context, embed_model=ForLlamaIndex())
    retriever = OverLlamaIndex.from_index(index, candidates=9, budget=None)
    found = retriever.context(QUESTIONS[0])
    index.delete_nodes([found.ids[0]])
    left = retriever.context(QUESTIONS[0])
    assert set(found.ids[1:3]) <= set(left.ids) <= TEXTS.keys() - {found.ids[0]}
    assert left.trace[0].notes["scores"] == "cosine of the store's vectors"


def test_an_index_of_faiss_s_that_gives_no_vectors_is_read_whole():
    """Of inverted lists, whose vectors have no places until it is asked to keep these."""
    faiss = pytest.importorskip("faiss")
    module = pytest.importorskip("llama_index.vector_stores.faiss")
    flat = faiss.IndexFlatL2(32)
    lists = faiss.IndexIVFFlat(flat, 32, 4)
    lists.train(np.array([vector_of(text) for text in TEXTS.values()], np.float32))
    nodes = [TextNode(text=text, id_=id) for id, text in TEXTS.items()]
    context = StorageContext.from_defaults(vector_store=module.FaissVectorStore(lists))
    index = VectorStoreIndex(nodes, storage_context=context, embed_model=ForLlamaIndex())
    assert len(OverLlamaIndex.from_index(index).index.documents) == len(TEXTS)
    lists.make_direct_map()
    lists.nprobe = 4
    how = {"candidates": len(TEXTS), "budget": None}
    same, retriever = in_memory(**how), OverLlamaIndex.from_index(index, **how)
    embedded.clear()
    assert best(retriever.context(QUESTIONS[0])) == best(same.context(QUESTIONS[0]))
    assert embedded == []


@pytest.mark.parametrize("kind", ["lancedb", "qdrant"])
def test_llama_index_follows_edges_of_numbers_and_of_relationships(kind, tmp_path):
    """Truth values lead nowhere, as LlamaIndex's filters take none."""
    if kind == "lancedb":
        module = pytest.importorskip("llama_index.vector_stores.lancedb")
        store = module.LanceDBVectorStore(uri=str(tmp_path))
    else:
        client = pytest.importorskip("qdrant_client").QdrantClient(":memory:")
        module = pytest.importorskip("llama_index.vector_stores.qdrant")
        store = module.QdrantVectorStore("texts", client=client)
    nodes = [
        TextNode(
            text=f"{QUESTIONS[0]} {number}" if number == 0 else f"Granite {number}.",
            id_=str(uuid.UUID(int=number)),
            metadata={"depth": number % 4 + 0.5, "is_open": True},
            excluded_embed_metadata_keys=["depth", "is_open"],
        )
        for number in range(12)
    ]
    nodes[0].relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id=nodes[9].node_id)
    context = StorageContext.from_defaults(vector_store=store)
    index = VectorStoreIndex(nodes, storage_context=context, embed_model=ForLlamaIndex())

    def found(*edges):
        how = {"candidates": 1, "hops": 0, "recipe": "dense", "budget": None, "edges": edges}
        retrieved = OverLlamaIndex.from_index(index, **how).retrieve(QUESTIONS[0])
        return {uuid.UUID(one.node.node_id).int for one in retrieved}

    assert found(("depth", "depth")) == {0, 4, 8}
    assert found(("relationships", "node_id")) == {0, 9}
    assert found(("is_open", "is_open")) == {0}


@pytest.fixture(scope="module")
def database():
    """A server of PostgreSQL with pgvector."""
    pgserver = pytest.importorskip("pgserver")
    with tempfile.TemporaryDirectory() as folder:
        server = pgserver.get_server(folder)
        server.psql("CREATE EXTENSION IF NOT EXISTS vector")
        yield server
        server.cleanup()


def spied(monkeypatch, kind, *names):
    """Return a list in which each call of these methods of a class leaves its name."""
    calls = []

    def spy_on(name, method):
        def spy(self, *what, **how):
            calls.append(name)
            return method(self, *what, **how)

        monkeypatch.setattr(kind, name, spy)

    for name in names:
        spy_on(name, getattr(kind, name))
    return calls


def statements(table):
    """Return a list in which each statement that reads a table is left."""
    sqlalchemy = pytest.importorskip("sqlalchemy")
    found = []

    @sqlalchemy.event.listens_for(sqlalchemy.Engine, "before_cursor_execute")
    def keep(connection, cursor, statement, *_):
        if f"FROM {table}" in " ".join(statement.split()):
            found.append(statement)

    return found


class Asked:
    """Stores whose clients leave a trace of each call."""

    def __init__(self, request, folder, monkeypatch):
        self.request, self.folder, self.monkeypatch = request, folder, monkeypatch

    def chroma(self):
        chromadb = pytest.importorskip("chromadb")
        module = pytest.importorskip("langchain_chroma")
        calls = spied(self.monkeypatch, chromadb.Collection, "query", "get")
        how = {"client": chromadb.PersistentClient(str(self.folder))}
        return module.Chroma("texts", ForLangChain(), **how), calls

    def elasticsearch(self):
        module = pytest.importorskip("langchain_elasticsearch")
        server = self.request.getfixturevalue("server")
        how = {"embedding": ForLangChain(), "client": client_of(server)}
        return module.ElasticsearchStore("texts", **how), server.asked

    def elasticsearch_of_the_community(self):
        server = self.request.getfixturevalue("server")
        return of_the_community(client_of(server)), server.asked

    def lancedb(self):
        lancedb = pytest.importorskip("lancedb")
        community = pytest.importorskip("langchain_community.vectorstores")
        calls = spied(self.monkeypatch, lancedb.table.LanceTable, "search")
        how = {"uri": str(self.folder), "embedding": ForLangChain(), "distance": "cosine"}
        return community.LanceDB(**how), calls

    def postgres(self):
        module = pytest.importorskip("langchain_postgres")
        address = self.request.getfixturevalue("database").get_uri()
        how = {"connection": address.replace("://", "+psycopg://"), "pre_delete_collection": True}
        store = module.PGVector(ForLangChain(), **how)
        self.request.addfinalizer(store._engine.dispose)
        return store, statements("langchain_pg_embedding")

    def postgres_table(self):
        return table_in_postgres(self.request), statements('"public"."texts"')

    def qdrant(self):
        client = pytest.importorskip("qdrant_client").QdrantClient(":memory:")
        module = pytest.importorskip("langchain_qdrant")
        from qdrant_client.models import Distance, VectorParams

        sizes = {"dense": VectorParams(size=32, distance=Distance.COSINE)}
        client.create_collection("texts", sizes)
        calls = spied(self.monkeypatch, type(client), "query_points", "retrieve", "get_collection")
        how = {"embedding": ForLangChain(), "vector_name": "dense"}
        return module.QdrantVectorStore(client, "texts", **how), calls


KINDS = [name for name in vars(Asked) if not name.startswith("_")]
WITH_OWN_SEARCH = "chroma", "postgres", "postgres_table", "qdrant"
"""Whose own methods find documents by vector, with their ids."""
NUMBERS = {id: f"{number:032x}" for number, id in enumerate(TEXTS)}  # ids as Qdrant takes them
PORT = {
    "elasticsearch": [{"term": {"metadata.port.keyword": {"value": "Paxos"}}}],
    "lancedb": "metadata.port = 'Paxos'",
}


def filter_of(kind):
    if kind == "qdrant":
        from qdrant_client import models

        match = models.MatchValue(value="Paxos")
        return models.Filter(must=[models.FieldCondition(key="metadata.port", match=match)])
    return PORT.get(kind.partition("_")[0], {"port": "Paxos"})


def all_of(context):
    """What a context has of each item, and what its trace says of the candidates."""
    items = [(one.id, one.text, one.score, one.metadata, one.original) for one in context]
    return items, context.trace[0].notes


def test_a_derived_store_that_searches_in_its_own_manner_is_asked_by_that(tmp_path):
    chroma = pytest.importorskip("langchain_chroma")

    class Backwards(chroma.Chroma):
        def similarity_search(self, *what, **how):
            return super().similarity_search(*what, **how)[::-1]

    class Renamed(chroma.Chroma):
        pass

    found = []
    for kind in (chroma.Chroma, Renamed, Backwards):
        store = kind("texts", ForLangChain(), persist_directory=str(tmp_path / kind.__name__))
        store.add_documents([Document(TEXTS[id], id=id) for id in TEXTS])
        how = {"budget": None, "hops": 0, "recipe": "dense"}
        context = OverLangChain.from_vectorstore(store, 9, **how).context(QUESTIONS[0])
        own = store.as_retriever(search_kwargs={"k": 9}).invoke(QUESTIONS[0])
        assert [item.text for item in context] == [one.page_content for one in own]
        found.append(context.trace[0].notes["scores"])
    assert found[:2] == ["cosine of the store's vectors"] * 2
    assert found[2].startswith("rank")


@pytest.mark.parametrize("kind", KINDS)
def test_facts_by_the_ids_of_a_store_are_known(kind, request, tmp_path, monkeypatch):
    store, _ = getattr(Asked(request, tmp_path, monkeypatch), kind)()
    ids = store.add_documents(
        [Document(text, id=str(uuid.UUID(NUMBERS[id]))) for id, text in TEXTS.items()],
        ids=[str(uuid.UUID(number)) for number in NUMBERS.values()],
    )
    facts = {id: [("Anna Alm", "taught", f"Ben Berg {id}")] for id in ids}
    retriever = OverLangChain.from_vectorstore(store, 9, facts=facts, recipe="agrag", hops=0)
    context = retriever.context(QUESTIONS[0])
    assert "facts" not in context.trace[0].notes
    assert "taught Ben Berg" in context.text


@pytest.mark.parametrize("kind", KINDS)
async def test_langchain_s_searches_bring_the_vectors_along_that_would_be_read(
    kind, request, tmp_path, monkeypatch
):
    store, calls = getattr(Asked(request, tmp_path, monkeypatch), kind)()
    metadata = {id: {"port": one["port"], "deck": one["deck"]} for id, one in ISLES.items()}
    store.add_documents(
        [Document(TEXTS[id], id=NUMBERS[id], metadata=metadata[id]) for id in TEXTS],
        ids=list(NUMBERS.values()),
    )
    known = store_with_vectors(store)
    find, name = known.find_near, type(store).__name__
    found = find(store, vector_of(QUESTIONS[0]), {"k": 9, "filter": filter_of(kind)})
    read = known.read(store, {str(i): one.document for i, one in enumerate(found)})
    assert [list(map(float, one.vector)) for one in found] == [
        list(map(float, read[str(i)])) for i in range(9)
    ]

    def without_vectors(*search):
        return [one._replace(vector=None) for one in find(*search)]

    others = [replace(known, find_near=without_vectors)]
    if kind in WITH_OWN_SEARCH:
        others.append(replace(known, find_near=None))
        own = store.similarity_search_by_vector(
            vector_of(QUESTIONS[0]), k=9, filter=filter_of(kind)
        )
        assert [one.document for one in found] == own
    retriever = OverLangChain.from_vectorstore(store, 9, budget=None)
    for question in QUESTIONS[:2]:
        for filter in (None, filter_of(kind)):
            calls.clear()
            context = retriever.context(question, filter=filter)
            n_calls, searches = len(calls), 1 + len(context.trace[0].notes["further"])
            assert n_calls == searches >= 2, calls
            assert context.trace[0].notes["scores"] == "cosine of the store's vectors"
            calls.clear()
            assert all_of(await retriever.acontext(question, filter=filter)) == all_of(context)
            assert len(calls) == searches
            for other in others:
                with monkeypatch.context() as patch:
                    patch.setitem(STORES, name, other)
                    calls.clear()
                    assert all_of(retriever.context(question, filter=filter)) == all_of(context)
                    assert len(calls) > searches
    relevant = OverLangChain.from_vectorstore(
        store, 9, {"score_threshold": 0.1}, search_type="similarity_score_threshold", budget=None
    )
    if kind in WITH_OWN_SEARCH:  # the others say no relevance, or give no ids
        calls.clear()
        searches = 1 + len(relevant.context(QUESTIONS[0]).trace[0].notes["further"])
        assert len(calls) == searches + 1 > 2  # the vectors of what the first search found are read


class AskedByLlamaIndex(Asked):
    """The same of LlamaIndex's."""

    def chroma(self):
        chromadb = pytest.importorskip("chromadb")
        module = pytest.importorskip("llama_index.vector_stores.chroma")
        calls = spied(self.monkeypatch, chromadb.Collection, "query", "get")
        client = chromadb.PersistentClient(str(self.folder))
        return module.ChromaVectorStore(client.create_collection("texts")), calls

    def elasticsearch(self):
        server = self.request.getfixturevalue("server")
        return elasticsearch_of_llama_index(server, self.monkeypatch), server.asked

    def lancedb(self):
        lancedb = pytest.importorskip("lancedb")
        module = pytest.importorskip("llama_index.vector_stores.lancedb")
        calls = spied(self.monkeypatch, lancedb.table.LanceTable, "search")
        return module.LanceDBVectorStore(uri=str(self.folder)), calls

    def postgres(self):
        module = pytest.importorskip("llama_index.vector_stores.postgres")
        address = self.request.getfixturevalue("database").get_uri()
        store = module.PGVectorStore(
            connection_string=address.replace("://", "+psycopg2://"),
            async_connection_string=address.replace("://", "+asyncpg://"),
            table_name="texts",
            embed_dim=32,
            schema_name="public",
        )
        loop = self.request.getfixturevalue("loop")
        self.request.addfinalizer(lambda: loop.run_until_complete(store.close()))
        return store, statements("public.data_texts")

    def qdrant(self, **how):
        qdrant = pytest.importorskip("qdrant_client")
        module = pytest.importorskip("llama_index.vector_stores.qdrant")
        names = "query_points", "query_batch_points", "retrieve"
        calls = spied(self.monkeypatch, qdrant.QdrantClient, *names)
        client = qdrant.QdrantClient(":memory:")
        aclient = qdrant.AsyncQdrantClient(":memory:")
        aclient._client = Awaited(client)  # the same points
        how |= {"client": client, "aclient": aclient}
        return module.QdrantVectorStore("texts", **how), calls

    def qdrant_with_sparse_vectors(self):
        def sparse(texts):
            return [[len(text) % 9] for text in texts], [[1.0] for _ in texts]

        how = {"sparse_doc_fn": sparse, "sparse_query_fn": sparse}
        return self.qdrant(enable_hybrid=True, **how)


class Awaited:
    """A client whose answers are awaited."""

    def __init__(self, client):
        self.client = client

    def __getattr__(self, name):
        async def answer(*what, **how):
            return getattr(self.client, name)(*what, **how)

        return answer


OF_LLAMA_INDEX = [name for name in vars(AskedByLlamaIndex) if not name.startswith("_")]


@pytest.mark.parametrize("kind", OF_LLAMA_INDEX)
def test_llama_index_s_searches_bring_the_vectors_along_that_would_be_read(
    kind, request, tmp_path, monkeypatch, loop
):
    store, calls = getattr(AskedByLlamaIndex(request, tmp_path, monkeypatch), kind)()
    ids = {id: str(uuid.UUID(number)) for id, number in NUMBERS.items()}
    nodes = [
        TextNode(
            text=text,
            id_=ids[id],
            metadata={"port": ISLES[id]["port"], "deck": ISLES[id]["deck"]},
            excluded_embed_metadata_keys=["port", "deck"],
        )
        for id, text in TEXTS.items()
    ]
    hosted = VectorStoreIndex(
        nodes,
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=ForLlamaIndex(),
    )
    port = MetadataFilters(filters=[MetadataFilter(key="port", value="Paxos")])
    retriever = OverLlamaIndex.from_index(hosted, candidates=9, budget=None)
    for question in QUESTIONS[:2]:
        for filters in (None, port):
            asked = retriever.with_options(filters=filters)
            calls.clear()
            context = asked.context(question)
            n_calls, searches = len(calls), 1 + len(context.trace[0].notes["further"])
            assert n_calls == searches >= 2, calls
            assert context.trace[0].notes["scores"] == "cosine of the store's vectors"
            calls.clear()
            awaited = loop.run_until_complete(asked.acontext(question))
            assert all_of(awaited) == all_of(context)
            assert len(calls) == searches
            with monkeypatch.context() as patch:
                patch.setattr(candidates, "recording_of", lambda _: None)
                patch.setattr(candidates, "vectors_on", lambda *_: {})
                calls.clear()
                assert all_of(asked.context(question)) == all_of(context)
                assert len(calls) == searches + 1
                calls.clear()
                awaited = loop.run_until_complete(asked.acontext(question))
                assert all_of(awaited) == all_of(context)
                assert len(calls) == searches + 1
