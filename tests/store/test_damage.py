"""Whatever happens to a file of a saved index, it is found and named."""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from clew import Index, store
from clew.cli import main
from clew.store import arrays
from clew.store.manifest import read_manifest, write_manifest

VECTORS = (
    "nodes.vectors",
    "facts.vectors",
)  # mapped, not read: their checksum is not asked for by verify="size"


@pytest.fixture
def saved(small, tmp_path):
    small.save(tmp_path / "index")
    return tmp_path / "index"


def flipped(raw, at):
    return raw[:at] + bytes([raw[at] ^ 1 << at % 8]) + raw[at + 1 :]


def damages(raw):
    """Ways to damage a file: cut short at several places, emptied, longer, one bit flipped in its head, middle and tail."""
    yield from (("cut", raw[:length]) for length in {0, 1, len(raw) // 2, len(raw) - 1})
    yield "longer", raw + b"\0"
    yield from (
        (f"flipped at {at}", flipped(raw, at)) for at in {0, 9, 60, len(raw) // 2, len(raw) - 1}
    )


def test_every_damaged_file_is_named(embed, saved):
    for file in [path for path in saved.rglob("*") if path.suffix in (".npy", ".json")]:
        raw = file.read_bytes()
        for what, damaged in damages(raw):
            file.write_bytes(damaged)
            with pytest.raises(ValueError, match=re.escape(file.name)) as error:
                Index.load(saved, embedder=embed)
            assert "damaged" in str(error.value), what
        file.write_bytes(raw)
    Index.load(saved, embedder=embed, verify="full")


def test_every_missing_file_is_named(embed, saved):
    for file in (saved / "data").iterdir():
        file.rename(saved / "away")
        with pytest.raises(
            ValueError,
            match=rf"{re.escape(file.name)} is missing, though MANIFEST-00000001\.json lists it",
        ):
            Index.load(saved, embedder=embed)
        (saved / "away").rename(file)
    shutil.rmtree(saved / "data")
    with pytest.raises(ValueError, match="is missing, though"):
        Index.load(saved, embedder=embed)


def test_a_flipped_bit_of_a_manifest_is_found_wherever_it_is(saved):
    [file] = saved.glob("MANIFEST-*")
    raw = file.read_bytes()
    for at in {*range(120), *range(120, len(raw), 31), *range(len(raw) - 20, len(raw))}:
        file.write_bytes(flipped(raw, at))
        with pytest.raises(ValueError, match=rf"{file.name} is damaged"):
            read_manifest(file)


def test_a_manifest_under_another_name_is_refused(embed, saved):
    (saved / "MANIFEST-00000001.json").rename(saved / "MANIFEST-00000009.json")
    with pytest.raises(
        ValueError, match=r"MANIFEST-00000009\.json is not the manifest of an index.*generation 1"
    ):
        Index.load(saved, embedder=embed)


def test_a_damaged_generation_leads_to_the_one_before_only_when_that_is_asked_for(
    embed, small, saved
):
    small.delete("cleo").save(saved)
    [file] = (saved / "data").glob("strings.bytes-00000002-*")
    file.write_bytes(b"")
    with pytest.raises(
        ValueError,
        match=rf"{file.name} is damaged.*an earlier generation is still there: load\(path, generation=1\)",
    ):
        Index.load(saved, embedder=embed)
    assert len(Index.load(saved, embedder=embed, generation=1)) == 3
    with pytest.raises(ValueError, match="has no generation 5; it has 2, 1"):
        Index.load(saved, embedder=embed, generation=5)
    small.delete("ben").save(saved)
    assert [d.id for d in Index.load(saved, embedder=embed).documents] == ["anna", "cleo"]


def test_the_smallest_and_the_emptiest_columns_are_files_too(embed, saved):
    manifest = read_manifest(saved / "MANIFEST-00000001.json")
    assert {entry.path for entry in manifest.entries.values()} == {
        f"data/{file.name}" for file in (saved / "data").iterdir()
    }
    empty = np.load(saved / manifest.entries["skipped.values"].path, allow_pickle=False)
    assert empty.shape == (0,)


@pytest.fixture
def hashed(monkeypatch):
    """The mapped files of vectors that are hashed, by name, as they are."""
    names, check = [], arrays._check

    def note(file, *rest):
        if not file.name.startswith("strings."):  # of which the checksum is checked each time
            names.append(file.name)
        check(file, *rest)

    monkeypatch.setattr(arrays, "_check", note)
    return names


def aged(saved):
    """Let the files look as they do a while after they were written."""
    for file in (saved / "data").iterdir():
        os.utime(file, ns=(10**18, 10**18))
    time.sleep(0.12)  # the time of the last change cannot be set


def test_vectors_are_hashed_once_after_a_write(embed, saved, hashed):
    aged(saved)
    for times in (1, 1):
        Index.load(saved, embedder=embed)
        assert len(hashed) == times * len(VECTORS)
    Index.load(saved, embedder=embed, verify="full")
    assert len(hashed) == 2 * len(VECTORS)
    [file] = (saved / "data").glob("nodes.vectors-*")
    raw = file.read_bytes()
    sign = len(raw) - 1  # the last byte of a little-endian number has its sign
    file.write_bytes(raw[:sign] + bytes([raw[sign] ^ 0x80]))
    with pytest.raises(ValueError, match=rf"{file.name} is damaged"):
        Index.load(saved, embedder=embed)
    file.write_bytes(raw)
    aged(saved)
    del hashed[:]
    Index.load(saved, embedder=embed)
    Index.load(saved, embedder=embed)
    assert len(hashed) == len(VECTORS), "each was hashed once again"


def test_a_copy_is_hashed_again_and_a_damaged_record_counts_for_nothing(embed, saved, hashed):
    aged(saved)
    Index.load(saved, embedder=embed)
    shutil.copytree(saved, saved.with_name("copy"))
    Index.load(saved.with_name("copy"), embedder=embed)
    assert len(hashed) == 2 * len(VECTORS)
    [record] = saved.glob("VERIFIED-*")
    for damage in (b"", b"[]", b"{", b"[" * 70_000, record.read_bytes()[:-5]):
        record.write_bytes(damage)
        del hashed[:]
        Index.load(saved, embedder=embed)
        assert len(hashed) == len(VECTORS)


def test_a_record_takes_the_place_of_another_also_where_a_rename_may_not(
    embed, saved, hashed, monkeypatch
):
    rename = os.rename

    def as_on_windows(old, new):
        if Path(new).exists():
            raise FileExistsError(errno.EEXIST, "it is there already", str(new))
        rename(old, new)

    monkeypatch.setattr(os, "rename", as_on_windows)
    for times in (1, 2):  # the second time, the first record is there and counts no more
        aged(saved)
        shutil.copytree(saved / "data", saved / "again")  # with other inodes
        shutil.rmtree(saved / "data")
        shutil.move(saved / "again", saved / "data")
        time.sleep(0.12)
        for _ in range(2):
            Index.load(saved, embedder=embed)
        assert len(hashed) == times * len(VECTORS)
    assert [file.name for file in saved.glob("VERIFIED-*")] == ["VERIFIED-00000001.json"]


def test_a_record_is_cleared_away_with_its_generation(embed, small, saved, monkeypatch):
    aged(saved)
    Index.load(saved, embedder=embed)
    monkeypatch.setattr("clew.store.manifest.MIN_AGE", 0.0)
    for _ in range(3):
        small.save(saved)
    assert not list(saved.glob("VERIFIED-*"))


def test_check_names_the_damage_of_every_generation(small, saved, capsys):
    small.delete("cleo").save(saved)
    assert [found.damage for found in store.check(saved)] == ["", ""]
    assert main(["check", str(saved)]) == 0
    assert "generation 2: whole (" in capsys.readouterr().out
    [file] = (saved / "data").glob("nodes.vectors-00000001-*")
    file.write_bytes(flipped(file.read_bytes(), file.stat().st_size - 1))
    newest, oldest = store.check(saved)
    assert newest.damage == ""
    assert file.name in oldest.damage
    assert main(["check", str(saved)]) == 1
    assert file.name in capsys.readouterr().out
    assert main(["check", str(saved / "data")]) == 2


def test_a_column_of_another_shape_is_named(embed, saved):
    manifest = read_manifest(saved / "MANIFEST-00000001.json")
    for name, entry in [*manifest.entries.items()][::3]:
        array = arrays.read_array(saved, entry, mapped=False, full=True)
        other = array.reshape(-1, 1) if array.ndim == 1 else array.reshape(-1)
        entries = {**manifest.entries, name: arrays.write_array(saved, name, 2, other)}
        write_manifest(saved, 2, "0", entries, manifest.settings)
        part = name.removesuffix(".starts")
        with pytest.raises(ValueError, match=rf"do not fit together: .*{re.escape(part)}"):
            Index.load(saved, embedder=embed)
        (saved / "MANIFEST-00000002.json").unlink()
