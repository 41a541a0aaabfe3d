"""LanceDB itself, and the client of Elasticsearch over a server that is made up: both frameworks give what the store in memory gives.

What is not installed is left out: see `tests/benchmarks/stores.py` for the others.
"""

from __future__ import annotations

import asyncio
import math
import warnings
from zlib import crc32

import pytest
from langchain_clew import ClewRetriever as OverLangChain
from langchain_clew.stores import store_with_vectors
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
from llama_index.retrievers.clew import ClewRetriever as OverLlamaIndex

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


@pytest.fixture(params=["lancedb", "elasticsearch"])
def hosted(request, tmp_path, loop):
    """An index of LlamaIndex's over a store that keeps the text, filled."""
    if request.param == "lancedb":
        module = pytest.importorskip("llama_index.vector_stores.lancedb")
        store = module.LanceDBVectorStore(uri=str(tmp_path))
    else:
        module = pytest.importorskip("llama_index.vector_stores.elasticsearch")
        from elasticsearch import AsyncElasticsearch

        from tests.fake_elasticsearch import nodes_of

        server = request.getfixturevalue("server")
        client = AsyncElasticsearch("http://localhost:9200", node_class=nodes_of(server)[1])
        store = module.ElasticsearchStore("texts", es_client=client)
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
