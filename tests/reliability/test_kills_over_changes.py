"""Whoever is killed between or in changes and saves loses nothing that was saved."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from clew.store.manifest import generations
from tests.reliability.kills_over_changes import (
    CHANGES,
    Kills,
    States,
    built,
    changes_to,
    kill_writers,
    look,
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked")
@pytest.mark.parametrize("kills", [12, pytest.param(400, marks=pytest.mark.slow)])
def test_a_killed_writer_leaves_the_last_state_or_the_next(kills):
    saved, in_save, kinds = 0, 0, set()
    for seed in range(3, 9):  # kills come when they come: a few may miss every save
        found = kill_writers(kills, seed)
        assert found.failures == []
        assert found.kills == kills
        saved, in_save = saved + found.acknowledged, in_save + found.in_save
        kinds |= set(found.changed)
        if saved and in_save and kinds == set(CHANGES):
            return
    raise AssertionError(f"of six rounds {in_save} kills hit a save; {saved} of {kinds} were done")


def test_what_is_lost_damaged_or_mixed_is_found(tmp_path):
    states, found = States(5), Kills()
    first = replace(built(states[1]), skipped=(("k", "1"),))
    first.save(tmp_path)
    changed = first
    for change, after in changes_to(states[1], 2, 5):
        changed = change.on(changed, after)
    replace(changed, skipped=(("k", "2"),)).save(tmp_path)
    assert look(tmp_path, states, 2, found) == look(tmp_path, states, 1, found) == 2
    assert found.failures == []
    assert look(tmp_path, states, 3, found) == 3
    assert look(tmp_path, states, 0, found) == 2
    replace(changed, skipped=(("k", "1"),)).save(tmp_path)
    look(tmp_path, states, 1, found)
    newest = max(generations(tmp_path))
    generations(tmp_path)[newest].write_bytes(b"{}")
    look(tmp_path, states, 1, found)
    said = [failure.split(": ", 1)[1] for failure in found.failures]
    assert [part[:14] for part in said[:2]] == ["state 2 is the", "state 2 is the"]
    assert said[2] == "the documents are others"
    assert len(said) == 4
    assert "damaged" in said[3]
