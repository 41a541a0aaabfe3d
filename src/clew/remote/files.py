"""The files of an index in a database: those of a saved index, and two that are beside them."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Rows
from clew.index.contents import IndexContents
from clew.index.drift import drift_record, drift_step
from clew.index.saving import saved_index
from clew.remote.corpus import corpus_arrays
from clew.remote.database import AnySession, Database, FoundIndex
from clew.seed.languages import LanguagesPart
from clew.store.config_record import describe_config, describe_embedder
from clew.store.fitted_embedder import write_fitted
from clew.store.manifest import generations, read_manifest
from clew.store.packing import pack
from clew.store.tables import ColumnWriter

FOR_QUESTIONS, NUMBERING = "for questions", "numbering"
SETTINGS = "settings"


def pack_for_questions(index: IndexContents, numbers: Rows) -> NDArray[np.uint8]:
    """Return the file with what those who ask know of the whole index.

    Args:
        index: The index.
        numbers: int32 [n], those of its nodes.
    """
    record = saved_index(index)
    settings: dict[str, Any] = {
        "embedder": describe_embedder(record.embedder, index.graph.vectors.shape[1]),
        "config": describe_config(record.config),
        "is_of_code": index.is_of_code,
        "has_reports": bool(index.graph.kinds.mask("report").any()),
        "has_bare_names": index.has_bare_names,
        "drift": drift_record(drift_step(index)),
    }
    writer = ColumnWriter()
    writer.texts(SETTINGS, [json.dumps(settings)])
    writer.texts("languages", index.graph.part(LanguagesPart()).names)
    for name, array in corpus_arrays(index.graph, numbers).items():
        writer.numbers(name, array)
    if index.embedder.fitted is not None:
        write_fitted(writer, index.embedder.fitted)
    return pack(writer.done())


def newest_paths(root: Path) -> tuple[set[str], str]:
    """Return the paths of the newest saved index in a folder, and the name of its manifest."""
    manifest = read_manifest(next(iter(generations(root).values())))
    return {entry.path for entry in manifest.entries.values()}, manifest.file.name


async def read_folder(
    database: Database, session: AnySession, found: FoundIndex, root: Path
) -> None:
    """Make a folder hold the files of the saved index in a database, and no others.

    Args:
        database: The database.
        session: What is asked.
        found: Where the index is.
        root: The folder.

    Raises:
        IndexChangedError: The index was written meanwhile; the folder may hold a part of it.
        ValueError: The index has a file outside of its folder.
    """
    paths = set(await database.file_paths(session, found)) - {FOR_QUESTIONS, NUMBERING}
    for file in [file for file in root.rglob("*") if file.is_file()]:
        name = file.relative_to(root).as_posix()
        if name not in paths or "/" not in name:  # a manifest of one name may be another's
            with suppress(PermissionError):  # Windows keeps what an earlier reading has mapped
                file.unlink()
    for path in sorted(paths):
        target = root / path
        if not target.resolve().is_relative_to(root.resolve()):
            raise ValueError(f"the index in the database has a file outside of its folder: {path}")
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(await database.read_file(session, found, path))
    await database.check_current(session, found)
