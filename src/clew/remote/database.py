"""What a database has to do so that it can hold indexes, and which database an address is of.

An address begins with the scheme of its database, and one table says what holds its indexes. The
coroutines of a database wait for nothing but the session that they are given, so that
`clew.remote.session.finish` runs them as plain calls over a session that blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

from clew.graph import Graph, Rows, Vectors
from clew.index.contents import IndexContents
from clew.remote.address import Address
from clew.remote.corpus import CorpusFigures
from clew.remote.late_vectors import ReadVectors
from clew.remote.protocol import GraphStore, Wanted

AnySession: TypeAlias = Any
"""A session that the same database gave; each knows its own kind."""

DATABASES = {
    "postgresql": ("clew.remote.postgres_database", "PostgresDatabase"),
    "postgres": ("clew.remote.postgres_database", "PostgresDatabase"),
    "falkordb": ("clew.remote.cypher.falkor", "FalkorDatabase"),
    **dict.fromkeys(
        ("bolt", "bolt+s", "neo4j", "neo4j+s"), ("clew.remote.cypher.bolt", "BoltDatabase")
    ),
}
"""The module and the class that hold indexes at addresses of a scheme; it is made of an address."""


class IndexChangedError(RuntimeError):
    """An index was written while it was read: what was read is of no one version."""


@dataclass(frozen=True)
class FoundIndex:
    """Where an index is in its database.

    Attributes:
        number: Its number.
        version: Its version, which every write raises.
        nodes: How many nodes it has.
        dimension: The width of its vectors.
    """

    number: int
    version: int
    nodes: int
    dimension: int


class DatabaseSession(Protocol):
    """A connection to a database, while something is read or written."""

    round_trips: int


class Database(Protocol):
    """A database that can hold indexes, and the connections of this process to it."""

    def reading(self) -> AbstractContextManager[DatabaseSession]:
        """Give a session that reads; it blocks."""
        ...

    def areading(self) -> AbstractAsyncContextManager[DatabaseSession]:
        """Give a session that reads, in the event loop that runs."""
        ...

    def writing(self) -> AbstractContextManager[DatabaseSession]:
        """Give a session whose changes are made all at once, or none of them; it blocks."""
        ...

    def close(self) -> None:
        """Close the connections that wait; those of an event loop are closed by `aclose`."""
        ...

    async def aclose(self) -> None:
        """Close the connections that wait, of this event loop and of none."""
        ...

    async def check_schema(self, session: AnySession) -> bool:
        """Return whether indexes can be in the database; False where none was ever saved.

        Raises:
            ValueError: What is there is of another version.
        """
        ...

    async def enter(self, session: AnySession, address: Address) -> None:
        """Make what indexes need, and the entry of one that has no rows yet, if they are missing.

        Args:
            session: A session that writes.
            address: The address of the index.

        Raises:
            ValueError: What is there is of another version.
        """
        ...

    async def find(
        self,
        session: AnySession,
        address: Address,
        *,
        to_write: bool = False,
    ) -> FoundIndex:
        """Return where an index is.

        Args:
            session: What is asked.
            address: Its address.
            to_write: Whether other writers of it wait until the session ends.

        Raises:
            KeyError: There is no index of this name, or not of this tenant.
        """
        ...

    async def check_current(self, session: AnySession, found: FoundIndex) -> None:
        """Do nothing where all that the session has read of an index is of one version.

        Raises:
            IndexChangedError: The index was written since it was found.
        """
        ...

    async def file_paths(self, session: AnySession, found: FoundIndex) -> list[str]:
        """Return the paths of the files of an index."""
        ...

    async def read_file(self, session: AnySession, found: FoundIndex, path: str) -> bytes:
        """Return the bytes of a file of an index."""
        ...

    async def read_vectors(
        self,
        session: AnySession,
        found: FoundIndex,
        numbers: Rows,
    ) -> Vectors:
        """Return the vectors of nodes, ascending; zeros where a node has none."""
        ...

    async def store(
        self,
        session: AnySession,
        corpus: CorpusFigures,
        stems: Sequence[str] = (),
        where: Wanted | None = None,
        read_later: ReadVectors | None = None,
    ) -> GraphStore:
        """Return the graph of an index, as it is asked in a session.

        Args:
            session: What is asked.
            corpus: What is known of the whole index.
            stems: Those of the question, if there is one: the database may look them up at once,
                while the question's vector is made.
            where: What the question may read; None for everything.
            read_later: Reads the vectors of nodes that are no passages when a stage looks at them,
                if the database leaves them out before; None where it may not.
        """
        ...

    async def end(self, session: AnySession) -> None:
        """Let the database end what a question has read, while it is answered.

        The session is asked nothing more.
        """
        ...

    async def write(
        self,
        session: AnySession,
        found: FoundIndex,
        index: IndexContents,
        before: Graph | None,
        root: Path,
    ) -> None:
        """Write an index, whose folder is saved already.

        Args:
            session: A session that writes, and that found the index to write.
            found: Where the index is.
            index: What is written.
            before: The graph that is there; None to write everything.
            root: The folder with the files of the saved index.
        """
        ...


def connect(address: Address) -> Database:
    """Return the database of an address; a connection is made when it is needed.

    Args:
        address: The address.

    Raises:
        ModuleNotFoundError: The client of the database is not installed.
    """
    module, name = DATABASES[address.scheme]
    return cast("Database", getattr(import_module(module), name)(address))


def missing_index(address: Address) -> str:
    """Return what is wrong where there is no index of this name."""
    whose = f" of the tenant {address.tenant!r}" if address.tenant else ""
    return f"the database has no index {address.name!r}{whose}: save one there first"
