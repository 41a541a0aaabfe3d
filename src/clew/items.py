"""What a context consists of: items, the hops that lead to them, edges between them, and records.

Every record is a frozen dataclass of plain values. `clew.context` gathers them, `clew.show` draws
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from clew.graph import EMPTY

_MAKE_WHY, _MAKE_PLACE = "_make_why", "_make_place"  # in the place of fields that are not made yet
_PLACE = ("location", "lines", "anchor", "page")

Place = tuple[str, tuple[int, int] | None, str | None, int | None]
"""The location, lines, anchor and page of an item."""


@dataclass(frozen=True)
class Hop:
    """One step of the path from the question to an item: an edge from `source` to `target`.

    Attributes:
        source: The id of the node where the step begins; "question" for the first step.
        kind: The kind of the edge; "touches" or "fact" for the first step.
        target: The id of the node where the step ends; for the first step to a fact, its text.
        text: The fact that the edge states. Of an edge of kind "shared", the names that both
            passages have, the rarest first; of kind "related", a fact that relates them. Else "".
        weight: The affinity of the edge, in (0, 1]; for the first step, the score of the seed,
            from 0 on.
        forward: Whether the step follows the edge's own direction.
        cost: What the edge costs for this question, where the method prices edges; else None.

    Example:
        >>> Hop("question", "touches", "intro.md", weight=0.9).target
        'intro.md'
    """

    source: str
    kind: str
    target: str
    text: str = ""
    weight: float = 1.0
    forward: bool = True
    cost: float | None = None


@dataclass(frozen=True)
class Item:
    """One thing to read.

    Attributes:
        id: The id of the passage, the fact or the generated text.
        text: What is read.
        score: Its prize.
        role: One of "seed", "bridge", "expansion", "fact", "report" and "fill".
        kind: The kind of its node, for instance "passage", or "fact".
        tokens: Its size, by the index's counter.
        source: The name of the source that it was read in, of which `max_share` caps what is
            read; None where it was read in several.
        document: The id of the document that it is a part of, its own for a whole one; None where
            there is none.
        heading: The headings above it, joined by " > ".
        span: Its first and last character in the document's text, as a half-open range, or None.
        location: Where to open it: its file with its lines, its anchor or its page, such as
            "guide.md:37-64", "guide.html#tides" or "guide.pdf#page=3". A whole document that is
            its file has the name of the file alone. "" for what is in no document. It and the three
            after it are made when one of them is first asked for.
        lines: Its first and last line in the file, from 1, or None.
        anchor: The nearest anchor of the page of HTML at or above it, or None.
        page: The page of the file that it is on, from 1, or None.
        group: Items of the same group are read as one; None for an item by itself.
        why: The path from the question to it; made when it is first asked for.
        metadata: The caller's metadata.
        original: The caller's own object, if the item came as one.
        relevance: How relevant it is to the question by itself, in [0, 1], which means the same for
            every question and method; see `clew.relevance`. What links lead to may have little.
            None for what is no passage, and where it is not known.

    Example:
        >>> item = Item("intro.md", "Clew is a ball of thread.", 0.7, "seed", "passage", 8)
        >>> (item.role, item.why)
        ('seed', ())
    """

    id: str
    text: str
    score: float
    role: str
    kind: str
    tokens: int
    source: str | None = None
    document: str | None = None
    heading: str = ""
    span: tuple[int, int] | None = None
    group: str | None = None
    why: tuple[Hop, ...] = field(default_factory=tuple)
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    original: Any = field(default=None, compare=False, repr=False)
    relevance: float | None = None
    location: str = field(default_factory=str)
    lines: tuple[int, int] | None = field(default_factory=lambda: None)
    anchor: str | None = field(default_factory=lambda: None)
    page: int | None = field(default_factory=lambda: None)

    def explained_by(self, make_why: Callable[[], tuple[Hop, ...]]) -> Item:
        """Return the item with the path to it made when it is first asked for.

        Who only reads needs none, and what a database has pulled has no adjacency before: there the
        paths of a page take a fifteenth of the time of a question.

        Args:
            make_why: Returns `why`.

        Example:
            >>> item = Item("intro.md", "Clew is a ball of thread.", 0.7, "seed", "passage", 8)
            >>> item.explained_by(lambda: (Hop("question", "touches", "intro.md"),)).why[0].kind
            'touches'
        """
        return self._with_maker(_MAKE_WHY, make_why, ("why",))

    def placed_by(self, make_place: Callable[[], Place]) -> Item:
        """Return the item with its place made when that is first asked for.

        Lines are counted from the begin of a document, which is read for it.

        Args:
            make_place: Returns `location`, `lines`, `anchor` and `page`.

        Example:
            >>> item = Item("intro.md", "Clew is a ball of thread.", 0.7, "seed", "passage", 8)
            >>> item.placed_by(lambda: ("intro.md:3", (3, 3), None, None)).lines
            (3, 3)
        """
        return self._with_maker(_MAKE_PLACE, make_place, _PLACE)

    def with_original(self, original: object) -> Item:
        """Return the item with another object of the caller's; what is made late stays so.

        Args:
            original: The object.

        Example:
            >>> item = Item("intro.md", "Clew is a ball of thread.", 0.7, "seed", "passage", 8)
            >>> item.explained_by(lambda: ()).with_original("mine").original
            'mine'
        """
        changed = Item.__new__(Item)
        vars(changed).update(vars(self), original=original)
        return changed

    def _with_maker(self, maker: str, make: Callable[[], Any], names: tuple[str, ...]) -> Item:
        """Return the item without some fields, and with what makes them."""
        changed = Item.__new__(Item)
        values = vars(changed)
        values.update(vars(self))
        for name in names:
            values.pop(name, None)
        values[maker] = make
        return changed

    if not TYPE_CHECKING:  # a type checker knows the fields above, and that there are no others

        def __getattr__(self, name: str) -> object:
            """Make the path or the place; Python asks this for what is not there yet."""
            values = vars(self)
            if name == "why" and (make_why := values.get(_MAKE_WHY)) is not None:
                values.setdefault(name, make_why())  # one for all threads
                values.pop(_MAKE_WHY, None)  # the graph that it was made of may go
            elif name in _PLACE and (make_place := values.get(_MAKE_PLACE)) is not None:
                for field_name, value in zip(_PLACE, make_place(), strict=True):
                    values.setdefault(field_name, value)
                values.pop(_MAKE_PLACE, None)  # the documents may go
            elif name not in values:  # where another thread has just made it, it is
                raise AttributeError(f"an item has no {name!r}", name=name, obj=self)
            return values[name]

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all fields, made."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True)
class Dropped:
    """Something that was selected and is not in the context.

    Attributes:
        id: The id of the node or the fact.
        reason: Why it is not there, in words.
        title: Its headings and first words, on one line; "" where these are not known.
    """

    id: str
    reason: str
    title: str = ""


@dataclass(frozen=True)
class Step:
    """The record of one stage.

    Attributes:
        stage: The stage and its parameters (its `repr`).
        seconds: How long it took.
        notes: What it did, by name.
    """

    stage: str
    seconds: float
    notes: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True)
class ContextEdge:
    """An edge between two items of a context, or between an item and a connector.

    Attributes:
        tail: The id of the node where the edge begins.
        head: The id of the node where it ends.
        kind: Its kind.
        weight: Its affinity, in (0, 1].
        text: What it states, as in `Hop`, or "".
        cost: What it costs for this question, where the method prices edges; else None.
    """

    tail: str
    head: str
    kind: str
    weight: float
    text: str = ""
    cost: float | None = None
