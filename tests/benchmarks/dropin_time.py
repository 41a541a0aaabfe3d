"""What clew takes over a vector store beside the store's own search: milliseconds of a processor.

    python -m tests.benchmarks.dropin_time hotpot --embedder all-MiniLM-L6-v2 --questions 40
    python -m tests.benchmarks.dropin_time hotpot --questions 30 --repeat 10 --before CHECKOUT

A set is a folder that `clew measure` reads; its passages go into LangChain's store in memory. Each
question is asked of 50 candidates that this process has never read, and at once again, when all of
them were read before. Between the two, as people have it, stands a stream: all questions after one
another, nothing read at the start, some candidates read for earlier questions; `--repeat` says how
often it is begun anew. What a process knows of the words of a language stays, and its loops are
compiled before anything is measured. Medians over all questions and repeats, and of the stream the
searches of the store and the documents that are embedded for a question. All searches, and the
vectors that are made for them, count for the store alone: they are measured where they happen.

Beside the retriever over a store stand LangChain's compressor and LlamaIndex's postprocessor, which
are given 50 documents and 50 nodes that were found before, by clew's own embedder and by that of the
store, then without scores; and LlamaIndex's `from_index` over an index in memory, beside what
the index itself finds. What a framework embeds with, but for the store's questions, counts for it.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.documents import Document
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.postprocessor.clew import ClewPostprocessor
from llama_index.retrievers.clew import ClewRetriever as IndexRetriever
from pydantic import PrivateAttr

from clew.algorithms.kernels.compiled import finish_compiling
from clew.embedding import general, recent_vectors
from clew.measure.benchmark import Benchmark
from clew.text import stems
from clew.text.kept import Kept
from tests.benchmarks.checkouts import THIS
from tests.benchmarks.dropin import BUDGET, CANDIDATES, ArrayStore, Counting, embedder_of

ROWS: dict[str, dict[str, Any]] = {
    "words beside vectors": {"hops": 0, "extractor": None},
    "names among candidates": {"hops": 0},
    "and a second look": {"hops": 1},
    "and a third, as it comes": {},
}
ROWS_OF_FRAMEWORKS = (
    "LangChain's compressor",
    "LlamaIndex's postprocessor",
    "the compressor with `embeddings`",
    "the postprocessor with `embed_model`",
    "LlamaIndex's `from_index`",
)
WARM_UP = 10  # questions, the last of the set, by which loops are compiled and tables loaded
Ask = Callable[[str], object]
SMOKE = "{folder} --questions 1"


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


class Asked:
    """A set of questions, and what answers them.

    Args:
        folder: The set.
        embedder: What the store embeds with.
        n_questions: How many of the questions are measured.
    """

    def __init__(self, folder: Path, embedder: str | None, n_questions: int) -> None:
        benchmark = Benchmark.open(folder, vectors=False)
        self.texts = [document.text for document in benchmark.documents]
        self.clock, self.embeddings = Clock(), Counting(embedder_of(embedder, self.texts))
        self.store = ArrayStore(self.embeddings)
        self.store.add_documents([Document(one.text, id=one.id) for one in benchmark.documents])
        for owner, name in (
            (self.embeddings, "embed_query"),
            (self.store, "_similarity_search_with_score_by_vector"),
        ):
            owner.__dict__[name] = self.clock.timed(getattr(owner, name))
        questions = [question.text for question in benchmark.questions]
        self.last, self.questions = questions[-WARM_UP:], questions[:n_questions]
        self.asks: dict[str, Ask] = {}
        for name, options in ROWS.items():
            retriever = ClewRetriever.from_vectorstore(self.store, CANDIDATES, **options)
            self.asks[name] = partial(retriever.context, budget=BUDGET)
        self.asks |= of_frameworks(self.store, self.embeddings, {*self.last, *self.questions})
        own = self.clock.timed(VectorIndexRetriever._retrieve)
        VectorIndexRetriever._retrieve = own  # type: ignore[method-assign]

    def spend(self, name: str, question: str) -> float:
        """Return the milliseconds of a question by a row, without those of the store."""
        begin, before = time.process_time(), self.clock.spent
        self.asks[name](question)
        return (time.process_time() - begin - (self.clock.spent - before)) * 1000

    def warm_up(self, name: str) -> None:
        """Ask the last questions of the set."""
        for question in self.last:
            self.spend(name, question)
        finish_compiling()

    def stream(self, name: str) -> list[float]:
        """Return the milliseconds of all questions after one another, nothing read before."""
        forget_texts()
        return [self.spend(name, question) for question in self.questions]


def measure(folder: Path, embedder: str | None, n_questions: int, repeat: int) -> None:
    asked = Asked(folder, embedder, n_questions)
    questions, store, embeddings = asked.questions, asked.store, asked.embeddings
    print(f"\n{folder.name}: {len(questions)} questions, {len(asked.texts):,} passages\n")
    print("| | new candidates | a stream | seen candidates | searches | embedded |", flush=True)
    print("|---|---|---|---|---|---|", flush=True)
    searching = list[float]()
    for question in questions:
        begin = asked.clock.spent
        store.similarity_search(question, CANDIDATES)
        searching.append((asked.clock.spent - begin) * 1000)
    print(f"| the store | {statistics.median(searching):.1f} | | | 1 | |", flush=True)
    for name in asked.asks:
        asked.warm_up(name)
        new, seen = list[float](), list[float]()
        for question in questions:
            forget_texts()
            for times in (new, seen):
                times.append(asked.spend(name, question))
        store.searches = embeddings.texts = 0
        stream = list(chain.from_iterable(asked.stream(name) for _ in range(repeat)))
        costs = [count / len(stream) for count in (store.searches, embeddings.texts)]
        medians = [f"{statistics.median(times):.0f}" for times in (new, stream, seen)]
        found = " | ".join([*medians, *(f"{cost:.1f}" for cost in costs)])
        print(f"| {name} | {found} |", flush=True)


def serve(folder: Path, embedder: str | None, n_questions: int) -> None:
    """Write what a stream takes by the row that a line names, for each line that comes."""
    asked, answers, warm = Asked(folder, embedder, n_questions), sys.stdout, set[str]()
    sys.stdout = sys.stderr
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name not in warm:
            asked.warm_up(name)
            asked.stream(name)  # after which the words are known
            warm.add(name)
        print(json.dumps(asked.stream(name)), file=answers, flush=True)


def compare(folder: Path, options: argparse.Namespace) -> None:
    roots = {"this": THIS.parent, "before": options.before.resolve()}
    versions = dict[str, subprocess.Popen[str]]()
    for name, root in roots.items():
        packages = [root / "src", *sorted(root.glob("integrations/*/src"))]
        packages += sorted(root.glob("integrations/llama-index-*"))
        paths = [*map(str, packages), str(THIS.parent)]
        command = [sys.executable, "-m", "tests.benchmarks.dropin_time", str(folder), "--serve"]
        command += ["--questions", str(options.questions)]
        command += [] if options.embedder is None else ["--embedder", options.embedder]
        versions[name] = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )
        if hasattr(os, "sched_setaffinity"):  # one processor for both: others may be slower
            os.sched_setaffinity(versions[name].pid, {min(os.sched_getaffinity(0))})
    print("\n| a stream, ms | this | before | least of each question | | ratio |")
    print("|---|---|---|---|---|---|", flush=True)
    try:
        for row in [*ROWS, *ROWS_OF_FRAMEWORKS]:
            times: dict[str, list[list[float]]] = {name: [] for name in versions}
            for i in range(options.repeat):
                for name in list(versions)[:: 1 if i % 2 else -1]:
                    times[name].append(_stream_of(versions[name], row))
            found = {name: np.array(streams) for name, streams in times.items()}
            cells = [f"{np.median(found[name]):.1f}" for name in versions]
            cells += [f"{np.median(found[name].min(axis=0)):.1f}" for name in versions]
            ratio = np.median(found["this"] / found["before"])
            print(f"| {row} | {' | '.join(cells)} | {ratio:.3f} |", flush=True)
    finally:
        for process in versions.values():
            process.kill()
            process.wait()


def _stream_of(version: subprocess.Popen[str], row: str) -> list[float]:
    assert version.stdin is not None
    assert version.stdout is not None
    version.stdin.write(f"{row}\n")
    version.stdin.flush()
    times: list[float] = json.loads(version.stdout.readline())
    return times


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
    over_index = IndexRetriever.from_index(index, budget=BUDGET)
    asks: tuple[Ask, ...] = (
        lambda one: compressor.compress_documents(documents[one], one),
        lambda one: postprocessor.postprocess_nodes(found[one], query_str=one),
        lambda one: by_embeddings.compress_documents(documents[one], one),
        lambda one: by_model.postprocess_nodes(unscored[one], query_str=one),
        over_index.retrieve,
    )
    return dict(zip(ROWS_OF_FRAMEWORKS, asks, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--embedder", help="a sentence-transformers model, or MODULE:NAME")
    parser.add_argument("--questions", type=int, default=40, help="how many of each set")
    parser.add_argument("--repeat", type=int, default=3, help="how often the stream is begun anew")
    parser.add_argument("--before", type=Path, help="another checkout of clew, to compare with")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for folder in options.folders:
        if options.serve:
            serve(folder, options.embedder, options.questions)
        elif options.before is not None:
            compare(folder, options)
        else:
            measure(folder, options.embedder, options.questions, options.repeat)


if __name__ == "__main__":
    main()
