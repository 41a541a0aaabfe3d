"""An index small enough to save a thousand times, with something in every column."""

from __future__ import annotations

import pytest

from clew import Document, Index
from clew.store import disk


@pytest.fixture(autouse=True)
def _without_waiting_for_the_disk(monkeypatch):
    """Real syncs are for test_kill.py, in another process; that they come in the right order is for test_failure.py."""
    monkeypatch.setattr(disk, "sync", lambda _: None)


@pytest.fixture(scope="session")
def small(embed):
    documents = [
        Document(
            "anna",
            "Anna married Ben in Corfu.",
            {"title": "Anna", "year": 1910, "place": ("Corfu", 39.6)},
            references=("ben",),
        ),
        Document(
            "ben",
            "Ben lives in Corfu.",
            {"tags": ["sea", None, True], "area": float("inf")},
            previous="anna",
            source="book",
            span=(7, 26),
        ),
        Document(
            "cleo", "Cleo lives in Delos, far from \ud800 Corfu.", embedded_as="Cleo in Delos"
        ),
    ]
    facts = {
        "anna": [("Anna", "married", "Ben")],
        "ben": [("Ben", "lives in", "Corfu")],
        "cleo": [("Cleo", "lives in", "Delos")],
    }
    return Index.from_documents(documents, embedder=embed, facts=facts)
