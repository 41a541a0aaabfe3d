"""Vectors that are kept in a file: none is made twice, and they are those that come without a file."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from clew import CachedEmbedder, Embedder, Index
from clew.embedding.embedder import BATCH, embed_texts

TEXTS = [f"Ferry {number} sails to island {number % 7}." for number in range(3 * BATCH)]


class Counting:
    """An embedder that counts the texts it gets, and fails when it has got so many."""

    model_name = "counting"

    def __init__(self, fails_at=None):
        self.got, self.fails_at = [], fails_at

    def __call__(self, texts):
        if self.fails_at is not None and len(self.got) >= self.fails_at:
            raise ConnectionError("the line is down")
        self.got += texts
        return [[len(text), text.count("1"), 1.0 / (1 + text.count("2"))] for text in texts]


def test_what_was_made_before_an_interruption_is_not_made_again(tmp_path):
    broken, whole = Counting(fails_at=BATCH), Counting()
    with pytest.raises(RuntimeError, match=r"'counting' failed on batch 2 of 3, texts 257 to 512"):
        embed_texts(Embedder.of(CachedEmbedder(broken, tmp_path / "new" / "vectors")), TEXTS)
    again = Counting()
    kept = Embedder.of(CachedEmbedder(again, tmp_path / "new" / "vectors"))
    vectors = embed_texts(kept, TEXTS)
    assert sorted(broken.got + again.got) == sorted(TEXTS), "each once"
    np.testing.assert_array_equal(vectors, embed_texts(Embedder.of(whole), TEXTS))
    np.testing.assert_array_equal(embed_texts(kept, TEXTS[::-1]), vectors[::-1])
    assert len(again.got) == 2 * BATCH


def test_an_index_is_the_one_without_a_file_and_asks_for_its_questions(tmp_path):
    counting = Counting()
    kept = CachedEmbedder(counting, tmp_path / "vectors")
    index = Index.from_documents(TEXTS[:9], embedder=kept)
    alone = Index.from_documents(TEXTS[:9], embedder=Counting())
    np.testing.assert_array_equal(index.graph.vectors, alone.graph.vectors)
    assert index.ask("Which ferry?").ids == alone.ask("Which ferry?").ids
    assert counting.got[-1] == "Which ferry?"
    assert index.embedder.name == "counting"
    index.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index", embedder=kept)
    before = len(counting.got)
    assert loaded.add([TEXTS[9], TEXTS[10]]).graph.vectors.shape == (11, 3)
    assert counting.got[before:] == TEXTS[9:11]
    assert pickle.loads(pickle.dumps(Embedder.of(kept))).embed_question("one").tolist() == [3, 0, 1]


def test_vectors_of_two_models_stay_apart_by_name_alone(tmp_path):
    file = tmp_path / "vectors"
    embed_texts(Embedder.of(CachedEmbedder(Counting(), file)), ["one"])
    longer = lambda texts: [[1.0, 2.0] for _ in texts]  # noqa: E731
    under = CachedEmbedder(longer, file, name="longer")
    assert embed_texts(Embedder.of(under), ["one"]).shape == (1, 2)
    mixed = CachedEmbedder(longer, file, name="counting")
    with pytest.raises(ValueError, match="several lengths: two models share"):
        embed_texts(Embedder.of(mixed), ["one", "two"])


def test_a_file_of_something_else_is_refused_and_stays(tmp_path):
    (tmp_path / "notes.txt").write_text("These are no vectors.\n" * 99)
    counting = Counting()
    with pytest.raises(ValueError, match=r"notes.txt cannot be used as a file of vectors"):
        embed_texts(Embedder.of(CachedEmbedder(counting, tmp_path / "notes.txt")), TEXTS)
    assert (tmp_path / "notes.txt").read_text() == "These are no vectors.\n" * 99
    assert not counting.got
    with pytest.raises(TypeError, match="NoneType"):
        Embedder.of(CachedEmbedder(None, tmp_path / "vectors"))
