"""What the store's candidates lead to is looked for, too: by names, and by keys of metadata."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest
from langchain_clew import ClewRetriever
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore

ASKED = "Where does the husband of Anna Berg live?"
THREAD = [
    Document("Anna Berg\nShe married the painter Ben Okri in 1990.", id="anna"),
    Document("Ben Okri\nHe moved to Corfu with all his brushes.", id="ben"),
]
CROWD = [
    Document(f"Anna {name}\nWhere does her husband live? She asks Kai {name}.", id=f"anna {name}")
    for name in ("Alm", "Ek", "Dahl", "Holm")
]


@pytest.fixture
def store(embeddings):
    return InMemoryVectorStore.from_documents([*THREAD, *CROWD], embeddings)


def found(store, question=ASKED, **how):
    return {d.id for d in ClewRetriever.from_vectorstore(store, **how).invoke(question)}


@pytest.fixture
def asked_for(monkeypatch):
    """What stores in memory were asked for: a derived class would be asked in another way."""
    asked, search = [], InMemoryVectorStore.similarity_search_by_vector

    def recording(self, embedding, k=4, **kwargs):
        asked.append((k, kwargs))
        return search(self, embedding, k, **kwargs)

    monkeypatch.setattr(InMemoryVectorStore, "similarity_search_by_vector", recording)
    return asked


async def test_a_name_in_a_candidate_is_looked_for(store):
    near = [d.id for d in store.similarity_search(ASKED, k=5)]
    assert "anna" in near
    assert "ben" not in near
    assert "ben" not in found(store, candidates=5, hops=0)
    assert "ben" in found(store, candidates=5)
    retriever = ClewRetriever.from_vectorstore(store, candidates=5)
    assert "ben" in {d.id for d in await retriever.ainvoke(ASKED)}
    (step, *_) = retriever.context(ASKED).trace[0].notes["further"]
    assert "Ben Okri" in step["looked for"]
    assert step["found"] == 1


async def test_a_question_on_two_documents_looks_for_the_name_that_each_gives_it(embeddings):
    films = {"Blue Harbour": "Kim Roe", "Night Ferry": "Lea Fox"}
    texts = [f"{film}\nIt is a drama directed by {name} in Rome." for film, name in films.items()]
    texts += [f"{name}\nBorn in Turin." for name in films.values()]
    texts += [f"{i}\nAre both from the same country, Italy?" for i in range(20)]
    texts += [f"{i}\nApples, pears, plums." for i in range(20, 60)]
    documents = [Document(text, id=text.partition("\n")[0]) for text in texts]
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    asked = "Are the directors of Blue Harbour and Night Ferry both from the same country?"
    retriever = ClewRetriever.from_vectorstore(store, candidates=26)
    steps = retriever.context(asked).trace[0].notes["further"]
    assert sorted(step["looked for"] for step in steps) == [("Kim Roe",), ("Lea Fox",)]
    best = {d.id for d in await retriever.ainvoke(asked, k=4)}
    assert best == {*films, *films.values()}
    assert not set(films.values()) <= {d.id for d in store.similarity_search(asked, k=26)}


def test_a_second_hop_follows_what_the_first_one_found(embeddings):
    far = Document("Corfu\nIts patron is Spyridon.", id="corfu")
    store = InMemoryVectorStore.from_documents([*THREAD, far, *CROWD], embeddings)
    asked = "Who is the patron of where the husband of Anna Berg lives?"
    retriever = ClewRetriever.from_vectorstore(store, candidates=1, hops=2)
    once, twice = retriever.context(asked).trace[0].notes["further"]
    assert not set(once["looked for"]) & set(twice["looked for"])


@pytest.mark.parametrize("hops", [0, 1, 2])
def test_each_hop_is_one_search_under_the_same_filter_and_arguments(embeddings, hops, asked_for):
    def allowed(document):
        return document.id != "ben"

    store = InMemoryVectorStore.from_documents([*THREAD, *CROWD], embeddings)
    assert "ben" not in found(store, hops=hops, candidates=3, filter=allowed)
    assert 1 <= len(asked_for) <= 1 + hops
    assert all(kwargs == {"filter": allowed} for _, kwargs in asked_for)


def test_edges_lead_from_a_key_of_metadata_to_another_under_the_same_filter(embeddings):
    documents = [
        Document("The coxswain steers the lifeboat.", id="crew", metadata={"see": ["rota", "map"]}),
        Document("Mondays: Ann. Tuesdays: Ben.", id="rota", metadata={"page": "rota"}),
        Document("North is up.", id="map", metadata={"page": "map"}),
        *CROWD,
    ]
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    question, how = "Who steers the lifeboat?", {"candidates": 1, "hops": 0, "budget": None}
    assert found(store, question, **how) == {"crew"}
    linked = {"edges": [("see", "page")], "recipe": "dense", **how}
    assert found(store, question, **linked) == {"crew", "rota", "map"}
    assert found(store, question, filter=lambda d: d.id != "map", **linked) == {"crew", "rota"}


def test_links_in_the_text_lead_to_documents_by_what_these_are_called_in_one_search(
    embeddings, asked_for
):
    base = "https://boat.org/crew/"
    texts = {
        "crew.html": "The coxswain steers the lifeboat. See [the rota](../rota.html#mondays), "
        "<a href='map.html'>a map</a> and <https://sea.org/tides>.",
        "../rota.html": "Mondays: Ann. Tuesdays: Ben.",
        "map.html": "North is up.",
        "https://sea.org/tides": "Twice a day.",
        "other.html": "Nobody links here.",
    }
    documents = [
        Document(text, id=name, metadata={"source": urljoin(base, name)})
        for name, text in texts.items()
    ]
    store = InMemoryVectorStore.from_documents([*documents, *CROWD], embeddings)
    question = "Who steers the lifeboat?"
    how = {"candidates": 1, "hops": 0, "budget": None, "recipe": "dense"}
    linked = found(store, question, edges=[("page_content", "source")], **how)
    assert linked == texts.keys() - {"other.html"}
    assert len(asked_for) == 2


def test_a_page_of_links_asks_for_no_more_than_a_store_takes(embeddings):
    links = " ".join(f"[{i}](page{i}.html)" for i in range(500))
    documents = [Document(f"Who steers? {links}", id="all"), *CROWD]
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    retriever = ClewRetriever.from_vectorstore(
        store, hops=0, edges=[("page_content", "source")], budget=None
    )
    (step,) = retriever.context("Who steers?").trace[0].notes["further"]
    assert len(step["page_content -> source"]) == 200


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hops": -1}, "hops is the number of further searches"),
        ({"hops": True}, "hops is the number of further searches"),
        ({"edges": "links"}, "edges are pairs of keys"),
        ({"edges": [("a", "b", "c")]}, "edges are pairs of keys"),
    ],
)
def test_what_is_no_hop_or_edge_is_refused_when_the_retriever_is_made(store, wrong, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ClewRetriever.from_vectorstore(store, **wrong)


def test_a_store_whose_filters_are_not_known_takes_no_edges(store):
    class Own:
        embeddings = None

        def similarity_search(self, query, k=4, **kwargs):
            return THREAD

    with pytest.raises(TypeError, match="how a Own filters is not known"):
        ClewRetriever.from_vectorstore(Own(), edges=[("see", "page")])
    assert ClewRetriever.from_vectorstore(Own()).invoke(ASKED)
