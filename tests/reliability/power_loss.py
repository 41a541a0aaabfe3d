"""A disk that loses its power: what was not synced is dropped, cut or reordered.

Everything that a program does to a folder is recorded, call by call. After any of the calls the
power may fail. What is then on the disk is put together by the rules that a file system keeps to:

- what a file held at its last fsync is there, if a name leads to the file;
- of what was written since, each piece may be there, or zeros, or nothing, or a part of it;
- the names in a folder are those of its last fsync; of the changes since, any may be there;
- a rename is there whole or not at all.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from unittest.mock import patch

import numpy as np

from clew import Document, Index
from clew.index import in_place
from clew.store import difference, manifest, saving
from clew.store.whole_beside import WRITERS
from tests.conftest import hashed_words
from tests.store.small import small_index

SURVIVALS = ("nothing", "names", "data", "cut", "some", "zeros", "everything")
"""What may be left of what was not synced; see `Disk.state`."""

IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where states are laid out: thousands of small files, each there for milliseconds."""

Name = tuple[str, str]  # a folder, relative to the root, and a name in it
Event = tuple[object, ...]


class Recorder:
    """Records what the calls of the operating system do to a folder."""

    def __init__(self, root: Path) -> None:
        self.root = os.path.realpath(root)
        self.events: list[Event] = []
        self._files: dict[int, int] = {}  # inode by descriptor
        self._folders: dict[int, str] = {}  # folder by descriptor

    def _name(self, path: object) -> Name | None:
        """Return a path below the root as a folder and a name; None for another."""
        if isinstance(path, int):
            return None
        folder = self._relative(Path(path).parent)
        return None if folder is None else (folder, Path(path).name)

    def _relative(self, path: object) -> str | None:
        full = os.path.realpath(path)
        if full == self.root:
            return ""
        return os.path.relpath(full, self.root) if full.startswith(self.root + os.sep) else None

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record until the end of the block."""
        names = [
            "open",
            "write",
            "fsync",
            "rename",
            "replace",
            "unlink",
            "mkdir",
            "close",
            "ftruncate",
        ]
        real = {name: getattr(os, name) for name in names}
        for name in names:
            setattr(os, name, getattr(self, f"_{name}")(real[name]))
        try:
            yield
        finally:
            for name in names:
                setattr(os, name, real[name])

    def _open(self, real: Callable) -> Callable:
        def call(path, flags, *rest, **how):
            name = self._name(path)
            is_new = name is not None and flags & os.O_CREAT and not os.path.lexists(path)
            descriptor = real(path, flags, *rest, **how)
            if is_new:
                self._files[descriptor] = inode = os.fstat(descriptor).st_ino, len(self.events)
                self.events.append(("create", inode, *name))
            elif Path(path).is_dir() and (folder := self._relative(path)) is not None:
                self._folders[descriptor] = folder
            return descriptor

        return call

    def _write(self, real: Callable) -> Callable:
        def call(descriptor, data):
            count = real(descriptor, data)
            if descriptor in self._files:
                self.events.append(("write", self._files[descriptor], bytes(data[:count])))
            return count

        return call

    def _fsync(self, real: Callable) -> Callable:
        def call(descriptor):  # the real one is of no use to a test, and slow
            if descriptor in self._files:
                self.events.append(("sync", self._files[descriptor]))
            elif descriptor in self._folders:
                self.events.append(("sync folder", self._folders[descriptor]))

        return call

    def _rename(self, real: Callable) -> Callable:
        def call(old, new, **how):
            names = self._name(old), self._name(new)
            real(old, new, **how)
            if None not in names:
                self.events.append(("rename", *names[0], *names[1]))

        return call

    _replace = _rename  # the same on the systems that are simulated

    def _unlink(self, real: Callable) -> Callable:
        def call(path, **how):
            name = self._name(path)
            real(path, **how)
            if name is not None:
                self.events.append(("unlink", *name))

        return call

    def _mkdir(self, real: Callable) -> Callable:
        def call(path, *rest, **how):
            name = self._name(path)
            real(path, *rest, **how)
            if name is not None:
                self.events.append(("mkdir", *name))

        return call

    def _close(self, real: Callable) -> Callable:
        def call(descriptor):
            self._files.pop(descriptor, None)
            self._folders.pop(descriptor, None)
            return real(descriptor)

        return call

    def _ftruncate(self, real: Callable) -> Callable:
        def call(descriptor, length):
            assert descriptor not in self._files, "the model of the disk knows no truncation"
            return real(descriptor, length)

        return call


@dataclass
class File:
    """What is certain to be in a file, and the writes since.

    Attributes:
        synced: The bytes at the last fsync.
        pending: The pieces written behind them since.
    """

    synced: bytes = b""
    pending: list[bytes] = field(default_factory=list)


Change = tuple[str | None, str | None, object]
"""A name that goes, or None; a name that comes, or None; and what that leads to."""


@dataclass
class Folder:
    """The names that are certain to be in a folder, and the changes since.

    Attributes:
        synced: What each name leads to: a file, or None for a folder.
        pending: The changes since.
    """

    synced: dict[str, object] = field(default_factory=dict)
    pending: list[Change] = field(default_factory=list)

    def now(self) -> dict[str, object]:
        """Return the names as the program sees them."""
        return _changed(self.synced, self.pending)


def _changed(names: dict[str, object], changes: Sequence[Change]) -> dict[str, object]:
    names = dict(names)
    for gone, new, target in changes:
        if gone is not None:
            names.pop(gone, None)
        if new is not None:
            names[new] = target
    return names


class Disk:
    """What is on a disk, and what may be, while events go by."""

    def __init__(self) -> None:
        self.files: dict[object, File] = {}
        self.folders: dict[str, Folder] = {"": Folder()}

    def do(self, event: Event) -> None:
        """Take the next event."""
        kind, *rest = event
        if kind == "create":
            inode, folder, name = rest
            self.files[inode] = File()
            self.folders[folder].pending.append((None, name, inode))
        elif kind == "write":
            self.files[rest[0]].pending.append(rest[1])
        elif kind == "sync":
            file = self.files[rest[0]]
            file.synced, file.pending = file.synced + b"".join(file.pending), []
        elif kind == "sync folder":
            folder = self.folders[rest[0]]
            folder.synced, folder.pending = folder.now(), []
        elif kind == "rename":
            folder, old, other, new = rest
            assert folder == other, "the model knows renames within a folder only"
            self.folders[folder].pending.append((old, new, self.folders[folder].now()[old]))
        elif kind == "unlink":
            self.folders[rest[0]].pending.append((rest[1], None, None))
        elif kind == "mkdir":
            self.folders[rest[0]].pending.append((None, rest[1], None))
            self.folders[str(Path(*rest))] = Folder()

    def state(self, survival: str, chance: random.Random) -> dict[str, bytes | None]:
        """Return what may be found after a loss of power: bytes by path, None for a folder.

        Args:
            survival: Of what was not synced there remain: "nothing"; the "names", with files cut
                where they were synced; the "data", without names; the names and a "cut" of the
                data; "some" of both, at random; the names and "zeros" for data; "everything".
            chance: Draws.
        """
        found: dict[str, bytes | None] = {}

        def walk(path: str) -> None:
            folder = self.folders[path]
            for name, target in self._names(folder, survival, chance).items():
                place = str(Path(path, name))
                if target is None:
                    found[place] = None
                    walk(place)
                else:
                    found[place] = _content(self.files[target], survival, chance)

        walk("")
        return found

    @staticmethod
    def _names(folder: Folder, survival: str, chance: random.Random) -> dict[str, object]:
        if survival in ("nothing", "data"):
            return folder.synced
        if survival == "some":
            kept = [change for change in folder.pending if chance.random() < 0.5]
            return _changed(folder.synced, kept)
        return folder.now()


def _content(file: File, survival: str, chance: random.Random) -> bytes:
    if survival in ("nothing", "names") or not file.pending:
        return file.synced
    rest = b"".join(file.pending)
    if survival == "cut":
        rest = rest[: chance.randrange(len(rest) + 1)]
    elif survival == "zeros":
        rest = bytes(len(rest))
    elif survival == "some":  # a later piece may be there and an earlier one not
        rest = b"".join(
            chance.choice([piece, bytes(len(piece)), piece[: len(piece) // 2]])
            for piece in file.pending
        )
    return file.synced + rest


def lay_out(state: dict[str, bytes | None], folder: Path) -> None:
    """Write a state to an empty folder."""
    for path, content in state.items():
        place = folder / path
        if content is None:
            place.mkdir()
        else:
            place.write_bytes(content)


@dataclass
class PowerLosses:
    """What was found after losses of power.

    Attributes:
        states: How many states of the disk were opened.
        old: In how many of them the generation before was found.
        new: In how many the one that was being saved, or had been.
        failures: What is wrong, a line each.
    """

    states: int = 0
    old: int = 0
    new: int = 0
    failures: list[str] = field(default_factory=list)


def fingerprint(index: Index) -> str:
    """Return a checksum of all that an index was saved with."""
    graph = index.graph
    digest = blake2b(np.asarray(graph.vectors).tobytes(), digest_size=16)
    parts = (graph.ids, graph.texts, graph.kinds, graph.facts.texts, index.skipped, index.facts)
    digest.update(repr([*parts, [d.id for d in index.documents]]).encode("utf-8", "surrogatepass"))
    for column in (graph.edges.tails, graph.edges.heads, graph.edges.weights):
        digest.update(column.tobytes())
    return digest.hexdigest()


Next = Index | Callable[[Index], Index]
"""An index, or what makes it of the one that was saved before."""


BESIDE = "beside"


def histories() -> dict[str, list[Next]]:
    """Return what is saved to one folder after the other, by the kind of the change."""
    small = small_index(hashed_words)
    fewer = small.delete("cleo")
    more = small.add([Document("dora", "Dora lives in Corfu."), Document("emil", "Emil met Dora.")])
    other = Index.from_documents(
        [Document(f"m{i}", f"Passage {i} of the sea.") for i in range(4)], embedder=hashed_words
    )
    merged = more.add(other.documents)
    changes = [
        more,
        lambda saved: saved.add([Document("fay", "Fay sails to Corfu.")]),
        lambda saved: saved.delete(["fay", "emil"]),
        lambda saved: saved.add(other.documents),  # three changes become one
        lambda saved: saved.upsert([Document("ben", "Ben lives in Delos.")]),  # written whole
        lambda saved: saved.delete("m1"),
    ]
    return {
        "save": [small, replace(small, skipped=(("again", "saved"),))],
        "add": [fewer, small, more],
        "merge": [more, merged, merged.delete(["m0", "anna"]), other],
        "change": changes,
        BESIDE: changes,  # after each of them a thread writes the index whole
    }


@contextmanager
def clearing_at_once() -> Iterator[None]:
    """Let old files be cleared away however young they are."""
    before, manifest.MIN_AGE = manifest.MIN_AGE, 0.0
    try:
        yield
    finally:
        manifest.MIN_AGE = before


@contextmanager
def changes_of_any_size(*, are_too_large: bool = False) -> Iterator[None]:
    """Let the smallest index be changed in place and saved as a change, and clear away at once.

    Args:
        are_too_large: Whether a thread is to write the index whole after each.
    """
    settings = (
        (manifest, "MIN_AGE", 0.0),
        (in_place, "MIN_PASSAGES", 0),
        (in_place, "MAX_CHANGED", 1e9),
        (saving, "MIN_BYTES", 0),
        (saving, "MAX_SHARE", 0 if are_too_large else 1e9),
        (saving, "MAX_BYTES", 0),
        (saving, "MIN_BYTES_BESIDE", 0),
        (saving, "MAX_SHARE_BESIDE", 1e9),
        (saving, "MAX_CHANGES", 2),  # so that they become one, too
        (difference, "MAX_SHARE", 1.0),
    )
    before = [(module, name, getattr(module, name)) for module, name, _ in settings]
    try:
        for module, name, value in settings:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def _noting(begun: list[tuple[object, ...]]) -> Callable[..., None]:
    """Return what notes its arguments."""
    return lambda *arguments: begun.append(arguments)


def _write_whole(index: object, root: Path, manifest: object) -> None:
    """Do what a thread does, and wait for it."""
    type(WRITERS).begin(WRITERS, index, root, manifest)
    WRITERS.wait(root)


def record(history: Sequence[Next], root: Path) -> tuple[list[tuple[Event, int]], list[Index]]:
    """Save indexes to a folder; return every event, how many saves had returned before it, and them."""
    recorder, events, indexes = Recorder(root), [], []
    for returned, each in enumerate(history):
        indexes.append(index := each if isinstance(each, Index) else each(indexes[-1]))
        begun: list[tuple[object, ...]] = []  # what a thread does after the save
        for now_returned, act in (
            (returned, lambda index=index: index.save(root / "index")),
            (returned + 1, lambda begun=begun: [_write_whole(*each) for each in begun]),
        ):
            with recorder.recording(), patch.object(WRITERS, "begin", _noting(begun)):
                act()
            events += [(event, now_returned) for event in recorder.events]
            recorder.events.clear()
    disk = Disk()
    for event, _ in events:
        disk.do(event)
    there = {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in root.rglob("*")
    }
    assert disk.state("everything", random.Random(0)) == there, "a change was not recorded"
    return [*events, (("end",), len(indexes))], indexes


def lose_power(states: int, seed: int) -> PowerLosses:
    """Lose the power at random moments of saving, and open what is there.

    Args:
        states: How many moments, each with one of `SURVIVALS`.
        seed: Of the choice.
    """
    found, chance = PowerLosses(), random.Random(seed)
    all_histories = histories()
    for kind, history in all_histories.items():
        root = Path(tempfile.mkdtemp())
        small_changes = changes_of_any_size(are_too_large=kind == BESIDE)
        with small_changes if kind in ("change", BESIDE) else clearing_at_once():
            events, indexes = record(history, root)
        shutil.rmtree(root)
        wanted = _moments(events, states // len(all_histories), chance)
        marks = [fingerprint(index) for index in indexes]
        _lose_power(kind, events, wanted, marks, chance, found)
    return found


def _moments(events: Sequence[tuple[Event, int]], count: int, chance: random.Random) -> list[int]:
    """Return random numbers of events, every second of them near a rename, in ascending order."""
    renames = [at for at, (event, _) in enumerate(events) if event[0] == "rename"]
    near = [at + step for at in renames for step in range(-8, 9) if at + step < len(events)]
    half = count // 2
    return sorted(chance.choices(near, k=half) + chance.choices(range(len(events)), k=count - half))


def _lose_power(
    kind: str,
    events: Sequence[tuple[Event, int]],
    wanted: Sequence[int],
    marks: Sequence[str],
    chance: random.Random,
    found: PowerLosses,
) -> None:
    disk, done = Disk(), 0
    for at in wanted:
        for event, _ in events[done:at]:
            disk.do(event)
        done, returned = at, events[at][1]
        survival = chance.choice(SURVIVALS)
        folder = Path(tempfile.mkdtemp(dir=IN_MEMORY))
        lay_out(disk.state(survival, chance), folder)
        found.states += 1
        failure = _opened_as(folder / "index", returned, marks, found)
        if failure:
            found.failures.append(f"{kind}, after {at} calls, {survival} survives: {failure}")
        shutil.rmtree(folder)


def _opened_as(folder: Path, returned: int, marks: Sequence[str], found: PowerLosses) -> str:
    """Open what is there; return what is wrong with it."""
    try:
        index = Index.load(folder, embedder=hashed_words, verify="full")
    except FileNotFoundError:
        found.old += not returned
        return "an acknowledged index is gone" if returned else ""
    except Exception as error:  # noqa: BLE001  # whatever it is, it cannot be opened
        return f"{type(error).__name__}: {error}"
    mark = fingerprint(index)
    if returned and mark == marks[returned - 1]:
        found.old += 1
    elif returned < len(marks) and mark == marks[returned]:
        found.new += 1
    else:
        return f"neither state {returned} nor {returned + 1}, but {mark}"
    return "" if returned or len(index) else "an empty index"
