"""One writer at a time, also where the index is deleted, and the file of its lock with it."""

from __future__ import annotations

import os
import threading

import pytest

from clew.store.lock import LOCK, locked


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
