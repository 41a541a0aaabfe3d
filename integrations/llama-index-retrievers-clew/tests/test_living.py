"""Documents come and go while questions are asked."""

from __future__ import annotations

import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from llama_index.core import (
    SimpleKeywordTableIndex,
    StorageContext,
    SummaryIndex,
    VectorStoreIndex,
)
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import Document, ImageNode, TextNode
from llama_index.core.storage.docstore.keyval_docstore import KVDocumentStore
from llama_index.core.storage.kvstore import SimpleKVStore
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
from llama_index.retrievers.clew import ClewRetriever
from llama_index.retrievers.clew.candidates import Candidates

import clew

FERRY = "When does the ferry to Paxos sail?"


def texts(found):
    return {one.node.text for one in found}


def sails(at):
    return Document(text=f"The ferry to Paxos sails at {at}.", id_="ferry")


def test_a_retriever_over_an_index_follows_what_is_inserted_and_deleted_there(
    documents, embed_model
):
    index = VectorStoreIndex.from_documents(
        documents, embed_model=embed_model, transformations=[SentenceSplitter()]
    )
    retriever = ClewRetriever.from_index(index)
    short = retriever.with_options(budget=500)
    assert sails("ten").text not in texts(retriever.retrieve(FERRY))

    index.insert(sails("ten"))
    embed_model.seen.clear()
    assert sails("ten").text in texts(retriever.retrieve(FERRY))
    assert sails("ten").text in texts(short.retrieve(FERRY))
    assert {kind for kind, _ in embed_model.seen} == {"question"}  # its vectors are the store's

    assert index.refresh_ref_docs([sails("noon")]) == [True]
    assert sails("noon").text in texts(retriever.retrieve(FERRY))
    assert sails("ten").text not in texts(retriever.retrieve(FERRY))

    index.delete_ref_doc("ferry", delete_from_docstore=True)
    assert sails("noon").text not in texts(short.retrieve(FERRY))
    with pytest.raises(TypeError, match="insert and delete there"):
        retriever.insert(sails("one"))


@pytest.mark.parametrize("kind", [VectorStoreIndex, SummaryIndex])
def test_a_node_that_was_replaced_under_its_own_id_is_read_anew(kind, embed_model):
    """Nodes that say the same have one hash, of which a docstore gives one id."""
    how = {"embed_model": embed_model} if kind is VectorStoreIndex else {}
    texts = {"a": "It sails at ten.", "b": "It sails at ten.", "c": "It sails at noon."}
    index = kind([TextNode(text=text, id_=id) for id, text in texts.items()], **how)
    retriever = ClewRetriever.from_index(index, embed_model, candidates=None if how else 50)

    def read():
        assert retriever.retrieve("When does it sail?")
        return {one.id: one.text for one in retriever.index.documents}

    assert read() == texts
    kept = retriever.index
    assert read() == texts
    assert retriever.index is kept  # nothing has changed
    for changed in ({"a": "It sails at noon."}, {"c": "It never sails."}):
        texts |= changed
        nodes = [TextNode(text=text, id_=id) for id, text in changed.items()]
        if how:
            index.insert_nodes(nodes)
        else:
            index.docstore.add_documents(nodes)
        assert read() == texts
    index.docstore.add_documents([TextNode(text="Of another index.", id_="other")])
    kept = retriever.index
    assert read() == texts
    assert retriever.index is kept


def test_a_docstore_elsewhere_is_not_asked_for_hashes_at_every_question(nodes, embed_model):
    class Elsewhere(KVDocumentStore):
        def get_all_document_hashes(self):
            raise AssertionError("all were asked for")

        def get_document_hash(self, doc_id):
            raise AssertionError("one was asked for")

    context = StorageContext.from_defaults(docstore=Elsewhere(SimpleKVStore()))
    index = VectorStoreIndex(nodes, storage_context=context, embed_model=embed_model)
    retriever = ClewRetriever.from_index(index, candidates=None, similarity_top_k=8)
    before = retriever.index
    index.insert_nodes([TextNode(text="The ferry sails at ten.", id_="theodore")])
    assert retriever.index is before
    retriever.retrieve(FERRY)
    retriever.refresh()
    assert "The ferry sails at ten." in texts(retriever.retrieve(FERRY))


@pytest.mark.parametrize("is_saved", [False, True])
def test_pieces_that_a_node_parser_makes_again_are_no_change(
    documents, embed_model, tmp_path, is_saved
):
    splitter = SentenceSplitter(chunk_size=60, chunk_overlap=0)
    long = Document(text="The ferry sails. " * 30, id_="long")
    retriever = ClewRetriever.from_documents([*documents, long], embed_model, splitter=splitter)
    if is_saved:
        retriever.persist(tmp_path)
        retriever = ClewRetriever.from_persist_dir(tmp_path, embed_model, splitter=splitter)
    before = retriever.index
    assert len(before) > len(documents) + 1  # it is cut
    assert retriever.refresh_ref_docs([*documents, long]) == [False] * (len(documents) + 1)
    assert retriever.index is before
    longer = Document(text=long.text + "It is blue.", id_="long")
    dated = Document(text=documents[0].text, id_=documents[0].node_id, metadata={"year": 2026})
    assert retriever.refresh_ref_docs([longer, dated, documents[1]]) == [True, True, False]
    assert retriever.refresh_ref_docs([longer, dated, sails("ten")]) == [False, False, True]
    pieces = [one.text for one in splitter([longer])]
    assert [one.text for one in retriever.index.documents if one.source == "long"] == pieces


def test_a_deep_copy_changes_by_itself(documents):
    filters = MetadataFilters(filters=[MetadataFilter(key="kind", value="person")])
    retriever = ClewRetriever.from_documents(documents, filters=filters)
    pair = {"one": retriever, "view": retriever.with_options(budget=500)}
    copied = copy.deepcopy(pair)
    copied["one"].insert(sails("ten"))
    copied["one"].filters.filters[0].value = "place"
    copied["one"].object_map["ferry"] = TextNode(text="A ferry.")
    assert len(copied["view"].index) == len(documents) + 1  # two that were one still are
    assert len(retriever.index) == len(documents)
    assert (filters.filters[0].value, retriever.object_map) == ("person", {})
    retriever.delete_nodes([documents[0].node_id])
    assert len(copied["one"].index) == len(documents) + 1


async def test_an_index_that_was_emptied_gives_nothing_until_nodes_come(nodes, embed_model):
    index = SummaryIndex(nodes[:1])
    retriever = ClewRetriever.from_index(index, embed_model)
    index.delete_nodes([nodes[0].node_id])
    assert await retriever.aretrieve(FERRY) == retriever.retrieve(FERRY) == []
    index.insert_nodes([TextNode(text=" ")])
    assert retriever.retrieve(FERRY) == []
    index.insert_nodes([TextNode(text=sails("six").text)])
    assert texts(retriever.retrieve(FERRY)) == {sails("six").text}


@pytest.mark.parametrize("is_own", [True, False])
@pytest.mark.parametrize("splitter", [None, SentenceSplitter()])
async def test_a_retriever_begins_with_no_documents_and_is_saved_and_takes_some(
    splitter, is_own, embed_model, tmp_path
):
    given, how = embed_model if is_own else None, {} if splitter is None else {"splitter": splitter}
    begun = ClewRetriever.from_documents([], given, extractor=clew.Names(), budget=321, **how)
    begun.persist(tmp_path)
    opened = ClewRetriever.from_persist_dir(tmp_path, given, **how)
    for retriever in (begun, opened, ClewRetriever.from_nodes([], given, extractor=clew.Names())):
        assert retriever.retrieve(FERRY) == await retriever.aretrieve(FERRY) == []
        assert retriever.index is None
        assert retriever.refresh_ref_docs([]) == []
        retriever.delete_ref_doc("ferry")
        assert retriever.refresh_ref_docs([sails("ten")]) == [True]
        assert texts(await retriever.aretrieve(FERRY)) == {sails("ten").text}
        assert retriever.index.config.extractor == clew.Names()
        assert retriever.index.fitted == (not is_own)
        retriever.persist(tmp_path)
        again = ClewRetriever.from_persist_dir(tmp_path, given, **how)
        assert texts(again.retrieve(FERRY)) == {sails("ten").text}
    assert (begun.budget, opened.budget) == (321, 321)
    with pytest.raises(ValueError, match="no documents"):
        ClewRetriever.from_documents([], given, facts={"ferry": [("ferry", "sails to", "Paxos")]})


@pytest.mark.parametrize("candidates", [50, None])
@pytest.mark.parametrize("kind", [VectorStoreIndex, SummaryIndex, SimpleKeywordTableIndex])
async def test_a_retriever_over_an_index_without_nodes_follows_what_comes_and_goes(
    kind, candidates, embed_model, tmp_path
):
    how = {"embed_model": embed_model} if kind is VectorStoreIndex else {}
    if kind is SimpleKeywordTableIndex:
        how["llm"] = MockLLM()
    index = kind([], **how)
    retriever = ClewRetriever.from_index(index, embed_model, candidates=candidates)
    assert retriever.retrieve(FERRY) == await retriever.aretrieve(FERRY) == []
    is_asked = kind is VectorStoreIndex and candidates is not None
    assert isinstance(retriever.index, Candidates) == is_asked
    if not is_asked:
        retriever.persist(tmp_path)
        assert ClewRetriever.from_persist_dir(tmp_path, embed_model).retrieve(FERRY) == []
    for at in ("ten", "noon"):
        node = TextNode(id_=at, text=sails(at).text)
        index.insert_nodes([node])
        assert texts(await retriever.aretrieve(FERRY)) == {node.text}
        assert texts(ClewRetriever.from_index(index, embed_model).retrieve(FERRY)) == {node.text}
        index.delete_nodes([at])
        assert retriever.retrieve(FERRY) == []
        emptied = ClewRetriever.from_index(index, embed_model, candidates=candidates)
        assert emptied.retrieve(FERRY) == []


@pytest.mark.parametrize("splitter", [None, SentenceSplitter()])
def test_a_document_that_became_empty_is_no_longer_read(splitter, documents, embed_model):
    how = {} if splitter is None else {"splitter": splitter}
    retriever = ClewRetriever.from_documents([*documents, sails("ten")], embed_model, **how)
    blank = Document(text=" ", id_="ferry")
    assert sails("ten").text in texts(retriever.retrieve(FERRY))
    assert retriever.refresh_ref_docs([blank, documents[0]]) == [True, False]
    assert sails("ten").text not in texts(retriever.retrieve(FERRY))
    assert len(retriever.index.documents) == len(documents)
    assert retriever.refresh_ref_docs([blank]) == [False]
    assert retriever.refresh_ref_docs([sails("noon")]) == [True]
    assert sails("noon").text in texts(retriever.retrieve(FERRY))


def test_nodes_without_text_leave_a_retriever_empty(embed_model):
    retriever = ClewRetriever.from_nodes([], embed_model)
    retriever.insert_nodes([ImageNode(image_url="http://sea/boat.png", id_="boat")])
    assert (retriever.retrieve(FERRY), retriever.index) == ([], None)
    retriever.insert_nodes([TextNode(text=sails("ten").text, id_="ferry")])
    assert texts(retriever.retrieve(FERRY)) == {sails("ten").text}
    retriever.insert_nodes([TextNode(text="", id_="ferry")])
    assert (retriever.retrieve(FERRY), retriever.index) == ([], None)


def test_the_same_documents_again_change_nothing_and_are_not_embedded(documents, embed_model):
    retriever = ClewRetriever.from_documents(documents, embed_model)
    before = retriever.index
    embed_model.seen.clear()
    assert retriever.refresh_ref_docs(documents) == [False] * len(documents)
    assert retriever.index is before
    assert embed_model.seen == []
    assert retriever.refresh_ref_docs([documents[0], sails("ten")]) == [False, True]
    assert retriever.refresh_ref_docs([sails("ten"), sails("noon")]) == [False, True]
    assert {text for kind, text in embed_model.seen if kind == "text"} == {
        sails("ten").text,
        sails("noon").text,
    }


@pytest.mark.parametrize("splitter", [None, SentenceSplitter(chunk_size=60, chunk_overlap=0)])
def test_what_changes_gives_the_answer_of_an_index_made_of_what_is_left(
    documents, embed_model, splitter
):
    how = {} if splitter is None else {"splitter": splitter}
    long = Document(text="The ferry sails. " + "It is slow and blue. " * 12, id_="long")
    retriever = ClewRetriever.from_documents([*documents, long], embed_model, **how)
    view = retriever.with_options(budget=200)
    retriever.insert(sails("ten"))
    retriever.update_ref_doc(Document(text="The ferry is red.", id_="long"))
    retriever.delete_ref_doc(documents[1].node_id)
    retriever.delete_ref_doc("nobody")
    left = [documents[0], *documents[2:], Document(text="The ferry is red.", id_="long")]
    fresh = ClewRetriever.from_documents([*left, sails("ten")], embed_model, **how)
    for question in (FERRY, "Which colour has the ferry?"):
        assert texts(retriever.retrieve(question)) == texts(fresh.retrieve(question))
        same = fresh.with_options(budget=200).retrieve(question)
        assert texts(view.retrieve(question)) == texts(same)


def test_a_saved_retriever_lives_on_and_gives_no_node_that_was_replaced(
    documents, embed_model, tmp_path
):
    ClewRetriever.from_documents([*documents, sails("ten")], embed_model).persist(tmp_path)
    retriever = ClewRetriever.from_persist_dir(tmp_path, embed_model)
    retriever.insert(sails("noon"))
    assert texts(retriever.retrieve(FERRY)) & {sails("ten").text, sails("noon").text} == {
        sails("noon").text
    }
    retriever.persist(tmp_path)
    again = ClewRetriever.from_persist_dir(tmp_path, embed_model)
    assert sails("noon").text in texts(again.retrieve(FERRY))


@pytest.mark.parametrize("is_own", [True, False])
async def test_a_retriever_emptied_of_all_nodes_is_saved_and_takes_others_when_it_is_opened(
    is_own, documents, embed_model, tmp_path
):
    given = embed_model if is_own else None
    retriever = ClewRetriever.from_documents(documents, given, budget=321, extractor=clew.Names())
    retriever.persist(tmp_path)
    retriever.delete_nodes([document.node_id for document in documents])
    retriever.persist(tmp_path)
    opened = ClewRetriever.from_persist_dir(tmp_path, given)
    assert opened.retrieve(FERRY) == await opened.aretrieve(FERRY) == []
    assert opened.index is None
    assert opened.budget == 321
    opened.insert(sails("ten"))
    assert texts(opened.retrieve(FERRY)) == {sails("ten").text}
    assert opened.index.config.extractor == clew.Names()
    opened.persist(tmp_path)
    again = ClewRetriever.from_persist_dir(tmp_path, given)
    assert texts(again.retrieve(FERRY)) == {sails("ten").text}


def test_questions_during_a_change_see_the_index_before_it_or_after_it(documents):
    retriever = ClewRetriever.from_documents([*documents, sails("0")])
    seen, over = set(), threading.Event()

    def ask():
        while not over.is_set():
            found = texts(retriever.retrieve(FERRY)) & {sails(str(n)).text for n in range(9)}
            seen.add(len(found))

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask) for _ in range(3)]
        for n in range(1, 9):
            retriever.insert(sails(str(n)))
        over.set()
        for one in asking:
            one.result()
    assert seen == {1}
    assert sails("8").text in texts(retriever.retrieve(FERRY))
