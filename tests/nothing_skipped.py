"""A plugin of pytest that makes a failure of what is skipped: `python -m pytest -p tests.nothing_skipped`.

For an environment that is to have all that the tests need: a package that is missing there would
leave them out in silence.
"""

from __future__ import annotations

import pytest

ALLOWED = ("a transaction has the turn there until it ends",)
"""Reasons that have nothing to do with what is installed."""


def refused(report):
    """Return the report of a test or a module as that of a failure, where it was skipped."""
    if report.skipped and not hasattr(report, "wasxfail"):
        *_, reason = report.longrepr if isinstance(report.longrepr, tuple) else (report.longrepr,)
        if str(reason).removeprefix("Skipped: ") not in ALLOWED:
            report.outcome = "failed"
            report.longrepr = f"nothing is to be skipped here; {report.nodeid}: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return refused((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return refused((yield))
