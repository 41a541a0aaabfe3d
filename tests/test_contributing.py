"""CONTRIBUTING.md is followed to the letter in a copy of the package: each block is written where it says, then run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import clew

HOUSE = Path(clew.__file__).parent
PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"
HEADING, BLOCK = (
    re.compile(r"^### (.+)$", re.MULTILINE),
    re.compile(r"```python\n(.*?)```", re.DOTALL),
)
FILE = re.compile(r"# (src/clew/\S+\.py)(, after `(.+)`|, at the end)?\n")


def walkthroughs():
    """The blocks of every section of the page that writes a file of the package."""
    parts = HEADING.split(PAGE.read_text(encoding="utf-8"))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {title: BLOCK.findall(text) for title, text in sections.items() if "# src/clew/" in text}


def write(root, block):
    """Do what one block says: a new file, lines behind a line that is there, or lines at the end."""
    place = FILE.match(block)
    file, lines = root / place[1], block[place.end() :]
    if place[2] is None:
        assert not file.exists(), f"{place[1]} is there already"
        file.write_text(lines, encoding="utf-8")
        return
    text = file.read_text(encoding="utf-8")
    if place[3] is None:
        file.write_text(text + lines, encoding="utf-8")
        return
    assert text.count(place[3] + "\n") == 1, f"{place[3]!r} is not one line of {place[1]}"
    file.write_text(text.replace(place[3] + "\n", place[3] + "\n" + lines), encoding="utf-8")


def test_the_page_is_one_page_with_the_five_walkthroughs():
    assert len(PAGE.read_text(encoding="utf-8").splitlines()) <= 250
    wanted = ("stage", "recipe", "format", "link", "parameter")
    assert all(any(word in title for title in walkthroughs()) for word in wanted)


def test_the_map_has_every_room_and_none_besides():
    table = PAGE.read_text(encoding="utf-8").partition("## The map")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = [room for row in rows for room in re.findall(r"`([^`]+)`", row)]
    there = {f"{path.parent.name}/" for path in HOUSE.glob("*/__init__.py")}
    there |= {path.name for path in HOUSE.glob("[!_]*.py")}
    assert sorted(named) == sorted(there)


@pytest.mark.parametrize("title", walkthroughs())
def test_what_the_page_says_works(title, tmp_path):
    package = tmp_path / "src/clew"  # with its machine code, which need not be compiled again
    shutil.copytree(HOUSE, package, ignore=shutil.ignore_patterns("*.pyc"))
    *blocks, last = walkthroughs()[title]
    for block in blocks:
        write(tmp_path, block)
    assert not last.startswith("# src/"), "the last block tries what was added"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "src"), os.environ.get("PYTHONPATH", "")])
    }
    run = subprocess.run(
        [sys.executable, "-c", last],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    touched = {FILE.match(block)[1] for block in blocks}
    wanted = {"recipe": 1, "format": 2, "link": 2, "parameter": 2}
    assert len(touched) <= next((n for word, n in wanted.items() if word in title), 2)
