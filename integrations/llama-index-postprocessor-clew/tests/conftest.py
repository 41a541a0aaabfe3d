"""A small world: letters of an island, the facts said in them, and an embedder that needs no model."""

from __future__ import annotations

import asyncio
import sys
import zlib

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import TextNode

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
    "theodore": [("Theodore Stephanides", "taught", "Gerald Durrell")],
}


class HashEmbedding(BaseEmbedding):
    """Counts each word in one of 48 places."""

    model_name: str = "hash"

    def _get_text_embedding(self, text: str) -> list[float]:
        counts = [0.0] * 48
        for word in text.lower().split():
            counts[zlib.crc32(word.strip(".,?:").encode()) % 48] += 1.0
        return counts

    _get_query_embedding = _get_text_embedding

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


@pytest.fixture
def embed_model() -> HashEmbedding:
    return HashEmbedding()


@pytest.fixture
def question() -> str:
    return "Who taught Gerald Durrell on Corfu?"


@pytest.fixture
def facts() -> dict[str, list[tuple[str, str, str]]]:
    return {id: list(said) for id, said in FACTS.items()}


@pytest.fixture
def nodes() -> list[TextNode]:
    return [
        TextNode(
            id_=id,
            text=text,
            metadata={"year": 1930 + i, "tags": ["letter", id]},
            excluded_llm_metadata_keys=["year", "tags"],  # a prompt shows the text alone
        )
        for i, (id, text) in enumerate(TEXTS.items())
    ]


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
