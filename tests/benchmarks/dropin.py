"""What the two lines of the README bring: a vector store alone, and clew over the same store.

    python -m tests.benchmarks.dropin musique hotpot --embedder all-MiniLM-L6-v2
    python -m tests.benchmarks.dropin musique --embedder MODULE:NAME --questions 100

A set is a folder that `clew measure` reads. Its passages go into LangChain's store in memory. The
embedder is a sentence-transformers model, or a function texts -> vectors; without one it is clew's
own, fitted on the set. Every row answers from the store's vectors; the full indexes are clew's own
of the whole set with `Names`, one by the store's vectors and one by clew's, and one for which
nothing is asked but that passages have the store's vectors, beside the same without names.

Recall of the gold passages among the best 2, 5 and 10, and in a context of 512 tokens; the paired
difference from the store, and from words beside vectors, with its 95 % interval; and for a question the texts embedded, the searches
of the store, and milliseconds (median), the embedding of the question among them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from langchain_clew import ClewRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

import clew
from clew.embedding.embedder import fit_default
from clew.measure.benchmark import Benchmark
from clew.measure.metrics import by_score, first_that_fit, recall
from clew.measure.paired import build_table
from clew.text.estimate import estimate_tokens

CUTS = (2, 5, 10)
BEST = max(CUTS)
BUDGET = 512
FIGURES = (*(f"R@{k}" for k in CUTS), f"R@{BUDGET} tokens")
CANDIDATES = 50
SMOKE = "{folder} --questions 2"


class Counting(Embeddings):
    """An embedder that counts the texts that it is asked for."""

    def __init__(self, embedder: clew.Embedder) -> None:
        self.embedder, self.texts = embedder, 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += len(texts)
        return np.asarray(self.embedder.embed_texts(texts), float).tolist()

    def embed_query(self, text: str) -> list[float]:
        return np.asarray(self.embedder.embed_question(text), float).tolist()


class ArrayStore(InMemoryVectorStore):
    """LangChain's store in memory, whose vectors are one array: it makes one of lists each time."""

    def _similarity_search_with_score_by_vector(
        self, embedding: list[float], k: int = 4, filter: object = None
    ) -> list[tuple[Document, float, list[float]]]:
        self.searches = self.__dict__.get("searches", 0) + 1
        if len(self.__dict__.get("rows", ())) != len(self.store):
            self.rows = np.array([entry["vector"] for entry in self.store.values()])
            self.rows /= np.linalg.norm(self.rows, axis=1, keepdims=True)
            self.entries = list(self.store.values())
        asked = np.asarray(embedding) / np.linalg.norm(embedding)
        cosines = np.einsum(
            "ij,j->i", self.rows, asked
        )  # `@` would keep another core busy for long
        return [
            (
                Document(
                    self.entries[i]["text"],
                    id=self.entries[i]["id"],
                    metadata=self.entries[i]["metadata"],
                ),
                float(cosines[i]),
                self.entries[i]["vector"],
            )
            for i in np.argsort(-cosines, kind="stable")[:k].tolist()
        ]


def embedder_of(name: str | None, texts: Sequence[str]) -> clew.Embedder:
    if name is None:
        return fit_default(texts)[0]
    module, colon, attribute = name.partition(":")
    return clew.Embedder.of(getattr(import_module(module), attribute) if colon else name)


Answer = Callable[[str], tuple[list[str], list[str]]]
"""A question -> ids by score, and the ids of what a context of 512 tokens holds."""


def of_store(search: Callable[..., list[Document]], lengths: dict[str, int], **how: Any) -> Answer:
    def answer(question: str) -> tuple[list[str], list[str]]:
        ids = [str(document.id) for document in search(question, **how)]
        return ids, first_that_fit(ids, lengths, BUDGET)

    return answer


def of_clew(ask: Callable[..., clew.Context], **names: str) -> Answer:
    limit = names.get("limit", "limit")

    def answer(question: str) -> tuple[list[str], list[str]]:
        whole = ask(question, min_relevance=0, budget=None, **{limit: BEST})
        return by_score(whole), ask(question, min_relevance=0, budget=BUDGET).ids

    return answer


def over_store(store: VectorStore, **how: Any) -> Answer:
    retriever = ClewRetriever.from_vectorstore(store, CANDIDATES, **how)
    return of_clew(retriever.context, limit="k")


def answers_of(store: VectorStore, lengths: dict[str, int]) -> dict[str, Answer]:
    """Return the rows that both tables have: a store, and clew over it, step by step."""
    return {
        "the store": of_store(store.similarity_search, lengths, k=CANDIDATES),
        "its MMR": of_store(
            store.max_marginal_relevance_search, lengths, k=BEST, fetch_k=CANDIDATES
        ),
        "`dense` over it": over_store(store, hops=0, recipe="dense"),
        "words beside vectors": over_store(store, hops=0, extractor=None),
        "names among candidates": over_store(store, hops=0),
        "and a second look": over_store(store, hops=1),
        "and a third, as it comes": over_store(store),
    }


def compare(
    folder: Path, embedder: str | None, n_questions: int | None, *, embeds_facts: bool = True
) -> None:
    benchmark = Benchmark.open(folder, vectors=False)
    questions = benchmark.questions[:n_questions]
    texts = {document.id: document.text for document in benchmark.documents}
    embeddings = Counting(embedder_of(embedder, list(texts.values())))
    store = ArrayStore(embeddings)
    store.add_documents([Document(text, id=id) for id, text in texts.items()])
    lengths = {id: estimate_tokens(text) for id, text in texts.items()}

    names = clew.Names()
    documents = benchmark.documents
    index = clew.Index.from_documents(documents, extractor=names)
    plain = clew.Index.from_documents(documents, embedder=embeddings.embedder)
    nameless = clew.Index.from_documents(
        documents, extractor=clew.Symbols(), embedder=embeddings.embedder
    )
    answers = answers_of(store, lengths) | {
        "`budgeted` with both": over_store(store, recipe="budgeted"),
        "full index, clew's vectors": of_clew(index.ask),
        "full index, the same vectors, no names": of_clew(nameless.ask),
        "full index, the same vectors, as it comes": of_clew(plain.ask),
    }
    if embeds_facts:
        same = clew.Index.from_documents(documents, extractor=names, embedder=embeddings.embedder)
        answers["full index, the same vectors"] = of_clew(same.ask)
    values, costs = {}, {"embedded": {}, "searches": {}, "ms": {}}
    for name, answer in answers.items():
        rows, seconds, asks = [], [], 1 if name in ("the store", "its MMR") else 2
        embeddings.texts = store.searches = 0
        for question in questions:
            begin = time.perf_counter()
            ranked, page = answer(question.text)
            seconds.append((time.perf_counter() - begin) / asks)
            rows.append(
                [*(recall(ranked[:k], question.gold) for k in CUTS), recall(page, question.gold)]
            )
        values[name] = {figure: [row[i] for row in rows] for i, figure in enumerate(FIGURES)}
        costs["embedded"][name] = f"{embeddings.texts / len(questions):.1f}"
        costs["searches"][name] = f"{store.searches / asks / len(questions):.1f}"
        costs["ms"][name] = f"{statistics.median(seconds) * 1000:.0f}"
    title = f"{folder.name}: {len(questions)} questions, {len(texts):,} passages"
    for baseline in ("the store", "words beside vectors"):
        table = build_table(title, values, baseline)
        print(f"\n{title}; differences from {baseline}\n", flush=True)
        print(table.to_markdown(intervals=True, more=costs), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--embedder", help="a sentence-transformers model, or MODULE:NAME")
    parser.add_argument("--questions", type=int, help="how many of each set (default: all)")
    parser.add_argument(
        "--no-fact-vectors",
        action="store_true",
        help="leave out the full index whose names and facts have the same vectors",
    )
    options = parser.parse_args()
    for folder in options.folders:
        embeds_facts = not options.no_fact_vectors
        compare(folder, options.embedder, options.questions, embeds_facts=embeds_facts)


if __name__ == "__main__":
    main()
