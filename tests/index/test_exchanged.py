"""Documents in place of others, in one change: what deleting those and adding these leaves, to the bit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from clew import Document, Index, Names, NamesAndSymbols
from clew.graph import Graph
from clew.seed.bm25 import InvertedIndexPart
from tests.store.test_changes import same_answers, same_record
from tests.store.test_round_trip import same

N = 1040  # documents: each has a passage, and an index of fewer than 1,000 is built whole
STEPS = 9
PEOPLE = ("Anna Berg", "Ben Ito", "Ella Moss", "Fay Lund", "Gus Roth", "Ida Voss")
PLACES = ("Corfu", "Delos", "Naxos", "Paros", "Hydra")
WORDS = ("harbour", "ferry", "anchor", "rope", "tide", "crane", "mast", "lighthouse", "fog")


def prose(draw, id):
    """A text with names, of which some are in one text alone, and perhaps a link and a heading."""
    one, other = draw.choice(PEOPLE, 2, replace=False)
    said = " ".join(draw.choice(WORDS, 5))
    rare = f"Old {WORDS[draw.integers(9)].title()} Bridge {draw.integers(400)}"
    text = f"{one} met {other} in {PLACES[draw.integers(5)]} by the {said}. They crossed {rare}."
    link = f"\n\nSee [more](d{draw.integers(N)}.md) and [all](../index)." * (draw.random() < 0.3)
    return Document(id, ("# Of old\n\n" if draw.random() < 0.2 else "") + text + link)


def program(draw, id):
    a, b = draw.integers(0, 30, 2)
    text = f"from d{draw.integers(N)} import *\n\ndef meet_{a}():\n    return meet_{b}()\n"
    return Document(id, text, format="python")


def documents_with(draw, ids, has_programs):
    return [
        program(draw, id)
        if has_programs and id.endswith("7.md")
        else Document(id, prose(draw, id).text, format="markdown")
        for id in ids
    ]


def facts_of(draw, documents):
    return {
        one.id: [(str(draw.choice(PEOPLE)), "sailed to", str(draw.choice(PLACES)))]
        for one in documents
        if draw.random() < 0.5
    }


def same_parts(one, other):
    """What was found of both graphs is of the same parts, with the same values."""
    mine, theirs = dict(one.kept_parts()), dict(other.kept_parts())
    assert mine.keys() == theirs.keys()
    for part in mine:
        if type(part).__name__ == "_RowOfIdPart":
            assert list(map(one.row, one.ids)) == list(map(other.row, other.ids))
        else:
            same(in_plain_values(mine[part]), in_plain_values(theirs[part]), repr(part))


def in_plain_values(value):
    if is_dataclass(value) and not isinstance(value, Graph):
        return [in_plain_values(getattr(value, one.name)) for one in fields(value)]
    if isinstance(value, (list, tuple)):
        return list(map(in_plain_values, value))
    return value


def in_two_changes(index, gone, documents, facts):
    return index.delete(gone).add(documents, facts=facts) if gone else index.add(documents, facts)


@pytest.mark.parametrize(  # with seed 1 also of facts that are given
    ("extractor", "seed"), [(None, 1), (Names(), 0), (NamesAndSymbols(), 0), (NamesAndSymbols(), 1)]
)
def test_it_is_what_deleting_and_adding_leave(extractor, seed, tmp_path):
    draw = np.random.default_rng(seed)
    has_programs = isinstance(extractor, NamesAndSymbols)
    first = documents_with(draw, [f"d{i}.md" for i in range(N)], has_programs)
    once = twice = Index.from_documents(first, extractor=extractor)

    def changed(one, other, number):
        ids = [document.id for document in one.documents]
        gone = draw.choice(ids, draw.integers(1, 4), replace=False).tolist()
        new = [f"new {number}.md"] * (number % 3 == 0)
        documents = documents_with(draw, [*gone, *new], has_programs)
        if number % 4 == 1:  # a copy of what is there
            documents[0] = Document(gone[0], one.documents[5].text, format="markdown")
        if number % 4 == 3:  # all others of them go
            staying = [each for each in one.documents if each.id not in gone[1:]]
            documents = documents[:1]
            now = [documents[0] if each.id == gone[0] else each for each in staying]
            return one.sync(now), in_two_changes(other, gone, documents, None)
        facts = facts_of(draw, documents) if seed else None
        return one.upsert(documents, facts=facts), in_two_changes(other, gone, documents, facts)

    for number in range(STEPS):
        once, twice = changed(once, twice, number)
        assert once.changed == twice.changed > 0
        if draw.random() < 0.6:
            same_answers(once, twice)
        if draw.random() < 0.3:
            same_record(once, twice)
        same_parts(once.graph, twice.graph)
    once.save(tmp_path / "once")
    twice.save(tmp_path / "twice")
    same_record(once, twice)
    loaded = [Index.load(tmp_path / name, extractor=extractor) for name in ("once", "twice")]
    for number in range(STEPS, STEPS + 2):
        loaded = changed(*loaded, number)
        same_answers(*loaded)
        loaded[0].save(tmp_path / "once")
    again = Index.load(tmp_path / "once", extractor=extractor)
    same_record(again, loaded[1])
    same_answers(again, loaded[1])
    words = again.graph.part(InvertedIndexPart())
    anew = again.graph.compute_part(InvertedIndexPart())
    assert all(words.rows_with(word) == anew.rows_with(word) for word in (*WORDS, "meet"))
