"""What a filter forbids is nowhere in an answer: not its text, title, metadata or id."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import clew
from clew import Document, Graph, Index, recipes
from clew.generate import Reports, Summaries

QUESTION = "What fee does the harbour of Corfu take in winter?"
CANARY = "canary"
TOPICS = ("fee", "harbour", "Corfu", "winter", "ferry")


def strings(value, seen=None):
    """Every text that can be reached from an object, by attributes, items and keys."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, (int, float, bytes, type, Index, Graph)):
        return
    seen.add(id(value))
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from strings(key, seen)
            yield from strings(inner, seen)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for inner in value:
            yield from strings(inner, seen)
    else:
        slots = [name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ())]
        for name in (*getattr(value, "__dict__", ()), *slots):
            yield from strings(getattr(value, name, None), seen)


def canaries(*values):
    return sorted({text[:80] for text in strings(values) if CANARY in text.lower()})


def allowed(i):
    topics = f"{TOPICS[i % 5]} {TOPICS[(i + 1) % 5]}"
    text = f"The {topics} of Corfu: {i} crowns are the fee of the harbour in winter."
    return text, {"tenant": "a", "year": i}


def forbidden(i):
    text = f"Canary-text-{i}. The fee of the harbour of Corfu in winter is {i} canaries."
    return text, {"tenant": "b", "secret": f"canary-metadata-{i}", "title": f"Canary title {i}"}


def hierarchy():
    """Books of both tenants, each with pages of both, and pages that follow one another."""
    documents, facts = [], {}
    for book in range(4):
        is_forbidden = book % 2 == 0
        text, metadata = forbidden(book) if is_forbidden else allowed(book)
        name = f"canary-book-{book}" if is_forbidden else f"book-{book}"
        documents.append(Document(name, text, metadata, heading=True))
        previous = None
        for page in range(4):
            i = 10 * book + page
            hidden = page % 2 == 1
            text, metadata = forbidden(i) if hidden else allowed(i)
            id = f"canary-{i}" if hidden else f"page-{i}"
            kind = {"source": name, "span": (0, 9)} if page == 2 else {}
            documents.append(Document(id, text, metadata, parent=name, previous=previous, **kind))
            who = f"Canary {i}" if hidden else "Corfu"
            facts[id] = [(who, "takes", "fee"), ("harbour", "of", who), ("Corfu", "has", "harbour")]
            previous = id
    documents.append(Document("canary-plain", "Canary. Corfu takes a fee in winter."))
    return documents, facts


@pytest.fixture(scope="module")
def index():
    documents, facts = hierarchy()
    built = Index.from_documents(documents, facts=facts)
    return built.generate(Reports(min_passages=2), Summaries(min_passages=2))


FILTERS = {
    "mapping": {"tenant": "a"},
    "function": lambda metadata: metadata.get("tenant") == "a",
}


@pytest.mark.parametrize("recipe", recipes.names())
def test_no_recipe_lets_a_canary_out(index, recipe):
    for where in FILTERS.values():
        context = index.ask(QUESTION, recipe=recipe, where=where, budget=400)
        assert len(context)
        drawn = (context.to_dict(), context.to_mermaid(), context.to_html(), str(context))
        assert canaries(context, drawn) == []


def test_an_answer_is_that_of_an_index_of_what_is_allowed(index):
    documents, facts = hierarchy()
    kept = [d for d in documents if d.metadata.get("tenant") == "a"]
    ids = {document.id for document in kept}
    alone = Index.from_documents(kept, facts={id: facts[id] for id in facts if id in ids})
    filtered = Index.from_documents(documents, facts=facts).filtered({"tenant": "a"})
    assert canaries(filtered.graph.ids, filtered.graph.texts, filtered.graph.metadata) == []
    assert set(filtered.graph.ids) == {id for id in alone.graph.ids if CANARY not in id}
    for recipe in ("dense", "bm25", "hipporag"):
        found, wanted = (one.ask(QUESTION, recipe=recipe) for one in (filtered, alone))
        assert sorted(found.ids) == sorted(wanted.ids)


def test_what_others_taught_does_not_change_a_filtered_answer(index):
    learned = index
    for _ in range(3):
        for question in (QUESTION, "Which ferry sails in winter?"):
            learned = learned.learn(learned.ask(question, recipe="kurisu"))
    assert len(learned.learned)
    where = {"tenant": "a"}
    assert len(learned.filtered(where).learned) == 0
    found, wanted = (one.ask(QUESTION, recipe="kurisu", where=where) for one in (learned, index))
    assert (found.text, found.ids, found.edges) == (wanted.text, wanted.ids, wanted.edges)
    own = learned.filtered(where)
    assert len(own.learn(own.ask(QUESTION, recipe="kurisu")).learned), (
        "of what it may read, it learns"
    )


@pytest.mark.parametrize("scored", [True, False])
def test_forbidden_candidates_count_for_nothing(embed, scored):
    """Neither the rank nor the score of a candidate that may not be read moves another's."""

    def prizes(*forbidden):
        candidates = [Document(f"page-{i}", *allowed(i)) for i in range(4)]
        for at, score in forbidden:
            candidates.insert(
                at, Document(f"canary-{at}", f"Canary {at} {score}.", {"tenant": "b"})
            )
        scores = {f"canary-{at}": score for at, score in forbidden}
        with_scores = [(one, scores.get(one.id, 0.1 + len(one.text) / 99)) for one in candidates]
        context = clew.narrow(
            QUESTION,
            with_scores if scored else candidates,
            embedder=embed,
            where={"tenant": "a"},
            recipe="mmr",
        )
        return [(item.id, round(item.score, 6)) for item in context]

    assert prizes() == prizes((0, 0.9), (2, 7.0)) == prizes((1, 1e9))


def test_a_container_that_tells_no_more_than_its_contents_stays():
    """As a reader makes them: a page has the metadata of its file and its number beside it."""
    file = {"file_name": "fees.pdf", "title": "fees"}
    documents = [
        Document("fees.pdf", "fees", file, heading=True),
        *(
            Document(f"fees.pdf#{i}", allowed(i)[0], {**file, "page": i}, parent="fees.pdf")
            for i in range(3)
        ),
        Document("x", "Notes of all pages", heading=True),
        *(Document(f"x{i}", allowed(i)[0], {"page": i}, parent="x") for i in range(3)),
        Document("other", "A lone passage.", {"page": 99}),
    ]
    index = Index.from_documents(documents)
    one = index.filtered(lambda metadata: metadata["page"] == 1).graph
    assert set(one.ids) == {"fees.pdf", "fees.pdf#1", "x1"}
    three = index.filtered(lambda metadata: metadata["page"] < 3).graph
    assert set(three.ids) == {d.id for d in documents} - {"other"}


@pytest.mark.parametrize("names", [("canary-0", "page-1", "page-2")])
def test_a_graph_of_the_callers_own_keeps_its_secrets(names):
    secret, plain = {"tenant": "b", "secret": "canary-metadata"}, {"tenant": "a"}
    graph = Graph.of(
        ["Canary title", forbidden(0)[0], allowed(1)[0], allowed(2)[0], "Canary entity", "Corfu"],
        ids=["canary-document", *names, "canary-entity", "corfu"],
        kinds=["document", "passage", "passage", "passage", "entity", "entity"],
        documents=[0, 0, 0, 0, -1, -1],
        parents=[-1, 0, 0, 0, -1, -1],
        metadata=({}, secret, plain, plain, secret, plain),
    )
    index = Index.from_graph(graph)
    for recipe in ("dense", "bm25", "hipporag", "mmr"):
        context = index.ask(QUESTION, recipe=recipe, where={"tenant": "a"})
        assert set(context.ids) == {"page-1", "page-2"}
        assert canaries(context, context.to_dict()) == []
