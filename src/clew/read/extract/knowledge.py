"""What all passages have taught an extractor, as counts, so that it can read a few more alone.

An extractor that reads all passages together learns from them: which words are mostly written
small, which titles there are. That is kept with an index, and saved with it, so that a change need
not read everything again. It is made of counts alone: those of passages that come are added, and
those of passages that go are taken away, so that no word of a deleted text is left.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import ChainMap
from collections.abc import (
    Callable,
    Collection,
    ItemsView,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    ValuesView,
)
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, cast, runtime_checkable

from clew.read.extract.extractor import Passage, Triple

NAMES_FORM = "names 1"
"""The form of what `clew.Names` learns."""

SYMBOLS_FORM = "symbols 2"
"""The form of what `clew.Symbols` learns."""

PassagesOf = Callable[[Collection[str]], Sequence[Passage]]
"""Returns the passages of some documents of an index, by their ids."""


@dataclass(frozen=True)
class Knowledge:
    """What passages have taught an extractor: how often texts came, by table.

    Attributes:
        form: What the tables are and how they are counted, such as "names 1". An extractor uses
            only what has its own form.
        tables: By the name of each table, counts > 0 by text.

    Example:
        >>> some = Knowledge("words 1", {"small": {"sea": 2}})
        >>> more = Knowledge("words 1", {"small": {"sea": 1, "isle": 1}})
        >>> some.grown(more).tables
        {'small': {'sea': 3, 'isle': 1}}
        >>> some.grown(more).shrunk(more) == some
        True
    """

    form: str
    tables: Mapping[str, Mapping[str, int]]

    @property
    def is_empty(self) -> bool:
        """Whether no passage has taught anything.

        Example:
            >>> Knowledge("words 1", {"small": {}}).is_empty
            True
        """
        return not any(self.tables.values())

    def grown(self, more: Knowledge) -> Knowledge:
        """Return what these passages and others have taught together.

        Args:
            more: What the others have taught; its tables are among these.
        """
        return self._with(more, 1)

    def shrunk(self, gone: Knowledge) -> Knowledge | None:
        """Return what is left without some of the passages; None where they were not among these.

        Args:
            gone: What those passages have taught.
        """
        for name, counts in gone.tables.items():
            table = self.tables.get(name, {})
            if any(table.get(text, 0) < n for text, n in counts.items()):
                return None
        return self._with(gone, -1)

    def part(self, form: str) -> Knowledge:
        """Return the tables of a form, such as those of "names 1" that begin with "names."."""
        begin = form.partition(" ")[0] + "."
        tables = {name: table for name, table in self.tables.items() if name.startswith(begin)}
        return Knowledge(form, tables)

    @classmethod
    def joined(cls, form: str, parts: Sequence[Knowledge]) -> Knowledge:
        """Return what several extractors have learnt, whose tables have different names."""
        # The first of several maps goes before, and their names are listed from the last one on.
        return cls(form, ChainMap(*[cast("Any", part.tables) for part in reversed(parts)]))

    def in_order(self) -> Knowledge:
        """Return the same with the texts of each table sorted, as it is in every process."""
        return replace(self, tables=_InOrder(self.tables))

    def _with(self, other: Knowledge, sign: int) -> Knowledge:
        if other.form != self.form:
            raise ValueError(f"knowledge of the form {self.form!r} has no {other.form!r}")
        tables = dict(self.tables)  # a table without changes stays the same object
        for name, counts in other.tables.items():
            if not counts:
                continue
            before = tables[name]
            made = before.made if isinstance(before, CountTable) else before
            if isinstance(before, CountTable) and made is None:
                tables[name] = _ChangedCounts(before, counts, sign)
            else:
                tables[name] = table = dict(made or {})
                _change(table, counts, sign)
        return replace(self, tables=tables)


class CountTable(Mapping[str, int]):
    """A table of which all counts are made when all are asked for: a change asks for a few.

    A class of this kind says how one is found, how all are made, and how many they are.
    """

    @abstractmethod
    def _find(self, text: str) -> int:
        """Return the count of a text; 0 where it has none."""

    @abstractmethod
    def _make(self) -> dict[str, int]:
        """Return all counts."""

    @cached_property
    def _all(self) -> dict[str, int]:
        return self._make()

    @property
    def made(self) -> Mapping[str, int] | None:
        """All counts, once they are made."""
        return self.__dict__.get("_all")

    def __getitem__(self, text: str) -> int:
        made = self.made
        if count := self._find(text) if made is None else made.get(text, 0):
            return count
        raise KeyError(text)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def items(self) -> ItemsView[str, int]:
        """Return all texts with their counts."""
        return self._all.items()

    def values(self) -> ValuesView[int]:
        """Return all counts."""
        return self._all.values()

    def __repr__(self) -> str:
        return repr(self._all)

    def __reduce__(self) -> tuple[type[dict[str, int]], tuple[dict[str, int]]]:
        return dict, (self._all,)


class _ChangedCounts(CountTable):
    """The counts of a table after a change; none is looked up until it is asked for.

    Args:
        before: The table before.
        counts: By how much counts changed.
        sign: 1 where they are more, -1 where they are fewer.
    """

    def __init__(self, before: CountTable, counts: Mapping[str, int], sign: int) -> None:
        self._before, self._differences = before, dict[str, int]()
        self._changes: tuple[tuple[Mapping[str, int], int], ...] = ((counts, sign),)
        if isinstance(before, _ChangedCounts):
            self._before, self._differences = before._before, dict(before._differences)
            self._changes = (*before._changes, (counts, sign))
        for text, n in counts.items():
            self._differences[text] = self._differences.get(text, 0) + sign * n

    def _find(self, text: str) -> int:
        return self._before.get(text, 0) + self._differences.get(text, 0)

    def _make(self) -> dict[str, int]:
        table = dict(self._before._all)
        for counts, sign in self._changes:
            _change(table, counts, sign)
        return table

    def __len__(self) -> int:
        return len(self._all)

    @property
    def stored(self) -> object:
        """What the counts are found by; see `clew.graph.sizes`."""
        return self._before, self._changes, self._differences, self.made


def _change(table: dict[str, int], counts: Mapping[str, int], sign: int) -> None:
    """Add counts to a table, or take them away."""
    for text, n in counts.items():
        if left := table.get(text, 0) + sign * n:
            table[text] = left
        else:
            del table[text]


class LateTables(Mapping[str, Mapping[str, int]]):
    """Tables that are counted when one is first asked for: a question asks for none.

    Args:
        names: Their names.
        count: Returns the tables, by their names.

    Example:
        >>> tables = LateTables(["small"], lambda: {"small": {"sea": 2}})
        >>> list(tables), tables["small"]
        (['small'], {'sea': 2})
    """

    def __init__(
        self, names: Sequence[str], count: Callable[[], Mapping[str, Mapping[str, int]]]
    ) -> None:
        self._names, self._count = names, count

    @cached_property
    def _counted(self) -> Mapping[str, Mapping[str, int]]:
        return self._count()

    def __getitem__(self, name: str) -> Mapping[str, int]:
        return self._counted[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(self._counted)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is pickled: the tables, counted, which are a dictionary afterwards."""
        return dict, (dict(self._counted),)


class _InOrder(Mapping[str, Mapping[str, int]]):
    """Tables whose texts are sorted when one is first asked for: most are never asked for.

    Attributes:
        stored: The tables as they came, which is what this takes in memory.
    """

    def __init__(self, tables: Mapping[str, Mapping[str, int]]) -> None:
        self.stored = tables
        self._sorted = dict[str, dict[str, int]]()

    def __getitem__(self, name: str) -> Mapping[str, int]:
        if name not in self._sorted:
            self._sorted[name] = dict(sorted(self.stored[name].items()))
        return self._sorted[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored)

    def __len__(self) -> int:
        return len(self.stored)

    def __repr__(self) -> str:
        return repr(dict(self))


@runtime_checkable
class LearningExtractor(Protocol):
    """An extractor of all passages together that can say what they have taught it.

    Attributes:
        knowledge_form: The form of its knowledge.
    """

    @property
    def knowledge_form(self) -> str: ...

    def triples(self, passages: Sequence[Passage]) -> Sequence[Iterable[Triple]]:
        """Return the triples of every passage; see `Extractor`."""
        ...

    def learn(
        self, passages: Sequence[Passage]
    ) -> tuple[Sequence[Iterable[Triple]], Knowledge | None]:
        """Return what `triples` returns, and what the passages have taught.

        That is None where a change has to read everything again.
        """
        ...

    def learn_more(
        self, passages: Sequence[Passage], known: Knowledge, passages_of: PassagesOf
    ) -> tuple[Sequence[Iterable[Triple]], Knowledge] | None:
        """Return the triples of passages that came, and what all have taught then.

        Args:
            passages: The passages that came.
            known: What the others have taught.
            passages_of: Returns the others of some documents.

        Returns:
            None where everything has to be read again.
        """
        ...

    def forget(self, passages: Sequence[Passage], known: Knowledge) -> Knowledge | None:
        """Return what is known without some passages.

        Args:
            passages: The passages that go.
            known: What all have taught.

        Returns:
            None where everything has to be read again.
        """
        ...


def as_learning(extractor: object) -> LearningExtractor | None:
    """Return an extractor that can say what passages have taught it; None for any other.

    A class that reads in its own way, and only inherits how another one learns, is none.

    Example:
        >>> as_learning(lambda text: []) is None
        True
    """
    if not isinstance(extractor, LearningExtractor) or isinstance(extractor, type):
        return None
    homes = type(extractor).__mro__
    first = [
        next((at for at, home in enumerate(homes) if name in vars(home)), len(homes))
        for name in ("learn", "learn_more", "forget", "triples")
    ]
    return extractor if max(first[:-1]) <= first[-1] else None
