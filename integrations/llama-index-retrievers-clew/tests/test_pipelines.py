"""Pipelines of LlamaIndex with clew in the place of their retriever, or behind it.

The source archive of llama-index-core has no tests (0.14.25 was looked at), so that none of theirs
can be run with clew, as LangChain's are. These stand in for them.
"""

from __future__ import annotations

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.base.llms import types
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
)
from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
from llama_index.core.llms import (
    ChatMessage,
    CompletionResponse,
    CustomLLM,
    LLMMetadata,
    MessageRole,
    MockLLM,
    mock,
)
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    SentenceWindowNodeParser,
    get_leaf_nodes,
)
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.query_engine import (
    CitationQueryEngine,
    RetrieverQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers.context_only import ContextOnly
from llama_index.core.response_synthesizers.no_text import NoText
from llama_index.core.response_synthesizers.type import ResponseMode
from llama_index.core.retrievers import (
    AutoMergingRetriever,
    QueryFusionRetriever,
    RecursiveRetriever,
    RouterRetriever,
    TransformRetriever,
)
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import IndexNode, QueryBundle
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.postprocessor.clew import ClewPostprocessor
from llama_index.retrievers.clew import ClewRetriever
from pydantic import PrivateAttr


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


class Scripted(CustomLLM):
    """Says one text after another, and remembers what it was shown."""

    _answers: list[str] = PrivateAttr()
    _prompts: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, answers):
        super().__init__()
        self._answers = list(answers)

    @property
    def prompts(self):
        return self._prompts

    @property
    def metadata(self):
        return LLMMetadata()

    def complete(self, prompt, formatted=False, **how):
        self._prompts.append(prompt)
        return CompletionResponse(text=self._answers.pop(0))

    def stream_complete(self, prompt, formatted=False, **how):
        raise NotImplementedError


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


def memory(*messages):
    """What was said before, in no database."""
    return ChatMemoryBuffer.from_defaults(list(messages), llm=MockLLM())


def sources(response):
    return {one.node.node_id for one in response.source_nodes}


def tool(engine):
    return QueryEngineTool.from_defaults(engine, name="letters", description="Letters from Corfu")


WITHOUT_MODEL = {"no_text": NoText, "context_only": ContextOnly}
"""Modes whose synthesizers `from_args` makes with the model of the settings, whatever it is given."""

ENGINES = {
    "plain": lambda retriever, llm: RetrieverQueryEngine.from_args(retriever, llm=llm),
    "citation": lambda retriever, llm: CitationQueryEngine(retriever, llm=llm),
    "transform": lambda retriever, llm: TransformQueryEngine(
        RetrieverQueryEngine.from_args(retriever, llm=llm), Says()
    ),
    "router": lambda retriever, llm: RouterQueryEngine(
        First(), [tool(RetrieverQueryEngine.from_args(retriever, llm=llm))], llm=llm
    ),
    **{
        mode.value: lambda retriever, llm, mode=mode: RetrieverQueryEngine.from_args(
            retriever, llm=llm, response_mode=mode
        )
        for mode in ResponseMode
        if mode.value not in WITHOUT_MODEL
    },
    **{
        name: lambda retriever, llm, kind=kind: RetrieverQueryEngine(retriever, kind(llm=llm))
        for name, kind in WITHOUT_MODEL.items()
    },
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
    **{
        f"fusion by {mode.value}": lambda clew, llm, mode=mode: QueryFusionRetriever(
            [clew, clew.with_options(recipe="bm25")],
            llm=llm,
            mode=mode,
            num_queries=1,
            use_async=False,
            similarity_top_k=20,
        )
        for mode in FUSION_MODES
    },
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
    engine = kind.from_defaults(retriever=retriever, llm=llm, memory=memory())
    found = {one.node.node_id for one in retriever.retrieve(question)}
    assert sources(engine.chat(question)) == found
    engine.reset()
    assert sources(await engine.achat(question)) == found


def test_a_chat_engine_asks_clew_what_the_conversation_means(retriever, question):
    """The model is asked for a question first, and answers it then."""
    llm = Scripted([question, "Theodore did."])
    engine = CondenseQuestionChatEngine.from_defaults(
        RetrieverQueryEngine.from_args(retriever, llm=llm),
        memory=memory(ChatMessage(role="user", content="Tell me of Gerald Durrell.")),
        llm=llm,
    )
    answer = engine.chat("And who taught him?")
    assert str(answer) == "Theodore did."
    assert sources(answer) == {one.node.node_id for one in retriever.retrieve(question)}
    assert all(one.node.text in llm.prompts[-1] for one in retriever.retrieve(question))


def test_questions_that_a_model_makes_are_fused(retriever, question):
    llm = Scripted(["Where is Corfu?\nWho founded a zoo?"])
    fusion = QueryFusionRetriever(
        [retriever], llm=llm, num_queries=3, use_async=False, similarity_top_k=20
    )
    asked = (question, "Where is Corfu?", "Who founded a zoo?")
    wanted = {one.node.node_id for text in asked for one in retriever.retrieve(text)}
    assert {one.node.node_id for one in fusion.retrieve(question)} == wanted


AGENTS = pytest.mark.filterwarnings(  # they look at all attributes of themselves, old ones too
    "ignore::pydantic.warnings.PydanticDeprecatedSince20",
    "ignore::pydantic.warnings.PydanticDeprecatedSince211",
    "ignore:is_running called from within a step:DeprecationWarning",
)


CALLS_TOOLS = pytest.mark.skipif(
    not hasattr(mock, "MockFunctionCallingLLM"), reason="this older LlamaIndex has no such model"
)


class CallsOnce:
    """Calls the only tool with a question, and says then what it gave."""

    def __init__(self, question):
        self.question = question

    def __call__(self, messages, **how):
        if messages[-1].role == MessageRole.TOOL:
            return ChatMessage(role="assistant", content=f"I read: {messages[-1].content}")
        (tool,) = how["tools"]
        block = types.ToolCallBlock(
            tool_call_id="1", tool_name=tool.metadata.name, tool_kwargs={"input": self.question}
        )
        return ChatMessage(role="assistant", blocks=[block])


def agents(question, tools):
    calling = mock.MockFunctionCallingLLM(response_generator=CallsOnce(question))
    act = f'Thought: I look it up.\nAction: letters\nAction Input: {{"input": "{question}"}}'
    reasoning = Scripted([act, "Thought: I can answer.\nAnswer: I read it."])
    yield FunctionAgent(tools=tools, llm=calling, streaming=False), lambda: ""
    yield ReActAgent(tools=tools, llm=reasoning, streaming=False), lambda: reasoning.prompts[-1]


@CALLS_TOOLS
@AGENTS
async def test_an_agent_reads_what_clew_finds(retriever, question):
    """With a tool that answers with the context alone, so that what it reads can be seen."""
    engine = ENGINES["context_only"](retriever, MockLLM())
    texts = [one.node.text for one in retriever.retrieve(question)]
    assert texts
    for agent, prompt in agents(question, [tool(engine)]):
        answer = await agent.run("Who was the teacher?", memory=memory())
        (call,) = answer.tool_calls
        assert call.tool_kwargs == {"input": question}
        assert sources(call.tool_output.raw_output) == {
            one.node.node_id for one in retriever.retrieve(question)
        }
        read = f"{answer}{prompt()}"
        assert all(text in read for text in texts)


@CALLS_TOOLS
@AGENTS
async def test_a_retriever_is_a_tool_of_an_agent(retriever, question):
    letters = RetrieverTool.from_defaults(retriever, name="letters", description="Letters")
    agent = FunctionAgent(
        tools=[letters],
        llm=mock.MockFunctionCallingLLM(response_generator=CallsOnce(question)),
        streaming=False,
    )
    answer = str(await agent.run("Who was the teacher?", memory=memory()))
    assert all(one.node.text in answer for one in retriever.retrieve(question))


def test_sentences_are_read_with_their_windows(documents, embed_model, llm, question):
    parser = SentenceWindowNodeParser.from_defaults(window_size=1)
    sentences = parser.get_nodes_from_documents(documents)
    retriever = ClewRetriever.from_nodes(sentences, embed_model, budget=120)
    engine = RetrieverQueryEngine(
        retriever,
        ContextOnly(llm=llm),
        node_postprocessors=[MetadataReplacementPostProcessor(target_metadata_key="window")],
    )
    windows = [one.metadata["window"] for one in retriever.retrieve(question)]
    assert windows
    assert str(engine.query(question)).count("\n\n") == len(windows) - 1
    assert all(window in str(engine.query(question)) for window in windows)


def test_a_postprocessor_behind_an_index_connects_what_it_finds(nodes, embed_model, llm, question):
    engine = VectorStoreIndex(nodes, embed_model=embed_model).as_query_engine(
        llm=llm, similarity_top_k=8, node_postprocessors=[ClewPostprocessor(budget=200)]
    )
    response = engine.query(question)
    assert response.source_nodes
    whys = [one.metadata["clew_why"] for one in response.source_nodes]
    assert any("entity:" in why for why in whys)
