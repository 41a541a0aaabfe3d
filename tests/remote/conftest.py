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
