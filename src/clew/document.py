"""A document as it comes in: a text with an id and metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clew.graph import EMPTY


@dataclass(frozen=True)
class Document:
    """A text to be read.

    Attributes:
        id: the caller's name for it, unique in an index. text: what is read. metadata: the caller's own; `title` heads it in a context.
        original: the framework object it came as. vector: a unit vector that is already known, or None.
        source: id of the document that this is a piece of, with `span`, its place there. parent, previous: ids of the container and of
            the piece before, where the caller's objects say so. heading: this is a container, read as `text` alone.
        embedded_as: what is embedded in the place of `text`, where the caller's object says so.
        facts: triples (subject, relation, object) that the caller's object says were read from it.
        references: link targets written in the text. format: how it is written, and so taken apart: "text", "markdown", "python" or
            another of `clew.read.formats.table.KNOWN`.
    """

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    original: Any = field(default=None, compare=False, repr=False)
    vector: Any = field(default=None, compare=False, repr=False)
    source: str | None = None
    span: tuple[int, int] | None = None
    parent: str | None = None
    previous: str | None = None
    heading: bool = False
    embedded_as: str | None = None
    references: tuple[str, ...] = ()
    format: str = "text"
    facts: tuple[tuple[str, str, str], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        for name, value, wanted in (
            ("id", self.id, str),
            ("text", self.text, str),
            ("metadata", self.metadata, Mapping),
        ):
            if not isinstance(value, wanted):
                kind = "a mapping" if wanted is Mapping else "a text"
                raise TypeError(
                    f"the {name} of a document is {kind}; got {value!r} of the type {type(value).__name__}"
                )
