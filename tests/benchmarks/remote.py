"""How far an index in PostgreSQL answers as the embedded one does, and what a question costs there.

    python -m tests.benchmarks.remote INDEX ADDRESS QUESTIONS [--write] [--recipes a,b] [--n 20]

INDEX is a saved index, QUESTIONS a JSON file with {"questions": [...]}. ADDRESS is that of the
index in a running server, as in `postgresql://postgres@/postgres?host=/tmp/data&index=name`;
--write writes it there first. Without a server, `pgserver.get_server("/tmp/data")` starts one.

Times are medians per question. "pulled" is the time until the working subgraph is there, and
"native" that of one statement alone that fetches as many of the same nodes with their vectors, with
no edges, no facts and nothing made of it: what a program beside clew pays for the vectors.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np

import clew
from clew import recipes
from clew.remote import RemoteIndex
from clew.remote.session import BoundStatement, finish

NATIVE = (
    "SELECT number, id, text, vector_send(vector) FROM clew_node "
    "WHERE index = %s AND number = ANY(%s)"
)


def compare(index, remote, questions, recipe):
    """Return a row of figures for a recipe."""
    same, shared, times = 0, [], {"embedded": [], "remote": [], "pulled": [], "trips": []}
    for question in questions:
        began = time.perf_counter()
        wanted = index.ask(question, recipe=recipe).ids
        times["embedded"].append(time.perf_counter() - began)
        began = time.perf_counter()
        found = remote.ask(question, recipe=recipe)
        times["remote"].append(time.perf_counter() - began)
        pulled = found.trace[0]
        times["pulled"].append(pulled.seconds)
        times["trips"].append(pulled.notes["round trips"])
        same += wanted == found.ids
        both = set(wanted) | set(found.ids)
        shared.append(len(set(wanted) & set(found.ids)) / len(both) if both else 1.0)
    return {
        "recipe": recipe,
        "same ids in the same order": f"{same}/{len(questions)}",
        "overlap": round(statistics.mean(shared), 3),
        **{
            f"{name} ms": round(1e3 * statistics.median(times[name]), 1)
            for name in times
            if name != "trips"
        },
        "round trips": max(times["trips"]),
    }


def native_ms(remote, n_nodes, repeats=20):
    """Return the milliseconds of the statement that fetches so many nodes with their vectors."""
    times = []
    with remote._connections.reading() as session:
        number = remote._corpus.number
        every = finish(
            session.run(BoundStatement("SELECT number FROM clew_node WHERE index = %s", (number,)))
        )
        numbers = np.array([row[0] for row in every[0]])
        random = np.random.default_rng(0)
        for _ in range(repeats):
            some = random.choice(numbers, min(n_nodes, len(numbers)), replace=False).tolist()
            began = time.perf_counter()
            finish(session.run(BoundStatement(NATIVE, (number, some))))
            times.append(time.perf_counter() - began)
    return 1e3 * statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("address")
    parser.add_argument("questions", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--recipes", default="")
    parser.add_argument("--n", type=int, default=20)
    chosen = parser.parse_args()
    index = clew.Index.load(chosen.index)
    if chosen.write:
        began, own = time.perf_counter(), time.process_time()
        index.save(chosen.address)
        print(
            f"written in {time.perf_counter() - began:.1f} s, {time.process_time() - own:.1f} s of them here"
        )
    questions = json.loads(chosen.questions.read_text("utf-8"))["questions"][: chosen.n]
    with RemoteIndex.open(chosen.address) as remote:
        n_nodes = remote.ask(questions[0]).trace[0].notes["nodes"]
        for recipe in (
            filter(None, chosen.recipes.split(",")) if chosen.recipes else recipes.names()
        ):
            print(json.dumps(compare(index, remote, questions, recipe)), flush=True)
        print(f"native: {native_ms(remote, n_nodes):.1f} ms for {n_nodes} nodes")


if __name__ == "__main__":
    main()
