"""The short form of the checklist: every risk has its row, and every row is well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability.checklist import Checked, all_rows
from tests.reliability.rows.row import Finding, Row

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="each row is a forked process")


def test_every_risk_has_one_row():
    assert [row.number for row in all_rows()] == list(range(1, 23))


def test_a_row_says_whether_it_is_well():
    row = Row(3, "a risk", lambda short: Finding("", ""))
    assert Checked(row, Finding("a", "b", ("c",)), 1.0, 1.0).verdict == "FAILED"
    assert Checked(row, Finding("a", "b", (), "d"), 1.0, 1.0).verdict == "ok"
    assert Checked(row, Finding("", "", (), "d"), 1.0, 1.0).verdict == "not applicable"
    assert "figure: b" in str(Checked(row, Finding("a", "b"), 1.0, 1.0))


@pytest.mark.slow
def test_the_short_checklist_is_well():
    done = subprocess.run(
        [sys.executable, "-m", "tests.reliability.checklist", "--short"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "22 rows, 0 failed" in done.stdout
