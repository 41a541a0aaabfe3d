"""Reading and indexing folders, stage by stage: MB, passages, seconds of processor time, and MB/s.

    python -m tests.benchmarks.reading FOLDER...
    python -m tests.benchmarks.reading FOLDER --facts without --repeat 3
    python -m tests.benchmarks.reading FOLDER --profile 40
    python -m tests.benchmarks.reading FOLDER --clock --before CHECKOUT

FOLDER may be any; `stdlib` stands for the modules at the top of Python's own library. Each folder is read in
a process of its own, without facts and with the facts of `clew.Names`: its files are parsed and cut into passages
by `clew.Splitter()` ("read"), read for facts, put together as a graph ("assemble"), embedded by the embedded default,
linked, and their words counted for BM25 ("words"), one after the other. "Late edges", between similar passages, are
made when something first asks for them, and are not in the sum. Seconds are those of the processor, of all
threads and processes; "wall" is the time on the clock. MB are those of the documents' text as UTF-8, "in files" those
of the files. The first line of every folder says what importing clew took, which is not in the sum.
With `--repeat` the run with the smallest sum is shown; with `--profile` where most time went.

With `--clock` nothing is told apart and nothing held back: the library's `Index.from_documents` and the count of words
in a process that has imported clew, without facts, with `clew.Names`, as it comes (with the symbols of code) and with
both, and the command `clew index FOLDER -o NEW`, from its start to its end, with the
threads and processes that a user gets. Compiled modules are kept, as an installation has them. Seconds by the clock, and in brackets those of
the processor, are the medians of `--repeat` runs; with `--before` those of another checkout, in turn with this one.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

STAGES = ("read", "facts", "assemble", "embed", "link", "words")
FACTS = ("without", "with")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it started and that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def files_in(folder: str) -> Path | list[Path]:
    """Return what is read: a folder, or the modules at the top of Python's library."""
    if folder != "stdlib":
        return Path(folder)
    return sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))


def measure(folder: str, facts: bool, profile: int) -> dict[str, Any]:
    """Return what every stage took."""
    started = processor_seconds()
    import clew
    from clew import read
    from clew.index import build, words_beside
    from clew.index.config import IndexConfig
    from clew.processes import end_others
    from clew.seed.bm25 import InvertedIndexPart

    seconds = {"import": processor_seconds() - started} | dict.fromkeys(STAGES, 0.0)

    def timed(name: str, function: Any) -> Any:
        def run(*args: Any, **keywords: Any) -> Any:
            before, others = processor_seconds(), sum(seconds.values())
            try:
                return function(*args, **keywords)
            finally:  # without the stages inside
                inside = sum(seconds.values()) - others
                seconds[name] += processor_seconds() - before - inside

        return run

    profiler = cProfile.Profile()
    wall = time.perf_counter()
    if profile:
        profiler.enable()
    words_beside.MIN_PASSAGES = sys.maxsize  # they are counted last
    load_and_cut = IndexConfig.load_and_cut

    def read_all(*args: Any) -> Any:
        loaded = load_and_cut(*args)
        end_others()  # what a process has taken is known when it has ended
        return loaded

    IndexConfig.load_and_cut = timed("read", read_all)
    read.CachedExtractor.triples = timed("facts", read.CachedExtractor.triples)
    build.read_nodes = timed("assemble", build.read_nodes)
    build.attach_vectors = timed("embed", build.attach_vectors)
    index = timed("link", clew.Index.from_documents)(
        files_in(folder), splitter=clew.Splitter(), extractor=clew.Names() if facts else None
    )
    documents = index.documents
    inverted = timed("words", index.graph.part)(InvertedIndexPart())
    profiler.disable()
    wall = time.perf_counter() - wall
    if profile:
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(profile)
    graph, begin = index.graph, processor_seconds()
    n_edges = len(graph.edges)  # makes those that wait until something asks for them
    return {
        "late": processor_seconds() - begin,
        "megabytes": sum(len(one.text.encode("utf-8", "replace")) for one in documents) / 1e6,
        "documents": len(documents),
        "passages": len(graph.rows("passage")),
        "nodes": len(graph),
        "facts": len(graph.facts),
        "edges": n_edges,
        "stems": len(inverted.stems),
        "seconds": seconds,
        "wall": wall,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measure_apart(folder: str, facts: bool, profile: int) -> dict[str, Any]:
    """Return what `measure` returns in a new process with one thread."""
    mode = FACTS[facts]
    command = [sys.executable, __file__, folder, "--facts", mode, "--profile", str(profile)]
    done = subprocess.run(
        [*command, "--one"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | ONE_THREAD,
    )
    return json.loads(done.stdout)


LIBRARY = """
import sys, time
from pathlib import Path
import clew
from clew.seed.bm25 import InvertedIndexPart
begin, processor = time.perf_counter(), time.process_time()
index = clew.Index.from_documents(Path(sys.argv[1]), **eval(sys.argv[2]))
index.graph.part(InvertedIndexPart())
print(time.perf_counter() - begin, time.process_time() - processor)
"""


def clock_library(folder: str, options: str, environment: dict[str, str]) -> tuple[float, float]:
    """Return seconds by the clock and of the processor that the library takes."""
    command = [sys.executable, "-c", LIBRARY, folder, options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    wall, processor = map(float, done.stdout.split())
    return wall, processor


def clock_command(folder: str, environment: dict[str, str]) -> tuple[float, float]:
    """Return seconds by the clock and of the processor that `clew index` takes."""
    with tempfile.TemporaryDirectory() as output:
        command = [sys.executable, "-m", "clew", "index", folder, "-o", f"{output}/new"]
        processor, begin = processor_seconds(), time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment)
        return time.perf_counter() - begin, processor_seconds() - processor


def clock(folder: str, before: str | None, repeat: int) -> None:
    """Print what the library and the command take by the clock."""
    with tempfile.TemporaryDirectory() as temporary:
        if folder == "stdlib":
            folder = f"{temporary}/stdlib"
            Path(folder).mkdir()
            for file in files_in("stdlib"):
                shutil.copy(file, folder)
        kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{temporary}/compiled"}
        here = str(Path(__file__).parents[2] / "src")
        paths = [here] if before is None else [str(Path(before) / "src"), here]
        environments = [os.environ | kept | {"PYTHONPATH": path} for path in paths]
        megabytes = bytes_of_files(folder) / 1e6
        library = {
            "no facts": "dict(extractor=None)",
            "Names": "dict(extractor=clew.Names())",
            "as it comes": "{}",
            "names and symbols": "dict(extractor=clew.NamesAndSymbols())",
        }
        for name, run in (
            *(
                (
                    f"library, {name}",
                    lambda env, options=options: clock_library(folder, options, env),
                )
                for name, options in library.items()
            ),
            ("clew index", lambda env: clock_command(folder, env)),
        ):
            for environment in environments:
                run(environment)  # compiles
            runs = [[run(environment) for environment in environments] for _ in range(repeat)]
            found = []
            for of_one in zip(*runs, strict=True):
                wall, processor = (statistics.median(one) for one in zip(*of_one, strict=True))
                found.append(f"{wall:.2f} ({processor:.2f}) s  {megabytes / wall:.2f} MB/s")
            print(f"  {name:<27} {'  ->  '.join(found)}", flush=True)


def total(result: dict[str, Any]) -> float:
    return sum(result["seconds"][stage] for stage in STAGES)


def bytes_of_files(folder: str) -> int:
    source = files_in(folder)
    files = source if isinstance(source, list) else source.rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file())


SMOKE = "{folder}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", metavar="FOLDER", nargs="+")
    parser.add_argument("--facts", nargs="+", choices=FACTS, default=FACTS)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--profile", type=int, default=0, metavar="LINES")
    parser.add_argument("--clock", action="store_true", help="as a user gets it, by the clock")
    parser.add_argument("--before", metavar="CHECKOUT", help="with --clock: measured in turn")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if missing := [one for one in options.folders if one != "stdlib" and not Path(one).exists()]:
        raise SystemExit(f"there is no folder {missing[0]}")
    if options.one:
        print(json.dumps(measure(options.folders[0], "with" in options.facts, options.profile)))
        return
    for folder in options.folders:
        if options.clock:
            print(f"{folder}: {bytes_of_files(folder) / 1e6:.2f} MB in files")
            clock(folder, options.before, max(1, options.repeat))
            continue
        for i, mode in enumerate(options.facts):
            results = [
                measure_apart(folder, mode == "with", options.profile)
                for _ in range(max(1, options.repeat))
            ]
            best = min(results, key=total)
            if i == 0:
                print(
                    f"{folder}: {best['megabytes']:.2f} MB of text, {bytes_of_files(folder) / 1e6:.2f} in files, "
                    f"{best['documents']:,} documents, {best['passages']:,} passages; "
                    f"import {best['seconds']['import']:.2f} s"
                )
            stages = "  ".join(f"{stage} {best['seconds'][stage]:.2f}" for stage in STAGES)
            print(
                f"  {mode + ' facts':<13}  {total(best):>6.2f} s  {best['megabytes'] / total(best):>5.2f} MB/s  "
                f"{stages}  | late edges {best['late']:.2f}  wall {best['wall']:.2f}  peak {best['peak']:.0f} MB  "
                f"{best['nodes']:,} nodes  {best['facts']:,} facts  {best['edges']:,} edges",
                flush=True,
            )


if __name__ == "__main__":
    main()
