"""Saving: an index is written to a folder as its next generation, whole or not at all."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from clew.graph import bare_rows, with_bare_rows
from clew.store import disk
from clew.store.arrays import DATA, FILE_NAME, Entry, read_array, write_array
from clew.store.change_files import PackedChange, pack_change, unpack_change
from clew.store.columns import columns_of
from clew.store.config_record import describe_config, describe_embedder
from clew.store.difference import difference
from clew.store.late_edges import late_kinds
from clew.store.loading import looks_of, read_some, saved_as
from clew.store.lock import LOCK, locked
from clew.store.manifest import (
    CHANGE,
    RECORD_NAME,
    UNFINISHED,
    Manifest,
    NewerFormatError,
    clear,
    generations,
    name_of_change,
    newest_form,
    read_manifest,
    write_manifest,
)
from clew.store.saved_index import SavedAs, SavedIndex, without_parts
from clew.store.tables import ColumnReader
from clew.store.verified import look_of
from clew.store.whole_beside import WRITERS, write_files
from clew.version import __version__


def is_index(path: str | os.PathLike[str]) -> bool:
    """Return whether a saved index is in this folder; it may still be damaged.

    Example:
        >>> is_index("nowhere")
        False
    """
    return bool(generations(Path(path)))


def delete(path: str | os.PathLike[str]) -> None:
    """Delete the saved index in a folder, and the folder where it has nothing else.

    Raises:
        BlockingIOError: Another process or thread is saving there.
        OSError: The index may not be deleted.
    """
    root = Path(path)
    with locked(root, wait=lambda: WRITERS.is_ending(root)):
        for _, manifest in sorted(generations(root).items()):  # the newest last
            manifest.unlink()
        shutil.rmtree(root / DATA, ignore_errors=True)
        for file in root.iterdir():
            if RECORD_NAME.fullmatch(file.name) or UNFINISHED.fullmatch(file.name):
                file.unlink()
    with suppress(OSError):  # something else is in it, or, on Windows, another waits for the lock
        (root / LOCK).unlink(missing_ok=True)
        root.rmdir()


MIN_BYTES = 1 << 19
"""The size of an index below which it is always written whole, which takes little time."""

MAX_CHANGES = 32
"""Changes that may follow a whole generation: each is a file that is opened and hashed.

Of more, one is made."""

DENSE = ("nodes.vectors", "facts.vectors")
"""Vectors as they are, which the mapped files stand for once they are saved."""

MAX_SHARE = 0.1
"""The size that the changes may have together, as a share of that of the whole generation."""

MAX_SHARE_MERGED = 0.5
"""The size of changes that were too large, as a share of what they may have, once they are one.

With more they would soon be too large again."""

MIN_BYTES_BESIDE = 1 << 21
"""The size of an index from which it is written whole beside what follows the save.

A smaller one is written in about the time of a change."""

MAX_SHARE_BESIDE = 0.2
"""What `MAX_SHARE` is for an index that is being written whole: a save beyond that waits for it."""

MAX_BYTES = 1 << 20
"""The size that they may have beside a small generation, which has few bytes when it is packed."""


def save(
    index: SavedIndex, path: str | os.PathLike[str], *, after: int = 0, beside: bool = False
) -> SavedAs:
    """Save an index to a folder, as its next generation; the one before stays until this is whole.

    Where most of the index is in the newest generation already, the next one has the files of that
    and one more with what changed (`clew.store.difference`). Many changes become one
    (`clew.store.merged_changes`). Where they are large together, the index is written whole, now or
    by a thread (`clew.store.whole_beside`).

    The framework objects that documents came as are not saved: after `load`, `original` is None,
    while ids, texts and metadata are as they were. Readers are never disturbed. The last two
    generations are kept, and every file for ten minutes; what is older is cleared away when a
    generation is written whole, or changes become one.

    Args:
        index: What to save, with where an earlier form of it was saved.
        path: A folder that holds an index, or is empty, or does not exist.
        after: A generation that the next one comes after, where the folder is a copy that may
            be behind.
        beside: Whether a thread may write the index whole once its changes are saved.

    Returns:
        Where it is saved now.

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
        ...     save(SavedIndex(graph, config, embedder), folder).manifest.generation
        1
    """
    settings = {
        "embedder": describe_embedder(index.embedder, index.graph.vectors.shape[1]),
        "fitted": index.fitted,
        "changed": index.changed,
        "config": describe_config(index.config),
    }
    root = Path(path)
    saved = _save_changes(index, root, settings, after, beside)
    if saved is None and index.saved_as is not None and WRITERS.is_at_work(root):
        WRITERS.wait(root)
        saved = _save_changes(index, root, settings, after, beside)
    return _save_whole(index, root, settings, after) if saved is None else saved


def _save_changes(
    index: SavedIndex, root: Path, settings: Mapping[str, Any], after: int, beside: bool
) -> SavedAs | None:
    """Save what changed since the newest generation; return None where it is to be saved whole."""
    before = index.saved_as
    if before is None or before.manifest.generation < after:
        return None
    newest, late = _followed(before, root, settings), late_kinds(index)
    if newest is None or (newest.leaves_edges_out and not late):
        return None  # edges that are left out are there, and are to be saved
    arrays = difference(before.index, index, late)
    files = None if arrays is None else _files_of(pack_change(arrays), newest, root, beside)
    if files is None:
        return None
    with locked(root, wait=lambda: WRITERS.is_ending(root)):
        now = _followed(before, root, settings)
        if now is None:  # another has saved there meanwhile
            return None
        is_same, generation = now.generation == newest.generation, newest.generation + 1
        if is_same:
            written: dict[str, Entry] = {}
            with _all_or_nothing(root, generation, written):
                is_small = files.change.is_compressed
                name = name_of_change(generation, is_late=bool(late), is_small=is_small)
                data = files.change.data
                written[name] = write_array(root, CHANGE.rstrip("."), generation, data)
                disk.sync_folder(root / DATA)
                entries = {**files.others, **written}
                manifest = write_manifest(root, generation, __version__, entries, settings)
                disk.sync_folder(root)
            if files.is_merged:
                clear(root)
    if not is_same:  # a thread has written it whole meanwhile
        return _save_changes(index, root, settings, after, beside)
    if files.is_too_large:
        WRITERS.begin(replace(index, saved_as=None), root, manifest)
    return saved_as(without_parts(index), root, manifest)


class _Files(NamedTuple):
    """The files of the next generation.

    Attributes:
        change: What is written.
        others: Those that are there.
        is_merged: Whether the change has those before in it.
        is_too_large: Whether the index is to be written whole beside what follows.
    """

    change: PackedChange
    others: Mapping[str, Entry]
    is_merged: bool = False
    is_too_large: bool = False


def _files_of(change: PackedChange, newest: Manifest, root: Path, beside: bool) -> _Files | None:
    """Return the files of a generation that follows another; None where it is to be whole."""
    whole = _bytes_of(newest.whole)
    most, most_beside = (max(share * whole, MAX_BYTES) for share in (MAX_SHARE, MAX_SHARE_BESIDE))
    size = _bytes_of(newest.changes) + change.bytes
    if WRITERS.is_at_work(root):
        return _Files(change, newest.entries) if size <= most_beside else None
    is_large = size > most
    if newest.changes and (is_large or len(newest.changes) >= MAX_CHANGES):
        try:
            merged = _pack_merged(root, newest, change)
        except (OSError, ValueError) as error:  # of a file of these changes: it is not used again
            logging.getLogger("clew").warning("the index is written whole: %s", error)
            return None
        if merged.bytes <= most * (MAX_SHARE_MERGED if is_large else 1):
            return _Files(merged, newest.whole, is_merged=True)
        is_large = True
    if not is_large:
        return _Files(change, newest.entries)
    may_be_late = beside and whole >= MIN_BYTES_BESIDE and size <= most_beside
    return _Files(change, newest.entries, is_too_large=True) if may_be_late else None


def _pack_merged(root: Path, newest: Manifest, packed: PackedChange) -> PackedChange:
    """Return the changes of a generation and the next one, which is packed, too, as one.

    Raises:
        ValueError, OSError: A file is damaged, or was cleared away.
    """
    from clew.store.merged_changes import NEEDED, Beginning, merged  # that few saves need

    arrays = read_some(root, newest, (*NEEDED, CHANGE))
    changes = [unpack_change(arrays[name]) for name in newest.changes]
    beginning = Beginning.read(ColumnReader(arrays.__getitem__))
    return pack_change(merged(beginning, [*changes, unpack_change(packed.data)]))


def is_newest(saved: SavedAs) -> bool:
    """Return whether a generation is the newest in its folder, by a look at the manifests alone.

    It is where the newest one is the same in other files, and where the folder is gone: there is
    nothing newer.
    """
    newest = next(iter(generations(saved.folder).values()), None)
    if newest is None:
        return True
    name = saved.manifest.file.name
    if newest.name == name:
        return look_of(newest) == saved.looks[name]
    return newest_form(saved.folder, saved.manifest) is not None


def are_the_same(saved: SavedAs, before: int) -> bool:
    """Return whether all generations since an earlier one are the same as it, up to this one."""
    known = generations(saved.folder)
    for generation in range(before + 1, saved.manifest.generation):
        try:
            same_as = read_manifest(known[generation]).same_as
        except (KeyError, OSError, ValueError):
            return False
        if same_as is None or same_as[0] != generation - 1:
            return False
    return True


def _followed(before: SavedAs, root: Path, settings: Mapping[str, Any]) -> Manifest | None:
    """Return the generation that changes since an earlier one may follow, which is not small.

    It is that one itself, of whose files none has changed since, or the same in other files.
    """
    wanted, found = (
        json.dumps({**each, "changed": 0}, sort_keys=True)
        for each in (settings, before.manifest.settings)
    )
    if before.folder != root.resolve() or wanted != found:
        return None
    newest = newest_form(root, before.manifest)
    if newest is before.manifest and before.looks != looks_of(newest):
        return None
    return None if newest is None or _bytes_of(newest.whole) < MIN_BYTES else newest


def _bytes_of(entries: Mapping[str, Entry]) -> int:
    return sum(entry.bytes for entry in entries.values())


def _save_whole(index: SavedIndex, root: Path, settings: Mapping[str, Any], after: int) -> SavedAs:
    arrays = columns_of(index)
    _refuse_foreign(root)
    _make_folders(root)
    with locked(root, wait=lambda: WRITERS.is_ending(root)):
        _refuse_newer(root)
        generation = max(next(iter(generations(root)), 0), after) + 1
        entries: dict[str, Entry] = {}
        with _all_or_nothing(root, generation, entries):
            write_files(arrays, root, generation, entries)
            manifest = write_manifest(root, generation, __version__, entries, settings)
            disk.sync_folder(root)
        clear(root)
        return _saved_whole(index, root, manifest)


def _saved_whole(index: SavedIndex, root: Path, manifest: Manifest) -> SavedAs:
    """Return where an index was saved whole; its vectors are mapped, so that no copy is kept."""
    try:
        entries = [manifest.entries[name] for name in DENSE if name in manifest.entries]
        mapped = [read_array(root, entry, mapped=True, full=False) for entry in entries]
    except (OSError, ValueError):
        mapped = []
    own = (index.graph.vectors, index.graph.facts.vectors)[: len(mapped)]
    vectors = [with_bare_rows(*pair) for pair in zip(mapped, map(bare_rows, own), strict=True)]
    return saved_as(without_parts(index, *vectors), root, manifest)


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


def foreign_files(root: Path) -> list[str]:
    """Return the names of what is in a folder and not an index's.

    A save that was cut short, as by a full disk, leaves nothing but what is an index's.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     (Path(folder) / "sea.md").touch()
        ...     (Path(folder) / "LOCK").touch()
        ...     foreign_files(Path(folder))
        ['sea.md']
    """
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
    return foreign


def _refuse_foreign(root: Path) -> None:
    """Raise ValueError for a folder of files that are not an index's."""
    if (root / DATA).is_symlink():
        raise ValueError(f"{root / DATA} is a link; an index is saved in its own folder")
    if not root.exists() or is_index(root):
        return
    if not root.is_dir():
        raise ValueError(f"{root} is a file; an index is saved in a folder")
    if foreign := foreign_files(root):
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
