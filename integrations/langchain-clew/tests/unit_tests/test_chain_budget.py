"""The budget holds for what a chain prints, whatever its prompt prints beside the texts."""

from __future__ import annotations

import random
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

import clew
from clew.adapters import NothingFitsWarning

QUESTION = "Which ferry sails to Corfu?"
PROMPTS = [
    None,
    PromptTemplate.from_template("{page_content}"),
    PromptTemplate.from_template("Source: {source}\nNote: {note}\n{page_content}"),
]


def made_of(seed):
    """Documents whose metadata are at times much longer than their texts."""
    chance = random.Random(seed)
    return [
        Document(
            f"Ferry {i} sails to Corfu at {i % 12}. " + "The sea is calm. " * chance.randrange(4),
            id=f"{i}",
            metadata={"source": f"{i % 5}.md", "note": "x" * chance.choice([0, 5, 200, 900])},
        )
        for i in range(12)
    ]


def printed(documents, prompt, separator):
    """What the chain of LangChain itself puts in the place of the context."""
    seen = []
    chain = create_stuff_documents_chain(
        RunnableLambda(lambda asked: seen.append(asked.to_messages()[0].content) or "yes"),
        ChatPromptTemplate.from_template("{context}"),
        document_prompt=prompt,
        document_separator=separator,
    )
    chain.invoke({"context": documents})
    return seen[0]


def makers(documents, embeddings):
    store = InMemoryVectorStore.from_documents(documents, embeddings)
    return {
        "index": lambda **how: (
            ClewRetriever.from_documents(documents, embeddings, count=len, **how).invoke
        ),
        "store": lambda **how: ClewRetriever.from_vectorstore(store, count=len, **how).invoke,
        "compressor": lambda **how: (
            lambda question: ClewCompressor(count=len, **how).compress_documents(
                documents, question
            )
        ),
    }


@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["index", "store", "compressor"]),
    prompt=st.sampled_from(PROMPTS),
    separator=st.sampled_from(["\n\n", "\n", "\n" + "-" * 30 + "\n"]),
    budget=st.integers(60, 3000),
    max_share=st.sampled_from([None, 0.4]),
)
@settings(max_examples=40, deadline=None)
def test_no_chain_prints_more_than_the_budget(seed, kind, prompt, separator, budget, max_share):
    documents = made_of(seed)
    make = makers(documents, DeterministicFakeEmbedding(size=16))[kind]
    how = {"document_prompt": prompt, "document_separator": separator}
    try:
        found = make(**how, budget=budget, max_share=max_share, recipe="bm25", strict=True)(
            QUESTION
        )
    except clew.BudgetError:
        room = (max_share or 1) * budget
        sizes = [len(printed([one], prompt, separator)) for one in documents]
        assert sum(size <= room for size in sizes) < len(sizes) / 2, "few would have fitted"
        return
    assert found
    assert len(printed(found, prompt, separator)) <= budget
    for source in {one.metadata["source"] for one in found}:
        own = [one for one in found if one.metadata["source"] == source]
        of_one = len(printed(own, prompt, separator))
        assert len(own) == 1 or of_one <= (max_share or 1) * budget


async def test_what_is_left_out_is_named_and_the_page_is_of_what_is_left():
    documents = made_of(7)
    retriever = ClewRetriever.from_documents(
        documents, count=len, budget=1500, document_prompt=PROMPTS[2], recipe="bm25"
    )
    plain = retriever.invoke(QUESTION, document_prompt=None)
    assert len(printed(plain, PROMPTS[2], "\n\n")) > 1500
    context = retriever.context(QUESTION)
    assert (await retriever.acontext(QUESTION)).ids == context.ids
    found = retriever.invoke(QUESTION)
    assert [document.id for document in found] == context.ids
    step = context.trace[-1]
    assert step.notes["tokens"] == len(printed(found, PROMPTS[2], "\n\n"))
    assert (context.budget, context.tokens) == (1500, len(context.text))
    assert all(document.page_content.strip() in context.text for document in found)
    gone = {one.id for one in context.dropped}
    assert set(step.notes["left out"]) <= gone


def test_a_question_is_embedded_at_most_twice(embeddings):
    documents = made_of(7)
    retriever = ClewRetriever.from_documents(
        documents, embeddings, count=len, budget=1500, document_prompt=PROMPTS[2]
    )
    retriever.invoke(QUESTION)
    assert len(embeddings.questions) <= 2


def test_a_prompt_that_fits_nowhere_says_so():
    documents = [Document("Ferries sail.", metadata={"source": "a", "note": "x" * 500})]
    retriever = ClewRetriever.from_documents(
        documents, count=len, budget=100, document_prompt=PROMPTS[2]
    )
    with pytest.raises(clew.BudgetError, match="a document_prompt that prints less"):
        retriever.invoke("Which ferries sail?", strict=True)
    with pytest.warns(NothingFitsWarning, match="a document_prompt that prints less"):
        context = retriever.context("Which ferries sail?")
    assert (len(context), context.text, context.tokens) == (0, "", 0)
    assert "document_prompt" in context.nothing_found
    assert len(context.dropped) == 1


@pytest.mark.parametrize("kind", ["index", "store", "compressor"])
def test_a_budget_that_holds_no_document_gives_none_and_one_warning(kind):
    make = makers(made_of(1), DeterministicFakeEmbedding(size=16))[kind]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        ask = make(budget=5)
        assert [ask(QUESTION) for _ in range(3)] == [[]] * 3
    (only,) = heard
    assert only.category is NothingFitsWarning
    assert "a budget of 5 tokens holds none" in str(only.message)
    assert "give a larger budget" in str(only.message)
    with pytest.raises(clew.BudgetError, match="a budget of 5 tokens holds none"):
        make(budget=5, strict=True)(QUESTION)
