"""What is loaded is what was saved: every column, and every context that any recipe makes of it."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew import Document, Index, recipes
from clew.embedding.latent_semantic import LatentSemantic
from clew.embedding.static import StaticEmbedding
from clew.graph import Edges, Facts, Graph, Labels, Ragged, VectorColumn
from clew.read import Piece
from clew.read.json_values import from_json, to_json
from clew.store import SavedIndex
from clew.store.text_column import TextColumn

NODES = "ids kinds texts vectors tokens documents parents previous spans references read_from generated metadata originals"
WORDS = ("anna", "ben", "corfu", "delos", "married", "lives", "island", "sea", "ferry", "winter")
names = st.sampled_from(WORDS[:4])
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(
            st.text(max_size=3) | st.integers() | st.just("$tuple"), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@dataclass(frozen=True)
class Halves:
    """A splitter of the caller's own: two passages."""

    at: float = 0.5

    def __call__(self, document):
        middle = int(len(document.text) * self.at)
        parts = [
            (a, b)
            for a, b in ((0, middle), (middle, len(document.text)))
            if document.text[a:b].strip()
        ]
        return [Piece("passage", document.text[a:b], a, b) for a, b in parts]


@st.composite
def corpora(draw):
    texts = draw(
        st.lists(
            st.lists(st.sampled_from(WORDS), min_size=4, max_size=12).map(" ".join),
            min_size=2,
            max_size=6,
        )
    )
    documents = [
        Document(
            f"d{i}",
            text,
            draw(st.dictionaries(st.text(max_size=5), plain, max_size=2)),
            embedded_as=draw(st.none() | st.just("the sea in winter")),
            references=tuple(draw(st.lists(st.sampled_from(["d0", "d1", "nowhere"]), max_size=2))),
        )
        for i, text in enumerate(texts)
    ]
    triple = st.tuples(names, st.sampled_from(["married", "lives in", "knows"]), names)
    facts = {document.id: draw(st.lists(triple, max_size=3)) for document in documents}
    return documents, facts, draw(st.sampled_from([None, Halves()]))


def same(a, b, where="index"):
    """Whether two values are equal in all their parts, to the bit and the type."""
    a, b = (tuple(one) if isinstance(one, TextColumn) else one for one in (a, b))
    a, b = (np.asarray(one) if isinstance(one, VectorColumn) else one for one in (a, b))
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, where
        assert a.shape == b.shape, where
        assert a.tobytes() == b.tobytes(), where
    elif isinstance(
        a, (Graph, Facts, Edges, Labels, Ragged, Document, LatentSemantic, StaticEmbedding)
    ):
        for field in fields(a):
            if field.name not in ("original", "originals", "vector"):
                same(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
    elif isinstance(a, (list, tuple)):
        assert (type(a), len(a)) == (type(b), len(b)), where
        for i, pair in enumerate(zip(a, b, strict=True)):
            same(*pair, f"{where}[{i}]")
    elif isinstance(a, Mapping):
        same(list(a.items()), list(b.items()), where)
    elif isinstance(a, float):
        assert isinstance(b, float), where
        assert np.float64(a).tobytes() == np.float64(b).tobytes(), where
    else:
        assert type(a) is type(b), where
        assert a == b, where


EVERY_RECIPE = tuple(recipes.names())


def asked(index, question, names=EVERY_RECIPE, **how):
    """What each recipe gives for a question, without the time it took; or the error it raises."""
    answers = {}
    for name in names:
        try:
            answer = index.ask(question, recipe=name, **how).to_dict()
        except ValueError as error:
            answers[name] = str(error)
            continue
        answers[name] = answer | {
            "trace": [(step["stage"], repr(step["notes"])) for step in answer["trace"]]
        }
    return answers


def same_index(a, b, question="who lives in corfu", names=EVERY_RECIPE):
    for name in ("graph", "documents", "facts", "splitter", "links", "fitted", "skipped"):
        same(getattr(a, name), getattr(b, name), name)
    assert asked(a, question, names) == asked(b, question, names)
    small = {"budget": 25, "limit": 2}
    assert asked(a, question, names, **small) == asked(b, question, names, **small)


@settings(max_examples=settings().max_examples // 2)
@given(
    corpora(),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    st.booleans(),
    st.sets(st.sampled_from(EVERY_RECIPE), min_size=4, max_size=6),
)
def test_a_loaded_index_is_the_saved_one_and_answers_recipes_alike(
    embed, corpus, question, fitted, names
):
    """Some recipes of an example; the tests below ask all of them."""
    documents, facts, splitter = corpus
    embedder = None if fitted else embed
    index = Index.from_documents(documents, embedder=embedder, facts=facts, splitter=splitter)
    with tempfile.TemporaryDirectory() as folder:
        index.save(folder)
        loaded = Index.load(
            folder,
            embedder=embedder,
            verify="full",
            **({} if splitter is None else {"splitter": splitter}),
        )
        same_index(index, loaded, question, sorted(names))


def test_the_embedded_default_is_saved_with_what_it_learnt(small, tmp_path):
    index = Index.from_documents(small.documents, facts=small.facts)
    index.save(tmp_path)
    loaded = Index.load(tmp_path)
    same(index.embedder.fitted, loaded.embedder.fitted)
    same(
        index.embedder.embed_question("Who lives in Corrfu?"),
        loaded.embedder.embed_question("Who lives in Corrfu?"),
    )
    same_index(index, loaded)
    same_index(index.delete("cleo"), loaded.delete("cleo"))


def test_what_is_added_to_and_deleted_from_a_loaded_index_is_as_in_the_saved_one(
    embed, small, tmp_path
):
    small.save(tmp_path)
    loaded = Index.load(tmp_path, embedder=embed)
    more = (
        [Document("dora", "Dora took the ferry to Delos.", {"title": "Dora"})],
        {"dora": [("Dora", "sailed to", "Delos")]},
    )
    for change in (
        lambda index: index.add(more[0], facts=more[1]),
        lambda index: index.add(more[0], facts=more[1]).delete("ben"),
    ):
        changed = change(loaded)
        same_index(change(small), changed)
        changed.save(tmp_path)  # over the very files that its vectors are mapped from
        same_index(changed, Index.load(tmp_path, embedder=embed, verify="full"))
    same_index(small, loaded)


def test_vectors_stay_on_the_disk_until_they_are_used(embed, small, tmp_path):
    small.save(tmp_path)
    graph = Index.load(tmp_path, embedder=embed).graph
    for vectors in (graph.vectors, graph.facts.vectors):
        owner = vectors
        while isinstance(owner, np.ndarray):
            owner = owner.base
        assert isinstance(owner, mmap.mmap)


def test_the_files_are_arrays_that_numpy_reads_without_pickle(small, tmp_path):
    small.save(tmp_path)
    files = sorted((tmp_path / "data").iterdir())
    read = {
        file.name.rpartition("-")[0].rpartition("-")[0]: np.load(file, allow_pickle=False)
        for file in files
    }
    assert np.array_equal(read["nodes.vectors"], small.graph.vectors)
    assert np.array_equal(read["edges.weights"], small.graph.edges.weights)
    assert len(read) == len(files)


def test_a_vector_that_came_with_its_document_is_still_known_after_loading(embed, tmp_path):
    known = np.zeros(24)
    known[3] = 1
    index = Index.from_documents(
        [Document("a", "sea", vector=known), Document("b", "winter sea")], embedder=embed
    )
    index.save(tmp_path)
    loaded = Index.load(tmp_path, embedder=embed)
    assert [None if d.vector is None else d.vector.tolist() for d in loaded.documents] == [
        known.tolist(),
        None,
    ]
    same_index(index.add(["the island"]), loaded.add(["the island"]))


def test_what_a_framework_gave_is_not_saved_but_its_id_text_and_metadata_are(embed, tmp_path):
    index = Index.from_documents(
        [Document("a", "sea in winter", {"k": 1}, original=object())], embedder=embed
    )
    index.save(tmp_path)
    item = Index.load(tmp_path, embedder=embed).ask("sea").items[0]
    assert (item.id, item.text, item.metadata, item.original) == (
        "a",
        "sea in winter",
        {"k": 1},
        None,
    )


@pytest.mark.parametrize(
    ("kind", "saved"),
    [
        (
            SavedIndex,
            "graph config embedder fitted changed documents facts extracted knowledge skipped files failed strengths built_strengths attachments saved_as",
        ),
        (
            Document,
            "id text metadata original vector source span parent previous heading embedded_as references format facts source_map",
        ),  # facts: in those of the index
        (Graph, {*NODES.split(), "facts", "edges", "count", "canonical"}),
        (LatentSemantic, "vocabulary idf unknown components overlap"),
        (StaticEmbedding, "n_texts vocabulary word_counts piece_counts mean"),
        (Facts, "texts vectors subjects objects relations read_from"),
        (Edges, "tails heads kinds weights facts read_from"),
    ],
)
def test_no_field_is_forgotten(kind, saved):
    assert {field.name for field in fields(kind)} == set(
        saved.split() if isinstance(saved, str) else saved
    ), (
        f"{kind.__name__} has other fields than clew.store saves: teach clew/store/columns.py the new one, then this test"
    )


@given(st.dictionaries(st.text(max_size=5), plain, max_size=4))
@example(
    {"$tuple": [1], "a": {"$float": "nan"}, "b": ({1: (2,)}, {}), "c": -0.0, "d": float("-inf")}
)
def test_plain_values_come_back_from_json_exactly(value):
    import json

    same(value, from_json(json.loads(json.dumps(to_json(value, "value"), allow_nan=False))))


def test_equal_metadata_stay_one_object_where_they_were_one_and_two_where_they_were_two(
    embed, tmp_path
):
    shared = {"k": "v"}
    texts = [
        Document("a", "sea island", shared),
        Document("b", "sea winter", shared),
        Document("c", "sea ferry", dict(shared)),
    ]
    Index.from_documents(texts, embedder=embed).save(tmp_path)
    a, b, c = (document.metadata for document in Index.load(tmp_path, embedder=embed).documents)
    assert a is b
    assert a is not c
    assert a == c


def test_skipped_files_are_remembered(embed, small, tmp_path):
    replace(small, skipped=(("a.bin", "not a text"), ("b", ""))).save(tmp_path / "new" / "folder")
    assert Index.load(Path(tmp_path) / "new" / "folder", embedder=embed).skipped == (
        ("a.bin", "not a text"),
        ("b", ""),
    )
