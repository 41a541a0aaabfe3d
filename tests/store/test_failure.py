"""A save that fails leaves what was there; whoever reads or writes at the same time is safe."""

from __future__ import annotations

import errno
import shutil
import threading
import time
from dataclasses import replace
from itertools import count

import pytest

from clew import Index
from clew.store import disk, loading, manifest
from clew.store.lock import locked

CALLS = ("create", "write", "sync", "sync_folder", "rename")


def failing(monkeypatch, at, error):
    """Make the `at`-th call that changes the disk fail, and all after it, as on a disk that is full or gone; return the calls' counter."""
    calls = count()
    for name in CALLS:
        real = getattr(disk, name)

        def call(*args, real=real):
            if next(calls) >= at:
                raise error
            return real(*args)

        monkeypatch.setattr(disk, name, call)
    return calls


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "LOCK" and not path.name.startswith("VERIFIED")
    }


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
)
def test_whichever_call_fails_the_old_generation_stays_until_the_new_one_is_whole(
    embed, small, tmp_path, monkeypatch, error, step
):
    small.delete("cleo").save(tmp_path)
    before = files(tmp_path)
    small.delete("cleo").save(tmp_path / "counted")
    with monkeypatch.context() as patched:
        calls = failing(patched, 10**6, error)
        small.save(tmp_path / "counted")
    shutil.rmtree(tmp_path / "counted")
    total = next(calls)
    named = total - 2  # after the rename, only the folder is synced: two calls
    for at in sorted({*range(0, named, step), *range(named - 5, named)}):
        with monkeypatch.context() as patched:
            failing(patched, at, error)
            with pytest.raises(type(error)) as raised:
                small.save(tmp_path)
        assert files(tmp_path) == before, "a save that failed leaves nothing behind"
        assert len(Index.load(tmp_path, embedder=embed)) == 2
        if isinstance(error, OSError):
            said = f"the index was not saved to {tmp_path}, where all is as it was: No space left on device"
            assert (raised.value.errno, raised.value.strerror) == (errno.ENOSPC, said)
    with monkeypatch.context() as patched:
        failing(patched, named, error)
        with pytest.raises(type(error)) as raised:
            small.save(tmp_path)
    assert len(Index.load(tmp_path, embedder=embed, verify="full")) == 3
    assert isinstance(error, KeyboardInterrupt) or "is saved to" in str(raised.value)
    small.save(tmp_path)
    assert sorted(manifest.generations(tmp_path)) == [1, 2, 3]


def test_a_first_save_that_fails_leaves_no_index_and_can_be_tried_again(
    embed, small, tmp_path, monkeypatch
):
    with monkeypatch.context() as patched:
        failing(patched, 30, OSError(errno.EIO, "Input/output error"))
        with pytest.raises(OSError, match="the index was not saved to"):
            small.save(tmp_path / "new")
    with pytest.raises(FileNotFoundError, match="is not a saved index"):
        Index.load(tmp_path / "new", embedder=embed)
    small.save(tmp_path / "new")
    assert len(Index.load(tmp_path / "new", embedder=embed)) == 3


def test_everything_is_on_the_disk_before_the_manifest_has_its_name(small, tmp_path, monkeypatch):
    did, path_of = [], {}

    def recorded(name):
        real = getattr(disk, name)

        def call(*args):
            done = real(*args)
            if name == "create":
                path_of[done] = args[0].relative_to(tmp_path).as_posix()
            first = args[0]
            did.append(
                (
                    name,
                    path_of[first]
                    if isinstance(first, int)
                    else first.relative_to(tmp_path).as_posix(),
                )
            )
            return done

        monkeypatch.setattr(disk, name, call)

    monkeypatch.setattr(
        disk, "sync_folder", lambda _: None
    )  # which would sync a descriptor that is no file's
    for name in CALLS:
        recorded(name)
    small.save(tmp_path / "new")
    place = {}
    for step, event in enumerate(did):
        place.setdefault(event, []).append(step)
    named = place["rename", next(path for name, path in did if name == "rename")][0]
    made = [path for name, path in did if name == "create"]
    assert len(made) > 40
    for path in made:
        written, [synced] = place["write", path], place["sync", path]
        assert place["create", path][0] < written[0] <= written[-1] < synced < named, path
    first, last = (
        place["create", made[0]][0],
        max(place["sync", path][0] for path in made if path.startswith("new/data/")),
    )
    assert place["sync_folder", "."][0] < first, (
        "the new folder has its name before anything is put into it"
    )
    assert place["sync_folder", "new"][0] < first, "and so has the folder of its files"
    assert last < place["sync_folder", "new/data"][0] < place["create", made[-1]][0], (
        "the files have their names before they are listed"
    )
    assert made[-1].startswith("new/MANIFEST-")
    assert did[-1] == ("sync_folder", "new"), "the last thing is to keep the name"


def test_a_second_writer_fails_at_once(small, tmp_path):
    small.save(tmp_path)
    before, answers = files(tmp_path), []

    def second():
        try:
            small.save(tmp_path)
        except BlockingIOError as error:
            answers.append(str(error))

    with locked(tmp_path):
        other = threading.Thread(target=second)
        other.start()
        other.join(timeout=20)
    assert answers == [
        f"another process or thread is saving an index to {tmp_path}; wait until it is done, then save again"
    ]
    assert files(tmp_path) == before
    small.save(tmp_path)


def test_readers_see_one_whole_generation_while_another_is_written_and_old_ones_are_cleared_away(
    embed, small, tmp_path, monkeypatch
):
    monkeypatch.setattr(
        manifest, "MIN_AGE", 0.0
    )  # clear away at once, from under the readers' hands
    states = [
        replace(small.delete("cleo"), skipped=(("even", ""),)),
        replace(small, skipped=(("odd", ""),)),
    ]
    states[0].save(tmp_path)
    seen, wrong, done = [], [], threading.Event()

    def reader():
        while not done.is_set():
            try:
                index = Index.load(tmp_path, embedder=embed, verify="full")
                seen.append((index.skipped[0][0], len(index), len(index.graph.facts)))
            except Exception as error:  # noqa: BLE001  # whatever it is, it fails the test
                wrong.append(repr(error))

    readers = [threading.Thread(target=reader) for _ in range(2)]
    for thread in readers:
        thread.start()
    for k in range(1, 30):
        states[k % 2].save(tmp_path)
        time.sleep(0.01)
    done.set()
    for thread in readers:
        thread.join()
    assert wrong == []
    assert set(seen) == {("even", 2, 2), ("odd", 3, 3)}
    assert len(list(tmp_path.glob("MANIFEST-*"))) == 2


def test_a_reader_whose_generation_is_cleared_away_before_it_has_opened_its_files_opens_the_newest(
    embed, small, tmp_path, monkeypatch
):
    monkeypatch.setattr(manifest, "MIN_AGE", 0.0)
    small.save(tmp_path)
    real, once = loading.read_manifest, []

    def overtaken(file):
        read = real(file)
        if not once:
            once.append(file)
            for _ in range(2):
                small.delete("cleo").save(tmp_path)
        return read

    monkeypatch.setattr(loading, "read_manifest", overtaken)
    index = Index.load(tmp_path, embedder=embed)
    assert not once[0].exists()
    assert len(index) == 2


def test_two_generations_are_kept_and_nothing_that_is_young_is_deleted(
    embed, small, tmp_path, monkeypatch
):
    small.save(tmp_path)
    one = len(list((tmp_path / "data").iterdir()))
    for _ in range(3):
        small.save(tmp_path)
    assert len(list((tmp_path / "data").iterdir())) == 4 * one
    (tmp_path / "data" / "mine.txt").write_text("not of the index")
    left = tmp_path / "MANIFEST-00000009.json.0123456789abcdef"
    left.write_text("of a save that was killed")
    monkeypatch.setattr(manifest, "MIN_AGE", 0.0)
    small.save(tmp_path)
    assert sorted(manifest.generations(tmp_path)) == [4, 5]
    assert len(list((tmp_path / "data").iterdir())) == 2 * one + 1
    assert not left.exists()
    (tmp_path / "MANIFEST-00000005.json").write_text("{}")
    small.save(tmp_path)
    assert sorted(manifest.generations(tmp_path)) == [4, 6], (
        "a damaged one does not count among the two"
    )
    assert len(Index.load(tmp_path, embedder=embed, generation=4, verify="full")) == 3
