"""What an engine promises of an index, each tried out: filters, deletions, ties, damage, kills.

The index is a small one. Whatever may end a process is done in a process of its own.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.engines.engine import (
    CALLERS_OWN,
    Engine,
    Hits,
    Question,
    Row,
    UnsupportedError,
)
from tests.benchmarks.engines.figures import (
    ENGINES,
    Corpus,
    K,
    load_modules,
    new_row,
    one_thread,
    question_for,
    step_command,
)

TOLERANCE = 1e-5  # of scores, as a share; engines keep them in float32
COPIES = 8  # of one text, whose scores are the same
BATCHES = 10  # commits in which the second half of an index comes
FLIPS = 4  # of each file, evenly in it, more where there are few files
MIN_FLIPS = 60  # of all files of an engine
MAX_FLIPS = 120  # of all files of an engine; its smallest files are tried first
WAIT = 60  # seconds until a process counts as one that hangs
YES, NO = "yes", "**no**"


def build_in(engine: type[Engine], folder: Path, rows: Sequence[Row]) -> Engine:
    """Return a new index of the rows."""
    folder.mkdir()
    one = engine()
    one.build(folder, rows)
    return one


def same_answers(some: Sequence[Hits], others: Sequence[Hits]) -> tuple[float, float]:
    """Return the share of questions with the same ids in the same order, and the largest
    difference of a score of a passage that both have, as a share of it."""
    same = np.mean([_ids(one) == _ids(two) for one, two in zip(some, others, strict=True)])
    apart = [0.0]
    for one, two in zip(some, others, strict=True):
        scores = dict(two)
        apart += [
            abs(score - scores[id]) / max(abs(scores[id]), 1e-9)
            for id, score in one
            if id in scores
        ]
    return float(same), max(apart)


def _ids(hits: Hits) -> list[int]:
    return [id for id, _ in hits]


def verdict(some: Sequence[Hits], others: Sequence[Hits]) -> str:
    """Return whether scores are the same, and if not, how far apart."""
    same, apart = same_answers(some, others)
    if apart <= TOLERANCE and same >= 0.995:  # a tie in the last bit may turn round
        return YES
    return f"{NO}: {same:.0%} same ten, scores up to {apart:.1%} apart"


def grouped(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, the first half of one group and the second of another."""
    return [replace(row, group=int(2 * place >= len(rows))) for place, row in enumerate(rows)]


def try_filters(engine: type[Engine], corpus: Corpus, place: Path) -> dict[str, str]:
    """Return whether a filter and a deletion give the answers of an index without the others."""
    load_modules(engine, corpus.rows)
    rows = grouped(corpus.rows)
    kept = [row for row in rows if row.group == 0]
    alone = build_in(engine, place / "alone", kept)
    wanted = [alone.ask(question, K) for question in corpus.questions]
    every = build_in(engine, place / "every", rows)
    found = {}
    try:
        found["filter"] = verdict([every.ask(one, K, 0) for one in corpus.questions], wanted)
    except UnsupportedError as error:
        found["filter"] = f"none: {error}"
    try:
        every.delete([row.id for row in rows if row.group == 1])
        found["deleted"] = verdict([every.ask(one, K) for one in corpus.questions], wanted)
    except UnsupportedError as error:
        found["deleted"] = f"none: {error}"
    return found


def copied(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, each with the text and the vector that some others have, too."""
    n = len(rows)
    return [replace(rows[place % max(1, n // COPIES)], id=rows[place].id) for place in range(n)]


def try_ties(engine: type[Engine], corpus: Corpus, place: Path) -> dict[str, str]:
    """Return whether passages of one text come in one order: again, in commits, shuffled."""
    load_modules(engine, corpus.rows)
    rows = copied(corpus.rows)
    whole = build_in(engine, place / "whole", rows)
    wanted = [whole.ask(one, K) for one in corpus.questions]
    again = [whole.ask(one, K) for one in corpus.questions]
    del whole
    other = engine()
    other.open(place / "whole")
    opened = [other.ask(one, K) for one in corpus.questions]
    twice = build_in(engine, place / "twice", rows)
    built = [twice.ask(one, K) for one in corpus.questions]
    same = min(same_answers(one, wanted)[0] for one in (again, opened))
    half = len(rows) // 2
    step = max(1, -(-(len(rows) - half) // BATCHES))
    parts = build_in(engine, place / "parts", rows[:half])
    for start in range(half, len(rows), step):
        parts.add(rows[start : start + step])
    mixed = list(rows)
    random.Random(1).shuffle(mixed)
    shuffled = build_in(engine, place / "shuffled", mixed)
    return {
        "ties again": YES if same == 1 else f"{NO}: {same:.0%}",
        "ties built again": _order(built, wanted),
        "ties in commits": _order([parts.ask(one, K) for one in corpus.questions], wanted),
        "ties shuffled": _order([shuffled.ask(one, K) for one in corpus.questions], wanted),
    }


def _order(found: Sequence[Hits], wanted: Sequence[Hits]) -> str:
    same, apart = same_answers(found, wanted)
    scores = "" if apart <= TOLERANCE else f", scores up to {apart:.1%} apart"
    return YES if same == 1 and not scores else f"{NO}: {same:.0%}{scores}"


def places_to_flip(folder: Path) -> list[tuple[str, int]]:
    """Return files and the places of bytes in them, evenly, at most so many."""
    files = sorted(
        (
            file
            for file in folder.rglob("*")
            if file.is_file() and file.stat().st_size and file.name != CALLERS_OWN
        ),
        key=lambda file: (file.stat().st_size, file.name),
    )
    found, each = [], max(FLIPS, MIN_FLIPS // max(1, len(files)))
    for file in files:
        size = file.stat().st_size
        several = sorted({int(size * (i + 0.5) / each) for i in range(each)})
        found += [(file.relative_to(folder).as_posix(), at) for at in several]
    if len(found) <= MAX_FLIPS:
        return found
    keep = np.linspace(0, len(found) - 1, MAX_FLIPS).astype(int)
    return [found[i] for i in sorted(set(keep.tolist()))]


def try_damage(name: str, corpus_file: Path, place: Path) -> dict[str, str]:
    """Return what becomes of flipped bytes."""
    engine, corpus = ENGINES[name], Corpus.load(corpus_file)
    load_modules(engine, corpus.rows)
    whole = place / "whole"
    one = build_in(engine, whole, corpus.rows)
    close(one)
    flips = places_to_flip(whole)
    outcomes = Counter[str]()
    done = 0
    while done < len(flips):
        with subprocess.Popen(
            step_command("flips", name, corpus_file, place, done),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=one_thread(),
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                outcomes[json.loads(line)] += 1
                done += 1
        if done < len(flips):  # the process ended at this one
            outcomes["process ended"] += 1
            done += 1
    parts = [f"{outcomes[key]} {key}" for key in OUTCOMES if outcomes[key]]
    text = f"{len(flips)} flips: {', '.join(parts)}"
    bad = outcomes["other answers"] + outcomes["process ended"]
    return {"damage": f"{YES if not bad else NO}: {text}"}


OUTCOMES = (
    "named at once",
    "named by its check",
    "other answers, named by its check",
    "not seen, same answers",
    "other answers",
    "process ended",
)


def flip_bytes(name: str, corpus: Corpus, place: Path, start: int) -> None:
    """Print the outcome of each flip from one on."""
    engine = ENGINES[name]
    load_modules(engine, corpus.rows)
    whole = place / "whole"
    flips = places_to_flip(whole)
    fresh = engine()
    untouched = Path(tempfile.mkdtemp(dir=place))
    shutil.copytree(whole, untouched / "copy")
    fresh.open(untouched / "copy")
    wanted = [fresh.ask(one, K) for one in corpus.questions]
    close(fresh)
    shutil.rmtree(untouched)
    for number in range(start, len(flips)):
        file, at = flips[number]
        folder = Path(tempfile.mkdtemp(dir=place)) / "copy"
        shutil.copytree(whole, folder)
        before = (folder / file).stat()
        data = bytearray((folder / file).read_bytes())
        data[at] ^= 0x55
        (folder / file).write_bytes(data)
        os.utime(folder / file, ns=(before.st_atime_ns, before.st_mtime_ns))
        signal.alarm(WAIT)  # ends a process that hangs
        outcome = _outcome(engine, folder, corpus.questions, wanted)
        signal.alarm(0)
        sys.stdout.write(json.dumps(outcome) + "\n")
        sys.stdout.flush()
        shutil.rmtree(folder.parent, ignore_errors=True)


def _outcome(
    engine: type[Engine], folder: Path, questions: Sequence[Question], wanted: Sequence[Hits]
) -> str:
    one = engine()
    try:
        one.open(folder)
        found = [one.ask(question, K) for question in questions]
        asked = "not seen, same answers" if _is_same(found, wanted) else "other answers"
    except BaseException as error:  # a panic is one, too
        if isinstance(error, KeyboardInterrupt):
            raise
        return "named at once"
    try:
        one.check()
    except UnsupportedError:
        return asked
    except Exception:  # noqa: BLE001  # whatever it is, the damage is named
        return (
            "other answers, named by its check"
            if asked == "other answers"
            else "named by its check"
        )
    finally:
        close(one)
    return asked


def _is_same(found: Sequence[Hits], wanted: Sequence[Hits]) -> bool:
    same, apart = same_answers(found, wanted)
    return same == 1 and apart <= TOLERANCE


def close(one: Engine) -> None:
    """Close what has to be closed before another opens the folder."""
    base = getattr(one, "base", None)
    if base is not None:
        base.close()


def write_until_killed(name: str, corpus: Corpus, folder: Path, start: int) -> None:
    """Add one document after another, and print the number of each that is durable."""
    engine, first_id = ENGINES[name], len(corpus.rows)
    load_modules(engine, corpus.rows)
    one = engine()
    one.open(folder)
    sys.stdout.write("open\n")
    sys.stdout.flush()
    number = start
    while True:
        one.add([new_row(number, first_id + number)])
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        number += 1


def try_kills(name: str, corpus_file: Path, place: Path, kills: int) -> dict[str, str]:
    """Return how many of the kills have lost what was added, or left what cannot be opened."""
    engine, corpus = ENGINES[name], Corpus.load(corpus_file)
    load_modules(engine, corpus.rows)
    folder, first_id = place / "killed", len(corpus.rows)
    close(build_in(engine, folder, corpus.rows))
    chance, lost, torn, acknowledged, pace = random.Random(7), 0, 0, 0, 0.1
    following, reasons = 0, Counter[str]()
    for _ in range(kills):
        saved, pace = _kill_one(name, corpus_file, folder, following, chance, pace)
        acknowledged += len(saved)
        last = max([following - 1, *saved])
        looked = _look(name, corpus_file, folder, last, first_id)
        if looked["torn"]:
            torn += 1
            reasons[str(looked["torn"])[:60]] += 1
            shutil.rmtree(folder)
            close(build_in(engine, folder, corpus.rows))
            following = 0
            continue
        lost += bool(looked["lost"])
        following = last + 1 + bool(looked["next"])
    well = not (lost or torn)
    text = f"{kills} kills over {acknowledged} additions: {lost} lost, {torn} torn"
    why = "".join(f" ({reason})" for reason, _ in reasons.most_common(1))
    return {"kills": f"{YES if well else NO}: {text}{why}"}


def _kill_one(
    name: str, corpus_file: Path, folder: Path, start: int, chance: random.Random, pace: float
) -> tuple[list[int], float]:
    """Return the numbers that a writer said were saved before it was killed, and its pace."""
    with subprocess.Popen(
        step_command("write", name, corpus_file, folder, start),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=one_thread(),
    ) as process:
        assert process.stdout is not None
        if process.stdout.readline() != "open\n":
            return [], pace
        began, saved = time.perf_counter(), [int(process.stdout.readline() or start - 1)]
        pace = (pace + time.perf_counter() - began) / 2
        time.sleep(chance.uniform(0, 3 * pace))
        process.kill()
        saved += [int(line) for line in process.stdout if line.endswith("\n")]
    return saved, pace


def _look(name: str, corpus_file: Path, folder: Path, last: int, first_id: int) -> dict[str, Any]:
    """Return what a new process finds after a kill."""
    done = subprocess.run(
        step_command("look", name, corpus_file, folder, last),
        capture_output=True,
        text=True,
        check=False,
        timeout=10 * WAIT,
        env=one_thread(),
    )
    if done.returncode:
        line = (done.stderr.strip() or f"ended by {-done.returncode}").splitlines()[-1]
        return {"torn": line}
    looked: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return looked


def look(name: str, corpus: Corpus, folder: Path, last: int) -> dict[str, Any]:
    """Return whether all that was added up to a number is there, and nothing half.

    Every passage of the beginning is still found by its own words; so is each that was added.
    """
    engine, first_id = ENGINES[name], len(corpus.rows)
    load_modules(engine, corpus.rows)
    one = engine()
    one.open(folder)
    expected = [new_row(number, first_id + number) for number in range(last + 2)]
    there = []
    for number, row in enumerate(expected):
        found = one.ask(question_for(row, number), 1)
        there.append(bool(found) and found[0][0] == row.id)
    begun = [one.ask(Question(row.text, row.vector, row.id), K) for row in corpus.rows[:20]]
    pairs = zip(corpus.rows, begun, strict=False)
    found_again = [any(id == row.id for id, _ in hits) for row, hits in pairs]
    torn = "" if all(found_again) else "passages of the beginning are gone"
    return {"lost": not all(there[: last + 1]), "next": there[last + 1], "torn": torn}
