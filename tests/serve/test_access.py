"""Who may not ask is refused: by the host, the page it comes from, the token and the size."""

from __future__ import annotations

import pytest

from clew.serve.access import PUBLIC, AccessRules
from tests.serve.serving import HERE, client_of

ASKED = {"question": "When do ferries sail?"}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "[", "10.0.0.1"]
)
def test_a_name_that_was_led_here_is_refused(client, host):
    for response in (
        client.get("/", headers={"Host": host}),
        client.post("/api/ask", json=ASKED, headers={"Host": host}),
    ):
        assert response.status_code == 403
        assert "127.0.0.1 and localhost" in response.json()["error"]["message"]


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:1", "localhost", "[::1]:8765"])
def test_the_names_of_this_machine_are_answered(client, host):
    assert client.get("/health", headers={"Host": host}).is_success


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://[evil",
        "http://127.0.0.1:9999",
        "http://localhost:8765",
    ],
)
def test_a_page_elsewhere_may_not_ask_or_change(writer, origin):
    headers = {"Origin": origin}
    calls = [
        writer.post("/api/ask", json=ASKED, headers=headers),
        writer.post(
            "/api/documents", json={"documents": [{"id": "a", "text": "b"}]}, headers=headers
        ),
        writer.request("DELETE", "/api/documents", json={"ids": ["moon.md"]}, headers=headers),
        writer.post("/v1/chat/completions", json={}, headers=headers),
    ]
    assert [response.status_code for response in calls] == [403] * 4
    assert "access-control-allow-origin" not in writer.get("/api/status", headers=headers).headers


def test_its_own_page_may_ask(client):
    assert client.post("/api/ask", json=ASKED, headers={"Origin": HERE}).is_success


def test_a_page_that_the_server_names_may_ask(index):
    chat = "https://chat.example.org"
    with client_of(index, rules=AccessRules(origins=(chat,))) as client:
        response = client.post("/api/ask", json=ASKED, headers={"Origin": chat})
        assert response.is_success
        assert response.headers["access-control-allow-origin"] == chat
        before = {
            "Origin": chat,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type",
        }
        assert client.options("/api/ask", headers=before).is_success
        # As OpenAI's client asks before it sends anything from a page.
        before["Access-Control-Request-Headers"] += ",x-stainless-lang,x-stainless-retry-count"
        assert client.options("/v1/chat/completions", headers=before).is_success
        before["Origin"] = "https://evil.example"
        assert not client.options("/v1/chat/completions", headers=before).is_success
        other = client.post("/api/ask", json=ASKED, headers={"Origin": "https://evil.example"})
        assert other.status_code == 403


@pytest.mark.parametrize(
    "origin", ["null", "https://chat.example.org:8443", "chrome-extension://abc", "http://[::1]:80"]
)
def test_an_origin_as_browsers_send_it_is_taken(origin):
    assert AccessRules(origins=(origin,)).origins == (origin,)


@pytest.mark.parametrize(
    "origin", ["", "*", "chat.example.org", "https://chat.example.org/", "https://Chat.example.org"]
)
def test_an_origin_that_no_browser_sends_is_an_error(origin):
    with pytest.raises(ValueError, match="scheme and host"):
        AccessRules(origins=(origin,))


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_what_a_page_can_send_blindly_is_refused(writer, kind):
    response = writer.post("/api/ask", content=b'{"question": "a"}', headers={"Content-Type": kind})
    assert response.status_code == 415


def test_a_token_is_wanted_by_every_route_that_shows_something(index):
    with client_of(
        index, rules=AccessRules("0.0.0.0", "right"), base_url="http://clew.example"
    ) as client:
        schema = client.get("/openapi.json").json()
        for path, methods in schema["paths"].items():
            for method in methods:
                for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic right"},
                                {"Authorization": "Bearer rightt"}, {"Authorization": "Bearer é"}):  # fmt: skip
                    sent = {name: value.encode() for name, value in headers.items()}
                    response = client.request(method.upper(), path, headers=sent)
                    if path in PUBLIC:
                        assert response.is_success
                    else:
                        assert response.status_code == 401, (method, path, headers)
                        assert response.headers["www-authenticate"] == "Bearer"
        right = {"Authorization": "Bearer right"}
        assert client.post("/api/ask", json=ASKED, headers=right).is_success
        assert client.get("/metrics", headers=right).is_success
        assert client.get("/").is_success


def test_another_machine_is_served_with_a_token_alone():
    for host in ("0.0.0.0", "192.168.1.2", "::", "clew.example"):
        with pytest.raises(ValueError, match="--token"):
            AccessRules(host)
        assert AccessRules(host, "secret").token == "secret"
    for token in ("", " ", "two words", "é", "a\nb"):
        with pytest.raises(ValueError, match="ASCII"):
            AccessRules("127.0.0.1", token)
    assert AccessRules("::1").token is None


def test_a_server_behind_a_proxy_has_the_name_of_the_proxy_and_a_token(index):
    with client_of(index, rules=AccessRules(token="right")) as client:
        headers = {"Host": "clew.example", "Origin": "https://clew.example"}
        assert client.post("/api/ask", json=ASKED, headers=headers).status_code == 401
        headers["Authorization"] = "Bearer right"
        assert client.post("/api/ask", json=ASKED, headers=headers).is_success
        headers["Origin"] = "https://evil.example"
        assert client.post("/api/ask", json=ASKED, headers=headers).status_code == 403


def test_a_body_that_is_too_large_is_refused_whole_and_in_pieces(index):
    rules = AccessRules(max_body=1000)
    as_json = {"Content-Type": "application/json"}
    with client_of(index, rules=rules) as client:
        whole = client.post("/api/ask", content=b'"' + b"a" * 1000 + b'"', headers=as_json)
        pieces = client.post(
            "/api/ask", content=iter([b'"'] + [b"a" * 100] * 20 + [b'"']), headers=as_json
        )
        for response in (whole, pieces):
            assert response.status_code == 413
            assert response.json()["error"]["type"] == "too_large"
            assert "1,000 bytes" in response.json()["error"]["message"]
        assert client.post("/api/ask", json=ASKED).is_success


def test_every_answer_has_the_safe_headers(client):
    for response in (client.get("/"), client.get("/nothing"), client.post("/api/ask", json=ASKED),
                     client.get("/", headers={"Host": "evil.example"})):  # fmt: skip
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
    frame = client.get("/frame").headers["content-security-policy"]
    assert frame.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in frame
    assert "default-src 'none'" in frame
    assert "connect-src" not in frame
