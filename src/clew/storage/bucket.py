"""The few calls that a storage is asked for, in one place: each may fail, and says so in one way.

A file of an index is never changed once it is there. Only a manifest is written under a name that
another writer may want, too: object storage writes one only where none is.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from clew.storage.address import is_storage, without_password
from clew.store.arrays import DATA, Entry, write_file
from clew.store.manifest import generations_in

CONDITIONAL = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "memory")
"""Storages that write a file whole, only where there is none, and have no folders to be made."""

LOCAL = ("file", "local")
"""Storages with links, which are made only where there is nothing of their name."""

CHUNK = 1 << 24
"""Bytes that are read at a time."""

TIMES = ("LastModified", "last_modified", "mtime", "modified", "updated", "created")
"""What storages call the time at which a file was written."""


class StorageError(OSError):
    """A storage that cannot be reached, or that refuses what it is asked for."""


@dataclass(frozen=True)
class StoredFile:
    """A file in a storage.

    Attributes:
        bytes: Its size.
        written: When, by the storage's clock, in seconds; None where it does not say.
    """

    bytes: int
    written: float | None


@dataclass(frozen=True, eq=False)
class Bucket:
    """The folder of an index in a storage.

    Attributes:
        address: What it is called, without a password.
        protocol: The kind of storage.
        root: The folder, as the storage names it.
        system: fsspec's file system.
    """

    address: str
    protocol: str
    root: str
    system: Any

    @classmethod
    def open(cls, address: str) -> Bucket:
        """Return the folder at an address; whether an index is there is seen when it is read.

        Raises:
            ModuleNotFoundError: fsspec, or the package of this storage, is not installed.
            StorageError: The storage cannot be reached.
            ValueError: It is no address of a storage.
        """
        shown, protocol = without_password(address), address.partition("://")[0]
        if not is_storage(address) or "::" in address:
            raise ValueError(
                f"an index in a storage has an address such as s3://bucket/handbook, not {shown!r}"
            )
        core = _fsspec(shown, protocol)
        with _said(shown):
            system, root = core.url_to_fs(address)
        return cls(shown, protocol, root.rstrip("/"), system)

    def shown(self, path: str) -> str:
        """Return what a file is called in an error."""
        return f"{self.address.rstrip('/')}/{path}"

    def files(self, folder: str = "") -> dict[str, StoredFile]:
        """Return the files of the root, or of a folder in it, by name; none where it is not."""
        path = f"{self.root}/{folder}".rstrip("/") or "/"
        with _said(self.shown(folder)):
            self.system.invalidate_cache()  # others write there
            try:
                entries = self.system.ls(path, detail=True)
            except (FileNotFoundError, NotADirectoryError):
                return {}
        return {
            entry["name"].rpartition("/")[2]: StoredFile(int(entry["size"]), _written(entry))
            for entry in entries
            if entry["type"] == "file"
        }

    def generations(self) -> list[int]:
        """Return the generations that are there, the newest first."""
        return generations_in(self.files())

    def read(self, path: str, start: int, end: int) -> bytes:
        """Return the bytes of a file from one place to another; fewer where it ends before.

        Raises:
            FileNotFoundError: It is not there.
            StorageError: It cannot be read.
        """
        with _said(self.shown(path)):
            found: bytes = self.system.cat_file(f"{self.root}/{path}", start=start, end=end)
        return found

    def copy(self, entry: Entry, folder: Path) -> None:
        """Copy a file of an index below a folder of the disk, whole or not at all.

        Args:
            entry: What the manifest says of it.
            folder: The folder of the index there.

        Raises:
            FileNotFoundError: It is not there.
            StorageError: It cannot be read.
            ValueError: It is not the file that was saved.
        """
        name = f"copying-00000000-{secrets.token_hex(8)}.npy"  # cleared away as an index's files
        unfinished = folder / DATA / name
        write_file(unfinished, self._checked(entry))
        unfinished.replace(folder / entry.path)  # which may be there, damaged

    def check(self, entry: Entry) -> None:
        """Read a file of an index, all of it, and raise as `copy` does."""
        for _ in self._checked(entry):
            pass

    def _checked(self, entry: Entry) -> Iterator[bytes]:
        """Yield the bytes of a file, and raise before the end where they are not as saved."""
        digest, size = blake2b(digest_size=32), 0
        for start in range(0, entry.bytes, CHUNK):
            end = min(start + CHUNK, entry.bytes)
            beyond = int(end == entry.bytes)  # one byte more, if the file is longer
            part = self.read(entry.path, start, end + beyond)
            digest.update(part)
            size += len(part)
            yield part
        if size != entry.bytes or digest.hexdigest() != entry.blake2b:
            there = "fewer or more" if size != entry.bytes else "other"
            raise ValueError(
                f"{self.shown(entry.path)} is damaged: it has {there} bytes than the "
                f"{entry.bytes:,} that were saved"
            )

    def make_folders(self) -> None:
        """Make the folder, where the storage has folders."""
        if self.protocol not in CONDITIONAL:
            with _said(self.address):
                self.system.makedirs(f"{self.root}/{DATA}", exist_ok=True)

    def put(self, file: Path, path: str) -> None:
        """Write a file of the disk to the storage.

        Raises:
            FileNotFoundError: There is no such bucket.
            StorageError: It cannot be written.
        """
        with _said(self.shown(path)):
            self.system.put_file(str(file), f"{self.root}/{path}")

    def create(self, name: str, raw: bytes) -> None:
        """Write a file whole, where there is none of this name.

        A local folder and the storages in `CONDITIONAL` leave what another writer has written
        meanwhile. Others look first, so that of two at the same moment the later one stays.

        Raises:
            FileExistsError: There is one, of other bytes.
            StorageError: It cannot be written.
        """
        path, unfinished = f"{self.root}/{name}", f"{self.root}/{name}.{secrets.token_hex(8)}"
        with _said(self.shown(name)):
            try:
                if self.protocol in CONDITIONAL:
                    self.system.pipe_file(path, raw, mode="create")
                elif self.protocol in LOCAL:
                    self.system.pipe_file(unfinished, raw)
                    try:
                        self.system.link(unfinished, path)
                    finally:
                        self.system.rm_file(unfinished)
                else:
                    self._move_there(path, unfinished, raw)
            except FileExistsError:
                self.system.invalidate_cache()
                if self.system.cat_file(path) != raw:  # else an answer was lost, and asked again
                    raise

    def _move_there(self, path: str, unfinished: str, raw: bytes) -> None:
        self.system.invalidate_cache()
        if self.system.exists(path):
            raise FileExistsError(path)
        self.system.pipe_file(unfinished, raw)
        self.system.mv(unfinished, path)

    def delete(self, path: str) -> None:
        """Delete a file, if it is still there.

        Raises:
            StorageError: It may not be deleted.
        """
        with _said(self.shown(path)):
            try:
                self.system.rm_file(f"{self.root}/{path}")
            except FileNotFoundError:
                return


@contextmanager
def _said(shown: str) -> Iterator[None]:
    """Say in one way what a storage's own package raises in many."""
    try:
        yield
    except (FileNotFoundError, FileExistsError, ImportError, MemoryError):
        raise
    except Exception as error:
        raise StorageError(
            f"the storage of {shown} failed or refused: {type(error).__name__}: {error}; "
            "see that it can be reached, and with these rights"
        ) from error


def _fsspec(shown: str, protocol: str) -> ModuleType:
    """Return fsspec's module that opens addresses, where all that this storage needs is there."""
    try:
        core = import_module("fsspec.core")
        core.get_filesystem_class(protocol)
    except ImportError as error:
        raise ModuleNotFoundError(
            f"{shown} needs a package that is not installed: "
            f"pip install 'clew[storage]'{_package_of(protocol)} ({error})",
            name=error.name,
        ) from error
    except ValueError as error:
        known = ", ".join(sorted(import_module("fsspec").available_protocols()))
        raise ValueError(
            f"{shown} is of no storage that fsspec knows: {error}; it knows {known}"
        ) from error
    return core


def _package_of(protocol: str) -> str:
    """Return the package that reaches a storage, as fsspec knows it, with a space in front."""
    try:
        known = import_module("fsspec.registry").known_implementations
        package = str(known[protocol]["class"]).partition(".")[0]
    except (ImportError, KeyError):
        return ""
    return "" if package == "fsspec" else f" {package}"


def _written(entry: dict[str, Any]) -> float | None:
    """Return when a file was written, in seconds, of what a storage lists of it."""
    value = next((entry[key] for key in TIMES if entry.get(key)), None)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        return value.timestamp()
    return float(value) if isinstance(value, (int, float)) else None
