"""A cache for each test, and storages in memory and in a folder, through fsspec."""

from __future__ import annotations

import secrets

import pytest

from clew.store import disk

fsspec = pytest.importorskip("fsspec")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The user's cache, empty."""
    monkeypatch.setenv("CLEW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """What outlasts a loss of power is tested in tests/store; here are hundreds of generations."""
    monkeypatch.setattr(disk, "sync", lambda descriptor: None)


@pytest.fixture(params=["memory", "file"])
def address(request, tmp_path):
    """Where an index is to be published: nothing is there yet."""
    if request.param == "file":
        return f"file://{tmp_path}/bucket/handbook"
    return f"memory://{secrets.token_hex(8)}/handbook"


@pytest.fixture
def other_machine(tmp_path, monkeypatch):
    """Make what follows use another cache, as another machine has."""

    def move(name: str = "other"):
        monkeypatch.setenv("CLEW_CACHE", str(tmp_path / f"cache-{name}"))

    return move
