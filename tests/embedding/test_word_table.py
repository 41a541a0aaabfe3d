"""Vectors by what is kept of words: those of the embedder, whatever was asked for before."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clew.embedding.static import StaticEmbedding
from clew.embedding.word_table import WordTable
from clew.text.words import (
    BOUNDARY,
    cased_words,
    cased_words_and_terms_of_all,
    cased_words_of_all,
    terms,
)

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
    st.lists(st.sampled_from(TEXTS) | st.text("Aa1. \u0130\u0390\u0345é北", max_size=5), max_size=6)
)
def test_the_words_and_terms_of_several_texts_are_those_of_each(texts):
    def cut(found):
        parts, starts = found
        return [parts[a:b] for a, b in pairwise(starts)]

    words = [cased_words(text) for text in texts]
    assert cut(cased_words_of_all(texts)) == words
    both = cased_words_and_terms_of_all(texts)
    assert list(map(cut, both)) == [words, [terms(text, identifiers=False) for text in texts]]


def test_many_threads_may_learn_words_at_once():
    table, texts = WordTable(STATIC, 30), [f"Ferry{i} sails at {i % 7}." for i in range(90)]
    wanted = STATIC(texts)

    def find(first: int) -> bool:
        return (
            np.abs(table.vectors(texts[first : first + 9]) - wanted[first : first + 9]).max() < 1e-6
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(find, [i * 7 % 80 for i in range(300)]))
