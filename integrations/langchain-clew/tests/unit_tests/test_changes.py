"""A retriever lives: documents come, change and go, by its own calls and by LangChain's indexing."""

from __future__ import annotations

import asyncio
import copy
import pickle
import subprocess
import sys
import threading

import pytest
from langchain_clew import ClewRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.indexing import InMemoryRecordManager, aindex, index
from langchain_core.vectorstores import InMemoryVectorStore

import clew

QUESTION = "When do ferries sail to Corfu?"


def of(source, *texts):
    return [Document(text, metadata={"source": source}) for text in texts]


def texts_of(retriever):
    """What is in it, by what questions find with room for everything."""
    found = retriever.invoke(QUESTION, recipe="dense", budget=None, k=99)
    return sorted(document.page_content for document in found)


def over_nothing(embeddings):
    return ClewRetriever.from_documents([], embeddings)


RUNS = [
    of("a", "Ferries sail at nine.", "Ferries are white.") + of("b", "Corfu is green."),
    of("a", "Ferries sail at ten.", "Ferries are white."),
    [],
]
LEFT = {
    None: ["nine white green", "nine white green ten", "nine white green ten"],
    "incremental": ["nine white green", "white green ten", "white green ten"],
    "scoped_full": ["nine white green", "white green ten", "white green ten"],
    "full": ["nine white green", "white ten", ""],
}
"""The last word of each text that is left, by LangChain's documentation of `cleanup`."""


@pytest.mark.parametrize("cleanup", LEFT)
@pytest.mark.parametrize("is_async", [False, True])
async def test_the_indexing_api_keeps_it_by_every_cleanup(cleanup, is_async, embeddings):
    retriever, records = over_nothing(embeddings), InMemoryRecordManager("ferries")
    records.create_schema()
    how = {"cleanup": cleanup, "source_id_key": "source", "key_encoder": "sha256"}
    for documents, left in zip(RUNS, LEFT[cleanup], strict=True):
        for is_again in (False, True):
            embedded = len(embeddings.documents)
            if is_async:
                counts = await aindex(documents, records, retriever, **how)
            else:
                counts = index(documents, records, retriever, **how)
            last_words = {text.rstrip(".").split()[-1] for text in texts_of(retriever)}
            assert last_words == set(left.split())
            if is_again:
                assert (counts["num_added"], counts["num_deleted"]) == (0, 0)
                assert len(embeddings.documents) == embedded


def test_the_same_documents_twice_change_and_embed_nothing(documents, embeddings):
    retriever = ClewRetriever.from_documents(documents, embeddings)
    before, embedded = retriever.index, len(embeddings.documents)
    named = retriever.add_documents(documents)
    assert named == [document.id for document in documents]
    nameless = [Document("Ferries sail.", metadata={"year": 1})]
    first, second = retriever.add_documents(nameless), retriever.add_documents(nameless)
    assert first == second
    assert (
        retriever.delete(first)["num_deleted"] == retriever.delete(["nowhere"])["num_deleted"] + 1
    )
    assert before.ask(QUESTION, limit=9).ids == retriever.index.ask(QUESTION, limit=9).ids
    assert embeddings.documents[embedded:] == ["Ferries sail."]
    before = retriever.index
    retriever.add_documents(documents[:3])
    assert retriever.index is before


PIECES = [
    *of("label", "Ferries sail at nine.", "Corfu is green.", "Boats wait in the harbour."),
    *of("text", "Anna waits. Ben is late.", "Ben is late. The boat left."),
]
"""Under `label` texts that differ at one place; under `text` two pieces of one text."""


@pytest.mark.parametrize("batch_size", [1, 2, 3])
@pytest.mark.parametrize("is_saved", [False, True])
def test_in_batches_a_source_is_a_label_as_it_is_at_once(
    batch_size, is_saved, embeddings, tmp_path
):
    starts = (0, 0, 900, 0, 12)
    for i, (piece, start) in enumerate(zip(PIECES, starts, strict=True)):
        piece.id, piece.metadata = f"{i}", {**piece.metadata, "start_index": start}
    retriever, records = over_nothing(embeddings), InMemoryRecordManager("pieces")
    records.create_schema()
    for rows in (slice(0, 2), slice(2, 5)):
        if is_saved and rows.start:
            retriever.index.save(tmp_path)
            loaded = clew.Index.load(tmp_path, embedder=embeddings)
            retriever = ClewRetriever(index=loaded)
        index(PIECES[rows], records, retriever, batch_size=batch_size, key_encoder="sha256")
    at_once = clew.Index.from_documents(PIECES, embedder=embeddings)

    def places(index):
        return {one.text: (one.source, one.span) for one in index.documents}

    assert places(retriever.index) == places(at_once)
    assert {source for source, _ in places(at_once).values()} == {None, "text"}


def test_many_documents_are_embedded_in_batches_and_change_the_index_once(embeddings, monkeypatch):
    sizes, changes = [], []
    embed, change = embeddings.embed_documents, clew.Index.upsert
    monkeypatch.setattr(
        embeddings, "embed_documents", lambda t: (sizes.append(len(t)), embed(t))[1]
    )
    monkeypatch.setattr(
        clew.Index, "upsert", lambda *a, **how: (changes.append(1), change(*a, **how))[1]
    )
    retriever = ClewRetriever.from_documents([Document("Ferries sail.", id="f")], embeddings)
    retriever.add_documents([Document(f"Ferry {i} sails.", id=f"{i}") for i in range(2000)])
    assert len(changes) == 1
    assert sum(sizes) == 2001
    assert max(sizes) <= 256
    assert len(sizes) <= 10


def test_a_document_of_a_known_id_takes_its_place_and_one_without_text_fails(embeddings):
    retriever = over_nothing(embeddings)
    retriever.add_documents(of("a", "Nine.", "White."), ids=["times", "colour"])
    response = retriever.upsert([Document("Ten.", id="times"), Document(" ", id="blank")])
    assert response == {"succeeded": ["times"], "failed": ["blank"]}
    assert texts_of(retriever) == ["Ten.", "White."]
    (there,) = retriever.get_by_ids(["colour", "nowhere"])
    assert there == Document("White.", id="colour", metadata={"source": "a"})
    there.metadata["source"] = "spoilt"
    assert retriever.get(["colour"])[0].metadata == {"source": "a"}
    assert retriever.delete(["times", "colour"])["succeeded"] == ["times", "colour"]
    assert retriever.invoke(QUESTION) == []
    assert "no documents" in retriever.context(QUESTION).nothing_found
    with pytest.raises(ValueError, match="say what to delete"):
        retriever.delete()


class Letter(Document):
    language: str = "en"


def test_a_document_of_the_callers_own_class_is_given_back_as_one(embeddings):
    retriever = over_nothing(embeddings)
    letter = Letter(page_content="Ten.", id="times", language="de", metadata={"n": [1]})
    retriever.add_documents([letter])
    (there,) = retriever.get_by_ids(["times"])
    assert there == letter
    assert type(there) is Letter
    there.metadata["n"].append(2)
    assert letter.metadata == {"n": [1]}


def test_facts_come_with_documents_and_other_names_are_refused(documents, facts, embeddings):
    retriever = over_nothing(embeddings)
    retriever.add_documents(documents, facts=facts)
    at_once = clew.Index.from_documents(documents, embedder=embeddings, facts=facts)
    assert retriever.index.graph.facts.texts == at_once.graph.facts.texts
    with pytest.raises(TypeError, match="not with fact"):
        retriever.add_documents(documents, fact=facts)
    with pytest.raises(TypeError, match="by ids, not by where"):
        retriever.delete(["minos"], where={})


async def test_over_a_vector_store_changes_go_to_the_store(embeddings):
    store = InMemoryVectorStore(embeddings)
    retriever = ClewRetriever.from_vectorstore(store)
    assert retriever.add_documents(of("a", "One.", "Two."), ids=["1", "2"]) == ["1", "2"]
    assert await retriever.aadd_documents([Document("Three.", id="3")]) == ["3"]
    assert set(store.store) == {"1", "2", "3"}
    assert [d.page_content for d in await retriever.aget_by_ids(["2"])] == ["Two."]
    assert retriever.get(["2"]) == store.get_by_ids(["2"])
    retriever.delete(["1"])
    await retriever.adelete(["2"])
    assert set(store.store) == {"3"}


@pytest.mark.parametrize(
    "again",
    [
        copy.copy,
        copy.deepcopy,
        lambda one: one.model_copy(),
        lambda one: pickle.loads(pickle.dumps(one)),
    ],
)
def test_a_copy_keeps_its_own_documents(again, documents):
    retriever = ClewRetriever.from_documents(documents, DeterministicFakeEmbedding(size=16))
    other = again(retriever)
    retriever.delete(["minos"])
    other.add_documents([Document("Ferries sail.", id="new")])
    assert (len(retriever.index), len(other.index)) == (len(documents) - 1, len(documents) + 1)


def test_a_deep_copy_is_equal(documents, embeddings):
    retriever = ClewRetriever.from_documents(documents, embeddings)
    assert copy.deepcopy(retriever) == retriever


class Meanwhile:
    """Does something while it is copied or pickled, as another thread may."""

    do = None

    def __reduce__(self):
        if self.do is not None:
            self.do()
        return Meanwhile, ()


def test_a_deep_copy_is_of_one_moment(documents, embeddings):
    """What is shared is one index, whichever thread changes the retriever meanwhile."""
    meanwhile = Meanwhile()
    retriever = ClewRetriever.from_documents(
        documents, embeddings, metadata={"meanwhile": meanwhile}
    )
    before = retriever.index
    meanwhile.do = lambda: retriever.add_documents([Document("Ferries sail.", id="new")])
    copied = copy.deepcopy(retriever)
    assert copied.index is before is not retriever.index


class Slow:
    """Embeds as another does, but waits with documents until it may go on."""

    def __init__(self, inner):
        self.inner, self.began, self.may_go = inner, threading.Event(), threading.Event()
        self.waits = False

    def embed_documents(self, texts):
        if self.waits:
            self.began.set()
            assert self.may_go.wait(timeout=20)
        return self.inner.embed_documents(texts)

    def embed_query(self, text):
        return self.inner.embed_query(text)


async def test_questions_asked_during_a_change_see_the_documents_before_it(documents, embeddings):
    slow = Slow(embeddings)
    retriever = ClewRetriever.from_documents(documents, slow)
    before = texts_of(retriever)
    slow.waits = True
    adding = asyncio.create_task(retriever.aadd_documents([Document("Ferries sail.", id="f")]))
    deleting = asyncio.create_task(retriever.adelete(["minos"]))
    assert await asyncio.to_thread(slow.began.wait, 20)
    during = await asyncio.to_thread(texts_of, retriever)
    assert during in (before, [text for text in before if not text.startswith("King")])
    slow.may_go.set()
    await asyncio.gather(adding, deleting)
    after = {*before, "Ferries sail."} - {text for text in before if text.startswith("King")}
    assert set(texts_of(retriever)) == after


def test_changes_from_many_threads_are_all_kept(embeddings):
    retriever = over_nothing(embeddings)
    threads = [
        threading.Thread(
            target=retriever.add_documents, args=([Document(f"Ferry {i}.", id=f"{i}")],)
        )
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts_of(retriever) == [f"Ferry {i}." for i in range(8)]


def test_nothing_warns_of_a_beta():
    program = (
        "import warnings; warnings.simplefilter('error')\n"
        "from langchain_clew import ClewRetriever\n"
        "from langchain_core.documents import Document\n"
        "retriever = ClewRetriever.from_documents([])\n"
        "retriever.add_documents([Document('Ferries sail.', id='a')])\n"
        "retriever.invoke('ferries'); retriever.delete(['a'])"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
