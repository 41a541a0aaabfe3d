"""Static embeddings as the package wordllama has them, beside clew's own: what is found by each?

    python -m tests.benchmarks.static_vectors --cache CACHE --sources SOURCES --corpora tools german

The same passages under their headings are ranked by clew's vectors (`own`) and by those of wordllama's
own pooling (`wordllama`), which is read from the package's folder, without a download; by each with clew's
words, as `fused` has them; and by the mean of both, each as a share of its best score, with
these words. The corpora, figures and halves are those of `everyday.py`; choose by `--half tune` alone. The first
row of each table is its baseline.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from clew import recipes, seed
from clew.graph import texts_with_headings
from clew.measure.paired import build_table
from clew.types import Seeds
from tests.benchmarks.everyday import (
    add_corpora,
    build_index,
    measure,
    places_of,
    pooled,
    read_questions,
)
from tests.benchmarks.rivals import require

DIMENSIONS = 256  # those that the package carries


KNOWN = {}  # the vectors of the graph that was ranked last


@cache
def load_model():
    """Return the package's model, from its own folder."""
    module = require("wordllama")
    folder = Path(module.__file__).parent
    return module.WordLlama.load(cache_dir=folder, dim=DIMENSIONS, disable_download=True)


@dataclass(frozen=True)
class WordLlama:
    """Score passages by the cosine of the package's vectors."""

    def on(self, graph):
        model, rows = load_model(), graph.rows("passage")
        if KNOWN.get("graph") is not graph:  # the methods rank one after the other
            texts = texts_with_headings(graph, rows.tolist())
            vectors = model.embed(texts, norm=True) if texts else np.zeros((0, DIMENSIONS))
            KNOWN.update(graph=graph, vectors=vectors)
        vectors = KNOWN["vectors"]

        def find_seeds(query):
            scores = np.zeros(len(graph))
            scores[rows] = np.nan_to_num(vectors @ model.embed([query.text], norm=True)[0])
            return Seeds(np.maximum(scores, 0))

        return find_seeds


def methods():
    """Return what is compared, in two groups, each with its baseline first."""
    alone, fused = recipes.get("dense"), recipes.get("fused")
    with_words = {"own": seed.Dense(), "wordllama": WordLlama()}
    with_words["both"] = seed.Blend((seed.Dense(), WordLlama()))
    return (
        {"own": alone, "wordllama": replace(alone, seed=WordLlama())},
        {
            f"{name} and words": replace(fused, seed=seed.Blend((vectors, seed.BM25())))
            for name, vectors in with_words.items()
        },
    )


def figures_of(corpus, folder, questions, options):
    """Return the figures of both groups of methods on a corpus, kept ones where there are some."""
    kept = options.kept and options.kept / f"{corpus}-{options.half}.json"
    if kept and kept.exists():
        return json.loads(kept.read_text("utf-8"))
    index = build_index(folder, options)
    figures = [
        {
            name: measure(index, method, questions, options.budgets)[0]
            for name, method in own.items()
        }
        for own in methods()
    ]
    if kept:
        options.kept.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(figures, default=bool), "utf-8")
    return figures


SMOKE = "--folder {folder} --questions {folder}/everyday.jsonl --budgets 64"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_corpora(parser)
    parser.add_argument("--budgets", nargs="+", type=int, default=[512])
    parser.add_argument("--kept", type=Path, help="figures of corpora, to go on where a run ended")
    options = parser.parse_args()
    options.names, options.sentences, options.embedder = False, False, None
    tables = [[], []]
    for corpus, folder, path in places_of(parser, options):
        questions = read_questions(path, options.half)
        for group, figures in zip(
            tables, figures_of(corpus, folder, questions, options), strict=True
        ):
            group.append(build_table(corpus, figures, next(iter(figures))))
            print(f"## {corpus}: {len(questions)} questions\n")
            print(group[-1].to_markdown(intervals=True) + "\n", flush=True)
    for group in tables if len(tables[0]) > 1 else ():
        for by_corpus in (True, False):
            table = pooled(group, by_corpus=by_corpus)
            print(f"## {table.title}\n\n{table.to_markdown(intervals=True)}\n")


if __name__ == "__main__":
    main()
