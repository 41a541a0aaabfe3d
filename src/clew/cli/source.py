"""What the user names becomes an index: a folder or file is read, a saved index loaded."""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from clew.cli.options import TOKENS
from clew.cli.terminal import remark, watched
from clew.index.index import Index

SLOW = 5.0  # seconds of reading after which saving an index is worth a word


def opened(options: argparse.Namespace) -> Index:
    """Return the index behind `options.source`, saying on stderr how long reading took and what was skipped."""
    from clew.store import is_index

    path = existing(options.source)
    if not is_index(path):
        begun = time.perf_counter()
        index = made(options)
        seconds = time.perf_counter() - begun
        hint = (
            f"; `clew index {options.source} -o DIR` reads it once and for all"
            if seconds > SLOW
            else ""
        )
        remark(
            f"read {len(index):,} documents ({_passages(index):,} passages) in {seconds:.1f} s{hint}"
        )
        return index
    fixed = [name for name in ("tokens", "facts") if getattr(options, name) is not None]
    fixed += [name for name in ("names", "reports", "plain") if getattr(options, name, False)]
    if fixed:
        raise ValueError(
            f"{options.source} is an index, made already: --{fixed[0]} belongs to `clew index`"
        )
    return Index.load(path, embedder=options.embedder)


def made(options: argparse.Namespace, extractor: Any = None) -> Index:
    """Return the index of the folder or file `options.source`. Args: `extractor` reads facts, unless names are wanted."""
    from clew.read import Names, Plain

    index = Index.from_documents(
        existing(options.source),
        embedder=options.embedder,
        facts=None if options.facts is None else facts_of(options.facts),
        extractor=Names() if options.names else extractor,
        splitter=splitter_of(options),
        canonical=Plain() if options.plain else None,
        progress=watched(),
    )
    if getattr(options, "reports", False):
        from clew.generate import Reports

        index = index.generate(Reports(level=None), progress=watched())
    if index.skipped:
        remark(skipped(index.skipped))
    if index.failed:
        (first, reason), n = index.failed[0], len(index.failed)
        remark(
            f"no facts from {n:,} of {_passages(index):,} passages, for instance {first}: {reason}; the same command asks for these again"
        )
    return index


def splitter_of(options: argparse.Namespace) -> Any:
    """Return what cuts documents into passages."""
    from clew.read import Splitter

    return Splitter(tokens=TOKENS if options.tokens is None else options.tokens)


def facts_of(path: Path) -> dict[str, list[Any]]:
    """Return the facts of a JSON file, by document id."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    if not isinstance(facts, dict) or not all(isinstance(said, list) for said in facts.values()):
        raise ValueError(
            f"{path} must hold one JSON object, {{document id: [[subject, relation, object], ...]}}"
        )
    return facts


def skipped(files: tuple[tuple[str, str], ...], names: int = 3) -> str:
    """Return one line on the files that were not read: how many for which reason, and the first names of each."""
    said = []
    for reason, number in Counter(reason for _, reason in files).most_common():
        some = [Path(path).name for path, why in files if why == reason][:names]
        said.append(f"{number:,} {reason} ({', '.join(some)}{', …' if number > names else ''})")
    return f"not read: {'; '.join(said)}"


def existing(source: str) -> Path:
    """Return the path, if something is there."""
    path = Path(source).expanduser()
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {source!r}")
    return path


def _passages(index: Index) -> int:
    return len(index.graph.rows("passage"))
