"""The protocol of S3, spoken with a server of its own on this machine."""

from __future__ import annotations

import secrets
import threading
from contextlib import closing

import pytest

import clew
from clew.index.saving import is_newest_saved
from clew.serve import ServedIndex, ServedOptions
from clew.serve.following import Follower
from clew.storage import StorageError, replica
from clew.storage.bucket import Bucket
from tests.storage.test_replica import QUESTION, built

s3fs = pytest.importorskip("s3fs")
server = pytest.importorskip("moto.server", reason="moto is no dependency of the tests")


class Published(str):
    """An address, and the server behind it."""

    __slots__ = ("server",)

    def __new__(cls, address, server):
        self = super().__new__(cls, address)
        self.server = server
        return self


@pytest.fixture
def s3(monkeypatch):
    """A bucket on a server of its own; returns the address of an index in it."""
    import boto3
    import fsspec

    thread = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    thread.start()
    ended = []
    monkeypatch.setattr(thread, "stop", lambda stop=thread.stop: ended or ended.append(stop()))
    try:
        host, port = thread.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        options = {"endpoint_url": endpoint, "key": "anna", "secret": "harbour"}
        options["config_kwargs"] = {"retries": {"max_attempts": 1}}
        monkeypatch.setitem(fsspec.config.conf, "s3", options)
        keys = {"aws_access_key_id": "anna", "aws_secret_access_key": "harbour"}
        with closing(boto3.client("s3", "us-east-1", endpoint_url=endpoint, **keys)) as client:
            name = f"harbour-{secrets.token_hex(4)}"  # all servers of a process share their buckets
            client.create_bucket(Bucket=name)
        yield Published(f"s3://{name}/handbook", thread)
    finally:
        thread.stop()


def test_an_index_is_published_followed_and_opened(s3, other_machine):
    first = built(8)
    first.save(s3)
    other_machine()
    loaded = clew.Index.load(s3)
    assert loaded.ask(QUESTION).text == first.ask(QUESTION).text
    assert is_newest_saved(loaded)
    served = ServedIndex(loaded, ServedOptions(saved_to=s3))
    other_machine("writer")
    built(9, "1").save(s3)
    other_machine()
    follower = Follower(served)
    follower.look()
    assert len(served.index) == 9
    assert not served.follow()
    assert [one.damage for one in replica.check_published(s3)] == ["", ""]
    assert len(clew.Index.load(s3, generation=1)) == 8


def test_of_two_manifests_of_one_generation_the_storage_takes_one(s3):
    """The condition is the storage's: both writers have seen that there is none."""
    barrier, told = threading.Barrier(8), []

    def create(mark):
        bucket = Bucket.open(s3)
        barrier.wait()
        try:
            bucket.create("MANIFEST-00000001.json", b"%d" % mark)
            told.append((mark, "first"))
        except FileExistsError:
            told.append((mark, "refused"))

    threads = [threading.Thread(target=create, args=(mark,)) for mark in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [winner] = [mark for mark, outcome in told if outcome == "first"]
    assert len(told) == 8
    assert Bucket.open(s3).read("MANIFEST-00000001.json", 0, 99) == b"%d" % winner
    Bucket.open(s3).create("MANIFEST-00000001.json", b"%d" % winner)  # an answer that was lost


def test_what_is_old_goes_by_the_clock_of_the_storage(s3, monkeypatch):
    for mark in "12":
        built(4, mark).save(s3)
    bucket = Bucket.open(s3)
    monkeypatch.setattr(replica, "MIN_AGE", -1.0)
    built(4, "3").save(s3)
    assert bucket.generations() == [3, 2]
    numbers = {name.split("-")[1] for name in bucket.files("data")}
    assert numbers == {"00000002", "00000003"}


def test_a_bucket_that_is_not_there_and_keys_that_are_wrong_are_named(s3):
    with pytest.raises(FileNotFoundError, match="there is no index at s3://elsewhere/handbook"):
        clew.Index.load("s3://elsewhere/handbook")
    with pytest.raises(FileNotFoundError, match="bucket"):
        built(4).save("s3://elsewhere/handbook")
    assert Bucket.open("s3://elsewhere/handbook").generations() == [], "none was made"


def test_a_server_that_is_gone_is_said_and_the_index_before_answers(s3, caplog, monkeypatch):
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    built(4).save(s3)
    loaded = clew.Index.load(s3)
    served = ServedIndex(loaded, ServedOptions(saved_to=s3))

    s3.server.stop()
    with pytest.raises(StorageError, match=r"the storage of s3://harbour-\w+/handbook/ failed"):
        clew.Index.load(s3)
    follower = Follower(served)
    follower.look()
    follower.look()
    [line] = [record.getMessage() for record in caplog.records if record.name == "clew.serve"]
    assert f"{s3} cannot be looked at" in line
    assert served.ask(QUESTION).context.items
