"""Kills a process that saves, many times at random moments, and looks at what is left."""

from __future__ import annotations

import os
import random
import runpy
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from clew import Index
from clew.store.manifest import generations

PROGRAM = Path(__file__).with_name("saver.py")


@dataclass
class Kills:
    """What became of a folder whose savers were killed.

    Attributes:
        kills: How many savers were killed.
        acknowledged: The saves that had returned before.
        unfinished: The kills that left files of a save that was not finished.
        lost: The kills after which a save that had returned was not there.
        torn: The kills after which an index opened that no one had saved.
        unreadable: The kills after which nothing could be opened, each with the reason.
        changes: The kills after which the newest generation is a change.
    """

    kills: int = 0
    acknowledged: int = 0
    unfinished: int = 0
    lost: int = 0
    torn: int = 0
    unreadable: tuple[str, ...] = ()
    changes: int = 0


def kill_savers(folder: Path, kills: int, seed: int, kind: str = "whole") -> Kills:
    """Kill one saver after another, and open what it leaves after every kill.

    Args:
        folder: Where they save; the files pile up in it, so a few hundred kills are enough for one.
        kills: How many.
        seed: Of the moments.
        kind: "whole", or "changes" for indexes that are changed in place and saved as changes.
    """
    found, last, pace = Kills(kills), 0, None
    embed = runpy.run_path(str(PROGRAM))["embed"]
    chance = random.Random(seed)
    saver = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(folder), kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    with saver:
        assert saver.stdout.readline() == "ready\n"
        for _ in range(kills):
            print(last + 1, file=saver.stdin, flush=True)
            child, finished = _started(saver.stdout)
            if pace is None:
                pace = _time_of_a_save(saver.stdout, finished)
            most = 3 if kind == "whole" else 20  # the first change after opening takes longer
            time.sleep(chance.uniform(0.0, most * pace))
            os.kill(child, signal.SIGKILL)
            while (line := saver.stdout.readline().split()) != ["dead"]:
                finished.append(int(line[1]))
            found.acknowledged += len(finished)
            last = max([last, *finished])
            found.unfinished += _has_unfinished(folder)
            last = _look(folder, embed, last, found, kind)
        saver.stdin.close()
    return found


def _started(output) -> tuple[int, list[int]]:
    """Return the child's process id and the saves that it finished before its parent named it."""
    finished: list[int] = []
    while (line := output.readline().split())[0] != "pid":
        finished.append(int(line[1]))
    return int(line[1]), finished


def _time_of_a_save(output, finished: list[int]) -> float:
    """Let the first child save until several saves have been waited for; return the time of one."""
    finished.append(int(output.readline().split()[1]))
    began, n = time.perf_counter(), 8  # of one alone the line may be there already
    finished += [int(output.readline().split()[1]) for _ in range(n)]
    return (time.perf_counter() - began) / n


def _has_unfinished(folder: Path) -> bool:
    begun = {file.name.split("-")[-2] for file in (folder / "data").iterdir()}
    return len(begun) > len(generations(folder))


def _look(folder: Path, embed, last: int, found: Kills, kind: str) -> int:
    """Open what is there, count what is wrong, and return the number of the last save."""
    try:
        index = Index.load(folder, embedder=embed, verify="full")
    except (OSError, ValueError) as error:
        if last:  # before the first save has returned there may be nothing
            found.unreadable = (*found.unreadable, str(error))
        return last
    k = int(index.skipped[0][1])
    found.lost += k < last
    length = k % 200 + 1 if kind == "whole" else 300 + min(k, 5)
    found.torn += k > last + 1 or len(index) != length
    found.changes += any((folder / "data").glob(f"changes-{max(generations(folder)):08d}-*"))
    return max(k, last)
