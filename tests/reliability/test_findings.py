"""What fuzzing found stays mended: every finding, and every seed, is read or refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability.fuzz_targets import Choices, check, targets

FINDINGS = sorted(Path(__file__).with_name("findings").glob("*/*"))


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_finding_is_read_or_refused_in_words(finding):
    check(targets()[finding.parent.name], finding.read_bytes())


@pytest.mark.parametrize("name", targets())
def test_the_seeds_are_read_or_refused_in_words(name):
    for seed in (*targets()[name].seeds, b"", b"\xff\xfe\x00", b"\x00"):
        check(targets()[name], seed)


def test_bytes_are_choices_without_an_end():
    choices = Choices(b"\x05")
    assert [choices.among("abc"), choices.among("abc")] == ["c", "a"]
