"""After a loss of power an index is the one that was saved last, or the one that was being saved."""

from __future__ import annotations

import os

import pytest

from clew.store import disk
from tests.reliability.power_loss import changes_of_any_size, histories, lose_power, record

pytestmark = pytest.mark.skipif(os.name != "posix", reason="folders are synced on POSIX alone")


def test_no_loss_of_power_mixes_or_loses_a_generation():
    found = lose_power(states=60, seed=3)
    assert found.failures == []
    assert found.states == found.old + found.new == 60
    assert found.new


@pytest.mark.parametrize("forgotten", ["sync", "sync_folder"])
def test_a_store_that_forgets_to_sync_is_found_out(monkeypatch, forgotten):
    monkeypatch.setattr(disk, forgotten, lambda _: None)
    assert len(lose_power(states=60, seed=3).failures) > 4


def test_changes_are_what_is_saved_where_the_power_is_lost(tmp_path):
    with changes_of_any_size():
        events, indexes = record(histories()["change"], tmp_path)
    names = [str(event[-1]) for event, _ in events if event[0] == "rename"]
    made = [event[-1] for event, _ in events if event[0] == "create"]
    written = [name for name in made if name.startswith("changes-")]
    assert len(names) == len(indexes) == 6
    assert [name.split("-")[1] for name in written] == [
        "00000002",
        "00000003",
        "00000004",
        "00000006",
    ]


def test_what_a_thread_writes_is_there_in_the_end(tmp_path):
    with changes_of_any_size(are_too_large=True):
        events, indexes = record(histories()["beside"], tmp_path)
    names = [str(event[-1]) for event, _ in events if event[0] == "rename"]
    made = [event[-1] for event, _ in events if event[0] == "create"]
    written = [name for name in made if name.startswith("changes-")]
    assert len(names) == len(indexes) + len(written)
    assert len(written) == 4
