"""A new environment: seconds from `pip install` to the first answer of every recipe.

    python -m tests.benchmarks.installed
    python -m tests.benchmarks.installed --recipes dense agrag
    python -m tests.benchmarks.installed --environment FOLDER

A virtual environment is made, and this checkout is installed there with all that it needs, from the
index that pip is configured for. Then each recipe answers a question on the folder `examples/harbour`
in a new process, which has no machine code from an earlier one. Figures are seconds by the clock, and
of the processor in brackets; the first import also compiles Python's own bytecode.

With the folder of an environment, that has clew already, nothing is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
SMOKE = f"--environment {sys.prefix} --recipes dense"
IMPORT = """
import json, time
began = time.perf_counter(), time.process_time()
import clew
print(json.dumps({
    "import": [time.perf_counter() - began[0], time.process_time() - began[1]],
    "recipes": clew.recipes.names(),
}))
"""
ANSWER = """
import json, sys, time
times = [(time.perf_counter(), time.process_time())]
import clew
from pathlib import Path
times.append((time.perf_counter(), time.process_time()))
index = clew.Index.from_documents(Path(sys.argv[1]))
times.append((time.perf_counter(), time.process_time()))
context = index.ask("When does the first ferry leave?", recipe=sys.argv[2], budget=1000)
times.append((time.perf_counter(), time.process_time()))
assert context.items, f"{sys.argv[2]} answers nothing: {context.nothing_found}"
parts = zip(("import", "index", "answer"), times[:-1], times[1:])
print(json.dumps({name: [b - a for a, b in zip(*two)] for name, *two in parts}))
"""


def python_of(environment: Path) -> str:
    """Return the interpreter of a virtual environment."""
    return str(environment / ("Scripts" if os.name == "nt" else "bin") / "python")


def run(python: str, program: str, *arguments: object) -> dict[str, list[float]]:
    """Return what a program prints in a new process that finds no machine code of an earlier one."""
    with tempfile.TemporaryDirectory() as empty:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        done = subprocess.run(
            [python, "-c", program, *map(str, arguments)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            cwd=empty,
            env=kept | {"NUMBA_CACHE_DIR": empty},
        )
        return json.loads(done.stdout)


def install(environment: Path) -> None:
    """Make a virtual environment and install this checkout there; print how long each takes."""
    began = time.perf_counter()
    venv.create(environment, with_pip=True)
    made = time.perf_counter()
    command = [python_of(environment), "-m", "pip", "install", "--quiet", "--no-cache-dir", ROOT]
    subprocess.run(command, check=True)
    print(f"environment {made - began:.1f}, install {time.perf_counter() - made:.1f}")


def shown(part: str, seconds: list[float]) -> str:
    """Return the seconds of a part by the clock, and of the processor in brackets."""
    clock, processor = seconds
    return f"{part} {clock:.2f} ({processor:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipes", nargs="+", help="the recipes that answer; all by default")
    parser.add_argument("--environment", type=Path, help="one that has clew, in place of a new one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = options.environment
        if environment is None:
            environment = Path(folder, "environment")
            install(environment)
        python = python_of(environment)
        first = run(python, IMPORT)
        print(shown("first import", first["import"]))
        for recipe in options.recipes or first["recipes"]:
            took = run(python, ANSWER, ROOT / "examples" / "harbour", recipe)
            print(f"{recipe}: {', '.join(shown(*part) for part in took.items())}", flush=True)


if __name__ == "__main__":
    main()
