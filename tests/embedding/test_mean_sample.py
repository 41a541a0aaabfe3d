"""Which texts give the mean of the embedded default: the same ones after a change."""

from itertools import pairwise

import numpy as np
import pytest

from clew.embedding.mean_sample import sample_places
from clew.embedding.static import MAX_SAMPLE, StaticEmbedding, TextCounts

WORDS = [
    "Corfu",
    "ferry",
    "harbour",
    "island",
    "letter",
    "lighthouse",
    "map",
    "sea",
    "storm",
    "ten",
]
MOST = 100


def texts_of(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 9))) + f" {i}" for i in range(n)]


def chosen(texts: list[str], parts: int = 1) -> list[str]:
    """Return the texts that are chosen, where they are counted in so many parts."""
    bounds = np.linspace(0, len(texts), parts + 1).astype(int).tolist()
    counted = [TextCounts.of(texts[a:b]) for a, b in pairwise(bounds)]
    places = sample_places([(one.pieces, one.of_pieces) for one in counted], MOST)
    assert places.tolist() == sorted(set(places.tolist()))
    return [texts[place] for place in places.tolist()]


def test_all_texts_are_chosen_where_they_are_few():
    texts = texts_of(MOST)
    assert chosen(texts) == texts
    assert chosen([]) == []


def test_what_is_chosen_depends_neither_on_the_order_nor_on_how_texts_are_counted():
    texts = texts_of(1000)
    whole = chosen(texts)
    assert len(whole) == MOST
    assert chosen(texts, parts=7) == whole
    # Of texts that consist of the same pieces, such as "439" and "943", the first is chosen first.
    assert sorted(map(sorted, chosen(texts[::-1]))) == sorted(map(sorted, whole))


def test_a_text_that_comes_changes_at_most_one_of_those_chosen():
    before = texts_of(1000)
    for i, new in enumerate(texts_of(40, seed=1)):
        after = [*before[: 25 * i], f"{new} new", *before[25 * i :]]
        assert len(set(chosen(after)) - set(chosen(before))) <= 1
        assert len(set(chosen(before)) - set(chosen(after))) <= 1
        before = after


def test_copies_of_a_text_are_chosen_as_often_as_others():
    texts = texts_of(500) + ["The licence is in the file LICENSE."] * 500
    copies = sum(text.startswith("The licence") for text in chosen(texts))
    assert 30 < copies < 70  # 50 are expected, with a standard deviation of 5


@pytest.mark.parametrize("place", [0, 700, 2000])
def test_the_mean_stays_nearly_the_same_where_a_text_comes(place):
    texts = texts_of(2000)
    after = [*texts[:place], "A storm closed the harbour.", *texts[place:]]
    before, moved = StaticEmbedding.fit(texts).mean, StaticEmbedding.fit(after).mean
    # One of its texts goes and another comes, and no weight changes by more than a hundredth.
    assert np.linalg.norm(moved - before) < 3 / MAX_SAMPLE
