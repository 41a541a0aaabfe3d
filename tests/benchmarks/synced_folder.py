"""A folder that is indexed again: seconds of `clew index` at first, again, and after one edit.

    python -m tests.benchmarks.synced_folder --folder FOLDER
    python -m tests.benchmarks.synced_folder --folder FOLDER --before CHECKOUT

FOLDER is copied, and the command reads the copy with names, in processes of its own: once into a
new index, then again, then after one line was added to its largest file but nine, and so on. Seconds
are of the clock and of the processor, the medians of the rounds. With the folder of another checkout
of clew, each round is done by both, one after the other, since a machine is now busy and now not.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.benchmarks.checkouts import parser_of, sources_of

SETTLED = 2.5  # seconds after which a file counts as one that nobody is writing
SMOKE = "--folder {folder} --rounds 1"


def timed(source: Path, folder: Path, output: Path) -> tuple[float, float]:
    """Return the seconds of the clock and of the processor of `clew index FOLDER`.

    Args:
        source: Where the package is.
        folder: What is read.
        output: Where the index is saved.
    """
    command = [sys.executable, "-m", "clew", "index", str(folder), "--names", "-o", str(output)]
    # The bytes of compiled modules are kept, as they are where a package is installed.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(source)}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of the command after the first")
    options = parser.parse_args()
    sources = sources_of(options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "folder")
        shutil.copytree(options.folder, folder)
        files = sorted((file for file in folder.rglob("*") if file.is_file()), key=size_of)
        edited = files[-min(10, len(files))]
        print(f"{len(files):,} files, {sum(map(size_of, files)) / 1e6:.1f} MB")
        took: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for number in range(options.rounds + 1):
            for kind in ("at first",) if number == 0 else ("again", "after one edit"):
                if kind == "after one edit":
                    with edited.open("a", encoding="utf-8") as file:
                        file.write(f"\n# Note {number} is of this round.\n")
                time.sleep(SETTLED)
                for version, source in sources.items():
                    figures = timed(source, folder, Path(name, version))
                    took.setdefault((version, kind), []).append(figures)
        for (version, kind), figures in took.items():
            wall, processor = (median(column) for column in zip(*figures, strict=True))
            print(f"{version}, {kind}: {wall:.2f} s, {processor:.2f} s of the processor")


def size_of(file: Path) -> int:
    return file.stat().st_size


if __name__ == "__main__":
    main()
