"""In what the databases that speak openCypher differ, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.graph import Ragged, Rows, freeze, offsets_of
from clew.remote.cypher.texts import BEHIND_ITEM, BETWEEN_ROWS, stored_text

Form = tuple[str, Callable[[Any, int], Any]]
"""How a column is asked for, `{}` being its expression, and how what comes is read."""


def _joined(value: str, _: int) -> Rows:
    return freeze(np.fromstring(value, np.int64, sep=" "), np.int64)


def _listed(value: Sequence[int], _: int) -> Rows:
    return freeze(np.array(value, np.int64), np.int64)


def _joined_texts(value: str, n: int) -> list[str]:
    return [stored_text(text) for text in value.split(BETWEEN_ROWS)] if n else []


def _joined_numbers(value: str, n: int) -> Ragged:
    parts = value.split(BETWEEN_ROWS) if n else []
    starts = offsets_of([part.count(" ") + 1 if part else 0 for part in parts])
    values = np.fromstring(value.replace(BETWEEN_ROWS, " "), np.int64, sep=" ")
    return Ragged(starts, freeze(values, np.int32))


def _joined_lists(value: str, n: int) -> list[tuple[str, ...]]:
    parts = value.split(BETWEEN_ROWS) if n else []
    return [tuple(map(stored_text, part.split(BEHIND_ITEM)[:-1])) for part in parts]


def _listed_texts(value: Sequence[str], _: int) -> list[str]:
    return [stored_text(text) for text in value]


def _listed_numbers(value: Sequence[Sequence[int]], _: int) -> Ragged:
    return Ragged.of(value)


def _listed_lists(value: Sequence[Sequence[str]], _: int) -> list[tuple[str, ...]]:
    return [tuple(map(stored_text, part)) for part in value]


LISTED: Mapping[str, Form] = {
    "number": ("collect({})", _listed),
    "text": ("collect({})", _listed_texts),
    "numbers": ("collect({})", _listed_numbers),
    "texts": ("collect({})", _listed_lists),
}
"""A column comes as a list of values."""

_JOIN = f"string.join(collect({{}}), '{BETWEEN_ROWS}')"
JOINED: Mapping[str, Form] = {
    "number": ("string.join(collect(toString({})), ' ')", _joined),
    "text": (_JOIN, _joined_texts),
    "numbers": (_JOIN.format("string.join([one IN {} | toString(one)], ' ')"), _joined_numbers),
    "texts": (
        _JOIN.format(f"string.join([one IN {{}} | one + '{BEHIND_ITEM}'], '')"),
        _joined_lists,
    ),
}
"""A column comes as one text: a client that reads values one by one is slow with many."""


@dataclass(frozen=True)
class Dialect:
    """What a database has of its own.

    Attributes:
        forms: How columns are asked for, and read.
        seek: How node `{0}` is found by the key `{1}`.
        clock: The milliseconds since 1970, as an expression.
        set_up: What makes the indexes of the database, once.
        searches_vectors: Whether it finds the nearest vectors.
        shows_at_once: Whether whoever reads finds all that a statement has written, or nothing.
    """

    forms: Mapping[str, Form]
    seek: str
    clock: str
    set_up: tuple[str, ...]
    searches_vectors: bool
    shows_at_once: bool

    def returned(self, columns: Mapping[str, tuple[str, str]], counted: str = "*") -> str:
        """Return the end of a statement that returns columns in one row.

        Args:
            columns: The form and the expression of each, by name.
            counted: What is counted, as the number of rows.
        """
        parts = [f"count({counted})"]
        parts += [self.forms[form][0].format(expression) for form, expression in columns.values()]
        return f"RETURN {', '.join(parts)}"

    def read(
        self, columns: Mapping[str, tuple[str, str]], rows: Sequence[Sequence[Any]]
    ) -> dict[str, Any]:
        """Return the columns of the one row that a statement returned."""
        [[n, *values]] = rows
        return {
            name: self.forms[form][1](value, n)
            for (name, (form, _)), value in zip(columns.items(), values, strict=True)
        }


UNIQUE = (("ClewSchema", "one"), ("ClewIndex", "key"), ("ClewLock", "key"))
"""Labels and properties by which there is one node, whoever makes it."""

INDEXED = (
    *(("ClewNode", "index"), ("ClewFact", "index"), ("ClewPosting", "index")),
    *(("ClewPosting", "key"), ("ClewFile", "index"), ("ClewIndex", "number")),
)
"""Labels and properties by which nodes are looked up."""

BY_KEY = (("ClewNode", "key"), ("ClewFact", "key"))

LOOKED_UP = (*INDEXED, *BY_KEY, *UNIQUE)

FALKORDB = Dialect(
    forms=JOINED,
    # By its own id a node is found sooner, but after a kill and a start, with deletions before,
    # other nodes came by these ids than were written. By keys the test of that passes.
    seek="MATCH ({0}:ClewNode {{key: {1}}}) WHERE {0}.index = $index",
    clock="timestamp()",
    # A statement that writes is alone there, so that nothing has to be declared unique.
    set_up=tuple(f"CREATE INDEX FOR (n:{label}) ON (n.{name})" for label, name in LOOKED_UP),
    searches_vectors=True,
    shows_at_once=True,
)

NEO4J = Dialect(
    forms=LISTED,
    # With a sum, or ArcadeDB's planner takes all nodes of the generation, and looks among them.
    seek="MATCH ({0}:ClewNode {{key: {1}}}) WHERE {0}.index + 0 = $index",
    clock="timestamp()",
    set_up=(
        *(
            f"CREATE CONSTRAINT {label.lower()}_{name} IF NOT EXISTS FOR (n:{label}) "
            f"REQUIRE n.{name} IS UNIQUE"
            for label, name in UNIQUE
        ),
        *(
            f"CREATE INDEX {label.lower()}_{name} IF NOT EXISTS FOR (n:{label}) ON (n.{name})"
            for label, name in (*INDEXED, *BY_KEY)
        ),
    ),
    searches_vectors=False,
    shows_at_once=False,
)

MEMGRAPH = Dialect(
    forms=LISTED,
    seek=NEO4J.seek,
    clock="timestamp() / 1000",
    set_up=(
        *(f"CREATE CONSTRAINT ON (n:{label}) ASSERT n.{name} IS UNIQUE" for label, name in UNIQUE),
        *(f"CREATE INDEX ON :{label}({name})" for label, name in LOOKED_UP),
    ),
    searches_vectors=False,
    shows_at_once=True,  # it isolates snapshots
)
