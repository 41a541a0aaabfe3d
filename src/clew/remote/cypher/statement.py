"""Statements in openCypher, and what runs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

CypherRows = list[list[Any]]


class PlainNumbers(list[Any]):
    """A list of finite numbers, or of lists of these, which a client need not look through."""


class PlainKeys(list[str]):
    """A list of keys of letters, digits and signs that stand for themselves between quotes."""


@dataclass(frozen=True)
class CypherStatement:
    """A statement with its values.

    Attributes:
        text: It has no value in it, only the names of those that are bound.
        values: What is bound, by name.
        writes: Whether it changes anything.
    """

    text: str
    values: Mapping[str, object] = field(default_factory=dict)
    writes: bool = False


class HeldLease(Protocol):
    """The right to write an index; see `clew.remote.cypher.lease`."""

    holder: str

    def end(self) -> None:
        """Let the next writer have its turn."""
        ...


class CypherSession(Protocol):
    """What runs statements, each of which sees one moment of the database.

    Attributes:
        round_trips: How often the database was asked.
        lease: The right to write an index, which the session has taken; None for none.
    """

    round_trips: int
    lease: HeldLease | None

    async def run(
        self, *statements: CypherStatement, seconds: float | None = None
    ) -> list[CypherRows]:
        """Return the rows of each statement, in their order.

        Args:
            *statements: They run one after the other.
            seconds: How long each may take; None for no limit.
        """
        ...

    async def pause(self, seconds: float) -> None:
        """Wait, as the session waits for the database."""
        ...
