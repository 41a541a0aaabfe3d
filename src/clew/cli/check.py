"""`clew check`: hash and read every file of a saved index, and name what is damaged."""

from __future__ import annotations

import argparse

from clew.cli.databases import place_of_index, shown
from clew.cli.parser import Commands, add_command
from clew.cli.terminal import print_result
from clew.index.saving import is_remote
from clew.storage import is_storage
from clew.store import check as check_index

EXAMPLES = """examples:
  clew check docs.clew
  clew check s3://bucket/docs        reads every file of the storage

The exit code is 1 if a generation is damaged. Neither the embedder nor a model is needed."""

DAMAGED = 1


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "hash every file of a saved index, and name what is damaged"
    parser = add_command(commands, "check", summary, EXAMPLES, check)
    parser.add_argument("index", type=place_of_index, metavar="DIR", help="a saved index")


def check(options: argparse.Namespace) -> int:
    """Print what was found of each generation, and return 1 if one is damaged.

    Raises:
        ValueError: It is an index in a database.
    """
    if isinstance(options.index, str) and is_remote(options.index):
        raise ValueError(
            f"{shown(options.index)} has no files to hash: its database checks what it holds"
        )
    if is_storage(options.index):
        from clew.storage.replica import check_published

        generations = check_published(options.index)
    else:
        generations = check_index(options.index)
    for found in generations:
        whole = f"whole ({found.files:,} files, {found.bytes:,} bytes)"
        print_result(f"generation {found.generation}: {found.damage or whole}")
    return DAMAGED if any(found.damage for found in generations) else 0
