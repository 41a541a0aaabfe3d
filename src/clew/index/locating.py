"""Where the items of a context open: a file and its lines, an anchor of HTML, a page of a PDF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from urllib.parse import quote

from clew.document import Document
from clew.graph.sources import NAME_KEYS
from clew.items import Item, Place
from clew.source_map import lines_in_text

IN_FRAGMENT = "!$&'()*+,;=:@/?-._~"  # what an address may have behind "#" beside letters and digits


def file_named_by(metadata: Mapping[str, object]) -> str | None:
    """Return the file that metadata name as what their text is from, or None.

    Example:
        >>> file_named_by({"source": "notes.txt", "page": 3})
        'notes.txt'
    """
    named = (metadata.get(key) for key in NAME_KEYS)
    return next((name for name in named if isinstance(name, str) and name), None)


def files_in_pieces(documents: Iterable[Document]) -> frozenset[str]:
    """Return the files that several documents name as what they are from.

    Each is a piece of its file, and where it starts there is not known.

    Example:
        >>> pieces = [Document(id, "The sea.", {"source": "notes.txt"}) for id in ("a", "b")]
        >>> files_in_pieces(pieces), files_in_pieces(pieces[:1])
        (frozenset({'notes.txt'}), frozenset())
    """
    named = (file_named_by(one.metadata) for one in documents if one.source_map is None)
    return frozenset(name for name, n in Counter(named).items() if name is not None and n > 1)


def with_locations(
    items: Iterable[Item],
    documents: Mapping[str, Document],
    in_pieces: Callable[[], Collection[str]] = frozenset,
) -> tuple[Item, ...]:
    r"""Return the items with their location, lines, anchor and page, where these are known.

    Args:
        items: Items of a context.
        documents: The documents of the index, by id. Each text is gone through at most once.
        in_pieces: Returns what `files_in_pieces` does; it is called where a line is asked for.

    Example:
        >>> boats = Document("boats.md", "# Boats\n\nOars are of ash.\n")
        >>> item = Item("boats.md#9-25", "Oars are of ash.", 0.7, "seed", "passage", 5,
        ...             document="boats.md", span=(9, 25))
        >>> with_locations([item], {"boats.md": boats})[0].location
        'boats.md:3'
    """
    items = tuple(items)
    if not documents:
        return items
    places = _Places(items, documents, in_pieces)
    return tuple(
        item if item.span is None else item.placed_by(partial(places.place_of, item))
        for item in items
    )


@dataclass(frozen=True, eq=False)
class _Places:
    """Where the items of a context are; each is found when it is asked for.

    Attributes:
        items: The items.
        documents: The documents of the index, by id.
        in_pieces: As in `with_locations`.
    """

    items: tuple[Item, ...]
    documents: Mapping[str, Document]
    in_pieces: Callable[[], Collection[str]]

    @cached_property
    def _lines_of(self) -> dict[tuple[str, tuple[int, int]], tuple[int, int]]:
        """The lines of the spans of all items in the documents that are files."""
        spans_of: dict[str, list[tuple[int, int]]] = {}
        for item in self.items:
            document = _document_of(item, self.documents)
            if document is not None and self._is_own_file(document) and item.span is not None:
                spans_of.setdefault(document.id, []).append(item.span)
        return {
            (id, span): lines
            for id, spans in spans_of.items()
            for span, lines in zip(
                spans, lines_in_text(self.documents[id].text, spans), strict=True
            )
        }

    def place_of(self, item: Item) -> Place:
        """Return the location, the lines, the anchor and the page of an item."""
        document = _document_of(item, self.documents)
        if document is None or item.span is None:
            return item.location, item.lines, item.anchor, item.page
        source = document.source_map
        if source is not None:
            lines = source.lines_of(document.text, item.span)
            anchor = source.anchor_at(item.span[0])
            return location(source.file, lines, anchor, source.page), lines, anchor, source.page
        own_lines = self._lines_of.get((document.id, item.span))
        is_whole = item.span == (0, len(document.text))
        where = location(document.id, None if is_whole else own_lines)
        return where, own_lines, item.anchor, item.page

    def _is_own_file(self, document: Document) -> bool:
        """Return whether the lines of a document are those of its file.

        They are not where it was read in another form, also by an earlier version without a map,
        nor where it is a piece of its file.
        """
        if document.source_map is not None or "read_as" in document.metadata:
            return False
        name = file_named_by(document.metadata)
        if name is None or name == document.id:
            return True
        return "start_index" not in document.metadata and name not in self.in_pieces()


def location(
    file: str,
    lines: tuple[int, int] | None = None,
    anchor: str | None = None,
    page: int | None = None,
) -> str:
    """Return a place in a file as an address that opens there: its page, anchor or lines.

    Example:
        >>> location("guide.pdf", page=3), location("guide.html", (7, 9), "the tides")
        ('guide.pdf#page=3', 'guide.html#the%20tides')
        >>> location("guide.md", (7, 9)), location("guide.md", (7, 7)), location("guide.md")
        ('guide.md:7-9', 'guide.md:7', 'guide.md')
    """
    if page is not None:
        return f"{file}#page={page}"
    if anchor is not None:
        return f"{file}#{_in_fragment(anchor)}"
    if lines is None:
        return file
    first, last = lines
    return f"{file}:{first}" if first == last else f"{file}:{first}-{last}"


def _document_of(item: Item, documents: Mapping[str, Document]) -> Document | None:
    if item.role == "fact" or item.document is None:
        return None
    return documents.get(item.document)


def _in_fragment(anchor: str) -> str:
    """Return an anchor as it is written in an address; letters of all languages stay."""
    return "".join(
        character
        if character.isalnum() or not character.isascii()
        else quote(character, IN_FRAGMENT)
        for character in anchor
    )
