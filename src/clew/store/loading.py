"""Loading: an index is opened as it was saved, or refused with the name of what is wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from clew.graph import EMPTY, Graph
from clew.read import FileReading
from clew.store.arrays import DATA, read_array
from clew.store.columns import ATTACHED_NAMES, StoredColumns, read_columns, restore_parts
from clew.store.compression import expanded
from clew.store.config_record import CallerParts, check_embedder, restore_config, restore_embedder
from clew.store.disk import memory_of_machine
from clew.store.file_readings import restore_readings
from clew.store.manifest import TEXT_BLOCKS, Manifest, generations, read_manifest
from clew.store.saved_index import SavedAs, SavedIndex, without_parts
from clew.store.tables import RUN, Arrays, ColumnReader, array_of
from clew.store.vector_bags import MAPPED
from clew.store.verified import Look, look_of, read_record, write_record

TEXTS = (RUN, TEXT_BLOCKS)
"""The arrays of all texts. They are mapped, too, and their checksum is checked each time."""

RETRIES = 50

MISFITS = (ValueError, TypeError, IndexError, KeyError, OverflowError, RecursionError)
"""What arrays raise that do not fit together."""

Verify = Literal["changed", "full", "size"]
DEFAULT_VERIFY: Verify = "changed"


def load(
    path: str | os.PathLike[str],
    caller_parts: CallerParts = EMPTY,
    *,
    verify: Verify = DEFAULT_VERIFY,
    generation: int | None = None,
) -> SavedIndex:
    """Return the index that was saved in a folder.

    An index made of it gives the same contexts, and can be added to, deleted from and saved again.
    Vectors stay on the disk and are mapped when they are used. Items have no `original`, since
    framework objects are not saved.

    Args:
        path: The folder.
        caller_parts: What the index was made with, by name, where that is not clew's own: embedder,
            count, splitter, links, canonical. The embedder is called once, to see that it is the
            same. An extractor and generators are needed for `add` and `delete` alone.
        verify: "changed" checks the checksums of all files; of the vectors, which stay on the disk,
            once after every write. "full" checks those of the vectors again. "size" checks of the
            vectors the size alone.
        generation: An earlier generation that is still there. None is the newest.

    Raises:
        FileNotFoundError: There is no index.
        ValueError: A file is damaged or missing, by its name; the index is of a newer clew; a part
            is needed and was not given; or what was given is not what the index was made with.

    Example:
        >>> import clew, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clew.Index.from_documents(["The sea."]).save(folder)
        ...     load(folder, verify="full").graph.texts
        ('The sea.',)
    """
    if verify not in ("changed", "full", "size"):
        raise ValueError(f"verify is 'changed', 'full' or 'size', not {verify!r}")
    newest = 0 if generation is None else max(generations(Path(path)), default=0)
    manifest, arrays = _read(Path(path), verify, generation)
    settings = manifest.settings
    config = restore_config(settings["config"], caller_parts)
    reader = _reader(manifest, arrays)
    columns = _columns(manifest, arrays, reader, config["count"])
    graph = columns.graph
    if config["canonical"] is not None:
        graph = replace(graph, canonical=config["canonical"])
    _restore_parts(manifest, arrays, reader, graph, config.get("nearest"))
    columns = _changed(manifest, arrays, replace(columns, graph=graph), config)
    graph = columns.graph
    embedder = restore_embedder(settings["embedder"], caller_parts.get("embedder"), columns.fitted)
    with_own_vector = (
        document.id
        for document in columns.documents
        if document.vector is not None or document.embedded_as is not None
    )
    check_embedder(embedder, graph, frozenset(with_own_vector))
    saved = SavedIndex(
        graph=graph,
        config=config,
        embedder=embedder,
        fitted=settings["fitted"],
        changed=settings.get("changed", 0),
        documents=columns.documents,
        facts=columns.facts,
        extracted=columns.extracted,
        knowledge=columns.knowledge,
        skipped=columns.skipped,
        files=_files(manifest, columns),
        failed=columns.failed,
        strengths=columns.strengths,
        built_strengths=columns.built_strengths,
        attachments=columns.attachments,
    )
    where = saved_as(without_parts(saved), Path(path), manifest)
    return replace(saved, saved_as=replace(where, newest=newest))


def saved_as(index: SavedIndex, root: Path, manifest: Manifest) -> SavedAs:
    """Return where an index is saved.

    Args:
        index: The index, without parts.
        root: The folder.
        manifest: Its generation there.
    """
    return SavedAs(root.resolve(), manifest, looks_of(manifest), index)


def looks_of(manifest: Manifest) -> dict[str, Look]:
    """Return how the files of a generation look from outside, and its manifest, by path."""
    root, paths = manifest.file.parent, [entry.path for entry in manifest.entries.values()]
    return {path: look_of(root / path) for path in (manifest.file.name, *paths)}


def read_generation(
    root: Path, verify: Verify, generation: int | None, count: Callable[[str], int]
) -> tuple[Manifest, StoredColumns]:
    """Return the manifest of a generation, and what its columns hold; see `load`."""
    manifest, arrays = _read(root, verify, generation)
    columns = _columns(manifest, arrays, _reader(manifest, arrays), count)
    return manifest, _changed(manifest, arrays, columns)


def read_some(root: Path, manifest: Manifest, starts: tuple[str, ...]) -> Arrays:
    """Return some arrays of a generation, none of which is of vectors.

    Texts are not checked: their files look as they did when they were written or checked.

    Args:
        root: The folder.
        manifest: The generation's.
        starts: What their names begin with.

    Raises:
        ValueError: A file is damaged.
        FileNotFoundError: It was cleared away meanwhile.
    """
    entries = {name: one for name, one in manifest.entries.items() if name.startswith(starts)}
    return _arrays(root, replace(manifest, entries=entries), DEFAULT_VERIFY, checked=())


def _read(root: Path, verify: Verify, generation: int | None) -> tuple[Manifest, Arrays]:
    """Return the manifest and the arrays; again, where a writer clears them away meanwhile."""
    for _ in range(RETRIES):
        manifests = generations(root)
        chosen = _chosen(root, manifests, generation)
        try:
            manifest = read_manifest(manifests[chosen])
            return manifest, _arrays(root, manifest, verify)
        except FileNotFoundError as error:
            if max(generations(root), default=0) == max(manifests):
                raise ValueError(
                    f"{error.filename} is missing, though {manifests[chosen].name} lists it"
                    f"{_earlier(manifests, chosen, str(error.filename))}"
                ) from error
        except MemoryError as error:
            raise ValueError(_out_of_memory(manifests[chosen])) from error
        except ValueError as error:
            raise ValueError(f"{error}{_earlier(manifests, chosen, str(error))}") from error
    raise ValueError(f"{root} changed {RETRIES} times while it was being opened")


def _chosen(root: Path, manifests: Mapping[int, Path], generation: int | None) -> int:
    if not manifests:
        reason = "it has no MANIFEST file" if root.is_dir() else "there is no such folder"
        raise FileNotFoundError(f"{root} is not a saved index: {reason}")
    chosen = max(manifests) if generation is None else generation
    if chosen not in manifests:
        there = ", ".join(map(str, manifests))
        raise ValueError(f"{root} has no generation {generation}; it has {there}")
    return chosen


def _earlier(manifests: Mapping[int, Path], chosen: int, damage: str) -> str:
    """Return advice for a damaged generation: an earlier one that has no file that is named."""
    for generation, file in manifests.items():
        if generation >= chosen:
            continue
        try:
            names = [Path(entry.path).name for entry in read_manifest(file).entries.values()]
        except (OSError, ValueError):
            continue
        if not any(name in damage for name in names):
            return f"; an earlier generation is still there: load(path, generation={generation})"
    return ""


def _arrays(
    root: Path, manifest: Manifest, verify: Verify, checked: Collection[str] = TEXTS
) -> Arrays:
    if (root / DATA).is_symlink():
        raise ValueError(f"{root / DATA} is a link; a saved index has its files in its own folder")
    _refuse_larger_than_memory(root, manifest)
    mapped = {n: entry.path for n, entry in manifest.entries.items() if n in MAPPED}
    looks = {path: look_of(root / path) for path in mapped.values()}  # before they are hashed
    known = _found_whole(root, manifest.generation) if verify == "changed" else {}
    unknown = {path for path, look in looks.items() if verify == "full" or known.get(path) != look}
    arrays = {
        name: read_array(
            root,
            entry,
            mapped=name in mapped or name in TEXTS,
            full=name in checked or (verify != "size" and entry.path in unknown),
        )
        for name, entry in manifest.entries.items()
    }
    if verify != "size" and unknown:
        write_record(root, manifest.generation, looks)
    try:
        return expanded(arrays)
    except ValueError as error:
        raise ValueError(_misfit(manifest.file, error)) from error


def _found_whole(root: Path, generation: int) -> dict[str, Look]:
    """Return how files looked when they were found whole, in this generation or one before it."""
    records = (read_record(root, each) for each in generations(root) if each <= generation)
    return next((record for record in records if record), {})


def _refuse_larger_than_memory(root: Path, manifest: Manifest) -> None:
    """Raise ValueError for files that no memory of this machine can hold, before one is read."""
    sizes = {e.path: e.bytes for name, e in manifest.entries.items() if name not in MAPPED}
    total, memory = sum(sizes.values()), memory_of_machine()
    if memory is not None and total > memory:
        largest = max(sizes, key=lambda path: sizes[path])
        raise ValueError(
            f"the files that {manifest.file} lists take {total:,} bytes, and this machine has "
            f"{memory:,} bytes of memory; the largest is {root / largest} with "
            f"{sizes[largest]:,}: it is damaged, or the index needs a larger machine"
        )


def _reader(manifest: Manifest, arrays: Arrays) -> ColumnReader:
    try:
        return ColumnReader(array_of(arrays))
    except MemoryError as error:
        raise ValueError(_out_of_memory(manifest.file)) from error
    except MISFITS as error:
        raise ValueError(_misfit(manifest.file, error)) from error


def _restore_parts(
    manifest: Manifest, arrays: Arrays, reader: ColumnReader, graph: Graph, options: object
) -> None:
    try:
        restore_parts(reader, arrays, graph, options)
    except MemoryError as error:
        raise ValueError(_out_of_memory(manifest.file)) from error
    except MISFITS as error:
        raise ValueError(_misfit(manifest.file, error)) from error


def _columns(
    manifest: Manifest, arrays: Arrays, reader: ColumnReader, count: Callable[[str], int]
) -> StoredColumns:
    try:
        embedder = manifest.settings["embedder"]
        fitted_name = embedder["name"] if embedder["own"] else None
        return read_columns(reader, count, fitted_name, ATTACHED_NAMES in arrays)
    except MemoryError as error:
        raise ValueError(_out_of_memory(manifest.file)) from error
    except MISFITS as error:
        raise ValueError(_misfit(manifest.file, error)) from error


def _changed(
    manifest: Manifest,
    arrays: Arrays,
    columns: StoredColumns,
    config: Mapping[str, object] | None = None,
) -> StoredColumns:
    """Return the columns after the changes that the manifest lists; see `with_changes`."""
    if not manifest.changes:
        return columns
    from clew.store.change_files import unpack_change  # that most indexes do without
    from clew.store.with_changes import with_changes

    try:
        return with_changes(
            columns, [unpack_change(arrays[name]) for name in manifest.changes], config
        )
    except MemoryError as error:
        raise ValueError(_out_of_memory(manifest.file)) from error
    except MISFITS as error:
        raise ValueError(_misfit(manifest.file, error)) from error


def _files(manifest: Manifest, columns: StoredColumns) -> dict[str, FileReading]:
    try:
        return restore_readings(columns.files, columns.documents)
    except MISFITS as error:
        raise ValueError(_misfit(manifest.file, error)) from error


def _misfit(file: Path, error: Exception) -> str:
    return f"the files that {file} lists do not fit together: {error}"


def _out_of_memory(file: Path) -> str:
    return (
        f"the index of {file} does not fit into the memory: "
        "it is damaged, or needs a larger machine"
    )
