"""An index on the disk: saved whole or not at all, opened as it was, or refused with the name of what is wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import clew
from clew.index.index import Index
from clew.store import disk
from clew.store.arrays import DATA, NAME, Entry, read_array, write_array
from clew.store.columns import arrays_of, index_parts
from clew.store.config_record import (
    canonical_of,
    check_embedder,
    count_of,
    described,
    described_count,
    described_embedder,
    embedder_of,
    extractor_of,
    links_of,
    splitter_of,
    writers_of,
)
from clew.store.lock import LOCK, locked
from clew.store.manifest import (
    UNFINISHED,
    Manifest,
    NewerFormatError,
    clear,
    generations,
    read_manifest,
    write_manifest,
)

MAPPED = ("nodes.vectors", "facts.vectors")
RETRIES = 50

Verify = Literal["size", "full"]


def is_index(path: str | os.PathLike[str]) -> bool:
    """Return whether a saved index is in this folder; it may still be damaged."""
    return bool(generations(Path(path)))


def save(index: Index, path: str | os.PathLike[str]) -> None:
    """Save the index to a folder, as its next generation; the one before stays until this one is whole.

    The objects of a framework that documents came as are not saved: after `load`, `original` is None, while ids, texts and metadata are
    as they were. Readers are never disturbed. The last two generations are kept, and for ten minutes every file.

    Args:
        index: what to save. path: a folder that holds an index, or is empty, or not there yet.

    Raises:
        ValueError: metadata that cannot be held, with the document and the key, before anything is written; a folder of other things;
            an index of a newer clew. BlockingIOError: another process or thread is saving there. OSError: the disk is full or failed,
            with the earlier generation untouched.
    """
    arrays = arrays_of(index)
    settings = {
        "embedder": described_embedder(index.embedder, index.graph.vectors.shape[1]),
        "count": described_count(index.graph.count),
        "splitter": described("splitter", index.splitter),
        "links": [described("links", link) for link in index.links],
        "extractor": described("extractor", index.extractor),
        "canonical": described("canonical", index.graph.canonical),
        "writers": [described("writers", writer) for writer in index.generators],
        "fitted": index.fitted,
    }
    root = Path(path)
    _refuse_foreign(root)
    new = [folder for folder in (root / DATA, root, *root.parents) if not folder.exists()]
    (root / DATA).mkdir(parents=True, exist_ok=True)
    for folder in new:  # so that no manifest can outlast the folder of its files
        disk.sync_folder(folder.parent)
    with locked(root):
        _refuse_newer(root)
        generation = next(iter(generations(root)), 0) + 1
        entries: dict[str, Entry] = {}
        try:
            for name, array in arrays.items():
                entries[name] = write_array(root, name, generation, array)
            disk.sync_folder(root / DATA)
            write_manifest(root, generation, clew.__version__, entries, settings)
            disk.sync_folder(root)
        except OSError as error:
            raise OSError(error.errno, _failed(root, generation, error)) from error
        finally:
            if generation not in generations(
                root
            ):  # whatever happened: what no manifest lists is of no use
                for entry in entries.values():
                    _delete(root / entry.path)
        clear(root)


def load(
    path: str | os.PathLike[str],
    *,
    embedder: Any = None,
    count: Any = None,
    splitter: Any = ...,
    links: Any = ...,
    extractor: Any = ...,
    writers: Any = ...,
    canonical: Any = ...,
    verify: Verify = "size",
    generation: int | None = None,
) -> Index:
    """Return the index that was saved in a folder: it gives the same contexts, and can be added to, deleted from and saved again.

    Vectors stay on the disk and are mapped when they are used. Items have no `original`: framework objects are not saved.

    Args:
        path: the folder. embedder, count, splitter, links, canonical: what the index was made with, where that is not clew's own. The
            embedder is called once, to see that it is the same. extractor, writers: likewise, but wanted for `add` and `delete` alone.
        verify: "size" checks the sizes of all files, and the checksums of all but the vectors; "full" those of the vectors too.
        generation: an earlier one that is still there; None is the newest.

    Raises:
        FileNotFoundError: there is no index. ValueError: a file that is damaged or missing, by its name; an index of a newer clew;
            an embedder, counter, splitter, links or canonical that are wanted and missing; anything given that is not what the index was
            made with.
    """
    if verify not in ("size", "full"):
        raise ValueError(f"verify is 'size' or 'full', not {verify!r}")
    root = Path(path)
    for _ in range(RETRIES):
        there = generations(root)
        if not there:
            raise FileNotFoundError(
                f"{root} is not a saved index: {'it has no MANIFEST file' if root.is_dir() else 'there is no such folder'}"
            )
        chosen = max(there) if generation is None else generation
        if chosen not in there:
            raise ValueError(
                f"{root} has no generation {generation}; it has {', '.join(map(str, there))}"
            )
        try:
            manifest = read_manifest(there[chosen])
            arrays = _arrays(root, manifest, verify)
            break
        except FileNotFoundError as error:
            if max(generations(root), default=0) == max(
                there
            ):  # else a writer has cleared it away meanwhile: the newest is another
                raise ValueError(
                    f"{error.filename} is missing, though {there[chosen].name} lists it{_earlier(there, chosen)}"
                ) from error
        except ValueError as error:
            raise ValueError(f"{error}{_earlier(there, chosen)}") from error
    else:
        raise ValueError(f"{root} changed {RETRIES} times while it was being opened")
    return _opened(
        manifest, arrays, embedder, count, splitter, links, extractor, writers, canonical
    )


def _opened(
    manifest: Manifest,
    arrays: Mapping[str, Any],
    embedder: Any,
    count: Any,
    splitter: Any,
    links: Any,
    extractor: Any,
    writers: Any,
    canonical: Any,
) -> Index:
    settings = manifest.settings
    counter = count_of(settings["count"], count)
    cut, linked = splitter_of(settings["splitter"], splitter), links_of(settings["links"], links)
    reads, writes = (
        extractor_of(settings["extractor"], extractor),
        writers_of(settings["writers"], writers),
    )
    clean = canonical_of(settings["canonical"], canonical)
    try:
        parts, latent = index_parts(partial(_array, arrays), counter, settings["embedder"]["own"])
    except (ValueError, TypeError, IndexError, RecursionError) as error:
        raise ValueError(
            f"the files that {manifest.file} lists do not fit together: {error}"
        ) from error
    parts["graph"] = replace(parts["graph"], canonical=clean)
    made = embedder_of(settings["embedder"], embedder, latent)
    elsewhere = frozenset(
        d.id for d in parts["documents"] if d.vector is not None or d.embedded_as is not None
    )
    check_embedder(made, parts["graph"], elsewhere)
    return Index(
        **parts,
        embedder=made,
        splitter=cut,
        links=linked,
        fitted=settings["fitted"],
        extractor=reads,
        generators=writes,
    )


def _arrays(root: Path, manifest: Manifest, verify: Verify) -> dict[str, Any]:
    if (root / DATA).is_symlink():
        raise ValueError(f"{root / DATA} is a link; a saved index has its files in its own folder")
    entries = manifest.entries.items()
    return {
        name: read_array(root, entry, mapped=name in MAPPED, full=verify == "full")
        for name, entry in entries
    }


def _array(arrays: Mapping[str, Any], name: str) -> Any:
    if name not in arrays:
        raise ValueError(f"{name} is missing")
    return arrays[name]


def _earlier(there: Mapping[int, Path], chosen: int) -> str:
    before = [generation for generation in there if generation < chosen]
    return (
        f"; an earlier generation is still there: load(path, generation={before[0]})"
        if before
        else ""
    )


def _failed(root: Path, generation: int, error: OSError) -> str:
    if generation in generations(root):
        return f"the index is saved to {root} and can be loaded, but may not outlast a power failure: {error.strerror or error}"
    return f"the index was not saved to {root}, where all is as it was: {error.strerror or error}"


def _delete(file: Path) -> None:
    with suppress(OSError):
        file.unlink()


def _refuse_foreign(root: Path) -> None:
    """Never write among files that are not ours."""
    if (root / DATA).is_symlink():
        raise ValueError(f"{root / DATA} is a link; an index is saved in its own folder")
    if not root.exists() or is_index(root):
        return
    if not root.is_dir():
        raise ValueError(f"{root} is a file; an index is saved in a folder")
    other = [
        file.name
        for file in root.iterdir()
        if file.name not in (LOCK, DATA) and not UNFINISHED.fullmatch(file.name)
    ]
    if (root / DATA).is_dir():
        other += [
            f"{DATA}/{file.name}"
            for file in (root / DATA).iterdir()
            if not NAME.fullmatch(file.name)
        ]
    if other:
        raise ValueError(
            f"{root} has other files, for instance {min(other)}, and no index: save to a new or empty folder"
        )


def _refuse_newer(root: Path) -> None:
    """An index that a newer clew saved is not overwritten by this one; one that is damaged is."""
    for file in generations(root).values():
        try:
            read_manifest(file)
        except NewerFormatError:
            raise
        except (OSError, ValueError):
            continue
        return
