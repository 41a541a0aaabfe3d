"""Everything that may be asked for reaches the method that answers, however it is asked for."""

from __future__ import annotations

from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.vectorstores import InMemoryVectorStore

import clew
from clew.read import Piece


class Probe:
    """A recipe that keeps what it is asked, and answers as another does."""

    def __init__(self):
        self.asked = []

    def on(self, graph):
        inner = clew.recipes.get("fused").on(graph)

        def answer(query, budget):
            self.asked.append((budget, query.limit, query.deadline, query.model))
            return inner(query, budget)

        return answer


MODEL = object()


async def test_a_retriever_over_an_index_passes_on_all_its_fields(index, question):
    probe = Probe()
    retriever = ClewRetriever(index=index, recipe=probe, budget=300, k=3, deadline=9.0, model=MODEL)
    retriever.invoke(question)
    await retriever.ainvoke(question)
    ClewRetriever(index=index).invoke(
        question, recipe=probe, budget=300, k=3, deadline=9.0, model=MODEL
    )
    assert probe.asked == [(300, 3, 9.0, MODEL)] * 3


async def test_a_retriever_over_a_store_and_a_compressor_pass_on_all_their_fields(
    documents, embeddings, question
):
    probe, how = Probe(), {"budget": 300, "k": 3, "model": MODEL}
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    retriever = ClewRetriever.from_vectorstore(store, recipe=probe, **how)
    compressor = ClewCompressor(embeddings=embeddings, recipe=probe, **how)
    found = [
        retriever.invoke(question),
        await retriever.ainvoke(question),
        compressor.compress_documents(documents, question),
        await compressor.acompress_documents(documents, question),
    ]
    assert [len(each) for each in found] == [3] * 4
    assert probe.asked == [(300, 3, None, MODEL)] * 4


async def test_a_deadline_over_a_store_reaches_the_method(documents, embeddings, question):
    probe = Probe()
    retriever = ClewRetriever.from_vectorstore(
        InMemoryVectorStore.from_documents(documents, embeddings), recipe=probe
    )
    retriever.invoke(question, deadline=9.0)
    await retriever.ainvoke(question, deadline=8.0)
    assert [deadline for _, _, deadline, _ in probe.asked] == [9.0, 8.0]


def test_a_splitter_cuts_the_documents_and_a_piece_says_which_it_is_of(
    documents, embeddings, question
):
    def halves(document):
        middle = document.text.index(" ", len(document.text) // 2)
        ends = [(0, middle), (middle + 1, len(document.text))]
        return [Piece("passage", document.text[start:end], start, end) for start, end in ends]

    retriever = ClewRetriever.from_documents(documents, embeddings, splitter=halves)
    texts = {document.id: document.page_content for document in documents}
    for found in retriever.invoke(question, k=5):
        name, _, place = found.id.partition("#")
        start, end = map(int, place.split("-"))
        assert found.page_content == texts[name][start:end]
        assert found.metadata["length"] == len(texts[name])


def test_an_extractor_reads_facts_out_of_the_texts(documents, embeddings):
    retriever = ClewRetriever.from_documents(
        documents, embeddings, extractor=clew.Names(), recipe="hipporag"
    )
    assert retriever.context("Who killed the Minotaur?").trace[0].notes["facts"] > 0
