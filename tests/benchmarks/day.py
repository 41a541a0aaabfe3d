"""A day of an index: it changes and is saved while threads ask it, and is held against a rebuild.

    python -m tests.benchmarks.day FOLDER [FOLDER ...] --ask QUESTIONS.jsonl
    python -m tests.benchmarks.day FOLDER --documents 1000 --changes 100 --questions 1000

The passages of the folders and files, such as JSON Lines, cut as `clew index` cuts them, are documents
of their own. So many are indexed; what is added and what replaces another comes from the rest, or, where
no more are left, is an earlier one with a sentence more. Meanwhile threads ask the index of that moment
by the default recipe. Changes are drawn by a seed: a third each are added, upserted and deleted, one
document at a time, evenly among the questions. Some are saved, to one folder. Questions are those of
`--ask`, lines of JSON with a "question", over and over, or words of passages.

At evenly spread moments nobody asks: the memory of the process and the bytes on the disk are noted, the
folder is opened, which has to give the documents that were last saved, and another process builds an
index of the same documents, which the changed one is held against. By "bm25" ids and scores have to be
the same. By the default recipe they need not: the embedded default keeps the weights of its words and its
mean as they were when the index was last built whole, which is done once a tenth has changed. After
`compact`, in the last row, nothing is left of that.

Latency is wall time, of all that a question waits for, the other threads too. Processor time is that of
the thread alone. The exit status is 1 where a question failed, a saved document was lost or "bm25" answered otherwise.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

import clew
from clew import Document, Index
from clew.cli.source import TOKENS
from clew.index import IndexConfig
from clew.measure.files import read_lines
from clew.read import Splitter
from clew.text.words import words

SMOKE = "{folder} --documents 20 --changes 12 --questions 24 --threads 2 --moments 2 --compared 4"
RECIPES = ("bm25", clew.recipes.DEFAULT)
FIVE = 5
PERCENTILES = (50, 99, 99.9)
KINDS = ("add", "upsert", "delete")
MB = 1e6

Answers = list[list[tuple[str, float]]]


@dataclass
class Times:
    """Seconds of wall and of processor time, by what was done."""

    taken: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def of(self, kind: str, work: Callable[[], object]) -> object:
        """Return what the work returns."""
        wall, processor = time.perf_counter(), time.thread_time()
        result = work()
        took = time.perf_counter() - wall, time.thread_time() - processor
        self.taken.setdefault(kind, []).append(took)
        return result

    def join(self, others: Sequence[Times]) -> None:
        for one in others:
            for kind, taken in one.taken.items():
                self.taken.setdefault(kind, []).extend(taken)


class Texts:
    """Texts without end: those that were read, and then the same with a sentence more."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts, self.n, self.repeated = texts, 0, 0

    def next(self) -> str:
        again, at = divmod(self.n, len(self.texts))
        self.n += 1
        self.repeated += again > 0
        other = self.texts[(at * 7 + again) % len(self.texts)].split("\n")[0]
        return self.texts[at] if not again else f"{self.texts[at]}\n\n{other} ({again})"


class Day:
    """The index of the day, who asks it and who changes it."""

    def __init__(self, index: Index, texts: Texts, questions: Sequence[str], folder: Path) -> None:
        self.index, self.texts, self.questions, self.folder = index, texts, questions, folder
        self.saved, self.times, self.chance = index, Times(), random.Random(1)
        self.names = itertools.count(len(index))
        self.errors: list[str] = []
        self.rebuilt = self.meanwhile = 0
        self._asked = self._may_ask = 0
        self._lock = threading.Condition()

    def ask(self, until: int, times: Times) -> None:
        """Ask question after question, each of the index of its moment.

        None runs ahead of the changes: the last due one has begun before it is asked.
        """
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._asked < self._may_ask or self._asked >= until)
                if self._asked >= until:
                    return
                number, self._asked = self._asked, self._asked + 1
                self._lock.notify_all()
            index, question = self.index, self.questions[number % len(self.questions)]
            try:
                answer = times.of("question", lambda now=index, text=question: now.ask(text))
                if strangers := [id for id in answer.ids if not index.graph.has(id)]:
                    self.errors.append(f"{question!r}: {strangers} are not in the index")
            except Exception as error:  # noqa: BLE001  # whatever it is, it fails the benchmark
                self.errors.append(f"{question!r}: {error!r}")

    def change(self) -> None:
        """Change one document."""
        kind, index = self.chance.choice(KINDS), self.index
        one = self.chance.choice(index.documents)
        if kind == "delete":
            work = partial(index.delete, one.id)
        elif kind == "upsert":
            work = partial(index.upsert, [Document(one.id, self.texts.next())])
        else:
            new = Document(f"d{next(self.names)}", self.texts.next())
            work = partial(index.add, [new])
        now = self.times.of(kind, work)
        self.rebuilt += now.changed < index.changed
        self.index = now

    def save(self) -> None:
        index = self.index
        self.times.of("save", lambda: index.save(self.folder))
        self.saved = index

    def until(self, questions: int, changes: range, save_every: int, threads: int) -> None:
        """Ask so many questions, all in all, and make these changes evenly among them."""
        first, each = self._asked, [Times() for _ in range(threads)]
        asking = [threading.Thread(target=self.ask, args=(questions, one)) for one in each]
        for one in asking:
            one.start()
        due = [first + (questions - first) * i // len(changes) for i in range(len(changes) + 1)]
        for i, number in enumerate(changes):
            with self._lock:
                self._lock.wait_for(lambda now=due[i]: self._asked >= now)
                self._may_ask = due[i + 1]
                self._lock.notify_all()
            self.meanwhile += self._asked < questions
            self.change()
            if (number + 1) % save_every == 0:
                self.save()
        with self._lock:
            self._may_ask = questions
            self._lock.notify_all()
        for one in asking:
            one.join()
        self.times.join(each)


def memory() -> float:
    """Return the MB of this process that are in memory now."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / MB


def answers(index: Index, questions: Sequence[str]) -> dict[str, Answers]:
    """Return the best five of each question, with their scores, by recipe."""
    return {
        recipe: [
            [(item.id, item.score) for item in index.ask(text, recipe=recipe, limit=FIVE)]
            for text in questions
        ]
        for recipe in RECIPES
    }


def rebuilt_answers(
    documents: Sequence[tuple[str, str]], questions: Sequence[str]
) -> dict[str, Answers]:
    """Return what an index answers that is built of these documents at once."""
    return answers(Index.from_documents([Document(*one) for one in documents]), questions)


def in_new_process(index: Index, questions: Sequence[str]) -> dict[str, Answers]:
    """Return what a rebuild answers; in a process of its own, for the memory of this one is measured."""
    documents = [(one.id, one.text) for one in index.documents]
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(rebuilt_answers, documents, questions).result()


def agreement(mine: Answers, theirs: Answers) -> tuple[float, float, float]:
    """Return the shares of the same first passage, of five in common, and of all the same."""
    pairs = [
        ([id for id, _ in one], [id for id, _ in other])
        for one, other in zip(mine, theirs, strict=True)
    ]
    return (
        float(np.mean([one[:1] == other[:1] for one, other in pairs])),
        float(np.mean([len({*one} & {*other}) / max(len(other), 1) for one, other in pairs])),
        float(np.mean([one == other for one, other in zip(mine, theirs, strict=True)])),
    )


def row(*cells: object) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def header(*cells: str) -> None:
    print()
    row(*cells)
    row(*["---", *["---:"] * (len(cells) - 1)])


def describe_times(times: Times) -> None:
    """Print the percentiles of what was done."""
    header("", "n", *[f"p{each:g} ms" for each in PERCENTILES], "max ms", "processor p50 ms")
    for kind in ("question", *KINDS, "save"):
        if kind in times.taken:
            wall, processor = 1000 * np.array(times.taken[kind]).T
            row(
                kind,
                f"{len(wall):,}",
                *[f"{each:,.1f}" for each in np.percentile(wall, PERCENTILES)],
                f"{wall.max():,.1f}",
                f"{np.median(processor):,.1f}",
            )


def read_passages(sources: Sequence[Path]) -> list[str]:
    """Return the passages of folders and files."""
    for source in sources:
        if not source.exists():
            raise FileNotFoundError(f"{source} is no folder and no file")
    splitter = Splitter(tokens=TOKENS)
    texts = [
        piece.text
        for source in sources
        for document in IndexConfig().load(source).documents
        for piece in splitter(document)
        if piece.kind == "passage" and len(list(words(piece.text))) > FIVE
    ]
    random.Random(1).shuffle(texts)
    return texts


def drawn_questions(texts: Sequence[str], n: int) -> list[str]:
    """Return n times some words of a text."""
    chance = random.Random(2)
    return [
        " ".join(word for word, *_ in chance.sample(list(words(chance.choice(texts))), FIVE))
        for _ in range(n)
    ]


def describe_moment(day: Day, what: str, compared: Sequence[str], done: int) -> bool:
    """Print a row about this moment; return whether all was as it has to be."""
    rss = memory()
    files = [file for file in day.folder.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    opened = Index.load(day.folder)
    there = [(one.id, one.text) for one in opened.documents]
    kept = there == [(one.id, one.text) for one in day.saved.documents]
    mine, theirs = answers(day.index, compared), in_new_process(day.index, compared)
    *_, exact = agreement(mine["bm25"], theirs["bm25"])
    first, common, _ = agreement(mine[RECIPES[1]], theirs[RECIPES[1]])
    row(
        what,
        f"{done:,}",
        f"{len(day.index):,}",
        day.index.changed,
        f"{rss:,.0f}",
        f"{size / MB:,.1f}",
        len(files),
        "yes" if kept else "NO",
        f"{exact:.3f}",
        f"{first:.3f}",
        f"{FIVE * common:.2f}",
    )
    return kept and exact == 1.0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", type=Path, nargs="+", help="folders and files")
    parser.add_argument(
        "--ask", type=Path, nargs="+", help="files of JSON Lines with a question each"
    )
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--changes", type=int, default=2_000)
    parser.add_argument("--questions", type=int, default=20_000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--save-every", type=int, default=20, help="changes")
    parser.add_argument("--compared", type=int, default=100, help="questions, at each moment")
    options = parser.parse_args()
    texts = read_passages(options.sources)
    if options.ask:
        questions = list(
            dict.fromkeys(
                record["question"] for file in options.ask for _, record in read_lines(file)
            )
        )
    else:
        questions = drawn_questions(texts, min(options.questions, 1000))
    source = Texts(texts)
    documents = [Document(f"d{i}", source.next()) for i in range(options.documents)]
    began = time.process_time()
    index = Index.from_documents(documents)
    index.ask(questions[0])
    building = time.process_time() - began
    with tempfile.TemporaryDirectory() as name:
        day = Day(index, source, questions, Path(name))
        day.index.save(name)
        well = hold(day, options)
        print(
            f"\n{len(texts):,} passages read, {source.repeated:,} texts repeated with a sentence more; "
            f"built and asked in {building:.1f} s of processor time; built whole again {day.rebuilt} times; "
            f"{day.meanwhile:,} of {options.changes:,} changes began while questions were asked"
        )
        describe_times(day.times)
        print(f"\nquestions that failed: {len(day.errors)}")
        for error, n in Counter(day.errors).most_common(FIVE):
            print(f"{n} times: {error}")
    return 0 if well and not day.errors else 1


def hold(day: Day, options: argparse.Namespace) -> bool:
    """Let the day pass, with a row for each moment; return whether all was as it has to be."""
    header("moment", "changes", "documents", "since built whole", "RSS MB", "disk MB", "files",
           "opened as saved", "bm25 exact", f"{RECIPES[1]}: same first", f"of {FIVE}")  # fmt: skip
    moments, compared = options.moments, day.questions[: options.compared]
    well = [describe_moment(day, "begin", compared, 0)]
    for k in range(moments):
        changes = range(options.changes * k // moments, options.changes * (k + 1) // moments)
        asked = options.questions * (k + 1) // moments
        day.until(asked, changes, options.save_every, options.threads)
        well.append(describe_moment(day, str(k + 1), compared, changes.stop))
    day.index = day.index.compact()
    day.save()
    well.append(describe_moment(day, "compact", compared, options.changes))
    return all(well)


if __name__ == "__main__":
    sys.exit(main())
