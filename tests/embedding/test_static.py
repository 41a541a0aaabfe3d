"""The embedded default: by its definition, one text at a time, and by what its vectors are for."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import clew.embedding.word_vectors
from clew import Document, Index
from clew.embedding import static as static_module
from clew.embedding import word_vectors
from clew.embedding.embedder import Embedder, embed_texts
from clew.embedding.few_pieces import MARKED, MAX_LETTERS, FewPieces
from clew.embedding.latent_semantic import signatures
from clew.embedding.static import StaticEmbedding, rarest_pieces
from clew.embedding.word_vectors import (
    WEIGHTS,
    WORD_BEGIN,
    PieceNumbers,
    piece_vectors,
    stored_vectors,
)
from clew.store.text_column import StringTable, TextColumn
from clew.text.words import cased_words, terms

PASSAGES = [
    "The ferry to Corfu leaves at nine in the morning.",
    "Barack Obama was born in Honolulu, the capital of the state of Hawaii.",
    "Bread rises when the yeast in the dough has sugar and warmth.",
    "The price of a ticket is four pounds, and children travel free.",
    "Море было спокойно, и паром отошёл в девять.",
]


def by_definition(text, passages):
    """The vector of a text, by loops over its words and plain numbers."""
    mean = sum(uncentred(passage, passages) for passage in passages) / (len(passages) + 30)
    difference = uncentred(text, passages) - mean
    return difference / np.linalg.norm(difference)


def uncentred(text, passages):
    numbers, n = PieceNumbers(), len(passages)

    def rarity(count, piece):
        """Thirty more texts, in which the piece of rank r is in a share of 10 / r."""
        expected = 30 * min(1, 10 / max(piece - 259, 1))
        return math.log((n + 30 + 1) / (count + expected + 0.5))

    meaning, spelling = np.zeros(256), np.zeros(512)
    pieces = Counter(piece for word in cased_words(text) for piece in numbers[word])
    for piece, times in pieces.items():
        having = sum(
            any(piece in numbers[word] for word in cased_words(passage)) for passage in passages
        )
        meaning += math.sqrt(times * rarity(having, piece)) * piece_vectors()[piece]
    for term, times in Counter(terms(text, identifiers=False)).items():
        having = max(1, sum(term in terms(passage, identifiers=False) for passage in passages))
        weight = (1 + math.log(times)) * rarity(having, max(numbers[term], default=0)) ** 1.5
        spelling += weight * signatures([term], 512).toarray()[0]
    unit = lambda vector: vector / (np.linalg.norm(vector) or 1)  # noqa: E731
    return unit(np.hstack([math.sqrt(0.6) * unit(meaning), math.sqrt(0.4) * unit(spelling)]))


@pytest.mark.parametrize(
    "text", [*PASSAGES, "When does the boat depart?", "Obama OBAMA obama", "паром", "naïve 文字"]
)
def test_a_vector_is_what_its_definition_says(text):
    static = StaticEmbedding.fit(PASSAGES)
    np.testing.assert_allclose(static([text])[0], by_definition(text, PASSAGES), atol=1e-5)
    np.testing.assert_array_equal(static(["other words", text])[1], static.embed_question(text))


@pytest.mark.parametrize("text", ["", "!?", " \n"])
def test_a_text_without_words_has_no_vector(text):
    assert not StaticEmbedding.fit(PASSAGES)([text]).any()
    assert StaticEmbedding.fit([])([text, "words"]).any(axis=1).tolist() == [False, True]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("Where did the president's life begin?", 1),
        ("How is a loaf baked?", 2),
        ("What does the fare cost?", 3),
    ],
)
def test_words_that_no_passage_has_find_what_they_mean(question, place):
    static = StaticEmbedding.fit(PASSAGES)
    assert (static(PASSAGES) @ static.embed_question(question)).argmax() == place


@pytest.mark.parametrize("variant", ["Honolulu", "Honolullu", "Honolulu's"])
def test_a_name_is_near_to_itself_and_to_its_variants(variant):
    static = StaticEmbedding.fit(PASSAGES)
    assert (static(PASSAGES) @ static.embed_question(variant)).argmax() == 1


def test_it_can_be_made_again_from_its_counts_and_be_pickled():
    static = StaticEmbedding.fit(PASSAGES)
    again = pickle.loads(pickle.dumps(Embedder.of(static)))
    np.testing.assert_array_equal(again.embed_texts(PASSAGES), static(PASSAGES))
    assert again.allows_zero_vectors
    assert again.name == "clew-static-1"


def test_vectors_that_are_not_installed_are_named(monkeypatch):
    clew.embedding.word_vectors.piece_vectors.cache_clear()
    clew.embedding.word_vectors.stored_vectors.cache_clear()
    monkeypatch.setattr(clew.embedding.word_vectors, "PACKAGE", "no_such_package")
    with pytest.raises(ImportError, match=r"no_such_package/weights/.* is missing: install"):
        piece_vectors()


def test_vectors_are_those_of_the_package_and_stay_as_they_are():
    (read,) = load_file(clew.embedding.word_vectors._file(WEIGHTS)).values()
    np.testing.assert_array_equal(stored_vectors(), read)
    np.testing.assert_array_equal(piece_vectors(), read.astype(np.float32))
    assert not stored_vectors().flags.writeable
    assert not piece_vectors().flags.writeable


def test_weights_of_another_shape_are_named(tmp_path, monkeypatch):
    save_file({"a": np.zeros((3, 2), np.float16)}, tmp_path / "w", {"made": "here"})
    monkeypatch.setattr(clew.embedding.word_vectors, "_file", lambda _: str(tmp_path / "w"))
    with pytest.raises(ImportError, match=r"have shape \(3, 2\), not \(32000, 256\): install"):
        stored_vectors.__wrapped__()


def test_without_the_vectors_a_default_index_compares_words_and_says_so(monkeypatch, caplog):
    clew.embedding.word_vectors.piece_vectors.cache_clear()
    clew.embedding.word_vectors.stored_vectors.cache_clear()
    clew.embedding.word_vectors._tokenizer.cache_clear()
    clew.embedding.word_vectors.piece_numbers.cache_clear()
    monkeypatch.setattr(clew.embedding.word_vectors, "PACKAGE", "no_such_package")
    index = Index.from_documents([Document(str(i), text) for i, text in enumerate(PASSAGES)])
    assert index.embedder.name == "clew-latent-semantic-2"
    assert "no_such_package" in caplog.text
    assert index.ask("Where is Honolulu?", recipe="dense", limit=1).ids == ["1"]


def test_the_package_is_read_and_not_imported():
    code = (
        "import sys; from clew import Index; Index.from_documents(['Anna met Ben.']).ask('Anna?'); "
        "sys.exit('wordllama' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_default_index_finds_what_is_meant():
    index = Index.from_documents([Document(str(i), text) for i, text in enumerate(PASSAGES)])
    assert index.ask("How is a loaf baked?", recipe="dense", limit=1).ids == ["2"]


def test_a_vector_is_the_same_to_the_last_bit_in_any_company():
    static, fitted = StaticEmbedding.fit_and_embed(PASSAGES)
    alone = np.array([static.embed_question(passage) for passage in PASSAGES])
    others = [f"{word} sails" for word in ("zeta", "boat", "Ωmega", "parseXML", "Corfu")]
    np.testing.assert_array_equal(static(PASSAGES), fitted)
    np.testing.assert_array_equal(alone, fitted)
    np.testing.assert_array_equal(static([*others, *reversed(PASSAGES)])[5:], fitted[::-1])
    np.testing.assert_array_equal(embed_texts(Embedder.of(static), PASSAGES, batch_size=2), fitted)


@given(st.lists(st.text("aéZ9ß京한и‘\u0301👍ﬁ▁<>s/", min_size=1, max_size=6), max_size=30))
@settings(deadline=None)
def test_pieces_of_words_that_are_read_together_are_those_of_each(words):
    words = ["<s>", *words, "ferry", *words[:3]]
    tokenizer = word_vectors._tokenizer()
    each = [tuple(tokenizer.encode(word, add_special_tokens=False).ids) for word in words]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_vectors, "MAX_KEPT", 20)
        numbers = PieceNumbers()
        assert numbers.of_all(words) == each
        assert len(numbers) <= 20
        assert numbers.of_all(words[::-1]) == each[::-1]


FEW = FewPieces.of_file(word_vectors._file(word_vectors.TOKENIZER))
LETTERS = st.text("aeilmnorst", min_size=1, max_size=20) | st.text(min_size=1, max_size=9)
WRITTEN = st.lists(st.sampled_from(sorted(FEW.numbers)), min_size=1, max_size=5).map("".join)


@settings(max_examples=500, deadline=None)
@given(LETTERS | WRITTEN | st.text("a=01", min_size=20, max_size=word_vectors.MAX_FEW))
def test_pieces_of_few_words_are_those_of_the_library(word):
    """That a merge of less weight has a greater number holds of this file, and is checked here."""
    tokenizer = word_vectors._tokenizer()
    if FEW.takes(word):
        pieces = tokenizer.encode(word, add_special_tokens=False).ids
        assert list(FEW.of(f"{WORD_BEGIN}{word}")) == pieces
    else:
        assert len(word) > MAX_LETTERS or MARKED & {*word}


def test_pieces_of_another_file_are_left_to_the_library(tmp_path):
    content = Path(word_vectors._file(word_vectors.TOKENIZER)).read_text("utf-8")
    (tmp_path / "other").write_text(content.replace('"e r"', '"r e"', 1), "utf-8")
    assert FewPieces.of_file(str(tmp_path / "other")) is None


def test_the_library_is_loaded_for_many_words():
    code = (
        "import sys; from clew.embedding.word_vectors import MAX_FEW, piece_numbers as numbers; "
        "words = [str(i) for i in range(MAX_FEW + 1)]; numbers().of_all(words[:-1]); "
        "assert 'tokenizers' not in sys.modules; numbers().of_all(words); "
        "sys.exit('tokenizers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 1


WORDS = [*" ".join(PASSAGES).split(), "A", "a", "foo_bar", "42nd", "x" * 80, "...", "(1)", "straße"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_a_question_has_the_vector_that_it_has_among_others(question):
    """To the bit, whether its words came in earlier questions or not."""
    for static in (FITTED, StaticEmbedding.fit(PASSAGES)):
        assert np.array_equal(static.embed_question(question), static(["sea", question])[1])


FITTED = StaticEmbedding.fit(PASSAGES)  # one for all examples


@given(
    st.lists(st.text("aberfynt", max_size=9), max_size=30, unique=True),
    st.integers(0, 100_000),
    st.integers(0, 2**32 - 1),
)
def test_pieces_that_weights_tell_weigh_the_same_in_any_other_corpus(terms, n_texts, seed):
    chance = np.random.default_rng(seed)
    some = [term for term in terms if chance.random() < 0.7]
    own = {
        "vocabulary": tuple(some),
        "word_counts": chance.integers(0, n_texts + 2, len(some)).astype(np.int32),
    }
    static = replace(StaticEmbedding.fit(["one text"]), n_texts=n_texts, **own)
    weights = static.term_weights(terms)
    weights[: len(weights) // 4] *= 1.5  # which no piece gives
    found = static.rarest_pieces_of(terms, weights)
    counts, other = chance.integers(0, 999, len(terms)) + 0.0, replace(static, n_texts=n_texts + 7)
    wanted = other.weights_of_counts(counts, rarest_pieces(terms))
    assert other.weights_of_counts(counts, found).tobytes() == wanted.tobytes()


def test_terms_of_stored_texts_weigh_the_same_before_and_after_a_table_of_all(monkeypatch):
    fitted = StaticEmbedding.fit([f"word{i} word{i // 3} sea" for i in range(60)])
    encoded = [term.encode() for term in fitted.vocabulary]
    starts = np.cumsum([0, *map(len, encoded)])
    table = StringTable(np.frombuffer(b"".join(encoded), np.uint8), starts)
    column = TextColumn(table, np.arange(len(encoded), dtype=np.int32))
    stored = replace(fitted, vocabulary=column)
    monkeypatch.setattr(static_module, "MAX_LOOKED_UP", 2)
    monkeypatch.setattr(static_module, "MAX_KNOWN_COUNTS", 12)
    asked = [["sea", "word1"], ["none", "word1", "sea"], ["sea", "word7", "word1", "unknown"]]
    for lists, makes_a_table in (
        ([*asked, *asked], False),
        ([[f"word{i}" for i in range(30)]], True),
    ):
        for some in lists:
            assert stored.term_weights(some).tobytes() == fitted.term_weights(some).tobytes()
        assert ("_count_of" in vars(stored)) == makes_a_table
    for some in asked:
        assert stored.term_weights(some).tobytes() == fitted.term_weights(some).tobytes()
