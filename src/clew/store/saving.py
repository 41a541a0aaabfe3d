"""Saving: an index is written to a folder as its next generation, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from clew.store import disk
from clew.store.arrays import DATA, FILE_NAME, Entry, write_array
from clew.store.columns import columns_of
from clew.store.config_record import describe_config, describe_embedder
from clew.store.lock import LOCK, locked
from clew.store.manifest import (
    RECORD_NAME,
    UNFINISHED,
    NewerFormatError,
    clear,
    generations,
    read_manifest,
    write_manifest,
)
from clew.store.saved_index import SavedIndex
from clew.version import __version__


def is_index(path: str | os.PathLike[str]) -> bool:
    """Return whether a saved index is in this folder; it may still be damaged.

    Example:
        >>> is_index("nowhere")
        False
    """
    return bool(generations(Path(path)))


def save(index: SavedIndex, path: str | os.PathLike[str]) -> None:
    """Save an index to a folder, as its next generation; the one before stays until this is whole.

    The framework objects that documents came as are not saved: after `load`, `original` is None,
    while ids, texts and metadata are as they were. Readers are never disturbed. The last two
    generations are kept, and every file for ten minutes.

    Args:
        index: What to save.
        path: A folder that holds an index, or is empty, or does not exist.

    Raises:
        ValueError: Metadata that cannot be held, with the document and the key, before anything is
            written; a folder of other things; an index of a newer clew.
        BlockingIOError: Another process or thread is saving there.
        OSError: The disk is full or failed. The earlier generation is untouched.

    Example:
        >>> import tempfile
        >>> from clew import Embedder, Graph
        >>> graph = Graph.of(["The sea."], vectors=[[1.0]])
        >>> embedder = Embedder("ones", lambda texts: [[1.0]] * len(texts), lambda text: [1.0])
        >>> config = {"count": graph.count, "canonical": None}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(SavedIndex(graph, config, embedder), folder)
        ...     is_index(folder)
        True
    """
    arrays = columns_of(index)
    settings = {
        "embedder": describe_embedder(index.embedder, index.graph.vectors.shape[1]),
        "fitted": index.fitted,
        "changed": index.changed,
        "config": describe_config(index.config),
    }
    root = Path(path)
    _refuse_foreign(root)
    _make_folders(root)
    with locked(root):
        _refuse_newer(root)
        generation = next(iter(generations(root)), 0) + 1
        entries: dict[str, Entry] = {}
        with _all_or_nothing(root, generation, entries):
            for name, array in arrays.items():
                entries[name] = write_array(root, name, generation, array)
            disk.sync_folder(root / DATA)
            write_manifest(root, generation, __version__, entries, settings)
            disk.sync_folder(root)
        clear(root)


def _make_folders(root: Path) -> None:
    """Make the folder and sync its parents: no manifest may outlast the folder of its files."""
    new = [folder for folder in (root / DATA, root, *root.parents) if not folder.exists()]
    (root / DATA).mkdir(parents=True, exist_ok=True)
    for folder in new:
        disk.sync_folder(folder.parent)


@contextmanager
def _all_or_nothing(root: Path, generation: int, entries: Mapping[str, Entry]) -> Iterator[None]:
    """Say what a failure of the disk means, and delete the files that no manifest lists."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, _failure(root, generation, error)) from error
    finally:
        if generation not in generations(root):
            for entry in entries.values():
                with suppress(OSError):
                    (root / entry.path).unlink()


def _failure(root: Path, generation: int, error: OSError) -> str:
    reason = error.strerror or error
    if generation in generations(root):
        return (
            f"the index is saved to {root} and can be loaded, "
            f"but may not outlast a power failure: {reason}"
        )
    return f"the index was not saved to {root}, where all is as it was: {reason}"


def _refuse_foreign(root: Path) -> None:
    """Raise ValueError for a folder of files that are not an index's."""
    if (root / DATA).is_symlink():
        raise ValueError(f"{root / DATA} is a link; an index is saved in its own folder")
    if not root.exists() or is_index(root):
        return
    if not root.is_dir():
        raise ValueError(f"{root} is a file; an index is saved in a folder")
    foreign = [
        file.name
        for file in root.iterdir()
        if file.name not in (LOCK, DATA)
        and not UNFINISHED.fullmatch(file.name)
        and not RECORD_NAME.fullmatch(file.name)
    ]
    if (root / DATA).is_dir():
        foreign += [
            f"{DATA}/{file.name}"
            for file in (root / DATA).iterdir()
            if not FILE_NAME.fullmatch(file.name)
        ]
    if foreign:
        raise ValueError(
            f"{root} has other files, for instance {min(foreign)}, and no index: "
            "save to a new or empty folder"
        )


def _refuse_newer(root: Path) -> None:
    """Raise for an index that a newer clew saved; one that is damaged may be written over."""
    for file in generations(root).values():
        try:
            read_manifest(file)
        except NewerFormatError:
            raise
        except (OSError, ValueError):
            continue
        return
