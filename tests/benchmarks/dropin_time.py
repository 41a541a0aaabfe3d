"""What clew takes over a vector store beside the store's own search: milliseconds of a processor.

    python -m tests.benchmarks.dropin_time hotpot --embedder all-MiniLM-L6-v2 --questions 40

A set is a folder that `clew measure` reads; its passages go into LangChain's store in memory. Each
question is asked of 50 candidates that this process has never read, and at once again, when all of
them were read before. Between the two, as people have it, stands a stream: all questions after one
another, nothing read at the start, some candidates read for earlier questions. What a process knows of the words of a language stays. Medians, and searches
of the store. Without an embedder the vectors are clew's own: a search and its question's vector
count for the store alone.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from langchain_clew import ClewRetriever
from langchain_core.documents import Document

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
SMOKE = "{folder} --questions 2"


def forget_texts() -> None:
    """Forget what this process keeps of texts; the stems of words stay."""
    of_words = {id(stems._kept_stems(language)) for language in ("", *stems.STEMMERS)}
    for kept in gc.get_objects():
        if type(kept) is Kept and id(kept) not in of_words:
            kept.clear()
    stems._identify_among.cache_clear()
    stems._is_english.cache_clear()
    vectors = general.kept_vectors()  # what it knows of words stays, too
    vectors._texts.clear()
    vectors._place_of.clear()
    vectors._next = 0
    gc.collect()


def measure(folder: Path, embedder: str | None, n_questions: int) -> None:
    benchmark = Benchmark.open(folder, vectors=False)
    texts = [document.text for document in benchmark.documents]
    embeddings = Counting(embedder_of(embedder, texts))
    store = ArrayStore(embeddings)
    store.add_documents([Document(one.text, id=one.id) for one in benchmark.documents])
    questions = [question.text for question in benchmark.questions[:n_questions]]
    print(f"\n{folder.name}: {len(questions)} questions, {len(texts):,} passages\n")
    print("| | new candidates | a stream | seen candidates | searches |", flush=True)
    print("|---|---|---|---|---|", flush=True)
    searching = [_milliseconds(partial(store.similarity_search, q, CANDIDATES)) for q in questions]
    print(f"| the store | {statistics.median(searching):.1f} | | | 1 |", flush=True)
    for name, options in ROWS.items():
        retriever = ClewRetriever.from_vectorstore(store, CANDIDATES, **options)
        retriever.context(questions[0], budget=BUDGET)  # what is loaded once for a process
        new, seen, store.searches = [], [], 0
        for question, searched in zip(questions, searching, strict=True):
            forget_texts()
            for times in (new, seen):
                ask = partial(retriever.context, question, budget=BUDGET)
                times.append(_milliseconds(ask) - searched)
        searches = store.searches / 2 / len(questions)
        forget_texts()
        stream = [
            _milliseconds(partial(retriever.context, question, budget=BUDGET)) - searched
            for question, searched in zip(questions, searching, strict=True)
        ]
        medians = [f"{statistics.median(times):.0f}" for times in (new, stream, seen)]
        found = f"{' | '.join(medians)} | {searches:.1f}"
        print(f"| {name} | {found} |", flush=True)


def _milliseconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return (time.process_time() - begin) * 1000


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
