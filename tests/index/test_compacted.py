"""After many changes in place: `compact` saves the bytes of a rebuild, and a caller's vectors give a rebuild's answers."""

from __future__ import annotations

import random
import secrets
from dataclasses import replace

import numpy as np
import pytest

from clew import Document, Index, Names, NamesAndSymbols, Splitter, Symbols, recipes
from tests.index.test_deferred_links import files_of
from tests.index.test_in_place import told_apart
from tests.store.test_changes import every_size

PEOPLE = ["Anna Berg", "Anna Maria Berg", "Ben Ito", "Eva Lund", "Olaf Noor", "Dr Ben Ito"]
PLACES = ["Corfu", "Corfu Town", "Delos", "Paxos", "Old Paxos"]
VERBS = ["met", "married", "sails to", "knows", "built a house in"]
QUESTIONS = (
    "Whom did Anna Berg meet in Corfu, and when?",
    "Which ferry does Ben Ito know?",
    "What was built in Paxos by Eva Lund?",
    "quay 17",
)
STEPS = 40
BY_PATHS = ("agentic", "journey", "journey_paper", "agrag_paper")
"""Of paths of one length and of edges of one cost these take the one with lower rows, and an index
that was changed in place has its nodes in other rows than a rebuild."""


def stated(chance):
    return chance.choice(PEOPLE), chance.choice(VERBS), chance.choice([*PEOPLE, *PLACES])


def document(chance, number, is_code=False):
    """A document in sections, or a program that calls others, of its own words."""
    triples = [stated(chance) for _ in range(chance.randint(1, 4))]
    if is_code:
        calls = [f"def meet_{number}_{i}():\n    meet_{i}_0()" for i in range(chance.randint(1, 3))]
        return Document(f"d{number}", "\n\n".join(calls), {"group": number % 3}, format="python")
    parts = [f"# About {chance.choice(PLACES)}" for _ in triples[:1]]
    parts += [
        f"{' '.join(one)}, when ferry {chance.randint(10, 99)} was at quay {number}."
        for one in triples
    ]
    if chance.random() < 0.3:
        parts.append(f"See [more](d{chance.randint(0, 30)}).")
    return Document(f"d{number}", "\n\n".join(parts), {"group": number % 3}, format="markdown")


def changed(index, chance, make, facts_of=None):
    """The index after many changes of one to three documents, some asked in between."""
    number = 100
    for step in range(STEPS):
        ids = [one.id for one in index.documents]
        kind = chance.choice(["add", "upsert", "delete"]) if len(ids) > 12 else "add"
        if kind == "delete":
            index = index.delete(chance.sample(ids, chance.randint(1, 3)))
        else:
            numbers = range(number, number := number + chance.randint(1, 3))
            if kind == "upsert":
                numbers = [int(id[1:]) for id in chance.sample(ids, len(numbers))]
            documents = [make(chance, each) for each in numbers]
            facts = None if facts_of is None else {d.id: facts_of(chance) for d in documents}
            change = index.add if kind == "add" else index.upsert
            index = change(documents) if facts is None else change(documents, facts=facts)
        if step % 7 == 3:
            index.ask(chance.choice(QUESTIONS), recipe=chance.choice(["hipporag", "bm25", "dense"]))
    assert index.changed, "in place"
    return index


def with_vector(chance, number):
    one = document(chance, number)
    return replace(one, vector=told_apart([one.text])[0])


def facts_of(chance):
    return [stated(chance) for _ in range(chance.randint(0, 2))]


VARIANTS = {
    "names": ({"extractor": Names()}, document, None),
    "programs": (
        {"extractor": NamesAndSymbols()},
        lambda chance, number: document(chance, number, is_code=number % 4 == 0),
        None,
    ),
    "no facts": ({"extractor": Symbols()}, document, None),
    "as it comes": ({}, document, None),
    "a caller's": ({"embedder": told_apart}, with_vector, facts_of),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_compact_saves_is_what_a_rebuild_saves_to_the_byte(
    variant, seed, tmp_path, monkeypatch
):
    every_size(monkeypatch)
    monkeypatch.setattr(secrets, "token_hex", lambda _: "0" * 16)
    keywords, make, of_document = VARIANTS[variant]
    keywords, chance = {"splitter": Splitter(24), **keywords}, random.Random(seed)
    documents = [make(chance, number) for number in range(20)]
    facts = None if of_document is None else {d.id: of_document(chance) for d in documents}
    index = changed(
        Index.from_documents(documents, facts=facts, **keywords), chance, make, of_document
    )
    index.save(tmp_path / "changed")
    whole = Index.from_documents(index.documents, facts=index.facts or None, **keywords)
    whole.save(tmp_path / "whole")
    for each in (index, Index.load(tmp_path / "changed", **keywords)):
        each.compact().save(folder := tmp_path / f"compacted {each is index}")
        compacted, anew = files_of(folder), files_of(tmp_path / "whole")
        assert compacted.keys() == anew.keys()
        assert {name for name in anew if compacted[name] != anew[name]} == set()


@pytest.mark.parametrize("seed", range(2))
def test_a_callers_vectors_and_facts_give_ids_in_the_order_of_a_rebuild(seed, monkeypatch):
    every_size(monkeypatch)
    chance = random.Random(seed)
    keywords = {"splitter": Splitter(24), "embedder": told_apart}
    documents = [with_vector(chance, number) for number in range(20)]
    facts = {one.id: facts_of(chance) for one in documents}
    index = changed(
        Index.from_documents(documents, facts=facts, **keywords), chance, with_vector, facts_of
    )
    whole = Index.from_documents(index.documents, facts=index.facts, **keywords)
    silent = []  # by `min_relevance`
    for recipe in recipes.names():
        for question in QUESTIONS:
            for options in ({"limit": 6}, {"budget": 120}):
                one, other = (
                    each.ask(question, recipe=recipe, **options) for each in (index, whole)
                )
                silent.append(not one.items)
                if recipe in BY_PATHS:
                    assert len({*one.ids} & {*other.ids}) >= len(other.ids) - 1
                    continue
                assert one.ids == other.ids, (recipe, question)
                assert [item.score for item in one] == pytest.approx(
                    [item.score for item in other], abs=1e-6
                )
    assert np.mean(silent) < 0.2
