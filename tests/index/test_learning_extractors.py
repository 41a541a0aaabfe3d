"""A large index with names is changed in place: what is new is read by what all passages have taught."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import Document, Graph, Index, Names, NamesAndSymbols, Splitter, Symbols
from clew.graph import Edges
from clew.index import in_place
from clew.index.build import edges_by
from clew.read import read_passages
from clew.read.extract.code.known_code import KnownCode
from clew.store import saving
from tests.conftest import hashed_words
from tests.index.test_in_place import described

WORDS = (
    "Anna",
    "anna",
    "Ben",
    "The",
    "the",
    "Winter",
    "winter",
    "St.",
    "Corfu",
    "of",
    "sails",
    "القاهرة",
)
SENTENCE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
TEXT = st.lists(SENTENCE, min_size=1, max_size=4).map(". ".join)
MADE = st.lists(
    st.tuples(TEXT, TEXT, st.sampled_from(["", "Anna", "The Winter"])), min_size=8, max_size=8
)
STEPS = st.lists(  # as many as find what one change leaves for the next
    st.tuples(st.sampled_from(["add", "delete", "upsert"]), st.integers(0, 7)), max_size=5
)


def document(number, made, again=False):
    first, second, title = made
    text = f"{first}.\n\n{second} {'again' if again else ''}"
    return Document(f"d{number}", text, {"title": title} if title else {})


def build(documents, extractor=None):
    return Index.from_documents(
        documents,
        embedder=hashed_words,
        splitter=Splitter(12),
        extractor=extractor or Names(),
    )


def facts_of(graph: Graph) -> dict[str, set[tuple[str, str, str]]]:
    """The facts of every passage, by the names of their ends in any case."""
    facts = {graph.ids[row]: set() for row in graph.rows("passage").tolist()}
    for i, relation in enumerate(graph.facts.relations):
        ends = (graph.ids[int(rows[i])] for rows in (graph.facts.subjects, graph.facts.objects))
        subject, object = ends
        for row in graph.facts.read_from[i].tolist():
            facts[graph.ids[row]].add((subject, relation, object))
    return facts


def in_its_place(patch):
    patch.setattr(in_place, "MIN_PASSAGES", 0)
    patch.setattr(in_place, "MAX_CHANGED", 1e9)


@settings(deadline=None)
@given(MADE, st.integers(2, 5), STEPS)
def test_new_passages_are_read_as_in_an_index_of_all_and_the_others_stay_as_they_are(
    made, first, steps
):
    there = {f"d{number}": document(number, each) for number, each in enumerate(made[:first])}
    index = build(list(there.values()))
    expected = facts_of(index.graph)
    with pytest.MonkeyPatch.context() as patch:
        in_its_place(patch)
        patch.setattr("clew.index.changes.rebuild", lambda *_, **__: pytest.fail("built whole"))
        for step, number in steps:
            one = document(number, made[number], again=step == "upsert")
            if step == "delete" and one.id in there and len(there) > 2:
                index = index.delete(one.id)
                del there[one.id]
            elif step == "add" and one.id not in there:
                index, there[one.id] = index.add([one]), one
            elif step == "upsert" and there.get(one.id) != one:
                there.pop(one.id, None)
                index, there[one.id] = index.upsert([one]), one
            else:
                continue
            whole = build(list(there.values()))
            assert index.knowledge == whole.knowledge
            of_all = facts_of(whole.graph)
            new = {id for id in of_all if id.split("#")[0] == one.id} if step != "delete" else set()
            old = {id: expected[id] for id in of_all if id in expected and id not in new}
            expected = {id: of_all[id] for id in of_all} | old
            assert facts_of(index.graph) == expected
    assert_edges_are_those_made_at_once(index)
    compacted = index.compact()
    assert described(compacted.graph)[:2] == described(build(list(there.values())).graph)[:2]


def assert_edges_are_those_made_at_once(index):
    anew = index.graph.with_edges(Edges())
    made = Edges.join([edges_by(link, anew) for link in index.config.links])
    expected, found = (described(one)[2] for one in (anew.with_edges(made), index.graph))
    assert found.keys() == expected.keys()
    assert list(found.values()) == pytest.approx([expected[key] for key in found], abs=2e-6)


def corpus(n):
    return [
        Document(f"d{i}", f"In summer Anna{i} sails from Corfu with Ben{i % 7}. St. Paul waits.")
        for i in range(n)
    ]


def test_deleting_leaves_no_fact_and_no_word_also_in_the_file_of_the_change(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "MIN_BYTES", 0)  # these few words take few bytes
    secret = Document("secret", "The Quillwort sold Zanzibar for ambergris. Mx. Vole: القاهرة هنا.")
    index = Index.from_documents(corpus(1100), extractor=Names()).add([secret])
    said = ("quillwort", "zanzibar", "ambergris", "sold", "vole", "mx", "القاهرة", "هنا")
    known = {text.casefold() for table in index.knowledge.tables.values() for text in table}
    assert known.issuperset(said)
    assert index.changed == 1
    index.save(tmp_path)
    less = Index.load(tmp_path).delete("secret")
    assert less.changed == 2
    texts = [text for table in less.knowledge.tables.values() for text in table]
    texts += [*less.graph.texts, *less.graph.facts.texts, *less.graph.facts.relations.names]
    assert not [text for text in texts if any(word in text.casefold() for word in said)]
    assert less.knowledge == Names().learn(read_passages(corpus(1100)))[1]
    less.save(tmp_path)
    [change] = (tmp_path / "data").glob("changes-00000002-*")
    written = change.read_bytes().decode("utf-8", "replace").casefold()
    assert not [word for word in said if word in written]
    assert Index.load(tmp_path).knowledge == less.knowledge


def test_an_index_is_loaded_and_changed_in_place_in_another_process(tmp_path):
    texts = corpus(1100)
    index = Index.from_documents(texts[:-1], extractor=Names())
    index.save(tmp_path)
    code = (
        "import sys, clew\n"
        "index = clew.Index.load(sys.argv[1]).add([clew.Document('new', sys.argv[2])])\n"
        "assert index.changed == 1\n"
        "index.delete('d0').save(sys.argv[1])\n"
    )
    new = "They call Corfu. Winter came in winter. See Paul."
    subprocess.run([sys.executable, "-c", code, str(tmp_path), new], check=True)
    loaded = Index.load(tmp_path, verify="full")
    mine = index.add([Document("new", new)]).delete("d0")
    assert loaded.changed == mine.changed == 2
    assert loaded.knowledge == mine.knowledge
    assert facts_of(loaded.graph) == facts_of(mine.graph)
    assert ("entity:they", "call", "entity:corfu") not in facts_of(loaded.graph)["new"]
    assert facts_of(loaded.graph)["new"]


class Shouted(Names):
    """An extractor of the caller's own of all passages together, which learns nothing."""

    def triples(self, passages):
        return [[(a.upper(), r, b) for a, r, b in some] for some in super().triples(passages)]


@pytest.mark.parametrize("extractor", [Shouted(), Names(min_passages=2)])
def test_what_does_not_learn_is_built_whole_as_before(extractor):
    index = Index.from_documents(corpus(1000), extractor=extractor, embedder=hashed_words)
    assert index.knowledge is None
    added = index.add([Document("new", "In spring Cleo sails.")])
    assert added.changed == 0
    assert added.delete("new").changed == 0


def test_an_index_without_knowledge_or_with_that_of_another_form_is_built_whole_once():
    index = Index.from_documents(corpus(1000), extractor=Names(), embedder=hashed_words)
    other = replace(index.knowledge, form="names 0")
    for knowledge in (None, other):
        old = replace(index, knowledge=knowledge)
        whole = old.add([Document("new", "In spring Cleo sails.")])
        assert whole.changed == 0
        assert whole.delete("new").changed == 1
    damaged = replace(index, knowledge=index.knowledge.shrunk(index.knowledge))
    assert damaged.delete("d1").changed == 0, "what was never learnt cannot be forgotten"


def test_a_filter_leaves_nothing_of_what_is_forbidden():
    documents = [replace(one, metadata={"group": i % 2}) for i, one in enumerate(corpus(1200))]
    documents[1] = replace(documents[1], text="The Quillwort sails.")
    index = Index.from_documents(documents, extractor=Names(), embedder=hashed_words)
    filtered = index.filtered({"group": 0})
    assert (
        filtered.knowledge
        == Index.from_documents(documents[::2], extractor=Names(), embedder=hashed_words).knowledge
    )
    assert "quillwort" not in filtered.knowledge.tables["names.capital"]


CODE = {
    "kit/saw.py": "class Saw:\n    def cut_wood(self):\n        return start()\n\ndef start(): ...",
    "kit/axe.py": "from kit.saw import Saw\n\nclass Axe(Saw):\n    def chop(self): self.cut_wood()",
    "shop.py": "from kit.axe import Axe\n\ndef sell(): Axe().chop()",
    "guide.md": "# Guide\n\nAnna takes a `Saw` or an `Axe`. Then `start` it.",
}


def code(**changed):
    texts = {**CODE, **{path: text for path, text in changed.items() if text}}
    return [
        Document(path, text, format="python" if path.endswith(".py") else "markdown")
        for path, text in texts.items()
    ]


@pytest.mark.parametrize("extractor", [Symbols(), NamesAndSymbols()])
def test_a_changed_file_is_read_by_what_the_others_define(extractor, monkeypatch):
    in_its_place(monkeypatch)
    index = build(code(), extractor)
    before = facts_of(index.graph)
    text = (
        CODE["shop.py"] + "\n\ndef start(): ...\n\ndef repair():\n    start()\n    Axe().cut_wood()"
    )
    [new] = [one for one in code(**{"shop.py": text}) if one.id == "shop.py"]
    index = index.upsert([new])
    assert index.changed > 0
    now = facts_of(index.graph)
    assert {id: facts for id, facts in now.items() if not id.startswith("shop")} == {
        id: facts for id, facts in before.items() if not id.startswith("shop")
    }, "nothing else is read again"
    said = set().union(*(facts for id, facts in now.items() if id.startswith("shop")))
    assert {
        ("entity:sell", "calls", "entity:axe.chop"),
        ("entity:repair", "calls", "entity:shop.start"),  # the short name is taken
        ("entity:repair", "calls", "entity:saw.cut_wood"),
    } <= said
    names = KnownCode(index.knowledge.part("symbols 2")).naming.names
    assert names["kit.saw", "start"] == "start"
    whole = build([*code()[:2], code()[3], new], extractor)
    assert described(index.compact().graph)[:2] == described(whole.graph)[:2]
    assert index.compact().knowledge == whole.knowledge
    less = index.delete("shop.py").delete("guide.md")
    texts = [text for table in less.knowledge.tables.values() for text in table]
    texts += [*less.graph.texts, *less.graph.facts.texts]
    assert not [text for text in texts if any(word in text for word in ("shop", "repair", "Anna"))]


def test_prose_that_comes_names_the_symbols_that_are_there(monkeypatch):
    in_its_place(monkeypatch)
    index = build(code(), NamesAndSymbols()).add(
        [Document("note", "Use `kit.saw.Saw` or Axe.chop.")]
    )
    assert index.changed > 0
    found = facts_of(index.graph).items()
    said = {end for id, facts in found if id.startswith("note") for _, _, end in facts}
    assert {"entity:saw", "entity:axe.chop"} <= said


def test_symbols_are_saved_loaded_and_changed_in_place(tmp_path, monkeypatch):
    in_its_place(monkeypatch)
    build(code(), NamesAndSymbols()).save(tmp_path)
    loaded = Index.load(tmp_path, embedder=hashed_words)
    new = Document("run.py", "from shop import sell\n\ndef go(): sell()", format="python")
    index = loaded.add([new])
    assert index.changed > 0
    assert ("entity:go", "calls", "entity:sell") in set().union(*facts_of(index.graph).values())
    index.save(tmp_path)
    assert Index.load(tmp_path, embedder=hashed_words).knowledge == index.knowledge
