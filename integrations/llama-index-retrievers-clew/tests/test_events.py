"""The framework hears of a retrieval as of any other: spans, events and callbacks, however late the callback manager came."""

from __future__ import annotations

import pytest
from llama_index.core import PropertyGraphIndex, Settings, VectorStoreIndex
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from llama_index.core.indices.property_graph import ImplicitPathExtractor
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.retrievers.clew import ClewPGRetriever, ClewRetriever

import clew


class Heard(BaseEventHandler):
    events: list

    def handle(self, event, **kwargs):
        self.events.append(event)


class Traced(BaseCallbackHandler):
    """What began during a question, and the events of its trace as they are handed over."""

    def __init__(self):
        super().__init__([], [])
        self.begun, self.traces = [], []

    def on_event_start(self, event_type, payload=None, event_id="", parent_id="", **_):
        self.begun.append((event_type, event_id))
        return event_id

    def on_event_end(self, event_type, payload=None, event_id="", **_):
        pass

    def start_trace(self, trace_id=None):
        self.begun.clear()

    def end_trace(self, trace_id=None, trace_map=None):
        self.traces.append((list(self.begun), {id for ids in trace_map.values() for id in ids}))


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


def of_documents(documents, embed_model):
    return ClewRetriever.from_documents(documents, embed_model)


def of_an_index(documents, embed_model):
    index = VectorStoreIndex.from_documents(documents, embed_model=embed_model)
    return ClewRetriever.from_index(index)


def of_clews_index(documents, embed_model):
    return ClewRetriever(clew.Index.from_documents(documents, embedder=embed_model))


def of_a_property_graph(documents, embed_model):
    index = PropertyGraphIndex.from_documents(
        documents,
        embed_model=embed_model,
        kg_extractors=[ImplicitPathExtractor()],
        embed_kg_nodes=False,
        use_async=False,
    )
    return ClewPGRetriever(index.property_graph_store, embed_model)


@pytest.mark.parametrize("with_handler", [False, True])
@pytest.mark.parametrize("make", [of_documents, of_an_index, of_clews_index, of_a_property_graph])
async def test_a_trace_has_all_events_of_its_question_and_of_no_other(
    make, with_handler, documents, embed_model, question, monkeypatch
):
    handler = Traced()
    monkeypatch.setattr(Settings, "_callback_manager", None)  # whose list of handlers is shared
    Settings.callback_manager = CallbackManager([handler] if with_handler else None)
    retriever = make(documents, embed_model)
    if with_handler and make in (of_documents, of_an_index):  # as it was made
        assert CBEventType.EMBEDDING in {kind for kind, _ in handler.begun}
    if not with_handler:  # what is set later hears by a manager that is known
        retriever.callback_manager.add_handler(handler)
    handler.traces.clear()
    for _ in range(2):
        retriever.retrieve(question)
        await retriever.aretrieve(question)
    assert len(handler.traces) == 4
    for begun, traced in handler.traces:
        assert {CBEventType.RETRIEVE, CBEventType.EMBEDDING} <= {kind for kind, _ in begun}
        assert {id for _, id in begun} == traced


def test_a_model_with_handlers_of_its_own_keeps_them(documents, embed_model, question):
    own = LlamaDebugHandler(print_trace_on_end=False)
    embed_model.callback_manager = CallbackManager([own])
    ClewRetriever.from_documents(documents, embed_model).retrieve(question)
    assert own.get_event_pairs(CBEventType.EMBEDDING)


def test_a_model_tells_nobody_of_the_next_request(index, question):
    handlers = [LlamaDebugHandler(print_trace_on_end=False) for _ in range(2)]
    for handler in handlers:
        ClewRetriever(index, callback_manager=CallbackManager([handler])).retrieve(question)
    for handler in handlers:
        assert len(handler.get_event_pairs(CBEventType.RETRIEVE)) == 1
        assert not handler.get_event_pairs(CBEventType.EMBEDDING)
