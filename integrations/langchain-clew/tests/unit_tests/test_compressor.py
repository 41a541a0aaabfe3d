"""The compressor, behind any retriever."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_clew import ClewCompressor, ClewRetriever
from langchain_clew.candidates import scores_by_order
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import ValidationError


def ids(documents):
    return [document.id for document in documents]


@pytest.fixture
def compressor(embeddings):
    return ClewCompressor(embeddings=embeddings, recipe="dense", budget=None)


def scored(documents, name, scores):
    return [
        d.model_copy(update={"metadata": {**d.metadata, name: s}})
        for d, s in zip(documents, scores, strict=False)
    ]


@pytest.mark.parametrize("name", ["relevance_score", "_similarity_score", "clew_score"])
def test_scores_in_the_metadata_decide_the_order_where_every_document_has_one(
    compressor, documents, question, name
):
    some = scored(documents, name, [0.1, 0.9, 0.5])
    assert ids(compressor.compress_documents(some, question)) == [
        documents[i].id for i in (1, 2, 0)
    ]
    assert compressor.context(some, question).trace[0].notes["scores"] == f"metadata {name!r}"


def test_a_reranker_behind_clew_goes_before_the_score_of_clew(compressor, documents, question):
    some = scored(
        scored(documents[:3], "clew_score", [0.9, 0.5, 0.1]), "relevance_score", [1, 3, 2]
    )
    assert ids(compressor.compress_documents(some, question)) == [
        documents[i].id for i in (1, 2, 0)
    ]


@pytest.mark.parametrize("missing", [None, "high", float("nan"), True])
def test_scores_that_not_every_document_has_count_for_nothing(
    compressor, documents, question, missing
):
    some = scored(documents, "relevance_score", [0.1, 0.9, missing])
    assert ids(compressor.compress_documents(some, question)) == ids(some)
    assert compressor.context(some, question).trace[0].notes["scores"].startswith("rank")


@pytest.mark.parametrize("how", [{"recipe": "dense", "budget": None}, {}])
async def test_a_key_called_score_is_the_user_s_own(documents, embeddings, question, how):
    """It may be a grade, or the result of a match."""
    compressor = ClewCompressor(embeddings=embeddings, **how)
    plain = compressor.context(documents, question)
    assert len(plain) > 2
    grades = {one.id: float(grade) for grade, one in enumerate(documents, 1)}
    for sign in (1, -1):
        some = scored(documents, "score", [sign * grade for grade in grades.values()])
        context = compressor.context(some, question)
        assert [(one.id, one.score) for one in context] == [(one.id, one.score) for one in plain]
        found = compressor.compress_documents(some, question)
        assert found == await compressor.acompress_documents(some, question)
        assert ids(found) == plain.ids
        assert [one.metadata["score"] for one in found] == [sign * grades[one.id] for one in found]


@pytest.mark.parametrize("logits", [[-7.5, -1.0, -4.0], [-7.5, 3.0, -4.0], [-0.9, -0.2, -0.3]])
def test_scores_without_a_common_zero_such_as_a_reranker_s_logits_count_by_their_order(
    compressor, documents, question, logits
):
    some = scored(documents, "relevance_score", logits)
    assert ids(compressor.compress_documents(some, question)) == [
        documents[i].id for i in (1, 2, 0)
    ]


async def test_no_documents_make_no_documents(compressor, question):
    assert (
        compressor.compress_documents([], question)
        == await compressor.acompress_documents([], question)
        == []
    )


def test_of_several_with_one_id_the_first_is_kept_and_ids_go_as_they_came(compressor, question):
    came = [
        Document("first", id="a"),
        Document("second", id="a"),
        Document("no name"),
        Document("no name"),
        Document("other"),
    ]
    assert [(d.id, d.page_content) for d in compressor.compress_documents(came, question)] == [
        ("a", "first"),
        (None, "no name"),
        (None, "other"),
    ]


def test_equal_texts_without_ids_are_apart_where_their_metadata_say_something_else(question):
    hours = "The office is open from nine to five."
    towns = [Document(hours, metadata={"town": town}) for town in ("Cork", "Riga")]
    again = Document(hours, metadata={"town": "Riga", "relevance_score": 0.5, "clew_rank": 2})
    found = ClewCompressor(k=5).compress_documents([*towns, again, Document("other")], question)
    assert [one.metadata.get("town") for one in found] == ["Cork", "Riga", None]


def test_nothing_done_to_what_came_out_reaches_what_went_in(compressor, documents, question):
    before = copy.deepcopy(documents)
    for document in compressor.compress_documents(documents, question):
        document.metadata["place"]["island"] = "spoilt"
        document.metadata["tags"].append("spoilt")
    assert documents == before


def test_the_budget_is_kept_by_the_caller_s_own_count(documents, question):
    context = ClewCompressor(count=len, budget=200).context(documents, question)
    assert 0 < len(context.text) == context.tokens <= 200


async def test_it_compresses_behind_a_retriever_in_a_pipeline_and_in_a_lambda(
    compressor, documents, embeddings, question
):
    base = InMemoryVectorStore.from_documents(documents, embeddings).as_retriever(
        search_kwargs={"k": 5}
    )
    wanted = compressor.compress_documents(base.invoke(question), question)
    assert len(wanted) == 5

    contextual = ContextualCompressionRetriever(base_compressor=compressor, base_retriever=base)
    assert contextual.invoke(question) == await contextual.ainvoke(question) == wanted
    pipeline = DocumentCompressorPipeline(transformers=[compressor, compressor])
    twice = ContextualCompressionRetriever(base_compressor=pipeline, base_retriever=base)
    assert ids(twice.invoke(question)) == ids(await twice.ainvoke(question)) == ids(wanted)
    chain = RunnableLambda(
        lambda question: compressor.compress_documents(base.invoke(question), question)
    )
    assert chain.invoke(question) == wanted


def test_it_compresses_what_an_ensemble_found(compressor, index, documents, embeddings, question):
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    ensemble = EnsembleRetriever(
        retrievers=[ClewRetriever(index=index, recipe="bm25", k=4), store.as_retriever()]
    )
    found = ensemble.invoke(question)
    assert sorted(ids(compressor.compress_documents(found, question))) == sorted(ids(found))


@pytest.mark.parametrize("wrong", [{"budgt": 3}, {"budget": 0}, {"k": 0}, {"recipe": "fuzed"}])
def test_what_it_does_not_take_is_refused(wrong):
    with pytest.raises(ValidationError, match=rf"({next(iter(wrong))}|unknown recipe)"):
        ClewCompressor(**wrong)
    with pytest.raises(TypeError, match="cannot embed with a int"):
        ClewCompressor(embeddings=3)


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c)), lambda c: c.model_copy()],
)
def test_a_copy_compresses_the_same(documents, question, again):
    compressor = ClewCompressor(
        embeddings=DeterministicFakeEmbedding(size=16), recipe="mmr", budget=100
    )
    assert again(compressor).compress_documents(
        documents, question
    ) == compressor.compress_documents(documents, question)


@settings(deadline=None)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=6, unique=True), st.booleans())
def test_scores_in_either_direction_become_higher_for_better(scores, descending):
    came = sorted(scores, reverse=descending)
    weights, _ = scores_by_order(came)
    assert weights is None or (sorted(weights, reverse=True) == weights and max(weights) > 0)
    assert (weights is None) == (
        (max(scores) <= 0 or min(scores) < -1) and (descending or len(scores) == 1)
    )


def test_a_page_that_is_printed_too_long_embeds_nothing_again(documents, embeddings, question):
    prompt = PromptTemplate.from_template("From an old book of travels: {page_content}")
    compressor = ClewCompressor(
        embeddings=embeddings, count=len, budget=300, document_prompt=prompt
    )
    context = compressor.context(documents, question)
    assert context.trace[-1].notes["asked again with"], "the page was too long at first"
    assert sorted(embeddings.documents) == sorted(one.page_content for one in documents)
    assert embeddings.questions == [question]


@pytest.mark.parametrize("recipe", ["dense", "hipporag"])
@pytest.mark.parametrize("is_async", [False, True])
async def test_questions_embed_no_document_twice(documents, embeddings, recipe, is_async):
    compressor = ClewCompressor(embeddings=embeddings, recipe=recipe, budget=60)
    asked = ["Who built the labyrinth?", "Who flew?", "Who built the labyrinth?"]
    for start, question in enumerate(asked):
        some = documents[start : start + 6]
        anew = ClewCompressor(embeddings=type(embeddings)(), recipe=recipe, budget=60)
        if is_async:
            found = await compressor.acompress_documents(some, question)
        else:
            found = compressor.compress_documents(some, question)
        assert found == anew.compress_documents(some, question)
    assert sorted(embeddings.documents) == sorted(one.page_content for one in documents[:8])
    assert embeddings.questions == asked[:2]
    copied = pickle.loads(pickle.dumps(compressor))
    assert copied.compress_documents(some, question) == found


class Letter(Document):
    language: str = "en"


def test_a_document_of_the_callers_own_class_keeps_its_fields():
    letter = Letter(page_content="The ferry sails at ten.", language="de", metadata={"n": [1]})
    (read,) = ClewCompressor().compress_documents([letter], "When does the ferry sail?")
    assert (type(read), read.language, read.page_content) == (Letter, "de", letter.page_content)
    read.metadata["n"].append(2)
    assert letter.metadata == {"n": [1]}


def test_an_embedder_whose_questions_have_other_dimensions_is_named():
    class Cut(Embeddings):
        def embed_documents(self, texts):
            return [[1.0, float(len(text)), 2.0] for text in texts]

        def embed_query(self, text):
            return [1.0, 2.0]

    documents = [Document("The ferry sails."), Document("Granite is grey.")]
    with pytest.raises(ValueError, match="has 2 dimensions, and those of the candidates have 3"):
        ClewCompressor(embeddings=Cut()).compress_documents(documents, "Which ferry?")
