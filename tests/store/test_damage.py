"""Whatever happens to a file of a saved index, it is found and named."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

from clew import Index
from clew.store.manifest import read_manifest

VECTORS = (
    "nodes.vectors",
    "facts.vectors",
)  # mapped, not read: their checksum is only asked for by verify="full"


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
                Index.load(saved, embedder=embed, verify="full")
            assert "damaged" in str(error.value), what
            if not file.name.startswith(VECTORS) or not what.startswith("flipped"):
                with pytest.raises(ValueError, match=re.escape(file.name)):
                    Index.load(saved, embedder=embed, verify="size")
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
