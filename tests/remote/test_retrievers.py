"""The retrievers of both frameworks over an index in a database: the ids of the embedded one, and living."""

from __future__ import annotations

import pytest
from langchain_clew import ClewRetriever as OverLangChain
from langchain_core.documents import Document
from llama_index.core.schema import TextNode
from llama_index.retrievers.clew import ClewRetriever as OverLlamaIndex

import clew
from clew.remote import Bounds, RemoteIndex

NO_BOUNDS = Bounds(10**6, 10**6, 10**6, 10**6, hops=4, without=())
QUESTION = "Which tug pulls ferry 3?"


@pytest.fixture(scope="module")
def index():
    texts = [f"Ferry {i} sails to island {i % 7}. Tug {i % 5} pulls ferry {i}." for i in range(60)]
    documents = [clew.Document(f"d{i}", text, {"ferry": i}) for i, text in enumerate(texts)]
    return clew.Index.from_documents(documents, extractor=clew.Names())


@pytest.fixture(scope="module")
def address(server, index):
    """Where the index is, for those who only ask."""
    address = server.address()
    index.save(address)
    return address


@pytest.fixture(params=[0, 10**6], ids=["pulled", "whole"])
def opened(address, request):
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=request.param) as remote:
        yield remote


@pytest.fixture
def changed(server, index, opened):
    """An index of its own for a test that writes, which is opened in the same way."""
    address = server.address()
    index.save(address)
    how = {"bounds": NO_BOUNDS, "kept_whole": opened._kept_whole}
    with RemoteIndex.open(address, **how) as remote:
        yield remote


@pytest.mark.parametrize("recipe", ["hipporag", "dense", "agrag"])
async def test_langchain_gets_the_documents_of_the_embedded_index(opened, index, recipe):
    wanted = OverLangChain(index=index, recipe=recipe, budget=200).invoke(QUESTION)
    retriever = OverLangChain(index=opened, recipe=recipe, budget=200)
    for found in (retriever.invoke(QUESTION), await retriever.ainvoke(QUESTION)):
        assert [(one.id, one.page_content) for one in found] == [
            (one.id, one.page_content) for one in wanted
        ]
        assert [one.metadata["ferry"] for one in found] == [one.metadata["ferry"] for one in wanted]
    await opened._database.aclose()


@pytest.mark.parametrize("recipe", ["hipporag", "dense", "agrag"])
async def test_llama_index_gets_the_nodes_of_the_embedded_index(opened, index, recipe):
    wanted = OverLlamaIndex(index, recipe=recipe, budget=200).retrieve(QUESTION)
    retriever = OverLlamaIndex(opened, recipe=recipe, budget=200)
    for found in (retriever.retrieve(QUESTION), await retriever.aretrieve(QUESTION)):
        assert [(one.node_id, one.text) for one in found] == [
            (one.node_id, one.text) for one in wanted
        ]
        assert [one.score for one in found] == pytest.approx(
            [one.score for one in wanted], abs=1e-6
        )


def test_documents_that_langchain_adds_and_deletes_are_in_the_database(changed):
    retriever = OverLangChain(index=changed, recipe="bm25", min_relevance=0)
    retriever.add_documents([Document("The submarine dives at noon.", id="sub")])
    assert retriever.invoke("When does the submarine dive?")[0].id == "sub"
    with RemoteIndex.open(_address(changed), kept_whole=0) as other:
        assert other.ask("submarine", recipe="bm25", min_relevance=0).ids[0] == "sub"
        assert retriever.get_by_ids(["sub"])[0].page_content == "The submarine dives at noon."
        retriever.delete(["sub"])
        assert "sub" not in other.ask("submarine", recipe="bm25", min_relevance=0).ids


def test_llama_index_says_where_documents_of_a_database_are_changed(opened):
    with pytest.raises(TypeError, match=r"RemoteIndex\.upsert"):
        OverLlamaIndex(opened).insert_nodes([TextNode(text="The submarine dives.")])


def test_a_filter_of_a_framework_is_kept_to_or_refused(opened):
    retriever = OverLangChain(index=opened, recipe="dense", filter={"ferry": 3}, min_relevance=0)
    if opened._kept_whole:
        assert [one.id for one in retriever.invoke(QUESTION)] == ["d3"]
    else:
        with pytest.raises(TypeError, match="mapping of wanted metadata values"):
            retriever.invoke(QUESTION)


def _address(opened):
    own = opened.address
    return f"{own.database}{'&' if '?' in own.database else '?'}index={own.name}"
