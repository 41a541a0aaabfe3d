"""`search_type` and `search_kwargs` mean what they mean in `as_retriever`, or are refused."""

from __future__ import annotations

import copy
import math
import warnings

import numpy as np
import pytest
from langchain_clew import ClewRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import ConfigurableField
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance


class Judging(InMemoryVectorStore):
    """A store that says what its scores mean: its cosines are relevances."""

    def _select_relevance_score_fn(self):
        return lambda score: score


@pytest.fixture
def asked_for(monkeypatch):
    """What stores in memory were asked for: a derived class would be asked in another way."""
    asked, search = [], InMemoryVectorStore.similarity_search_by_vector

    def recording(self, embedding, k=4, **kwargs):
        asked.append((k, kwargs))
        return search(self, embedding, k)

    monkeypatch.setattr(InMemoryVectorStore, "similarity_search_by_vector", recording)
    return asked


def ids(documents):
    return [document.id for document in documents]


@pytest.fixture(params=["index", "documents", "store"])
def make(request, index, documents, embeddings):
    """A function from keywords to a retriever, over an index and over a store."""
    if request.param == "documents":
        return lambda **how: ClewRetriever.from_documents(documents, embeddings, **how)
    if request.param == "index":
        return lambda **how: ClewRetriever(index=index, **how)
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    return lambda **how: ClewRetriever.from_vectorstore(store, **how)


@pytest.mark.parametrize("search_type", ["similarity", "mmr"])
@pytest.mark.parametrize("k", [1, 4])
def test_it_finds_what_the_stores_own_retriever_finds(
    make, documents, embeddings, question, search_type, k
):
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    how = {"k": k, **({"fetch_k": 6, "lambda_mult": 1.0} if search_type == "mmr" else {})}
    theirs = store.as_retriever(search_type=search_type, search_kwargs=how).invoke(question)
    retriever = make(search_type=search_type, search_kwargs=how, budget=None)
    assert ids(retriever.invoke(question)) == ids(theirs)
    assert len(retriever.invoke(question, k=2)) == 2, "a question's own k goes before"


def test_mmr_looks_for_difference_as_much_as_it_is_told(make, question):
    how = {"search_type": "mmr", "budget": None}
    alike = make(**how, search_kwargs={"k": 4, "lambda_mult": 1.0}).invoke(question)
    unlike = make(**how, search_kwargs={"k": 4, "lambda_mult": 0.0}).invoke(question)
    assert set(ids(alike)) != set(ids(unlike))
    few = make(**how, search_kwargs={"k": 4, "lambda_mult": 0.0, "fetch_k": 4})
    assert set(ids(few.invoke(question))) == set(ids(alike)), "there are no others to choose from"


MANY = [Document(f"Ferry {i} sails from quay {i % 7}.", id=f"{i}") for i in range(130)]


@pytest.fixture
def many():
    """A store of many documents, half of them further from a question than at right angles."""
    return InMemoryVectorStore.from_documents(MANY, DeterministicFakeEmbedding(size=16))


@pytest.mark.parametrize("k", [3, 51, 120])
async def test_as_many_are_found_as_the_stores_own_retriever_finds(many, k):
    theirs = ids(many.as_retriever(search_kwargs={"k": k}).invoke("Which ferry?"))
    retriever = ClewRetriever.from_vectorstore(
        many, budget=None, search_type="similarity", search_kwargs={"k": k}
    )
    assert ids(retriever.invoke("Which ferry?")) == theirs
    assert ids(await retriever.ainvoke("Which ferry?", k=k - 1)) == theirs[:-1]
    assert len(ClewRetriever.from_vectorstore(many, budget=None).invoke("Ferry?", k=k)) == k
    assert len(ClewRetriever.from_vectorstore(many, k, budget=None).invoke("Ferry?", k=130)) < 130


class Alike(DeterministicFakeEmbedding):
    """Two texts that differ in their last character alone are near duplicates."""

    def embed_query(self, text):
        start = super().embed_query(text[:-1])
        return [a + 0.05 * b for a, b in zip(start, super().embed_query(text), strict=True)]

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


class WithoutVectors(InMemoryVectorStore):
    """A store that is asked by text alone, since it may find what it likes."""

    def similarity_search(self, query, k=4, **kwargs):
        return super().similarity_search(query, k, **kwargs)


@pytest.mark.parametrize("kind", [InMemoryVectorStore, WithoutVectors])
@pytest.mark.parametrize("lambda_mult", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize(("k", "fetch_k"), [(4, 20), (9, 60), (40, 130), (30, 12)])
async def test_mmr_chooses_by_the_stores_vectors_as_its_definition_says(
    kind, lambda_mult, k, fetch_k
):
    embeddings, question = Alike(size=16), "Which ferry?"
    copies = [Document(f"{one.page_content[:-1]}!", id=f"{one.id}!") for one in MANY[::3]]
    store = kind.from_documents([*MANY, *copies], embeddings)
    asked = np.array(embeddings.embed_query(question))
    near = InMemoryVectorStore.similarity_search(store, question, k=fetch_k)
    vectors = [store.store[one.id]["vector"] for one in near]
    places = maximal_marginal_relevance(asked, vectors, lambda_mult, k)
    how = {"k": k, "fetch_k": fetch_k, "lambda_mult": lambda_mult}
    retriever = ClewRetriever.from_vectorstore(
        store, budget=None, search_type="mmr", search_kwargs=how
    )
    wanted = [near[place].page_content for place in places]
    found = retriever.invoke(question)
    assert [one.page_content for one in found] == wanted
    assert ids(await retriever.ainvoke(question)) == ids(found)
    few = {"lambda_mult": lambda_mult}
    own = store.as_retriever(search_type="mmr", search_kwargs={"k": 5, **few}).invoke(question)
    by_default = ClewRetriever.from_vectorstore(store, search_type="mmr", search_kwargs=few, k=5)
    assert {one.page_content for one in by_default.invoke(question)} == {
        one.page_content for one in own
    }


def test_mmr_over_an_index_means_the_same(documents, embeddings, question):
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    retriever = ClewRetriever.from_documents(documents, embeddings, budget=None)
    for lambda_mult in (0.2, 0.5, 0.8):
        how = {"search_type": "mmr", "search_kwargs": {"k": 4, "lambda_mult": lambda_mult}}
        theirs = store.as_retriever(**how).invoke(question)
        found = ClewRetriever(index=retriever.index, **how).invoke(question)
        assert set(ids(found)) == set(ids(theirs))


def test_mmr_over_a_store_that_has_no_such_method_is_clews_own(documents, embeddings, question):
    class Nearest(VectorStore):
        def similarity_search(self, query, k=4, **kwargs):
            return inner.similarity_search(query, k, **kwargs)

        @classmethod
        def from_texts(cls, *_, **__):
            raise NotImplementedError

    inner = InMemoryVectorStore.from_documents(documents, embeddings)
    how = {"search_type": "mmr", "search_kwargs": {"k": 3, "fetch_k": 6, "lambda_mult": 0.2}}
    found = ids(ClewRetriever.from_vectorstore(Nearest(), **how).invoke(question))
    assert len(found) == 3
    assert set(found) <= set(ids(inner.similarity_search(question, 6)))
    other = ClewRetriever.from_vectorstore(Nearest(), **how, embeddings=embeddings)
    assert set(ids(other.invoke(question))) == set(
        ids(inner.as_retriever(**how).invoke(question))
    ), "by the same vectors the same are chosen"


def test_a_search_type_of_the_stores_own_makes_one_search_unless_more_are_asked_for(embeddings):
    store, _ = threads(embeddings, lambda cosine: cosine)

    def further(**how):
        notes = ClewRetriever.from_vectorstore(store, 2, **how).context(ASKED).trace[0].notes
        return notes.get("further", ())

    for search_type in ("similarity", "mmr"):
        assert further(search_type=search_type) == ()
        assert further(search_type=search_type, hops=1)
    assert further()
    assert further(recipe="dense")
    later = ClewRetriever.from_vectorstore(store, 2)
    later.search_type = "similarity"  # a field, which may change
    assert "further" not in later.context(ASKED).trace[0].notes


async def test_a_threshold_is_by_the_stores_own_relevance(documents, embeddings, question):
    store = Judging.from_documents(documents, embeddings)
    scored = store.similarity_search_with_relevance_scores(question, k=50)
    threshold = sorted(score for _, score in scored)[-3]
    how = {"score_threshold": threshold}
    search = {"search_type": "similarity_score_threshold", "search_kwargs": how}
    theirs = ids(store.as_retriever(**search).invoke(question))
    assert len(theirs) == 3
    retriever = ClewRetriever.from_vectorstore(store, **search)
    assert ids(retriever.invoke(question)) == ids(await retriever.ainvoke(question)) == theirs
    connected = ClewRetriever.from_vectorstore(store, **search, recipe="hipporag")
    assert set(ids(connected.invoke(question))) <= set(theirs)
    of_numpy = {**search, "search_kwargs": {"score_threshold": np.float32(threshold - 1e-6)}}
    assert ids(ClewRetriever.from_vectorstore(store, **of_numpy).invoke(question)) == theirs
    none = {**search, "search_kwargs": {"score_threshold": 1.0}}
    assert ClewRetriever.from_vectorstore(store, **none).invoke(question) == []


class Checking(InMemoryVectorStore):
    """A store whose own methods say how relevant a document is."""

    def similarity_search_with_relevance_scores(self, query, k=4, **kwargs):
        return [(document, 0.5) for document in self.similarity_search(query, k)]

    async def asimilarity_search_with_relevance_scores(self, query, k=4, **kwargs):
        return self.similarity_search_with_relevance_scores(query, k)


async def test_a_relevance_outside_of_0_to_1_prints_no_documents(documents, embeddings, question):
    """As FAISS has it, whose relevance of a distance is below 0 for much of what it finds."""

    class Far(InMemoryVectorStore):
        def _select_relevance_score_fn(self):
            return lambda cosine: 6 * cosine - 2

    store = Far.from_documents(documents, embeddings)
    with pytest.warns(UserWarning, match="must be between 0 and 1"):
        scored = store.similarity_search_with_relevance_scores(question, k=50)
    relevances = [score for _, score in scored]
    assert min(relevances) < 0 < 1 < max(relevances)
    search = {"score_threshold": 0.2}
    retriever = ClewRetriever.from_vectorstore(
        store, search_type="similarity_score_threshold", search_kwargs=search
    )
    wanted = [document.id for document, score in scored if score >= 0.2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = retriever.invoke(question)
        assert ids(found) == ids(await retriever.ainvoke(question))
        assert ids(found)[0] == wanted[0]  # behind it, links among them decide, too
        assert sorted(ids(found)) == sorted(wanted)


async def test_a_relevance_by_a_method_of_the_store_s_own_is_taken(documents, embeddings, question):
    store = Checking.from_documents(documents, embeddings)
    for threshold, n_found in ((0.4, len(documents)), (0.6, 0)):
        retriever = ClewRetriever.from_vectorstore(
            store,
            search_type="similarity_score_threshold",
            search_kwargs={"score_threshold": threshold},
            budget=None,
        )
        found = retriever.invoke(question)
        assert len(found) == len(await retriever.ainvoke(question)) == n_found


MEANINGS = {
    "the cosine": lambda cosine: cosine,
    "half of one more": lambda cosine: (1 + cosine) / 2,
    "a distance": lambda cosine: 1 - math.sqrt(max(0, 2 - 2 * cosine)) / math.sqrt(2),
}
ASKED = "Where does the husband of Anna Berg live?"
THREAD = {
    "anna": "Anna Berg\nShe married the painter Ben Okri in 1990.",
    "ben": "Ben Okri\nHe moved to Corfu with all his brushes.",
    **{f"anna {n}": f"Anna {n}\nWhere does her husband live? Ask Kai {n}." for n in ("Alm", "Ek")},
    "far": "Where does it rain?",
}


def threads(embeddings, meaning):
    """A store of a thread, and how relevant each document of it is to the question."""

    class Meaning(InMemoryVectorStore):
        def _select_relevance_score_fn(self):
            return meaning

    store = Meaning.from_texts(list(THREAD.values()), embeddings, ids=list(THREAD))
    scored = store.similarity_search_with_relevance_scores(ASKED, k=9)
    return store, {document.id: score for document, score in scored}


@pytest.mark.parametrize("meaning", MEANINGS.values(), ids=MEANINGS)
@pytest.mark.parametrize("how", [{"hops": 1}, {"hops": 0, "edges": [("page_content", "url")]}])
async def test_what_a_further_search_finds_reaches_the_threshold_by_its_relevance_to_the_question(
    meaning, how, embeddings
):
    store, relevance = threads(embeddings, meaning)
    if "edges" in how:
        store.store["anna"]["text"] += " [He](https://ben.org/)"
        store.store["ben"]["metadata"]["url"] = "https://ben.org/"
    assert min(relevance, key=relevance.get) == "ben", "the question alone finds it last"
    how = {**how, "recipe": "hipporag", "search_type": "similarity_score_threshold"}
    for threshold, is_found in ((0.99, True), (1.01, False)):
        search = {"score_threshold": relevance["ben"] * threshold}
        retriever = ClewRetriever.from_vectorstore(
            store, len(THREAD) - 1, search_kwargs=search, budget=None, **how
        )
        found = retriever.context(ASKED)
        assert ("ben" in found.ids) == is_found
        assert ("ben" in ids(await retriever.ainvoke(ASKED))) == is_found
        (step,) = found.trace[0].notes["further"]
        assert step["found"] == is_found


def test_where_the_vectors_do_not_show_a_relevance_there_is_no_further_search(embeddings):
    store, relevance = threads(embeddings, lambda cosine: math.floor(7 * max(0, cosine)) / 7)
    search = {"score_threshold": min(relevance.values())}
    retriever = ClewRetriever.from_vectorstore(
        store, 4, search, search_type="similarity_score_threshold"
    )
    context = retriever.context(ASKED)
    assert "ben" not in context.ids
    assert "do not show what reaches" in context.trace[0].notes["further"]


def test_a_store_without_relevance_says_what_to_give_instead(documents, embeddings, question):
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    search = {
        "search_type": "similarity_score_threshold",
        "search_kwargs": {"score_threshold": 0.5},
    }
    with pytest.raises(NotImplementedError, match="give min_relevance="):
        ClewRetriever.from_vectorstore(store, **search).invoke(question)


def test_k_is_how_many_come_back_and_not_how_many_are_searched(
    documents, embeddings, question, asked_for
):
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    retriever = ClewRetriever.from_vectorstore(store, search_kwargs={"k": 3, "namespace": "myths"})
    assert len(retriever.invoke(question)) == 3
    assert asked_for[0] == (50, {"namespace": "myths"})


def test_a_filter_is_the_retrievers_own(make, question):
    def first(document):
        metadata = getattr(document, "metadata", document)
        return metadata["length"] < 75

    retriever = make(search_kwargs={"filter": first})
    assert retriever.search_kwargs["filter"] is first
    assert {d.metadata["length"] < 75 for d in retriever.invoke(question)} == {True}


def test_search_words_are_fields_that_no_copy_loses(make, question):
    how = {"k": 2, "lambda_mult": 0.0, "fetch_k": 5}
    retriever = make(search_type="mmr", search_kwargs=how, budget=None)
    found = ids(retriever.invoke(question))
    assert (retriever.search_type, retriever.search_kwargs) == ("mmr", how)
    for same in (
        retriever.model_copy(),
        copy.deepcopy(retriever),
        type(retriever)(**retriever.__dict__),
        retriever.with_config(tags=["myth"]),
        retriever.bind(explain=False),
    ):
        assert ids(same.invoke(question)) == found
    assert len(retriever.bind(k=3).invoke(question)) == 3
    assert len(retriever.invoke(question, recipe="dense")) == 2
    assert len(retriever.model_copy(update={"search_kwargs": {"k": 1}}).invoke(question)) == 1
    chosen = retriever.configurable_fields(search_kwargs=ConfigurableField(id="search"))
    assert len(chosen.invoke(question, {"configurable": {"search": {"k": 4}}})) == 4
    assert ids(chosen.invoke(question)) == found
    retriever.search_kwargs["k"] = 3
    assert len(retriever.invoke(question)) == 3
    assert how["k"] == 2


def test_a_store_s_own_search_words_are_read_at_every_question(
    documents, embeddings, question, asked_for
):
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    retriever = ClewRetriever.from_vectorstore(store, 7, {"namespace": "myths"}, hops=0)
    retriever.model_copy().invoke(question, k=1)
    retriever.search_kwargs["namespace"] = "letters"
    retriever.invoke(question)
    assert asked_for == [(7, {"namespace": "myths"}), (7, {"namespace": "letters"})]


REFUSED = [
    ({"search_type": "bm25"}, "unknown search_type 'bm25'; known: similarity, mmr"),
    ({"search_kwargs": {"k": 3}, "k": 4}, "k came twice"),
    ({"search_kwargs": {"filter": {}}, "filter": {}}, "filter came twice"),
    ({"search_type": "mmr", "recipe": "dense"}, "search_type='mmr' is recipe='mmr'"),
    ({"search_kwargs": {"lambda_mult": 1}}, "lambda_mult is of search_type='mmr'"),
    ({"search_kwargs": {"score_threshold": 0.5}}, "min_relevance="),
    ({"search_type": "similarity_score_threshold"}, "needs a score_threshold from 0 to 1"),
    ({"search_type": "mmr", "search_kwargs": {"lambda_mult": 2}}, "lambda_mult is from 0"),
    ({"search_kwargs": {"k": 0}}, "k"),
]


@pytest.mark.parametrize(("how", "message"), REFUSED)
def test_what_contradicts_itself_is_refused(make, how, message):
    with pytest.raises(ValueError, match=message):
        make(**how)


def test_what_means_nothing_there_is_refused(index, documents, embeddings):
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    search = {
        "search_type": "similarity_score_threshold",
        "search_kwargs": {"score_threshold": 0.5},
    }
    with pytest.raises(ValueError, match="over an index give min_relevance="):
        ClewRetriever(index=index, **search)
    with pytest.raises(ValueError, match="search_kwargs of an index are k, filter"):
        ClewRetriever(index=index, search_kwargs={"namespace": "myths"})
    with pytest.raises(ValueError, match="fetch_k in search_kwargs and candidates are one"):
        ClewRetriever.from_vectorstore(store, 20, search_type="mmr", search_kwargs={"fetch_k": 20})
    with pytest.raises(TypeError, match="search_kwargs is a mapping"):
        ClewRetriever.from_vectorstore(store, search_kwargs=4)
