"""Fuzzing by coverage: bytes that lead to new lines of code are kept and changed further.

    python -m tests.reliability.fuzz                      the names of the targets
    python -m tests.reliability.fuzz markdown --minutes 5
    python -m tests.reliability.fuzz all --minutes 60     one target after another

It needs `pip install atheris`. What crashes or hangs a target is written to `findings/TARGET/`,
which `test_findings.py` runs again. A line for each target is added to `fuzz.log`, beside the
corpus, in the folder that `--corpus` names.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

FINDINGS = Path(__file__).with_name("findings")
MODULES = ["clew.read", "clew.text", "clew.store", "clew.model", "clew.documentation", "clew.render",
           "clew.cite", "clew.recipe_files", "clew.index.filtering", "langchain_clew.filters",
           "llama_index.retrievers.clew.filters", "markdown_it", "pypdf"]  # fmt: skip
MAX_LENGTH = 4096
LONGEST_RUN = 60  # seconds, above which an input counts as a hang; the machine may be busy
MAX_MEMORY = 4096  # MB


def fuzz(name: str, corpus: Path, seconds: int) -> None:
    """Fuzz a target in this process, until it is over: libFuzzer does not return."""
    import atheris

    with atheris.instrument_imports(include=MODULES, enable_loader_override=False):
        from tests.reliability.fuzz_targets import check, targets
    target, folder, found = targets()[name], corpus / name, FINDINGS / name
    folder.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (folder / f"seed-{number}").write_bytes(seed)
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={MAX_LENGTH}",
        f"-timeout={LONGEST_RUN}",
        f"-rss_limit_mb={MAX_MEMORY}",
        f"-artifact_prefix={found}/",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(folder)], lambda data: check(target, data))
    atheris.Fuzz()


def fuzz_apart(name: str, corpus: Path, seconds: float) -> bool:
    """Fuzz a target in another process, and again after each finding; return whether it was well."""
    end, executions, findings, began = time.monotonic() + seconds, 0, 0, time.monotonic()
    of_processor = _processor_seconds()
    while (left := end - time.monotonic()) > 1:
        command = [sys.executable, "-m", "tests.reliability.fuzz", name, "--corpus", str(corpus)]
        done = subprocess.run(
            [*command, "--here", str(int(left))], capture_output=True, text=True, check=False
        )
        executions += sum(map(int, re.findall(r"number_of_executed_units: (\d+)", done.stderr)))
        if done.returncode:
            findings += 1
            print(done.stderr[-3000:], file=sys.stderr, flush=True)
            if "Test unit written" not in done.stderr or findings >= 5:
                break
    minutes = (time.monotonic() - began) / 60
    line = (
        f"{name}: {minutes:.1f} minutes, {(_processor_seconds() - of_processor) / 60:.1f} of "
        f"processor time, {executions:,} executions, {findings} findings"
    )
    print(line, flush=True)
    with (corpus / "fuzz.log").open("a") as log:
        print(line, file=log)
    FINDINGS.joinpath(name).rmdir() if not any(FINDINGS.joinpath(name).iterdir()) else None
    return not findings


def _processor_seconds() -> float:
    """Return the processor time of the processes that were started and are over."""
    times = os.times()
    return times.children_user + times.children_system


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz what was named, and return 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", nargs="?", help="a target, several with commas, or all")
    parser.add_argument("--minutes", type=float, default=5.0, help="for each target")
    parser.add_argument("--corpus", type=Path, default=Path(tempfile.gettempdir(), "clew-corpus"))
    parser.add_argument("--here", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.corpus.mkdir(parents=True, exist_ok=True)
    if options.here is not None:
        fuzz(options.target, options.corpus, options.here)
    from tests.reliability.fuzz_targets import targets

    names = list(targets())
    if options.target is None:
        print("\n".join(names))
        return 0
    chosen = names if options.target == "all" else options.target.split(",")
    if unknown := set(chosen) - set(names):
        parser.error(f"{', '.join(sorted(unknown))}: the targets are {', '.join(names)}")
    were_well = [fuzz_apart(name, options.corpus, 60 * options.minutes) for name in chosen]
    return 0 if all(were_well) else 1


if __name__ == "__main__":
    raise SystemExit(main())
