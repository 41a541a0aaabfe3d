"""`clew index`: read once, ask often."""

from __future__ import annotations

import argparse
import time

from clew.cli.source import made
from clew.cli.terminal import say


def index(options: argparse.Namespace) -> int:
    """Make and save an index, and say what is in it."""
    from clew.store import is_index

    if options.output.exists() and not is_index(options.output) and (options.output.is_file() or any(options.output.iterdir())):
        raise ValueError(f"{options.output} exists and is not an index: name an index or a new folder after -o")
    begun = time.perf_counter()
    built = made(options)
    built.save(options.output)
    seconds = time.perf_counter() - begun
    kinds = ", ".join(f"{len(rows):,} {_several(kind)}" for kind in KINDS if len(rows := built.graph.rows(kind)))
    say(f"{options.output}: {len(built):,} documents ({kinds}; {len(built.graph.edges):,} edges) in {seconds:.1f} s")
    say(f'ask it: clew ask {options.output} "..."')
    return 0


KINDS = ("section", "passage", "sentence", "entity")


def _several(kind: str) -> str:
    return "entities" if kind == "entity" else f"{kind}s"
