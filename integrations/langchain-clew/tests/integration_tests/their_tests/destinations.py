"""The tests that langchain-core has of its indexing API, with clew's retriever as the destination."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import patch

import pytest
from langchain_clew import ClewRetriever
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from tests.unit_tests.indexing import test_indexing as theirs
from tests.unit_tests.indexing.test_indexing import *  # noqa: F403


class Destination(ClewRetriever):
    """A retriever that shows its documents where the store in memory does."""

    @property
    def store(self):
        if hasattr(self.index, "store"):
            return self.index.store.store
        ids = [document.id for document in getattr(self.index, "documents", ())]
        return dict(zip(ids, self.get_by_ids(ids), strict=True))


def made(kind):
    embeddings = DeterministicFakeEmbedding(size=5)
    if kind == "index":
        return Destination.from_documents([], embeddings)
    return Destination.from_vectorstore(InMemoryVectorStore(embeddings))


@pytest.fixture(autouse=True, params=["index", "store"])
def kind(request, monkeypatch):
    monkeypatch.setattr(theirs, "InMemoryVectorStore", Destination)
    monkeypatch.setattr(theirs, "InMemoryDocumentIndex", lambda: made(request.param))
    return request.param


@pytest.fixture
def vector_store(kind):
    return made(kind)


@pytest.fixture
def upserting_vector_store(kind):
    return made(kind)


@pytest.fixture
def mocker():
    """As much of pytest-mock as they use."""
    started = []

    def spy(owner, name):
        patcher = patch.object(owner, name, autospec=True, side_effect=getattr(owner, name))
        started.append(patcher)
        return patcher.start()

    yield SimpleNamespace(spy=spy)
    for patcher in started:
        patcher.stop()
