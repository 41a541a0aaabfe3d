"""How far an index in PostgreSQL answers as the embedded one does, and what a question costs there.

    python -m tests.benchmarks.remote FOLDER [--passages 10000] [--recipes dense,hipporag]

FOLDER has passages and questions (`corpus.jsonl`, `queries.jsonl`), of which an index with names is
made. --address is that of an index in a running server, which is written anew, as in
`postgresql://postgres@/postgres?host=/run/postgresql&index=benchmark`; without one a server is
started from a package (`pip install clew[stores]`).

Times are medians per question. "pulled" is the time until the working subgraph is there, and
"native" that of one statement alone that fetches as many nodes with their vectors, with no edges, no
facts and nothing made of it: what a program beside clew pays for the vectors.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
import warnings
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import clew
from clew.measure.benchmark import Benchmark
from clew.recipes import names
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


@contextmanager
def address_of_server(given):
    """Give the address of an index in a running server; one is started where none is given."""
    if given:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where there is no XDG_RUNTIME_DIR
        import pgserver

    with tempfile.TemporaryDirectory(prefix="clew-pg-") as folder:
        server = pgserver.get_server(folder, cleanup_mode="delete")
        try:
            yield f"postgresql://postgres@/postgres?host={folder}&index=benchmark"
        finally:
            server.cleanup()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--address", default="")
    parser.add_argument("--passages", type=int)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--recipes", default="", help="names with commas between; none for all")
    parser.add_argument("--kept-whole", type=int, default=0)
    chosen = parser.parse_args()
    benchmark = Benchmark.open(chosen.folder, vectors=False)
    missing = [name for name in ("psycopg", "pgserver") if find_spec(name) is None]
    if missing and not (chosen.address and missing == ["pgserver"]):
        print(f"nothing is measured without {' and '.join(missing)}: install clew[stores]")
        return
    index = clew.Index.from_documents(
        benchmark.documents[: chosen.passages], extractor=clew.Names()
    )
    questions = [one.text for one in benchmark.questions[: chosen.questions]]
    with address_of_server(chosen.address) as address:
        began, own = time.perf_counter(), time.process_time()
        index.save(address)
        print(
            f"{len(index.graph)} nodes, {len(index.graph.edges)} edges written in "
            f"{time.perf_counter() - began:.1f} s, {time.process_time() - own:.1f} s of them here"
        )
        with RemoteIndex.open(address, kept_whole=chosen.kept_whole) as remote:
            n_nodes = remote.ask(questions[0]).trace[0].notes["nodes"]
            for recipe in filter(None, chosen.recipes.split(",")) if chosen.recipes else names():
                print(json.dumps(compare(index, remote, questions, recipe)), flush=True)
            print(f"native: {native_ms(remote, n_nodes):.1f} ms for {n_nodes} nodes")


SMOKE = "{folder} --questions 2"


if __name__ == "__main__":
    main()
