"""The language in whose fence a text is shown; prose has none."""

from __future__ import annotations

from clew.document import Document

PROSE = ("text", "markdown", "html", "rst", "pdf")


def written_in(document: Document | None) -> str:
    """Return how a document is written: one of `PROSE`, or the language of its fence."""
    return "text" if document is None else document.format
