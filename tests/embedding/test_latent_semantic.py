"""The embedded default of earlier versions: by its definition, by a plain reference, and by what its vectors are for."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew.embedding.latent_semantic
from clew.embedding.embedder import Embedder
from clew.embedding.latent_semantic import LatentSemantic, signatures
from clew.text.words import terms

PASSAGES = [
    "Anna Karenina was written by Leo Tolstoy in the city of Moscow.",
    "The city of Moscow lies on the river Moskva.",
    "Corfu is an island in the Ionian Sea, and the home of the Durrells.",
    "The Durrells wrote of the island and of the sea.",
    "Barack Obama was born in Honolulu, the capital of the state of Hawaii.",
]


def cosine(latent: LatentSemantic, one: str, other: str) -> float:
    return float(latent.embed_question(one) @ latent.embed_question(other))


def plainly(word: str, width: int) -> np.ndarray:
    """A word's signature in whole numbers of Python, one place at a time."""
    full = 2**64 - 1

    def mixed(number: int) -> int:
        number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & full
        number = (number ^ number >> 27) * 0x94D049BB133111EB & full
        return number ^ number >> 31

    marked = [2, *map(ord, word), 3]
    grams = [
        mixed(((a * 2**21 + b) * 2**21 + c) & full)
        for a, b, c in zip(marked, marked[1:], marked[2:], strict=False)
    ]
    whole = sum(mixed(letter + place * 2**32) for place, letter in enumerate(marked)) & full
    row = np.zeros(width)
    for number, share in [(g, 0.85 / len(grams)) for g in grams] + [
        (mixed(whole + i & full), 0.15 / 4) for i in (1, 2, 3, 4)
    ]:
        row[number % width] += np.sqrt(share) * (1 if number >> 63 else -1)
    return row / (np.linalg.norm(row) or 1)


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=5),
    st.integers(1, 700),
)
def test_signatures_are_those_of_plain_arithmetic(vocabulary, width):
    found = signatures(vocabulary, width).toarray()
    np.testing.assert_allclose(
        found,
        np.reshape([plainly(word, width) for word in vocabulary], (len(vocabulary), width)),
        atol=1e-12,
    )


def test_vectors_are_the_weighted_bag_in_the_leading_directions_and_what_these_leave_out_at_half_its_weight():
    texts, asked = PASSAGES, [*PASSAGES, "Who wrote of Moscow and of Zanzibar?", "Durrell"]
    latent = LatentSemantic.fit(texts, 16)
    bags = [terms(text, identifiers=False) for text in texts]
    known = sorted({word for bag in bags for word in bag})
    everything = sorted(
        {*known, *(word for text in asked for word in terms(text, identifiers=False))}
    )

    def rows(of):
        matrix = np.zeros((len(of), len(everything)))
        for i, bag in enumerate(terms(text, identifiers=False) for text in of):
            for j, word in enumerate(everything):
                spread = max(1, sum(word in other for other in bags))
                idf = np.log(1 + (len(texts) - spread + 0.5) / (spread + 0.5)) ** 1.5
                matrix[i, j] = (1 + np.log(bag.count(word))) * idf if word in bag else 0
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)

    directions = np.linalg.svd(rows(texts), full_matrices=False)[2]
    assert latent.components.shape == (len(known), len(directions)) == (len(known), 5)
    rest = rows(asked) - rows(asked) @ directions.T @ directions
    width = 16 - len(directions)
    wanted = np.hstack(
        [
            rows(asked) @ directions.T,
            np.sqrt(0.5) * rest @ np.stack([plainly(word, width) for word in everything]),
        ]
    )
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    found = latent(asked)
    np.testing.assert_allclose(
        found @ found.T, wanted @ wanted.T, atol=1e-5
    )  # the directions' signs are a choice: cosines are not


def test_names_of_one_passage_are_not_alike_for_standing_together_as_in_its_directions_alone():
    latent = LatentSemantic.fit(PASSAGES)
    alone = latent.components[
        [latent.vocabulary.index("tolstoy"), latent.vocabulary.index("karenina")]
    ]
    assert alone[0] @ alone[1] / np.linalg.norm(alone[0]) / np.linalg.norm(alone[1]) > 0.99
    assert cosine(latent, "Tolstoy", "Karenina") < 0.3


@pytest.mark.parametrize(
    ("one", "variant", "other"),
    [
        ("Barack Obama", "Barak Obama", "Leo Tolstoy"),
        ("Tchaikovsky", "Chaikovsky", "Honolulu"),
        ("the Durrells", "Durrell", "Moskva"),
        ("Straße", "STRASSE", "Moskva"),
        ("Владимир Набоков", "Владимиру Набокову", "Анна Каренина"),
    ],
)
def test_spelling_variants_are_near_and_other_names_are_not(one, variant, other):
    latent = LatentSemantic.fit(PASSAGES)
    assert cosine(latent, one, variant) > 0.5 > 0.3 > cosine(latent, one, other)


def test_words_of_nearly_all_texts_hardly_count_in_any_language():
    latent = LatentSemantic.fit(
        [f"{name} жил в этом городе" for name in ("Анна", "Борис", "Вера", "Глеб", "Дарья")]
    )
    assert cosine(latent, "Анна жил в этом городе", "Борис жил в этом городе") < 0.35
    assert cosine(latent, "Анна жил в этом городе", "Анна") > 0.8


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""],
        ["!!!", "…"],
        ["word"],
        ["word"] * 3,
        ["one text, of several words"],
        ["城市", "島"],
    ],
)
def test_the_smallest_corpora_embed_known_and_unknown_words(texts):
    latent = LatentSemantic.fit(texts, 32)
    vectors = latent([*texts, "something else", "?"])
    assert vectors.shape == (len(texts) + 2, 32) == (len(texts) + 2, latent.dimensions)
    lengths = [
        1.0 if terms(text, identifiers=False) else 0.0 for text in [*texts, "something else", "?"]
    ]
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), lengths, atol=1e-6)
    assert latent([]).shape == (0, 32)


@given(st.lists(st.text(max_size=30), max_size=8), st.lists(st.text(max_size=30), max_size=6))
def test_a_text_has_one_vector_whatever_is_embedded_beside_it_and_none_without_words(corpus, asked):
    latent = LatentSemantic.fit(corpus, 48)
    together = latent(asked)
    for text, row in zip(asked, together, strict=True):
        np.testing.assert_allclose(row, latent.embed_question(text), atol=1e-6)
        assert np.linalg.norm(row) == pytest.approx(
            1 if terms(text, identifiers=False) else 0, abs=1e-5
        )


def test_only_the_most_widespread_words_get_directions_and_the_others_weigh_as_words_of_one_text(
    monkeypatch,
):
    whole = LatentSemantic.fit(PASSAGES)
    monkeypatch.setattr(clew.embedding.latent_semantic, "MAX_WORDS", 3)
    latent = LatentSemantic.fit(PASSAGES)
    assert latent.vocabulary == ("of", "the", "in")
    assert latent.components.shape[0] == len(latent.idf) == 3
    assert latent.unknown == whole.idf[whole.vocabulary.index("tolstoy")]
    assert cosine(latent, "Tolstoy", "Leo Tolstoy") > 0.5


def test_directions_come_from_a_sample_of_the_texts_and_weights_from_all(monkeypatch):
    monkeypatch.setattr(clew.embedding.latent_semantic, "MAX_SAMPLE", 3)
    latent = LatentSemantic.fit(PASSAGES)
    assert latent.components.shape == (
        len({word for text in PASSAGES for word in terms(text, identifiers=False)}),
        3,
    )
    monkeypatch.undo()
    whole = LatentSemantic.fit(PASSAGES)
    assert dict(zip(latent.vocabulary, latent.idf, strict=True)) == dict(
        zip(whole.vocabulary, whole.idf, strict=True)
    )
    unsampled = [latent.vocabulary.index(word) for word in ("moskva", "durrells", "wrote")]
    assert latent.components[unsampled[0]].any() == latent.components[unsampled[2]].any() == False  # noqa: E712  # of numpy
    assert latent.components[unsampled[1]].any()


def test_randomised_directions_find_what_the_exact_ones_find(monkeypatch):
    rng = np.random.default_rng(0)
    topics = [[f"topic{t}word{i}" for i in range(12)] for t in range(6)]
    texts = [" ".join(rng.choice(topics[i % 6], 8)) for i in range(90)]
    exact = LatentSemantic.fit(texts, 16)
    monkeypatch.setattr(clew.embedding.latent_semantic, "MAX_EXACT", 0)
    near = LatentSemantic.fit(texts, 16)
    assert near.components.shape == exact.components.shape == (72, 6)
    angles = np.linalg.svd(near.components.T @ exact.components)[1]
    assert angles.min() > 0.99  # cosines between the two subspaces
    found = near(texts) @ near(texts).T
    same = np.equal.outer(np.arange(90) % 6, np.arange(90) % 6)
    assert found[same].min() > found[~same].max()


FIT = """
import sys
import numpy as np
from clew.embedding.latent_semantic import LatentSemantic
rng = np.random.default_rng(7)
words = [f"w{i:x}" for i in range(900)]
texts = [" ".join(rng.choice(words, 14, p=np.arange(900, 0, -1) / 405450)) for _ in range(1200)]
exact, randomised = (LatentSemantic.fit(texts[:number], 128)(texts[:200]) for number in (300, 1200))
np.savez(sys.argv[1], exact=exact, randomised=randomised)
"""


@pytest.mark.slow
def test_vectors_are_the_same_for_any_hash_seed_and_number_of_threads(tmp_path):
    found = []
    for threads, seed in (("1", "0"), ("2", "1")):
        named = {
            "OPENBLAS_NUM_THREADS": threads,
            "OMP_NUM_THREADS": threads,
            "MKL_NUM_THREADS": threads,
            "PYTHONHASHSEED": seed,
        }
        target = tmp_path / f"{threads}.npz"
        subprocess.run([sys.executable, "-c", FIT, str(target)], env=os.environ | named, check=True)
        found.append(np.load(target))
    for way in ("exact", "randomised"):
        np.testing.assert_allclose(found[0][way], found[1][way], atol=1e-6, err_msg=way)


def test_it_is_plain_arrays_from_which_it_can_be_made_again_and_it_can_be_pickled():
    latent = LatentSemantic.fit(PASSAGES)
    wanted = latent(PASSAGES)
    plain = {field.name: getattr(latent, field.name) for field in fields(latent)}
    assert {name: type(value) for name, value in plain.items()} == {
        "vocabulary": tuple,
        "idf": np.ndarray,
        "unknown": float,
        "components": np.ndarray,
        "overlap": np.ndarray,
    }
    embedder = Embedder.of(LatentSemantic(**plain))
    np.testing.assert_array_equal(embedder.embed_texts(PASSAGES), wanted)
    again = pickle.loads(pickle.dumps(embedder))
    np.testing.assert_allclose(again.embed_question(PASSAGES[0]), wanted[0], atol=1e-6)
    assert again.allows_zero_vectors
    assert again.fitted is not None


@pytest.mark.parametrize("dimensions", [0, 15, -1, 2.5, "64", True])
def test_a_dimension_that_is_none_is_refused(dimensions):
    with pytest.raises(ValueError, match="dimensions is a whole number of at least 16; got"):
        LatentSemantic.fit(PASSAGES, dimensions)
