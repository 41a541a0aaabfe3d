"""A row of the checklist, and what was found for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes:
        ran: What was run.
        figure: What came of it.
        failures: What is wrong, one sentence each; empty where all is well.
        not_applicable: Why the risk, or what is left of it, is none here.
    """

    ran: str
    figure: str
    failures: tuple[str, ...] = ()
    not_applicable: str = ""


@dataclass(frozen=True)
class Row:
    """A risk and its check.

    Attributes:
        number: The number of the row.
        risk: What may go wrong.
        check: Returns what was found; takes whether to be short.
        seconds: About how long the full check takes: the longest begin first.
    """

    number: int
    risk: str
    check: Callable[[bool], Finding]
    seconds: float = 10.0


def first(failures: list[str], most: int = 5) -> tuple[str, ...]:
    """Return the first few failures, and how many more there are."""
    if len(failures) <= most:
        return tuple(failures)
    return (*failures[:most], f"and {len(failures) - most:,} more")
