"""A real server of every database, from packages, for the tests that are one for all of them."""

from __future__ import annotations

import pytest

from tests.remote.servers import SERVERS, started


@pytest.fixture(scope="session", params=list(SERVERS))
def server(request):
    one = started(request.param)
    yield one
    one.stop()


@pytest.fixture(scope="session")
def postgres():
    one = started("postgresql")
    yield one
    one.stop()


@pytest.fixture(scope="module", params=["falkordb", "bolt"])
def graph_server(request):
    """A server of its own for each module: a killed one reads again what all have written."""
    one = started(request.param)
    yield one
    one.stop()
