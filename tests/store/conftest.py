"""What the tests of the store share."""

from __future__ import annotations

import pytest

from clew.store import disk
from tests.store.small import small_index


@pytest.fixture(autouse=True)
def _without_waiting_for_the_disk(monkeypatch):
    """Real syncs are for test_kill.py, in another process; that they come in the right order is for test_failure.py."""
    monkeypatch.setattr(disk, "sync", lambda _: None)


@pytest.fixture(scope="session")
def small(embed):
    return small_index(embed)
