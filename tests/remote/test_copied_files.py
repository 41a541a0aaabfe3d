"""The files of an index in a database, as they are copied to a folder."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path
from types import SimpleNamespace

from clew.remote.files import read_folder


class Versions:
    """A database that has files of one version after the other."""

    def __init__(self, *versions):
        self.versions = list(versions)

    async def file_paths(self, session, found):
        return list(self.versions[0])

    async def read_file(self, session, found, path):
        return self.versions[0][path]

    async def check_current(self, session, found):
        self.versions.pop(0)


def contents(folder):
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_a_file_that_windows_keeps_is_no_failure_of_the_next_version(tmp_path, monkeypatch):
    old = {"MANIFEST": b"1", "data/mapped": b"a", "data/other": b"b"}
    new = {"MANIFEST": b"2", "data/new": b"c"}
    database, unlink = Versions(old, new), Path.unlink
    asyncio.run(read_folder(database, None, SimpleNamespace(), tmp_path))
    assert contents(tmp_path) == old

    def as_on_windows(file, **how):
        if file.name == "mapped":
            raise PermissionError(errno.EACCES, "it is mapped", str(file))
        unlink(file, **how)

    monkeypatch.setattr(Path, "unlink", as_on_windows)
    asyncio.run(read_folder(database, None, SimpleNamespace(), tmp_path))
    assert contents(tmp_path) == {**new, "data/mapped": b"a"}
