"""From files to a saved index: seconds, processor seconds and peak memory for growing parts of a folder.

    python -m tests.benchmarks.indexing FOLDER --passages 1000 3000 10000
    python -m tests.benchmarks.indexing FOLDER --passages 10000 --embedder hashed

FOLDER may be any. The standard library's own has enough files; see
`python -c "import sysconfig; print(sysconfig.get_path('stdlib'))"`. Files are taken in the order of a
hash of their paths until they hold so many passages. They are copied, and then read, split, embedded,
linked and saved in a process of its own, with the embedded default or with vectors that cost nothing
("hashed": words hashed into 384 dimensions). The growth is the exponent b in
seconds ~ passages ** b from the smallest to the largest; 1 is linear.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np


def hashed_words(texts: list[str]) -> Any:
    rows = np.full((len(texts), 384), 1e-3, np.float32)
    for row, text in enumerate(texts):
        for word in text.split():
            rows[row, zlib.crc32(word.encode()) % 384] += 1
    return rows


def measure(folder: Path, output: Path, embedder: str, tokens: int) -> dict[str, Any]:
    """Return what every step of indexing and saving took."""
    import clew
    from clew.index import build

    steps: dict[str, float] = {}

    def timed(name: str, function: Any) -> Any:
        def run(*args: Any, **keywords: Any) -> Any:
            started = time.process_time()
            try:
                return function(*args, **keywords)
            finally:
                steps[name] = steps.get(name, 0.0) + time.process_time() - started

        return run

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, processor = time.perf_counter(), time.process_time()
    build.read_nodes, build.attach_vectors = (
        timed("split", build.read_nodes),
        timed("embed", build.attach_vectors),
    )
    started = time.process_time()
    documents = clew.read.load_documents(folder).documents
    steps["open"] = time.process_time() - started
    index = clew.Index.from_documents(
        documents,
        splitter=clew.Splitter(tokens),
        embedder=hashed_words if embedder == "hashed" else None,
    )
    steps["link"] = time.process_time() - processor - sum(steps.values())
    timed("save", index.save)(output)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "files": len(documents),
        "passages": len(index.graph.rows("passage")),
        "nodes": len(index.graph),
        "seconds": time.perf_counter() - wall,
        "processor": time.process_time() - processor,
        "peak_mb": peak / 1024,
        "grown_mb": (peak - before) / 1024,
        "disk_mb": sum(file.stat().st_size for file in output.rglob("*") if file.is_file()) / 2**20,
        "steps": {name: round(seconds, 2) for name, seconds in steps.items()},
    }


def choose_files(folder: Path, passages: list[int], tokens: int) -> list[list[Path]]:
    """Return, for each number of passages, the files that hold about so many."""
    import clew

    files = [
        file
        for file in folder.rglob("*")
        if file.suffix in (".py", ".md", ".rst", ".txt", ".html") and file.is_file()
    ]
    files = [
        file
        for file in files
        if not {"test", "tests", "__pycache__", "site-packages"}
        & set(file.relative_to(folder).parts)
    ]
    files.sort(key=lambda file: zlib.crc32(file.relative_to(folder).as_posix().encode()))
    parts: list[list[Path]] = [[] for _ in passages]
    passages_so_far, splitter = 0, clew.Splitter(tokens)
    for file in files:
        if passages_so_far >= max(passages):
            break
        for part, number in zip(parts, passages, strict=True):
            if passages_so_far < number:
                part.append(file)
        for document in clew.read.load_documents(file).documents:
            passages_so_far += sum(piece.kind == "passage" for piece in splitter(document))
    return parts


SMOKE = "{folder} --passages 2 6 --tokens 20"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passages", type=int, nargs="+", default=[1000, 3000, 10000])
    parser.add_argument(
        "--embedder", nargs="+", choices=["default", "hashed"], default=["default", "hashed"]
    )
    parser.add_argument("--tokens", type=int, default=256, help="of a passage")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        with tempfile.TemporaryDirectory() as output:
            print(
                json.dumps(
                    measure(
                        options.folder, Path(output) / "index", options.embedder[0], options.tokens
                    )
                )
            )
        return
    parts = choose_files(options.folder, options.passages, options.tokens)
    if not all(parts):
        raise SystemExit(
            f"{options.folder} is no folder with files to index: wanted .py, .md, .rst, .txt or .html"
        )
    for embedder in options.embedder:
        results = []
        for files in parts:
            with tempfile.TemporaryDirectory() as copy:
                for file in files:
                    target = Path(copy) / file.relative_to(options.folder)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, target)
                command = [
                    sys.executable,
                    __file__,
                    copy,
                    "--one",
                    "--embedder",
                    embedder,
                    "--tokens",
                    str(options.tokens),
                ]
                env = os.environ | {
                    "OMP_NUM_THREADS": "1",
                    "OPENBLAS_NUM_THREADS": "1",
                    "NUMBA_NUM_THREADS": "1",
                }
                results.append(
                    json.loads(
                        subprocess.run(
                            command, capture_output=True, text=True, check=True, env=env
                        ).stdout
                    )
                )
            last = results[-1]
            print(
                f"{embedder:>8}  {last['files']:>5} files  {last['passages']:>6} passages  {last['seconds']:>7.1f} s  "
                f"{last['processor']:>7.1f} s of processor  peak {last['peak_mb']:>6.0f} MB (+{last['grown_mb']:.0f})  "
                f"{last['disk_mb']:>5.0f} MB on disk  {last['steps']}",
                flush=True,
            )
        if len(results) > 1:
            first = results[0]
            ratio = math.log(last["passages"] / first["passages"])
            growth = math.log(last["processor"] / first["processor"]) / ratio
            print(
                f"{embedder:>8}  growth of processor seconds with passages: exponent {growth:.2f}"
            )


if __name__ == "__main__":
    main()
