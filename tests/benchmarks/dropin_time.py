"""What clew takes over a vector store beside the store's own search: milliseconds of a processor.

    python -m tests.benchmarks.dropin_time hotpot --embedder all-MiniLM-L6-v2 --questions 40

A set is a folder that `clew measure` reads; its passages go into LangChain's store in memory. Each
question is asked of 50 candidates that this process has never read, and at once again, when all of
them were read before. Between the two, as people have it, stands a stream: all questions after one
another, nothing read at the start, some candidates read for earlier questions. What a process knows
of the words of a language stays, and its loops are compiled before anything is measured. Medians,
and of the stream the searches of the store and the documents that are embedded for a question. All
searches, and the vectors that are made for them, count for the store alone: they are measured where
they happen.

Beside the retriever over a store stand LangChain's compressor and LlamaIndex's postprocessor, which
are given 50 documents and 50 nodes that were found before, by clew's own embedder and by that of the
store, then without scores; and LlamaIndex's `from_index`, which reads the index once, before any
question. What a framework embeds with, but for the store's questions, counts for it.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.documents import Document
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.postprocessor.clew import ClewPostprocessor
from llama_index.retrievers.clew import ClewRetriever as IndexRetriever
from pydantic import PrivateAttr

from clew.algorithms.kernels.compiled import finish_compiling
from clew.embedding import general, recent_vectors
from clew.measure.benchmark import Benchmark
from clew.text import stems
from clew.text.kept import Kept
from tests.benchmarks.dropin import BUDGET, CANDIDATES, ArrayStore, Counting, embedder_of

ROWS: dict[str, dict[str, Any]] = {
    "words beside vectors": {"hops": 0, "extractor": None},
    "names among candidates": {"hops": 0},
    "and a second look": {"hops": 1},
    "and a third, as it comes": {},
}
WARM_UP = 10  # questions, the last of the set, by which loops are compiled and tables loaded
Ask = Callable[[str], object]
SMOKE = "{folder} --questions 2"


class Clock:
    """Seconds of a processor that a store and its embedder take."""

    spent = 0.0

    def timed(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that does the work and adds its time."""

        def run(*arguments: Any, **keywords: Any) -> Any:
            begin = time.process_time()
            try:
                return work(*arguments, **keywords)
            finally:
                self.spent += time.process_time() - begin

        return run


class IndexEmbedding(BaseEmbedding):
    """The same embedder as LlamaIndex takes it."""

    _embeddings: Counting = PrivateAttr()

    def __init__(self, embeddings: Counting) -> None:
        super().__init__()
        self._embeddings = embeddings

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embeddings.embed_documents([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embeddings.embed_query(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._embeddings.embed_query(query)


def forget_texts() -> None:
    """Forget what this process keeps of texts; the stems of words stay."""
    of_words = {id(stems._kept_stems(language)) for language in ("", *stems.STEMMERS)}
    for kept in gc.get_objects():
        if type(kept) is Kept and id(kept) not in of_words:
            kept.clear()
    vectors = general.kept_vectors()  # what it knows of words stays, too
    vectors._texts.clear()
    vectors._place_of.clear()
    vectors._next = 0
    recent_vectors._RECENT.clear()
    gc.collect()


def measure(folder: Path, embedder: str | None, n_questions: int) -> None:
    benchmark = Benchmark.open(folder, vectors=False)
    texts = [document.text for document in benchmark.documents]
    clock, embeddings = Clock(), Counting(embedder_of(embedder, texts))
    store = ArrayStore(embeddings)
    store.add_documents([Document(one.text, id=one.id) for one in benchmark.documents])
    for owner, name in (
        (embeddings, "embed_query"),
        (store, "_similarity_search_with_score_by_vector"),
    ):
        owner.__dict__[name] = clock.timed(getattr(owner, name))
    questions = [question.text for question in benchmark.questions]
    last, questions = questions[-WARM_UP:], questions[:n_questions]
    print(f"\n{folder.name}: {len(questions)} questions, {len(texts):,} passages\n")
    print("| | new candidates | a stream | seen candidates | searches | embedded |", flush=True)
    print("|---|---|---|---|---|---|", flush=True)
    searching = list[float]()
    for question in questions:
        begin = clock.spent
        store.similarity_search(question, CANDIDATES)
        searching.append((clock.spent - begin) * 1000)
    print(f"| the store | {statistics.median(searching):.1f} | | | 1 | |", flush=True)
    asks: dict[str, Ask] = {}
    for name, options in ROWS.items():
        retriever = ClewRetriever.from_vectorstore(store, CANDIDATES, **options)
        asks[name] = partial(retriever.context, budget=BUDGET)
    asks |= of_frameworks(store, embeddings, {*last, *questions})
    for name, ask in asks.items():

        def spend(question: str, ask: Ask = ask) -> float:
            begin, before = time.process_time(), clock.spent
            ask(question)
            return (time.process_time() - begin - (clock.spent - before)) * 1000

        for question in last:
            spend(question)
        finish_compiling()
        new, seen = list[float](), list[float]()
        for question in questions:
            forget_texts()
            for times in (new, seen):
                times.append(spend(question))
        forget_texts()
        store.searches = embeddings.texts = 0
        stream = list(map(spend, questions))
        costs = [count / len(questions) for count in (store.searches, embeddings.texts)]
        medians = [f"{statistics.median(times):.0f}" for times in (new, stream, seen)]
        found = " | ".join([*medians, *(f"{cost:.1f}" for cost in costs)])
        print(f"| {name} | {found} |", flush=True)


def of_frameworks(
    store: ArrayStore, embeddings: Counting, questions: Collection[str]
) -> dict[str, Ask]:
    """Return what makes a context of what a framework found, and the retriever over an index."""
    nodes = [
        TextNode(id_=entry["id"], text=entry["text"], embedding=entry["vector"])
        for entry in store.store.values()
    ]
    index = VectorStoreIndex(nodes, embed_model=IndexEmbedding(embeddings))
    retriever = index.as_retriever(similarity_top_k=CANDIDATES)
    documents = {one: store.similarity_search(one, CANDIDATES) for one in questions}
    found: dict[str, list[NodeWithScore]] = {one: retriever.retrieve(one) for one in questions}
    compressor, postprocessor = ClewCompressor(budget=BUDGET), ClewPostprocessor(budget=BUDGET)
    by_embeddings = ClewCompressor(embeddings=embeddings, budget=BUDGET)
    by_model = ClewPostprocessor(embed_model=index._embed_model, budget=BUDGET)
    unscored = {
        one: [NodeWithScore(node=scored.node) for scored in nodes] for one, nodes in found.items()
    }
    whole = IndexRetriever.from_index(index, budget=BUDGET)
    return {
        "LangChain's compressor": lambda one: compressor.compress_documents(documents[one], one),
        "LlamaIndex's postprocessor": lambda one: postprocessor.postprocess_nodes(
            found[one], query_str=one
        ),
        "the compressor with `embeddings`": lambda one: by_embeddings.compress_documents(
            documents[one], one
        ),
        "the postprocessor with `embed_model`": lambda one: by_model.postprocess_nodes(
            unscored[one], query_str=one
        ),
        "LlamaIndex's `from_index`": whole.retrieve,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--embedder", help="a sentence-transformers model, or MODULE:NAME")
    parser.add_argument("--questions", type=int, default=40, help="how many of each set")
    options = parser.parse_args()
    for folder in options.folders:
        measure(folder, options.embedder, options.questions)


if __name__ == "__main__":
    main()
