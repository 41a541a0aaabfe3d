"""An index at growing sizes, end to end: what it costs to build, to keep, to open, to ask and to change.

    python -m tests.benchmarks.scale SOURCE... --passages 2500 10000 40000
    python -m tests.benchmarks.scale SOURCE... --passages 100000 --facts with --recipes bm25 hipporag

SOURCE is a folder, a file, or JSON lines (.jsonl, .jsonl.gz) of objects with a "text" and perhaps an "id" and a "title". Their documents
are taken in the order of a hash, until `clew.Splitter()` cuts them into so many passages. Where there are not enough, they come again with
every seventh word replaced by one drawn from all; the table says how many. Each size is built and saved by one process and asked by
another, both of one thread. Texts are in memory before the clock starts: `tests.benchmarks.reading` has the time of reading files.

Seconds are of the processor unless they are called wall. "build" is cutting, facts, vectors and edges; "save" is apart. MB are those of the
texts as UTF-8. The peak is of the process's own memory, with the pages of the index's files that it has touched. A question is the first
nine words of a passage, from its middle on; "first" is the first of all in a new process, "second" the next of another text, by the first of
the recipes. "new filter" is a question within a tenth of the documents, a filter not asked before. "add" is one document of a passage.
"x" is the ratio to the size before, whose passages grow by "passages x": what is proportional grows as much.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import pickle
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

RECIPES = ("bm25", "fused", "hipporag", "budgeted")
FACTS = ("without", "with")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
TENTHS = 10
REPLACED = 7  # one of so many words, in a text that comes again


def documents_in(source: Path) -> Iterator[Any]:
    """Yield the documents of a folder, a file, or JSON lines."""
    import clew

    if not source.name.endswith((".jsonl", ".jsonl.gz")):
        yield from clew.read.load_documents(source).documents
        return
    raw = source.read_bytes()
    lines = (gzip.decompress(raw) if source.suffix == ".gz" else raw).decode().splitlines()
    for i, record in enumerate(map(json.loads, lines)):
        if record.get("text", "").strip():
            title = record.get("title")
            id, metadata = f"{record.get('id', i)}", {"title": title} if title else {}
            yield clew.Document(id, record["text"], metadata)


def changed(text: str, drawn: Sequence[str], chance: random.Random) -> str:
    """Return a text with one of every seven words replaced."""
    words = text.split(" ")
    for i in range(chance.randrange(REPLACED), len(words), REPLACED):
        words[i] = chance.choice(drawn)
    return " ".join(words)


def choose_documents(sources: Sequence[Path], passages: int) -> tuple[list[Any], int]:
    """Return documents of at least so many passages, and how many of these are changed ones."""
    import clew

    every = [
        replace(document, id=f"{i}/{document.id}", source_map=None, parent=None, source=None)
        for i, source in enumerate(sources)
        for document in documents_in(source)
    ]
    every.sort(key=lambda document: zlib.crc32(document.id.encode("utf-8", "replace")))
    chance, drawn, splitter = random.Random(0), list[str](), clew.Splitter()
    chosen, n, repeated, turn = list[Any](), 0, 0, 0
    while n < passages:
        for document in every:
            text = changed(document.text, drawn, chance) if turn else document.text
            id = f"{document.id}/{turn}"
            one = replace(document, id=id, text=text, metadata={**document.metadata, "tenth": 0})
            own = sum(piece.kind == "passage" for piece in splitter(one))
            one = replace(one, metadata={**one.metadata, "tenth": len(chosen) % TENTHS})
            chosen.append(one)
            n, repeated = n + own, repeated + own * bool(turn)
            if not turn:
                drawn += one.text.split()[:50]
            if n >= passages:
                break
        turn += 1
    return chosen, repeated


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def pages_of_files() -> float:
    """Return the pages of files, such as an index's, that this process has in memory; 0 where nobody tells."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssFile")) / 1024


def build(documents: list[Any], folder: Path, facts: bool) -> dict[str, Any]:
    """Build and save an index, and return what that took."""
    import clew

    mb = sum(len(one.text.encode("utf-8", "replace")) for one in documents) / 1e6
    before = peak()
    wall, processor = time.perf_counter(), time.process_time()
    index = clew.Index.from_documents(
        documents, splitter=clew.Splitter(), extractor=clew.Names() if facts else None
    )
    built = time.process_time() - processor
    result = {
        "passages": len(index.graph.rows("passage")),
        "MB of text": mb,
        "nodes": len(index.graph),
        "facts": len(index.graph.facts),
        "edges": len(index.graph.edges),
        "build s": built,
        "build s wall": time.perf_counter() - wall,
        "MB/s": mb / built,
    }
    processor = time.process_time()
    index.save(folder)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return result | {
        "save s": time.process_time() - processor,
        "MB on disk": size / 1e6,
        "bytes on disk / of text": size / 1e6 / mb,
        "peak of building MB": peak(),
        "of which documents MB": before,
    }


def questions_of(documents: Sequence[Any], n: int) -> list[str]:
    """Return nine words each, from the middle of documents."""
    found = list[str]()
    for document in documents[:: max(1, len(documents) // (4 * n))]:
        words = [word for word in document.text.split() if word.isalpha()]
        if len(words) > 30 and len(found) < n:
            found.append(" ".join(words[len(words) // 2 :][:9]))
    return found or ["What is this about?"]


def ask(folder: Path, questions: list[str], recipes: Sequence[str]) -> dict[str, Any]:
    """Open an index, ask and change it, and return what that took."""
    import clew

    def seconds(function: Any) -> tuple[float, Any]:
        before = time.process_time()
        value = function()
        return time.process_time() - before, value

    opened, index = seconds(lambda: clew.Index.load(folder))
    first, second = (
        seconds(lambda q=q: index.ask(q, recipe=recipes[0], budget=2000))[0]
        for q in (questions[0], questions[-1])
    )
    result = {"open s": opened, "first question s": first, "second question s": second}
    for recipe in recipes:
        index.ask(questions[0], recipe=recipe, budget=2000)  # what it makes once
        times = [
            seconds(lambda q=q, r=recipe: index.ask(q, recipe=r, budget=2000))[0] for q in questions
        ]
        result[f"{recipe} ms"] = 1000 * statistics.median(times)
    result["peak of asking MB"] = peak()
    result["of which pages of files MB"] = pages_of_files()
    one = clew.Document("new document", "A ferry sails from Corfu to Paxos at nine.")
    result["add s"] = seconds(lambda: index.add([one]))[0]
    result["new filter s"] = seconds(
        lambda: index.ask(questions[0], recipe=recipes[0], where={"tenth": 3}, budget=2000)
    )[0]
    return result | {"peak with add and filter MB": peak()}


def apart(function: str, *arguments: Any) -> Any:
    """Return what a function of this module returns, in a process of its own with one thread."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "arguments"
        file.write_bytes(pickle.dumps((function, arguments)))
        command = [sys.executable, __file__, "--one", str(file)]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | ONE_THREAD
        )
    return json.loads(done.stdout.splitlines()[-1])


def prepare(sources: list[Path], passages: int, questions: int, file: Path) -> dict[str, Any]:
    """Write the documents of a size to a file, and return the questions."""
    documents, repeated = choose_documents(sources, passages)
    file.write_bytes(pickle.dumps(documents))
    return {"questions": questions_of(documents, questions), "of which changed": repeated}


def build_of_file(file: Path, folder: Path, facts: bool) -> dict[str, Any]:
    return build(pickle.loads(file.read_bytes()), folder, facts)


def cell(value: float) -> str:
    if isinstance(value, int) or value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 3 if value < 0.1 else 2}f}"


def table(results: Sequence[dict[str, Any]]) -> str:
    """Return the results as a table in Markdown, a column a size, with the ratios between."""
    heads = ["", *(f"{one['passages']:,}" for one in results[:1])]
    for one in results[1:]:
        heads += [f"{one['passages']:,}", "x"]
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for name in results[0]:
        row = [name, cell(results[0][name])]
        for before, one in pairwise(results):
            ratio = f"{one[name] / before[name]:.1f}" if before[name] else ""
            row += [cell(one[name]), ratio]
        lines.append(row)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


SMOKE = "{folder}/corpus.jsonl --passages 8 24 --questions 2 --recipes bm25"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", metavar="SOURCE", nargs="*", type=Path)
    parser.add_argument("--passages", type=int, nargs="+", default=[2500, 10_000, 40_000])
    parser.add_argument("--facts", nargs="+", choices=FACTS, default=FACTS)
    parser.add_argument("--recipes", nargs="+", default=RECIPES)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        function, arguments = pickle.loads(options.one.read_bytes())
        print(json.dumps(globals()[function](*arguments)))
        return
    if missing := [one for one in options.sources if not one.exists()]:
        raise SystemExit(f"there is no folder or file {missing[0]}")
    if not options.sources:
        raise SystemExit("name folders, files or JSON lines with the texts")
    sources = [source.resolve() for source in options.sources]
    results: dict[str, list[dict[str, Any]]] = {facts: [] for facts in options.facts}
    for passages in options.passages:
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "documents"
            made = apart("prepare", sources, passages, options.questions, file)
            for facts, of_sizes in results.items():
                folder = Path(place) / facts
                built = apart("build_of_file", file, folder, facts == "with")
                asked = apart("ask", folder, made["questions"], options.recipes)
                of_sizes.append(built | {"of which changed": made["of which changed"]} | asked)
                print(f"{facts} facts: {json.dumps(of_sizes[-1])}", file=sys.stderr, flush=True)
    for facts, of_sizes in results.items():
        print(f"\n**{facts} facts**\n\n{table(of_sizes)}")


if __name__ == "__main__":
    main()
