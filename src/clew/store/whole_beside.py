"""A generation that many changes led to, written whole by a thread while the index goes on living.

The changes are saved before, so nothing is lost where the process ends meanwhile: what the thread
has written by then belongs to no generation, and is cleared away later. Once it is done, the newest
generation is written once more, with other files: those of the whole, and the changes that came
since. It says which generation it is the same as, so that whoever has that one open goes on.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from clew.graph import DeferredEdges
from clew.store import disk
from clew.store.arrays import DATA, Entry, write_array
from clew.store.columns import columns_of
from clew.store.lock import locked
from clew.store.manifest import Manifest, clear, generations, read_manifest, write_manifest
from clew.store.saved_index import SavedIndex
from clew.store.syncing import Syncing
from clew.store.tables import Arrays
from clew.store.verified import look_of
from clew.version import __version__

LOGGER = logging.getLogger("clew")


class Writers:
    """The threads that write, by the folder: one for each.

    A process does not end before they have, unless it is killed. One that is forked has none.
    """

    def __init__(self) -> None:
        self._writers: dict[Path, _Writer] = {}

    def begin(self, index: SavedIndex, root: Path, manifest: Manifest) -> None:
        """Begin to write a generation whole, unless a thread is at work in the folder.

        Args:
            index: What the generation holds.
            root: The folder.
            manifest: The generation's.
        """
        place = root.resolve()
        if self.is_at_work(place):
            return
        writer = self._writers[place] = _Writer(index, place, manifest, self._forget)
        try:
            writer.start()
        except RuntimeError:  # Python ends: a later process writes it
            self._forget(place)

    def is_at_work(self, root: Path) -> bool:
        """Return whether a thread is at work in a folder."""
        writer = self._writers.get(root.resolve())
        return writer is not None and writer.is_alive()

    def is_ending(self, root: Path) -> bool:
        """Return whether a thread holds the lock of a folder, or waits for it, to make its end."""
        writer = self._writers.get(root.resolve())
        return writer is not None and writer.is_ending and writer.is_alive()

    def wait(self, root: Path) -> None:
        """Wait until no thread is at work in a folder."""
        writer = self._writers.get(root.resolve())
        if writer is not None and writer.is_alive():
            writer.join()

    def _forget(self, place: Path) -> None:
        self._writers.pop(place, None)


class _Writer(threading.Thread):
    """Writes a generation whole, and is heard of in the log alone."""

    def __init__(
        self, index: SavedIndex, root: Path, manifest: Manifest, done: Callable[[Path], None]
    ) -> None:
        super().__init__(name="clew whole", daemon=False)
        self.is_ending, self._is_listed, self._generation = False, False, 0
        self._index, self._root, self._manifest, self._done = index, root, manifest, done

    def run(self) -> None:
        written: dict[str, Entry] = {}
        try:
            arrays = columns_of(_copied(self._index))
            write_files(arrays, self._root, self._manifest.generation + 1, written)
            self.is_ending = True
            with locked(self._root, wait=True):
                self._end(written)
        except Exception as error:  # noqa: BLE001  # all is saved: a later save tries again
            if (self._root / DATA).exists():  # else the index was deleted meanwhile
                LOGGER.warning("%s was not written whole: %s", self._root, error)
        finally:
            # A manifest that is there lists them, also where something failed behind it.
            if not self._is_listed and self._generation not in generations(self._root):
                for entry in written.values():
                    with suppress(OSError):
                        (self._root / entry.path).unlink()
            self._done(self._root)

    def _end(self, whole: Mapping[str, Entry]) -> None:
        """Make the newest generation of these files, where it has the same beginning."""
        newest = read_manifest(next(iter(generations(self._root).values())))
        had, has = self._manifest, newest.changes
        if newest.whole != had.whole or not has.items() >= had.changes.items():
            return  # another was saved meanwhile, or written whole
        if any(look_of(self._root / entry.path)[:1] != [entry.bytes] for entry in whole.values()):
            raise OSError("a file was cleared away meanwhile")
        later = {name: entry for name, entry in has.items() if name not in had.changes}
        self._generation = newest.generation + 1
        write_manifest(
            self._root,
            self._generation,
            __version__,
            {**whole, **later},
            newest.settings,
            same_as=newest,
        )
        self._is_listed = True  # whatever others have saved and cleared away by the end
        disk.sync_folder(self._root)
        clear(self._root)


def _copied(index: SavedIndex) -> SavedIndex:
    """Return an index of which edges are made for the thread alone.

    Who asks the living index need not wait for them, and they do not stay with it.
    """
    before = index.graph
    if not isinstance(before.edges, DeferredEdges):
        return index
    graph = before.unchecked(edges=before.edges.copy())
    for part, result in before.kept_parts():
        graph.set_part(part, result)
    return replace(index, graph=graph)


def write_files(arrays: Arrays, root: Path, generation: int, written: dict[str, Entry]) -> None:
    """Write all columns of an index to files, which no generation lists yet.

    Args:
        arrays: The columns.
        root: The folder.
        generation: The number that is in the names of the files.
        written: Gets each file once it is written, by the name of what it holds.

    Raises:
        OSError: The disk is full or failed.
    """
    with Syncing() as sync:
        for name, array in arrays.items():
            written[name] = write_array(root, name, generation, array, sync)
    disk.sync_folder(root / DATA)


WRITERS = Writers()
