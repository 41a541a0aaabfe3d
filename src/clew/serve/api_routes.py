"""The HTTP API: ask, narrow, open, and, where the server allows it, add, delete and sync."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from clew import recipes
from clew.serve.bodies import (
    AskBody,
    ChangeBody,
    DeleteBody,
    DocumentsBody,
    ErrorBody,
    NarrowBody,
    NeighbourBody,
    NeighboursQuery,
    RecipeBody,
    ShownContextBody,
    SourceBody,
    SourceQuery,
    SyncBody,
)
from clew.serve.chat import ChatMessage, answer_pieces, cited_items
from clew.serve.errors import PlainJSONResponse, described, error_body
from clew.serve.served_index import AskedAnswer, IndexChange
from clew.serve.service import Service
from clew.show import path_in_words
from clew.show.json_text import to_json

EVENTS = "text/event-stream"


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how a route describes the errors that it may end in."""
    always = (401, 403, 413, 415, 422, 500)
    return {status: {"model": ErrorBody} for status in (*always, *statuses)}


def asking_routes(service: Service) -> APIRouter:
    """Return the routes that ask a service."""
    router = APIRouter(tags=["ask"])
    served = service.served

    @router.post(
        "/api/ask",
        responses={
            200: {
                "model": ShownContextBody,
                "content": {EVENTS: {"schema": {"type": "string"}}},
            },
            **errors(400, 502, 503, 504),
        },
    )
    async def ask(body: AskBody) -> Response:
        """Return the context for a question, and an answer made of it."""
        answer, values = await _looked_up(service, body)
        if body.stream:
            return StreamingResponse(_events(service, body, answer, values), media_type=EVENTS)
        if body.answer and values["answer"] is None:
            pieces = _pieces(service, body, answer)
            values["answer"] = _in_words(service, "".join([one async for one in pieces]), answer)
        return PlainJSONResponse(values)

    @router.post(
        "/api/narrow",
        responses={200: {"model": ShownContextBody}, **errors(400, 503, 504)},
    )
    async def narrow(body: NarrowBody) -> Response:
        """Return the context of candidates that another retriever found."""

        def work(seconds: float) -> dict[str, Any]:
            found = served.narrow(body.question, body.pairs(), deadline=seconds, **body.keywords())
            return _shown_values(found)

        return PlainJSONResponse(await service.look_up("narrow", work))

    return router


def looking_routes(service: Service) -> APIRouter:
    """Return the routes that show what a service has."""
    router = APIRouter(tags=["look"])
    served = service.served

    @router.get("/api/recipes", responses={200: {"model": list[RecipeBody]}, **errors()})
    async def list_recipes() -> Response:
        """Return the methods that a question may name; the server's own comes first."""
        own = served.options.recipe
        names = [own, *(name for name in recipes.names() if name != own)]
        return PlainJSONResponse([_recipe(name, is_default=name == own) for name in names])

    @router.get("/api/source", responses={200: {"model": SourceBody}, **errors(404, 503, 504)})
    async def open_source(query: Annotated[SourceQuery, Query()]) -> Response:
        """Return where something stands: the text of its document, and its place in there."""
        return PlainJSONResponse(
            await service.look_up("source", lambda _: served.open_source(query.id))
        )

    @router.get(
        "/api/neighbours",
        responses={200: {"model": list[NeighbourBody]}, **errors(404, 503, 504)},
    )
    async def neighbours(query: Annotated[NeighboursQuery, Query()]) -> Response:
        """Return what something is linked to, the strongest links first."""
        return PlainJSONResponse(
            await service.look_up("neighbours", lambda _: served.neighbours(query.id, query.limit))
        )

    @router.get("/api/metadata", responses=errors(503, 504))
    async def metadata() -> dict[str, list[Any]]:
        """Return the keys of the documents' metadata, each with values to filter by."""
        return await service.look_up("metadata", lambda _: served.metadata_values())

    @router.get("/api/status", responses=errors())
    async def status() -> dict[str, Any]:
        """Return what is served, in numbers and names."""
        waiting = {"running": service.questions.running, "waiting": service.questions.waiting}
        return {**served.status(), **waiting}

    return router


def changing_routes(service: Service) -> APIRouter:
    """Return the routes that change the index of a service."""
    router = APIRouter(tags=["change"])
    served = service.served
    described_by: dict[int | str, dict[str, Any]] = {200: {"model": ChangeBody}}

    @router.post("/api/documents", responses={**described_by, **errors(400, 409, 503)})
    async def add(body: DocumentsBody) -> Response:
        """Add documents."""
        documents = [one.document() for one in body.documents]
        return _changed(
            await service.change(lambda: served.add(documents, replace_known=body.replace))
        )

    @router.delete("/api/documents", responses={**described_by, **errors(400, 404, 503)})
    async def delete(body: DeleteBody) -> Response:
        """Delete documents by their ids, or by their metadata."""
        return _changed(await service.change(lambda: served.delete(body.ids, where=body.where)))

    @router.post("/api/sync", responses={**described_by, **errors(400, 409, 503)})
    async def sync(body: SyncBody) -> Response:
        """Read the server's folder again, or hold these documents alone."""
        documents = None if body.documents is None else [one.document() for one in body.documents]
        return _changed(await service.change(lambda: served.sync(documents)))

    return router


async def _looked_up(service: Service, body: AskBody) -> tuple[AskedAnswer, dict[str, Any]]:
    """Return the answer to a question, and what of it is sent; quotes are in there already."""
    served, model = service.served, service.served.options.model

    def work(seconds: float) -> tuple[AskedAnswer, dict[str, Any]]:
        numbered = body.answer and model is not None
        answer = served.ask(body.question, numbered=numbered, deadline=seconds, **body.keywords())
        values = _shown_values(answer)
        values["answer"] = None
        if body.answer and (model is None or not answer.context.items):
            values["answer"] = _in_words(service, answer.quotes, answer)
        if body.picture:
            values["html"] = answer.context.to_html()
        return answer, values

    return await service.look_up("ask", work)


def _shown_values(answer: AskedAnswer) -> dict[str, Any]:
    """Return a context as JSON has it, with the path to each item in words, and the remark."""
    values = {**answer.context.to_dict(), "remark": answer.remark}
    for item, shown in zip(answer.context, values["items"], strict=True):
        shown["why_in_words"] = path_in_words(item)
    return values


def _pieces(service: Service, body: AskBody, answer: AskedAnswer) -> AsyncIterator[str]:
    messages = [ChatMessage("user", body.question)]
    model = service.served.options.model
    return service.pieces("ask", lambda: answer_pieces(answer, messages, model))


async def _events(
    service: Service, body: AskBody, answer: AskedAnswer, values: dict[str, Any]
) -> AsyncIterator[str]:
    """Yield the context, then the pieces of the answer, then the answer, as events."""
    yield _event("context", values)
    if not body.answer or values["answer"] is not None:
        return
    text = ""
    try:
        async for piece in _pieces(service, body, answer):
            text += piece
            yield _event("piece", piece)
    except Exception as error:  # noqa: BLE001 - the reader learns it: the status is sent already
        _, message, kind = described(error)
        yield _event("error", error_body(message, kind))
        return
    yield _event("answer", _in_words(service, text, answer))


def _event(name: str, content: object) -> str:
    return f"event: {name}\ndata: {to_json(content)}\n\n"


def _in_words(service: Service, text: str, answer: AskedAnswer) -> dict[str, Any]:
    """Return an answer with what it cites."""
    model = service.served.options.model
    cited = cited_items(text, answer.context, model)
    return {
        "text": text,
        "by": "quotes" if model is None else model.name,
        "cited": {str(number): item.id for number, item in cited.items()},
    }


def _recipe(name: str, *, is_default: bool) -> dict[str, Any]:
    known = recipes.RECIPES.get(name)
    return {
        "name": name,
        "does": known.summary if known else "the method of the server's own file",
        "when": known.when if known else "",
        "source": known.source if known else "",
        "is_default": is_default,
    }


def _changed(change: IndexChange) -> Response:
    return PlainJSONResponse(change._asdict())
