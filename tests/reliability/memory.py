"""Does the memory of a process level off, however many recipes, filters and questions come?

    python -m tests.reliability.memory
    python -m tests.reliability.memory --questions 100000 --recipes 1000 --filters 1000 --every 10

A small index is asked so many different questions, each with the next of so many different recipes,
and every so-manieth with the next of so many filters. Ten times the resident memory is printed, and
what the index keeps by its own estimate. It exits with 1 where the second half of the run added more
than a tenth of what there was in the middle.
"""

from __future__ import annotations

import argparse
import gc
import time
from pathlib import Path

import numpy as np

import clew
from clew import Document, Index, order, seed, select, spread

HALLS = 40
MAX_GROWTH = 0.1


def embed(texts: list[str]) -> np.ndarray:
    """Return unit vectors by the letters of texts; nothing is kept."""
    rows = np.zeros((len(texts), 32), np.float32)
    for row, text in zip(rows, texts, strict=True):
        np.add.at(row, np.frombuffer(text.encode("utf-8"), np.uint8) % 32, 1.0)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def small_index(filters: int) -> Index:
    """Return an index of 60 passages, in whose metadata each filter finds something else."""
    return Index.from_documents(
        [
            Document(
                f"d{i}",
                f"Passage {i} tells of hall {i % HALLS}, of keeper {i % 7} and of the sea.",
                {"sets": [n for n in range(filters) if n * 2654435761 % (97 + i) % 5 < 2]},
            )
            for i in range(60)
        ],
        embedder=embed,
    )


def recipe(i: int) -> clew.Pipeline:
    """Return the recipe of this number: no two have the same parameters."""
    return clew.Pipeline(
        seed.Blend() if i % 2 else seed.BM25(k1=1 + i / 1e4),
        spreads=(spread.PageRank(damping=0.3 + i / 1e4),),
        selects=(select.Top(3 + i % 5, max_passed=10 + i),),
        order=order.ByPrize(),
    )


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    gc.collect()
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


SMOKE = "--questions 200 --recipes 50 --filters 20 --every 4"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--recipes", type=int, default=1000)
    parser.add_argument("--filters", type=int, default=1000)
    parser.add_argument("--every", type=int, default=50, help="a filter at every so-manieth")
    options = parser.parse_args()
    index, sizes, begin = small_index(options.filters), [], time.perf_counter()
    print("| questions | resident, MiB | kept by the index, MiB | seconds |\n|---|---|---|---|")
    for i in range(1, options.questions + 1):
        has_filter = i % options.every == 0
        number = i // options.every % options.filters
        index.ask(
            f"What of hall {i} and of keeper {i * 7919 % options.questions}?",
            recipe=recipe(i % options.recipes),
            where={"sets": number} if has_filter else None,
            budget=60,
        )
        if i % max(1, options.questions // 10) == 0:
            sizes.append(resident_bytes())
            kept, seconds = index.graph.kept_bytes / 2**20, time.perf_counter() - begin
            print(f"| {i:,} | {sizes[-1] / 2**20:.1f} | {kept:.1f} | {seconds:.0f} |", flush=True)
    middle = sizes[len(sizes) // 2]
    return int(max(sizes) > middle * (1 + MAX_GROWTH))


if __name__ == "__main__":
    raise SystemExit(main())
