"""What comes out: items in reading order, the text a language model reads, the reasons for both."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew import show
from clew.items import ContextEdge, Dropped, Hop, Item, Step
from clew.usage import NO_USAGE, Usage

if TYPE_CHECKING:
    import networkx

_MAKER = "_make_"  # before the name of a field that is not made yet

__all__ = ["Context", "ContextEdge", "Dropped", "Hop", "Item", "Step"]


def fallbacks(context: Context) -> list[str]:
    """Return, each once, what stages did instead of their own work, as the trace records it."""
    notes = (step.notes for step in context.trace)
    return list(dict.fromkeys(str(note["fallback"]) for note in notes if "fallback" in note))


@dataclass(frozen=True)
class Context:
    """What a language model should read, in order. Iterating gives the items.

    Attributes:
        items: What is read, in reading order.
        text: The rendered whole.
        tokens: The size of `text` by the caller's counter; never above `budget`.
        budget: The tokens allowed; None for no ceiling.
        question: What was asked.
        method: The method that answered (its `repr`).
        edges: What joins the items; made when it is first asked for.
        trace: One step for each stage. The step "index" of an index that was changed in place says
            what is as of the last `Index.compact`, and how many passages have changed since.
        value: The sum of the prizes of what is read. A printed fact has no prize.
        bound: No connected page within the budget and a `limit` has a higher `value`, by the same
            tokenizer and in the same style, among those without what `min_relevance` and
            `max_share` leave out: proven for the whole graph, or for what a select stage before
            left of it. None where the method proves nothing, or where the page, for want of room,
            starts from other passages than those that the bound is of.
        missing: Pairs of ids that the graph could not join.
        dropped: What was selected and is not in the context, each with the reason; made when it is
            first asked for.
        rewards: What `Index.learn` takes from this context: id of the tail ("" for the root of the
            corpus), id of the head and change of strength of each edge. None where the method
            teaches nothing.
        grafts: Id of the tail, id of the head and strength of each link that the method made for
            this question and followed.
        usage: The calls and tokens of language models for this question.
        source_budget: The tokens that one source may have of `text`; None without a cap.
        sources_have_one: Whether a source may have one item, however large that is.
        relevance: How relevant the best passage of all is to the question, in [0, 1], whether it is
            read or not; None where it is not known. See `clew.relevance`.
        nothing_found: Why there are no items, in a sentence without a full stop, where nothing that
            may be read answers the question; else "".

    Example:
        >>> item = Item("intro.md", "Clew is a ball of thread.", 0.7, "seed", "passage", 8)
        >>> context = Context((item,), item.text, 8, 20, "What is a clew?", "dense")
        >>> (context.ids, context.unused, context.gap)
        (['intro.md'], 12, None)
    """

    items: tuple[Item, ...]
    text: str
    tokens: int
    budget: int | None
    question: str
    method: str
    edges: tuple[ContextEdge, ...] = field(default_factory=tuple)
    trace: tuple[Step, ...] = ()
    value: float = 0.0
    bound: float | None = None
    missing: tuple[tuple[str, str], ...] = ()
    dropped: tuple[Dropped, ...] = field(default_factory=tuple)
    rewards: tuple[tuple[str, str, float], ...] | None = None
    grafts: tuple[tuple[str, str, float], ...] = ()
    usage: Usage = NO_USAGE
    source_budget: int | None = None
    sources_have_one: bool = False
    relevance: float | None = None
    nothing_found: str = ""

    def changed(self, **values: object) -> Context:
        """Return the context with other values of some fields.

        Raises:
            TypeError: There is no field of such a name.

        Example:
            >>> context = Context((), "", 0, None, "Who?", "dense")
            >>> context.changed(question="Where?").question
            'Where?'
        """
        if unknown := values.keys() - self.__dataclass_fields__.keys():
            raise TypeError(f"a context has no {', '.join(sorted(unknown))}")
        return self._copied(vars(self) | values)

    def made_when_asked(
        self,
        *,
        edges: Callable[[], tuple[ContextEdge, ...]] | None = None,
        dropped: Callable[[], tuple[Dropped, ...]] | None = None,
    ) -> Context:
        """Return the context with edges or with what is dropped made when they are first asked for.

        They take a fifth of the time of a question, and who only reads needs neither.

        Args:
            edges: Returns `edges`; None leaves them as they are.
            dropped: Returns `dropped`; None leaves it as it is.

        Example:
            >>> context = Context((), "", 0, None, "Who?", "dense")
            >>> later = context.made_when_asked(dropped=lambda: (Dropped("a.md", "too long"),))
            >>> later.dropped[0].id
            'a.md'
        """
        makers = {"edges": edges, "dropped": dropped}
        given = {name: make for name, make in makers.items() if make is not None}
        known = {name: value for name, value in vars(self).items() if name not in given}
        return self._copied(known | {_MAKER + name: make for name, make in given.items()})

    def _copied(self, values: Mapping[str, Any]) -> Context:
        changed = Context.__new__(Context)
        vars(changed).update(values)
        return changed

    if not TYPE_CHECKING:  # a type checker knows the fields above, and that there are no others

        def __getattr__(self, name: str) -> object:
            """Make a field; Python asks this for what is not there yet."""
            values = vars(self)
            make = values.get(_MAKER + name)
            if make is not None:
                values.setdefault(name, make())  # one for all threads
                values.pop(_MAKER + name, None)  # the graph that it was made of may go
            elif name not in values:  # where another thread has just made it, it is
                raise AttributeError(f"a context has no {name!r}", name=name, obj=self)
            return values[name]

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all fields, made."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __str__(self) -> str:
        return self.text

    @property
    def ids(self) -> list[str]:
        """The ids of the items, in reading order."""
        return [item.id for item in self.items]

    @property
    def unused(self) -> int | None:
        """The tokens of the budget that are left; None without a budget."""
        return None if self.budget is None else self.budget - self.tokens

    @property
    def gap(self) -> float | None:
        """How far `value` is below `bound`, as a share of `bound`; None without a bound."""
        if self.bound is None:
            return None
        return 0.0 if self.bound <= 0 else max(0.0, (self.bound - self.value) / self.bound)

    def to_dict(self) -> dict[str, Any]:
        """Return the context as dictionaries, lists, strings and numbers, ready for JSON.

        The caller's own objects (`Item.original`) are left out.
        """
        nested = ("items", "edges", "trace", "dropped", "usage")
        values: dict[str, object] = {
            f.name: getattr(self, f.name) for f in fields(self) if f.name not in nested
        }
        values["edges"] = [asdict(edge) for edge in self.edges]
        values["dropped"] = [asdict(dropped) for dropped in self.dropped]
        values["items"] = [_item_values(item) for item in self.items]
        values["trace"] = [
            {"stage": step.stage, "seconds": step.seconds, "notes": step.notes}
            for step in self.trace
        ]
        values["usage"] = asdict(self.usage)
        values["unused"] = self.unused
        values["gap"] = self.gap
        return {name: _json_value(value) for name, value in values.items()}

    def to_mermaid(self) -> str:
        """Return the paths from the question to the items as a flowchart in Mermaid's language.

        See `clew.show.to_mermaid`.
        """
        return show.to_mermaid(self)

    def to_networkx(self) -> networkx.MultiDiGraph[str]:
        """Return the question, the items and what joins them as a networkx graph.

        See `clew.show.to_networkx`.
        """
        return show.to_networkx(self)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return a page of HTML that shows the context, and write it to a file if one is named.

        The page needs no network, and can be read without script. See `clew.show.to_html`.

        Args:
            path: The file to write; what it held before is lost. On the page in a file, the files
                that were read are links.

        Raises:
            OSError: The file cannot be written; known before the page is made.

        Example:
            >>> item = Item("intro.md", "Clew is a ball of thread.", 0.7, "seed", "passage", 8)
            >>> context = Context((item,), item.text, 8, 20, "What is a clew?", "dense")
            >>> context.to_html().startswith("<!doctype html>")
            True
        """
        return show.to_html(self) if path is None else show.write_html(self, Path(path))

    def _repr_html_(self) -> str:
        """Return the page in a frame, as notebooks show it."""
        return show.framed(show.to_html(self), f"The context for: {self.question}")


def _item_values(item: Item) -> dict[str, object]:
    values: dict[str, object] = {
        f.name: getattr(item, f.name) for f in fields(item) if f.name not in ("original", "why")
    }
    values["why"] = [asdict(hop) for hop in item.why]
    return values


def _json_value(value: object) -> object:
    """Return the value as JSON has it.

    Numpy numbers become Python's, mappings dictionaries, sequences and sets lists. Anything else
    becomes its text.
    """
    if isinstance(value, Mapping):
        return {str(key): _json_value(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_json_value(inner) for inner in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return _json_value(value.tolist()) if hasattr(value, "tolist") else str(value)
