"""A large index that is changed in place is the index that would be built of what is left."""

from __future__ import annotations

import json
import re
import tempfile
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from clew import Document, Index, Names, Splitter, Triples
from clew.cli.report import explanation
from clew.index import in_place
from clew.seed.bm25 import InvertedIndexPart
from tests.conftest import hashed_words

NAMES = ("Anna", "Ben", "Corfu", "Delos", "Ella", "Fay")
VERBS = ("married", "lives on", "sails to", "knows", "built")
SAID = st.tuples(st.sampled_from(NAMES), st.sampled_from(VERBS), st.sampled_from(NAMES))
MADE = st.tuples(
    st.lists(SAID, min_size=1, max_size=4),
    st.lists(SAID, max_size=3),
    st.booleans(),
    st.sampled_from(["", "See [more](d1).", "See [it](d7)."]),
)
QUESTION = "Who lives on Corfu, and what did Anna build?"


@pytest.fixture
def at_any_size(monkeypatch):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    monkeypatch.setattr(in_place, "MAX_CHANGED", 1e9)


def document(number, made):
    said, _, headed, link = made
    sentences = [f"Truly, {' '.join(triple)}." for triple in said]
    text = "\n\n".join([*(["# Of old"] if headed else []), *sentences, link])
    return Document(f"d{number}", text, {"group": number % 3}, format="markdown")


def told_apart(texts):
    """Words by their hashes, and a little of the text as a whole: facts of the same words do not tie.

    Of five facts of which two tie for the last place, the row decides, and a change leaves facts in
    other rows than a rebuild does.
    """
    noise = [np.random.default_rng(zlib.crc32(text.encode())).normal(size=24) for text in texts]
    vectors = hashed_words(texts) + 0.01 * np.reshape(noise, (-1, 24))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def build(documents, facts):
    chosen = {one.id: facts[one.id] for one in documents if facts[one.id]}
    return Index.from_documents(documents, facts=chosen, embedder=told_apart, splitter=Splitter(12))


def described(graph):
    """What a graph says, by ids, in no order."""
    id_of = dict(enumerate(graph.ids)) | {-1: None}
    nodes = {
        id: (
            graph.kinds[row],
            graph.texts[row].casefold(),
            int(graph.tokens[row]),
            id_of[int(graph.documents[row])],
            id_of[int(graph.parents[row])],
            id_of[int(graph.previous[row])],
            tuple(graph.spans[row].tolist()),
            graph.references[row],
            frozenset(id_of[i] for i in graph.read_from[row].tolist()),
            graph.metadata[row].get("group"),
        )
        for row, id in id_of.items()
        if row >= 0
    }
    facts = {
        (id_of[int(graph.facts.subjects[i])], relation, id_of[int(graph.facts.objects[i])]): {
            id_of[row] for row in graph.facts.read_from[i].tolist()
        }
        for i, relation in enumerate(graph.facts.relations)
    }
    edges = {}
    for i, kind in enumerate(graph.edges.kinds):
        sources = tuple(sorted(id_of[row] for row in graph.edges.read_from[i].tolist()))
        ends = (kind, id_of[int(graph.edges.tails[i])], id_of[int(graph.edges.heads[i])])
        edges[*ends, sources] = edges.get((*ends, sources), 0) + float(graph.edges.weights[i])
    return nodes, facts, edges


def same_as_built_at_once(index, facts):
    """Hold a changed index against one that is built of its documents and facts."""
    whole = build(index.documents, facts)
    (nodes, said, edges), expected = described(index.graph), described(whole.graph)
    assert (nodes, said) == expected[:2]
    assert edges.keys() == expected[2].keys()
    assert [edges[key] for key in edges] == pytest.approx(
        [expected[2][key] for key in edges], abs=2e-6
    )
    for recipe in ("bm25", "fused", "hipporag", "kurisu"):
        changed, anew = (each.ask(QUESTION, recipe=recipe, budget=60) for each in (index, whole))
        assert sorted(item.score for item in changed) == pytest.approx(
            sorted(item.score for item in anew), abs=1e-5
        )
    vectors, anew = (
        dict(zip(each.graph.ids, each.graph.vectors, strict=True)) for each in (index, whole)
    )
    assert all(np.allclose(vectors[id], vector, atol=1e-6) for id, vector in anew.items())


@settings(deadline=None)
@given(
    st.lists(MADE, min_size=10, max_size=10),
    st.integers(3, 6),
    st.lists(st.integers(0, 9), max_size=8),
)
def test_it_equals_an_index_built_of_what_is_left(made, first, steps):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_place, "MIN_PASSAGES", 0)
        patch.setattr(in_place, "MAX_CHANGED", 1e9)
        documents = [document(number, each) for number, each in enumerate(made)]
        facts = {one.id: each[1] for one, each in zip(documents, made, strict=True)}
        there = documents[:first]
        index = build(there, facts)
        index.ask(QUESTION, recipe="fused")
        for number in steps:
            one = documents[number]
            if one in there and len(there) > 1:
                index, there = index.delete(one.id), [each for each in there if each is not one]
            elif one not in there:
                more = {one.id: facts[one.id]} if facts[one.id] else None
                index, there = index.add([one], facts=more), [*there, one]
            index.ask(QUESTION, recipe="fused")
    assert [one.id for one in index.documents] == [one.id for one in there]
    same_as_built_at_once(index, facts)


SOME = st.lists(
    st.tuples(st.integers(0, 9), MADE), min_size=1, max_size=3, unique_by=lambda pair: pair[0]
)


class Changes(RuleBasedStateMachine):
    """An index that is changed in place by all its methods, and is what is built of its documents."""

    @initialize(made=SOME)
    def begin(self, made):
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(in_place, "MIN_PASSAGES", 0)
        self.patch.setattr(in_place, "MAX_CHANGED", 1e9)
        self.made = dict(made)
        self.index = build([document(*each) for each in made], self.facts())

    def facts(self):
        return {f"d{number}": said for number, (_, said, *_) in self.made.items()}

    def those(self, numbers):
        """Documents, and their facts."""
        facts = {f"d{n}": self.made[n][1] for n in numbers if self.made[n][1]}
        return [document(n, self.made[n]) for n in numbers], facts

    @rule(made=SOME)
    def add(self, made):
        new = {number: each for number, each in made if number not in self.made}
        self.made |= new
        documents, facts = self.those(new)
        if documents:
            self.index = self.index.add(documents, facts=facts)

    @rule(made=SOME)
    def upsert(self, made):
        self.made |= dict(made)
        documents, facts = self.those(dict(made))
        self.index = self.index.upsert(documents, facts=facts)

    @rule(made=SOME, data=st.data())
    def sync(self, made, data):
        gone = data.draw(st.sets(st.sampled_from(sorted(self.made)), max_size=3))
        self.made = {n: each for n, each in self.made.items() if n not in gone} | dict(made)
        documents, facts = self.those(self.made)
        self.index = self.index.sync(documents, facts=facts)

    @precondition(lambda self: len(self.made) > 1)
    @rule(data=st.data())
    def delete(self, data):
        gone = data.draw(
            st.sets(st.sampled_from(sorted(self.made)), min_size=1, max_size=len(self.made) - 1)
        )
        self.made = {n: each for n, each in self.made.items() if n not in gone}
        self.index = self.index.delete([f"d{n}" for n in gone])

    @rule()
    def compact(self):
        self.index = self.index.compact()

    @rule()
    def hold(self):
        documents, _ = self.those(self.made)
        assert {one.id: one.text for one in self.index.documents} == {
            one.id: one.text for one in documents
        }
        same_as_built_at_once(self.index, self.facts())

    def teardown(self):
        if hasattr(self, "patch"):
            self.hold()
            self.patch.undo()


TestChanges = Changes.TestCase
TestChanges.settings = settings(
    max_examples=settings().max_examples // 4, stateful_step_count=10, deadline=None
)


def corpus(n):
    return [
        Document(f"d{i}", f"Ferry {i} berths at quay {i * 7 % 41} in {NAMES[i % 6]}.")
        for i in range(n)
    ]


def test_nothing_that_is_there_is_read_or_embedded_again():
    embedded = []

    def embed(texts):
        embedded.extend(texts)
        return hashed_words(texts)

    index = Index.from_documents(corpus(1200), embedder=embed)
    embedded.clear()
    more = index.add([Document("new", "A zebra crossed the sea.")])
    assert embedded == ["A zebra crossed the sea."]
    assert more.changed == 1
    assert more.ask("zebra", recipe="bm25", limit=1).ids == ["new"]
    less = more.delete("new")
    assert len(embedded) == 2  # the question's vector, too
    assert less.changed == 2
    assert less.ask("zebra", recipe="bm25").text == index.ask("zebra", recipe="bm25").text


def test_after_a_tenth_it_is_built_whole_and_compact_does_so_at_once():
    index = Index.from_documents(corpus(1000))
    little = index.add([Document("new", "A zebra crossed the sea.")])
    assert little.changed == 1
    assert little.compact().changed == 0
    assert little.compact().graph.ids == Index.from_documents(little.documents).graph.ids
    many = [Document(f"m{i}", f"Zebra {i} crossed the sea.") for i in range(120)]
    assert little.add(many).changed == 0


@pytest.mark.usefixtures("at_any_size")
def test_the_trace_says_what_is_as_of_the_last_compact(tmp_path):
    kept = {
        "weights of words in vectors": {},
        "names in passages that were there": {"embedder": hashed_words, "extractor": Names()},
        None: {"embedder": hashed_words},
    }
    for what, keywords in kept.items():
        said = Document("said", "Anna Berg met Ben Ito in Delos.")
        index = Index.from_documents([*corpus(20), said], **keywords)
        assert not [step for step in index.ask("quay 7").trace if step.stage == "index"]
        index = index.add([Document("new", "A zebra crossed the sea.")]).delete(["d3", "d4"])
        index.save(tmp_path / str(what))
        for each in (index, Index.load(tmp_path / str(what), **keywords)):
            context = each.ask("quay 7")
            steps = [step for step in context.trace if step.stage == "index"]
            assert [dict(step.notes) for step in steps] == [
                {
                    "as of the last compact": [what],
                    "passages changed since": 3,
                    "share": 0.15,
                }
            ] * (what is not None)
            assert ("passages changed since 3" in explanation(context)) == (what is not None)
            if what is not None:
                assert "passages changed since" in context.to_html()
        assert not [step for step in index.compact().ask("quay 7").trace if step.stage == "index"]


@given(st.lists(MADE, min_size=6, max_size=10), st.integers(0, 2))
def test_what_a_filter_leaves_is_what_an_index_of_it_alone_holds(made, number):
    documents = [document(i, each) for i, each in enumerate(made)]
    index = build(documents, {one.id: [] for one in documents})
    index.ask(QUESTION, recipe="fused")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_place, "MIN_PASSAGES", 0)
        patch.setattr("clew.index.filtering.rebuild", lambda *_, **__: pytest.fail("built whole"))
        filtered = index.filtered({"group": number})
    alone = [one for one in documents if one.metadata["group"] == number]
    whole = build(alone, {one.id: [] for one in alone})
    (nodes, said, edges), expected = described(filtered.graph), described(whole.graph)
    assert (nodes, said) == expected[:2]
    assert edges.keys() == expected[2].keys()
    assert [edges[key] for key in edges] == pytest.approx([expected[2][key] for key in edges])
    for recipe in ("bm25", "fused", "hipporag", "kurisu", "budgeted"):
        some, anew = (each.ask(QUESTION, recipe=recipe, budget=60) for each in (filtered, whole))
        assert (some.text, some.ids) == (anew.text, anew.ids)
        assert [item.score for item in some] == pytest.approx([item.score for item in anew])


@settings(deadline=None)
@given(
    st.lists(MADE, min_size=9, max_size=9),
    st.lists(st.sampled_from(["inner", "outer", "other", None]), min_size=9, max_size=9),
    st.lists(
        st.tuples(st.integers(0, 8), st.sampled_from(["toggle", "upsert", "save"])), max_size=7
    ),
)
def test_what_is_in_a_container_comes_and_goes_as_in_an_index_built_at_once(made, parents, steps):
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(in_place, "MIN_PASSAGES", 0)
        patch.setattr(in_place, "MAX_CHANGED", 1e9)
        around = [
            Document("outer", "Of Corfu", heading=True),
            Document("inner", "Who married", heading=True, parent="outer"),
            Document("other", "Of Delos", heading=True),
        ]
        kept = [  # so that no container is left empty
            Document(f"in {one.id}", f"{one.text}, Ella sails to Fay.", parent=one.id)
            for one in around
        ]
        documents = [
            replace(document(number, each), parent=parent)
            for number, (each, parent) in enumerate(zip(made, parents, strict=True))
        ]
        facts = dict.fromkeys((one.id for one in (*around, *kept)), ())
        facts |= {one.id: each[1] for one, each in zip(documents, made, strict=True)}
        index = build([*around, *kept, *documents[:4]], facts)
        index.ask(QUESTION, recipe="fused")
        changes = 0
        for number, step in steps:
            one = documents[number]
            more = {one.id: facts[one.id]} if facts[one.id] else None
            if step == "save":
                index.save(folder)
                index = Index.load(folder, embedder=told_apart)
            elif step == "upsert":
                again = replace(one, text=f"{one.text}\n\nTruly, Ben built {number}.")
                documents[number] = again
                index = index.upsert([again], facts=more)
            elif one.id in index.document_of:
                index = index.delete(one.id)
            else:
                index = index.add([one], facts=more)
            changes += step != "save"
            same_as_built_at_once(index, facts)
        assert index.changed >= changes  # nothing was built whole


@settings(deadline=None)
@given(
    st.lists(MADE, min_size=8, max_size=8),
    st.lists(st.tuples(st.sampled_from(["previous", "source", "parent"]), st.integers(0, 7))),
    st.lists(st.tuples(st.integers(0, 7), st.booleans()), min_size=1, max_size=5),
)
def test_what_follows_a_document_or_is_a_piece_of_it_is_put_in_its_place_with_it(
    made, relations, steps
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_place, "MIN_PASSAGES", 0)
        patch.setattr(in_place, "MAX_CHANGED", 1e9)
        file = Document("file", "Of Corfu", heading=True)
        documents = [
            replace(document(number, each), parent="file" if number < 5 else None)
            for number, each in enumerate(made)
        ]
        for number, (relation, other) in enumerate(relations[:8]):
            if other < number:
                documents[number] = replace(documents[number], **{relation: f"d{other}"})
        index = Index.from_documents([file, *documents], splitter=Splitter(12))
        before = index.graph
        for number, moves in steps:
            one = documents[number]
            documents[number] = replace(one, text=f"{one.text}\n\nTruly, Ben built {number}.")
            if moves:
                documents[number] = replace(documents[number], previous=None, source=None)
            index = index.upsert([documents[number]])
            assert index.graph is not before
            assert index.changed > 0  # it is not built whole
            found, wanted = described(index.graph), described(index.compact().graph)
            assert found[:2] == wanted[:2]
            by_text = [{key for key in one[2] if key[0] != "similar"} for one in (found, wanted)]
            assert by_text[0] == by_text[1]
            before = index.graph


def test_pages_keep_their_order_beside_a_page_that_is_replaced():
    pages = [Document(f"p{i}", f"Page {i} of ferries.", parent="file") for i in range(1200)]
    chain = [replace(one, previous=f"p{i - 1}") if i else one for i, one in enumerate(pages[:20])]
    file = Document("file", "Ferries", heading=True)
    index = Index.from_documents([file, *chain, *pages[20:]])
    changed = index.upsert([replace(chain[7], text="Page 7 is of quokkas.")])
    assert changed.changed == 40  # twenty go and come
    assert [one.id for one in changed.documents[-20:]] == [f"p{i}" for i in range(20)]
    graph = changed.graph
    assert [graph.ids[graph.previous[graph.row(f"p{i}")]] for i in range(1, 20)] == [
        f"p{i}" for i in range(19)
    ]
    assert changed.ask("quokkas", recipe="bm25", limit=1).ids == ["p7"]


@pytest.mark.usefixtures("at_any_size")
def test_what_is_related_to_what_is_there_is_built_whole():
    file = Document("file", "Rows", heading=True)
    index = Index.from_documents([file, Document("row", "A row.", parent="file")])
    assert index.add([Document("next", "Another.", parent="file")]).changed == 1
    assert index.add([Document("part", "A cell.", parent="row")]).changed == 0
    stated = index.upsert([file], facts={"file": [("Anna", "knows", "Ben")]})
    assert stated.add([Document("next", "Another.", parent="file")]).changed == 0
    alone = index.add([Document("beside", "Alone.")])
    assert (alone.changed, alone.delete("row").changed) == (1, 0)  # the file is empty then
    again = alone.upsert([Document("row", "Another row.", parent="file")])
    assert (again.changed, len(again.graph)) == (3, len(again.compact().graph))
    index = Index.from_documents([Document("a", "One."), Document("b", "Two.", previous="a")])
    assert index.add([Document("c", "Three.")]).changed == 1
    assert index.add([Document("c", "Three.", previous="b")]).changed == 0
    assert index.delete("a").changed == 0
    with pytest.raises(ValueError, match="for instance 'a'"):
        index.add([Document("a", "Again.")])
    with pytest.raises(ValueError, match="'blank' has no text"):
        index.add([Document("blank", " ")])


def test_words_count_as_after_a_rebuild_and_the_embedded_default_nearly_so():
    documents = corpus(1300)
    index = Index.from_documents(documents[:1250])
    for one in documents[1250:]:
        index = index.add([one])
    index = index.delete([one.id for one in documents[:30]])
    whole = Index.from_documents(documents[30:])
    questions = [f"Which ferry berths at quay {i} in {NAMES[i % 6]}?" for i in range(40)]
    for recipe, least in (("bm25", 1.0), ("fused", 0.9)):
        same = [
            index.ask(question, recipe=recipe, limit=1).ids
            == whole.ask(question, recipe=recipe, limit=1).ids
            for question in questions
        ]
        assert np.mean(same) >= least
    assert index.changed == 80


def test_a_saved_index_has_its_words_and_goes_on_in_place(tmp_path):
    index = Index.from_documents(corpus(1000)).add([Document("new", "A zebra crossed the sea.")])
    index.save(tmp_path / "index")
    opened = Index.load(tmp_path / "index")
    assert opened.changed == 1
    reread = opened.graph.compute_part(InvertedIndexPart())
    kept = opened.graph.part(InvertedIndexPart())
    assert opened.graph.kept_parts()[:2] != []
    for word in ("zebra", "ferry", "quay", "7"):
        assert kept.rows_with(word) == reread.rows_with(word) != set()
    assert kept.postings.lengths.tolist() == reread.postings.lengths.tolist()
    for one in (index, opened):
        changed = one.add([Document("newer", "Another zebra.")]).delete("new")
        assert changed.ask("zebra", recipe="bm25", limit=1).ids == ["newer"]
        assert changed.changed == 3


SOME = ("a", "b", "c", "d", "e")


@given(
    st.dictionaries(st.sampled_from(SOME), st.sampled_from(["Anna.", "Ben."]), min_size=1),
    st.lists(
        st.tuples(
            st.booleans(),
            st.dictionaries(st.sampled_from(SOME), st.sampled_from(["Anna.", "Cleo."]), min_size=1),
        ),
        max_size=4,
    ),
    st.booleans(),
)
def test_upsert_and_sync_leave_the_texts_that_a_dictionary_would(first, steps, in_its_place):
    with pytest.MonkeyPatch.context() as patch:
        if in_its_place:
            patch.setattr(in_place, "MIN_PASSAGES", 0)
            patch.setattr(in_place, "MAX_CHANGED", 1e9)
        expected = dict(first)
        index = Index.from_documents([Document(*item) for item in first.items()])
        for others_go, texts in steps:
            change = index.sync if others_go else index.upsert
            same = (others_go and texts == expected) or (
                not others_go and texts.items() <= expected.items()
            )
            expected = dict(texts) if others_go else expected | texts
            before, index = index, change([Document(*item) for item in texts.items()])
            assert (index is before) == same
    assert {one.id: one.text for one in index.documents} == expected
    assert dict(zip(index.graph.ids, index.graph.texts, strict=True)) == expected


def model(prompt):
    """Reads one fact in every text, but for those that are about a storm."""
    told = sorted(set(re.findall(r"island \d|home|wind", prompt)))
    facts = [["Anna", "knows", place] for place in told]
    return "no answer" if "storm" in prompt else json.dumps({"facts": facts})


def read_by_a_model(index):
    """What an extractor has read and failed to read, as an index holds it."""
    return dict(index.extracted), sorted(index.failed)


def told_by(number, text):
    return Document(f"d{number}", text)


@pytest.mark.parametrize("is_saved", [False, True])
def test_what_was_read_in_documents_goes_with_them(tmp_path, is_saved):
    alike = "Anna rows home in the evening."
    first = [
        *(told_by(n, f"Anna rows to island {n}.") for n in range(4)),
        *(told_by(n, alike) for n in (4, 5)),
        *(told_by(n, f"The storm of year {n} sank a boat.") for n in (6, 7)),
    ]
    extractor = Triples(model)
    steps = [
        lambda index: index.delete(["d0", "d4"]),
        lambda index: index.upsert([told_by(6, "Anna tells of the wind.")]),
        lambda index: index.delete("d7"),
        lambda index: index.upsert([told_by(1, "The storm is over."), told_by(9, alike)]),
        lambda index: index.sync([told_by(2, "Anna rows to island 2."), told_by(5, "Anna.")]),
    ]
    small = large = Index.from_documents(first, embedder=hashed_words, extractor=extractor)
    assert len(small.failed) == 2
    for step in steps:
        small = step(small)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(in_place, "MIN_PASSAGES", 0)
            patch.setattr(in_place, "MAX_CHANGED", 1e9)
            large = step(large)
        assert (small.changed, large.changed > 0) == (0, True)
        if is_saved:
            large.save(tmp_path / "index")
            large = Index.load(tmp_path / "index", embedder=hashed_words, extractor=extractor)
        assert read_by_a_model(large) == read_by_a_model(small)
        assert described(large.graph)[:2] == described(small.graph)[:2]
