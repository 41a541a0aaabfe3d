"""A question keeps one core busy: BLAS shares small products among all, and its threads then spin."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ASK = """
import time
from clew import Document, Index, Names
from clew.algorithms.kernels import compiler
from clew.deadline import Deadline

names = ["Anna Bell", "Ben Carter", "Corfu", "Delphi", "Emma Dale", "Fort Grey"]
texts = [
    f"{names[i % 6]} met {names[i * 5 % 7 % 6]} in year {i} beside harbour {i % 97}, port {i * i}."
    for i in range(10_000)
]
index = Index.from_documents(
    [Document(id=str(i), text=text) for i, text in enumerate(texts)], extractor=Names()
)
for recipe in ("bm25", "dense", "fused", "hipporag", "agrag", "mmr"):
    for warm in range(2):
        index.ask("Where did Anna Bell meet Ben Carter?", recipe=recipe)
    compiler.finish(Deadline.after(60))
    index.ask("Where did Anna Bell meet Ben Carter?", recipe=recipe)
    time.sleep(0.1)
    whole, own = time.process_time(), time.thread_time()
    for year in range(20):
        index.ask(f"Whom did Emma Dale meet in year {year}?", recipe=recipe)
    print(recipe, (time.process_time() - whole) / (time.thread_time() - own))
"""


@pytest.mark.slow
def test_a_question_keeps_one_core_busy() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    cores = {name: float(ratio) for name, ratio in map(str.split, done.stdout.splitlines())}
    assert len(cores) == 6
    assert max(cores.values()) < 1.3, cores
