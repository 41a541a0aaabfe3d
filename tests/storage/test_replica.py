"""A generation is published whole or not at all, and copied file by file, each checked."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

import clew
from clew import recipes, user_cache
from clew.index import in_place
from clew.index.saving import is_newest_saved
from clew.storage import StorageError, bucket, is_storage, replica
from clew.store import manifest as manifests
from clew.store import saving

SYSTEMS = (MemoryFileSystem, LocalFileSystem)
QUESTION = "Who hunts mice at night on the island?"


def built(n=40, mark="0"):
    documents = [
        clew.Document(f"d{i}", f"Owl {i} hunts mice at night on island {i % 7}, says note {mark}.")
        for i in range(n)
    ]
    facts = {f"d{i}": [(f"Owl {i}", "lives on", f"island {i % 7}")] for i in range(n)}
    return clew.Index.from_documents(documents, facts=facts)


def files_of(address):
    """The files of a storage by their path below the address, as it lists them itself."""
    system, root = fsspec.core.url_to_fs(address)
    root = root.rstrip("/")
    return {path.removeprefix(f"{root}/"): path for path in system.find(root)}


def put_bytes(address, path, raw):
    system, root = fsspec.core.url_to_fs(address)
    system.makedirs(root, exist_ok=True)
    system.pipe_file(f"{root.rstrip('/')}/{path}", raw)


def bytes_at(address, path):
    system, root = fsspec.core.url_to_fs(address)
    return system.cat_file(f"{root.rstrip('/')}/{path}")


@pytest.fixture
def traffic(monkeypatch):
    """What travels: the names of files that are sent and fetched, one for each time."""
    seen = {"sent": [], "fetched": []}

    def watch(system, method, kind, place):
        of_system = getattr(system, method)

        def call(self, *arguments, **keywords):
            seen[kind].append(str(arguments[place]).rpartition("/")[2])
            return of_system(self, *arguments, **keywords)

        monkeypatch.setattr(system, method, call)

    for system in SYSTEMS:
        watch(system, "put_file", "sent", 1)
        watch(system, "pipe_file", "sent", 0)
        watch(system, "cat_file", "fetched", 0)
    return seen


def clear(seen):
    for names in seen.values():
        names.clear()


def test_every_recipe_answers_as_over_a_folder(address, tmp_path, other_machine):
    index = built(12)
    index.save(tmp_path / "folder")
    index.save(address)
    other_machine()
    there, here = clew.Index.load(address), clew.Index.load(tmp_path / "folder")
    for recipe in recipes.names():
        asked = [each.ask(QUESTION, recipe=recipe, budget=90) for each in (there, here)]
        assert asked[0].ids, recipe
        assert (asked[0].ids, asked[0].text) == (asked[1].ids, asked[1].text), recipe


def test_the_storage_has_what_a_folder_has(address, tmp_path):
    """So a folder that was copied to a bucket by any tool is an index there, and the other way."""
    index = built()
    index.save(address)
    local = tmp_path / "by-hand"
    for path, name in files_of(address).items():
        (local / path).parent.mkdir(parents=True, exist_ok=True)
        (local / path).write_bytes(fsspec.core.url_to_fs(address)[0].cat_file(name))
    assert clew.Index.load(local, verify="full").ask(QUESTION).text == index.ask(QUESTION).text


def test_nothing_but_new_files_travels(address, traffic, other_machine, monkeypatch):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    monkeypatch.setattr(saving, "MIN_BYTES", 0)
    monkeypatch.setattr(saving, "MAX_SHARE", 1e9)
    index = built()
    index.save(address)
    first = [*files_of(address)]
    data = sorted(Path(path).name for path in first if path.startswith("data/"))
    assert sorted(name for name in traffic["sent"] if name.endswith(".npy")) == data
    assert "MANIFEST" in traffic["sent"][-1], "the manifest comes last"

    clear(traffic)
    clew.Index.load(address)
    assert traffic["fetched"] == ["MANIFEST-00000001.json"], "who has saved has the files"
    other_machine()
    clear(traffic)
    loaded = clew.Index.load(address)
    assert Counter(traffic["fetched"]) == Counter(["MANIFEST-00000001.json", *data])
    clear(traffic)
    clew.Index.load(address)
    assert traffic["fetched"] == ["MANIFEST-00000001.json"]

    clear(traffic)
    changed = loaded.add([clew.Document("new", "A new owl hunts mice at night on the island.")])
    changed.save(address)
    new = set(files_of(address)) - set(first)
    assert len(new) == 2, "what changed, and a manifest"
    sent = [name for name in traffic["sent"] if name.endswith(".npy")]
    assert sent == [Path(path).name for path in new if path.startswith("data/")]
    other_machine("third")
    third = clew.Index.load(address)
    assert third.ask(QUESTION).ids == changed.ask(QUESTION).ids
    assert third.ask(QUESTION).text == changed.ask(QUESTION).text
    assert is_newest_saved(third)
    assert is_newest_saved(changed)
    assert not is_newest_saved(loaded)


def test_a_damaged_byte_is_named_and_nothing_of_it_stays(address, other_machine, cache, tmp_path):
    built().save(address)
    built(mark="1").save(address)
    chance = random.Random(0)
    newest = json.loads(bytes_at(address, "MANIFEST-00000002.json"))["index"]["files"].values()
    step = 1 if address.startswith("memory") else 5
    paths = [entry["path"] for entry in newest][::step]
    for number, path in enumerate([*paths, "MANIFEST-00000002.json"]):
        other_machine(f"{number}")
        whole = bytes_at(address, path)
        place = chance.randrange(len(whole))
        flipped = bytes([whole[place] ^ (1 << chance.randrange(8))])
        for damaged in (whole[:place] + flipped + whole[place + 1 :], whole[:place], whole + b"x"):
            put_bytes(address, path, damaged)
            with pytest.raises(ValueError, match="damaged") as raised:
                clew.Index.load(address)
            assert path in str(raised.value)
            assert "an earlier generation is still there: load(path, generation=1)" in str(
                raised.value
            )
            copied = tmp_path / f"cache-{number}"
            left = {file.name for file in copied.rglob("data/*")}
            assert not {name for name in left if name.startswith("copying")}
            assert Path(path).name not in left
            assert not [*copied.rglob("MANIFEST-*")]
        found = {one.generation: one.damage for one in replica.check_published(address)}
        assert path in found[2]
        assert found[1] == ""
        put_bytes(address, path, whole)
        assert len(clew.Index.load(address, generation=1)) == 40
    assert clew.Index.load(address).ask(QUESTION).ids


def test_a_damaged_file_of_the_cache_is_copied_again(address, cache):
    index = built()
    index.save(address)
    for number, file in enumerate(sorted(cache.rglob("data/*.npy"))):
        raw = bytearray(file.read_bytes())
        if number % 3:
            raw[-1] ^= 1
            file.write_bytes(raw)
        else:
            file.unlink()
    assert clew.Index.load(address).ask(QUESTION).text == index.ask(QUESTION).text
    for manifest in cache.rglob("MANIFEST-*"):
        manifest.write_bytes(b"{}")
    assert clew.Index.load(address).ask(QUESTION).text == index.ask(QUESTION).text


def signed(raw, change):
    """The manifest after a change, with the checksum of what it is then."""
    content = json.loads(raw)["index"]
    change(content)
    body = json.dumps(content, indent=1).encode()
    digest = blake2b(body, digest_size=32).hexdigest().encode()
    return b'{"blake2b": "' + digest + b'", "index": ' + body + b"}\n"


HOSTILE = [
    "../../../escaped.npy",
    "data/../../escaped.npy",
    "/tmp/escaped.npy",
    "data/../escaped-00000001-0123456789abcdef.npy",
    "data//escaped-00000001-0123456789abcdef.npy",
    "data/sub/escaped-00000001-0123456789abcdef.npy",
    "data\\..\\escaped.npy",
    "MANIFEST-00000009.json",
    "~/escaped.npy",
]


@pytest.mark.parametrize("path", HOSTILE)
def test_a_hostile_manifest_writes_nothing_outside_of_the_cache(
    address, other_machine, tmp_path, path
):
    built(4).save(address)
    raw = bytes_at(address, "MANIFEST-00000001.json")

    def change(content):
        name = next(iter(content["files"]))
        content["files"][name]["path"] = path

    put_bytes(address, "MANIFEST-00000001.json", signed(raw, change))
    put_bytes(address, "data/escaped.npy", b"x")
    other_machine()
    before = {file for file in tmp_path.rglob("*") if "cache-other" not in str(file)}
    with pytest.raises(ValueError, match="MANIFEST-00000001"):
        clew.Index.load(address)
    after = {file for file in tmp_path.rglob("*") if "cache-other" not in str(file)}
    assert after == before
    assert not [file for file in tmp_path.rglob("*escaped*") if "bucket" not in str(file)]
    assert not Path("/tmp/escaped.npy").exists()


def test_a_manifest_that_promises_more_than_the_disk_has_copies_nothing(
    address, other_machine, tmp_path
):
    built(4).save(address)
    raw = bytes_at(address, "MANIFEST-00000001.json")

    def change(content):
        entry = next(e for e in content["files"].values() if e["dtype"] == "<f4")
        entry["shape"] = [10**9, 10**7]
        entry["bytes"] = 128 + 4 * 10**16

    put_bytes(address, "MANIFEST-00000001.json", signed(raw, change))
    other_machine()
    with pytest.raises(OSError, match="are to be copied to"):
        clew.Index.load(address)
    assert not [*tmp_path.glob("cache-other/**/data/*")]


def test_an_upload_that_fails_anywhere_leaves_the_generation_before(
    address, monkeypatch, other_machine, cache
):
    first, second = built(6), built(6, mark="1")
    first.save(address)
    calls = {"left": 10**9}

    def failing(of_system):
        def call(self, *arguments, **keywords):
            calls["left"] -= 1
            if calls["left"] < 0:
                raise OSError(5, "the line is cut")
            return of_system(self, *arguments, **keywords)

        return call

    for system in SYSTEMS:
        for method in ("put_file", "pipe_file", "link"):
            if hasattr(system, method):
                monkeypatch.setattr(system, method, failing(getattr(system, method)))
    n = 0
    while True:
        calls["left"] = n
        told = ""
        try:
            second.save(address)
        except StorageError as error:
            told = str(error)
        if not told:
            break
        assert "the line is cut" in told
        assert len([*cache.rglob("MANIFEST-*")]) == 1
        assert len([*cache.rglob("data/*")]) == len(first.saved_as.manifest.entries)
        loaded = clew.Index.load(address)
        assert loaded.saved_as.manifest.generation == 1
        assert loaded.documents == first.documents
        n += 1 if address.startswith("memory") else 7
    assert n > 30, "all files of the generation, or every seventh, failed once"
    calls["left"] = 10**9
    assert clew.Index.load(address).documents == second.documents
    other_machine()
    assert clew.Index.load(address).documents == second.documents


def test_a_second_writer_who_was_not_first_is_told_and_nothing_is_lost(
    address, monkeypatch, other_machine, tmp_path
):
    first, second = built(), built(mark="1")
    built(mark="9").save(address)
    upload = replica.Replica.upload

    def overtaken(self, manifest):
        monkeypatch.setattr(replica.Replica, "upload", upload)
        other_machine("faster")
        first.save(address)
        monkeypatch.setenv("CLEW_CACHE", str(tmp_path / "cache"))
        upload(self, manifest)

    monkeypatch.setattr(replica.Replica, "upload", overtaken)
    with pytest.raises(BlockingIOError, match="another writer has published generation 2"):
        second.save(address)
    assert clew.Index.load(address).documents == first.documents
    second.save(address)
    assert clew.Index.load(address).documents == second.documents
    other_machine("faster")
    assert clew.Index.load(address).documents == second.documents
    assert clew.Index.load(address, generation=2).documents == first.documents


def test_a_reader_with_an_old_listing_deletes_no_newer_copy(address):
    """One reader listed the storage, then another copied what was published since."""
    built().save(address)
    slow, fast = replica.Replica.at(address), replica.Replica.at(address)
    listed = slow.bucket.generations()
    newer = built(mark="1")
    newer.save(address)
    fast.copy(2, fast.bucket.generations())
    slow.copy(1, listed)
    assert sorted(manifests.generations(slow.folder)) == [1, 2]


def test_two_writers_and_readers_see_whole_generations_alone(address, tmp_path, monkeypatch):
    """Eighty swaps: two writers publish, readers of one cache open the newest again and again."""
    monkeypatch.setattr(manifests, "MIN_AGE", 0.0)
    monkeypatch.setattr(replica, "MIN_AGE", 0.0)
    forms = [replace(built(3 + k, f"{k}"), skipped=(("k", f"{k}"),)) for k in range(4)]
    texts = {one.documents: one.ask(QUESTION).text for one in forms}
    forms[0].save(address)
    ended, errors, seen, told = threading.Event(), [], Counter(), Counter()

    def write(seed):
        chance = random.Random(seed)
        try:
            for _ in range(40):
                while len(seen) < told["published"] // 4 and not errors:
                    time.sleep(0.001)  # readers come between, however busy the machine is
                try:
                    chance.choice(forms).save(address)
                    told["published"] += 1
                except BlockingIOError:
                    told["refused"] += 1
        except BaseException as error:  # noqa: BLE001  # it is raised in the test's own thread
            errors.append(error)

    def read():
        try:
            last = 0
            while not ended.is_set():
                index = clew.Index.load(address)
                assert index.ask(QUESTION).text == texts[index.documents]
                assert index.saved_as.manifest.generation >= last
                last = index.saved_as.manifest.generation
                seen[last] += 1
        except BaseException as error:  # noqa: BLE001  # it is raised in the test's own thread
            errors.append(error)

    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(2)]
    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in [*writers, *readers]:
        thread.start()
    for thread in writers:
        thread.join()
    ended.set()
    for thread in readers:
        thread.join()
    assert not errors, errors[0]
    assert told["published"] == 80, "writers of one machine wait for each other"
    newest = clew.Index.load(address).saved_as.manifest
    assert newest.generation == 81
    assert len(seen) > 18
    left = files_of(address)
    assert sorted(name for name in left if "MANIFEST" in name) == [
        "MANIFEST-00000080.json",
        "MANIFEST-00000081.json",
    ]
    kept = {entry.path for entry in newest.entries.values()}
    before = clew.Index.load(address, generation=80).saved_as.manifest
    kept |= {entry.path for entry in before.entries.values()}
    assert {name for name in left if name.startswith("data/")} == kept


def test_what_is_young_stays_and_what_is_old_goes(address, monkeypatch):
    for mark in "123":
        built(4, mark).save(address)
    put_bytes(address, "data/stranger.txt", b"not ours")
    put_bytes(address, "MANIFEST-00000009.json.0123456789abcdef", b"unfinished")
    put_bytes(address, "data/nodes.texts-00000009-0123456789abcdef.npy", b"broken upload")
    names = [name for name in files_of(address) if name.startswith("MANIFEST")]
    assert len(names) == 4
    monkeypatch.setattr(replica, "MIN_AGE", -1.0)
    built(4, "4").save(address)
    left = files_of(address)
    assert sorted(name for name in left if name.startswith("MANIFEST")) == [
        "MANIFEST-00000003.json",
        "MANIFEST-00000004.json",
    ]
    assert "data/stranger.txt" in left
    assert not [name for name in left if "00000009" in name]
    numbers = {name.split("-")[1] for name in left if name.startswith("data/") and "-" in name}
    assert numbers == {"00000003", "00000004"}
    assert [one.damage for one in replica.check_published(address)] == ["", ""]


def test_a_generation_that_vanishes_while_it_is_copied_gives_way_to_the_newest(
    address, monkeypatch, other_machine
):
    built(mark="1").save(address)
    last = built(6, mark="last")
    copy = bucket.Bucket.copy
    state = {"copied": 0}

    def vanishing(self, entry, folder):
        state["copied"] += 1
        if state["copied"] == 3:
            monkeypatch.setattr(replica, "MIN_AGE", -1.0)
            monkeypatch.setenv("CLEW_CACHE", os.environ["CLEW_CACHE"] + "-writer")
            built(mark="2").save(address)
            last.save(address)
            monkeypatch.setenv("CLEW_CACHE", os.environ["CLEW_CACHE"].removesuffix("-writer"))
        return copy(self, entry, folder)

    other_machine()
    monkeypatch.setattr(replica, "AT_ONCE", 1)
    monkeypatch.setattr(bucket.Bucket, "copy", vanishing)
    loaded = clew.Index.load(address)
    assert state["copied"] > 3
    assert loaded.saved_as.manifest.generation == 3
    assert loaded.documents == last.documents


def test_a_file_that_is_gone_for_good_is_named(address, other_machine):
    built().save(address)
    path = next(path for path in files_of(address) if path.startswith("data/"))
    system, root = fsspec.core.url_to_fs(address)
    system.rm_file(f"{root.rstrip('/')}/{path}")
    other_machine()
    with pytest.raises(ValueError, match="missing") as raised:
        clew.Index.load(address)
    assert Path(path).name in str(raised.value)


def test_a_storage_that_was_emptied_and_filled_again_is_followed(address, other_machine):
    one, two = built(5, "1"), built(6, "2")
    one.save(address)
    built(5, "3").save(address)
    loaded = clew.Index.load(address)
    system, root = fsspec.core.url_to_fs(address)
    system.rm(root, recursive=True)
    assert is_newest_saved(loaded), "there is nothing newer"
    with pytest.raises(FileNotFoundError, match="no MANIFEST"):
        clew.Index.load(address)
    other_machine()
    two.save(address)
    other_machine("third")
    built(7, "4").save(address)  # generation 2 again, of other bytes
    os.environ["CLEW_CACHE"] = os.environ["CLEW_CACHE"].replace("cache-third", "cache")
    assert not is_newest_saved(loaded)
    assert len(clew.Index.load(address)) == 7
    assert len(clew.Index.load(address, generation=1)) == 6


def test_other_files_and_newer_formats_are_not_written_over(address):
    put_bytes(address, "holiday.jpg", b"beach")
    with pytest.raises(ValueError, match=r"has other files, for instance holiday\.jpg"):
        built(4).save(address)
    system, root = fsspec.core.url_to_fs(address)
    system.rm_file(f"{root.rstrip('/')}/holiday.jpg")
    built(4).save(address)
    raw = bytes_at(address, "MANIFEST-00000001.json")
    put_bytes(address, "MANIFEST-00000001.json", signed(raw, lambda c: c.update(format=99)))
    with pytest.raises(manifests.NewerFormatError, match="upgrade clew"):
        built(4).save(address)
    with pytest.raises(manifests.NewerFormatError, match="upgrade clew"):
        clew.Index.load(address)


def test_an_address_says_what_it_lacks(monkeypatch):
    with pytest.raises(FileNotFoundError, match="there is no index at memory://nowhere/x"):
        clew.Index.load("memory://nowhere/x")
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'clew\[storage\]' gcsfs"):
        clew.Index.load("gs://bucket/handbook")
    with pytest.raises(ValueError, match="of no storage that fsspec knows"):
        clew.Index.load("carrier-pigeon://roof/handbook")
    with pytest.raises(ValueError, match="such as s3://bucket/handbook"):
        clew.Index.load("simplecache::memory://bucket/handbook")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'clew\[storage\]'"):
        built(4).save("memory://bucket/handbook")
    for path in ("C://Users", "handbook", "postgresql://host/db", "https://host/x", "s3://", 7):
        assert not is_storage(path)


def test_no_password_is_shown_or_kept(cache, monkeypatch):
    address = "memory://anna:secret@host/handbook"
    built(4).save(address)
    (kept,) = user_cache.cached_folders()
    assert kept.source == "memory://anna:***@host/handbook"
    assert not [
        file for file in cache.rglob("*") if file.is_file() and b"secret" in file.read_bytes()
    ]
    monkeypatch.setattr(MemoryFileSystem, "cat_file", lambda *_, **__: 1 / 0)
    with pytest.raises(StorageError, match="anna") as raised:
        clew.Index.load(address)
    assert "secret" not in str(raised.value)


def test_the_cache_is_bounded_and_spares_what_is_followed(address, cache, monkeypatch):
    built(4).save(address)
    loaded = clew.Index.load(address)
    (kept,) = user_cache.cached_folders()
    assert kept.source == address
    monkeypatch.setattr(user_cache, "MAX_BYTES", 1)
    built(4).save("memory://another/handbook")
    assert len(user_cache.cached_folders()) == 2, "a server may be answering from it"
    hours_ago = time.time() - 3 * 3600
    os.utime(kept.path / "used", (hours_ago, hours_ago))
    assert is_newest_saved(loaded), "a look is a use"
    built(4).save("memory://another/handbook")
    assert len(user_cache.cached_folders()) == 2
    os.utime(kept.path / "used", (hours_ago, hours_ago))
    built(4).save("memory://another/handbook")
    assert [one.source for one in user_cache.cached_folders()] == ["memory://another/handbook"]
    assert clew.Index.load(address).documents == loaded.documents
    user_cache.clear(address)
    assert not kept.path.exists()


PUBLISHER = """
import os, sys, time
from dataclasses import replace
from fsspec.implementations.local import LocalFileSystem
from clew import Document, Index
from clew.store import disk
put_file = LocalFileSystem.put_file
LocalFileSystem.put_file = lambda *each: time.sleep(0.05) or put_file(*each)
disk.sync = lambda descriptor: None
documents = [Document(f"d{i}", f"Owl {i} hunts mice at night.") for i in range(100)]
index = Index.from_documents(documents)
index.save(f"{sys.argv[1]}/../warm")  # what is imported and computed once is there in each child
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        k = int(line)
        while True:
            k += 1
            of_k = replace(index, documents=documents[: k % 100 + 1], skipped=(("k", str(k)),))
            of_k.save(sys.argv[1])
            os.write(1, f"{k}\\n".encode())
    os.write(1, f"pid {child}\\n".encode())
    os.waitpid(child, 0)
    os.write(1, b"dead\\n")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_an_upload_that_is_killed_leaves_the_generation_before(tmp_path):
    """The publisher's cache is its own, and what it left unfinished there is no hindrance to it."""
    address, chance, last, unfinished = f"file://{tmp_path}/bucket", random.Random(0), 0, 0
    environment = os.environ | {"CLEW_CACHE": str(tmp_path / "publisher")}
    publisher = subprocess.Popen(
        [sys.executable, "-c", PUBLISHER, address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    with publisher:
        for _ in range(15):
            print(last, file=publisher.stdin, flush=True)
            lines = [publisher.stdout.readline().split()]
            while lines[-1][0] != "pid":
                lines.append(publisher.stdout.readline().split())
            child = int(lines.pop()[1])
            if not last:
                lines.append(publisher.stdout.readline().split())
                began = time.perf_counter()
                lines.append(publisher.stdout.readline().split())
                pace = time.perf_counter() - began
            time.sleep(chance.uniform(0.0, 3 * pace))
            os.kill(child, signal.SIGKILL)
            while (line := publisher.stdout.readline().split()) != ["dead"]:
                lines.append(line)
            acknowledged = max([last, *(int(one) for [one] in lines)])
            index = clew.Index.load(address)
            k = int(index.skipped[0][1])
            assert acknowledged <= k <= acknowledged + 1
            assert len(index) == k % 100 + 1
            paths = [path for path in files_of(address) if path.startswith("data/")]
            begun = max(int(path.split("-")[1]) for path in paths)
            unfinished += begun > index.saved_as.manifest.generation
            last = k
        publisher.stdin.close()
    assert last > 3
    assert unfinished, "some were killed before their manifest was there"
