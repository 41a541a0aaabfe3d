"""After changes in place, words weigh what they weigh in a rebuild: counted there from the texts, here followed."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

from clew import Document, Index, Splitter
from clew.embedding import compact
from clew.embedding.reweighted import ReweightedColumn, as_built
from clew.index import in_place
from tests.index.test_compacted import QUESTIONS, VARIANTS, changed, document

RECIPES = ("hipporag", "fused", "dense")


@pytest.fixture(autouse=True)
def followed(monkeypatch):
    """Small indexes are changed in place, whatever changes, and have bags."""
    monkeypatch.setattr(compact, "MIN_ROWS", 0)
    monkeypatch.setattr(compact, "MIN_COMPACT", 0)
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    monkeypatch.setattr(in_place, "MAX_CHANGED", 1e9)


def history(variant, seed=0):
    keywords, make, facts_of = VARIANTS[variant]
    chance = random.Random(seed)
    first = [make(chance, number) for number in range(90)]  # some of which stay
    index = Index.from_documents(first, splitter=Splitter(tokens=16), **keywords)
    index.ask(QUESTIONS[0])
    return changed(index, chance, make, facts_of), chance


def by_id(index):
    rows = np.asarray(index.graph.vectors)
    return dict(zip(index.graph.ids, rows, strict=True))


def by_text(index):
    rows = np.asarray(index.graph.facts.vectors)
    return dict(zip(index.graph.facts.texts, rows, strict=True))


def furthest(ones, others):
    assert ones.keys() == others.keys()
    return max(np.abs(ones[key] - others[key]).max() for key in ones)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("variant", ["no facts", "names", "programs"])
def test_weights_and_vectors_are_those_of_a_rebuild(variant, seed):
    index, _ = history(variant, seed)
    whole = index.compact()
    followed, built = index.embedder.fitted, whole.embedder.fitted
    assert isinstance(index.graph.vectors, ReweightedColumn)
    assert not isinstance(whole.graph.vectors, ReweightedColumn)
    assert followed.n_texts == built.n_texts
    assert np.array_equal(followed.piece_counts, built.piece_counts)
    counted = [
        dict(zip(f.vocabulary, f.word_counts.tolist(), strict=True)) for f in (followed, built)
    ]
    assert counted[0] == counted[1]
    assert np.allclose(followed.mean, built.mean, rtol=0, atol=1e-7)
    assert furthest(by_id(index), by_id(whole)) < 1e-3
    if variant != "no facts" and set(index.graph.facts.texts) == set(whole.graph.facts.texts):
        assert furthest(by_text(index), by_text(whole)) < 1e-3
    before = {
        **by_id(index),
        **dict(zip(index.graph.ids, np.asarray(as_built(index.graph).vectors), strict=True)),
    }
    assert furthest(before, by_id(whole)) > 0.01, "else nothing has to follow"


def test_answers_are_those_of_a_rebuild():
    index, _ = history("no facts")
    whole = index.compact()
    for recipe in RECIPES:
        for question in QUESTIONS:
            one, other = (i.ask(question, recipe=recipe, limit=8) for i in (index, whole))
            assert one.ids == other.ids, (recipe, question)
            assert [step.stage for step in one.trace][-1] != "index", "nothing is as it was"


def test_the_trace_says_that_similar_passages_are_linked_by_weights_of_before():
    def kept(index, recipe):
        context = index.ask(QUESTIONS[-1], recipe=recipe)
        notes = [step.notes for step in context.trace]
        assert context.items
        return [one for each in notes for one in each.get("as of the last compact", ())]

    index, _ = history("no facts")
    assert kept(index, "fused") == [], "no edges are there by cosines"
    near = ["weights of words in edges between similar passages"]
    assert kept(index, "budgeted") == near
    assert kept(index.compact(), "budgeted") == []


@pytest.mark.parametrize("variant", ["no facts", "names"])
def test_what_is_saved_and_loaded_weighs_the_same(variant, tmp_path):
    index, chance = history(variant)
    index.save(tmp_path / "index")
    more = index.add([document(chance, 900)]).delete(index.documents[3].id)
    more.save(tmp_path / "index")  # a change of what is there
    loaded, copied = Index.load(tmp_path / "index"), pickle.loads(pickle.dumps(more))
    for other in (loaded, copied):
        assert isinstance(other.graph.vectors, ReweightedColumn)
        assert other.graph.ids[:] == more.graph.ids[:]
        assert furthest(by_id(other), by_id(more)) < 1e-6
        for question in QUESTIONS:
            assert other.ask(question).ids == more.ask(question).ids
    assert loaded.add([document(chance, 901)]).ask(QUESTIONS[1]).ids


def test_a_filter_of_a_changed_index_is_that_of_a_rebuild():
    index, _ = history("no facts")
    whole = index.compact()
    for question in QUESTIONS:
        one, other = (i.ask(question, where={"group": 1}, limit=8) for i in (index, whole))
        assert one.ids == other.ids
        assert np.allclose([x.score for x in one.items], [x.score for x in other.items], atol=1e-6)


def test_threads_that_ask_at_once_weigh_once(monkeypatch):
    from concurrent.futures import ThreadPoolExecutor

    from clew.embedding.reweighted import Reweighting

    index, _ = history("no facts")
    computed, times = Reweighting._computed, []
    monkeypatch.setattr(Reweighting, "_computed", lambda one: times.append(1) or computed(one))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: index.ask(QUESTIONS[0]).ids, range(16)))
    assert len(times) == 1
    assert found == [found[0]] * 16


def long_text(chance, word):
    """Text that has a word more often than a bag can say, and others that few have."""
    rare = " ".join(f"harbour{chance.randrange(40)}" for _ in range(60))
    return f"{word} " * 300 + rare


@pytest.mark.parametrize("is_loaded", [False, True])
def test_words_of_texts_without_a_bag_are_counted_too(is_loaded, tmp_path):
    chance = random.Random(3)
    first = [document(chance, number) for number in range(90)]
    first += [Document(f"long {i}", long_text(chance, "ferry")) for i in range(3)]
    index = Index.from_documents(first, splitter=Splitter(tokens=4000))
    assert len(index.graph.vectors.segments[0].other_rows) == 3, "else all have bags"
    if is_loaded:
        index.save(tmp_path / "index")
        index = Index.load(tmp_path / "index")
    more = [document(chance, 900), Document("long 3", long_text(chance, "island"))]
    index = index.add(more).delete("long 1")
    if is_loaded:
        index.save(tmp_path / "index")
        index = Index.load(tmp_path / "index")
    whole = index.compact()
    followed, built = index.embedder.fitted, whole.embedder.fitted
    assert np.array_equal(followed.piece_counts, built.piece_counts)
    assert sorted(followed.vocabulary) == sorted(built.vocabulary)
    assert np.allclose(followed.mean, built.mean, rtol=0, atol=1e-7)
    assert furthest(by_id(index), by_id(whole)) < 1e-3
    assert (
        index.ask("Which harbour7 has a ferry?").ids == whole.ask("Which harbour7 has a ferry?").ids
    )
