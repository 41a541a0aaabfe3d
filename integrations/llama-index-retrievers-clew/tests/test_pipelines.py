"""Pipelines of LlamaIndex with clew in the place of their retriever, or behind it."""

from __future__ import annotations

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.node_parser import HierarchicalNodeParser, get_leaf_nodes
from llama_index.core.query_engine import (
    CitationQueryEngine,
    RetrieverQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.retrievers import (
    AutoMergingRetriever,
    QueryFusionRetriever,
    RecursiveRetriever,
    RouterRetriever,
    TransformRetriever,
)
from llama_index.core.schema import IndexNode, QueryBundle
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.postprocessor.clew import ClewPostprocessor
from llama_index.retrievers.clew import ClewRetriever


class First(BaseSelector):
    """Takes the first choice."""

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        pass

    def _select(self, choices, query):
        return SelectorResult(selections=[SingleSelection(index=0, reason="it is the first")])

    async def _aselect(self, choices, query):
        return self._select(choices, query)


class Asks(BaseQuestionGenerator):
    """Divides a question into two, for the first tool."""

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        pass

    def generate(self, tools, query):
        texts = ("Who taught Gerald Durrell?", "Where is Corfu?")
        return [SubQuestion(sub_question=text, tool_name=tools[0].name) for text in texts]

    async def agenerate(self, tools, query):
        return self.generate(tools, query)


class Says(BaseQueryTransform):
    """Asks something else in the place of the question."""

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        pass

    def _run(self, query_bundle, metadata):
        return QueryBundle("Who taught Gerald Durrell on Corfu?")


@pytest.fixture
def llm():
    return MockLLM(max_tokens=20)


@pytest.fixture
def retriever(nodes, embed_model):
    return ClewRetriever.from_index(VectorStoreIndex(nodes, embed_model=embed_model), budget=200)


def sources(response):
    return {one.node.node_id for one in response.source_nodes}


def tool(engine):
    return QueryEngineTool.from_defaults(engine, name="letters", description="Letters from Corfu")


ENGINES = {
    "plain": lambda retriever, llm: RetrieverQueryEngine.from_args(retriever, llm=llm),
    "citation": lambda retriever, llm: CitationQueryEngine(retriever, llm=llm),
    "transform": lambda retriever, llm: TransformQueryEngine(
        RetrieverQueryEngine.from_args(retriever, llm=llm), Says()
    ),
    "router": lambda retriever, llm: RouterQueryEngine(
        First(), [tool(RetrieverQueryEngine.from_args(retriever, llm=llm))], llm=llm
    ),
    "tree summarize": lambda retriever, llm: RetrieverQueryEngine.from_args(
        retriever, llm=llm, response_mode="tree_summarize"
    ),
    "refine": lambda retriever, llm: RetrieverQueryEngine.from_args(
        retriever, llm=llm, response_mode="refine"
    ),
}


@pytest.mark.parametrize("name", ENGINES)
async def test_a_query_engine_reads_what_clew_finds(name, retriever, llm, question):
    engine = ENGINES[name](retriever, llm)
    texts = {one.node.text for one in retriever.retrieve(question)}
    for response in (engine.query(question), await engine.aquery(question)):
        assert response.source_nodes
        if name == "citation":  # it cuts them, and numbers the pieces
            assert all(any(text in one.text for text in texts) for one in response.source_nodes)
        else:
            assert {one.node.text for one in response.source_nodes} == texts


def test_sub_questions_are_each_asked_of_clew(retriever, llm):
    engine = SubQuestionQueryEngine.from_defaults(
        [tool(RetrieverQueryEngine.from_args(retriever, llm=llm))],
        llm=llm,
        question_gen=Asks(),
        use_async=False,
        verbose=False,
    )
    found = sources(engine.query("Tell me all."))
    assert found >= {one.node.node_id for one in retriever.retrieve("Who taught Gerald Durrell?")}


RETRIEVERS = {
    "fusion": lambda clew, llm: QueryFusionRetriever(
        [clew, clew.with_options(recipe="bm25")],
        llm=llm,
        num_queries=1,
        use_async=False,
        similarity_top_k=20,
    ),
    "router": lambda clew, llm: RouterRetriever(
        First(), [RetrieverTool.from_defaults(clew, description="Letters")], llm=llm
    ),
    "transform": lambda clew, llm: TransformRetriever(clew, Says()),
    "recursive": lambda clew, llm: RecursiveRetriever("root", {"root": clew}),
}


@pytest.mark.parametrize("name", RETRIEVERS)
def test_a_retriever_of_retrievers_finds_what_clew_finds(name, retriever, llm, question):
    found = [one.node.node_id for one in RETRIEVERS[name](retriever, llm).retrieve(question)]
    assert len(found) == len(set(found))
    assert {one.node.node_id for one in retriever.retrieve(question)} <= set(found)


def test_a_recursive_retriever_goes_on_where_clew_finds_a_pointer(nodes, embed_model, retriever):
    pointer = IndexNode(text="Letters about Corfu and its people", index_id="letters", id_="to")
    root = ClewRetriever.from_nodes([pointer], embed_model)
    whole = RecursiveRetriever("root", {"root": root, "letters": retriever})
    found = {one.node.node_id for one in whole.retrieve("Who taught Gerald Durrell on Corfu?")}
    assert "to" not in found
    assert found & {node.node_id for node in nodes}


def test_leaves_are_merged_into_their_parents(documents, embed_model, question):
    parser = HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64], chunk_overlap=0)
    tree = parser.get_nodes_from_documents(documents)
    docstore = SimpleDocumentStore()
    docstore.add_documents(tree)
    storage = StorageContext.from_defaults(docstore=docstore)
    leaves = VectorStoreIndex(
        get_leaf_nodes(tree), storage_context=storage, embed_model=embed_model
    )
    merging = AutoMergingRetriever(ClewRetriever.from_index(leaves), storage)
    assert merging.retrieve(question)


@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
async def test_a_chat_engine_reads_what_clew_finds(kind, retriever, llm, question):
    engine = kind.from_defaults(
        retriever=retriever, llm=llm, memory=ChatMemoryBuffer.from_defaults(llm=llm)
    )
    found = {one.node.node_id for one in retriever.retrieve(question)}
    assert sources(engine.chat(question)) == found
    engine.reset()
    assert sources(await engine.achat(question)) == found


def test_a_postprocessor_behind_an_index_connects_what_it_finds(nodes, embed_model, llm, question):
    engine = VectorStoreIndex(nodes, embed_model=embed_model).as_query_engine(
        llm=llm, similarity_top_k=8, node_postprocessors=[ClewPostprocessor(budget=200)]
    )
    response = engine.query(question)
    assert response.source_nodes
    whys = [one.metadata["clew_why"] for one in response.source_nodes]
    assert any("entity:" in why for why in whys)
