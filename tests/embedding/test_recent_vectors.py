"""An embedder gets no text twice that it embedded lately, and answers are those of one that does."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import clew
from clew.embedding import recent_vectors
from clew.embedding.embedder import embed_texts, with_recent_vectors
from clew.embedding.recent_vectors import RecentVectors

TEXTS = [
    f"Ferry {number} of Captain {'ABCDEFG'[number % 7]} sails to Corfu." for number in range(30)
]
QUESTIONS = ["Which ferry sails to Corfu?", "Who sails ferry 7?", "Which ferry sails to Corfu?"]
WINDOWS = [TEXTS[0:20], TEXTS[10:30], TEXTS[5:25]]
FACTS = {"12": [("Captain F", "sails", "Ferry 12")]}


class Counting:
    """An embedder that lists the texts it gets."""

    model_name = "counting"

    def __init__(self):
        self.got = []

    def __call__(self, texts):
        self.got += texts
        places = [sum(text.encode()) % 97 for text in texts]
        return [[1 / 3 + place, len(text) / 7, 1.0] for text, place in zip(texts, places)]  # noqa: B905


@pytest.mark.parametrize("recipe", ["dense", "mmr", "hipporag"])
@pytest.mark.parametrize("facts", [None, FACTS])
def test_narrow_embeds_each_candidate_and_question_once(recipe, facts):
    counting = Counting()
    for question, texts in zip(QUESTIONS, WINDOWS, strict=True):
        documents = [clew.Document(str(TEXTS.index(text)), text) for text in texts]
        asked = {"recipe": recipe, "facts": facts, "budget": 150}
        kept = clew.narrow(question, documents, embedder=counting, **asked)
        anew = clew.narrow(question, documents, embedder=Counting(), **asked)
        assert kept.text == anew.text
        assert [(one.id, one.score) for one in kept] == [(one.id, one.score) for one in anew]
    assert len(counting.got) == len(set(counting.got))
    assert set(counting.got) >= {*TEXTS, *QUESTIONS}


def test_vectors_are_those_that_come_without_and_in_the_order_of_the_texts():
    counting, rows = Counting(), embed_texts(clew.Embedder.of(Counting()), TEXTS)
    for some in (slice(3, 9), slice(None, None, -1), slice(None)):
        embedder = with_recent_vectors(clew.Embedder.of(counting))
        np.testing.assert_array_equal(embed_texts(embedder, TEXTS[some]), rows[some])
    assert sorted(counting.got) == sorted(TEXTS)
    assert embed_texts(embedder, []).shape == (0, 0)
    with pytest.raises(ValueError, match="3 dimensions; wanted 2"):
        embed_texts(embedder, TEXTS, width=2)


def test_a_vector_that_is_refused_once_is_refused_again():
    zeros = lambda texts: [[0.0, "2" not in text] for text in texts]  # noqa: E731
    for _ in range(2):
        with pytest.raises(ValueError, match="'Ferry 2' is all zeros"):
            clew.narrow("Ferry 1?", ["Ferry 1", "Ferry 2"], embedder=zeros, recipe="dense")


def test_functions_and_models_that_embed_otherwise_share_nothing():
    counting = Counting()
    embedder = clew.Embedder.of(counting)
    embed_texts(with_recent_vectors(embedder), TEXTS)
    with_recent_vectors(embedder).embed_question(TEXTS[0])
    assert counting.got == [*TEXTS, TEXTS[0]], "a question is none of the texts"
    counting.model_name = "larger"
    embed_texts(with_recent_vectors(clew.Embedder.of(counting)), TEXTS)
    assert counting.got == [*TEXTS, TEXTS[0], *TEXTS]


def test_vectors_go_with_their_embedder():
    counting = Counting()
    embedder = with_recent_vectors(clew.Embedder.of(counting))
    embed_texts(embedder, TEXTS)
    gone = [weakref.ref(counting), weakref.ref(embedder.recent)]
    del counting, embedder
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


def test_a_copy_embeds_as_the_original_and_starts_empty():
    embedder = with_recent_vectors(clew.Embedder.of(Counting()))
    rows = embed_texts(embedder, TEXTS)
    other = pickle.loads(pickle.dumps(embedder))
    assert not other.recent.bytes
    np.testing.assert_array_equal(embed_texts(other, TEXTS), rows)


def test_memory_stays_within_the_bound_whoever_writes():
    recent = RecentVectors(2**20)

    def fill(first):
        for number in range(first, first + 2_000):
            recent.put([(f"{'long ' * (number % 50)}{number}", np.ones((2, 96), np.float32)[0])])
            recent.find([f"{number - 5}"])

    tracemalloc.start()
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(fill, range(0, 8_000, 2_000)))
        gc.collect()
        places = [tracemalloc.Filter(True, file) for file in (recent_vectors.__file__, __file__)]
        taken = tracemalloc.take_snapshot().filter_traces(places).statistics("filename")
    finally:
        tracemalloc.stop()
    assert 0.7 * 2**20 < sum(one.size for one in taken) <= 2**20
    assert recent.bytes <= 2**20
    recent.put([("x" * 2**20, np.ones(3))])
    assert not recent.find(["x" * 2**20])
    assert recent.bytes > 2**19, "what is too large drives nothing out"


def test_what_was_asked_for_last_stays():
    recent = RecentVectors(3_000)
    for number in range(100):
        recent.put([(str(number), np.ones(9))])
        assert recent.find(["0"])
    assert recent.find(["99"])
    assert not recent.find(["1"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_finds_no_lock_held():
    recent = RecentVectors()
    recent.put([("sea", np.ones(3))])
    with recent._lock:
        child = os.fork()
        if not child:
            signal.alarm(20)
            os._exit(0 if recent.find(["sea"]) else 1)
    assert os.waitpid(child, 0)[1] == 0
