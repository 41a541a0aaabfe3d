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
    """

    kills: int = 0
    acknowledged: int = 0
    unfinished: int = 0
    lost: int = 0
    torn: int = 0
    unreadable: tuple[str, ...] = ()


def kill_savers(folder: Path, kills: int, seed: int) -> Kills:
    """Kill one saver after another, and open what it leaves after every kill.

    Args:
        folder: Where they save; the files pile up in it, so a few hundred kills are enough for one.
        kills: How many.
        seed: Of the moments.
    """
    found, last, pace = Kills(kills), 0, None
    embed = runpy.run_path(str(PROGRAM))["embed"]
    chance = random.Random(seed)
    saver = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(folder)],
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
            time.sleep(chance.uniform(0.0, 3 * pace))
            os.kill(child, signal.SIGKILL)
            while (line := saver.stdout.readline().split()) != ["dead"]:
                finished.append(int(line[1]))
            found.acknowledged += len(finished)
            last = max([last, *finished])
            found.unfinished += _has_unfinished(folder)
            last = _look(folder, embed, last, found)
        saver.stdin.close()
    return found


def _started(output) -> tuple[int, list[int]]:
    """Return the child's process id and the saves that it finished before its parent named it."""
    finished: list[int] = []
    while (line := output.readline().split())[0] != "pid":
        finished.append(int(line[1]))
    return int(line[1]), finished


def _time_of_a_save(output, finished: list[int]) -> float:
    """Let the first child save until two saves have been waited for; return the last one's time."""
    began = 0.0
    for _ in range(2):
        began = time.perf_counter()
        finished.append(int(output.readline().split()[1]))
    return time.perf_counter() - began


def _has_unfinished(folder: Path) -> bool:
    begun = {file.name.split("-")[-2] for file in (folder / "data").iterdir()}
    return len(begun) > len(generations(folder))


def _look(folder: Path, embed, last: int, found: Kills) -> int:
    """Open what is there, count what is wrong, and return the number of the last save."""
    try:
        index = Index.load(folder, embedder=embed, verify="full")
    except (OSError, ValueError) as error:
        if last:  # before the first save has returned there may be nothing
            found.unreadable = (*found.unreadable, str(error))
        return last
    k = int(index.skipped[0][1])
    found.lost += k < last
    found.torn += k > last + 1 or len(index) != k % 200 + 1
    return max(k, last)
