"""Facts that a caller gives stay with the text that says them, and are lost nowhere in silence."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Document, Index
from clew.index import in_place
from clew.index.saving import saved_index
from clew.store import columns, saving
from tests.conftest import hashed_words

TEXTS = ("Anna sails to Corfu.", "Ben lives on Delos.")
IDS = ("a", "b", "c", "d")
SAID = {"a": [("Anna", "sails to", "Corfu")], "b": [("Ben", "lives on", "Delos")]}
HERE = [Document("a", TEXTS[0]), Document("b", TEXTS[1]), Document("c", "The quay is of stone.")]


@pytest.fixture(params=[False, True], ids=["built whole", "in place"])
def sizes(request, monkeypatch):
    """Every change is made as in a small index, and as in a large one."""
    if request.param:
        monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
        monkeypatch.setattr(in_place, "MAX_CHANGED", 1e9)


def build(documents=HERE, facts=SAID):
    return Index.from_documents(documents, facts=facts, embedder=hashed_words)


def said(index):
    """What the facts of the graph say, and where they were read."""
    facts, texts, ids = index.graph.facts, index.graph.texts, index.graph.ids
    return {
        (texts[facts.subjects[i]], relation, texts[facts.objects[i]]): {
            ids[row] for row in facts.read_from[i].tolist()
        }
        for i, relation in enumerate(facts.relations)
    }


def told(facts):
    """The same of facts by document id."""
    expected = {}
    for id, triples in facts.items():
        for triple in triples:
            expected.setdefault(tuple(triple), set()).add(id)
    return expected


@pytest.mark.usefixtures("sizes")
def test_without_facts_those_of_the_same_texts_stay():
    index = build()
    assert index.sync(HERE) is index
    assert index.upsert(HERE[:1]) is index
    other = Document("b", TEXTS[1], {"year": 1900})
    changed = index.upsert([Document("c", "The quay is of wood."), other])
    assert changed.facts == SAID
    assert said(changed) == told(SAID)
    assert changed.document_of["b"].metadata == {"year": 1900}
    assert said(changed.sync(HERE[:2])) == told(SAID)
    assert said(changed.sync(HERE[:1])) == told({"a": SAID["a"]})


@pytest.mark.usefixtures("sizes")
def test_facts_go_with_the_text_that_says_them_and_by_an_empty_mapping():
    index = build()
    changed = index.upsert([Document("a", "Anna stays at home.")])
    assert said(changed) == told({"b": SAID["b"]})
    assert changed.facts == {"b": SAID["b"]}
    assert said(index.upsert(HERE[:1], facts={})) == told({"b": SAID["b"]})
    assert said(index.sync(HERE, facts={})) == {}
    assert said(index.sync(HERE, facts={"b": SAID["b"]})) == told({"b": SAID["b"]})


@pytest.mark.usefixtures("sizes")
def test_facts_that_documents_bring_are_those_of_the_last_time():
    brings = [Document("a", TEXTS[0], facts=(("Anna", "owns", "a boat"),)), *HERE[1:]]
    index = build(brings, {"a": SAID["a"]})
    assert index.sync(brings) is index
    other = [Document("a", TEXTS[0], facts=(("Anna", "owns", "a ship"),)), *HERE[1:]]
    assert said(index.sync(other)) == told({"a": [*SAID["a"], ("Anna", "owns", "a ship")]})
    assert said(index.sync(HERE)) == told({"a": SAID["a"]})


@given(
    st.lists(
        st.tuples(
            st.booleans(),
            st.dictionaries(st.sampled_from(IDS), st.sampled_from(TEXTS), min_size=1),
            st.one_of(
                st.none(), st.dictionaries(st.sampled_from(IDS), st.sampled_from([*SAID.values()]))
            ),
        ),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_facts_are_those_that_a_dictionary_would_have(steps, in_its_place):
    texts, facts = {one.id: one.text for one in HERE}, dict(SAID)
    index = build()
    with pytest.MonkeyPatch.context() as patch:
        if in_its_place:
            patch.setattr(in_place, "MIN_PASSAGES", 0)
            patch.setattr(in_place, "MAX_CHANGED", 1e9)
        for others_go, came, with_facts in steps:
            if with_facts is not None:
                with_facts = {id: each for id, each in with_facts.items() if id in came}
            for id, text in came.items():
                if with_facts is not None or texts.get(id) != text:
                    facts.pop(id, None)
                if with_facts is not None and id in with_facts:
                    facts[id] = with_facts[id]
            texts = dict(came) if others_go else texts | came
            facts = {id: each for id, each in facts.items() if id in texts}
            change = index.sync if others_go else index.upsert
            index = change([Document(*item) for item in came.items()], facts=with_facts)
    assert index.facts == facts
    assert said(index) == told(facts)


DID_NOT_COME = r"facts were given for 1 documents that did not come, for instance 'elsewhere'"
ELSEWHERE = {"elsewhere": [("x", "y", "z")]}


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize(
    "change",
    [
        lambda index: build(facts=ELSEWHERE),
        lambda index: index.add([Document("new", "A zebra.")], facts=ELSEWHERE),
        lambda index: index.upsert([Document("new", "A zebra.")], facts=ELSEWHERE),
        lambda index: index.upsert(HERE, facts=ELSEWHERE),
        lambda index: index.sync(HERE, facts=SAID | ELSEWHERE),
        lambda index: index.sync([Document("new", "A zebra.")], facts=ELSEWHERE),
    ],
)
def test_facts_of_what_did_not_come_are_refused_everywhere(change):
    index = build()
    with pytest.raises(ValueError, match=DID_NOT_COME):
        change(index)


@pytest.mark.usefixtures("sizes")
def test_facts_of_what_is_there_come_with_it_alone():
    index, new = build(), [Document("new", "A zebra.")]
    piece = [Document("new", "A zebra.", source="c")]
    for documents in (new, piece):
        for change in (index.add, index.upsert):
            with pytest.raises(ValueError, match="did not come, for instance 'c'"):
                change(documents, facts={"c": [("x", "y", "z")]})


@pytest.mark.usefixtures("sizes")
def test_what_has_pieces_alone_has_facts_as_long_as_it_has_pieces():
    book, again = {"book": [SAID["a"][0]]}, {"book": [SAID["b"][0]]}
    pages = [Document("p1", TEXTS[0], source="book"), Document("p2", "A sea.", source="book")]
    index = build([*pages, HERE[2]], book)
    assert said(index) == told({"p1": SAID["a"]})
    assert index.upsert(pages, facts=book) is index
    assert said(index.upsert(pages, facts=again)) == told({"p1": SAID["b"]})
    assert index.sync([*pages, HERE[2]]) is index
    assert said(index.delete("p1")) == told({"p2": SAID["a"]})
    for gone in (index.delete(["p1", "p2"]), index.sync([HERE[2]])):
        assert (said(gone), gone.facts) == ({}, {})
    fewer = index.upsert([Document("p1", "Another.", source="book")])
    assert fewer.facts == book
    more = index.add([Document("p3", TEXTS[1], source="book")], facts=again)
    assert more.facts == {"book": [SAID["a"][0], SAID["b"][0]]}


@pytest.mark.usefixtures("sizes")
def test_what_is_said_of_all_pieces_says_all_of_their_source():
    book = {"book": [SAID["a"][0]]}
    pages = [Document("p1", TEXTS[0], source="book"), Document("p2", "A sea.", source="book")]
    index = build([*pages, HERE[2]], book)
    for facts in ({}, {"p1": SAID["b"]}):
        for changed in (
            index.upsert(pages, facts=facts),
            index.upsert(pages[::-1], facts=facts),
            index.sync([*pages, HERE[2]], facts=facts),
        ):
            assert (changed.facts, said(changed)) == (facts, told(facts))
    assert index.upsert(pages[:1], facts={}).facts == book
    assert index.upsert(HERE[2:], facts={}) is index


@pytest.mark.usefixtures("sizes")
def test_what_was_given_stays_beside_what_the_document_brings():
    given, first, second = SAID["a"], SAID["b"], [("Delos", "is", "small")]

    def brings(facts):
        return [Document("a", TEXTS[0], facts=facts)]

    index = build([*brings([]), HERE[1]], {"a": given})
    brought = index.upsert(brings(first))
    assert brought.facts == {"a": given + first}
    assert brought.upsert(brings(first)) is brought
    assert brought.upsert(brings(second)).facts == {"a": given + second}
    assert brought.upsert(brings(second)).upsert(brings([])).facts == {"a": given}
    other_text = brought.upsert([Document("a", "Anna stays.", facts=second)])
    assert said(other_text) == told({"a": second})


def test_of_an_older_index_whose_facts_are_lists_what_was_given_stays():
    index = build([Document("a", TEXTS[0], facts=SAID["b"]), HERE[1]], {"a": SAID["a"]})
    listed = {id: [list(triple) for triple in triples] for id, triples in index.facts.items()}
    older = dataclasses.replace(index, facts=listed)
    changed = older.upsert([Document("a", TEXTS[0], facts=[("Delos", "is", "small")])])
    assert changed.facts == {"a": [*SAID["a"], ("Delos", "is", "small")]}


def test_what_a_saved_document_brings_again_is_there_once(tmp_path):
    document = Document("a", TEXTS[0], facts=SAID["b"])
    build([document, HERE[1]], {"a": SAID["a"]}).save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index", embedder=hashed_words)
    assert loaded.upsert([document]) is loaded


def load(path):
    return Index.load(path, embedder=hashed_words)


@pytest.mark.usefixtures("sizes")
def test_what_a_document_brought_is_still_known_after_it_was_saved(tmp_path, monkeypatch):
    """Whether the index was written whole, or the change alone."""
    monkeypatch.setattr(saving, "MIN_BYTES", 0)
    given, first, second = SAID["a"], SAID["b"], [("Delos", "is", "small")]

    def brings(facts, id="a"):
        return [Document(id, TEXTS[0], facts=facts)]

    build([*brings(first), HERE[1]], {"a": given}).save(tmp_path / "index")
    index = load(tmp_path / "index")
    assert index.facts == {"a": given + first}
    assert index.upsert(brings(first)) is index
    assert index.upsert(brings(second)).facts == {"a": given + second}
    assert index.upsert(brings([])).facts == {"a": given}
    index.add(brings(second, "late"), facts={"late": given}).save(tmp_path / "index")
    changed = load(tmp_path / "index")
    assert changed.upsert(brings(first, "late")).facts == {
        "a": given + first,
        "late": given + first,
    }


def test_of_an_index_of_an_earlier_version_what_was_brought_stays(tmp_path, monkeypatch):
    """It has no column of that, nor has one in which nothing was brought."""
    written = columns.columns_of(saved_index(build()))
    assert not [name for name in written if name.startswith("documents.facts")]
    document = Document("a", TEXTS[0], facts=SAID["a"])
    build([document, HERE[1]], None).save(tmp_path / "index")
    monkeypatch.setattr(columns, "BROUGHT", "nothing of this name")
    older = load(tmp_path / "index")
    assert older.documents[0].facts == ()
    assert older.upsert([document]) is older
    assert older.upsert([HERE[0]]).facts == {"a": SAID["a"]}


@pytest.mark.parametrize("gone", ["p1", "p2", "p3", "q1", "c"])
def test_a_large_index_is_built_again_where_a_fact_loses_the_piece_it_was_read_from(
    gone, monkeypatch
):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    monkeypatch.setattr(in_place, "MAX_CHANGED", 1e9)
    pages = [
        Document("p1", "Anna stays.", source="book"),
        Document("p2", TEXTS[0], source="book"),
        Document("p3", TEXTS[1], source="book"),
        Document("q1", "A sea.", source="log"),
        HERE[2],
    ]
    # Of the book's facts one is read from p2 and one from p3; what p1 says itself is none of them.
    facts = {
        "book": [("ANNA", "sails  to", "Corfu"), ("Ben", "lives on", "Delos")],
        "log": [],
        "p1": [("Anna", "is", "here")],
    }
    index = build(pages, facts)
    left = in_place.without_documents_in_place(index, {gone})
    assert (left is None) == (gone in {"p2", "p3", "q1"})
    others = [one for one in pages if one.id != gone]
    kept = {id: each for id, each in facts.items() if id != gone and (gone, id) != ("q1", "log")}
    assert said(index.delete(gone)) == said(build(others, kept))
    assert index.delete(gone).facts == kept


@pytest.mark.usefixtures("sizes")
def test_facts_as_lists_are_those_that_are_loaded_again(tmp_path):
    listed = {id: [list(triple) for triple in triples] for id, triples in SAID.items()}
    index = build(facts={id: iter(triples) for id, triples in listed.items()})
    assert index.facts == SAID
    index.save(tmp_path / "index")
    for one in (index, Index.load(tmp_path / "index", embedder=hashed_words)):
        assert one.upsert(HERE, facts=listed) is one
        assert one.sync(HERE, facts=SAID) is one


@pytest.mark.parametrize("wrong", [None, "Anna", 7, {"Anna": "owns"}])
def test_facts_of_another_kind_are_told_of(wrong):
    expected = r"\[\(subject, relation, object\)\]; document 'a' has " + re.escape(repr(wrong))
    for make in (build, lambda facts: build().upsert(HERE, facts=facts)):
        with pytest.raises(TypeError, match=expected):
            make(facts={"a": wrong})


@pytest.mark.parametrize("wrong", [["Anna", "owns"], ["Anna", "owns", 7], "abc", 7, None])
def test_a_fact_of_another_kind_is_told_of(wrong):
    with pytest.raises(ValueError, match=r"three strings; document 'a' has"):
        build(facts={"a": [wrong]})


def test_a_document_that_comes_twice_has_the_facts_of_both_also_as_lists():
    knows, owns = ["Anna", "knows", "Ben"], ["Anna", "owns", "a boat"]
    twice = [Document("a", TEXTS[0], facts=[knows]), Document("a", TEXTS[0], facts=[knows, owns])]
    assert build(twice, {}).facts == {"a": [tuple(knows), tuple(owns)]}


@pytest.mark.parametrize(
    "fact",
    [{"subject": "Anna", "relation": "is", "object": "here"}, {"Anna", "is", "here"}, "Ann"],
    ids=lambda fact: type(fact).__name__,
)
def test_what_is_no_triple_is_refused_and_not_taken_by_its_keys(fact):
    with pytest.raises(ValueError, match=r"a fact is \(subject, relation, object\), three strings"):
        build(facts={"a": [fact]})
