"""What clew takes over a vector store beside the store's own search: milliseconds of a processor.

    python -m tests.benchmarks.dropin_time hotpot --embedder all-MiniLM-L6-v2 --questions 40

A set is a folder that `clew measure` reads; its passages go into LangChain's store in memory. Each
question is asked of 50 candidates that this process has never read, and at once again, when all of
them were read before. Between the two, as people have it, stands a stream: all questions after one
another, nothing read at the start, some candidates read for earlier questions. What a process knows
of the words of a language stays, and its loops are compiled before anything is measured. Medians,
and searches of the store. All searches, and the vectors that are made for them, count for the store
alone: they are measured where they happen.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_clew import ClewRetriever
from langchain_core.documents import Document

from clew.algorithms.kernels.compiled import finish_compiling
from clew.embedding import general
from clew.measure.benchmark import Benchmark
from clew.text import stems
from clew.text.kept import Kept
from tests.benchmarks.dropin import BUDGET, CANDIDATES, ArrayStore, Counting, embedder_of

ROWS: dict[str, dict[str, Any]] = {
    "words beside vectors": {"hops": 0, "extractor": None},
    "names among candidates": {"hops": 0},
    "and a second look": {},
}
WARM_UP = 10  # questions, the last of the set, by which loops are compiled and tables loaded
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
    print("| | new candidates | a stream | seen candidates | searches |", flush=True)
    print("|---|---|---|---|---|", flush=True)
    searching = list[float]()
    for question in questions:
        begin = clock.spent
        store.similarity_search(question, CANDIDATES)
        searching.append((clock.spent - begin) * 1000)
    print(f"| the store | {statistics.median(searching):.1f} | | | 1 |", flush=True)
    for name, options in ROWS.items():
        retriever = ClewRetriever.from_vectorstore(store, CANDIDATES, **options)

        def ask(question: str, retriever: ClewRetriever = retriever) -> float:
            begin, before = time.process_time(), clock.spent
            retriever.context(question, budget=BUDGET)
            return (time.process_time() - begin - (clock.spent - before)) * 1000

        for question in last:
            ask(question)
        finish_compiling()
        new, seen, store.searches = [], [], 0
        for question in questions:
            forget_texts()
            for times in (new, seen):
                times.append(ask(question))
        searches = store.searches / 2 / len(questions)
        forget_texts()
        stream = list(map(ask, questions))
        medians = [f"{statistics.median(times):.0f}" for times in (new, stream, seen)]
        found = f"{' | '.join(medians)} | {searches:.1f}"
        print(f"| {name} | {found} |", flush=True)


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
