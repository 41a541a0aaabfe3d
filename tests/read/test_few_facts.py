"""Facts of a few texts, put together by kept numbers, beside a plain loop over all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clew.document import Document
from clew.read import few_facts
from clew.read.assembly import assemble
from clew.read.pieces import Piece
from clew.text.words import fold_case

NAMES = st.sampled_from(
    ["Anna", "ANNA", "anna", "Ben  Okri", "Ben Okri", " ", "Öst", "ÖST", "Rome"]
)
RELATIONS = st.sampled_from(["met", "met  in", "met in", "Met", ""])
FACTS = st.lists(st.lists(st.tuples(NAMES, RELATIONS, NAMES), max_size=6), max_size=6)


def by_a_plain_loop(texts):
    names, facts = {}, {}
    for row, triples in enumerate(texts):
        for subject, relation, object in triples:
            ends = fold_case(subject), fold_case(object)
            if not all(ends):
                continue
            for end, name in zip(ends, (subject, object), strict=True):
                _, passages = names.setdefault(end, (name, []))
                passages += [row] * (row not in passages)
            passages = facts.setdefault((ends[0], " ".join(relation.split()), ends[1]), [])
            passages += [row] * (row not in passages)
    return names, facts


@given(FACTS)
def test_facts_of_a_few_documents_are_those_of_a_plain_loop_over_their_triples(texts):
    documents = [Document(str(i), f"Text {i}") for i in range(len(texts))]
    pieces = [[Piece("passage", one.text, 0, len(one.text))] for one in documents]
    graph = assemble(documents, pieces, {str(i): own for i, own in enumerate(texts)}, len)
    names, facts = by_a_plain_loop(texts)
    n = len(documents)
    assert list(graph.texts[n:]) == [name for name, _ in names.values()]
    assert list(graph.ids[n:]) == [f"entity:{end}" for end in names]
    assert [part.tolist() for part in graph.read_from][n:] == [own for _, own in names.values()]
    written = {end: name for end, (name, _) in names.items()}
    assert list(graph.facts.texts) == [f"{written[a]} {r} {written[b]}" for a, r, b in facts]
    assert list(graph.facts.relations) == [relation for _, relation, _ in facts]
    assert [part.tolist() for part in graph.facts.read_from] == list(facts.values())
    row_of = {end: row for row, end in enumerate(names, n)}
    assert graph.facts.subjects.tolist() == [row_of[end] for end, _, _ in facts]
    assert graph.facts.objects.tolist() == [row_of[end] for _, _, end in facts]


def test_what_was_numbered_before_all_was_forgotten_is_numbered_again(monkeypatch):
    monkeypatch.setattr("clew.read.assembly.NUMBERS", few_facts.KeptNumbering(most=4))
    documents = [Document(str(i), f"Text {i}") for i in range(2)]
    pieces = [[Piece("passage", one.text, 0, len(one.text))] for one in documents]
    for first in (0, 1, 0):  # each time one is known, and by a numbering that has ended
        facts = {str(i): [(f"Anna {first + i}", "met", f"Ben {i}")] for i in range(2)}
        graph = assemble(documents, pieces, facts, len)
        assert list(graph.facts.texts) == [f"Anna {first + i} met Ben {i}" for i in range(2)]
