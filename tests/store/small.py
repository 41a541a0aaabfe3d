"""An index small enough to save a thousand times, with something in every column."""

from __future__ import annotations

from clew import Document, Index


def small_index(embed) -> Index:
    """Return an index of three documents."""
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
