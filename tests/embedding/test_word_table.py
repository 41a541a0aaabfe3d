"""Vectors by what is kept of words: those of the embedder, whatever was asked for before."""

import math
import struct
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.kernels.bag_vectors import (
    bag_vectors,
    centre_rows,
    put_halves,
    round_rows,
    sum_rows,
)
from clew.algorithms.kernels.compiled import compile_first, finish_compiling
from clew.algorithms.kernels.word_numbers import find_words, put_words
from clew.embedding.static import StaticEmbedding
from clew.embedding.word_table import MIN_SLOTS, WordTable
from clew.text.words import APART, BOUNDARY, cased_words, cased_words_of_all, terms

STATIC = StaticEmbedding.fit(())
TEXTS = [
    "The ferry to Corfu leaves at nine, the ferry from Corfu at ten.",
    "Anna met Ben.",
    "ANNA met ben",
    "Öst och väst, İstanbul",
    "夏目漱石は東京の人。",
    f"a sign{BOUNDARY}between two words",
    "x" * 300,
    "...",
    "",
]

some_texts = st.lists(st.sampled_from(TEXTS) | st.text(max_size=12), max_size=8)


@given(st.lists(some_texts, max_size=4), st.integers(1, 20))
def test_the_vectors_are_those_of_the_embedder(questions, most):
    table = WordTable(STATIC, most)  # which forgets all words now and then
    for texts in questions:
        vectors = table.vectors(texts)
        assert vectors.shape == (len(texts), STATIC.dimensions)
        for text, vector in zip(texts, vectors, strict=True):
            assert np.abs(vector - STATIC([text])[0]).max() < 1e-6


@given(
    st.lists(
        st.sampled_from(TEXTS) | st.text("Aaß1. \u0130\u0390\u0345é北´½Σ", max_size=5), max_size=6
    )
)
def test_the_words_of_several_texts_are_those_of_each_and_their_terms_are_these_folded(texts):
    words, starts, apart = cased_words_of_all(texts)
    cut = [words[a:b] for a, b in pairwise(starts.tolist())]
    assert len(cut) == len(texts)
    for i, (text, its_words) in enumerate(zip(texts, cut, strict=True)):
        is_sure = not (
            APART.search(unicodedata.normalize("NFKC", text)) or BOUNDARY in text or len(text) > 128
        )
        assert i not in apart if is_sure else i in apart
        assert its_words == (cased_words(text) if is_sure else [])
        if is_sure:
            assert [word.casefold() for word in its_words] == terms(text, identifiers=False)


@pytest.mark.parametrize("length", [86, 128, 129, 256, 300])
def test_a_word_is_cut_behind_as_many_letters_of_its_folded_form(length):
    text = "ß" * length  # twice as many, folded
    words, _, apart = cased_words_of_all(["one", text, "two"])
    wanted = terms(text, identifiers=False)
    if len(wanted) > 1:
        assert (words, apart.tolist()) == (["one", "two"], [1])
    else:
        assert [word.casefold() for word in words] == ["one", *wanted, "two"]


def test_the_vectors_are_the_same_both_ways():
    table = WordTable(STATIC)
    repeated = " ".join(f"word{i} Haus" for i in range(200))  # more columns than are sorted
    texts = [*TEXTS, repeated, "Anna Anna Anna Öst"]
    calls = list[tuple[object, ...]]()

    def record(*arguments: object) -> object:
        calls.append(arguments)
        return bag_vectors.function(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clew.embedding.word_table.bag_vectors", record)
        table.vectors(texts)
    plain, loop = bag_vectors.plain(*calls[0]), bag_vectors.function(*calls[0])
    with compile_first():
        by_machine = bag_vectors(*calls[0])
    assert np.array_equal(plain, loop)
    assert np.array_equal(plain, by_machine)


def test_rows_are_centred_the_same_both_ways():
    rng = np.random.default_rng(0)
    for width in (8, 128, 256, 768):
        rows = rng.standard_normal((5, width)).astype(np.float32)
        rows[1] = 0
        rows[2, : width // 2] = 0
        mean = rng.standard_normal(width).astype(np.float32)
        rows[3] = mean
        found = [rows.copy() for _ in range(3)]
        centre_rows.plain(found[0], mean)
        centre_rows.function(found[1], mean)
        with compile_first():
            centre_rows(found[2], mean)
        assert np.array_equal(found[0], found[1])
        assert np.array_equal(found[0], found[2])
        exact = rows.astype(np.float64) - mean
        exact[1] = 0
        exact /= np.maximum(np.linalg.norm(exact, axis=1, keepdims=True), 1e-300)
        assert np.abs(found[0] - exact).max() < 1e-6


def test_rows_are_added_up_the_same_both_ways():
    rows = np.random.default_rng(0).standard_normal((40, 24)).astype(np.float32)
    rows[3], rows[4, :5] = 0, 1e30
    wanted = [math.fsum(column) for column in rows.T.tolist()]
    found = sum_rows.plain(rows)
    assert np.array_equal(found, sum_rows.function(rows))
    with compile_first():
        assert np.array_equal(found, sum_rows(rows))
    assert found == pytest.approx(wanted, rel=1e-12)


def test_numbers_are_rounded_the_same_both_ways():
    """The upper 16 bits of a float32 are a bfloat16, and the nearest one is the one above half."""
    rows = np.random.default_rng(0).standard_normal((4, 24)).astype(np.float32)
    rows[1], rows[2, :3] = 0, (-0.0, 1e-40, -3e38)
    exact = [struct.unpack("<I", struct.pack("<f", one))[0] for one in rows.ravel().tolist()]
    upper = [(bits + 0x8000) >> 16 for bits in exact]
    rounded = [struct.unpack("<f", struct.pack("<I", half << 16))[0] for half in upper]

    def rounds(kernel):
        of_rows, halves = rows.copy(), np.full(rows.shape, 7, np.uint16)
        kernel(of_rows.view(np.uint32), halves)
        assert halves.ravel().tolist() == upper
        assert of_rows.ravel().tolist() == rounded
        copied = np.full((6, 24), 9, np.float32)
        return copied, halves

    def puts(kernel, copied, halves):
        places = np.array([3, 0, 2]), np.array([1, 3, 0])
        kernel(copied.view(np.uint32), places[0], halves, places[1])
        wanted = np.reshape(rounded, rows.shape)[places[1]]
        assert np.array_equal(copied[places[0]], wanted)
        assert (copied[[1, 4, 5]] == 9).all()

    puts(put_halves.plain, *rounds(round_rows.plain))
    puts(put_halves.function, *rounds(round_rows.function))
    with compile_first():
        puts(put_halves, *rounds(round_rows))


def test_many_threads_may_learn_words_at_once():
    table, texts = WordTable(STATIC, 30), [f"Ferry{i} sails at {i % 7}." for i in range(90)]
    wanted = STATIC(texts)

    def find(first: int) -> bool:
        return (
            np.abs(table.vectors(texts[first : first + 9]) - wanted[first : first + 9]).max() < 1e-6
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(find, [i * 7 % 80 for i in range(300)]))


@given(st.lists(st.text("abAé1北\U0001f642", min_size=1, max_size=4), max_size=40, unique=True))
def test_words_have_the_numbers_of_their_places_both_ways(words):
    letters = np.frombuffer("".join(words).encode("utf-32-le"), np.uint32)
    starts = np.cumsum([0, *map(len, words)])
    asked = [*words[::-1], "no such word", *words[:3]]
    text = np.frombuffer(" ".join(asked).encode("utf-32-le"), np.uint32)
    ends = np.cumsum([len(word) + 1 for word in asked]) - 1
    begins = ends - list(map(len, asked))
    half = len(words) // 2
    for put, find in (
        (put_words.plain, find_words.plain),
        (put_words.function, find_words.function),
        (put_words, find_words),
    ):
        slots = np.full(128, -1, np.int32)
        with np.errstate(over="ignore"), compile_first():
            put(slots, 0, half, starts, letters)
            put(slots, half, len(words), starts, letters)
            found = find(text, begins, ends, slots, starts, letters)
        assert found.tolist() == [words.index(word) if word in words else -1 for word in asked]


@given(st.lists(some_texts, max_size=4), st.integers(1, 20))
def test_words_that_machine_code_looks_up_make_the_same_vectors(questions, most):
    tables = WordTable(STATIC, most), WordTable(STATIC, most)
    for texts in questions:
        with compile_first(), pytest.MonkeyPatch.context() as patch:
            looked_up = tables[0].vectors(texts)
            patch.setattr("clew.embedding.word_table._is_ready", lambda *_: False)
            in_python = tables[1].vectors(texts)
        assert np.array_equal(looked_up, in_python)


def test_a_table_of_many_words_is_looked_up():
    with compile_first():
        table, texts = WordTable(STATIC), [f"Word{i} word{i % 7}." for i in range(5_000)]
        WordTable(STATIC).vectors(texts[:1])  # so that there is machine code
        finish_compiling()
        found = np.concatenate([table.vectors(texts[i : i + 900]) for i in range(0, 5_000, 900)])
        assert table._letters._n_put > MIN_SLOTS / 2
    assert np.abs(found - STATIC(texts)).max() < 1e-6
