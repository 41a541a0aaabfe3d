"""A small index, and clients of servers of it."""

from __future__ import annotations

import pytest

from tests.serve.serving import built, client_of


@pytest.fixture(scope="session")
def index():
    return built()


@pytest.fixture
def client(index):
    with client_of(index) as client:
        yield client


@pytest.fixture
def writer(index):
    with client_of(index, writable=True) as client:
        yield client
