"""A small corpus, facts said in it, and an embedder that counts what it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

import clew

TEXTS = {
    "minos": "King Minos of Crete ordered Daedalus to build the labyrinth at Knossos.",
    "daedalus": "Daedalus was an Athenian craftsman who built the labyrinth and later made wings of wax.",
    "ariadne": "Ariadne, a daughter of Minos, gave Theseus a clew of thread.",
    "theseus": "Theseus of Athens killed the Minotaur and found his way out by the thread.",
    "minotaur": "The Minotaur, half man and half bull, lived in the labyrinth.",
    "icarus": "Icarus, the son of Daedalus, flew too near the sun and fell into the sea.",
    "naxos": "On the island of Naxos Theseus left Ariadne behind while she slept.",
    "aegeus": "Aegeus, father of Theseus, saw the black sails and threw himself into the sea.",
    "knossos": "The palace of Knossos was dug out by Arthur Evans from the year 1900.",
    "athens": "Every nine years Athens sent seven young men and seven young women to Crete.",
}
FACTS = {
    "minos": [("Minos", "ruled", "Crete"), ("Daedalus", "built", "labyrinth")],
    "ariadne": [("Ariadne", "daughter of", "Minos"), ("Ariadne", "helped", "Theseus")],
    "theseus": [("Theseus", "killed", "Minotaur")],
    "minotaur": [("Minotaur", "lived in", "labyrinth")],
    "icarus": [("Icarus", "son of", "Daedalus")],
    "aegeus": [("Aegeus", "father of", "Theseus")],
}
QUESTION = "Who gave Theseus the thread that led him out of the labyrinth?"


class Counting(Embeddings):
    """Words hashed into 64 dimensions, and a record of every text that was embedded."""

    def __init__(self) -> None:
        self.documents: list[str] = []
        self.questions: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.documents += texts
        return [_hashed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.questions.append(text)
        return _hashed(text)


def _hashed(text: str) -> list[float]:
    vector = np.full(64, 0.01)
    for word in text.lower().replace(".", "").replace(",", "").replace("?", "").split():
        vector[crc32(word.encode()) % 64] += 1
    return (vector / np.linalg.norm(vector)).tolist()


@pytest.fixture
def embeddings() -> Counting:
    return Counting()


@pytest.fixture
def documents() -> list[Document]:
    metadata = (
        {"place": {"island": name == "naxos"}, "length": len(text), "tags": ["myth"]}
        for name, text in TEXTS.items()
    )
    return [
        Document(text, id=name, metadata=said)
        for (name, text), said in zip(TEXTS.items(), metadata, strict=True)
    ]


@pytest.fixture
def facts() -> dict[str, list[tuple[str, str, str]]]:
    return FACTS


@pytest.fixture
def question() -> str:
    return QUESTION


@pytest.fixture
def index(documents: list[Document], embeddings: Counting) -> Iterator[clew.Index]:
    return clew.Index.from_documents(documents, embedder=embeddings, facts=FACTS)
