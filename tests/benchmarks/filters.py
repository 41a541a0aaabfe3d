"""The first question under a new filter, beside what the index took to build: shares of processor time.

    python -m tests.benchmarks.filters FOLDER... --documents 3000
    python -m tests.benchmarks.filters FOLDER... --documents 3000 --embedder hashed --extractor names

Each passage of the folders is a document of its own. The index of the first of them is built, in a process
that has built one of others before, and saved. Another process loads it; then filters that were not asked
before allow a tenth of the documents, drawn at random, and a hundredth, and one question is asked under each.
What a process that reads along takes for the build counts, too. A build leaves work to the first question
(languages, postings, copies), and a question under a new filter does the same for its index: so it is compared
with the build and the first question together. The first filter after a load makes tables of the rows and is
printed by itself. At last a question is asked again and again under a filter by one value and by a range, by the
retrievers of both frameworks, too, and under none.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import clew
from clew.algorithms.kernels.compiled import finish_compiling
from clew.cli.source import TOKENS
from clew.read import Splitter, read_passages
from tests.benchmarks.changes import EXTRACTORS
from tests.benchmarks.indexing import hashed_words

SHARES, TENANTS, TENANT = (0.1, 0.01), 100, {"tenant": "t0"}
YEARS, SINCE = 25, 20  # of the documents
QUESTION = "How does a program find out what is new?"
SMOKE = "{folder} --documents 30 --repeat 1"


def spent() -> float:
    """Return the processor time of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time that something takes in this process."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def build(texts: Sequence[str], options: argparse.Namespace) -> clew.Index:
    """Return an index of texts, each a document of its own."""
    return clew.Index.from_documents(
        [
            clew.Document(
                str(i), text, {"id": str(i), "tenant": f"t{i % TENANTS}", "year": i % YEARS}
            )
            for i, text in enumerate(texts)
        ],
        embedder=hashed_words if options.embedder == "hashed" else None,
        extractor=EXTRACTORS[options.extractor],
    )


def measure(index: clew.Index, build: float, repeat: int) -> None:
    """Print what questions under filters take that were never asked before."""
    drawn = random.Random(0)
    ids = [document.id for document in index.documents]

    def ask(share: float) -> float:
        allowed = {*drawn.sample(ids, max(1, round(share * len(ids))))}
        return seconds(lambda: index.ask(QUESTION, where={"id": sorted(allowed)}))

    index.ask(QUESTION)
    finish_compiling()
    print(f"the first filter after the load: {1000 * ask(SHARES[0]):.0f} ms")
    finish_compiling()
    for share in SHARES:
        times = np.array([ask(share) for _ in range(repeat)])
        print(
            f"{share:.0%} of the documents: {1000 * np.median(times):.0f} ms in the median, "
            f"{1000 * times.min():.0f} at least; {np.median(times) / build:.1%} and "
            f"{times.min() / build:.1%} of build and first answer",
            flush=True,
        )
    again = {
        f"one tenant of {TENANTS}": lambda: index.ask(QUESTION, where=TENANT),
        "as LangChain's retriever": partial(langchain_retriever(index).invoke, QUESTION),
        "as LlamaIndex's retriever": partial(llama_index_retriever(index).retrieve, QUESTION),
        f"{YEARS - SINCE} of {YEARS} years, as LangChain's retriever": partial(
            langchain_retriever(index, {"year": {"$gte": SINCE}}).invoke, QUESTION
        ),
        f"{YEARS - SINCE} of {YEARS} years, as LlamaIndex's retriever": partial(
            llama_index_retriever(index, {"year": SINCE}, ">=").retrieve, QUESTION
        ),
        "without a filter": lambda: index.ask(QUESTION),
    }
    for name, ask_again in again.items():
        ask_again()
        finish_compiling()
        times = np.array([seconds(ask_again) for _ in range(20)])
        print(f"a question asked again, {name}: {1000 * np.median(times):.1f} ms in the median")


def langchain_retriever(index: clew.Index, where: Any = TENANT) -> Any:  # the adapters are apart
    from langchain_clew import ClewRetriever

    return ClewRetriever(index=index, filter=where)


def llama_index_retriever(index: clew.Index, where: Any = TENANT, operator: Any = "==") -> Any:
    from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
    from llama_index.retrievers.clew import ClewRetriever

    one = [MetadataFilter(key=key, value=value, operator=operator) for key, value in where.items()]
    return ClewRetriever(index=index, filters=MetadataFilters(filters=one))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, default=3000)
    parser.add_argument("--extractor", choices=EXTRACTORS, default="none")
    parser.add_argument("--embedder", choices=("own", "hashed"), default="own")
    parser.add_argument("--repeat", type=int, default=5, help="filters of each size")
    parser.add_argument("--loaded", nargs=2, metavar=("FOLDER", "SECONDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    embedder = hashed_words if options.embedder == "hashed" else None
    with tempfile.TemporaryDirectory() as name:
        if options.loaded is not None:
            folder, building = options.loaded
            measure(clew.Index.load(folder, embedder=embedder), float(building), options.repeat)
            return
        found = read_passages(options.sources, splitter=Splitter(tokens=TOKENS))
        texts = list(dict.fromkeys(passage.text for passage in found))
        known, new = texts[options.documents :][: options.documents], texts[: options.documents]
        build(known, options).ask(QUESTION)  # loads machine code, and knows none of the texts
        finish_compiling()
        begin = spent()
        index = build(new, options)
        built = spent() - begin
        index.ask(QUESTION)
        building = spent() - begin
        passages = len(index.graph.rows("passage"))
        print(
            f"{passages:,} passages, built in {built:.2f} s of a processor, "
            f"with the first answer {building:.2f}",
            flush=True,
        )
        index.save(name)
        command = [sys.executable, "-m", "tests.benchmarks.filters", *sys.argv[1:]]
        subprocess.run([*command, "--loaded", name, str(building)], check=True)


if __name__ == "__main__":
    main()
