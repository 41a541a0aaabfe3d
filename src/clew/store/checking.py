"""Checking: every file of every generation is hashed and read, and what is damaged is named."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from clew.store.arrays import Entry
from clew.store.loading import read_generation
from clew.store.manifest import generations, read_manifest
from clew.text.estimate import estimate_tokens


@dataclass(frozen=True)
class CheckedGeneration:
    """What was found of a generation.

    Attributes:
        generation: Its number.
        files: How many files it has beside its manifest; 0 where that cannot be read.
        bytes: Their size together.
        damage: What is wrong; empty where everything is as it was saved.
    """

    generation: int
    files: int
    bytes: int
    damage: str = ""


def check(path: str | os.PathLike[str]) -> list[CheckedGeneration]:
    """Return what is found of each generation in a folder, the newest first.

    Every file is hashed, and the columns are put together. Neither the embedder nor any other part
    of the caller's is needed.

    Raises:
        FileNotFoundError: There is no index.

    Example:
        >>> import clew, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clew.Index.from_documents(["The sea."]).save(folder)
        ...     [found.damage for found in check(folder)]
        ['']
    """
    root, whole = Path(path), set[Entry]()
    found = [_check(root, generation, whole) for generation in generations(root)]
    return found or [_check(root, None, whole)]  # which says what there is


def _check(root: Path, generation: int | None, whole: set[Entry]) -> CheckedGeneration:
    """Check a generation, unless it has only files of later ones that were found whole."""
    try:
        known = {} if generation is None else generations(root)
        manifest = None if generation not in known else read_manifest(known[generation])
        if manifest is None or not whole.issuperset(manifest.entries.values()):
            manifest, _ = read_generation(root, "full", generation, estimate_tokens)
            whole.update(manifest.entries.values())
    except ValueError as error:
        assert generation is not None, "without a generation there is no index, another error"
        return CheckedGeneration(generation, 0, 0, str(error))
    size = sum(entry.bytes for entry in manifest.entries.values())
    return CheckedGeneration(manifest.generation, len(manifest.entries), size)
