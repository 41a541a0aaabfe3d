"""One writer at a time, also where the index is deleted, and the file of its lock with it."""

from __future__ import annotations

import errno
import importlib.util
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from clew.store import lock
from clew.store.lock import LOCK, locked
from clew.store.saving import delete


@pytest.mark.skipif(os.name == "nt", reason="a file that is open stays there")
def test_who_waited_for_a_file_that_is_deleted_has_the_one_that_is_there(tmp_path):
    waits, has_it, may_end = threading.Event(), threading.Event(), threading.Event()

    def wait_for_it():
        with locked(tmp_path, wait=lambda: waits.set() or True):
            has_it.set()
            assert may_end.wait(60)

    thread = threading.Thread(target=wait_for_it)
    with locked(tmp_path):
        thread.start()
        assert waits.wait(60)
        (tmp_path / LOCK).unlink()
    assert has_it.wait(60)
    try:
        with pytest.raises(BlockingIOError), locked(tmp_path):
            raise AssertionError("two have it")
    finally:
        may_end.set()
        thread.join()
    with locked(tmp_path):
        assert (tmp_path / LOCK).exists()


@pytest.fixture(params=["fcntl", "msvcrt"])
def answered(request, monkeypatch):
    """The lock of a system, and the errors that its next tries end with."""
    errors = []

    def call(*_):
        if errors:
            raise OSError(errors.pop(0), "as the system says it")

    if request.param == "fcntl":
        monkeypatch.setattr(lock.fcntl, "flock", call)
        return lock.locked, errno.EWOULDBLOCK, errors
    windows = SimpleNamespace(locking=call, LK_NBLCK=2)
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    monkeypatch.setattr(sys, "platform", "win32")
    spec = importlib.util.spec_from_file_location("lock_of_windows", lock.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.undo()
    return module.locked, errno.EACCES, errors


@pytest.mark.skipif(os.name == "nt", reason="the other systems are played here")
def test_a_held_lock_is_waited_for_and_a_file_system_without_locks_is_named(tmp_path, answered):
    lock_folder, held, errors = answered
    errors += [held, held]
    with lock_folder(tmp_path, wait=True):
        assert errors == []
    errors += [held]
    with pytest.raises(BlockingIOError, match="is saving an index"), lock_folder(tmp_path):
        raise AssertionError("two have it")
    errors += [errno.ENOLCK] * 3
    no_locks = pytest.raises(OSError, match=rf"{tmp_path} cannot be locked .*: as the system")
    with no_locks as raised, lock_folder(tmp_path, wait=True):
        raise AssertionError("it has it")
    assert (raised.value.errno, len(errors)) == (errno.ENOLCK, 2)


def test_an_index_is_deleted_also_where_another_waits_for_its_lock_on_windows(
    small, tmp_path, monkeypatch
):
    small.save(tmp_path / "index")
    unlink = Path.unlink

    def as_on_windows(file, **how):
        if file.name == LOCK:
            raise PermissionError(errno.EACCES, "it is open", str(file))
        unlink(file, **how)

    monkeypatch.setattr(Path, "unlink", as_on_windows)
    delete(tmp_path / "index")
    assert [file.name for file in (tmp_path / "index").rglob("*")] == [LOCK]
