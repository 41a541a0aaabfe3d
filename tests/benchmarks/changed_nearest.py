"""An approximate index (`clew.HNSW`) over an index that changes: what a document more costs until it is found.

    python -m tests.benchmarks.changed_nearest --documents 20000

Documents are made up, with random unit vectors of `--dimensions`. One is added at a time; then a question is
asked and the index is saved. In the end one is deleted, and the index is opened by the path. Seconds are of
the processor, and of one thread where OMP_NUM_THREADS=1 is set.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

import clew

CHANGES = 3
SMOKE = "--documents 1200 --dimensions 8"

Result = TypeVar("Result")


def timed(label: str, work: Callable[[], Result]) -> Result:
    """Return what some work returns, and print its seconds."""
    started = time.process_time()
    result = work()
    print(f"{label:34}{time.process_time() - started:8.3f} s", flush=True)
    return result


def document(number: int) -> clew.Document:
    return clew.Document(f"d{number}", f"Boat {number} sails.")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--dimensions", type=int, default=384)
    options = parser.parse_args()
    n = options.documents
    vectors = np.random.default_rng(0).normal(size=(n + CHANGES, options.dimensions))

    def embed(texts: Sequence[str]) -> NDArray[np.float64]:
        return vectors[[int(text.split()[1]) for text in texts]]

    def ask(index: clew.Index) -> clew.Context:
        return index.ask("Boat 7 sails?", recipe="dense", limit=5)

    index = timed(
        "built",
        lambda: clew.Index.from_documents(
            [document(i) for i in range(n)], embedder=embed, links=(), nearest=clew.HNSW()
        ),
    )
    timed("asked first (links are made)", lambda: ask(index))
    with tempfile.TemporaryDirectory() as folder:
        timed("saved", lambda: index.save(folder))
        for number in range(n, n + CHANGES):
            index = timed("a document added", lambda i=number, now=index: now.add([document(i)]))
            timed("  asked", lambda now=index: ask(now))
            timed("  saved", lambda now=index: now.save(folder))
        index = timed("a document deleted", lambda: index.delete("d7"))
        timed("  asked", lambda: ask(index))
        timed("  saved", lambda: index.save(folder))
        opened = timed("opened", lambda: clew.Index.load(folder, embedder=embed))
        timed("  asked", lambda: ask(opened))


if __name__ == "__main__":
    main()
