"""Pipelines of LangChain with clew in the place of their retriever, or behind it."""

from __future__ import annotations

import json

import pytest
from langchain_classic.chains import create_history_aware_retriever, create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.chains.query_constructor.base import StructuredQueryOutputParser
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    MultiVectorRetriever,
    ParentDocumentRetriever,
    RePhraseQueryRetriever,
)
from langchain_classic.retrievers.document_compressors import (
    CrossEncoderReranker,
    DocumentCompressorPipeline,
)
from langchain_classic.retrievers.document_compressors.cross_encoder import BaseCrossEncoder
from langchain_classic.retrievers.self_query.base import SelfQueryRetriever
from langchain_classic.storage import InMemoryByteStore, InMemoryStore
from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.structured_query import Comparator, Comparison, Operation, Operator, Visitor
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import CharacterTextSplitter

SHORT_MYTH = Operation(
    operator=Operator.AND,
    arguments=[
        Comparison(comparator=Comparator.LT, attribute="length", value=75),
        Comparison(comparator=Comparator.EQ, attribute="tags", value="myth"),
    ],
)
ANSWER = "Ariadne gave it to him."
PROMPT = ChatPromptTemplate.from_template("{context}\n\n{input}")


class SharedWords(BaseCrossEncoder):
    """Scores a text by the words that it shares with the question."""

    def score(self, text_pairs):
        return [len(set(one.split()) & set(other.split())) for one, other in text_pairs]


@pytest.fixture
def retriever(documents, embeddings):
    return ClewRetriever.from_documents(documents, embeddings, budget=60)


@pytest.fixture
def model():
    return FakeListChatModel(responses=[ANSWER])


def ids(documents):
    return [document.id for document in documents]


async def test_a_chain_of_runnables_reads_what_clew_finds_in_every_way_of_calling(
    retriever, model, question
):
    shown = []
    chain = (
        {"context": retriever, "input": RunnablePassthrough()}
        | PROMPT
        | RunnableLambda(lambda prompt: (shown.append(prompt.to_string()), prompt)[1])
        | model
        | StrOutputParser()
    )
    assert chain.invoke(question) == await chain.ainvoke(question) == ANSWER
    assert "".join(chain.stream(question)) == ANSWER
    assert chain.batch([question, question]) == [ANSWER, ANSWER]
    assert all(d.page_content in shown[0] for d in retriever.invoke(question))


async def test_a_retrieval_chain_gives_the_documents_that_it_read(retriever, model, question):
    chain = create_retrieval_chain(retriever, create_stuff_documents_chain(model, PROMPT))
    for said in (chain.invoke({"input": question}), await chain.ainvoke({"input": question})):
        assert said["answer"] == ANSWER
        assert ids(said["context"]) == ids(retriever.invoke(question))


def test_a_history_aware_retriever_asks_clew_what_the_history_means(retriever, question):
    asks = FakeListChatModel(responses=[question])
    prompt = ChatPromptTemplate.from_messages(
        [MessagesPlaceholder("chat_history"), ("human", "{input}")]
    )
    aware = create_history_aware_retriever(asks, retriever, prompt)
    history = [HumanMessage("Who was Theseus?"), AIMessage("A hero of Athens.")]
    found = aware.invoke({"input": "And who gave him the thread?", "chat_history": history})
    assert ids(found) == ids(retriever.invoke(question))
    first = aware.invoke({"input": question, "chat_history": []})
    assert ids(first) == ids(retriever.invoke(question))


def test_a_rephrased_question_is_asked_of_clew(retriever, question):
    asks = FakeListChatModel(responses=[question])
    rephrased = RePhraseQueryRetriever.from_llm(retriever, asks)
    assert ids(rephrased.invoke("thread?")) == ids(retriever.invoke(question))


def test_compressors_stand_behind_clew_and_clew_behind_them(retriever, question):
    near = CrossEncoderReranker(model=SharedWords(), top_n=2)
    behind = ContextualCompressionRetriever(base_retriever=retriever, base_compressor=near)
    assert set(ids(behind.invoke(question))) <= set(ids(retriever.invoke(question)))
    row = DocumentCompressorPipeline(transformers=[ClewCompressor(budget=60), near])
    both = ContextualCompressionRetriever(base_retriever=retriever, base_compressor=row)
    assert len(both.invoke(question)) == 2


def test_the_parents_of_what_was_found_make_a_context(documents, embeddings, question):
    whole = Document(" ".join(document.page_content for document in documents), id="myths")
    parents = ParentDocumentRetriever(
        vectorstore=InMemoryVectorStore(embeddings),
        docstore=InMemoryStore(),
        child_splitter=CharacterTextSplitter(separator=".", chunk_size=60, chunk_overlap=0),
        parent_splitter=CharacterTextSplitter(separator=".", chunk_size=200, chunk_overlap=0),
    )
    parents.add_documents([whole])
    context = ContextualCompressionRetriever(
        base_retriever=parents, base_compressor=ClewCompressor(budget=120)
    )
    found = context.invoke(question)
    assert found
    assert {d.page_content for d in found} <= {d.page_content for d in parents.invoke(question)}


def test_documents_found_by_other_texts_of_theirs_make_a_context(documents, embeddings, question):
    vectors = MultiVectorRetriever(
        vectorstore=InMemoryVectorStore(embeddings), byte_store=InMemoryByteStore(), id_key="of"
    )
    vectors.vectorstore.add_documents(
        [Document(f"A question on {d.id}", metadata={"of": d.id}) for d in documents]
    )
    vectors.docstore.mset([(document.id, document) for document in documents])
    context = ContextualCompressionRetriever(
        base_retriever=vectors, base_compressor=ClewCompressor(budget=60)
    )
    assert set(ids(context.invoke("A question on minos"))) <= set(ids(documents))


async def test_an_agent_s_tool_prints_what_clew_finds(retriever, question):
    tool = create_retriever_tool(retriever, "myths", "Looks things up in the myths.")
    shown = tool.invoke({"query": question})
    assert shown == await tool.ainvoke({"query": question})
    assert all(document.page_content in shown for document in retriever.invoke(question))


class MongoLike(Visitor):
    """Translates as `ChromaTranslator` of langchain-community does."""

    def visit_operation(self, operation):
        return {f"${operation.operator.value}": [one.accept(self) for one in operation.arguments]}

    def visit_comparison(self, comparison):
        return {comparison.attribute: {f"${comparison.comparator.value}": comparison.value}}

    def visit_structured_query(self, structured_query):
        filter = structured_query.filter
        return structured_query.query, {} if filter is None else {"filter": filter.accept(self)}


async def test_a_self_query_asks_clew_with_the_filter_that_a_model_wrote(retriever, question):
    written = {"query": question, "filter": "and(lt('length', 75), eq('tags', 'myth'))", "limit": 2}
    asks = FakeListChatModel(
        responses=[json.dumps(written), json.dumps(written | {"filter": "NO_FILTER"})]
    )
    parser = StructuredQueryOutputParser(ast_parse={written["filter"]: SHORT_MYTH}.__getitem__)
    constructor = ChatPromptTemplate.from_template("{query}") | asks | parser

    def arguments(structured):
        query, how = MongoLike().visit_structured_query(structured)
        return query, how if structured.limit is None else {**how, "k": structured.limit}

    def ask(structured):
        query, how = arguments(structured)
        return retriever.invoke(query, **how)

    async def aask(structured):
        query, how = arguments(structured)
        return await retriever.ainvoke(query, **how)

    chain = constructor | RunnableLambda(ask, aask)
    found = chain.invoke({"query": "Short myths about thread, two of them?"})
    assert {d.metadata["length"] < 75 for d in found} == {True}
    assert len(found) == 2
    everything = await chain.ainvoke({"query": "Two myths about thread?"})
    assert ids(everything) == ids(retriever.invoke(question, k=2))
    with pytest.raises(ValueError, match="instance of VectorStore"):
        SelfQueryRetriever(
            vectorstore=retriever,
            query_constructor=constructor,
            structured_query_translator=MongoLike(),
        )


class Keeping(Visitor):
    """Translates a filter into a function, which an in-memory store takes."""

    def visit_operation(self, operation):
        parts = [one.accept(self) for one in operation.arguments]
        return lambda document: all(part(document) for part in parts)

    def visit_comparison(self, comparison):
        key, wanted = comparison.attribute, comparison.value
        if comparison.comparator == Comparator.LT:
            return lambda document: document.metadata[key] < wanted
        return lambda document: wanted in document.metadata[key]

    visit_structured_query = MongoLike.visit_structured_query


async def test_what_a_self_query_found_in_a_store_makes_a_context(documents, embeddings, question):
    written = {"query": question, "filter": "and(lt('length', 75), eq('tags', 'myth'))"}
    asks = FakeListChatModel(responses=[json.dumps(written)])
    parser = StructuredQueryOutputParser(ast_parse={written["filter"]: SHORT_MYTH}.__getitem__)
    own = SelfQueryRetriever(
        vectorstore=InMemoryVectorStore.from_documents(documents, embeddings),
        query_constructor=ChatPromptTemplate.from_template("{query}") | asks | parser,
        structured_query_translator=Keeping(),
        search_kwargs={"k": len(documents)},
    )
    asked = "Short myths about thread?"
    allowed = own.invoke(asked)
    assert sorted(ids(allowed)) == sorted(d.id for d in documents if d.metadata["length"] < 75)
    compressor = ClewCompressor(embeddings=embeddings, budget=60)
    context = ContextualCompressionRetriever(base_retriever=own, base_compressor=compressor)
    found = context.invoke(asked)
    assert found == await context.ainvoke(asked) == compressor.compress_documents(allowed, asked)
    assert 0 < len(found) < len(allowed)
    assert found[0].id == "ariadne", "the one short myth about thread"


def test_another_retriever_answers_where_clew_raises(documents, embeddings, question):
    strict = ClewRetriever.from_documents(documents, embeddings, budget=1, strict=True)
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    with_fallback = strict.with_fallbacks([store.as_retriever(search_kwargs={"k": 2})])
    assert len(with_fallback.invoke(question)) == 2
