"""Postings that grew and shrank against the same texts counted at once, and against the library bm25s."""

from __future__ import annotations

from collections import Counter

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.kernels.postings import add_term, add_term_around, add_to_groups
from clew.algorithms.postings import CountedTerms, Postings

TEXT = st.lists(st.integers(0, 6), max_size=6)
STEPS = st.lists(
    st.one_of(
        st.lists(TEXT, max_size=5),  # texts that come
        st.integers(1, 2**16 - 1),  # which texts stay, as bits
    ),
    max_size=8,
)


@given(st.lists(TEXT, min_size=1, max_size=6), STEPS, st.booleans())
def test_texts_that_came_and_went_leave_the_counts_of_those_that_are_there(texts, steps, asked):
    postings = Postings.of(texts)
    for step in steps:
        if asked:
            assert postings.lengths.tolist() == [len(text) for text in texts]
        if isinstance(step, list):
            texts, postings = [*texts, *step], postings.with_texts(step)
        else:
            stays = np.array([bool(step >> i % 16 & 1) for i in range(len(texts))], np.bool_)
            texts = [text for text, left in zip(texts, stays, strict=True) if left]
            postings = postings.with_only(stays)

    assert len(postings) == len(texts)
    assert postings.lengths.tolist() == [len(text) for text in texts]
    for term in range(8):
        having = [i for i, text in enumerate(texts) if term in text]
        assert postings.texts_with(term).tolist() == having
        assert postings.has(term) == bool(having)
    at_once = Postings.of(texts).bm25({0: 1, 1: 2, 7: 1}, 1.5, 0.75)
    assert postings.bm25({0: 1, 1: 2, 7: 1}, 1.5, 0.75) == pytest.approx(at_once, abs=1e-12)


@given(st.lists(st.tuples(TEXT, st.integers(0, 3)), min_size=1), st.integers(0, 2**9 - 1))
def test_groups_of_texts_have_the_postings_and_scores_of_their_texts_joined(grouped, gone):
    postings = Postings.of([text for text, _ in grouped[:5]])
    for text, _ in grouped[5:]:
        postings = postings.with_texts([text])
    left = [not gone >> i & 1 for i in range(len(grouped))]
    groups = np.array([group for _, group in grouped])[left]
    found = postings.with_only(np.array(left)).grouped(groups, 4)
    joined = [list[int]() for _ in range(4)]
    for (text, group), stays in zip(grouped, left, strict=True):
        joined[group] += text if stays else []
    at_once = Postings.of(joined)
    assert len(found) == 4
    assert found.lengths.tobytes() == at_once.lengths.tobytes()
    for term in range(8):
        one, other = found.of_term(term), at_once.of_term(term)
        assert [part.tolist() for part in one] == [part.tolist() for part in other]
    question = {0: 1, 1: 2.5, 7: 1, 3: 1 / 3}
    assert found.bm25(question, 1.5, 0.75).tobytes() == at_once.bm25(question, 1.5, 0.75).tobytes()


@pytest.mark.parametrize("form", ["plain", "function"])
def test_a_run_of_postings_is_added_to_the_groups_of_its_texts(form):
    sums, groups = np.zeros(3, np.float32), np.array([2, 0, 2, 1])
    run = np.array([3, 0, 1, 2, 1], np.int32), np.array([9, 1, 2, 4, 9], np.float32), 1, 4
    getattr(add_to_groups, form)(sums, groups, *run)
    assert sums.tolist() == [2.0, 0.0, 5.0]


def test_scores_are_those_of_the_library_bm25s():
    generator = np.random.default_rng(7)
    texts = [generator.zipf(1.4, size).clip(max=400).tolist() for size in range(5, 300, 3)]
    engine = bm25s.BM25(k1=1.2, b=0.6, method="lucene")
    vocabulary = {str(number): number for number in range(401)}
    engine.index((texts, vocabulary), show_progress=False)
    question, known = [1, 2, 2, 17, 399], {term for text in texts for term in text}

    reference = engine.get_scores([str(term) for term in question if term in known])
    assert Postings.of(texts).bm25(Counter(question), 1.2, 0.6) == pytest.approx(
        reference, abs=1e-4
    )


def test_segments_are_few():
    postings = Postings.of([[0]] * 64)
    for _ in range(200):
        postings = postings.with_texts([[1]])
    assert len(postings) == 264
    assert len(postings.segments) <= 5


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), unique_by=lambda one: one[0]), st.integers(0, 99))  # fmt: skip
def test_a_term_is_added_alike_by_the_loop_and_by_numpy(found, seed):
    chance = np.random.default_rng(seed)
    norms, scores, idf = chance.random(10), chance.random(10), np.float32(chance.random())
    texts, counts = np.array([*found, (0, 1)])[:, 0].astype(np.int32), np.array([*found, (0, 1)])[:, 1]  # fmt: skip
    run = texts, counts.astype(np.float32), 1 if found else 0, len(found)
    one, other = scores.copy(), scores.copy()
    add_term.plain(one, *run, norms, idf)
    add_term.function(other, *run, norms, idf)
    assert one.tobytes() == other.tobytes()
    wanted = scores.tolist()
    for text, count in found[1:]:
        wanted[text] += float(idf) * count / (count + norms[text])
    np.testing.assert_allclose(one, wanted, rtol=1e-6)


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=4),
    st.dictionaries(st.integers(0, 60), st.integers(1, 4), max_size=9),
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=3),
)
def test_a_term_counts_for_the_texts_around_it_in_every_form_of_the_loop(sizes, found, shares):
    documents = [number for number, size in enumerate(sizes) for _ in range(size)]
    places = [place for size in sizes for place in range(size)]
    n, reach = len(documents), len(shares)
    found = {text: times for text, times in sorted(found.items()) if text < n}
    texts, counts = np.array([*found], np.int32), np.array([*found.values()], np.float64)
    before = np.minimum(places, reach).astype(np.int32)
    behind = np.minimum([sizes[of] - 1 for of in documents] - np.array(places), reach)
    norms, idf = np.linspace(0.5, 1.5, n), 0.7
    given_ = before, behind.astype(np.int32), np.array(shares, np.float64), norms, idf
    results = []
    for loop in (add_term_around.plain, add_term_around.function):
        scores, sums = np.linspace(0, 1, n), np.zeros(n)
        loop(scores, sums, texts, counts, *given_)
        assert not sums.any()
        results.append(scores)
    assert results[0].tobytes() == results[1].tobytes()
    for text in range(n):
        total = sum(
            times * [1, *shares, *[0] * n][abs(other - text)]
            for other, times in found.items()
            if documents[other] == documents[text]
        )
        added = idf * total / (total + norms[text])
        assert results[0][text] == pytest.approx(np.linspace(0, 1, n)[text] + added)


COUNTED = st.lists(st.dictionaries(st.integers(0, 40), st.integers(1, 9), max_size=8), max_size=7)


@given(COUNTED)
def test_counts_by_any_numbers_are_numbered_in_the_order_in_which_they_come(texts):
    numbers = list(dict.fromkeys(number for text in texts for number in text))
    chosen, postings = Postings.of_counts([CountedTerms.of(one, one.values()) for one in texts])
    assert chosen.tolist() == numbers
    assert len(postings) == len(texts)
    for new, old in enumerate(numbers):
        found = [part.tolist() for part in postings.of_term(new)]
        having = [i for i, text in enumerate(texts) if old in text]
        assert found == [having, [texts[i][old] for i in having]]


@given(st.lists(st.lists(st.integers(0, 12), max_size=8), max_size=7), st.integers(1, 3))
def test_terms_of_texts_that_are_counted_together_are_those_of_each(texts, together):
    terms = np.array([term for text in texts for term in text], np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clew.algorithms.postings.TOGETHER", together)
        found = CountedTerms.of_all(terms, list(map(len, texts)))
    assert [dict(zip(*map(list, one), strict=True)) for one in found] == list(map(Counter, texts))
    assert [list(one.terms) for one in found] == [list(dict.fromkeys(text)) for text in texts]
