"""Relevance: by its definition, and what a question gets that nothing answers, here and in both frameworks."""

from __future__ import annotations

import inspect
import math
import random
import re
import statistics
import textwrap

import numpy as np
import pytest
from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.documents import Document as LangChainDocument
from llama_index.retrievers.clew import ClewRetriever as LlamaRetriever

import clew
from clew.algorithms import cosines
from clew.graph import products
from clew.relevance import (
    FITTED,
    MIN_COVERAGE,
    MIN_RELEVANCE,
    MIN_RELEVANCE_IN_CODE,
    MIN_WORDS,
    QuestionRelevance,
    WholeSamplePart,
    relevance,
)
from clew.seed.bm25 import InvertedIndexPart
from clew.text.stems import FUNCTION_WORDS

ANSWERED = "How do I shuffle a list in place?"
UNANSWERED = "Wie lange muss Sauerteig gehen?", "How long does sourdough bread have to rise?"


def documents():
    """The documentation of the functions of some modules."""
    return [
        clew.Document(f"{module.__name__}.{name}", inspect.getdoc(value))
        for module in (random, statistics, textwrap, re, math)
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and inspect.getdoc(value)
    ]


@pytest.fixture(scope="module")
def index():
    return clew.Index.from_documents(documents())


def test_a_relevance_is_what_its_definition_says(embed):
    """Counted word by word: stems are the words themselves here, and no word is a function word."""
    texts = ["anna red boat", "ben red", "cleo red blue", "dora", "anna anna"]
    index = clew.Index.from_documents(
        [clew.Document(str(i), text) for i, text in enumerate(texts)], embedder=embed
    )
    vector = index.embedder.embed_question("anna boat blue zebra")
    vector = np.float32(vector) / np.linalg.norm(vector)
    asked = ["anna", "boat", "blue", "zebra"]
    frequency = [sum(word in text.split() for text in texts) for word in asked]
    idf = [math.log(1 + (len(texts) - f + 0.5) / (f + 0.5)) for f in frequency]
    cosines = index.graph.vectors @ vector
    expected = []
    for text, cosine in zip(texts, cosines, strict=True):
        has = sum(
            weight for word, weight in zip(asked, idf, strict=True) if word in text.split()
        ) / sum(idf)
        has = min(max(has, MIN_COVERAGE), 1 - MIN_COVERAGE)
        logit = (
            FITTED.coverage * math.log(has / (1 - has))
            + FITTED.deviation * (cosine - statistics.mean(cosines)) / statistics.pstdev(cosines)
            + FITTED.unknown * idf[3] / sum(idf)
            + FITTED.terms * math.log(4)
            + FITTED.passages * math.log(5)
            + FITTED.constant
        )
        expected.append(1 / (1 + math.exp(-logit)))
    found = QuestionRelevance.of_question(index.graph, "Where anna boat blue zebra?", vector)
    rows = index.graph.rows("passage")
    assert found.of(rows) == pytest.approx(expected, abs=1e-6)
    assert found.best == pytest.approx(max(expected), abs=1e-6)
    others = np.setdiff1d(np.arange(len(index.graph)), rows).astype(np.int32)
    assert np.isnan(found.of(others)).all()


def test_a_candidate_stands_out_by_the_score_that_it_came_with():
    """The one term of the definition that scores decide, beside the same candidates by rank."""
    texts = [f"The ferry number {i} sails on day {i}." for i in range(5)]
    scores = [0.9, 0.5, 0.45, 0.3, 0.1]
    question = "Which ferry sails?"

    def relevances(candidates):
        found = clew.narrow(question, candidates, recipe="dense", limit=5, extractor=None)
        return {item.text: item.relevance for item in found}

    scored = relevances(list(zip(texts, scores, strict=True)))
    logits = [math.log(scored[text] / (1 - scored[text])) for text in texts]
    deviations = [(score - statistics.mean(scores)) / statistics.pstdev(scores) for score in scores]
    rest = [
        logit - FITTED.deviation * deviation
        for logit, deviation in zip(logits, deviations, strict=True)
    ]
    assert rest == pytest.approx([rest[0]] * 5)  # the words of the question are in all of them
    times_ten = [(text, 10 * score) for text, score in zip(texts, scores, strict=True)]
    assert relevances(times_ten) == pytest.approx(scored)
    assert relevances(texts) == pytest.approx(relevances(texts[::-1]))  # by rank, vectors decide


@pytest.mark.parametrize("recipe", ["hipporag", "fused"])
def test_a_question_is_compared_with_all_passages_once(index, recipe, monkeypatch):
    graph, compared = index.graph, []

    def counted(vectors, query):
        compared.append(vectors)
        return products(vectors, query)

    vector = np.float32(index.embedder.embed_question(ANSWERED))
    vector = vector / np.linalg.norm(vector)
    alone = QuestionRelevance.of_question(graph, ANSWERED, vector)
    monkeypatch.setattr(cosines, "products", counted)
    found = index.ask(ANSWERED, recipe=recipe)
    assert [one is graph.vectors_of("passage") for one in compared] == [True]
    assert found.relevance == pytest.approx(alone.best, abs=1e-6)
    rows = np.array([graph.row(id) for id in found.ids], np.int32)
    assert [item.relevance for item in found] == pytest.approx(alone.of(rows).tolist(), abs=1e-6)


def test_what_is_usual_is_that_of_the_whole_where_a_graph_is_a_part_of_one(index):
    graph, vector = index.graph.unchecked(), index.graph.vectors[7]
    others = np.eye(4, graph.vectors.shape[1], dtype=np.float32)
    known = cosines.compare(graph.vectors_of("passage"), vector)
    own = QuestionRelevance.of_question(graph, ANSWERED, vector, known)
    graph.set_part(WholeSamplePart(), others)
    one, other = (
        QuestionRelevance.of_question(graph, ANSWERED, vector, each) for each in (None, known)
    )
    assert one.mean == other.mean == pytest.approx(float((others @ vector).mean()))
    assert one.best == other.best != own.best
    assert (one.deviation, one.unknown) == (other.deviation, other.unknown)


def test_a_relevance_grows_with_what_speaks_for_it_and_stays_within_0_and_1():
    shares = np.linspace(0, 1, 7)
    for n_terms, n_passages, unknown in ((1, 1, 0.0), (9, 10**7, 1.0), (3, 50, 0.4)):
        for values in (
            relevance(shares, np.zeros(7), unknown, n_terms, n_passages),
            relevance(np.full(7, 0.5), 9 * shares, unknown, n_terms, n_passages),
        ):
            assert (np.diff(values) >= 0).all()
            assert 0 <= values[0] < values[-1] <= 1
    assert relevance(np.array([1.0]), np.array([1e9]), 0.0, 10**6, 1).tolist() == [1.0]


@pytest.mark.parametrize("recipe", ["bm25", "fused", clew.recipes.DEFAULT, "kurisu", "budgeted"])
def test_what_nothing_answers_is_told_and_what_something_answers_is_read(index, recipe):
    best = index.ask(ANSWERED, recipe=recipe)
    assert "random.Random.shuffle" in best.ids or "random.shuffle" in best.ids
    assert best.relevance > 0.8
    assert not best.nothing_found
    for question in UNANSWERED:
        none = index.ask(question, recipe=recipe, budget=500)
        assert (none.ids, none.text, none.tokens, none.budget) == ([], "", 0, 500)
        assert none.relevance < MIN_RELEVANCE
        assert f"below {MIN_RELEVANCE}" in none.nothing_found
        if recipe != "bm25":  # which finds nothing where no word is known
            assert len(index.ask(question, recipe=recipe, min_relevance=0)) > 0


def test_a_limit_is_exact_without_a_threshold_and_at_most_with_one(index):
    assert len(index.ask(UNANSWERED[1], limit=4)) == 4
    assert len(index.ask(ANSWERED, limit=40, budget=None)) == 40
    least = index.ask(ANSWERED, limit=40, budget=None, min_relevance=0.5)
    assert 1 <= len(least) < 40
    assert min(item.relevance for item in least) >= 0.5
    assert len(index.ask(ANSWERED, limit=1, min_relevance=0.5)) == 1
    assert len(index.ask(UNANSWERED[1], limit=4, min_relevance=0.5)) == 0


@pytest.mark.parametrize("recipe", ["fused", clew.recipes.DEFAULT, "kurisu", "budgeted", "mmr"])
def test_what_is_less_relevant_is_left_out_however_much_room_there_is(index, recipe):
    question = "How do I shuffle a list, or choose one of its elements at random?"
    every = index.ask(question, recipe=recipe, budget=None)
    middle = float(np.mean([item.relevance for item in every]))
    some = index.ask(question, recipe=recipe, budget=None, min_relevance=middle)
    assert 0 < len(some) < len(every)
    assert all(item.relevance >= middle for item in some)
    with pytest.raises(ValueError, match="min_relevance is a number from 0 to 1"):
        index.ask(ANSWERED, min_relevance=30)


def test_a_handful_of_sentences_is_too_little_to_tell():
    few = clew.Index.from_documents(["Anna paints in Rome.", "Ben sleeps all day."])
    found = few.ask("How long does sourdough bread of Anna have to rise?")
    assert found.relevance < MIN_RELEVANCE
    assert len(found) > 0
    words = sum(len(re.findall(r"\w+", one.text)) for one in documents())
    assert words > 2 * MIN_WORDS


def test_an_embedder_that_knows_the_language_of_the_question_has_the_last_word(index):
    """A multilingual embedder finds in English what is asked in German; words cannot."""
    own = clew.Index.from_documents(
        documents(), embedder=lambda texts: index.embedder.embed_texts(texts)
    )
    assert own.ask(UNANSWERED[1]).nothing_found
    german = own.ask(UNANSWERED[0])
    assert (german.relevance, german.nothing_found, len(german) > 0) == (None, "", True)


def test_reports_answer_what_no_passage_has_the_words_of(index):
    with_reports = index.generate(clew.generate.Reports())
    assert with_reports.graph.generated.any()
    assert len(with_reports.ask(UNANSWERED[1])) > 0


def test_candidates_are_judged_by_who_found_them_unless_it_is_asked_for(index):
    texts = [one.text for one in documents()]
    assert len(clew.narrow(UNANSWERED[1], texts)) > 0
    assert len(clew.narrow(UNANSWERED[1], texts, min_relevance=MIN_RELEVANCE)) == 0
    found = [LangChainDocument(text) for text in texts]
    assert ClewCompressor().compress_documents(found, UNANSWERED[1])
    strict = ClewCompressor(min_relevance=MIN_RELEVANCE)
    assert strict.compress_documents(found, UNANSWERED[1]) == []
    assert strict.compress_documents(found, ANSWERED)


def test_both_frameworks_return_an_empty_list_or_their_best_by_choice(index):
    retriever = ClewRetriever(index=index)
    assert retriever.invoke(UNANSWERED[1]) == []
    assert retriever.invoke(UNANSWERED[1], min_relevance=0)
    assert ClewRetriever(index=index, min_relevance=0).invoke(UNANSWERED[1])
    best = retriever.invoke(ANSWERED, explain=True)
    assert 0 <= best[-1].metadata["clew_relevance"] <= 1
    llama = LlamaRetriever(index)
    assert llama.retrieve(UNANSWERED[1]) == []
    assert LlamaRetriever(index, min_relevance=0).retrieve(UNANSWERED[1])
    assert llama.retrieve(ANSWERED)


def test_code_is_silent_less_readily_than_text():
    """The same texts, once called documentation and once called source code."""
    from clew.relevance import MIN_RELEVANCE_IN_CODE

    texts = [(document.id, document.text) for document in documents()]
    for format, least in (("text", MIN_RELEVANCE), ("python", MIN_RELEVANCE_IN_CODE)):
        index = clew.Index.from_documents(
            [clew.Document(id, text, format=format) for id, text in texts]
        )
        assert index.is_of_code == (format == "python")
        found = index.ask(UNANSWERED[1], min_relevance=0.0).relevance
        context = index.ask(UNANSWERED[1])
        assert (not context.items) == (found < least)


def test_the_help_of_a_question_says_below_what_nothing_is_read():
    told = " ".join(inspect.getdoc(clew.QueryOptions).split())
    assert f"below {MIN_RELEVANCE:g}, or below {MIN_RELEVANCE_IN_CODE:g} in an index of" in told


IN_GERMAN = (
    "Das Programm {name} durchsucht die Dateien im Ordner, die zu einem Muster passen, und zeigt "
    "jede Zeile mit ihrer Nummer. Die Option {name} legt fest, was bei einem Fehler geschieht."
)


@pytest.fixture(scope="module")
def german_index():
    names = [f"werkzeug{number}" for number in range(60)]
    texts = [IN_GERMAN.format(name=name) for name in names]
    return clew.Index.from_documents([*texts, "Der Prozess wird mit dem Signal beendet."])


@pytest.mark.parametrize(
    ("question", "without"),
    [
        ("Wie beende ich einen Prozess mit dem Signal?", "Wie beende einen Prozess mit Signal?"),
        ("Kann man mir den Prozess mit dem Signal beenden?", "Den Prozess mit Signal beenden?"),
    ],
)
def test_a_function_word_that_no_passage_has_does_not_count(german_index, question, without):
    graph, vector = german_index.graph, german_index.graph.vectors[0]
    one, other = (
        QuestionRelevance.of_question(graph, text, vector) for text in (question, without)
    )
    assert one.n_terms == other.n_terms
    assert one.unknown == pytest.approx(other.unknown)
    assert one.coverage == pytest.approx(other.coverage)
    assert german_index.ask(question).items


def test_a_word_that_says_what_is_asked_counts_in_every_language(german_index):
    for question in ("Wie backe ich mir einen Kuchen?", "Wo wohnt denn meine Oma?"):
        assert german_index.ask(question).nothing_found


@pytest.mark.parametrize("question", [ANSWERED, "How can I die?", "Is the war over, man?"])
def test_what_is_asked_in_english_counts_as_before(german_index, index, question):
    """No word of it is left out that is among the function words of another language."""
    for asked in (index, german_index):
        inverted = asked.graph.part(InvertedIndexPart())
        stems = [pair for pair in inverted.stems_of(question, FUNCTION_WORDS) if pair[1]]
        found = QuestionRelevance.of_question(asked.graph, question, None)
        assert found.n_terms == len(dict(inverted.stems_of(question, FUNCTION_WORDS)))
        _, known = inverted.postings.covered(inverted.stems[stem] for stem, _ in stems)
        unknown = (found.n_terms - len(dict(stems))) * inverted.postings.idf(0)
        assert found.unknown == unknown / (known + unknown)
