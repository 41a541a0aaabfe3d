"""What comes out: items in reading order, the text a language model reads, and the reasons for both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from clew.graph import EMPTY


@dataclass(frozen=True)
class Hop:
    """One step of the way from the question to an item: from `source` ("question" at first) over an edge of `kind` to `target`.

    `text` is the fact that the edge states, if any; `weight` its affinity, or the score of the touch on the first step; `forward` says
    whether the step follows the edge's own direction. `cost` is what the edge cost for the question, where the method prices edges.
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

    `score` is its prize; `role` is seed, bridge, expansion, fact, report or fill; items that share a `group` are read as one;
    `heading` is what it stands under; `why` is the way to it from the question. `original` is the caller's own object, if it came as one.
    """

    id: str
    text: str
    score: float
    role: str
    kind: str
    tokens: int
    document: str | None = None
    heading: str = ""
    span: tuple[int, int] | None = None
    group: str | None = None
    why: tuple[Hop, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    original: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Dropped:
    """Something that was chosen and could not be printed, and why."""

    id: str
    reason: str


@dataclass(frozen=True)
class Step:
    """One stage's record: what it was, how long it took in seconds, and what it did."""

    stage: str
    seconds: float
    notes: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True)
class ContextEdge:
    """An edge between two printed items, or between one and a connector that joins it to another; `cost` as in a `Hop`."""

    tail: str
    head: str
    kind: str
    weight: float
    text: str = ""
    cost: float | None = None


@dataclass(frozen=True)
class Context:
    """What a language model should read, in order.

    Iterating gives the items. `text` is the rendered whole and `tokens` its size by the caller's counter, never above `budget`
    (None: no ceiling). `edges` join what is printed. `value` is the sum of the printed prizes, `bound` a proven upper bound on it
    where the method gives one, `gap` their relative distance. `missing` are pairs that the graph could not join, `unused` the tokens
    left, `dropped` what was chosen and could not be printed. `trace` has one step per stage. `question` and `method` say what was asked.
    """

    items: tuple[Item, ...]
    text: str
    tokens: int
    budget: int | None
    question: str
    method: str
    edges: tuple[ContextEdge, ...] = ()
    trace: tuple[Step, ...] = ()
    value: float = 0.0
    bound: float | None = None
    missing: tuple[tuple[str, str], ...] = ()
    dropped: tuple[Dropped, ...] = ()

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __str__(self) -> str:
        return self.text

    @property
    def ids(self) -> list[str]:
        return [item.id for item in self.items]

    @property
    def unused(self) -> int | None:
        return None if self.budget is None else self.budget - self.tokens

    @property
    def gap(self) -> float | None:
        if self.bound is None:
            return None
        return 0.0 if self.bound <= 0 else max(0.0, (self.bound - self.value) / self.bound)

    def to_dict(self) -> dict[str, Any]:
        """Return the context as plain dictionaries, lists, strings and numbers, ready for JSON; the caller's objects are left out."""
        plain = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name not in ("items", "edges", "trace", "dropped")
        }
        items = [
            {
                f.name: getattr(item, f.name)
                for f in fields(item)
                if f.name not in ("original", "why")
            }
            | {"why": [asdict(hop) for hop in item.why]}
            for item in self.items
        ]
        listed = {
            "edges": [asdict(tie) for tie in self.edges],
            "dropped": [asdict(one) for one in self.dropped],
        }
        trace = [
            {"stage": step.stage, "seconds": step.seconds, "notes": step.notes}
            for step in self.trace
        ]
        whole: dict[str, Any] = _plain(
            plain
            | listed
            | {"items": items, "trace": trace, "unused": self.unused, "gap": self.gap}
        )
        return whole

    def to_mermaid(self) -> str:
        """Return the way from the question to every item as a Mermaid flowchart; see `clew.show`."""
        from clew.show import mermaid

        return mermaid(self)

    def to_networkx(self) -> Any:
        """Return the question, the items and what joins them as a networkx graph; see `clew.show`."""
        from clew.show import to_networkx

        return to_networkx(self)

    def to_html(self) -> str:
        """Return a page to look at, which needs neither network nor script; see `clew.show`."""
        from clew.show import html

        return html(self)


def _plain(value: Any) -> Any:
    """Numpy numbers become Python's, mappings dictionaries, sequences lists; what JSON has no word for becomes its text."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)
