"""Vectors for texts without a corpus: by definition, and the same whether they are kept or new."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.embedding.attach import attach_vectors
from clew.embedding.general import GeneralEmbedding, KeptVectors, general_embedder
from clew.embedding.static import PRIOR_TEXTS, StaticEmbedding
from clew.graph import Facts, Graph, Labels, Ragged, freeze
from clew.pipeline import Pipeline

TEXTS = [
    "The ferry to Corfu leaves at nine.",
    "Anna met Ben.",
    "Öst och väst",
    "read_path reads a path",
    "...",
    "夏目漱石は東京の人。",
]
PLAIN = StaticEmbedding.fit(())


def test_a_vector_is_that_of_no_corpus_without_the_mean_of_the_texts():
    alone = np.stack([PLAIN([text])[0] for text in TEXTS]).astype(np.float64)
    mean = alone.sum(axis=0) / (len(TEXTS) + PRIOR_TEXTS)
    wanted = np.where(alone.any(axis=1, keepdims=True), alone - mean, 0)
    lengths = np.sqrt((wanted**2).sum(axis=1, keepdims=True))
    wanted /= np.where(lengths > 0, lengths, 1)
    assert np.abs(GeneralEmbedding.centred(TEXTS)(TEXTS) - wanted).max() < 1e-3


def test_the_mean_is_that_of_the_texts_whatever_is_embedded_first():
    others = ["Corfu is an isle.", "Ben met Anna."]
    asked_first, together = (GeneralEmbedding.centred(TEXTS) for _ in range(2))
    asked_first(others)
    both = together([*TEXTS, *others])
    assert np.array_equal(asked_first.mean, together.mean)
    assert np.array_equal(both, asked_first([*TEXTS, *others]))
    assert np.array_equal(both[: len(TEXTS)], GeneralEmbedding.centred(TEXTS)(TEXTS))
    assert np.array_equal(GeneralEmbedding.centred(TEXTS).mean, together.mean)


@given(st.lists(st.lists(st.sampled_from(TEXTS), max_size=6), max_size=8), st.integers(1, 4))
def test_a_vector_is_the_same_whether_it_is_kept_or_new(questions, most):
    kept = KeptVectors(PLAIN, most)
    for texts in questions:
        vectors = kept(texts)
        assert vectors.shape == (len(texts), PLAIN.dimensions)
        for text, vector in zip(texts, vectors, strict=True):
            assert np.array_equal(vector, KeptVectors(PLAIN)([text])[0])
        vectors += 1  # it is the caller's


def test_many_threads_find_the_same_vectors():
    kept, texts = KeptVectors(PLAIN, most=40), [f"Ferry {i} sails at {i % 7}." for i in range(120)]
    wanted = dict(zip(texts, KeptVectors(PLAIN)(texts), strict=True))

    def find(first: int) -> bool:
        some = texts[first : first + 30]
        return all(np.array_equal(v, wanted[t]) for t, v in zip(some, kept(some), strict=True))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(find, [i % 90 for i in range(0, 400, 11)]))


def test_the_names_of_a_graph_have_vectors_when_one_is_asked_for():
    graph = Graph.of(
        ["Anna met Ben.", "Ben sails.", "Anna", "Ben"],
        kinds=["passage", "passage", "entity", "entity"],
        facts=Facts(
            ("Anna met Ben",), freeze(np.zeros((1, 0)), np.float32), freeze([2], np.int32),
            freeze([3], np.int32), Labels.of(["met"]), Ragged.of([[0]]),
        ),
    )  # fmt: skip
    texts = [*graph.texts, *graph.facts.texts]
    embedder = general_embedder(texts[:2])
    embed = embedder.embed_texts
    _, attached = attach_vectors(graph, embedder, replacement_texts={"1": "Ben rows."})
    passages, names = attached.vectors.segments
    assert not names.is_made
    texts[1] = "Ben rows."
    assert np.array_equal(passages.array, embed(texts)[:2])
    assert np.array_equal(attached.facts.vectors, embed(texts)[4:])
    assert np.array_equal(attached.vectors[:], embed(texts)[:4])
    assert names.is_made


def test_a_question_about_candidates_compares_no_name(monkeypatch):
    made = list[bool]()
    ask = Pipeline.on

    def on(self, graph):
        answer = ask(self, graph)

        def then(query, budget):
            context = answer(query, budget)
            made.append(graph.vectors.segments[1].is_made)
            return context

        return then

    monkeypatch.setattr(Pipeline, "on", on)
    texts = ["Anna Bell\nAnna Bell met Ben Okri.", "Ben Okri\nBen Okri sails to Corfu."]
    assert clew.narrow("Where does the man sail that Anna Bell met?", texts).ids
    assert clew.narrow("Where does the man sail?", texts, links=[clew.link.Synonym()]).ids
    assert made == [False, True]
