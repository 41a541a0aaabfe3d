"""The store of an ordinary folder holds what an index of it would, and kept vectors are the embedder's own."""

from __future__ import annotations

import numpy as np
import pytest

import clew
from clew.cli.source import TOKENS
from clew.measure.quotes import Place, QuotedQuestion
from tests.benchmarks import dropin_everyday
from tests.benchmarks.kept_vectors import KeptVectors


class Counting:
    """Each text's letters and words, and how many texts were asked for."""

    def __init__(self):
        self.texts = []

    def __call__(self, texts):
        self.texts += texts
        return [[len(text), len(text.split()), 1.0] for text in texts]


@pytest.fixture
def folder(tmp_path):
    for name, place in (("north", "Bergen"), ("south", "Corfu")):
        lines = [f"Ferry {i} of {place} sails at {i} and comes back at {i + 9}." for i in range(60)]
        (tmp_path / f"{name}.md").write_text(f"# {place}\n\n" + "\n\n".join(lines), "utf-8")
    return tmp_path


def test_the_store_holds_the_passages_of_an_index_each_with_its_file(folder):
    index = clew.Index.from_documents(folder, splitter=clew.Splitter(tokens=TOKENS))
    graph = index.graph
    store = dropin_everyday.store_of(
        dropin_everyday.passages_of(folder), clew.Embedder.of(Counting())
    )
    stored = {entry["id"]: entry for entry in store.store.values()}
    assert len(stored) > 4
    assert {id: entry["text"] for id, entry in stored.items()} == {
        graph.ids[row]: graph.texts[row] for row in graph.rows("passage").tolist()
    }
    assert {id.split("#")[0] for id in stored} == {"north.md", "south.md"}
    assert all(id.split("#")[0] == entry["metadata"]["source"] for id, entry in stored.items())
    assert all(
        found.metadata["source"] in ("north.md", "south.md")
        for found in store.similarity_search("Which ferry?", k=3)
    )


def test_a_question_is_hit_where_its_quote_is_read():
    questions = [
        QuotedQuestion("When?", (Place("a.md", "at ten"),)),
        QuotedQuestion("Where?", (Place("a.md", "in Bergen"), Place("b.md", "on Corfu"))),
    ]
    texts = {"a": "They sail at ten.", "b": "They berth on Corfu.", "c": "No.", "d": "Yes."}
    answers = {
        "last": lambda _: (["c", "d", "b", "a"], ["c", "d"]),
        "first": lambda question: (["a"], ["b"]) if question == "When?" else (["b"], ["b"]),
    }
    assert dropin_everyday.figures_of(answers, questions, texts) == {
        "last": {"hit@1": [0, 0], "hit@3": [0, 1], "hit@10": [1, 1], "in 512 tokens": [0, 0]},
        "first": {"hit@1": [1, 1], "hit@3": [1, 1], "hit@10": [1, 1], "in 512 tokens": [0, 1]},
    }


def test_a_kept_vector_is_embedded_once_and_is_the_embedders_own(tmp_path):
    texts = ["a b", "c", "a b", "d e f"]
    first, second = Counting(), Counting()
    embed = KeptVectors(clew.Embedder.of(first), tmp_path / "kept" / "vectors.sqlite")
    embed(texts[:2])
    assert first.texts == ["c", "a b"]
    wanted = np.asarray(clew.Embedder.of(Counting()).embed_texts(texts), np.float32)
    assert np.array_equal(embed(texts), wanted)
    assert sorted(first.texts) == ["a b", "c", "d e f"]
    again = KeptVectors(clew.Embedder.of(second), tmp_path / "kept" / "vectors.sqlite")
    assert np.array_equal(again(texts), wanted)
    assert not second.texts
