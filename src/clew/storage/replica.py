"""A generation is published to a storage, and copied from there into the user's cache.

The storage has what a saved index has on the disk: immutable files below `data/`, and a manifest
for each generation, which is written last. So a reader sees a whole generation or the one before.
The copy in the cache is a saved index, too, of which each file was checked when it came.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from clew import user_cache
from clew.graph import EMPTY
from clew.storage.bucket import Bucket, StorageError, StoredFile
from clew.store import (
    DEFAULT_VERIFY,
    CheckedGeneration,
    SavedAs,
    SavedIndex,
    Verify,
    disk,
    load,
    save,
)
from clew.store.arrays import DATA, FILE_NAME, Entry, read_array, write_file
from clew.store.config_record import CallerParts
from clew.store.lock import locked
from clew.store.manifest import (
    GENERATIONS,
    HEAD,
    MANIFEST_NAME,
    MAX_BYTES,
    MIN_AGE,
    UNFINISHED,
    Manifest,
    NewerFormatError,
    clear,
    generations,
    generations_in,
    name_of,
    parse_manifest,
)

LOGGER = logging.getLogger("clew.storage")
AT_ONCE = 8  # files that are copied, or published, at a time
RETRIES = 50  # of an opening, while others publish
MENDED = 3  # times that damaged files of the cache are copied again

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Replica:
    """An index in a storage, and its copy in the user's cache.

    Attributes:
        bucket: The storage's folder.
        place: The folder in the cache.
    """

    bucket: Bucket
    place: Path

    @classmethod
    def at(cls, address: str) -> Replica:
        """Return the replica of an address; nothing is copied yet.

        Raises:
            ModuleNotFoundError: The package of the storage is not installed.
            OSError: The cache cannot be written to, or the storage not be reached.
        """
        bucket = Bucket.open(address)
        place = _place_of(address)
        user_cache.make_place(place, bucket.address.rstrip("/"))
        return cls(bucket, place)

    @property
    def folder(self) -> Path:
        """The copy, which is a saved index."""
        return self.place / user_cache.INDEX

    def copy(self, generation: int, there: Iterable[int]) -> Manifest:
        """Copy the files of a generation that are not in the cache yet.

        Args:
            generation: One that is in the storage.
            there: All that are.

        Raises:
            FileNotFoundError: A file has been cleared away meanwhile.
            OSError: The storage failed, or the disk is full.
            ValueError: A file is damaged, by its name.
        """
        with locked(self.place, wait=True):
            raw = self.bucket.read(name_of(generation), 0, MAX_BYTES + 1)
            manifest = self._parsed(generation, raw)
            (self.folder / DATA).mkdir(parents=True, exist_ok=True)
            self.forget_unpublished(there)
            new = [entry for entry in _entries(manifest) if not self._has(entry)]
            self._check_room(new)
            _each(new, lambda entry: self.bucket.copy(entry, self.folder))
            disk.sync_folder(self.folder / DATA)
            if not manifest.file.is_file() or manifest.file.read_bytes() != raw:
                unfinished = manifest.file.with_name(f"{manifest.file.name}.{'0' * 16}")
                unfinished.unlink(missing_ok=True)
                write_file(unfinished, [raw])
                unfinished.replace(manifest.file)
            clear(self.folder)
        if new:
            user_cache.let_old_ones_go(self.place)
        return manifest

    def _parsed(self, generation: int, raw: bytes) -> Manifest:
        name = name_of(generation)
        return parse_manifest(raw, self.folder / name, self.bucket.shown(name))

    def _has(self, entry: Entry) -> bool:
        try:
            return (self.folder / entry.path).lstat().st_size == entry.bytes
        except FileNotFoundError:
            return False

    def _check_room(self, new: Iterable[Entry]) -> None:
        """Raise OSError where files would fill the disk, before the first is copied."""
        wanted, free = sum(entry.bytes for entry in new), shutil.disk_usage(self.folder).free
        if wanted > free:
            raise OSError(
                f"{self.bucket.address} has {wanted:,} bytes that are to be copied to "
                f"{self.folder}, where {free:,} are free: make room, or name another place by "
                "CLEW_CACHE"
            )

    def forget_unpublished(self, there: Iterable[int]) -> None:
        """Delete the copy's manifests that the storage has not, as those of a broken upload.

        The caller holds the lock, and may have listed the storage before: another reader may have
        copied since then what was published since then, so the storage is listed again.
        """
        copied, published = generations(self.folder), set(there)
        if not copied.keys() <= published:
            published.update(self.bucket.generations())
        for generation in copied.keys() - published:
            copied[generation].unlink(missing_ok=True)

    def take_back(self, manifest: Manifest) -> None:
        """Delete a generation of the copy that was not published."""
        manifest.file.unlink(missing_ok=True)
        own = f"-{manifest.generation:08d}-"
        for entry in _entries(manifest):
            if own in entry.path:
                (self.folder / entry.path).unlink(missing_ok=True)

    def mend(self, manifest: Manifest) -> bool:
        """Delete files of the copy that are not as they were saved; return whether any was."""
        damaged = False
        with locked(self.place, wait=True):
            for entry in _entries(manifest):
                try:
                    read_array(self.folder, entry, mapped=True, full=True)
                except FileNotFoundError:
                    damaged = True
                except ValueError:
                    damaged = True
                    with suppress(OSError):
                        (self.folder / entry.path).unlink()
        return damaged or not manifest.file.exists()

    def check(self, generation: int, whole: set[Entry]) -> CheckedGeneration:
        """Return what is found of a generation in the storage.

        Args:
            generation: Its number.
            whole: Files that were found whole, to which its own are added.
        """
        try:
            raw = self.bucket.read(name_of(generation), 0, MAX_BYTES + 1)
            entries = _entries(self._parsed(generation, raw))
            _each([entry for entry in entries if entry not in whole], self.bucket.check)
        except (FileNotFoundError, ValueError) as error:
            return CheckedGeneration(generation, 0, 0, str(error))
        whole.update(entries)
        return CheckedGeneration(generation, len(entries), sum(one.bytes for one in entries))

    def earlier(self, there: Iterable[int], chosen: int, damage: str) -> str:
        """Return advice for a damaged generation: an earlier one without a file that is named."""
        for generation in sorted((one for one in there if one < chosen), reverse=True):
            [paths] = self._used_by([generation])
            if paths and not any(path in damage for path in paths):
                return f"; an earlier generation is still there: load(path, {generation=})"
        return ""

    def is_newest(self, saved: SavedAs) -> bool:
        """Return whether nothing newer is published than what was loaded or saved."""
        user_cache.mark_used(self.place)
        newest = next(iter(self.bucket.generations()), None)
        if newest is None:
            return True
        if newest != saved.manifest.generation:
            return False
        try:
            head = self.bucket.read(name_of(newest), 0, HEAD)
        except FileNotFoundError:
            return False
        return head[-64:] == saved.manifest.checksum.encode()

    def upload(self, manifest: Manifest) -> None:
        """Write the files of a generation that the storage has not yet, and its manifest last."""
        self.bucket.make_folders()
        there = self.bucket.files(DATA)
        new = [entry for entry in _entries(manifest) if not _is_there(entry, there)]
        _each(new, lambda entry: self.bucket.put(self.folder / entry.path, entry.path))
        name = manifest.file.name
        try:
            self.bucket.create(name, manifest.file.read_bytes())
        except FileExistsError as error:
            raise BlockingIOError(
                f"another writer has published generation {manifest.generation} to "
                f"{self.bucket.address} meanwhile, and nothing was published: load that, and save "
                "again"
            ) from error

    def clear_published(self, newest: Manifest) -> None:
        """Delete old generations in the storage, and files that belong to none.

        What is young stays, by the storage's own clock. What may not be deleted is logged.
        """
        try:
            for path in self._unused(newest):
                self.bucket.delete(path)
        except StorageError as error:
            LOGGER.warning("%s: what is old could not go: %s", self.bucket.address, error)

    def _unused(self, newest: Manifest) -> list[str]:
        """Return what is to be deleted: manifests first, then the files of none that is left."""
        roots, data = self.bucket.files(), self.bucket.files(DATA)
        now = roots[newest.file.name].written if newest.file.name in roots else None
        if now is None:  # the storage does not say when a file was written
            LOGGER.warning("%s does not say how old its files are: none goes", self.bucket.address)
            return []
        last = {name_of(one) for one in generations_in(roots)[:GENERATIONS]}

        def is_old(file: StoredFile) -> bool:
            return file.written is not None and now - file.written >= MIN_AGE

        gone = [
            name
            for name, file in roots.items()
            if is_old(file)
            and (UNFINISHED.fullmatch(name) or (MANIFEST_NAME.fullmatch(name) and name not in last))
        ]
        old = {f"{DATA}/{n}" for n, file in data.items() if FILE_NAME.fullmatch(n) and is_old(file)}
        old -= {entry.path for entry in _entries(newest)}
        if old:
            left = [one for one in generations_in(roots) if name_of(one) not in gone]
            for used in self._used_by(left):
                old -= used
        return [*gone, *sorted(old)]

    def _used_by(self, some: Iterable[int]) -> list[set[str]]:
        """Return the paths that each of some generations has; none of one that is damaged."""

        def paths(generation: int) -> set[str]:
            try:
                raw = self.bucket.read(name_of(generation), 0, MAX_BYTES + 1)
                return {entry.path for entry in _entries(self._parsed(generation, raw))}
            except (FileNotFoundError, ValueError):
                return set()

        return _each(some, paths)


def publish(index: SavedIndex, address: str) -> SavedAs:
    """Save an index to a storage, as its next generation; the one before stays until this is whole.

    Args:
        index: What is saved.
        address: Where the storage has it, such as `s3://bucket/handbook`.

    Returns:
        Where its copy is.

    Raises:
        BlockingIOError: Another writer has published meanwhile.
        ModuleNotFoundError: The package of the storage is not installed.
        OSError: The storage failed or refused, or the disk of the cache is full.
        ValueError: As in `clew.store.save`.
    """
    replica = Replica.at(address)
    with locked(replica.place, wait=True):
        files = replica.bucket.files()
        there = generations_in(files)
        _refuse_others(replica, list(files), there)
        replica.forget_unpublished(there)
        saved = save(index, replica.folder, after=next(iter(there), 0))
        try:
            replica.upload(saved.manifest)
        except BaseException:
            replica.take_back(saved.manifest)
            raise
        replica.clear_published(saved.manifest)
    user_cache.let_old_ones_go(replica.place)
    return replace(saved, address=address)


def load_replica(
    address: str,
    caller_parts: CallerParts = EMPTY,
    *,
    verify: Verify = DEFAULT_VERIFY,
    generation: int | None = None,
) -> SavedIndex:
    """Return the index that was saved in a storage, from its copy in the cache.

    The manifest is read, and files that are not in the cache are copied, each checked.

    Args:
        address: As in `publish`.
        caller_parts: As in `clew.store.load`.
        verify: As in `clew.store.load`.
        generation: An earlier generation that is still in the storage. None is the newest.

    Raises:
        FileNotFoundError: There is no index.
        ModuleNotFoundError: The package of the storage is not installed.
        OSError: The storage failed, or the disk of the cache is full.
        ValueError: As in `clew.store.load`.
    """
    replica, mended, before = Replica.at(address), 0, list[int]()
    for _ in range(RETRIES):
        there = replica.bucket.generations()
        mended = mended if there == before else 0
        before, chosen = there, _chosen(replica, there, generation)
        try:
            manifest = replica.copy(chosen, there)
        except FileNotFoundError as error:
            if replica.bucket.generations() == there:
                raise ValueError(
                    f"a file is missing in {replica.bucket.address}, though {name_of(chosen)} "
                    f"lists it: {error}"
                ) from error
            continue
        except NewerFormatError:
            raise
        except ValueError as error:
            raise ValueError(f"{error}{replica.earlier(there, chosen, str(error))}") from error
        try:
            saved = load(replica.folder, caller_parts, verify=verify, generation=chosen)
        except (FileNotFoundError, ValueError):
            if mended == MENDED or not replica.mend(manifest):
                raise
            mended += 1
            continue
        assert saved.saved_as is not None, "it was loaded from there"
        newest = 0 if generation is None else max(there)
        return replace(saved, saved_as=replace(saved.saved_as, address=address, newest=newest))
    raise ValueError(f"{replica.bucket.address} changed {RETRIES} times while it was being opened")


def is_newest_published(saved: SavedAs) -> bool:
    """Return whether nothing newer is in the storage than what was loaded from there, or saved.

    That takes two small requests. It is also where there is nothing any more.

    Raises:
        OSError: The storage cannot be reached.
    """
    return Replica.at(saved.address).is_newest(saved)


def check_published(address: str) -> list[CheckedGeneration]:
    """Return what is found of each generation in a storage, the newest first.

    Every file is read from there, and hashed.

    Raises:
        FileNotFoundError: There is no index.
        OSError: The storage cannot be reached.
    """
    replica, whole = Replica.at(address), set[Entry]()
    there = replica.bucket.generations()
    _chosen(replica, there, None)
    return [replica.check(generation, whole) for generation in there]


def _chosen(replica: Replica, there: list[int], generation: int | None) -> int:
    if not there:
        raise FileNotFoundError(
            f"there is no index at {replica.bucket.address}: it has no MANIFEST file"
        )
    chosen = there[0] if generation is None else generation
    if chosen not in there:
        raise ValueError(
            f"{replica.bucket.address} has no generation {generation}; it has "
            f"{', '.join(map(str, there))}"
        )
    return chosen


def _refuse_others(replica: Replica, files: list[str], there: list[int]) -> None:
    """Raise ValueError for a folder of other files, or of an index that a newer clew saved."""
    others = [name for name in files if not UNFINISHED.fullmatch(name)]
    if others and not there:
        raise ValueError(
            f"{replica.bucket.address} has other files, for instance {min(others)}, and no index: "
            "save to a new or empty folder"
        )
    for generation in there[:1]:
        try:
            raw = replica.bucket.read(name_of(generation), 0, MAX_BYTES + 1)
            parse_manifest(raw, replica.folder / name_of(generation), replica.bucket.address)
        except NewerFormatError:
            raise
        except (FileNotFoundError, ValueError):
            continue  # damaged, or cleared away: it may be written over


def _place_of(address: str) -> Path:
    name = address.rstrip("/").encode("utf-8", "replace")
    return user_cache.cache_root() / f"copy-{blake2b(name, digest_size=12).hexdigest()}"


def _entries(manifest: Manifest) -> list[Entry]:
    """Return the files of a generation, each once."""
    return list({entry.path: entry for entry in manifest.entries.values()}.values())


def _is_there(entry: Entry, files: dict[str, StoredFile]) -> bool:
    found = files.get(Path(entry.path).name)
    return found is not None and found.bytes == entry.bytes


def _each(items: Iterable[Item], work: Callable[[Item], Result]) -> list[Result]:
    """Return what a function returns for each item, several at a time; the first error ends it."""
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="clew-storage") as executor:
        return list(executor.map(work, items))
