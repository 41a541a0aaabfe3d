"""The checklist of reliability: every risk, what was run against it, and the figure.

    python -m tests.reliability.checklist            all, in at most ten minutes on two quiet cores
    python -m tests.reliability.checklist --short    all, in a minute or less
    python -m tests.reliability.checklist 3 9 14     these rows

Each row is checked in a process of its own, two at a time. The exit code is 1 where one fails.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import pkgutil
import shutil
import sys
import tempfile
import textwrap
import time
import traceback
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tests.reliability import rows
from tests.reliability.rows.row import Finding, Row

PROCESSES = 2
WIDTH = 100


class Checked(NamedTuple):
    """A row, what was found for it, and how long that took.

    Attributes:
        row: The row.
        finding: What was found.
        seconds: How long it took.
        of_processor: Seconds of processor time, which a busy machine moves less.
    """

    row: Row
    finding: Finding
    seconds: float
    of_processor: float

    @property
    def verdict(self) -> str:
        """The row's last word."""
        if self.finding.failures:
            return "FAILED"
        return "ok" if self.finding.figure else "not applicable"

    @property
    def time(self) -> str:
        """How long it took, in words."""
        return f"({self.seconds:.1f} s, {self.of_processor:.1f} s of processor time)"

    def __str__(self) -> str:
        row, finding = self.row, self.finding
        parts = [f"{row.number:2d} {row.risk}: {self.verdict} {self.time}"]
        parts += [f"ran: {finding.ran}"] if finding.ran else []
        parts += [f"figure: {finding.figure}"] if finding.figure else []
        if finding.not_applicable:
            parts.append(f"not applicable: {finding.not_applicable}")
        parts += [f"FAILED: {failure}" for failure in finding.failures]
        head, *rest = (textwrap.fill(p, WIDTH, subsequent_indent=" " * 5) for p in parts)
        return "\n".join([head, *(textwrap.indent(line, "   ") for line in rest)])


def all_rows() -> list[Row]:
    """Return the rows of all modules in `rows`, by their numbers."""
    modules = [
        importlib.import_module(f"{rows.__name__}.{found.name}")
        for found in pkgutil.iter_modules(rows.__path__)
    ]
    found = [row for module in modules for row in getattr(module, "ROWS", ())]
    return sorted(found, key=lambda row: row.number)


def _checked(arguments: tuple[Row, bool, str]) -> Checked:
    """Check a row in a folder of its own."""
    row, short, folder = arguments
    own = os.path.join(folder, str(row.number))  # noqa: PTH118  # for tempfile, as a string
    os.mkdir(own)  # noqa: PTH102  # likewise
    tempfile.tempdir, began = own, time.perf_counter()
    try:
        finding = row.check(short)
    except BaseException as error:  # noqa: BLE001  # whatever it is, the row failed
        traceback.print_exc()
        finding = Finding("", "", (f"{type(error).__name__}: {error}",))
    shutil.rmtree(own, ignore_errors=True)
    return Checked(row, finding, time.perf_counter() - began, _processor_seconds())


def _processor_seconds() -> float:
    """Return the processor time of this process and of those that it started."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def check(chosen: Sequence[Row], short: bool) -> Iterable[Checked]:
    """Yield the rows as they are done, the longest first."""
    longest_first = sorted(chosen, key=lambda row: -row.seconds)
    with tempfile.TemporaryDirectory() as folder:
        tasks = [(row, short, folder) for row in longest_first]
        forked = multiprocessing.get_context("fork")
        with forked.Pool(PROCESSES, maxtasksperchild=1) as pool:
            yield from pool.imap_unordered(_checked, tasks, chunksize=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checklist, print the table, and return the exit code."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("numbers", nargs="*", type=int, help="rows; all of them by default")
    parser.add_argument("--short", action="store_true", help="in a minute or less")
    options = parser.parse_args(arguments)
    chosen = [row for row in all_rows() if not options.numbers or row.number in options.numbers]
    began, done = time.perf_counter(), list[Checked]()
    for checked in check(chosen, options.short):
        done.append(checked)
        print(f"{len(done)}/{len(chosen)}: row {checked.row.number} {checked.verdict}, "
              f"{checked.seconds:.1f} s", file=sys.stderr)  # fmt: skip
    print("\n".join(str(checked) for checked in sorted(done, key=lambda each: each.row.number)))
    failed = [checked.row.number for checked in done if checked.finding.failures]
    form = "short" if options.short else "full"
    of_processor = sum(checked.of_processor for checked in done)
    print(
        f"{len(done)} rows, {len(failed)} failed, {time.perf_counter() - began:.0f} s, "
        f"{of_processor:.0f} s of processor time ({form})"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
