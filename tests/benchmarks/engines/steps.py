"""Each step of the comparison is a process: python -m tests.benchmarks.engines.steps STEP ENGINE CORPUS PLACE START"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.engines import promises
from tests.benchmarks.engines.engine import Engine
from tests.benchmarks.engines.figures import (
    ENGINES,
    Corpus,
    load_modules,
    measure_asking,
    measure_building,
    new_row,
    one_thread,
    step_command,
)


def run_step(step: str, engine: str, corpus: Path, place: Path) -> dict[str, Any]:
    """Return what a step finds.

    Raises:
        RuntimeError: It failed; the message has the end of what it said.
    """
    command = step_command(step, engine, corpus, place)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=one_thread())
    if done.returncode:
        raise RuntimeError(f"{engine} failed to {step}:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def add_one(engine: type[Engine], corpus: Corpus, place: Path) -> dict[str, Any]:
    """Add a document to an index that is there; `strace` looks on."""
    load_modules(engine, corpus.rows)
    one = engine()
    one.open(place)
    sys.stderr.write("begin\n")  # seen among the calls of the system
    sys.stderr.flush()
    one.add([new_row(99, len(corpus.rows) + 99)])
    return {}


def main() -> None:
    step, name, corpus_file, folder, first = sys.argv[1:]
    engine, corpus, place = ENGINES[name], Corpus.load(Path(corpus_file)), Path(folder)
    if step == "flips":
        promises.flip_bytes(name, corpus, place, int(first))
    elif step == "write":
        promises.write_until_killed(name, corpus, place, int(first))
    else:
        steps: dict[str, Callable[[], dict[str, Any]]] = {
            "build": lambda: measure_building(engine, corpus, place),
            "ask": lambda: measure_asking(engine, corpus, place),
            "add": lambda: add_one(engine, corpus, place),
            "filter": lambda: promises.try_filters(engine, corpus, place),
            "ties": lambda: promises.try_ties(engine, corpus, place),
            "look": lambda: promises.look(name, corpus, place, int(first)),
        }
        sys.stdout.write(json.dumps(steps[step]()) + "\n")


if __name__ == "__main__":
    main()
