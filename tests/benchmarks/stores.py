"""The same vectors in several vector stores of both frameworks: the same passages in the same order?

    pip install '.[test,stores]' ./integrations/langchain-clew ./integrations/llama-index-retrievers-clew
    python -m tests.benchmarks.stores musique --questions 20

A set is a folder that `clew measure` reads; its vectors are clew's own, fitted on the set. Stores that
are not installed are left out. A row is a store: for how many questions clew's ten best are those over
LangChain's store in memory, in the same order; the texts embedded and milliseconds (median) for a
question, the store's own search among them; and what the trace says of the scores.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import TextNode

import clew
from clew.embedding.embedder import fit_default
from clew.measure.benchmark import Benchmark

SMOKE = "{folder} --questions 1"
BEST = 10
EXACT = {"hnsw:search_ef": 2000}  # so that Chroma's approximate search misses nothing
embedder: clew.Embedder
asked = {"texts": 0}


class ForLangChain(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        asked["texts"] += len(texts)
        return np.asarray(embedder.embed_texts(texts), float).tolist()

    def embed_query(self, text: str) -> list[float]:
        return np.asarray(embedder.embed_question(text), float).tolist()


class ForLlamaIndex(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        asked["texts"] += 1
        return np.asarray(embedder.embed_texts([text]), float)[0].tolist()

    def _get_query_embedding(self, query: str) -> list[float]:
        return np.asarray(embedder.embed_question(query), float).tolist()

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def postgres() -> Any:
    import pgserver

    server = pgserver.get_server(tempfile.mkdtemp())
    server.psql("CREATE EXTENSION IF NOT EXISTS vector")
    return server


def langchain_memory(documents: list[Document]) -> Any:
    return InMemoryVectorStore.from_documents(documents, ForLangChain())


def langchain_faiss(documents: list[Document]) -> Any:
    from langchain_community.vectorstores import FAISS

    return FAISS.from_documents(documents, ForLangChain(), ids=[one.id for one in documents])


def langchain_chroma(documents: list[Document]) -> Any:
    from langchain_chroma import Chroma

    store = Chroma("passages", ForLangChain(), collection_metadata=EXACT)
    store.add_documents(documents)
    return store


def langchain_qdrant(documents: list[Document]) -> Any:
    from langchain_qdrant import QdrantVectorStore

    ids = [one.id for one in documents]
    return QdrantVectorStore.from_documents(documents, ForLangChain(), ids=ids, location=":memory:")


def langchain_pgvector(documents: list[Document]) -> Any:
    from langchain_postgres import PGVector

    server = postgres()
    address = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    store = PGVector(ForLangChain(), connection=address, collection_name="passages")
    store.add_documents(documents)
    store.server = server  # which ends with it
    return store


def langchain_pgvectorstore(documents: list[Document]) -> Any:
    from langchain_postgres import Column, PGEngine, PGVectorStore

    server = postgres()
    address = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    engine, width = PGEngine.from_connection_string(address), len(ForLangChain().embed_query("one"))
    engine.init_vectorstore_table("table", width, id_column=Column("langchain_id", "TEXT", False))
    store = PGVectorStore.create_sync(engine, ForLangChain(), "table")
    store.add_documents(documents)
    store.server = server  # which ends with it
    return store


def langchain_lancedb(documents: list[Document]) -> Any:
    from langchain_community.vectorstores import LanceDB

    store = LanceDB(uri=tempfile.mkdtemp(), embedding=ForLangChain())
    store.add_documents(documents)
    return store


def llama_index_memory(_: int) -> Any:
    from llama_index.core.vector_stores.simple import SimpleVectorStore

    return SimpleVectorStore()


def llama_index_faiss(width: int) -> Any:
    import faiss
    from llama_index.vector_stores.faiss import FaissVectorStore

    return FaissVectorStore(faiss.IndexFlatIP(width))


def llama_index_chroma(_: int) -> Any:
    import chromadb
    from llama_index.vector_stores.chroma import ChromaVectorStore

    return ChromaVectorStore(chromadb.EphemeralClient().create_collection("nodes", metadata=EXACT))


def llama_index_qdrant(_: int) -> Any:
    from llama_index.vector_stores.qdrant import QdrantVectorStore
    from qdrant_client import QdrantClient

    return QdrantVectorStore("nodes", client=QdrantClient(":memory:"))


def llama_index_lancedb(_: int) -> Any:
    from llama_index.vector_stores.lancedb import LanceDBVectorStore

    return LanceDBVectorStore(uri=tempfile.mkdtemp())


def llama_index_pgvector(width: int) -> Any:
    from llama_index.vector_stores.postgres import PGVectorStore

    server = postgres()
    address = server.get_uri()
    store = PGVectorStore(
        connection_string=address.replace("postgresql://", "postgresql+psycopg2://"),
        async_connection_string=address.replace("postgresql://", "postgresql+asyncpg://"),
        table_name="nodes",
        embed_dim=width,
        schema_name="public",
    )
    store.__dict__["server"] = server
    return store


def over_langchain(make: Callable[[list[Document]], Any], documents: list[Document]) -> Any:
    from langchain_clew import ClewRetriever

    return ClewRetriever.from_vectorstore(make(documents), budget=1500)


def over_llama_index(make: Callable[[int], Any], documents: list[Document]) -> Any:
    from llama_index.retrievers.clew import ClewRetriever

    width = len(np.asarray(embedder.embed_question("width")))
    nodes = [TextNode(text=one.page_content, id_=one.id) for one in documents]
    storage = StorageContext.from_defaults(vector_store=make(width))
    index = VectorStoreIndex(nodes, storage_context=storage, embed_model=ForLlamaIndex())
    return ClewRetriever.from_index(index, budget=1500)


LANGCHAIN = (
    langchain_memory,
    langchain_faiss,
    langchain_chroma,
    langchain_qdrant,
    langchain_pgvector,
    langchain_pgvectorstore,
    langchain_lancedb,
)
LLAMA_INDEX = (
    llama_index_memory,
    llama_index_faiss,
    llama_index_chroma,
    llama_index_qdrant,
    llama_index_pgvector,
    llama_index_lancedb,
)


def compare(documents: list[Document], questions: Sequence[str]) -> None:
    print("| store | same ten | texts embedded | ms | scores |\n| --- | ---: | ---: | ---: | --- |")
    reference: list[list[str]] = []
    for make in (*LANGCHAIN, *LLAMA_INDEX):
        try:
            over = over_langchain if make in LANGCHAIN else over_llama_index
            retriever = over(make, documents)  # type: ignore[arg-type]
        except ImportError as error:
            print(f"{make.__name__} is left out: {error}", file=sys.stderr)
            continue
        asked["texts"], found, seconds = 0, [], []
        for question in questions:
            begin = time.perf_counter()
            context = retriever.context(question)
            seconds.append(time.perf_counter() - begin)
            best = sorted(context, key=lambda item: -item.score)[:BEST]
            found.append([item.text for item in best])
        reference = reference or found
        same = sum(one == other for one, other in zip(found, reference, strict=True))
        scores = context.trace[0].notes["scores"]
        row = f"{asked['texts']} | {statistics.median(seconds) * 1000:.0f} | {scores}"
        print(f"| {make.__name__} | {same} of {len(questions)} | {row} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=20)
    options = parser.parse_args()
    benchmark = Benchmark.open(options.folder, vectors=False)
    texts = {str(uuid.uuid5(uuid.NAMESPACE_OID, one.id)): one.text for one in benchmark.documents}
    global embedder  # the frameworks copy what they are given
    embedder = fit_default(list(texts.values()))[0]
    documents = [Document(text, id=id) for id, text in texts.items()]
    compare(documents, [one.text for one in benchmark.questions[: options.questions]])


if __name__ == "__main__":
    main()
