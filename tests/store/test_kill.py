"""Whoever is killed while saving loses nothing that was saved, and leaves nothing half saved."""

from __future__ import annotations

import os
import random
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clew import Index
from clew.store.manifest import generations

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="the saver is forked, to be killed many times in little time"
)


@pytest.mark.parametrize("kills", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_a_killed_save_leaves_the_last_state_or_the_next(tmp_path, kills):
    program = Path(__file__).with_name("saver.py")
    embed = runpy.run_path(str(program))["embed"]
    saver = subprocess.Popen(
        [sys.executable, str(program), str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    chance, last, unfinished, pace, began = random.Random(7), 0, 0, None, 0.0
    with saver:
        assert saver.stdout.readline() == "ready\n"
        for _ in range(kills):
            print(last + 1, file=saver.stdin, flush=True)
            child, said = None, []
            while child is None:  # its first words may come before its parent's
                words = saver.stdout.readline().split()
                child, said = (int(words[1]), said) if words[0] == "pid" else (None, [*said, words])
            while pace is None:  # the first is let save twice, to learn how long it takes here
                said.append(saver.stdout.readline().split())
                began, pace = (
                    (time.perf_counter(), None)
                    if len(said) == 1
                    else (began, time.perf_counter() - began)
                )
            time.sleep(chance.uniform(0.0, 3 * pace))
            os.kill(child, signal.SIGKILL)
            while (words := saver.stdout.readline().split()) != ["dead"]:
                said.append(words)
            last = max([last, *(int(k) for _, k in said)])
            unfinished += len(
                {file.name.split("-")[-2] for file in (tmp_path / "data").iterdir()}
            ) > len(generations(tmp_path))
            index = Index.load(tmp_path, embedder=embed, verify="full")
            k = int(index.skipped[0][1])
            assert k in (last, last + 1), (
                "what was said to be saved is there; what is newer is whole"
            )
            assert len(index) == k % 200 + 1
            last = k
        saver.stdin.close()
    assert last > 1, "no save was let finish"
    assert unfinished, "no kill hit a save"
