"""A folder of files as several shards: what it takes to build them one after the other, and to ask them.

    python -m tests.benchmarks.sharded_build SOURCE... --passages 1000000 --shards 10
    python -m tests.benchmarks.sharded_build SOURCE... --passages 30000 --shards 3 --whole

Documents are those of `tests.benchmarks.scale`, until `clew.Splitter()` cuts them into so many passages. They are written as Markdown,
several to a file, into a temporary folder, or into --folder, which is kept. `build_shards` reads the folder with `clew.Names()` in a new
process, and another new process opens the shards and asks them. With --whole the same is done with one index of the folder.

Seconds are by the clock. MB of memory are those of the process: what it has, and the most that it has had (VmHWM), after each shard has
been saved. The first shards load libraries, and fill what a process keeps of words, whose size is bounded. With --processes 1, the
default, no other process has any memory. "first" is the first question by a recipe, "next" the median of
those after it. "overlap" is the share of ids that both answers have, "first the same" how often the first id is.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import clew
from clew.sharded import ShardedIndex, build_shards
from tests.benchmarks.scale import choose_documents, peak, questions_of

RECIPES = ("bm25", "hipporag")
BUDGET = 2000
FILES_IN_FOLDER = 1000


def in_new_process(function: Callable[..., Any], *arguments: object) -> Any:
    """Return what a function returns, run by a process that has done nothing before."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        return executor.submit(function, *arguments).result()


def memory() -> tuple[float, float]:
    """Return the MB of memory that this process has, and the most that it has had."""
    status = Path("/proc/self/status")
    if not status.exists():
        return peak(), peak()
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    now, most = (float(lines[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
    return now, most


def size_of(*folders: Path) -> int:
    """Return the bytes of all files in folders."""
    return sum(file.stat().st_size for one in folders for file in one.rglob("*") if file.is_file())


def grouped(documents: Sequence[clew.Document], least: float) -> Iterator[str]:
    """Yield texts of several documents, each of at least so many bytes but for the last."""
    parts, size = list[str](), 0
    for document in documents:
        text = f"# {document.metadata.get('title', document.id)}\n\n{document.text}\n"
        parts.append(text)
        size += len(text.encode("utf-8", "replace"))
        if size >= least:
            yield "\n".join(parts)
            parts, size = [], 0
    if parts:
        yield "\n".join(parts)


def prepare(
    sources: list[Path], passages: int, kilobytes: float, questions: int, folder: Path
) -> list[str]:
    """Write the files, and return the questions."""
    documents, changed = choose_documents(sources, passages)
    for number, text in enumerate(grouped(documents, 1000 * kilobytes)):
        file = folder / f"{number // FILES_IN_FOLDER:03}" / f"{number:06}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", errors="replace")
    print(f"{len(documents):,} documents; {changed:,} of the passages are of changed ones")
    return questions_of(documents, questions)


class Reporting(Executor):
    """Builds each shard at once in this process, as `build_shards` does by itself, and prints what that took."""

    def __init__(self, targets: Sequence[Path]) -> None:
        self.left = list(targets)

    def submit(self, function: Any, /, *arguments: Any, **keywords: Any) -> Future[Any]:
        future, began = Future[Any](), time.perf_counter()
        future.set_result(function(*arguments, **keywords))
        seconds, (now, most), target = time.perf_counter() - began, memory(), self.left.pop(0)
        on_disk = size_of(target) / 1e6
        number = future.result().number
        row = (target.name, f"{number:,}", f"{seconds:.1f}", f"{now:,.0f}")
        print(f"| {' | '.join(row)} | {most:,.0f} | {on_disk:,.1f} |", flush=True)
        return future


def build(folder: Path, targets: Sequence[Path], processes: int) -> None:
    """Build the shards of a folder, and print a row for each."""
    now, most = memory()
    print("| shard | documents | seconds | MB now | MB at most | MB on disk |")
    print("|---|---|---|---|---|---|")
    print(f"| none yet | | | {now:,.0f} | {most:,.0f} | |", flush=True)
    keywords: Any = {"extractor": clew.Names(), "processes": processes}
    build_shards(folder, targets, executor=Reporting(targets), **keywords)


def build_whole(folder: Path, target: Path, processes: int) -> None:
    """Build one index of a folder, and print its row."""
    began = time.perf_counter()
    index = clew.Index.from_documents(folder, extractor=clew.Names(), processes=processes)
    index.save(target)
    row = f"{len(index):,} | {time.perf_counter() - began:.1f} | {memory()[0]:,.0f}"
    most, on_disk = memory()[1], size_of(target) / 1e6
    print(f"| one index | {row} | {most:,.0f} | {on_disk:,.1f} |", flush=True)


def ask(
    name: str, folders: Sequence[Path], questions: Sequence[str], recipes: Sequence[str]
) -> dict[str, list[list[str]]]:
    """Open an index or several, print a row of what questions take, and return the ids that answer, by recipe."""

    def seconds_of(recipe: str, question: str) -> float:
        began = time.perf_counter()
        context = index.ask(question, recipe=recipe, budget=BUDGET)
        spent = time.perf_counter() - began
        found.setdefault(recipe, []).append(context.ids)
        return spent

    found = dict[str, list[list[str]]]()
    began = time.perf_counter()
    index = clew.Index.load(folders[0]) if len(folders) == 1 else ShardedIndex.open(folders)
    row = [name, f"{time.perf_counter() - began:.2f}"]
    for recipe in recipes:
        first, *others = (seconds_of(recipe, question) for question in questions)
        row += [f"{first:.2f}", f"{statistics.median(others):.3f}" if others else ""]
        row.append(f"{memory()[1]:,.0f}")
    passages = sum(len(clew.Index.load(one).graph.rows("passage")) for one in folders)
    print(f"| {' | '.join([*row, f'{passages:,}'])} |", flush=True)
    return found


def compare(one: Sequence[Sequence[str]], other: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Return the share of ids that both of two answers have, and how often the first is the same."""
    pairs = list(zip(one, other, strict=True))
    shared = [len({*a} & {*b}) / len({*a} | {*b}) if a or b else 1.0 for a, b in pairs]
    return statistics.mean(shared), statistics.mean([float(a[:1] == b[:1]) for a, b in pairs])


def measure(options: argparse.Namespace, place: Path) -> None:
    """Write the files into a folder, and build and ask what is made of them there."""
    text, targets = place / "text", [place / f"shard-{i + 1}" for i in range(options.shards)]
    questions = in_new_process(
        prepare, options.sources, options.passages, options.kilobytes, options.questions, text
    )
    print(
        f"{size_of(text) / 1e6:,.1f} MB of text as {len([*text.rglob('*.md')]):,} files\n",
        flush=True,
    )
    in_new_process(build, text, targets, options.processes)
    if options.whole:
        in_new_process(build_whole, text, place / "whole", options.processes)
    print(
        f"\n{size_of(*targets) / size_of(text):.2f} bytes on disk for each of text, in shards\n",
        flush=True,
    )
    columns = ["", "open s"]
    for recipe in options.recipes:
        columns += [f"{recipe}: first s", "next s", "MB at most"]
    print(f"| {' | '.join([*columns, 'passages'])} |\n|{'---|' * (len(columns) + 1)}", flush=True)
    of_shards = in_new_process(ask, "shards", targets, questions, options.recipes)
    if options.whole:
        of_one = in_new_process(ask, "one index", [place / "whole"], questions, options.recipes)
        print("\n| | overlap | first the same |\n|---|---|---|", flush=True)
        for recipe in options.recipes:
            shared, first = compare(of_shards[recipe], of_one[recipe])
            print(f"| {recipe} | {shared:.3f} | {first:.3f} |", flush=True)


SMOKE = "{folder}/corpus.jsonl --passages 24 --shards 2 --questions 2 --kilobytes .2 --whole"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", metavar="SOURCE", nargs="+", type=Path)
    parser.add_argument("--passages", type=int, default=30_000)
    parser.add_argument("--shards", type=int, default=3)
    parser.add_argument("--kilobytes", type=float, default=300, help="of a file, at least")
    parser.add_argument("--recipes", nargs="+", default=RECIPES)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--processes", type=int, default=1, help="that read and cut at once")
    parser.add_argument("--whole", action="store_true", help="build one index of all, too")
    parser.add_argument("--folder", type=Path, help="a new folder, which is kept")
    options = parser.parse_args()
    if missing := [one for one in options.sources if not one.exists()]:
        raise SystemExit(f"there is no folder or file {missing[0]}")
    if options.folder is None:
        with tempfile.TemporaryDirectory() as place:
            measure(options, Path(place))
        return
    if options.folder.exists():
        raise SystemExit(f"{options.folder} is there already: name a new folder")
    measure(options, options.folder)


if __name__ == "__main__":
    main()
