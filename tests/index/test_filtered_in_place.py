"""A filter over a large index changes it in place, and equals an index of what it allows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import Document, Index, Names, Splitter
from clew.graph import DeferredSegment, VectorColumn
from clew.index import in_place
from clew.index.filtering import filtered_index
from clew.index.question import metadata_test
from clew.seed.in_own_words import LinkedWordsPart
from tests.index.test_in_place import QUESTION, described, told_apart

WORDS = (
    "the ferry sails to Corfu at nine",
    "Anna built a house of red stone",
    "islands in the sea are dry in summer",
    "who knows Ben lives on Delos",
    "see [the timetable](https://ferries.example/times) now",
    "la nave parte la mattina presto per l'isola",
)
RECIPES = ("bm25", "dense", "fused", "hipporag", "kurisu")


@pytest.fixture
def at_any_size(monkeypatch):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)


def documents_of(parts):
    return [
        Document(
            f"d{number}",
            "\n\n".join([*(["# Of old"] if headed else []), *(f"{WORDS[i]}." for i in chosen)]),
            {"group": number % 3},
            format="markdown",
        )
        for number, (headed, chosen) in enumerate(parts)
    ]


def same_answers(filtered, whole):
    for recipe in RECIPES:
        some, others = (each.ask(QUESTION, recipe=recipe, budget=60) for each in (filtered, whole))
        assert [item.id for item in some] == [item.id for item in others]
        assert [item.score for item in some] == pytest.approx([item.score for item in others])


PARTS = st.lists(
    st.tuples(st.booleans(), st.lists(st.integers(0, len(WORDS) - 1), min_size=1, max_size=4)),
    min_size=3,
    max_size=12,
)


@settings(deadline=None, max_examples=40)
@given(PARTS, st.sets(st.integers(0, 2), min_size=1), st.booleans())
def test_the_embedded_default_is_fitted_again_on_nodes_that_stay(parts, groups, asked):
    documents, splitter = documents_of(parts), Splitter(12)
    allowed = [one for one in documents if one.metadata["group"] in groups]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_place, "MIN_PASSAGES", 0)
        index = Index.from_documents(documents, extractor=None, splitter=splitter)
        if asked:  # then its words are known
            index.ask(QUESTION, recipe="kurisu")
        mask = np.array([one in allowed for one in documents])
        changed = in_place.filtered_in_place(index, mask)
        filtered = filtered_index(index, {"group": sorted(groups)})
    whole = Index.from_documents(allowed, extractor=None, splitter=splitter)
    for each in (changed, filtered):
        assert each is not None
        assert each.graph.ids == whole.graph.ids
        assert described(each.graph)[:2] == described(whole.graph)[:2]
        assert described(each.graph)[2] == pytest.approx(described(whole.graph)[2])
        assert np.array_equal(each.graph.vectors, whole.graph.vectors)
        same_answers(each, whole)


@pytest.mark.parametrize("fitted", [True, False])
def test_edges_that_nobody_asked_for_are_not_made_for_a_filter(at_any_size, fitted):
    documents = documents_of([(False, [i % 6, (i + 2) % 6, i % 4]) for i in range(30)])
    embedder = {} if fitted else {"embedder": told_apart}
    index = Index.from_documents(documents, extractor=None, **embedder)
    filtered = filtered_index(index, {"group": 1})
    filtered.ask(QUESTION, recipe="fused")
    assert not index.graph.edges.is_made
    assert not filtered.graph.edges.is_made
    allowed = [one for one in documents if one.metadata["group"] == 1]
    whole = Index.from_documents(allowed, extractor=None, **embedder)
    assert described(filtered.graph)[2] == pytest.approx(described(whole.graph)[2], abs=2e-6)


def test_edges_of_a_saved_index_are_shrunk_when_somebody_asks_for_them(at_any_size, tmp_path):
    documents = documents_of([(False, [i % 6, (i + 2) % 6, i % 4]) for i in range(30)])
    Index.from_documents(documents, extractor=None, embedder=told_apart).save(tmp_path / "index")
    index = Index.load(tmp_path / "index", embedder=told_apart)
    filtered = filtered_index(index, {"group": [0, 2]})
    assert not filtered.graph.edges.is_made
    allowed = [one for one in documents if one.metadata["group"] != 1]
    whole = Index.from_documents(allowed, extractor=None, embedder=told_apart)
    assert described(filtered.graph)[2] == pytest.approx(described(whole.graph)[2], abs=2e-6)


def test_a_document_that_follows_another_is_built_again(at_any_size):
    documents = [
        Document("a", "The ferry sails to Corfu.", {"group": 0}),
        Document("b", "It leaves at nine.", {"group": 1}, previous="a"),
        Document("c", "Anna knows Ben.", {"group": 1}),
    ]
    index = Index.from_documents(documents, extractor=None)
    assert in_place.filtered_in_place(index, np.array([False, True, True])) is None
    assert in_place.filtered_in_place(index, np.array([True, True, False])) is not None
    assert filtered_index(index, {"group": 1}).graph.previous.tolist() == [-1, -1]


def test_rows_of_documents_are_known_in_whatever_order_they_are():
    documents = documents_of([(True, [i % 6, (i + 1) % 6]) for i in range(6)])
    pieces = [
        Document("p2", "It is red.", source="book", span=(20, 30)),
        Document("p1", "It is dry.", source="book", span=(0, 10)),
        Document("book", "A book.", heading=True),
    ]
    for some in (documents, [*pieces, *documents]):
        index = Index.from_documents(some, extractor=None, splitter=Splitter(12))
        expected = [index.graph.ids.index(one.id) for one in index.documents]
        assert index.document_rows.tolist() == expected


VALUES = st.one_of(
    st.integers(-2, 2), st.booleans(), st.sampled_from(["a", "b", 1.0, 0.5, None]), st.just([1])
)


@given(
    st.one_of(VALUES, st.lists(VALUES, max_size=4)),
    st.one_of(VALUES, st.lists(st.integers(-2, 2), max_size=3)),
)
def test_a_mapping_means_its_values_whatever_they_are(wanted, value):
    some = wanted if isinstance(wanted, list) else [wanted]
    values = [value, *value] if isinstance(value, list) else [value]
    expected = any(one == other for one in values for other in some)
    assert metadata_test({"key": wanted})({"key": value}) == expected
    if isinstance(value, list):
        assert metadata_test({"key": wanted})({"key": np.array(value, int)}) == expected
    assert not metadata_test({"key": wanted})({"other": value})


def test_words_beside_links_stay_known(at_any_size):
    documents = documents_of([(False, [i % 6, (i + 4) % 6]) for i in range(12)])
    index = Index.from_documents(documents, extractor=None, embedder=told_apart)
    part = LinkedWordsPart(4)
    index.graph.part(part)
    filtered = filtered_index(index, {"group": [0, 1]}).graph
    known = dict(filtered.kept_parts())[part]
    assert known.tolist() == part.compute(filtered).tolist()
    assert len(set(known.tolist())) > 1


def test_names_of_a_filtered_index_have_their_vectors_when_somebody_asks():
    texts = [f"Then {a} met {b} in Corfu." for a in ("Anna", "Ben", "Ella") for b in ("Fay", "Gus")]
    documents = [Document(f"d{i}", text, {"group": i % 2}) for i, text in enumerate(texts)]
    index = Index.from_documents(documents, extractor=Names())
    filtered = filtered_index(index, {"group": 1})
    filtered.ask(QUESTION)
    vectors = filtered.graph.vectors
    assert isinstance(vectors, VectorColumn)
    late = vectors.segments[-1]
    assert isinstance(late, DeferredSegment)
    assert not late.is_made
    whole = Index.from_documents(documents[1::2], extractor=Names())
    assert np.array_equal(np.asarray(vectors), np.asarray(whole.graph.vectors))
    same_answers(filtered, whole)


def test_a_filter_makes_no_bags_of_names_of_the_whole(monkeypatch):
    monkeypatch.setattr("clew.embedding.attach.is_compact", lambda _: True)
    texts = [f"Then {a} met {b} in Corfu." for a in ("Anna", "Ben", "Ella") for b in ("Fay", "Gus")]
    documents = [Document(f"d{i}", text, {"group": i % 2}) for i, text in enumerate(texts)]
    index = Index.from_documents(documents, extractor=Names())
    index.ask(QUESTION, recipe="dense")
    assert isinstance(index.graph.facts.vectors, VectorColumn)
    _ = index.graph.facts.vectors.has_vector  # which counts the words of names, too
    names = index.graph.vectors.segments[-1]
    assert names.is_counted
    filtered_index(index, {"group": 1})
    assert not names.is_made
