"""`clew check`: hash and read every file of a saved index, and name what is damaged."""

from __future__ import annotations

import argparse
from pathlib import Path

from clew.cli.parser import Commands, add_command
from clew.cli.terminal import print_result
from clew.store import check as check_index

EXAMPLES = """examples:
  clew check docs.clew

The exit code is 1 if a generation is damaged. Neither the embedder nor a model is needed."""

DAMAGED = 1


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "hash every file of a saved index, and name what is damaged"
    parser = add_command(commands, "check", summary, EXAMPLES, check)
    parser.add_argument("index", type=Path, metavar="DIR", help="a saved index")


def check(options: argparse.Namespace) -> int:
    """Print what was found of each generation, and return 1 if one is damaged."""
    generations = check_index(options.index)
    for found in generations:
        whole = f"whole ({found.files:,} files, {found.bytes:,} bytes)"
        print_result(f"generation {found.generation}: {found.damage or whole}")
    return DAMAGED if any(found.damage for found in generations) else 0
