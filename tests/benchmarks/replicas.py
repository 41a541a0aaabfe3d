"""What an index in object storage takes: the first upload and copy, then a change, and a look.

    python -m tests.benchmarks.replicas FOLDER ... [--passages N] [--address s3://bucket/name]

Without an address it is a folder on this disk, through fsspec, so the times are those of reading,
writing and hashing without a network. Bytes and files are those that travelled.
"""

from __future__ import annotations

import argparse
import os
import secrets
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import clew
from clew.index.saving import is_newest_saved
from clew.storage.bucket import Bucket
from tests.benchmarks.scale import choose_documents

travelled = {"sent": [], "copied": []}


def count_travel() -> None:
    """Note the size of every file that travels."""
    put, create, read = Bucket.put, Bucket.create, Bucket.read

    def counted_put(self, file, path):
        travelled["sent"].append(Path(file).stat().st_size)
        return put(self, file, path)

    def counted_create(self, name, raw):
        travelled["sent"].append(len(raw))
        return create(self, name, raw)

    def counted_read(self, path, start, end):
        found = read(self, path, start, end)
        travelled["copied"].append(len(found))
        return found

    Bucket.put, Bucket.create, Bucket.read = counted_put, counted_create, counted_read


@contextmanager
def row(label: str):
    """Print what is done, with its time and traffic."""
    for sizes in travelled.values():
        sizes.clear()
    began = time.perf_counter(), time.process_time()
    yield
    wall, processor = time.perf_counter() - began[0], time.process_time() - began[1]
    figures = [f"{len(sizes):,} ({sum(sizes) / 1e6:,.2f} MB)" for sizes in travelled.values()]
    print(f"| {label} | {wall:.2f} | {processor:.2f} | {' | '.join(figures)} |")


SMOKE = "{folder}/corpus.jsonl --passages 8"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--passages", type=int, default=25_000)
    parser.add_argument("--address")
    options = parser.parse_args()
    if find_spec("fsspec") is None:
        print("nothing is measured without fsspec: install clew[storage]")
        return
    count_travel()
    with tempfile.TemporaryDirectory() as folder:
        address = options.address or f"file://{folder}/bucket/{secrets.token_hex(4)}"

        def machine(name: str) -> None:
            os.environ["CLEW_CACHE"] = f"{folder}/{name}"

        documents, _ = choose_documents(options.folders, options.passages)
        index = clew.Index.from_documents(
            documents, extractor=clew.Names(), splitter=clew.Splitter()
        )
        print(f"{len(index.graph.rows('passage')):,} passages\n")
        print("| | seconds | of a processor | sent | copied |\n|---|---|---|---|---|")
        machine("writer")
        with row("saved to a folder, for comparison"):
            index.save(f"{folder}/plain")
        with row("the first `save`"):
            index.save(address)
        machine("replica")
        with row("the first `load`"):
            loaded = clew.Index.load(address)
        with row("`load` where nothing is new"):
            clew.Index.load(address)
        with row("`load` of the folder, for comparison"):
            clew.Index.load(f"{folder}/plain")
        with row("a look for a newer generation"):
            assert is_newest_saved(loaded)
        machine("writer")
        changed = index.add([clew.Document("new", "The pilot of the harbour is Ada Stone.")])
        with row("`save` after one document came"):
            changed.save(address)
        machine("replica")
        with row("`load` after that"):
            assert len(clew.Index.load(address)) == len(changed)


if __name__ == "__main__":
    main()
