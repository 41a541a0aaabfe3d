"""`clew index` ended at random moments while it reads a folder: what the next run makes is the same index, byte for byte.

    python -m tests.reliability.kills_while_reading FOLDER [--ends 20] [--longest 12]

Each index is begun up to four times and ended within `--longest` seconds by SIGKILL, SIGINT or SIGTERM, with what is
read written as it comes, and then made to the end. It is compared with one that nobody disturbed, and nothing of what
was kept is to be left.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

RUN = """
import sys
from clew.cli import main, resuming
resuming.INTERVAL, resuming.MAX_SHARE = 0.0, float("inf")
sys.exit(main())
"""
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
BEGUN = 4  # times that an index is begun at most
GOES_ON = "not read again"


def contents(index: Path) -> dict[str, bytes]:
    """Return the bytes of the arrays of a saved index, by their names."""
    return {file.name.split("-")[0]: file.read_bytes() for file in (index / "data").iterdir()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ends", type=int, default=20)
    parser.add_argument("--longest", type=float, default=12.0)
    options = parser.parse_args()
    moments, ended, went_on, indexes, different = random.Random(0), 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        script, cache = place / "clew", place / "cache"
        script.write_text(RUN, encoding="utf-8")  # goes by the name of the command, as Ctrl-C asks
        environment = os.environ | {"CLEW_CACHE": str(cache)}

        def start(output: Path) -> subprocess.Popen[str]:
            command = [sys.executable, script, "index", options.folder, "-o", output]
            return subprocess.Popen(
                [*map(str, command)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
            )

        start(place / "plain.clew").communicate()
        expected = contents(place / "plain.clew")
        while ended < options.ends:
            output = place / f"{indexes}.clew"
            for _ in range(BEGUN):
                process = start(output)
                try:
                    errors = process.communicate(timeout=moments.uniform(0.5, options.longest))[1]
                except subprocess.TimeoutExpired:
                    process.send_signal(moments.choice(SIGNALS))
                    errors = process.communicate()[1]
                    ended += 1
                went_on += GOES_ON in errors
            last = start(output)
            went_on += GOES_ON in last.communicate()[1]
            if last.returncode:
                raise RuntimeError(f"the last run ended with exit code {last.returncode}")
            indexes, different = indexes + 1, different + (contents(output) != expected)
            if cache.exists() and (left := [*cache.iterdir()]):
                raise RuntimeError(f"{left} is left in the cache")
    print(f"{ended} runs ended, {went_on} went on, {indexes} indexes, {different} different")


if __name__ == "__main__":
    main()
