"""The tests that langchain-classic has of what reads retrievers, with clew behind each of them."""

from __future__ import annotations

import pytest
import tests.unit_tests.chains.test_conversation_retrieval as conversation
import tests.unit_tests.chains.test_history_aware_retriever as history
import tests.unit_tests.chains.test_retrieval as retrieval
import tests.unit_tests.retrievers.test_ensemble as ensemble
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_clew import ClewCompressor
from tests.unit_tests.chains.test_conversation_retrieval import *  # noqa: F403

test_history_aware_retriever = history.test_create
test_retrieval_chain = retrieval.test_create
test_ensemble_of_retrievers = ensemble.test_invoke

FAKES = (
    (conversation, "SequentialRetriever"),
    (history, "FakeParrotRetriever"),
    (retrieval, "FakeParrotRetriever"),
    (ensemble, "MockRetriever"),
)


@pytest.fixture(autouse=True)
def clew_behind_their_retrievers(monkeypatch):
    """What they find is narrowed by clew, by a recipe that keeps whatever has a score."""
    for module, name in FAKES:
        fake = getattr(module, name)
        monkeypatch.setattr(
            module,
            name,
            lambda fake=fake, **fields: ContextualCompressionRetriever(
                base_retriever=fake(**fields), base_compressor=ClewCompressor(recipe="dense")
            ),
        )
