"""LangChain's own suites for retrievers and for destinations, over an index and over a vector store."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_clew import ClewRetriever
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests
from langchain_tests.integration_tests.indexer import (
    AsyncDocumentIndexTestSuite,
    DocumentIndexerTestSuite,
)


class TestOverAnIndex(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _built(self, index) -> None:
        self.index = index

    @property
    def retriever_constructor(self) -> type[ClewRetriever]:
        return ClewRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"index": self.index}

    @property
    def retriever_query_example(self) -> str:
        return "Who built the labyrinth?"


class TestOverAVectorStore(TestOverAnIndex):
    @pytest.fixture(autouse=True)
    def _built(self, documents, embeddings) -> None:
        self.index = ClewRetriever.from_vectorstore(
            InMemoryVectorStore.from_documents(documents, embeddings)
        ).index


def empty(kind: str, embeddings: Embeddings) -> ClewRetriever:
    """A retriever without documents, over an index of clew's or over a vector store."""
    if kind == "index":
        return ClewRetriever.from_documents([], embeddings)
    return ClewRetriever.from_vectorstore(InMemoryVectorStore(embeddings))


class TestAsADestination(DocumentIndexerTestSuite):
    @pytest.fixture(params=["index", "store"])
    def index(self, request, embeddings) -> ClewRetriever:
        return empty(request.param, embeddings)


class TestAsAnAsyncDestination(AsyncDocumentIndexTestSuite):
    @pytest.fixture(params=["index", "store"])
    def index(self, request, embeddings) -> ClewRetriever:
        return empty(request.param, embeddings)
