"""The framework hears of a retrieval as of any other: spans, events and callbacks, however late the callback manager came."""

from __future__ import annotations

import pytest
from llama_index.core import Settings
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.retrievers.clew import ClewRetriever

import clew


class Heard(BaseEventHandler):
    events: list

    def handle(self, event, **kwargs):
        self.events.append(event)


@pytest.fixture
def heard():
    handler, root = Heard(events=[]), get_dispatcher()
    root.add_event_handler(handler)
    yield handler
    root.event_handlers.remove(handler)


@pytest.fixture
def index(documents, embed_model, facts):
    return clew.Index.from_documents(documents, embedder=embed_model, facts=facts)


async def test_a_retrieval_starts_embeds_and_ends(index, heard, question):
    retriever = ClewRetriever(index)
    for way in ("retrieve", "aretrieve"):
        found = (
            retriever.retrieve(question)
            if way == "retrieve"
            else await retriever.aretrieve(question)
        )
        names = [event.class_name() for event in heard.events]
        assert names[0] == "RetrievalStartEvent"
        assert names[-1] == "RetrievalEndEvent"
        assert "EmbeddingStartEvent" in names
        assert [one.node_id for one in heard.events[-1].nodes] == [one.node_id for one in found]
        assert heard.events[-1].model_dump_json()
        heard.events.clear()


async def test_a_callback_manager_is_told_given_at_once_later_or_by_the_settings(
    index, question, monkeypatch
):
    first, later, general = (LlamaDebugHandler(print_trace_on_end=False) for _ in range(3))
    retriever = ClewRetriever(index, callback_manager=CallbackManager([first]))
    await retriever.aretrieve(question)
    retriever.with_options(budget=60).retrieve(question)
    assert len(first.get_event_pairs(CBEventType.RETRIEVE)) == 2
    retriever.callback_manager = CallbackManager([later])
    retriever.retrieve(question)
    assert len(later.get_event_pairs(CBEventType.RETRIEVE)) == 1
    monkeypatch.setattr(Settings, "_callback_manager", CallbackManager([general]))
    ClewRetriever(index).retrieve(question)
    assert len(general.get_event_pairs(CBEventType.RETRIEVE)) == 1
    assert len(first.get_event_pairs(CBEventType.RETRIEVE)) == 2
