"""A small world: letters of an island, the facts said in them, and an embedder that needs no model."""

from __future__ import annotations

import asyncio
import sys
import threading
import zlib
from typing import Any

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import Document, TextNode
from pydantic import PrivateAttr

TEXTS = {
    "corfu": "Corfu is an island in the Ionian Sea. Gerald Durrell lived there as a boy and kept scorpions.",
    "gerald": "Gerald Durrell wrote about his family and other animals, and founded a zoo on Jersey.",
    "jersey": "Jersey is an island in the English Channel, known for its cows and its zoo.",
    "lawrence": "Lawrence Durrell, the elder brother of Gerald Durrell, wrote four novels set in Alexandria.",
    "alexandria": "Alexandria is a harbour city in Egypt with a famous lighthouse, now gone.",
    "ionian": "The Ionian Sea lies between Greece and Italy and is very deep.",
    "spiro": "Spiro drove the family about in his Dodge, and knew everyone on Corfu.",
    "theodore": "Theodore Stephanides taught Gerald Durrell how to look at the water of ponds.",
}
FACTS = {
    "corfu": [("Gerald Durrell", "lived on", "Corfu"), ("Corfu", "lies in", "Ionian Sea")],
    "gerald": [("Gerald Durrell", "founded", "Jersey Zoo")],
    "jersey": [("Jersey Zoo", "stands on", "Jersey")],
    "lawrence": [("Lawrence Durrell", "brother of", "Gerald Durrell")],
    "theodore": [("Theodore Stephanides", "taught", "Gerald Durrell")],
}
UNSEEN = ["year", "kind", "tags"]  # a prompt shows the texts alone, as clew's own page does
QUESTION = "Who taught Gerald Durrell on Corfu?"


class Gate:
    """Something slow that the event loop ends: where it holds up the loop itself, it fails."""

    def __init__(self) -> None:
        self.begun, self._opened = threading.Event(), threading.Event()

    def hold(self) -> None:
        self.begun.set()
        assert self._opened.wait(30), "the event loop was held up"

    async def open_once_begun(self, asked: asyncio.Future) -> None:
        """Open the gate from the event loop, when what was asked waits at it."""
        while not self.begun.is_set() and not asked.done():  # noqa: ASYNC110 - a thread sets it
            await asyncio.sleep(0.01)
        self._opened.set()


class HashEmbedding(BaseEmbedding):
    """Sums a fixed direction per word; says what it was asked for in `seen`."""

    model_name: str = "hash"
    dimensions: int = 48
    _gate: Gate | None = PrivateAttr(default=None)
    _seen: list[tuple[str, str]] = PrivateAttr(default_factory=list)

    @property
    def seen(self) -> list[tuple[str, str]]:
        return self._seen

    def of(self, text: str) -> list[float]:
        total = [0.0] * self.dimensions
        for word in text.lower().split():
            bits = zlib.crc32(word.strip(".,?:").encode())
            for i in range(3):
                total[(bits >> (8 * i)) % self.dimensions] += 1.0 if bits >> (24 + i) & 1 else 0.5
        return total

    def _get_text_embedding(self, text: str) -> list[float]:
        self._seen.append(("text", text))
        return self.of(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        if self._gate is not None:
            self._gate.hold()
        self._seen.append(("question", query))
        return self.of(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        if self._gate is not None:
            await asyncio.to_thread(self._gate.hold)
        self._seen.append(("question", query))
        return self.of(query)


@pytest.fixture
def embed_model() -> HashEmbedding:
    return HashEmbedding()


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def slow_embed_model(gate) -> HashEmbedding:
    """Embeds a question once the gate is open."""
    slow = HashEmbedding()
    slow._gate = gate
    return slow


@pytest.fixture
def question() -> str:
    return QUESTION


@pytest.fixture
def facts() -> dict[str, list[tuple[str, str, str]]]:
    return {id: list(said) for id, said in FACTS.items()}


@pytest.fixture
def documents() -> list[Document]:
    return [
        Document(id_=id, text=text, **_said(i, id)) for i, (id, text) in enumerate(TEXTS.items())
    ]


@pytest.fixture
def nodes() -> list[TextNode]:
    return [
        TextNode(id_=id, text=text, **_said(i, id)) for i, (id, text) in enumerate(TEXTS.items())
    ]


def _said(i: int, id: str) -> dict[str, Any]:
    kind = "place" if id in ("corfu", "jersey", "alexandria", "ionian") else "person"
    return {
        "metadata": {"year": 1930 + i, "kind": kind, "tags": ["letter", id]},
        "excluded_llm_metadata_keys": UNSEEN,
    }


@pytest.fixture(autouse=True)
def _no_models_from_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever falls back to Settings would ask a paid service: make that fail at once."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("IS_TESTING", raising=False)


@pytest.fixture(autouse=True)
def _no_lost_loops(request, monkeypatch):
    """Event loops that a framework makes where there is none are closed: it leaves them open.

    Else the garbage collector says so, in whichever test it happens to find one.
    """
    if sys.version_info >= (3, 14) or request.node.get_closest_marker("asyncio"):
        yield  # there none is made, and here pytest-asyncio closes its own
        return
    made, policy = [], asyncio.get_event_loop_policy()
    make = policy.new_event_loop

    def new_event_loop():
        made.append(make())
        return made[-1]

    monkeypatch.setattr(policy, "new_event_loop", new_event_loop)
    yield
    idle = [loop for loop in made if not loop.is_running()]  # those of other threads stay
    for loop in idle:
        loop.close()
    if idle:
        asyncio.set_event_loop_policy(None)  # which knows of none of them
