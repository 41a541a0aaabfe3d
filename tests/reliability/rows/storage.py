"""Rows 1 to 5: what happens to a saved index when its files, its version or its disk go wrong."""

from __future__ import annotations

import errno
import os
import random
import resource
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clew import Index
from clew.store import disk, manifest
from clew.store.lock import locked
from clew.store.manifest import generations, read_manifest
from tests.conftest import hashed_words
from tests.reliability.power_loss import changes_of_any_size, lose_power
from tests.reliability.rows.row import Finding, Row, first
from tests.store import test_format_1
from tests.store.kills import kill_savers
from tests.store.small import small_index
from tests.store.test_damage import damages, flipped
from tests.store.test_failure import failing, files
from tests.store.test_refusals import rewritten

KILLS_PER_FOLDER = 100  # the files of all of them pile up in it


def opened(folder: Path, **how) -> Index:
    """Open an index of the small ones, fully verified."""
    return Index.load(folder, **{"embedder": hashed_words, "verify": "full", **how})


def damaged_files(short: bool) -> Finding:
    """Damage every file of a store, a change too, and every byte of its manifest."""
    disk.sync = lambda _: None
    root = Path(tempfile.mkdtemp()) / "index"
    small_index(hashed_words).save(root)
    chance, cases, silent, crashes = random.Random(1), 0, [], []

    def refused(what: str, call: Callable[[], object]) -> None:
        try:
            call()
        except ValueError as error:
            if "damaged" not in str(error):
                crashes.append(f"{what}: {error}")
        except Exception as error:  # noqa: BLE001  # any other is what is looked for
            crashes.append(f"{what}: {type(error).__name__}: {error}")
        else:
            silent.append(what)

    damaged = [(root, path) for path in root.rglob("*") if path.suffix in (".npy", ".json")]
    with_change = Path(tempfile.mkdtemp()) / "index"
    with changes_of_any_size():
        index = small_index(hashed_words)
        index.save(with_change)
        index.delete("cleo").save(with_change)
    damaged += [(with_change, path) for path in (with_change / "data").glob("changes-*")]
    assert damaged[-1][0] == with_change, "no change was saved"
    for folder, file in damaged:
        raw = file.read_bytes()
        chosen = list(damages(raw))
        for _ in range(0 if short else 20):
            at, length = chance.randrange(len(raw)), chance.randrange(len(raw))
            chosen += [(f"flipped at {at}", flipped(raw, at)), (f"cut at {length}", raw[:length])]
        for what, damage in chosen:
            file.write_bytes(damage)
            refused(f"{file.name} {what}", lambda folder=folder: opened(folder))
            cases += 1
        file.write_bytes(raw)
    [file] = root.glob("MANIFEST-*")
    raw, step = file.read_bytes(), 7 if short else 1
    for at in range(0, len(raw), step):
        file.write_bytes(flipped(raw, at))
        refused(f"manifest at {at}", lambda: read_manifest(file))
    file.write_bytes(raw)
    assert (len(opened(root)), len(opened(with_change))) == (3, 2)
    total = cases + len(range(0, len(raw), step))
    found = total - len(silent) - len(crashes)
    return Finding(
        f"every file cut, lengthened and flipped: {cases:,} cases; "
        f"every {'7th ' if short else ''}byte of the manifest flipped: {total - cases:,}",
        f"{found:,} detected by name, {len(silent)} silent, {len(crashes)} other errors",
        first(silent + crashes),
    )


def versions(short: bool) -> Finding:
    """Open what an earlier version saved, and refuse what a newer one did."""
    names, failures, began = list(test_format_1.ANSWERS), [], time.perf_counter()
    for name in names:
        folder = Path(tempfile.mkdtemp())
        index = test_format_1.opened(name, folder, hashed_words)
        index.save(folder)  # in the format of today
        parts = {} if name == "headings" else {"embedder": hashed_words}
        if name == "own_counter":
            parts |= {"count": test_format_1.count_words, "splitter": test_format_1.SPLITTER}
        if Index.load(folder, verify="full", **parts).graph.texts != index.graph.texts:
            failures.append(f"{name} of format 1 is another after it was saved anew")
    each = (time.perf_counter() - began) / len(names)
    root = Path(tempfile.mkdtemp()) / "index"
    small_index(hashed_words).save(root)
    rewritten(root, lambda content: content.update(invented_key=1))
    if len(opened(root)) != 3:
        failures.append("a key of the manifest that is not known is not ignored")
    rewritten(root, lambda content: content.update(format=manifest.FORMAT + 1, clew="99"))
    for attempt in (lambda: opened(root), lambda: small_index(hashed_words).save(root)):
        try:
            attempt()
            failures.append("an index of a newer format is read or written over")
        except ValueError as error:
            if "upgrade clew" not in str(error):
                failures.append(str(error))
    return Finding(
        f"{len(names)} indexes of format 1 opened, saved and opened again; an unknown key; "
        f"a newer format read and written over",
        f"formats readable {manifest.FORMAT}/{manifest.FORMAT}, "
        f"{len(names)}/{len(names)} indexes; {each:.2f} s to migrate one; newer refused 2/2",
        tuple(failures),
    )


def crashes(short: bool) -> Finding:
    """Kill savers, and lose the power."""
    kills = 40 if short else 2000
    rounds = [
        kill_savers(Path(tempfile.mkdtemp()), min(KILLS_PER_FOLDER, kills) // 2, seed, kind)
        for seed in range(max(1, kills // KILLS_PER_FOLDER))
        for kind in ("whole", "changes")
    ]
    acknowledged = sum(one.acknowledged for one in rounds)
    lost, torn = sum(one.lost for one in rounds), sum(one.torn for one in rounds)
    unreadable = [reason for one in rounds for reason in one.unreadable]
    power = lose_power(states=60 if short else 3000, seed=1)
    failures = [*unreadable, *power.failures]
    if lost or torn or not sum(one.unfinished for one in rounds):
        failures.append(f"{lost} lost, {torn} torn")
    return Finding(
        f"{kills:,} savers killed with SIGKILL at random moments, half of them saving changes; power "
        f"lost at {power.states:,} moments of save, add, merge and change, with what was not synced dropped, "
        "cut or reordered",
        f"kills {kills:,}, acknowledged {acknowledged:,}, "
        f"in the middle of a save {sum(one.unfinished for one in rounds):,}, lost {lost}, "
        f"torn {torn}, unreadable {len(unreadable)}; power: {power.states:,} states, "
        f"the old generation in {power.old:,}, the new in {power.new:,}, neither or a mixture "
        f"{len(power.failures)}",
        first(failures),
    )


def failing_disk(short: bool) -> Finding:
    """Fail every call that changes the disk, one after another; and limit the size of a file."""
    disk.sync = lambda _: None
    root, small = Path(tempfile.mkdtemp()) / "index", small_index(hashed_words)
    small.delete("cleo").save(root)
    before, failures, cases = files(root), [], 0
    full = OSError(errno.ENOSPC, "No space left on device")
    counted = Path(tempfile.mkdtemp()) / "counted"
    small.delete("cleo").save(counted)
    with pytest.MonkeyPatch.context() as patched:
        calls = failing(patched, 10**6, full)
        small.save(counted)
        total = next(calls) - 2  # after the rename only the folder is synced: two calls
    for error in (full, OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()):
        for at in range(0, total, 7 if short else 1):
            with pytest.MonkeyPatch.context() as patched:
                failing(patched, at, error)
                with pytest.raises(type(error)):
                    small.save(root)
            cases += 1
            if files(root) != before or len(opened(root)) != 2:
                failures.append(f"{error!r} at call {at} changed the old generation")
    limits = [10, 100, 127, 128, 129, 500] + ([] if short else list(range(130, 12_000, 300)))
    for limit in limits:
        code = _in_child(lambda limit=limit: _save_limited(small, root, limit))
        cases += 1
        if code != 0 or files(root) != before or len(opened(root)) != 2:
            failures.append(f"a limit of {limit} bytes a file: exit code {code}")
    return Finding(
        f"ENOSPC, EIO and Ctrl-C at {'every 7th' if short else 'each'} of {total} calls of a save; "
        f"files limited to {len(limits)} sizes by the system",
        f"{cases} failures, old generation intact {cases - len(failures)}/{cases}",
        first(failures),
    )


def _save_limited(index: Index, root: Path, limit: int) -> int:
    """Save where no file may be larger; return 0 where that is refused as it should be."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        index.save(root)
    except OSError as error:
        return 0 if "was not saved" in str(error) else 2
    return 1


def _in_child(work: Callable[[], int]) -> int:
    """Return the exit code of a forked child that does the work."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def readers_and_writer(short: bool) -> Finding:
    """Read in four processes while one writes and clears away, and try to write in a second."""
    with changes_of_any_size():  # and clear away at once, from under the readers' hands
        return _readers_and_writer(4 if short else 60)


def _readers_and_writer(seconds: int) -> Finding:
    root, small = Path(tempfile.mkdtemp()) / "index", small_index(hashed_words)
    cleo = [one for one in small.documents if one.id == "cleo"]
    now = small.delete("cleo")
    now.save(root)
    end, n_changes = time.monotonic() + seconds, 0
    pipes = []
    for _ in range(4):
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            os.write(write, _read_until(end, root).encode()[:60_000])
            os._exit(0)
        os.close(write)
        pipes.append((read, child))
    saves, refused, waits = 0, 0, []
    while time.monotonic() < end:
        now = (
            now.delete("cleo")
            if len(now) > 2
            else now.add(cleo, facts={"cleo": small.facts["cleo"]})
        )
        now.save(root)
        n_changes += bool(read_manifest(next(iter(generations(root).values()))).changes)
        saves += 1
        if saves % 5 == 0:
            with locked(root):
                began = time.perf_counter()
                try:
                    small.save(root)
                except BlockingIOError:
                    refused += 1
                waits.append(time.perf_counter() - began)
    opens, torn, failures = 0, 0, []
    for read, child in pipes:
        with os.fdopen(read) as answer:
            lines = answer.read().split("\n")
        os.waitpid(child, 0)
        opens, torn = opens + int(lines[0]), torn + int(lines[1])
        failures += lines[2:]
    failures += [f"{torn} torn"] if torn else []
    failures += [] if n_changes else ["no change was saved"]
    failures += ["a second writer was let in"] if refused < len(waits) else []
    return Finding(
        f"4 reading processes and 1 writer that clears away at once, for {seconds} s; "
        f"{len(waits)} attempts of a second writer",
        f"opens {opens:,}, saves {saves:,} of which changes {n_changes:,}, torn {torn}, errors {len(failures)}; second writer "
        f"refused {refused}/{len(waits)} in at most {1000 * max(waits, default=0.0):.0f} ms",
        first(failures),
    )


def _read_until(end: float, root: Path) -> str:
    """Open the index again and again; return opens, torn ones and errors, a line each."""
    opens, torn, errors = 0, 0, []
    while time.monotonic() < end:
        try:
            index = opened(root)
            torn += (len(index), len(index.graph.facts)) not in ((2, 2), (3, 3))
        except Exception as error:  # noqa: BLE001  # whatever it is, it fails the row
            errors.append(repr(error).replace("\n", " "))
        opens += 1
    return "\n".join([str(opens), str(torn), *errors[:20]])


ROWS = (
    Row(1, "damaged or truncated index", damaged_files, 30),
    Row(2, "version mismatch", versions, 5),
    Row(3, "crash during save", crashes, 250),
    Row(4, "disk full, I/O error", failing_disk, 30),
    Row(5, "readers and a writer", readers_and_writer, 60),
)
