"""What a build on a cluster takes beside one process, whether it is the same index, and what a killed worker costs.

    python -m tests.benchmarks.cluster SOURCE... [--passages 50000] [--on dask ray] [--workers 2] [--embedder NAME] [--names]

A SOURCE is a folder, a file, or JSON lines with `text`, `title`, `id`. Each build starts in a process of its own and ends with saving. The
clusters are local ones, of as many workers with one thread each; a worker is killed (kill -9) when a third of the texts are embedded. Without
NAME of a model of sentence-transformers, a text is embedded by a stand-in that takes 10 milliseconds of a processor for it, as a small model does.

"own" are the seconds of a processor of the process that asks, in which Dask's scheduler runs, too. "same" says whether the saved files are those of one process, byte for byte, but for their random names. "again" counts texts that were
embedded more than once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from importlib.util import find_spec
from pathlib import Path

import clew
from tests.benchmarks.scale import choose_documents

SMOKE = "{folder}/corpus.jsonl --passages 15 --milliseconds 1 --on dask"
CLUSTERS = {"dask": "distributed", "ray": "ray"}
DIMENSIONS = 64


class StandIn:
    """An embedder that takes a while, and writes down how many texts it got and in which process.

    Args:
        folder: Where it writes that down.
        milliseconds: Of a processor for each text.
        model: What embeds in its place.
    """

    def __init__(self, folder: Path, milliseconds: float, model: str | None) -> None:
        self.folder, self.milliseconds, self.model = folder, milliseconds, model

    def __call__(self, texts: list[str]) -> list[list[float]]:
        """Return a vector of each text."""
        vectors = self._vectors(texts)
        (self.folder / f"{os.getpid()}-{uuid.uuid4().hex}-{len(texts)}").touch()
        return vectors

    def _vectors(self, texts: list[str]) -> list[list[float]]:
        if self.model is not None:
            return _model(self.model).encode(texts).tolist()
        vectors = []
        for text in texts:
            until = time.process_time() + self.milliseconds / 1000
            digest = hashlib.blake2b(text.encode(), digest_size=DIMENSIONS).digest()
            while time.process_time() < until:
                hashlib.blake2b(digest).digest()
            vectors.append([byte - 127.5 for byte in digest])
        return vectors


_MODELS = {}


def _model(name):
    if name not in _MODELS:
        from sentence_transformers import SentenceTransformer

        _MODELS[name] = SentenceTransformer(name)
    return _MODELS[name]


def kill_one(log: Path, after: int) -> None:
    """Kill a process that embeds, once it and others have embedded so many texts."""
    while True:
        files = [file.name.split("-") for file in log.iterdir()]
        if sum(int(size) for _, _, size in files) >= after:
            os.kill(int(files[-1][0]), signal.SIGKILL)
            return
        time.sleep(0.02)


def build(kind: str, documents: Path, here: Path, chosen: argparse.Namespace) -> dict[str, object]:
    """Build and save an index in `here`, and return what that took."""
    log, given = here / "log", pickle.loads(documents.read_bytes())  # our own
    log.mkdir(parents=True)
    embedder = StandIn(log, chosen.milliseconds, chosen.embedder)
    began, others = time.perf_counter(), None
    if kind == "dask":
        from dask.distributed import Client, LocalCluster

        others = LocalCluster(
            n_workers=chosen.workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            local_directory=str(here),
        )
        executor = Client(others).get_executor(retries=3)
    elif kind == "ray":
        import ray

        from clew.cluster import RayExecutor

        ray.init(
            num_cpus=chosen.workers,
            include_dashboard=False,
            log_to_driver=False,
            _temp_dir=tempfile.mkdtemp(prefix="r"),
            _node_ip_address="127.0.0.1",
            runtime_env={"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}},
        )
        executor = RayExecutor()
    else:
        executor = None
    started = time.perf_counter()
    kept = clew.CachedEmbedder(embedder, here / "vectors")
    if chosen.kill:
        killer = threading.Thread(target=kill_one, args=(log, chosen.kill), daemon=True)
        killer.start()
    extractor, own = clew.Names() if chosen.names else None, time.process_time()
    index = clew.Index.from_documents(given, embedder=kept, extractor=extractor, processes=executor)
    built, own = time.perf_counter(), time.process_time() - own
    index.save(here / "index")
    sizes = [int(file.name.rpartition("-")[2]) for file in log.iterdir()]
    files = [file.read_bytes() for file in (here / "index").rglob("*") if file.is_file()]
    digests = sorted(hashlib.sha256(data).digest() for data in files if not data.startswith(b"{"))
    return {
        "start s": started - began,
        "build s": built - started,
        "own s": own,
        "embedded": sum(sizes),
        "texts": len(embedder_texts(here / "vectors")),
        "passages": int(index.graph.kinds.mask("passage").sum()),
        "checksum": hashlib.sha256(b"".join(digests)).hexdigest()[:12],
    }


def embedder_texts(vectors: Path) -> list[bytes]:
    """Return the keys of the texts in a file of vectors."""
    import sqlite3

    with sqlite3.connect(vectors) as file:
        return [key for (key,) in file.execute("SELECT key FROM vectors")]


def apart(
    kind: str, documents: Path, chosen: argparse.Namespace, kill: int = 0
) -> dict[str, object]:
    """Return what `build` returns, of a process of its own."""
    with tempfile.TemporaryDirectory(prefix="clew-cluster-") as here:
        command = [
            *(
                sys.executable,
                "-m",
                "tests.benchmarks.cluster",
                "--one",
                kind,
                str(documents),
                here,
            ),
            *("--workers", str(chosen.workers), "--milliseconds", str(chosen.milliseconds)),
            *("--kill", str(kill)),
            *(("--embedder", chosen.embedder) if chosen.embedder else ()),
            *(("--names",) if chosen.names else ()),
        ]
        paths = [str(Path.cwd()), str(Path(clew.__file__).parents[1]), os.environ.get("PYTHONPATH")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "OMP_NUM_THREADS": "1",
            "HOME": here,
        }
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"a build on {kind} has failed:\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", metavar="SOURCE", nargs="*", type=Path)
    parser.add_argument("--passages", type=int, default=50_000)
    parser.add_argument("--on", nargs="+", choices=CLUSTERS, default=list(CLUSTERS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--embedder", metavar="NAME")
    parser.add_argument(
        "--milliseconds", type=float, default=10, help="of the stand-in, for a text"
    )
    parser.add_argument("--names", action="store_true", help="names are read, too")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--kill", type=int, default=0, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        kind, documents, here = chosen.one
        print(json.dumps(build(kind, Path(documents), Path(here), chosen)), flush=True)
        return
    if missing := [source for source in chosen.sources if not source.exists()]:
        raise SystemExit(f"there is no {', '.join(map(str, missing))}")
    if not chosen.sources:
        parser.error("give a SOURCE: a folder, a file, or JSON lines")
    documents, _ = choose_documents(chosen.sources, chosen.passages)
    print("| | seconds | beside one process | own | start-up s | same | embedded again |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "documents"
        file.write_bytes(pickle.dumps(documents))
        alone = apart("one", file, chosen)
        print(
            f"| one process | {alone['build s']:.1f} | 1 | {alone['own s']:.1f} | 0 | | 0 |",
            flush=True,
        )
        for kind in chosen.on:
            if find_spec(CLUSTERS[kind]) is None:
                print(f"| {kind} | is not installed: `pip install 'clew[cluster]'` | | | | | |")
                continue
            third = int(alone["texts"]) // 3
            for name, kill in ((kind, 0), (f"{kind}, one worker killed", third)):
                row = apart(kind, file, chosen, kill)
                same = "yes" if row["checksum"] == alone["checksum"] else "NO"
                ratio = float(row["build s"]) / float(alone["build s"])
                again = int(row["embedded"]) - int(row["texts"])
                print(
                    f"| {name}, {chosen.workers} workers | {row['build s']:.1f} | {ratio:.2f} "
                    f"| {row['own s']:.1f} | {row['start s']:.1f} | {same} | {again:,} of {row['texts']:,} |",
                    flush=True,
                )
    print(f"\n{alone['passages']:,} passages, {alone['texts']:,} texts embedded")


if __name__ == "__main__":
    main()
