"""The application: the page, the API, the routes of chat front ends, health and metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from clew.serve.access import AccessMiddleware, AccessRules
from clew.serve.api_routes import asking_routes, changing_routes, errors, looking_routes
from clew.serve.chat_routes import chat_routes
from clew.serve.errors import add_error_handlers
from clew.serve.service import Service
from clew.version import __version__

PAGE = files("clew.serve") / "page"
FRAME_POLICY = (
    "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
"""Of the frame that a picture is shown in: its own script runs, in no origin and without network.
What is written into a frame by `srcdoc` would have the page's policy, which allows no script."""

PAGE_FILES = {  # by path: the file, its type and a policy of its own
    "/": ("index.html", "text/html", None),
    "/page.js": ("page.js", "text/javascript", None),
    "/change.js": ("change.js", "text/javascript", None),
    "/page.css": ("page.css", "text/css", None),
    "/frame": ("frame.html", "text/html", FRAME_POLICY),
    "/docs": ("docs.html", "text/html", None),
    "/docs.js": ("docs.js", "text/javascript", None),
}
STOP_SECONDS = 0.3  # that questions in progress have when the server stops

DESCRIPTION = """Ask an index of documents, and change it where the server allows it.

Where the server has a token, every request brings it: `Authorization: Bearer TOKEN`. Errors are
`{"error": {"message": ..., "type": ...}}`. With status 503 as many questions wait as may wait: ask
again after the seconds in `Retry-After`."""


def create_app(service: Service, rules: AccessRules | None = None) -> FastAPI:
    """Return the application that serves an index.

    Args:
        service: The index with its queues.
        rules: Who may ask; None for this machine alone, without a token.

    Example:
        >>> from clew import Index
        >>> from clew.serve import ServedIndex
        >>> served = ServedIndex(Index.from_documents(["Anna married Ben."]))
        >>> create_app(Service.of(served)).title
        'clew'
    """
    rules = rules or AccessRules()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close(STOP_SECONDS)

    app = FastAPI(
        title="clew",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,  # its page would load a script from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    add_error_handlers(app)
    app.include_router(asking_routes(service))
    app.include_router(looking_routes(service))
    app.include_router(changing_routes(service))
    app.include_router(chat_routes(service))
    _add_operation(app, service)
    _add_page(app)
    app.add_middleware(HeadMiddleware)
    app.add_middleware(AccessMiddleware, rules=rules)
    if rules.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(rules.origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],  # clients bring some of their own, such as X-Stainless-Lang
            expose_headers=["Retry-After"],
        )
    return app


@dataclass(frozen=True)
class HeadMiddleware:
    """Answers HEAD as GET, of which the server that speaks HTTP sends no body.

    Attributes:
        app: What answers.
    """

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        await self.app({**scope, "method": "GET"} if is_head else scope, receive, send)


def _add_operation(app: FastAPI, service: Service) -> None:
    """Add what those who run the server look at."""

    @app.get("/health", tags=["operation"])
    async def health() -> dict[str, str]:
        """Return `ok` as long as the server answers."""
        return {"status": "ok"}

    @app.get(
        "/metrics",
        tags=["operation"],
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}}, **errors()},
    )
    async def metrics() -> Response:
        """Return counts, seconds and sizes in the text format of Prometheus."""
        return Response(service.measurements.text(), media_type="text/plain; version=0.0.4")


def _add_page(app: FastAPI) -> None:
    """Add the files of the page, which are read once."""
    for path, (name, kind, policy) in PAGE_FILES.items():
        headers = {} if policy is None else {"Content-Security-Policy": policy}
        endpoint = _sending((PAGE / name).read_bytes(), kind, headers)
        app.add_route(path, endpoint, methods=["GET"], include_in_schema=False)


def _sending(
    content: bytes, kind: str, headers: Mapping[str, str]
) -> Callable[[Request], Response]:
    def send(_: Request) -> Response:
        return Response(content, media_type=kind, headers=headers)

    return send
