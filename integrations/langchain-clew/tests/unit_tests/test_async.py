"""Nothing blocks the event loop: an embedder that waits for the loop to go on is answered."""

from __future__ import annotations

import asyncio
import threading

import pytest
from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.vectorstores import InMemoryVectorStore

TICKS = 5


class Waiting:
    """Embeddings with blocking calls alone, each of which waits until the loop has ticked some more."""

    def __init__(self, inner):
        self.inner, self.ticked, self.heard = inner, threading.Event(), []

    def embed_documents(self, texts):
        self.wait()
        return self.inner.embed_documents(texts)

    def embed_query(self, text):
        self.wait()
        return self.inner.embed_query(text)

    def wait(self):
        if self.heard is not None:
            self.ticked.clear()
            self.heard.append(self.ticked.wait(timeout=5))

    async def tick(self):
        while True:
            for _ in range(TICKS):
                await asyncio.sleep(0.001)
            self.ticked.set()


class BlockingStore(InMemoryVectorStore):
    """A store that has no async calls of its own."""

    async def asimilarity_search_with_score(self, query, k=4, **kwargs):
        return await asyncio.to_thread(self.similarity_search_with_score, query, k, **kwargs)


@pytest.mark.parametrize("kind", ["index", "store", "compressor"])
async def test_the_loop_goes_on_while_a_blocking_embedder_works(
    kind, documents, embeddings, question
):
    waiting = Waiting(embeddings)
    waiting.heard = None
    if kind == "index":
        ask = ClewRetriever.from_documents(documents, waiting).ainvoke
    elif kind == "store":
        ask = ClewRetriever.from_vectorstore(
            BlockingStore.from_documents(documents, embeddings), embeddings=waiting, recipe="mmr"
        ).ainvoke
    else:
        compressor = ClewCompressor(embeddings=waiting)

        async def ask(question):
            return await compressor.acompress_documents(documents, question)

    waiting.heard = []
    ticking = asyncio.create_task(waiting.tick())
    found = await ask(question)
    ticking.cancel()

    assert found
    assert waiting.heard
    assert all(waiting.heard), "the embedder waited in vain: the loop stood still"


@pytest.mark.parametrize("kind", ["index", "store", "compressor"])
async def test_an_embedder_with_async_calls_is_asked_by_them(kind, documents, embeddings, question):
    asked = []

    class Native(type(embeddings)):
        def embed_query(self, text):
            raise AssertionError("the blocking call was used")

        async def aembed_query(self, text):
            asked.append(text)
            return super().embed_query(text)

    native = Native()
    if kind == "index":
        found = await ClewRetriever.from_documents(documents, native).ainvoke(question)
    elif kind == "store":
        found = await ClewRetriever.from_vectorstore(
            InMemoryVectorStore.from_documents(documents, native)
        ).ainvoke(question)
    else:
        found = await ClewCompressor(embeddings=native).acompress_documents(documents, question)
    assert found
    assert asked[0] == question
    assert all(text.startswith(question) for text in asked)  # and what it leads to
