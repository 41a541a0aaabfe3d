"""A document is a text with an id and metadata, as it enters an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clew.graph import EMPTY
from clew.source_map import SourceMap


@dataclass(frozen=True)
class Document:
    """A text to be read.

    Attributes:
        id: The caller's name for the document. It is unique in an index.
        text: The text that is read.
        metadata: The caller's own values. `title` becomes the heading of the document in a context.
        original: The framework object that the document was made from, or None.
        vector: The unit vector of the text, float32 [d], where it is known already, or None. It is
            used by an index that is given the embedder it is of.
        source: The id of the document that this one is a piece of, or None.
        span: The place of this piece in `source`, as (start, end) in characters, or None.
        parent: The id of the container around this document, or None.
        previous: The id of the piece before this one, or None.
        heading: True for a container. Only its `text` is read, as the heading of its contents.
        embedded_as: The text that is embedded in place of `text`, or None for `text` itself.
        references: The link targets that the caller knows of.
        format: The name of the format that `text` is written in, which decides how it is cut: a
            key of `clew.read.formats.FORMATS`, such as "text", "markdown" or "python".
        facts: Triples (subject, relation, object) that the caller's object carries.
        source_map: Where the places of the text are in the file that it was read from; None for a
            text that is its file.

    Example:
        >>> Document("moon", "The moon pulls the sea.", {"title": "Moon"}).metadata["title"]
        'Moon'
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
    facts: Sequence[tuple[str, str, str]] = field(default=(), compare=False)
    source_map: SourceMap | None = field(default=None, repr=False)

    @classmethod
    def unchecked(cls, values: Mapping[str, Any]) -> Document:
        """Return a document of values that are known to be right, in a fourth of the time.

        Args:
            values: The fields by name, at least `id` and `text`; others have their defaults.

        Example:
            >>> Document.unchecked({"id": "sea", "text": "The sea."}) == Document("sea", "The sea.")
            True
        """
        document = cls.__new__(cls)
        vars(document).update(_defaults())
        vars(document).update(values)
        return document

    @classmethod
    def stored(cls, make_text: Callable[[], str], values: Mapping[str, Any]) -> Document:
        """Return a document whose text is made when it is first asked for.

        Args:
            make_text: Returns the text.
            values: The other fields, by name, which are not checked.

        Example:
            >>> Document.stored(lambda: "The sea.", {"id": "sea"}).text
            'The sea.'
        """
        document = cls.__new__(cls)
        vars(document).update({"metadata": EMPTY, **values, "_make_text": make_text})
        return document

    if not TYPE_CHECKING:  # a type checker knows the fields above, and that there are no others

        def __getattr__(self, name: str) -> object:
            """Make the text; Python asks this for what is not there yet."""
            make_text = vars(self).get("_make_text") if name == "text" else None
            if make_text is None:
                raise AttributeError(f"a document has no {name!r}", name=name, obj=self)
            return vars(self).setdefault("text", make_text())  # one for all threads

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the text as such."""
        values = {**vars(self), "text": self.text}  # a copy: other threads make the text, too
        values.pop("_make_text", None)
        return values

    def __post_init__(self) -> None:
        if type(self.id) is type(self.text) is str and isinstance(self.metadata, (dict, Mapping)):
            return
        for name, value, expected_type in (
            ("id", self.id, str),
            ("text", self.text, str),
            ("metadata", self.metadata, Mapping),
        ):
            if not isinstance(value, expected_type):
                expected = "a mapping" if expected_type is Mapping else "a text"
                raise TypeError(
                    f"the {name} of a document is {expected}; "
                    f"got {value!r} of the type {type(value).__name__}"
                )


@lru_cache(maxsize=1)
def _defaults() -> Mapping[str, Any]:
    return dict(vars(Document("", "")))
