"""Names that nobody asked for are read beside an embedder of the caller's, too, which embeds none of them."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from clew import Document, Embedder, Index, NamesAndSymbols, Query, Symbols, recipes
from clew.graph import (
    BareSegment,
    VectorColumn,
    bare_rows,
    runs_of,
    with_bare_rows,
    with_bare_runs,
)
from clew.index import in_place
from clew.index.config import DEFAULT_LINKS, LINKS_OF_NAMES
from clew.link import Synonym
from clew.seed import MappedFacts
from clew.seed._shared import READ_FOR_FACTS, facts_of_best, nearest_of_best
from clew.store import manifest
from tests.index.test_in_place import described
from tests.index.test_names_where_many import manual, people

QUESTION = "In which town was the person born who came to the workshop of Anna Bell?"


class Hashed:
    """An embedder of the caller's that keeps the texts that it got; it knows words by their letters."""

    def __init__(self):
        self.texts = []

    def __call__(self, texts):
        self.texts += texts
        rows = np.zeros((len(texts), 24))
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[zlib.crc32(word.encode()) % 24] += 1
        return rows + 0.01


def entities(graph):
    return graph.rows("entity")


def asked(index, question=QUESTION):
    return [(item.id, round(item.score, 6)) for item in index.ask(question, limit=5)]


def test_an_embedder_gets_the_passages_alone():
    hashed = Hashed()
    index = Index.from_documents(people(60), embedder=hashed)
    named = Index.from_documents(people(60))
    assert len(hashed.texts) == 60
    assert (index.extractor, index.links) == (NamesAndSymbols(), LINKS_OF_NAMES)
    graph, other = index.graph, named.graph
    assert (graph.ids, graph.facts.texts) == (other.ids, other.facts.texts)
    assert not graph.vectors[entities(graph)].any()
    assert graph.vectors[graph.rows("passage")].any(axis=1).all()
    assert graph.facts.vectors.shape == (len(graph.facts), 24)
    assert not np.asarray(graph.facts.vectors).any()
    hashed.texts.clear()
    index.ask(QUESTION)
    assert hashed.texts == [QUESTION]


def test_names_are_linked_by_their_words_where_they_have_no_vectors():
    alike = ("Zoe Maria Okri Quill", "Zoe Maria Quill Okri")
    documents = [Document(name, f"{name} lived in Corfu.", {"title": name}) for name in alike]
    documents += people(60)
    links = (*DEFAULT_LINKS[:3], Synonym())
    index = Index.from_documents(documents, embedder=Hashed(), links=links)
    assert index.links == (*DEFAULT_LINKS[:3], Synonym(0.75, by="words"))
    by_words = Index.from_documents(documents, links=index.links)
    assert described(index.graph) == described(by_words.graph)
    assert index.graph.edges.kinds.has("synonym")


def test_names_that_are_asked_for_are_embedded():
    hashed = Hashed()
    index = Index.from_documents(people(60), embedder=hashed, extractor=NamesAndSymbols())
    assert {*index.graph.facts.texts, "Anna Bell"} <= {*hashed.texts}
    assert index.graph.vectors[entities(index.graph)].any(axis=1).all()


def test_other_prose_and_given_facts_are_as_before():
    facts = {"p0": [("Anna Bell", "met", "Ben Bell")]}
    given = Index.from_documents(people(60), facts=facts, embedder=Hashed())
    assert len(entities(given.graph)) == 2
    assert given.graph.vectors[entities(given.graph)].any(axis=1).all()
    plain = Index.from_documents(manual(120), embedder=Hashed())
    assert described(plain.graph) == described(
        Index.from_documents(manual(120), embedder=Hashed(), extractor=Symbols()).graph
    )


@pytest.mark.parametrize("recipe", ["hipporag", "budgeted", "agrag", "hipporag2_paper"])
def test_a_question_over_two_pages_finds_the_second(recipe):
    index = Index.from_documents(people(60), embedder=Hashed())
    found = index.ask(QUESTION, recipe=recipe, limit=3)
    assert {"p0", "p1"} <= set(found.ids)
    assert not any("fallback" in step.notes for step in found.trace)


def test_facts_are_compared_that_the_best_passages_state():
    graph = Index.from_documents(people(60), embedder=Hashed()).graph
    scores = np.zeros(len(graph))
    passages = graph.rows("passage")
    scores[passages] = np.random.default_rng(0).permutation(len(passages))  # one of them scores 0
    best = sorted(passages.tolist(), key=lambda row: -scores[row])[:READ_FOR_FACTS]
    wanted = [
        fact
        for fact in range(len(graph.facts))
        if {*graph.facts.read_from[fact].tolist()} & {*best}
    ]
    assert facts_of_best(graph, scores).tolist() == wanted
    assert len(wanted) < len(graph.facts)

    def likeness(texts):
        return np.array([len(text) / 100 for text in texts], np.float32)

    found, shares = nearest_of_best(graph, Query("?", fact_likeness=likeness), scores, 4)
    lengths = {fact: len(graph.facts.texts[fact]) for fact in wanted}
    assert sorted(lengths.values())[-4:][::-1] == [lengths[fact] for fact in found.tolist()]
    span = max(lengths.values()) - min(lengths.values())
    assert shares == pytest.approx(
        [(lengths[fact] - min(lengths.values())) / span for fact in found.tolist()], abs=1e-5
    )
    left_out = np.isin(np.arange(len(graph.facts)), found[:1])
    others, _ = nearest_of_best(graph, Query("?", fact_likeness=likeness), scores, 3, left_out)
    assert others.tolist() == found[1:].tolist()
    assert not len(nearest_of_best(graph, Query("?"), scores, 4)[0])


def test_a_saved_index_answers_as_it_did_and_keeps_no_zeros(tmp_path):
    hashed = Hashed()
    index = Index.from_documents(people(60), embedder=hashed)
    index.save(tmp_path)
    loaded = Index.load(tmp_path, embedder=hashed)
    assert asked(loaded) == asked(index)
    assert isinstance(VectorColumn.of(loaded.graph.facts.vectors).segments[0], BareSegment)
    assert np.array_equal(loaded.graph.vectors[:], index.graph.vectors[:])
    (file,) = tmp_path.glob("MANIFEST-*.json")
    content = json.loads(file.read_text())["index"]
    shapes = {name: tuple(entry["shape"]) for name, entry in content["files"].items()}
    assert shapes["nodes.vectors"] == (60, 24)
    assert shapes["facts.vectors"] == (0, 24)
    assert content["format"] == manifest.FORMAT


def test_what_comes_and_goes_is_read_as_what_was_there(monkeypatch, tmp_path):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    hashed = Hashed()
    Index.from_documents(people(60), embedder=hashed).save(tmp_path)
    index = Index.load(tmp_path, embedder=hashed)
    more = Document("new", "Zoe Quill came from Samos to the workshop of Ben Bell in Paros.")
    name = Document("name", "Anna Bell")  # which is the text of an entity, too
    hashed.texts.clear()
    grown = index.add([more, name])
    assert hashed.texts == [more.text, name.text]
    assert grown.changed == 2  # nothing was built anew
    assert not grown.graph.vectors[entities(grown.graph)].any()
    grown.save(tmp_path)
    again = Index.load(tmp_path, embedder=hashed)
    assert asked(again) == asked(grown)
    fewer = again.delete(["p7"])
    built = Index.from_documents(
        [one for one in [*people(60), more, name] if one.id != "p7"], embedder=hashed
    )
    compact = fewer.compact()
    assert described(compact.graph) == described(built.graph)
    assert np.array_equal(compact.graph.vectors[:], built.graph.vectors[:])
    assert asked(compact) == asked(built)
    assert [id for id, _ in asked(fewer)] == [id for id, _ in asked(built)]
    compact.save(tmp_path)
    assert asked(Index.load(tmp_path, embedder=hashed)) == asked(built)


@pytest.mark.parametrize("least", [0, 10**9], ids=["in place", "built"])
def test_what_a_filter_allows_is_as_an_index_of_it_alone(monkeypatch, least):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", least)
    hashed, documents = Hashed(), people(90)
    index = Index.from_documents(
        [Document(d.id, d.text, {"half": i % 3 > 0}) for i, d in enumerate(documents)],
        embedder=hashed,
    )
    allowed = [d for i, d in enumerate(documents) if i % 3 > 0]
    built = Index.from_documents([Document(d.id, d.text) for d in allowed], embedder=hashed)
    assert built.has_bare_names
    filtered = index.ask(QUESTION, where={"half": True}, limit=5)
    assert [(item.id, round(item.score, 6)) for item in filtered] == asked(built)


def test_a_passage_that_is_a_name_keeps_its_vector_when_the_index_is_built_again():
    documents = [*people(60), Document("name", "Ben Bell")]
    hashed = Hashed()
    index = Index.from_documents(documents, embedder=hashed)
    hashed.texts.clear()
    compact = index.compact()
    assert not hashed.texts
    row = compact.graph.find_row("name")
    assert compact.graph.vectors[row].any()


def test_rows_without_vectors_behave_as_rows_of_zeros():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(40, 3)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    is_bare = rng.random(40) < 0.4
    zeros = np.where(is_bare[:, None], np.float32(0), rows)
    column = with_bare_rows(np.ascontiguousarray(rows[~is_bare]), is_bare)
    assert isinstance(column, VectorColumn)
    assert np.array_equal(column[:], zeros)
    assert (column.has_vector == ~is_bare).all()
    assert (bare_rows(column) == is_bare).all()
    chosen = rng.permutation(40)[:17]
    assert np.array_equal(column.take(chosen)[:], zeros[chosen])
    assert np.array_equal(column[3:19], zeros[3:19])
    query = rows[0]
    assert column.products(query) == pytest.approx(zeros @ query, abs=1e-6)
    runs = runs_of(is_bare)
    assert runs.sum() == 40
    assert runs[1::2].sum() == is_bare.sum()
    grown = column.with_rows(rows[:2].copy())
    assert np.array_equal(grown[:], np.concatenate([zeros, rows[:2]]))
    with pytest.raises(ValueError, match="do not fit"):
        with_bare_runs(rows, runs + 1)


def test_an_embedder_may_embed_a_question_for_facts_otherwise():
    """Such as with another instruction. Here facts are looked for as if Naxos were asked about."""
    facts = {"a": [("Anna", "sails to", "Corfu")], "b": [("Ben", "sails to", "Naxos")]}
    documents = [Document("a", "A ferry leaves at nine."), Document("b", "A boat leaves at ten.")]

    def embed(texts):
        return [[1.0, "Corfu" in text, "Naxos" in text] for text in texts]

    def embed_fact_question(text):
        return embed([text.replace("Corfu", "Naxos")])[0]

    plain = Embedder("places", embed, lambda text: embed([text])[0])
    nearest = []
    for embedder in (plain, replace(plain, embed_fact_question=embed_fact_question)):
        index = Index.from_documents(documents, facts=facts, embedder=embedder)
        seed = _Kept(MappedFacts(1))
        index.ask("Who sails to Corfu?", recipe=replace(recipes.get("fused"), seed=seed))
        nearest += [index.graph.facts.texts[fact] for fact in seed.found[0].facts]
    assert nearest == ["Anna sails to Corfu", "Ben sails to Naxos"]


@dataclass(frozen=True, eq=False)
class _Kept:
    """A seed that keeps what another one finds."""

    seed: object
    found: list = field(default_factory=list)

    def on(self, graph):
        find = self.seed.on(graph)

        def find_seeds(query):
            self.found.append(find(query))
            return self.found[-1]

        return find_seeds
