"""Any vector store makes a context, whatever it means by a score, and nothing is embedded that it holds already."""

from __future__ import annotations

import copy

import pytest
from langchain_clew import ClewRetriever
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore


def ids(documents):
    return [document.id for document in documents]


class Plain(VectorStore):
    """Finds, and gives no scores: what the base class asks of a store."""

    def __init__(self, inner):
        self.inner = inner

    @property
    def embeddings(self):
        return self.inner.embeddings

    @classmethod
    def from_texts(cls, texts, embedding, metadatas=None, **kwargs):
        return cls(InMemoryVectorStore.from_texts(texts, embedding, metadatas, **kwargs))

    def similarity_search(self, query, k=4, **kwargs):
        return self.inner.similarity_search(query, k, **kwargs)


class Similarities(Plain):
    """Means a cosine by a score."""

    def similarity_search_with_score(self, query, k=4, **kwargs):
        return self.inner.similarity_search_with_score(query, k, **kwargs)


class Distances(Similarities):
    """Means a distance by a score, as the default of several stores."""

    def similarity_search_with_score(self, query, k=4, **kwargs):
        scored = super().similarity_search_with_score(query, k, **kwargs)
        return [(document, 1 - score) for document, score in scored]


class Halves(Similarities):
    """Means (cosine + 1) / 2 by a score, as some do by a relevance."""

    def similarity_search_with_score(self, query, k=4, **kwargs):
        scored = super().similarity_search_with_score(query, k, **kwargs)
        return [(document, (1 + score) / 2) for document, score in scored]


SCORED = ("similarity_search_with_score",)
STORES = {
    InMemoryVectorStore: ("similarity_search_by_vector", "cosine of the store's vectors"),
    Similarities: (*SCORED, "similarity"),
    Distances: (*SCORED, "distance"),
    Halves: (*SCORED, "similarity"),
    Plain: ("similarity_search", "rank: the store gives no scores"),
}


@pytest.mark.parametrize("kind", STORES)
async def test_the_store_s_order_is_kept_whatever_it_means_by_a_score_and_the_trace_says_what_was_understood(
    kind, documents, embeddings, question
):
    store = kind.from_texts(
        [d.page_content for d in documents],
        embeddings,
        [d.metadata for d in documents],
        ids=[d.id for d in documents],
    )
    how = {"recipe": "dense", "budget": None, "hops": 0}
    retriever = ClewRetriever.from_vectorstore(store, candidates=6, **how)

    assert ids(retriever.invoke(question)) == ids(store.similarity_search(question, k=6))
    assert ids(await retriever.ainvoke(question)) == ids(store.similarity_search(question, k=6))
    assert ids(retriever.invoke(question, k=2)) == ids(store.similarity_search(question, k=2))
    notes = retriever.context(question).trace[0].notes
    assert (notes["store"], notes["search"], notes["scores"]) == (kind.__name__, *STORES[kind])
    assert (notes["candidates"], notes["repeated"], notes["blank"]) == (6, 0, 0)


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("recipe", ["hipporag", "mmr", "budgeted"])
def test_no_document_is_embedded_whether_or_not_the_store_gives_its_vectors(
    kind, recipe, documents, embeddings, question
):
    texts, names = [d.page_content for d in documents], [d.id for d in documents]
    store = kind.from_texts(texts, embeddings, ids=names)
    embeddings.documents.clear()
    assert ClewRetriever.from_vectorstore(store, recipe=recipe).invoke(question)
    assert embeddings.documents == []


def test_what_a_relevance_says_is_not_asked_and_no_document_is_printed(
    documents, embeddings, question, recwarn
):
    class Relevances(Distances):
        def _select_relevance_score_fn(self):
            return lambda distance: 1 - 9 * distance  # below zero, as FAISS and Chroma have it

    store = Relevances.from_texts([d.page_content for d in documents], embeddings)
    assert ClewRetriever.from_vectorstore(store).invoke(question)
    assert not [warning for warning in recwarn if "elevance score" in str(warning.message)]


def test_edges_and_what_is_dropped_are_made_when_they_are_asked_for(
    documents, embeddings, question
):
    store = InMemoryVectorStore(embeddings)
    store.add_documents(documents)
    context = ClewRetriever.from_vectorstore(store).context(question)
    assert not {"edges", "dropped"} & vars(context).keys()
    read = {item.id for item in context}
    assert all(read & {edge.tail, edge.head} for edge in context.edges)
    assert not read & {dropped.id for dropped in context.dropped}


def test_the_vectors_of_one_embedder_are_not_taken_for_those_of_another(
    documents, embeddings, question
):
    other = type(embeddings)()
    retriever = ClewRetriever.from_vectorstore(
        InMemoryVectorStore.from_documents(documents, embeddings), 10, embeddings=other
    )
    retriever.invoke(question, recipe="mmr")
    assert len(set(other.documents)) == len(other.documents) == 10
    assert set(other.questions) == {question}


def test_a_filter_and_the_search_arguments_go_to_the_store_as_they_are(
    documents, embeddings, question
):
    store = InMemoryVectorStore.from_documents(documents, embeddings)

    def named(document):
        return document.id in ("naxos", "icarus", "theseus")

    assert set(ids(ClewRetriever.from_vectorstore(store, filter=named).invoke(question))) == {
        "naxos",
        "icarus",
        "theseus",
    }
    always = ClewRetriever.from_vectorstore(store, search_kwargs={"filter": named})
    assert set(ids(always.invoke(question))) == {"naxos", "icarus", "theseus"}
    assert ids(always.invoke(question, filter=lambda document: document.id == "minos")) == ["minos"]


async def test_a_store_that_finds_nothing_gives_no_documents(embeddings, question):
    retriever = ClewRetriever.from_vectorstore(InMemoryVectorStore(embeddings))
    assert retriever.invoke(question) == await retriever.ainvoke(question) == []
    context = retriever.context(question)
    assert (context.text, context.tokens, context.budget, context.question) == (
        "",
        0,
        2000,
        question,
    )


def test_nothing_done_to_what_came_out_reaches_the_store(documents, embeddings, question):
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    before = copy.deepcopy(store.store)
    for document in ClewRetriever.from_vectorstore(store).invoke(question):
        document.metadata["place"]["island"] = "spoilt"
        document.metadata["tags"].clear()
    assert store.store == before
    assert all("clew_rank" not in document.metadata for document in documents)


def test_facts_of_documents_that_were_not_found_are_left_aside(
    documents, embeddings, facts, question
):
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    retriever = ClewRetriever.from_vectorstore(
        store, 3, facts={id: iter(said) for id, said in facts.items()}, recipe="hipporag"
    )
    assert retriever.invoke(question, k=3) == retriever.invoke(question, k=3)
    assert retriever.context(question).trace[1].notes["facts"] > 0


def test_facts_that_no_document_can_have_are_named(documents, embeddings, facts, question):
    class Nameless(Plain):
        def similarity_search(self, query, k=4, **kwargs):
            found = self.inner.similarity_search(query, k, **kwargs)
            return [Document(one.page_content) for one in found]

    store = InMemoryVectorStore.from_documents(documents, embeddings)
    nameless = ClewRetriever.from_vectorstore(Nameless(store), facts=facts)
    with pytest.warns(UserWarning, match="what was found has no ids"):
        context = nameless.context(question)
    others = ClewRetriever.from_vectorstore(store, facts={"x": facts["minos"]}).context(question)
    for found in (context, others):
        assert found.trace[0].notes["facts"].startswith("none")
    same = ClewRetriever.from_vectorstore(store, facts=facts).context(question)
    assert "facts" not in same.trace[0].notes


def test_the_tracing_names_are_the_store_s(documents, embeddings):
    retriever = ClewRetriever.from_vectorstore(
        InMemoryVectorStore.from_documents(documents, embeddings)
    )
    said = retriever._get_ls_params()
    assert said == {
        "ls_retriever_name": "clew",
        "ls_vector_store_provider": "InMemoryVectorStore",
        "ls_embedding_provider": "Counting",
        "ls_embedding_model": "Counting",
    }


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"candidates": 0}, "candidates is a whole number of at least 1; got 0"),
        ({"embeddings": 3}, "cannot embed with a int"),
    ],
)
def test_a_wrong_value_is_refused_when_the_retriever_is_made(embeddings, how, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ClewRetriever.from_vectorstore(InMemoryVectorStore(embeddings), **how)


@pytest.mark.parametrize("asked", [" ", None, 5, {"question": "Who?"}, "Who? " * 30_000])
async def test_what_is_no_question_is_refused_before_the_store_is_asked(
    documents, embeddings, asked
):
    store = InMemoryVectorStore(embeddings)
    store.add_documents(documents)
    retriever = ClewRetriever.from_vectorstore(store)
    with pytest.raises(ValueError, match=r"a question (is a text|has at most)"):
        retriever.invoke(asked)
    with pytest.raises(ValueError, match=r"a question (is a text|has at most)"):
        await retriever.ainvoke(asked)
    assert not embeddings.questions


def test_documents_with_one_text_and_no_id_count_once():
    class Fixed(Plain):
        embeddings = None

        def similarity_search(self, query, k=4, **kwargs):
            return [
                Document(text, metadata={"row": n})
                for n, text in enumerate(["thread", "thread", " ", "wax"])
            ]

    retriever = ClewRetriever.from_vectorstore(Fixed(None), recipe="dense")
    assert [(d.id, d.page_content, d.metadata["row"]) for d in retriever.invoke("thread")] == [
        (None, "thread", 0),
        (None, "wax", 3),
    ]
    notes = retriever.context("thread").trace[0].notes
    assert (notes["candidates"], notes["repeated"], notes["blank"]) == (2, 1, 1)


def test_a_store_that_finds_nothing_leaves_a_context_that_says_so(embeddings):
    context = ClewRetriever.from_vectorstore(InMemoryVectorStore(embeddings)).context("Who?")
    assert context.items == ()
    assert context.nothing_found == "the search found nothing to read"
