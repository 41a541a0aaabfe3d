"""Whoever is killed while saving loses nothing that was saved, and leaves nothing half saved."""

from __future__ import annotations

import os

import pytest

from tests.store.kills import kill_savers

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="the saver is forked, to be killed many times in little time"
)


@pytest.mark.parametrize("kind", ["whole", "changes"])
@pytest.mark.parametrize("kills", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_a_killed_save_leaves_the_last_state_or_the_next(tmp_path, kills, kind):
    for seed in range(7, 14):  # on a busy machine a few kills may miss every save
        found = kill_savers(tmp_path / str(seed), kills, seed, kind)
        assert found.unreadable == ()
        assert found.lost == 0, "what was acknowledged is there"
        assert found.torn == 0, "what is newer is whole"
        assert found.acknowledged > 1, "no save was let finish"
        assert (found.changes > kills / 5) == (kind == "changes")
        if found.unfinished:
            return
    raise AssertionError("no kill hit a save")
