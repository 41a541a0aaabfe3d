"""Requests drawn from the OpenAPI document: no route ends in a mistake of the program."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis.errors import Unsatisfiable

from clew.serve import ServedIndex, ServedOptions
from clew.serve.access import AccessRules
from clew.serve.app import create_app
from clew.serve.service import Service
from tests.serve.serving import HERE, built

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis: clew[clients]")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

HEADERS = {"Host": HERE.removeprefix("http://")}


@pytest.fixture(scope="module")
def operations():
    service = Service.of(ServedIndex(built(), ServedOptions(writable=True, budget=300)), 2)
    app = create_app(service, AccessRules())
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=HEADERS)
    return [result.ok() for result in schema.get_all_operations()]


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
def test_no_request_ends_in_a_mistake(operations, mode):
    assert len(operations) > 12
    statuses = {operation.label: draw(operation, mode) for operation in operations}
    if mode is schemathesis.GenerationMode.POSITIVE:
        answered = {label for label, found in statuses.items() if 200 in found}
        assert {"POST /api/ask", "POST /api/narrow", "POST /api/documents"} <= answered
    else:
        assert 422 in statuses["POST /api/ask"]


def draw(operation, mode):
    """Return the statuses that drawn requests end in."""
    statuses, declared = set(), operation.definition.raw["responses"]

    @settings(max_examples=2 * settings().max_examples)
    @given(operation.as_strategy(generation_mode=mode))
    def check(case):
        response = case.call(headers=HEADERS)
        statuses.add(response.status_code)
        assert response.status_code < 500, response.text
        if response.status_code >= 400:
            assert set(response.json()) == {"error"}
        assert str(response.status_code) in (*declared, "405"), response.text

    with suppress(Unsatisfiable):  # a route without parameters has no wrong request
        check()
    return statuses
