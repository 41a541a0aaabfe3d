"""After a loss of power an index is the one that was saved last, or the one that was being saved."""

from __future__ import annotations

import os

import pytest

from clew.store import disk
from tests.reliability.power_loss import lose_power

pytestmark = pytest.mark.skipif(os.name != "posix", reason="folders are synced on POSIX alone")


def test_no_loss_of_power_mixes_or_loses_a_generation():
    found = lose_power(states=45, seed=3)
    assert found.failures == []
    assert found.states == found.old + found.new == 45
    assert found.new


@pytest.mark.parametrize("forgotten", ["sync", "sync_folder"])
def test_a_store_that_forgets_to_sync_is_found_out(monkeypatch, forgotten):
    monkeypatch.setattr(disk, forgotten, lambda _: None)
    assert len(lose_power(states=45, seed=3).failures) > 4
