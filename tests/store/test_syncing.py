"""Files are synced side by side, each once, and closed; an error of any of them is raised."""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from types import SimpleNamespace

import pytest

from clew import Index
from clew.store import disk, syncing

PARTIES = 4


def opened(folder, n):
    return [disk.create(folder / str(i)) for i in range(n)]


def have_synced(descriptors, error=None):
    with syncing.Syncing() as sync_beside:
        for descriptor in descriptors:
            sync_beside(descriptor)
        if error is not None:
            raise error


def is_open(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def test_several_files_of_a_save_are_synced_at_once(small, tmp_path, monkeypatch):
    together, met = threading.Barrier(PARTIES), threading.Event()

    def sync(_):
        if not met.is_set():  # one after the other, none would ever meet another
            together.wait(timeout=60)
            met.set()

    monkeypatch.setattr(disk, "sync", sync)
    monkeypatch.setattr(disk, "sync_folder", lambda _: None)
    small.save(tmp_path)
    assert met.is_set()


def test_each_file_is_synced_once_and_closed_however_many_there_are(tmp_path, monkeypatch):
    synced, lock = [], threading.Lock()

    def sync(descriptor):
        with lock:
            synced.append(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(disk, "sync", sync)
    n = 3 * syncing.MAX_OPEN
    inodes, most = [], 0
    with syncing.Syncing() as sync_beside:
        for i in range(n):
            descriptor = disk.create(tmp_path / str(i))
            inodes.append(os.fstat(descriptor).st_ino)
            sync_beside(descriptor)
            most = max(most, len(inodes) - len(synced))
    assert sorted(synced) == sorted(inodes)
    assert len(set(inodes)) == n
    assert most <= syncing.MAX_OPEN + 1
    again = disk.create(tmp_path / "last")
    assert again <= descriptor + 1, "no descriptor is left open"
    os.close(again)


def test_the_error_of_a_file_is_raised_and_all_are_closed(tmp_path, monkeypatch):
    descriptors = opened(tmp_path, 6)
    bad = descriptors[2]

    def sync(descriptor):
        if descriptor == bad:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(disk, "sync", sync)
    with pytest.raises(OSError, match="Input/output error"):
        have_synced(descriptors)
    left = descriptors[descriptors.index(bad) + 1 :]
    assert not any(map(is_open, descriptors[: descriptors.index(bad) + 1]))
    for descriptor in filter(is_open, left):  # of which none was handed over any more
        os.close(descriptor)


def test_an_error_of_the_block_is_the_one_that_is_raised(tmp_path, monkeypatch):
    def sync(_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(disk, "sync", sync)
    with pytest.raises(KeyboardInterrupt):
        have_synced(opened(tmp_path, 1), KeyboardInterrupt())


def test_an_index_is_saved_where_no_thread_can_be_started(embed, small, tmp_path, monkeypatch):
    def start(_):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    synced = []
    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setattr(disk, "sync", synced.append)
    small.save(tmp_path)
    monkeypatch.undo()
    files = [path for path in (tmp_path / "data").iterdir() if path.suffix == ".npy"]
    assert len(synced) > len(files) > 40, "each file, the manifest and the folders"
    assert Index.load(tmp_path, embedder=embed, verify="full").graph.ids == small.graph.ids


def answering(monkeypatch, calls, name, *errors):
    """Have a call of the system note its name, and fail once with each of the errors."""
    left = list(errors)

    def call(*_):
        calls.append(name)
        if left:
            raise OSError(left.pop(0), "as the system says it")

    module, _, attribute = name.rpartition(".")
    monkeypatch.setattr({"os": os, "fcntl": fcntl}[module], attribute, call)


def test_a_share_of_the_network_on_macos_is_synced_as_far_as_it_can(monkeypatch):
    calls = []
    monkeypatch.undo()  # files are synced, as the system is made to say
    monkeypatch.setattr(disk, "sys", SimpleNamespace(platform="darwin"))
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    answering(monkeypatch, calls, "fcntl.fcntl", errno.ENOTSUP, errno.EIO)
    answering(monkeypatch, calls, "os.fsync")
    disk.sync(0)
    assert calls == ["fcntl.fcntl", "os.fsync"]
    with pytest.raises(OSError, match="as the system says it"):
        disk.sync(0)  # what has failed is not asked otherwise, which might say that all is well
    assert calls[2:] == ["fcntl.fcntl"]
    disk.sync(0)
    assert calls[3:] == ["fcntl.fcntl"]


def test_a_folder_that_cannot_be_synced_is_no_failure_and_a_broken_disk_is(tmp_path, monkeypatch):
    monkeypatch.undo()
    answering(monkeypatch, [], "os.fsync", errno.EINVAL, errno.EIO)
    disk.sync_folder(tmp_path)
    with pytest.raises(OSError, match="as the system says it"):
        disk.sync_folder(tmp_path)
