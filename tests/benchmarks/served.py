"""Many askers at one server while documents come and go: latency, errors, memory.

    python -m tests.benchmarks.served --folder FOLDER
    python -m tests.benchmarks.served --folder FOLDER --minutes 10 --askers 50

`clew serve` reads a copy of FOLDER in a process of its own. So many askers, each with a connection
that stays open, send one question after the other, words of the folder's own passages, without a
pause. One more adds a document, changes it, deletes it, and has the folder read again in which a file
has changed, one of these each `--pause` seconds. Seconds are of the clock, as an asker waits; a question
that is refused with 503, as too many wait, is counted by itself and sent again. Memory and processor time
are those of the server, from /proc. The first figures of memory come after 10 questions of each asker.
The exit status is 1 where a question or a change ended in an error.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from clew.read import load_documents
from clew.text.words import words

SMOKE = "--folder {folder} --minutes 0.1 --askers 3 --pause 0.5"
PERCENTILES = (50, 90, 99, 99.9)
N_QUESTIONS, N_WORDS = 500, 6
WARM = 10  # questions of each asker before memory is noted for the first time
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Load:
    """What all askers have seen."""

    address: tuple[str, int]
    end: float
    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int | str] = field(default_factory=Counter)
    changes: Counter[int | str] = field(default_factory=Counter)
    change_seconds: list[float] = field(default_factory=list)

    def ask(self, questions: list[str], seed: int) -> None:
        """Ask until the time is over."""
        draw = random.Random(seed)
        connection = http.client.HTTPConnection(*self.address, timeout=120)
        while time.monotonic() < self.end:
            begin = time.monotonic()
            status = call(connection, "POST", "/api/ask", {"question": draw.choice(questions)})
            self.statuses[status] += 1
            if status == 200:
                self.seconds.append(time.monotonic() - begin)
            elif status == 503:
                time.sleep(1)
        connection.close()

    def change(self, folder: Path, pause: float) -> None:
        """Change the index until the time is over."""
        connection = http.client.HTTPConnection(*self.address, timeout=120)
        for number in itertools.count():
            if time.monotonic() + pause > self.end:
                break
            time.sleep(pause)
            begin = time.monotonic()
            self.changes[call(connection, *self.next_change(folder, number))] += 1
            self.change_seconds.append(time.monotonic() - begin)
        connection.close()

    def next_change(self, folder: Path, number: int) -> tuple[str, str, dict[str, Any]]:
        step, id = number % 4, f"change-{number // 4}"
        text = f"Note {number}. The red buoy number {number} lies north of the harbour."
        if step == 3:
            (folder / "changed-by-the-benchmark.md").write_text(text, encoding="utf-8")
            return "POST", "/api/sync", {}
        if step == 2:
            return "DELETE", "/api/documents", {"ids": [id]}
        body = {"documents": [{"id": id, "text": text}], "replace": step == 1}
        return "POST", "/api/documents", body


def call(
    connection: http.client.HTTPConnection, method: str, path: str, body: dict[str, Any]
) -> int | str:
    """Return the status of a request, or what kind of error it ended in."""
    try:
        connection.request(
            method, path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        return type(error).__name__
    return response.status


def drawn_questions(folder: Path) -> list[str]:
    """Return words of passages, as questions."""
    draw = random.Random(0)
    found = [words(document.text) for document in load_documents(folder).documents]
    texts = [some for some in found if len(some) >= N_WORDS]
    if not texts:
        raise ValueError(f"{folder} has no document of {N_WORDS} words")
    questions = []
    for _ in range(N_QUESTIONS):
        text = draw.choice(texts)
        start = draw.randrange(len(text) - N_WORDS + 1)
        questions.append(" ".join(text[start : start + N_WORDS]))
    return questions


def megabytes(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1000


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def started(folder: Path, options: argparse.Namespace) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-m", "clew", "serve", str(folder), "--port", "0", "--writable"]
    command += ["--names", "--no-cache", "--recipe", options.recipe]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    line = server.stdout.readline()
    if "serving" not in line:
        raise ValueError(f"the server of {folder} did not start: {line}")
    return server, int(line.rpartition(":")[2])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--askers", type=int, default=50)
    parser.add_argument("--pause", type=float, default=2, help="seconds between two changes")
    parser.add_argument("--recipe", default="hipporag")
    options = parser.parse_args()
    if not options.folder.is_dir():
        raise ValueError(f"there is no folder {options.folder}")
    questions = drawn_questions(options.folder)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "folder")
        shutil.copytree(options.folder, folder)
        server, port = started(folder, options)
        try:
            load = run(server.pid, port, folder, questions, options)
        finally:
            server.send_signal(signal.SIGINT)
            begin = time.monotonic()
            code = server.wait(60)
            print(f"stopped with {code} in {time.monotonic() - begin:.1f} s")
            server.stdout.close()
    wrong = {status for status in load.statuses if status not in (200, 503)}
    wrong |= {status for status in load.changes if status != 200}
    return int(bool(wrong) or code != 0)


def run(
    process: int, port: int, folder: Path, questions: list[str], options: argparse.Namespace
) -> Load:
    begin, used = time.monotonic(), processor_seconds(process)
    load = Load(("127.0.0.1", port), begin + 60 * options.minutes)
    threads = [
        threading.Thread(target=load.ask, args=(questions, seed)) for seed in range(options.askers)
    ]
    threads.append(threading.Thread(target=load.change, args=(folder, options.pause)))
    print(f"{'seconds':>8} {'answers':>8} {'MB':>7}", flush=True)
    for thread in threads:
        thread.start()
    is_warm, shown = False, begin
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.1)
        now = time.monotonic()
        warm = len(load.seconds) >= WARM * options.askers
        if (warm and not is_warm) or now - shown > 6 * options.minutes:
            is_warm, shown = is_warm or warm, now
            print(
                f"{now - begin:>8.0f} {len(load.seconds):>8,} {megabytes(process):>7.0f}",
                flush=True,
            )
    spent, used = time.monotonic() - begin, processor_seconds(process) - used
    print(f"{spent:>8.0f} {len(load.seconds):>8,} {megabytes(process):>7.0f}")
    report(load, spent, used)
    return load


def report(load: Load, spent: float, used: float) -> None:
    """Print what the askers have seen."""
    answers = len(load.seconds)
    by_status = ", ".join(f"{status}: {count:,}" for status, count in load.statuses.items())
    changes = ", ".join(f"{status}: {count:,}" for status, count in load.changes.items())
    print(f"questions {by_status}; changes {changes or 'none'}")
    print(
        f"{answers / spent:.1f} answers a second; {1000 * used / max(1, answers):.1f} ms of the processor each, changes included"
    )
    for name, seconds in (("question", load.seconds), ("change", load.change_seconds)):
        if seconds:
            shown = (f"p{p:g} {1000 * np.percentile(seconds, p):.0f}" for p in PERCENTILES)
            print(f"milliseconds of a {name}: {', '.join(shown)}")


if __name__ == "__main__":
    raise SystemExit(main())
