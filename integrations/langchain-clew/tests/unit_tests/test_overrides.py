"""A store whose class, or which itself, overrides a search gives no document that its own retriever would not."""

from __future__ import annotations

import asyncio
import inspect

import pytest
from langchain_clew import ClewRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

ASKED = "Whom did Anna Berg meet?"
DOCUMENTS = [
    Document(
        f"Anna Berg {i}\nAnna Berg met Ben Okri {i} in Corfu.",
        id=f"{i}",
        metadata={"acl": "all" if i % 3 else "boss", "see": str(i + 1), "url": str(i)},
    )
    for i in range(30)
]
SEARCHES = {
    "similarity": ("similarity_search", "similarity_search_with_score"),
    "mmr": ("max_marginal_relevance_search", "max_marginal_relevance_search_by_vector"),
    "similarity_score_threshold": (
        "similarity_search_with_relevance_scores",
        "_similarity_search_with_relevance_scores",
        "similarity_search_with_score",
    ),
}
OTHERS = {"mmr": {"fetch_k": 30}, "similarity_score_threshold": {"score_threshold": 0.0}}


def allowed(found):
    """What everybody may read, of documents or of pairs of one and its score."""
    documents = ((one[0] if isinstance(one, tuple) else one, one) for one in found)
    return [one for document, one in documents if document.metadata["acl"] == "all"]


def guarded(kind, *names):
    """A class in which these searches leave out what not everybody may read."""

    def guard(search):
        def found(self, *what, **how):
            return allowed(search(self, *what, **how))

        async def afound(self, *what, **how):
            return allowed(await search(self, *what, **how))

        return afound if inspect.iscoroutinefunction(search) else found

    return type("Guarded", (kind,), {name: guard(getattr(kind, name)) for name in names})


class Judging(InMemoryVectorStore):
    """The store in memory; it says how relevant a document is."""

    def _select_relevance_score_fn(self):
        return lambda cosine: (1 + cosine) / 2


class Unknown(VectorStore):
    """A store of a class of which nothing is known."""

    def __init__(self, embedding):
        self.inner = InMemoryVectorStore(embedding)

    def add_documents(self, documents):
        return self.inner.add_documents(documents)

    @classmethod
    def from_texts(cls, *_, **__):
        raise NotImplementedError

    def similarity_search_with_score(self, query, k=4, **kwargs):
        return self.inner.similarity_search_with_score(query, k, **kwargs)

    def similarity_search(self, query, k=4, **kwargs):
        return [one for one, _ in self.similarity_search_with_score(query, k, **kwargs)]


def filled(kind):
    store = kind(DeterministicFakeEmbedding(size=16))
    store.add_documents(DOCUMENTS)
    return store


def of_both(store, **how):
    """What clew finds and what the store's own retriever does, each as ids."""
    own = store.as_retriever(**how)
    retriever = ClewRetriever.from_vectorstore(store, budget=None, **how)
    calls = own.invoke(ASKED), retriever.invoke(ASKED)
    awaited = asyncio.run(own.ainvoke(ASKED)), asyncio.run(retriever.ainvoke(ASKED))
    return [[one.id for one in found] for found in (*calls, *awaited)]


def of_overrides(kind, search_type, name, is_async):
    """What clew finds beside the store's own retriever; see `of_both`."""
    awaited = f"_a{name[1:]}" if name[0] == "_" else f"a{name}"
    store = filled(guarded(kind, awaited if is_async else name))
    search = {"k": 30, **OTHERS.get(search_type, {})}
    return of_both(store, search_type=search_type, search_kwargs=search)


@pytest.mark.parametrize(
    ("search_type", "name"), [(t, n) for t, ns in SEARCHES.items() for n in ns]
)
@pytest.mark.parametrize("is_async", [False, True])
def test_no_override_of_a_search_is_bypassed(search_type, name, is_async):
    own, found, own_awaited, awaited = of_overrides(Judging, search_type, name, is_async)
    assert set(found) <= set(own)
    assert set(awaited) <= set(own_awaited)
    if search_type != "similarity_score_threshold":  # by which clew reads what is connected
        assert found == own


@pytest.mark.parametrize("is_async", [False, True])
def test_no_override_is_bypassed_in_a_class_of_which_nothing_is_known(is_async):
    own, found, own_awaited, awaited = of_overrides(
        Unknown, "similarity", "similarity_search", is_async
    )
    assert (found, awaited) == (own, own_awaited)
    assert len(awaited) == 20


def test_an_override_of_the_blocking_call_alone_holds_for_the_awaited_one():
    *_, own_awaited, awaited = of_overrides(Judging, "similarity", "similarity_search", False)
    assert len(own_awaited) == 30, "LangChain's own retriever goes past it"
    assert len(awaited) == 20


@pytest.mark.parametrize("kind", [InMemoryVectorStore, Unknown])
async def test_further_searches_find_no_more_than_is_allowed(kind):
    """Whether a class overrides the search, the object itself or a class between."""

    class Between(guarded(kind, "similarity_search")):
        def similarity_search_with_score(self, *what, **how):
            return super().similarity_search_with_score(*what, **how)

    itself = filled(kind)
    search = itself.similarity_search
    itself.similarity_search = lambda *what, **how: allowed(search(*what, **how))
    named_alike = type(kind.__name__, (guarded(kind, "similarity_search"),), {})
    for store in (filled(Between), itself, filled(named_alike)):
        retriever = ClewRetriever.from_vectorstore(store, 5, budget=None)
        for found in (retriever.invoke(ASKED, k=20), await retriever.ainvoke(ASKED, k=20)):
            assert found
            assert {one.metadata["acl"] for one in found} == {"all"}
        with pytest.raises(TypeError, match="filters is not known"):
            ClewRetriever.from_vectorstore(store, edges=[("see", "url")])


def test_a_store_that_embeds_questions_otherwise_is_asked_by_text():
    class Prefixed(InMemoryVectorStore):
        @property
        def embeddings(self):
            return DeterministicFakeEmbedding(size=8)  # of another size than the vectors

    own, found, *_ = of_both(filled(Prefixed), search_kwargs={"k": 7}, search_type="similarity")
    assert found == own


def test_a_class_that_only_has_more_keeps_its_vectors():
    class Named(InMemoryVectorStore):
        name = "archive"

        def search_by_name(self, name):
            return []

    notes = ClewRetriever.from_vectorstore(filled(Named)).context(ASKED).trace[0].notes
    assert notes["scores"] == "cosine of the store's vectors"
