"""`clew cache`: the indexes of folders that were asked before, and copies of a storage's."""

from __future__ import annotations

import argparse
from pathlib import Path

from clew.cli.parser import Commands, add_command
from clew.cli.terminal import print_remark, print_result
from clew.storage.address import is_storage, without_password
from clew.user_cache import cache_root, cached_folders, clear

EXAMPLES = """examples:
  clew cache                    what is in the cache, and where it is
  clew cache --clear docs/      forget a folder, or the copy of s3://bucket/docs
  clew cache --clear            forget all

`clew ask FOLDER` keeps the index of the folder there, with its text; only you may read it. So does
an index in a storage (s3://bucket/docs), of which files are copied there, and what a run that was
interrupted has read, until the index is saved. What was not used for two months goes by itself.
CLEW_CACHE names another place, `clew ask --no-cache` keeps no folder."""

ALL = ""


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "show or clear the indexes that `clew ask FOLDER` keeps"
    parser = add_command(commands, "cache", summary, EXAMPLES, cache)
    parser.add_argument(
        "--clear",
        nargs="?",
        const=ALL,
        metavar="FOLDER|ADDRESS",
        help="forget this folder or address, or all of them",
    )


def cache(options: argparse.Namespace) -> int:
    """Print what is in the cache, or what was deleted of it."""
    if options.clear is not None:
        gone = clear(_source_of(options.clear))
        freed = sum(folder.bytes for folder in gone)
        if not gone and options.clear != ALL:
            print_remark(f"nothing is kept of {options.clear}: `clew cache` lists what is")
        print_result(f"{len(gone):,} indexes deleted, {freed / 1e6:,.1f} MB")
        return 0
    folders = cached_folders()
    total = sum(folder.bytes for folder in folders)
    print_result(f"{cache_root()}: {len(folders):,} indexes, {total / 1e6:,.1f} MB")
    for folder in folders:
        what = ", files that an interrupted run has read" if folder.is_interrupted else ""
        print_result(
            f"  {folder.source}: {folder.bytes / 1e6:,.1f} MB{what}, "
            f"used {folder.days:.0f} days ago"
        )
    return 0


def _source_of(typed: str) -> str | None:
    """Return what is to be forgotten, as the cache names it; None for all."""
    if typed == ALL:
        return None
    if is_storage(typed):
        return without_password(typed.rstrip("/"))
    return str(Path(typed).expanduser().resolve())
