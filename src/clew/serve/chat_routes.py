"""The routes of OpenAI's chat completions, so that existing chat front ends can connect."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from clew import recipes
from clew.index.question import QueryKeywords
from clew.items import Item
from clew.serve.api_routes import EVENTS, errors
from clew.serve.bodies import ChatBody
from clew.serve.chat import (
    MAX_QUESTION,
    ChatMessage,
    answer_pieces,
    cited_items,
    last_question,
    source_lines,
    standalone_question,
)
from clew.serve.errors import PlainJSONResponse, described, error_body
from clew.serve.served_index import AskedAnswer, UnknownIdError
from clew.serve.service import Service
from clew.show.json_text import to_json

MODEL = "clew"  # what a client names for the server's own recipe; `clew/RECIPE` for another
DONE = "data: [DONE]\n\n"


def chat_routes(service: Service) -> APIRouter:
    """Return the routes that chat front ends know."""
    router = APIRouter(tags=["chat"])

    @router.get("/v1/models", responses=errors())
    async def models() -> dict[str, Any]:
        """Return what a client may name as its model: `clew`, or a recipe as `clew/RECIPE`."""
        created = int(service.served.started)
        names = [MODEL, *(f"{MODEL}/{name}" for name in recipes.names())]
        listed = [
            {"id": name, "object": "model", "created": created, "owned_by": MODEL} for name in names
        ]
        return {"object": "list", "data": listed}

    @router.post(
        "/v1/chat/completions",
        responses={
            200: {"content": {EVENTS: {"schema": {"type": "string"}}}},
            **errors(400, 404, 502, 503, 504),
        },
    )
    async def complete(body: ChatBody) -> Response:
        """Answer the last message of the user, with the numbers of its sources in brackets."""
        reply = _Reply(service, body)
        await reply.look_up()
        if body.stream:
            return StreamingResponse(reply.events(), media_type=EVENTS)
        return PlainJSONResponse(await reply.whole())

    return router


class _Reply:
    """One answer in OpenAI's forms, whole and in chunks."""

    answer: AskedAnswer
    cited: Mapping[int, Item]

    def __init__(self, service: Service, body: ChatBody) -> None:
        self.service, self.body = service, body
        self.messages = [ChatMessage(one.role, one.text) for one in body.messages]
        self.id, self.created = f"chatcmpl-{uuid.uuid4().hex}", int(time.time())
        self.recipe = _recipe_of(body.model)

    async def look_up(self) -> None:
        """Look the last question up, with what it refers to where something came before it."""
        served = self.service.served
        question = last_question(self.messages)
        if len(question) > MAX_QUESTION:
            raise ValueError(
                f"a question has at most {MAX_QUESTION:,} characters; got {len(question):,}"
            )
        model = served.options.model
        if model is not None:
            written = [
                one
                async for one in self.service.pieces(
                    "chat", lambda: iter([standalone_question(self.messages, model)])
                )
            ]
            question = written[0][:MAX_QUESTION]

        def work(seconds: float) -> AskedAnswer:
            given: QueryKeywords = {"deadline": seconds}
            if self.recipe is not None:
                given["recipe"] = self.recipe
            if model is not None:
                return served.ask(question, numbered=True, **given)
            looked_up = standalone_question(self.messages, None)
            answer = replace(
                served.ask(looked_up, numbered=True, **given), question=question.strip()
            )
            assert answer.quotes is not None, "they are made here, in turn, and kept"
            return answer

        self.answer = await self.service.look_up("chat", work)

    async def whole(self) -> dict[str, Any]:
        """Return the whole answer."""
        text = "".join([piece async for piece in self._pieces()])
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {
            **self._head("chat.completion"),
            "choices": [choice],
            "usage": self._usage(text),
            "clew": self._sources(),
        }

    async def events(self) -> AsyncIterator[str]:
        """Yield the answer in chunks; an error that comes then is a chunk of its own."""
        text = ""
        yield self._chunk({"role": "assistant", "content": ""})
        try:
            async for piece in self._pieces():
                text += piece
                yield self._chunk({"content": piece})
        except Exception as error:  # noqa: BLE001 - the reader learns it: the status is sent already
            _, message, kind = described(error)
            yield f"data: {to_json(error_body(message, kind))}\n\n"
            yield DONE
            return
        yield self._chunk({}, "stop", clew=self._sources())
        if self.body.stream_options is not None and self.body.stream_options.include_usage:
            head = self._head("chat.completion.chunk")
            yield f"data: {to_json({**head, 'choices': [], 'usage': self._usage(text)})}\n\n"
        yield DONE

    async def _pieces(self) -> AsyncIterator[str]:
        """Yield the answer, and below it the sources that it cites, and what was left out."""
        text = ""
        model = self.service.served.options.model
        async for piece in self.service.pieces(
            "chat", lambda: answer_pieces(self.answer, self.messages, model)
        ):
            text += piece
            yield piece
        self.cited = cited_items(text, self.answer.context, model)
        below = source_lines(self.cited), self.answer.remark
        for lines in filter(None, below):
            yield f"\n\n{lines}" if text else lines
            text += lines

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.body.model}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **more: object) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        values = {**self._head("chat.completion.chunk"), "choices": [choice], **more}
        return f"data: {to_json(values)}\n\n"

    def _usage(self, text: str) -> dict[str, int]:
        read = self.answer.context.tokens
        index = self.answer.index
        written = index.graph.count(text) if index is not None and text else 0
        return {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        }

    def _sources(self) -> dict[str, Any]:
        """Return what the answer cites, once it is whole, for clients that know this server.

        Beside it stands what was looked up, the question with what it refers to, and what of the
        request had no effect.
        """
        return {
            "looked_up": self.answer.context.question,
            "left_aside": self.body.left_aside,
            "sources": [
                {"number": number, "id": item.id, "location": item.location, "text": item.text}
                for number, item in self.cited.items()
            ],
        }


def _recipe_of(model: str) -> str | None:
    """Return the recipe that a client names as its model; None for the server's own."""
    name, _, recipe = model.partition("/")
    if name != MODEL or (recipe and recipe not in recipes.names()):
        raise UnknownIdError(f"there is no model {model[:100]!r}; `/v1/models` lists them")
    return recipe or None
