"""Who may ask: the token, the name of the host, the page that a request comes from, and its size.

A server on the loopback is reached by every page that the user's browser shows. A page elsewhere
may have its own name lead to 127.0.0.1 (DNS rebinding), hence the check of `Host` where there is no
token. It may send requests blindly, hence those of `Origin` and of the content type.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clew.serve.errors import NAMES, error_response

MAX_BODY = 16 * 2**20  # bytes of a request
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
ORIGIN = re.compile(r"\A(?:null|[a-z][a-z0-9+.-]*+://[^/?#\sA-Z]+)")  # as browsers send it
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
PUBLIC = (
    *("/", "/page.js", "/change.js", "/page.css", "/frame", "/docs", "/docs.js", "/openapi.json"),
    "/health",
)
"""What is there without a token: nothing of the index. `/health` tells whether it answers."""

STRICT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
SAFE_HEADERS = {
    "Content-Security-Policy": STRICT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def is_loopback(host: str) -> bool:
    """Return whether a host is reached from this machine alone.

    Example:
        >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
        (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class AccessRules:
    """Who may ask a server.

    Attributes:
        host: Where it listens.
        token: What a request has to bring in `Authorization: Bearer`; None for nothing.
        origins: Pages elsewhere that may ask, such as "https://chat.example.org".
        max_body: Bytes that a request may have.

    Raises:
        ValueError: There is no token, and the host is not the loopback; or a page's origin is none
            that a browser sends, so that it would never ask.
    """

    host: str = "127.0.0.1"
    token: str | None = None
    origins: tuple[str, ...] = ()
    max_body: int = MAX_BODY

    def __post_init__(self) -> None:
        if self.token is not None and not re.fullmatch(r"[!-~]+", self.token):
            raise ValueError(
                "a token has letters, digits and signs of ASCII without spaces, at least one; "
                f"got one of {len(self.token)} characters" + " that has others" * bool(self.token)
            )
        for origin in self.origins:
            if not ORIGIN.fullmatch(origin):
                raise ValueError(
                    "the origin of a page is scheme and host, and a port if there is one, without "
                    f"a path: https://chat.example.org; got {origin!r}"
                )
        if self.token is None and not is_loopback(self.host):
            raise ValueError(
                f"{self.host} can be reached from other machines: give a --token (or the "
                "environment variable CLEW_TOKEN), which every request has to bring, or listen on "
                "127.0.0.1"
            )

    def refusal(self, method: str, path: str, headers: Headers) -> Refusal | None:
        """Return why a request is refused, or None."""
        host = headers.get("host", "")
        names = (*LOOPBACK_NAMES, self.host)
        if self.token is None and _name_of(host) not in names:  # a page elsewhere has no token
            return Refusal(
                403,
                f"the request is for the host {host[:100]!r}; this server answers for "
                "127.0.0.1 and localhost alone",
            )
        origin = headers.get("origin")
        if method not in SAFE_METHODS and origin is not None and not self._may_ask(origin, host):
            return Refusal(
                403,
                f"the request comes from a page of {origin[:100]!r}; pages of other places may "
                "not ask, unless the server is started with --allow-origin",
            )
        if self.token is not None and path not in PUBLIC and method != "OPTIONS":
            return self._refusal_by_token(headers)
        return None

    def _refusal_by_token(self, headers: Headers) -> Refusal | None:
        kind, _, given = headers.get("authorization", "").partition(" ")
        assert self.token is not None
        right = hmac.compare_digest(given.strip().encode(), self.token.encode())
        if kind.lower() == "bearer" and right:
            return None
        came = "another one came" if given else "none came"
        return Refusal(401, f"a token is wanted, as `Authorization: Bearer TOKEN`; {came}")

    def _may_ask(self, origin: str, host: str) -> bool:
        try:
            return origin in self.origins or urlsplit(origin).netloc == host
        except ValueError:  # an address that is none
            return False


class Refusal(NamedTuple):
    """A status and the reason in words."""

    status: int
    reason: str


@dataclass(frozen=True)
class AccessMiddleware:
    """Refuses what the rules refuse, before anything else sees it, and adds the safe headers.

    Attributes:
        app: What answers.
        rules: Who may ask.
    """

    app: ASGIApp
    rules: AccessRules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        send_safe = _with_safe_headers(send)
        refusal = self.rules.refusal(scope["method"], scope["path"], headers)
        refusal = refusal or self._refusal_by_body(scope["method"], headers)
        if refusal is not None:
            response = error_response(refusal.status, refusal.reason, NAMES[refusal.status])
            await response(scope, receive, send_safe)
            return
        read = 0

        async def receive_some() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.rules.max_body:  # a body that comes in pieces tells no length before
                raise HTTPException(413, self._too_large())
            return message

        await self.app(scope, receive_some, send_safe)

    def _refusal_by_body(self, method: str, headers: Headers) -> Refusal | None:
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.rules.max_body:
            return Refusal(413, self._too_large())
        has_body = length != "0" or "transfer-encoding" in headers
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method not in SAFE_METHODS and has_body and kind != "application/json":
            came = f"got {kind[:100]!r}" if kind else "none came"
            return Refusal(415, f"the content type application/json is wanted; {came}")
        return None

    def _too_large(self) -> str:
        return f"the body of a request has at most {self.rules.max_body:,} bytes"


def _name_of(host: str) -> str:
    """Return the name in a `Host` header, without the port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _with_safe_headers(send: Send) -> Send:
    async def send_safe(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = MutableHeaders(scope=message)
            for name, value in SAFE_HEADERS.items():
                own.setdefault(name, value)
        await send(message)

    return send_safe
