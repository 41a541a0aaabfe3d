"""Errors as the server gives them: a status, a name for programs, a sentence for people.

A mistake of the program itself is logged, and the asker gets no more than that it was one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from clew.budget import BudgetError
from clew.deadline import DeadlineError
from clew.model import ModelError
from clew.serve.served_index import KnownIdError, NoFolderError, ReadOnlyError, UnknownIdError
from clew.serve.work_queue import QueueFullError
from clew.show.json_text import to_json

LOGGER = logging.getLogger("clew.serve")
RETRY_AFTER = 1  # seconds
MAX_SHOWN = 100  # characters of what came
MAX_PROBLEMS = 5

KINDS: Mapping[type[Exception], tuple[int, str]] = {  # the first that fits
    ModelError: (502, "model_failed"),
    UnknownIdError: (404, "not_found"),
    ReadOnlyError: (403, "read_only"),
    KnownIdError: (409, "known_id"),
    NoFolderError: (409, "no_folder"),
    QueueFullError: (503, "busy"),
    DeadlineError: (504, "deadline"),
    BudgetError: (400, "budget_too_small"),
    ValueError: (400, "invalid_request"),
    TypeError: (400, "invalid_request"),
}
NAMES = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
}


class PlainJSONResponse(Response):
    """JSON that every text fits in, half of a surrogate pair too; no number is no number."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Return the content as JSON."""
        return to_json(content).encode("ascii")


def error_body(message: str, kind: str) -> dict[str, Any]:
    """Return the body of an error."""
    return {"error": {"message": message, "type": kind}}


def error_response(status: int, message: str, kind: str) -> PlainJSONResponse:
    """Return the response for an error."""
    headers = {}
    if status == 503:
        headers["Retry-After"] = str(RETRY_AFTER)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return PlainJSONResponse(error_body(message, kind), status, headers)


def described(error: Exception) -> tuple[int, str, str]:
    """Return the status, the name and the sentence for an error; what is not known is logged."""
    if isinstance(error, ModelError):
        LOGGER.warning("%s", error)
    for kind, (status, name) in KINDS.items():
        if isinstance(error, kind):
            return status, str(error), name
    LOGGER.error("a question failed", exc_info=error)
    return 500, "the server made a mistake; its log says which", "internal_error"


def add_error_handlers(app: FastAPI) -> None:
    """Have every error of an app come back as JSON."""

    async def known(_: Request, error: Exception) -> Response:
        return error_response(*described(error))

    async def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        name = NAMES.get(error.status_code, "invalid_request")
        message = f"{request.method} {request.url.path[:MAX_SHOWN]}: {error.detail}"
        response = error_response(error.status_code, message, name)
        response.headers.update(error.headers or {})
        return response

    async def of_body(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return error_response(422, _problems(error), "invalid_request")

    for kind in (*KINDS, Exception):
        app.add_exception_handler(kind, known)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_body)


def _problems(error: RequestValidationError) -> str:
    """Return what is wrong with a body or a parameter: where, what was wanted, what came."""
    problems = []
    for one in error.errors()[:MAX_PROBLEMS]:
        place = ".".join(str(step) for step in one["loc"])
        came = ""
        if one["type"] == "json_invalid":
            came = f": {one.get('ctx', {}).get('error', '')}"
        elif one["type"] != "missing":
            shown = ascii(one.get("input"))
            came = f"; got {shown if len(shown) <= MAX_SHOWN else f'{shown[:MAX_SHOWN]}…'}"
        problems.append(f"{place}: {one['msg']}{came}")
    more = len(error.errors()) - len(problems)
    return ". ".join(problems) + (f". And {more} more" if more > 0 else "")
