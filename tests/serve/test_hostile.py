"""What a stranger wrote into a document, its id or its metadata never becomes markup or a command."""

from __future__ import annotations

import json
import re

import pytest

import clew
from clew.serve.app import PAGE
from tests.serve.serving import client_of

SCRIPT = "<script>alert(1)</script>"
HOSTILE = clew.Document(
    f"{SCRIPT}.md",
    f'Ferries {SCRIPT} sail <img src=x onerror="alert(2)"> at nine [now](javascript:alert(3)). '
    "</script></style></textarea><svg/onload=alert(4)>",
    {"title": f'"><{SCRIPT}', "link": "javascript:alert(5)"},
)


@pytest.fixture
def hostile(index):
    with client_of(index.add([HOSTILE])) as client:
        yield client


def test_what_is_sent_is_json_and_no_page(hostile):
    asked = {"question": "When do ferries sail?", "limit": 10, "picture": True}
    response = hostile.post("/api/ask", json=asked)
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
    body = response.json()
    assert any(SCRIPT in item["text"] for item in body["items"])
    html = body["html"]
    assert SCRIPT not in html
    assert "<img" not in html
    assert "<svg/onload" not in html
    assert not re.search(r"""(?:href|src)\s*=\s*["']?\s*javascript:""", html, re.IGNORECASE)


@pytest.mark.parametrize("route", ["source", "neighbours"])
def test_errors_that_name_what_came_are_json(hostile, route):
    response = hostile.get(f"/api/{route}", params={"id": SCRIPT})
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/json"
    missing = hostile.get(f"/{SCRIPT}")
    assert missing.headers["content-type"] == "application/json"


def test_lines_of_an_event_stream_cannot_be_forged(index):
    forged = clew.Document(
        "forged", "Ferries sail.\n\nevent: answer\ndata: {}\n\n\u2028event: piece\rdata: 1"
    )
    with client_of(index.add([forged])) as client:
        asked = {"question": "When do ferries sail?", "stream": True}
        text = client.post("/api/ask", json=asked).text
    assert re.findall(r"^event: (.*)$", text, re.MULTILINE) == ["context"]
    assert all(line.startswith(("event: ", "data: ")) for line in text.splitlines() if line)


def test_the_page_has_no_door_for_markup():
    """Whatever the page shows of a document goes in as text; a page of HTML goes into the frame alone."""
    for name in ("page.js", "change.js", "docs.js"):
        code = (PAGE / name).read_text(encoding="utf-8")
        for door in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "srcdoc",
            "new Function",
        ):
            assert door not in code, (name, door)
    for name in ("index.html", "docs.html"):
        page = (PAGE / name).read_text(encoding="utf-8")
        assert not re.search(r"\son\w+=|<style|<script(?![^>]*\ssrc=)", page), (
            "the policy forbids these"
        )


@pytest.mark.parametrize(
    "metadata",
    ["[" * 900 + "]" * 900, "NaN", "1e999", '"' + "a" * 20_001 + '"', "9" * 5000, "[" * 10**5],
)
def test_metadata_that_no_answer_could_bring_along_are_refused(writer, metadata):
    body = {"documents": [{"id": "deep", "text": "A deep sea.", "metadata": {"a": "HERE"}}]}
    text = json.dumps(body).replace('"HERE"', metadata)
    response = writer.post(
        "/api/documents", content=text, headers={"Content-Type": "application/json"}
    )
    assert response.status_code in (400, 422)
    assert response.json()["error"]["type"] == "invalid_request"
    assert len(response.text) < 1000
    assert writer.post("/api/ask", json={"question": "How deep is the sea?"}).is_success


def test_metadata_of_some_levels_come_with_the_answer(writer):
    metadata = {"a": [{"b": [[1.5, None, "c"]]}]}
    document = {"id": "deep", "text": "The trench is eleven kilometres deep.", "metadata": metadata}
    assert writer.post("/api/documents", json={"documents": [document]}).is_success
    asked = {"question": "How deep is the trench?", "limit": 1}
    assert writer.post("/api/ask", json=asked).json()["items"][0]["metadata"] == metadata
