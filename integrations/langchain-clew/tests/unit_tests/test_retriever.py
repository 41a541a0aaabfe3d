"""The retriever over an index, in the ways LangChain uses one."""

from __future__ import annotations

import copy
import json
import pickle
import threading

import pytest
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.retrievers import EnsembleRetriever
from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumps, loads
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import ValidationError

import clew
from clew.index.question import QueryOptions


class Titled(Document):
    """A document of the caller's own class."""

    title: str = "thread"


def ids(documents):
    return [document.id for document in documents]


@pytest.fixture
def retriever(index):
    return ClewRetriever(index=index)


OVERRIDES = [
    ({"k": 2}, {"limit": 2}),
    ({"budget": 60}, {"budget": 60}),
    ({"budget": None, "recipe": "bm25"}, {"budget": None, "recipe": "bm25"}),
    ({"recipe": clew.recipes.get("dense")}, {"recipe": "dense"}),
    ({"filter": {"length": {"$lt": 73}}}, {"where": lambda metadata: metadata["length"] < 73}),
    (
        {"filter": lambda metadata: metadata["length"] < 73, "deadline": 60.0},
        {"where": lambda metadata: metadata["length"] < 73},
    ),
]


@pytest.mark.parametrize(("overrides", "asked"), OVERRIDES)
async def test_a_question_may_set_what_the_retriever_sets_in_every_way_of_calling(
    retriever, index, question, overrides, asked
):
    wanted = index.ask(question, **asked).ids
    assert wanted != index.ask(question).ids

    assert ids(retriever.invoke(question, **overrides)) == wanted
    assert ids(await retriever.ainvoke(question, **overrides)) == wanted
    assert ids(retriever.batch([question], **overrides)[0]) == wanted
    assert ids((await retriever.abatch([question], **overrides))[0]) == wanted
    assert ids(next(retriever.stream(question, **overrides))) == wanted
    assert ids(retriever.bind(**overrides).invoke(question)) == wanted
    assert retriever.context(question, **overrides).ids == wanted
    assert (await retriever.acontext(question, **overrides)).ids == wanted
    assert ids(retriever.invoke(question)) == index.ask(question).ids, (
        "an override is for its question alone"
    )


@pytest.mark.parametrize(("overrides", "asked"), OVERRIDES)
def test_the_constructor_sets_the_same(index, question, overrides, asked):
    assert (
        ids(ClewRetriever(index=index, **overrides).invoke(question))
        == index.ask(question, **asked).ids
    )


async def test_what_a_question_does_not_take_is_refused_and_not_ignored(retriever, question):
    with pytest.raises(
        TypeError, match="does not take top_k; it takes recipe, budget, k, filter, deadline, model"
    ):
        retriever.invoke(question, top_k=1)
    with pytest.raises(TypeError, match="does not take top_k"):
        await retriever.ainvoke(question, top_k=1)
    with pytest.raises(TypeError, match="does not take index"):
        retriever.invoke(question, index=retriever.index)


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0},
        {"budget": 0},
        {"deadline": 0},
        {"recipe": "fuzed"},
        {"filter": {"a": {"$like": 1}}},
    ],
)
def test_a_wrong_value_is_refused_at_once_and_at_a_question(index, retriever, question, wrong):
    with pytest.raises(ValidationError, match=rf"({next(iter(wrong))}|unknown)"):
        ClewRetriever(index=index, **wrong)
    with pytest.raises(ValidationError, match=rf"({next(iter(wrong))}|unknown)"):
        retriever.invoke(question, **wrong)


def test_a_misspelt_argument_is_refused_before_anything_is_indexed(index, documents, embeddings):
    with pytest.raises(ValidationError, match="recpie"):
        ClewRetriever(index=index, recpie="dense")
    embeddings.documents.clear()
    with pytest.raises(TypeError, match="does not take recpie"):
        ClewRetriever.from_documents(documents, embeddings, recpie="dense")
    assert embeddings.documents == []
    with pytest.raises(TypeError, match=r"asks a clew\.Index or a RemoteIndex, not a list"):
        ClewRetriever(index=documents)


def test_a_misspelt_attribute_is_refused_when_it_is_set(retriever, question):
    with pytest.raises(ValueError, match=r"this does not take recpie; it takes recipe, budget, k"):
        retriever.recpie = "dense"
    compressor = ClewCompressor()
    with pytest.raises(ValueError, match="this does not take bugdet"):
        compressor.bugdet = 60
    compressor.max_share = 0.5  # an option that is no field
    assert compressor.model_extra == {"max_share": 0.5}
    retriever.k = 2
    retriever._seen_by = "a tracer"  # which says so on what it has seen
    assert len(retriever.invoke(question)) == 2
    assert len(retriever.invoke(question, k=1)) == 1
    retriever.k = 0
    with pytest.raises(ValueError, match=r"^k is a whole number of at least 1, or None; got 0"):
        retriever.invoke(question)


@pytest.mark.parametrize(
    "filter", [{"length": {"$gt": 10**6}}, lambda metadata: metadata["length"] == 0]
)
async def test_a_filter_that_allows_nothing_finds_nothing(retriever, question, filter):
    assert (
        retriever.invoke(question, filter=filter)
        == await retriever.ainvoke(question, filter=filter)
        == []
    )
    assert retriever.context(question, filter=filter).text == ""


def test_documents_and_texts_make_the_index_that_the_core_makes(
    documents, embeddings, facts, question
):
    def count(text):
        return len(text)

    index = clew.Index.from_documents(documents, embedder=embeddings, facts=facts, count=count)
    how = {"facts": facts, "count": count, "recipe": "hipporag", "budget": 300}
    wanted = index.ask(question, recipe="hipporag", budget=300)

    assert wanted.tokens > len(wanted.text.split())
    assert (
        ClewRetriever.from_documents(iter(documents), embeddings, **how).context(question).text
        == wanted.text
    )
    parts = (
        [getattr(document, name) for document in documents]
        for name in ("page_content", "metadata", "id")
    )
    texts, metadatas, named = parts
    assert (
        ClewRetriever.from_texts(texts, embeddings, metadatas, ids=named, **how)
        .context(question)
        .text
        == wanted.text
    )


def test_texts_and_metadata_of_different_lengths_are_refused(embeddings):
    with pytest.raises(ValueError, match="shorter"):
        ClewRetriever.from_texts(["one", "two"], embeddings, [{}])


def test_a_document_without_an_id_gets_the_index_s(embeddings, question):
    retriever = ClewRetriever.from_texts(
        ["Theseus followed the thread.", "Icarus fell into the sea."], embeddings
    )
    found = retriever.invoke(question, k=2)
    assert set(ids(found)) == {document.id for document in retriever.index.documents}


def test_a_fact_is_a_document_of_its_own(index, question):
    from dataclasses import replace

    method = replace(
        clew.recipes.get("hipporag"), order=FactsFirst(clew.recipes.get("hipporag").order)
    )
    found = ClewRetriever(index=index, recipe=method).invoke(question, explain=True)
    fact = found[0]
    assert (fact.metadata["clew_role"], fact.page_content) == ("fact", "Minos ruled Crete")
    assert fact.metadata.keys() == {"clew_rank", "clew_role", "clew_score", "clew_why"}
    assert len(found) > 1


class FactsFirst:
    """An order that puts the graph's first fact before what another order reads."""

    def __init__(self, order):
        self.order = order

    def on(self, graph):
        from clew.types import Reading

        inner = self.order.on(graph)
        return lambda query, prizes, chosen: Reading.of(inner(query, prizes, chosen).nodes, [0])


def test_nothing_done_to_what_came_out_changes_the_index_or_the_caller_s_documents(
    documents, embeddings, question
):
    retriever, before = (
        ClewRetriever.from_documents(documents, embeddings),
        copy.deepcopy(documents),
    )
    first = retriever.invoke(question)
    untouched = copy.deepcopy(first)
    for document in first:
        document.page_content = ""
        document.metadata["tags"].append("spoilt")
        document.metadata["place"]["island"] = "spoilt"
        document.metadata["new"] = 1
    assert retriever.invoke(question) == untouched
    assert documents == before
    assert [item.original for item in retriever.context(question)] == [
        next(d for d in before if d.id == u.id) for u in untouched
    ]


@pytest.mark.parametrize("kind", [Document, Titled])
async def test_metadata_that_cannot_be_copied_come_as_they_are(embeddings, kind):
    lock = threading.Lock()
    came = kind("Theseus and the thread.", id="a", metadata={"lock": lock, "tags": ["myth"]})
    store = InMemoryVectorStore(embeddings)
    store.add_documents([came])
    retrievers = [
        ClewRetriever.from_documents([came]),
        ClewRetriever.from_vectorstore(store),
    ]
    found = [one for retriever in retrievers for one in await retriever.ainvoke("Theseus")]
    found += ClewCompressor().compress_documents([came], "Theseus")
    found += retrievers[0].get_by_ids(["a"])
    assert len(found) == 4
    for one in found:
        assert one.metadata["lock"] is lock
        one.metadata["tags"].append("changed")
    assert came.metadata["tags"] == ["myth"]


@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning")
def test_a_found_document_survives_being_written_and_read(retriever, question):
    for document in retriever.invoke(question):
        assert json.loads(json.dumps(document.metadata)) == document.metadata
        assert loads(dumps(document), allowed_objects=[Document]) == document


async def test_batches_run_side_by_side_and_each_question_keeps_its_answer(retriever, index):
    questions = [
        f"{name} and the labyrinth"
        for name in ("Minos", "Daedalus", "Ariadne", "Theseus", "Icarus", "Aegeus")
    ] * 3
    wanted = [index.ask(question, limit=3).ids for question in questions]
    assert [ids(each) for each in retriever.batch(questions, k=3)] == wanted
    assert [ids(each) for each in await retriever.abatch(questions, k=3)] == wanted


def test_configuring_a_field_embeds_nothing_again(retriever, index, embeddings, question):
    embedded = len(embeddings.documents)
    configurable = retriever.configurable_fields(
        recipe=ConfigurableField(id="recipe"), k=ConfigurableField(id="k")
    )
    for recipe in ("dense", "bm25", "dense"):
        found = configurable.invoke(question, config={"configurable": {"recipe": recipe, "k": 3}})
        assert ids(found) == index.ask(question, recipe=recipe, limit=3).ids
    assert len(embeddings.documents) == embedded


@pytest.mark.filterwarnings("ignore::pydantic.json_schema.PydanticJsonSchemaWarning")  # an index
def test_every_option_of_a_question_can_be_configured_and_has_a_schema(retriever):
    own = {*QueryOptions.__dataclass_fields__} - {"limit", "where"} | {"k", "filter", "index"}
    fields = {name: ConfigurableField(id=name) for name in own}
    schema = retriever.configurable_fields(**fields).config_schema().model_json_schema()
    assert schema["$defs"]["Configurable"]["properties"].keys() == own


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda retriever: retriever.model_copy(update={"tags": ["t"]})],
)
def test_a_copy_answers_the_same(retriever, question, again):
    assert again(retriever).invoke(question) == retriever.invoke(question)


def test_a_pickled_retriever_answers_the_same(documents, question):
    retriever = ClewRetriever.from_documents(
        documents, DeterministicFakeEmbedding(size=16), recipe="dense", k=4
    )
    assert pickle.loads(pickle.dumps(retriever)).invoke(question) == retriever.invoke(question)


@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning")
def test_a_retriever_is_a_tool(retriever, question):
    found = retriever.invoke(question)
    tool = create_retriever_tool(
        retriever, "myths", "Searches the myths.", response_format="content_and_artifact"
    )
    assert tool.invoke({"query": question}) == "\n\n".join(
        document.page_content for document in found
    )
    assert (
        tool.invoke(
            {"type": "tool_call", "id": "1", "name": "myths", "args": {"query": question}}
        ).artifact
        == found
    )
    assert (
        retriever.as_tool(name="myths", description="Searches the myths.").invoke(question) == found
    )


class Heard(BaseCallbackHandler):
    """Keeps what a retriever's run says of itself."""

    def __init__(self):
        self.started, self.ended, self.failed = [], [], []

    def on_retriever_start(self, serialized, query, *, tags=None, metadata=None, **kwargs):
        self.started.append((query, tags, metadata))

    def on_retriever_end(self, documents, **kwargs):
        self.ended.append(documents)

    def on_retriever_error(self, error, **kwargs):
        self.failed.append(error)


async def test_callbacks_hear_the_question_the_documents_and_the_tracing_names(index, question):
    heard = Heard()
    retriever = ClewRetriever(index=index, tags=["own"], metadata={"tenant": 7}).with_config(
        callbacks=[heard], tags=["run"]
    )
    found = retriever.invoke(question)
    assert await retriever.ainvoke(question) == found
    assert heard.ended == [found, found]
    for asked, tags, metadata in heard.started:
        assert asked == question
        assert {"own", "run"} <= set(tags)
        said = {"tenant": 7, "ls_retriever_name": "clew", "ls_embedding_model": "Counting"}
        assert {name: metadata.get(name) for name in said} == said
    with pytest.raises(ValueError, match="at least one word"):
        retriever.invoke("  ")
    assert len(heard.failed) == 1


async def test_a_chain_gives_the_model_the_documents_in_reading_order(retriever, question):
    seen = []
    prompt = ChatPromptTemplate.from_template("Context:\n{context}\n\nQuestion: {question}")
    chain = (
        {
            "context": retriever | (lambda found: "\n".join(d.page_content for d in found)),
            "question": RunnablePassthrough(),
        }
        | prompt
        | RunnableLambda(lambda value: seen.append(value.to_string()) or value)
        | FakeListChatModel(responses=["Ariadne", "Ariadne"])
        | StrOutputParser()
    )
    assert chain.invoke(question) == await chain.ainvoke(question) == "Ariadne"
    texts = "\n".join(item.text for item in retriever.context(question))
    assert seen == [f"Human: Context:\n{texts}\n\nQuestion: {question}"] * 2


async def test_an_ensemble_fuses_two_recipes(index, question):
    one, other = (ClewRetriever(index=index, recipe=recipe, k=4) for recipe in ("dense", "bm25"))
    ensemble = EnsembleRetriever(retrievers=[one, other], weights=[0.5, 0.5])
    votes = {}
    for found in (one.invoke(question), other.invoke(question)):
        for rank, document in enumerate(found, 1):
            votes[document.id] = votes.get(document.id, 0) + 0.5 / (60 + rank)
    assert ids(ensemble.invoke(question)) == sorted(votes, key=votes.get, reverse=True)
    assert ids(await ensemble.ainvoke(question)) == ids(ensemble.invoke(question))


def test_a_document_prompt_prints_the_heading_that_a_piece_stands_under():
    book = "# Wren flow meter\n\nIt measures the flow of water.\n\n## History\n\nIt was discontinued in 2021.\n"
    retriever = ClewRetriever.from_documents(
        [Document(book, id="wren", metadata={"source": "wren.md"})], splitter=clew.Splitter()
    )
    found = retriever.invoke("When was it discontinued?")
    assert [d.metadata["clew_heading"] for d in found if "2021" in d.page_content] == [
        "Wren flow meter > History"
    ]

    seen = []
    prompt = PromptTemplate.from_template("# {clew_heading}\n{page_content}")
    asks = ChatPromptTemplate.from_template("{context}\n{input}")
    chain = create_stuff_documents_chain(
        RunnableLambda(lambda asked: seen.append(asked.to_string()) or "2021"),
        asks,
        document_prompt=prompt,
    )
    chain.invoke({"context": found, "input": "When?"})
    assert "# Wren flow meter > History\nIt was discontinued in 2021." in seen[0]


def test_a_document_under_no_heading_has_none(retriever, question):
    assert not any("clew_heading" in document.metadata for document in retriever.invoke(question))
