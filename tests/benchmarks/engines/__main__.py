"""Engines for words, vectors and columns beside what clew has: what each takes, and what it promises.

    pip install tantivy bm25s PyStemmer duckdb==1.4.4 duckdb-ext-fts pyarrow lancedb usearch faiss-cpu hnswlib llama-index-core
    python -m tests.benchmarks.engines --cache CACHE --sources SOURCES
    python -m tests.benchmarks.engines --folder FOLDER... [--passages 10000] [--parts words] [--rounds 3]

The passages are those of a corpus of `tests.benchmarks.everyday` (`--corpora`, "howto" unless another is
named), of folders, or of folders that `clew measure --prepare` wrote, cut as `clew index` cuts them. Every engine gets the
same texts, with their headings, and the same float32 vectors of 384: those of clew's embedded default, brought to that
width by random directions of a fixed seed. clew reads no facts and makes no links here. What is not installed
is left out, with a note.

Costs: every round and every engine has two new processes, by turns. One builds the index and leaves it on
the disk, the other opens it, asks, adds documents and deletes them, one at a time, each durable as far as the library makes
it so. bm25s, faiss, usearch, hnswlib and LlamaIndex have no durable change: they write all of their files again. Seconds are of
the processor, all threads of the library, without imports; in brackets by the clock. Medians of rounds. A question of "columns"
reads ten passages and their vectors from an id on. "synced" is how often the system was asked to
put data on the disk while a document was added, as `strace` counts it ("?" where it is not there).
"hit@10" is the share of a corpus's questions of the half `tune` that one of ten passages answers; "nearest" that
of the exact ten nearest.

Promises are tried out on an index of `--tried` passages:
- filter: whether scores and order under a filter are those of an index without the forbidden half; "deleted" the
  same after the half was deleted, in one commit.
- ties: each text is there several times. Whether the ten best are the same when it is asked again, opened in
  another object and built again; when half of the passages come in ten later commits; when they come in another order.
- damage: bytes of all files are flipped, one at a time. Named at once (opening or asking fails) or by the engine's own
  check; or else the answers are the same, or other ones, in silence; or the process ends.
- kills: a process that adds one document after another is killed (SIGKILL) at random moments. Lost is what
  it had reported as added; torn is an index that does not open or has lost what was there before.
- packages: wheels of the newest version for Python 3.11 to 3.13, the licence, and the MB that it installs, in
  brackets with all that it requires beyond what clew has.
"""

from __future__ import annotations

import argparse
import json
import pickle
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import clew
from clew.cli.source import TOKENS
from clew.embedding.embedder import fit_default
from clew.measure.benchmark import Benchmark
from clew.measure.prepare import BENCHMARK_FILES
from clew.read import Splitter
from tests.benchmarks.engines import promises
from tests.benchmarks.engines.engine import Question, Row, UnsupportedError
from tests.benchmarks.engines.figures import (
    ENGINES,
    GROUPS,
    PARTS,
    Corpus,
    K,
    bytes_in,
    exact_answers,
    hits_of,
    load_modules,
    one_thread,
    shared,
)
from tests.benchmarks.engines.packages import describe
from tests.benchmarks.engines.steps import run_step, step_command
from tests.benchmarks.engines.vectors import WIDTH
from tests.benchmarks.everyday import folder_and_questions, read_questions
from tests.benchmarks.everyday_corpora import _index_url
from tests.benchmarks.rivals import MissingError

SMOKE = (
    "--folder {folder} --passages 40 --rounds 1 --tried 20 --kills 1 --questions 3 --no-packages"
)
MIN_LETTERS = 20
SYNCS = "fsync,fdatasync,msync,sync_file_range,syncfs"
Texts = list[tuple[str, str]]
"""Texts with their headings, and the paths that they come from."""


def passages_of(folders: Sequence[Path]) -> Texts:
    """Return the passages of folders, each text once."""
    found: dict[str, str] = {}
    for folder in folders:
        if not folder.exists():
            raise FileNotFoundError(f"{folder} is no folder")
        if any((folder / name).exists() for name in BENCHMARK_FILES[:2]):
            documents = Benchmark.open(folder, vectors=False).documents
            found |= {one.text: "" for one in documents if len(one.text) > MIN_LETTERS}
            continue
        graph = clew.Index.from_documents(
            folder,
            splitter=Splitter(tokens=TOKENS),
            extractor=None,
            links=(),
            embedder=lambda texts: np.ones((len(texts), 1)),
        ).graph
        rows = graph.rows("passage").tolist()
        texts = clew.graph.texts_with_headings(graph, rows)
        for row, text in zip(rows, texts, strict=True):
            if len(text) > MIN_LETTERS:
                found.setdefault(text, str(graph.metadata[row].get("path", "")))
    return list(found.items())


def make_corpus(options: argparse.Namespace) -> Corpus:
    """Return the passages, and the questions of the corpus or some words of passages."""
    asked: list[tuple[str, frozenset[int]]] = []
    if options.folder:
        texts = passages_of(options.folder)[: options.passages]
    else:
        folder, file = folder_and_questions(options.corpora, options)
        texts = passages_of([folder])[: options.passages]
        answerable = [one for one in read_questions(file, "tune") if one.places]
        for one in answerable[: options.questions]:
            right = {
                id
                for id, (text, path) in enumerate(texts)
                if any(place.is_in(text, [path]) for place in one.places)
            }
            asked.append((one.text, frozenset(right)))
    if not texts:
        raise ValueError("there is no passage in the folders")
    if not asked:
        asked = [(words, frozenset()) for words in drawn_questions(texts, options.questions)]
    vectors = projected([text for text, _ in texts], [text for text, _ in asked])
    rows = [Row(id, text, vectors[id], id % GROUPS) for id, (text, _) in enumerate(texts)]
    step = max(1, len(rows) // len(asked))
    questions = [
        Question(text, vectors[len(rows) + i], min(i * step, max(0, len(rows) - K)))
        for i, (text, _) in enumerate(asked)
    ]
    return Corpus(rows, questions, [right for _, right in asked])


def drawn_questions(texts: Texts, n: int) -> list[str]:
    """Return words of passages, each some eight in a row."""
    step = max(1, len(texts) // n)
    several = (re.findall(r"[^\W_]+", text) for text, _ in texts[::step])
    return [" ".join(words[len(words) // 2 :][:8]) for words in islice(several, n)]


def projected(texts: list[str], questions: list[str]) -> Any:
    """Return clew's default vectors, brought to the common width by random directions."""
    embedder, known = fit_default(texts)
    own = [known[text] for text in texts] if known else embedder.embed_texts(texts)
    asked = [embedder.embed_question(one) for one in questions]
    vectors = np.array([*own, *asked], np.float32)
    directions = np.random.default_rng(1).standard_normal((vectors.shape[1], WIDTH))
    narrow = vectors @ directions.astype(np.float32)
    lengths = np.linalg.norm(narrow, axis=1, keepdims=True)
    narrow[lengths[:, 0] == 0] = 1.0  # a text without known words
    return narrow / np.linalg.norm(narrow, axis=1, keepdims=True)


def tried_corpus(corpus: Corpus, n: int) -> Corpus:
    """Return every so many-th passage, and some words of theirs as questions."""
    step = max(1, len(corpus.rows) // n)
    rows = corpus.rows[::step][:n]
    texts = [(row.text, "") for row in rows]
    drawn = drawn_questions(texts, min(n, 20))
    step = max(1, len(rows) // len(drawn))
    near = [rows[min(i * step, len(rows) - 1)] for i in range(len(drawn))]
    renamed = [Row(id, row.text, row.vector) for id, row in enumerate(rows)]
    questions = [
        Question(text, row.vector, min(i * step, max(0, n - K)))
        for i, (text, row) in enumerate(zip(drawn, near, strict=True))
    ]
    return Corpus(renamed, questions, [frozenset()] * len(questions))


def synced(engine: str, corpus: Path, place: Path) -> str:
    """Return how often data was brought to the disk while a document was added."""
    if shutil.which("strace") is None:
        return "?"
    with tempfile.TemporaryDirectory() as name:
        log = Path(name, "calls")
        command = ["strace", "-f", "-qq", "-e", f"trace={SYNCS},write", "-o", str(log)]
        command += step_command("add", engine, corpus, place)
        done = subprocess.run(command, capture_output=True, check=False, env=one_thread())
        if done.returncode or not log.exists():
            return "?"
        after = log.read_text("utf-8", "replace").partition('"begin\\n"')[2]
    return str(len(re.findall(rf"\b(?:{SYNCS.replace(',', '|')})\(", after)))


def installed(parts: Sequence[str], chosen: Sequence[str] | None) -> list[str]:
    """Return the engines that can be measured; standard error says why others cannot."""
    found = []
    for name, engine in ENGINES.items():
        if engine.part not in parts or (chosen and name not in chosen):
            continue
        try:
            load_modules(engine)
        except MissingError:
            line = f"pip install {' '.join(engine.packages)}"
            sys.stderr.write(f"{name} is not compared: it is not installed ({line})\n")
        else:
            found.append(name)
    return found


COLUMNS = {
    "build s": ("build s", "build wall s"),
    "import s": ("import s", None),
    "open and first s": ("open and first s", None),
    "question ms": ("question ms", "question wall ms"),
    "filtered ms: first": ("first filtered ms", None),
    "next": ("filtered ms", None),
    "add ms": ("add ms", "add wall ms"),
    "delete ms": ("delete ms", "delete wall ms"),
    "MB": ("MB", None),
}


def compare_costs(names: Sequence[str], corpus: Corpus, place: Path, rounds: int) -> None:
    """Print the tables of what everything takes."""
    file = place / "corpus.pickle"
    file.write_bytes(pickle.dumps(corpus))
    took: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name, rows in took.items():
            folder = Path(tempfile.mkdtemp(dir=place))
            try:
                figures = run_step("build", name, file, folder)
                figures["MB"] = bytes_in(folder) / 1e6
                figures |= run_step("ask", name, file, folder)
                if not rows:
                    figures["synced"] = synced(name, file, folder)
                rows.append(figures)
                known = {key: figures[key] for key in figures if key != "answers"}
                sys.stderr.write(f"{name}: {json.dumps(known)}\n")
            except RuntimeError as error:
                sys.stderr.write(f"{error}\n")
            shutil.rmtree(folder)
    exact = exact_answers(corpus)
    for part in PARTS:
        rows_of_part = {
            name: rows for name, rows in took.items() if rows and ENGINES[name].part == part
        }
        if rows_of_part:
            print(costs_table(part, rows_of_part, corpus, exact), flush=True)


def costs_table(
    part: str,
    took: dict[str, list[dict[str, Any]]],
    corpus: Corpus,
    exact: list[list[int]],
) -> str:
    """Return the medians of a part as a table in Markdown."""
    quality = {"words": ["hit@10"], "vectors": ["nearest", "hit@10"], "columns": []}[part]
    if all(not right for right in corpus.gold):
        quality = [one for one in quality if one != "hit@10"]
    heads = [*COLUMNS, "synced", *quality]
    lines = [f"\n| {part} | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
    for name, rounds in took.items():
        cells = [figure_of(rounds, *keys) for keys in COLUMNS.values()]
        cells.append(rounds[0]["synced"])
        answers = rounds[0]["answers"]
        for one in quality:
            value = shared(answers, exact) if one == "nearest" else hits_of(answers, corpus.gold)
            cells.append("" if value is None else f"{value:.3f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def figure_of(rounds: Sequence[dict[str, Any]], key: str, clock: str | None) -> str:
    """Return the median of rounds, in brackets that of the clock; what a failed step said else."""
    if key not in rounds[0]:
        return "-"
    value = short(statistics.median(one[key] for one in rounds))
    if clock is None:
        return value
    return f"{value} ({short(statistics.median(one[clock] for one in rounds))})"


def short(value: float) -> str:
    """Return a number with some three digits."""
    for limit, digits in ((0.1, 3), (1, 2), (10, 1)):
        if value < limit:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"


PROMISES = (
    "filter",
    "deleted",
    "ties again",
    "ties built again",
    "ties in commits",
    "ties shuffled",
    "damage",
    "kills",
)


def compare_promises(names: Sequence[str], corpus: Corpus, place: Path, kills: int) -> None:
    """Print the tables of what holds."""
    file = place / "tried.pickle"
    file.write_bytes(pickle.dumps(corpus))
    found: dict[str, dict[str, str]] = {}
    for name in names:
        found[name] = {}
        for step in ("filter", "ties", "damage", "kills"):
            if step in ("filter", "ties") and ENGINES[name].part == "columns":
                continue
            folder = Path(tempfile.mkdtemp(dir=place))
            try:
                if step == "damage":
                    found[name] |= promises.try_damage(name, file, folder)
                elif step == "kills":
                    found[name] |= promises.try_kills(name, file, folder, kills)
                else:
                    found[name] |= run_step(step, name, file, folder)
            except (RuntimeError, UnsupportedError) as error:
                sys.stderr.write(f"{error}\n")
                found[name][step] = "failed"
            shutil.rmtree(folder, ignore_errors=True)
        sys.stderr.write(f"{name}: {json.dumps(found[name])}\n")
    for part in PARTS:
        of_part = {name: row for name, row in found.items() if ENGINES[name].part == part}
        heads = [one for one in PROMISES if any(one in row for row in of_part.values())]
        if of_part:
            print(f"\n| {part} | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
        for name, row in of_part.items():
            print(f"| {name} | {' | '.join(row.get(one, '') for one in heads)} |", flush=True)


def describe_packages(names: Sequence[str], index_url: str) -> None:
    """Print the table of packages."""
    heads = ("package", "measured", "newest", "wheels", "licence", "MB")
    print(f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    several = dict.fromkeys(one for name in names for one in ENGINES[name].packages)
    for package in several:
        row = describe(package, index_url)
        print(f"| {' | '.join(row[head] for head in heads)} |", flush=True)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.engines",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--folder", type=Path, nargs="+", help="of the texts")
    parser.add_argument("--cache", type=Path, help="where corpora are kept")
    parser.add_argument("--sources", type=Path, help="the folder of clones")
    parser.add_argument("--corpora", default="howto", metavar="NAME", help="one of them (howto)")
    parser.add_argument("--index-url", help="the package index, unless pip's own")
    parser.add_argument("--passages", type=int, help="at most so many")
    parser.add_argument("--questions", type=int, default=100, help="at most so many")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, metavar="NAME")
    parser.add_argument("--tried", type=int, default=600, help="passages that promises have")
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--no-costs", action="store_true")
    parser.add_argument("--no-promises", action="store_true")
    parser.add_argument("--no-packages", action="store_true")
    options = parser.parse_args()
    options.further = None
    if options.folder is None and options.cache is None:
        parser.error("name a folder for the corpora with --cache, or your own with --folder")
    return options


def main() -> None:
    options = parse_options()
    if options.folder and (missing := [one for one in options.folder if not one.is_dir()]):
        raise FileNotFoundError(f"{missing[0]} is no folder")
    names = installed(options.parts, options.engines)
    with tempfile.TemporaryDirectory() as name:
        if not (options.no_costs and options.no_promises):
            corpus = make_corpus(options)
            letters = sum(len(row.text.encode()) for row in corpus.rows)
            print(
                f"{len(corpus.rows):,} passages, {letters / 1e6:.1f} MB of text, "
                f"{len(corpus.questions)} questions, {sum(map(bool, corpus.gold))} of them with an answer"
            )
            if not options.no_costs:
                compare_costs(names, corpus, Path(name), options.rounds)
            if not options.no_promises:
                tried = tried_corpus(corpus, options.tried)
                print(f"\npromises, on {len(tried.rows):,} of these passages")
                compare_promises(names, tried, Path(name), options.kills)
    if not options.no_packages:
        describe_packages(names, options.index_url or _index_url())


if __name__ == "__main__":
    main()
