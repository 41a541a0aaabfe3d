"""Several shards beside one index of the same documents: the same answers, as much found, at what cost?

    python -m tests.benchmarks.sharded FOLDER [--shards 4] [--questions 50] [--recipes hipporag,budgeted]

FOLDER has passages, questions and the passages that answer them (`corpus.jsonl`, `queries.jsonl`). Every
fourth passage goes to the same of four shards, so that most questions need several. Shards and index are
built alike, with `clew.Names` and the embedded default, each shard by itself: what counts as a name, the
weights of words in vectors and the edges between what is similar differ, and bounds cut off the rest.

With --given, vectors and facts are those of FOLDER, edges those that do not depend on the whole corpus, and
nothing is cut off: then the answers are to be the same.

"same" is how often all ids are the same in the same order; "overlap" is the share of ids that both answers have, "first" how often the first passage is the same. "R@5"
is the share of the passages that answer among the first five. Times are medians of processor time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import clew
from clew import link
from clew.measure.benchmark import Benchmark
from clew.remote import Bounds
from clew.sharded import ShardedIndex

LOCAL_LINKS = (link.Contains(), link.Next(), link.Mentions(), link.Fact())
RECIPES = "dense,bm25,fused,hipporag,budgeted,agrag"


def best_five(context, passages):
    items = sorted((item for item in context if item.id in passages), key=lambda item: -item.score)
    return [item.id for item in items[:5]]


def compare(indexes, questions, recipe, passages):
    """Return a row of figures for a recipe."""
    shared, first, same, recall, times = [], 0, 0, ([], []), ([], [])
    for question in questions:
        found = []
        for place, index in enumerate(indexes):
            began = time.process_time()
            context = index.ask(question.text, recipe=recipe)
            times[place].append(time.process_time() - began)
            best = best_five(context, passages)
            recall[place].append(len(set(best) & set(question.gold)) / len(question.gold))
            found.append((context.ids, best[:1]))
        (one, best_of_one), (other, best_of_other) = found
        same += one == other
        one, other = set(one), set(other)
        shared.append(len(one & other) / len(one | other) if one | other else 1.0)
        first += best_of_one == best_of_other
    return {
        "recipe": recipe,
        "same": round(same / len(questions), 3),
        "overlap": round(statistics.mean(shared), 3),
        "first": round(first / len(questions), 3),
        "R@5 of one index": round(statistics.mean(recall[0]), 3),
        "R@5 of shards": round(statistics.mean(recall[1]), 3),
        "ms of one index": round(1e3 * statistics.median(times[0]), 1),
        "ms of shards": round(1e3 * statistics.median(times[1]), 1),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--nodes", type=int, default=Bounds().nodes, help="pulled at most")
    parser.add_argument(
        "--given", action="store_true", help="vectors and facts are those of FOLDER"
    )
    parser.add_argument("--recipes", default=RECIPES, help="names with commas between")
    chosen = parser.parse_args()
    benchmark = Benchmark.open(chosen.folder, vectors=chosen.given)
    documents = list(benchmark.documents)

    def build(some):
        if not chosen.given:
            return clew.Index.from_documents(some, extractor=clew.Names())
        facts = {one.id: benchmark.facts[one.id] for one in some if one.id in benchmark.facts}
        return clew.Index.from_documents(
            some, facts=facts, embedder=benchmark.embedder, links=LOCAL_LINKS
        )

    parts = [documents[i :: chosen.shards] for i in range(chosen.shards)]
    whole = build([one for part in parts for one in part])  # so that equal scores come in one order
    parts = list(map(build, parts))
    print(f"{whole!r} as {chosen.shards} shards")
    questions = benchmark.questions[: chosen.questions]
    passages = {document.id for document in documents}
    bounds = Bounds(nodes=chosen.nodes)
    if chosen.given:
        bounds = Bounds(*[10**6] * 4, hops=2, without=())
    with ShardedIndex.open(parts, bounds=bounds) as sharded:
        for recipe in chosen.recipes.split(","):
            row = compare((whole, sharded), questions, recipe, passages)
            print(json.dumps(row), flush=True)


SMOKE = "{folder} --questions 2 --shards 2"


if __name__ == "__main__":
    main()
