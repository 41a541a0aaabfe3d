"""SECURITY.md promises nothing without a test, and the audit of dependencies says what it did."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_every_promise_names_a_file_of_tests() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promised = text.split("## What is promised")[1].split("## ")[0]
    rows = [line for line in promised.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 10
    for row in rows:
        _, whom, promise, tests, _ = row.split("|")
        assert whom.strip() in ("servers", "askers", "writers")
        assert promise.strip().endswith(".")
        files = re.findall(r"`([\w./-]+)`", tests)
        assert files, row
        for file in files:
            assert "def test_" in (ROOT / file).read_text(encoding="utf-8"), file


VULNERABLE = {"name": "old", "version": "1", "vulns": [{"id": "X-1", "fix_versions": ["2"]}]}
SAFE = {"name": "new", "version": "2", "vulns": []}
UNKNOWN = {"name": "own", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("packages", "error", "code", "printed"),
    [
        ([SAFE, UNKNOWN], "", 0, "audited: no known vulnerability; 1 of 2"),
        ([SAFE, VULNERABLE], "", 1, "old 1: X-1, mended in 2"),
        ([UNKNOWN], "", 0, "not audited: 0 of 1"),
        (None, "requests.exceptions.ConnectionError: no route", 0, "not audited: no service"),
        (None, "No module named pip_audit", 1, "did not work"),
    ],
)
def test_the_audit_fails_for_a_vulnerability_and_not_without_a_network(
    tmp_path: Path, packages: list[dict[str, object]] | None, error: str, code: int, printed: str
) -> None:
    report = "" if packages is None else json.dumps({"dependencies": packages})
    (tmp_path / "pip_audit.py").write_text(
        f"import sys\nprint({report!r})\nsys.stderr.write({error!r})\nsys.exit(1)\n"
    )
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "audit"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == code, done.stderr
    assert printed in done.stdout
