"""A graph database that speaks openCypher as one that holds indexes."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from clew.graph import Graph, Rows, Vectors, freeze
from clew.index.contents import IndexContents
from clew.remote.address import Address
from clew.remote.corpus import CorpusFigures
from clew.remote.cypher.change import change_of
from clew.remote.cypher.changing import write_change
from clew.remote.cypher.cypher_store import CypherStore
from clew.remote.cypher.dialect import Dialect
from clew.remote.cypher.generation import (
    PLACES,
    FoundGeneration,
    Generation,
    open_generation,
    open_numbering,
)
from clew.remote.cypher.kept_generation import KeptGeneration
from clew.remote.cypher.lease import LeaseKeeper
from clew.remote.cypher.statement import CypherSession, CypherStatement
from clew.remote.cypher.texts import bytes_of_text, keepable, stored_text, vectors_of_texts
from clew.remote.cypher.version import (
    PAUSE,
    is_changing,
    settled_version,
    version_statement,
)
from clew.remote.cypher.writing import write_generation
from clew.remote.database import FoundIndex, IndexChangedError, missing_index
from clew.remote.files import NUMBERING
from clew.remote.late_vectors import ReadVectors
from clew.remote.protocol import Wanted
from clew.remote.session import DatabaseUnavailableError

SCHEMA = 2
"""The version of the nodes and relationships that this version of clew reads and writes."""

REMOVE = "MATCH (n) WHERE any(label IN labels(n) WHERE label STARTS WITH 'Clew') DETACH DELETE n"
"""What removes all that any version up to this one has in a database."""

KEPT = 4  # versions of generations of which this process remembers what nodes they have


class CypherDatabase(ABC):
    """A graph database that speaks openCypher.

    What is promised: a reader sees one version of an index, whole, since what it has read is thrown
    away and read again where the version has changed until it was done. A write is seen at once, in
    one statement, or not at all. What is new is written beside what is asked, where nobody sees it:
    the rows that a change adds, or, where much has changed, the whole index again. Writers take
    turns by a lease, which is renewed while they work. One that is silent for too long loses its
    turn, and what it wrote is cleared away by the next.

    Args:
        address: That of an index in it.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        parameters = urlsplit(address.database).query
        if parameters:
            raise ValueError(
                f"an address of {address.scheme}:// takes the parameters index and tenant "
                f"alone; what came has "
                f"{parameters!r}"
            )
        self._generations: dict[tuple[int, int], Generation] = {}
        self._newest: KeptGeneration | None = None

    @abstractmethod
    def dialect_of(self, session: Any) -> Dialect:  # noqa: ANN401 - its own kind of session
        """Return what the database has of its own; the session may have to ask it."""

    @abstractmethod
    def session(self) -> Any:  # noqa: ANN401 - its own kind of session
        """Return a session that blocks."""

    @abstractmethod
    def asession(self) -> Any:  # noqa: ANN401 - its own kind of session
        """Return a session in the event loop that runs."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections that wait; those of an event loop are closed by `aclose`."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close the connections that wait, of this event loop and of none."""

    @abstractmethod
    def is_unavailable(self, error: Exception) -> bool:
        """Return whether an error says that the database cannot be reached."""

    @abstractmethod
    def is_late(self, error: Exception) -> bool:
        """Return whether an error says that a statement took too long."""

    @abstractmethod
    def is_set_up(self, error: Exception) -> bool:
        """Return whether an error says that an index of the database is there already."""

    @contextmanager
    def reading(self) -> Iterator[CypherSession]:
        """Give a session that reads; it blocks."""
        with self._failures():
            yield self.session()

    @asynccontextmanager
    async def areading(self) -> AsyncIterator[CypherSession]:
        """Give a session that reads, in the event loop that runs."""
        with self._failures():
            yield self.asession()

    @contextmanager
    def writing(self) -> Iterator[CypherSession]:
        """Give a session that writes; it blocks."""
        with self._failures():
            session = self.session()
            try:
                yield session
            finally:
                if session.lease is not None:
                    session.lease.end()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if self.is_late(error):
                raise TimeoutError("the deadline passed while the database was asked") from error
            if not self.is_unavailable(error):
                raise
            self.close()
            reason = str(error).strip().partition("\n")[0]
            raise DatabaseUnavailableError(
                f"the database of the index cannot be reached: {reason}; nothing was changed: "
                "try again once it runs"
            ) from error

    async def check_schema(self, session: CypherSession) -> bool:
        [rows] = await session.run(CypherStatement("MATCH (s:ClewSchema) RETURN s.version"))
        if not rows:
            return False
        found = rows[0][0]
        if found != SCHEMA:
            is_newer = isinstance(found, int) and found > SCHEMA
            advice = f"have it removed ({REMOVE}), and save its indexes anew"
            raise ValueError(
                f"what clew has in the database has version {found}, and this clew reads and "
                f"writes version {SCHEMA}: {'upgrade clew' if is_newer else advice}"
            )
        return True

    async def enter(self, session: CypherSession, address: Address) -> None:
        if not await self.check_schema(session):
            for text in self.dialect_of(session).set_up:
                try:
                    await session.run(CypherStatement(text, writes=True))
                except Exception as error:
                    if not self.is_set_up(error):
                        raise
            text = "MERGE (s:ClewSchema {one: 1}) ON CREATE SET s.version = $version, s.numbers = 0"
            await session.run(CypherStatement(text, {"version": SCHEMA}, writes=True))
        key = key_of(address)
        text = (
            "MERGE (i:ClewIndex {key: $key}) ON CREATE SET i.tenant = $tenant, i.name = $name, "
            "i.number = 0, i.version = 0, i.nodes = 0, i.dimension = 0, i.changing = 0"
        )
        names = {"tenant": keepable(address.tenant), "name": keepable(address.name)}
        await session.run(
            CypherStatement(text, {"key": key, **names}, writes=True),
            CypherStatement(
                "MERGE (l:ClewLock {key: $key}) "
                "ON CREATE SET l.holder = '', l.until = 0, l.asked = 0",
                {"key": key},
                writes=True,
            ),
        )

    async def find(
        self, session: CypherSession, address: Address, *, to_write: bool = False
    ) -> FoundGeneration:
        found = await self._find(session, address)
        if to_write:
            keeper = LeaseKeeper(self.dialect_of(session), found.key, self.is_unavailable)
            session.lease = await keeper.take(self.session())
            return await self._find(session, address)  # as the writer before has left it
        if not found.number:  # it is being written for the first time
            raise KeyError(missing_index(address))
        return found

    async def _find(self, session: CypherSession, address: Address) -> FoundGeneration:
        key = key_of(address)
        text = (
            "MATCH (i:ClewIndex {key: $key}) RETURN i.number, i.version, i.nodes, i.dimension, "
            f"{is_changing(self.dialect_of(session))}"
        )
        statement = CypherStatement(text, {"key": key})
        [rows] = await session.run(statement)
        while rows and rows[0][-1]:
            await session.pause(PAUSE)
            [rows] = await session.run(statement)
        if not rows:
            raise KeyError(missing_index(address))
        number, version, nodes, dimension, _ = rows[0]
        return FoundGeneration(number, version, nodes, dimension, key)

    async def check_current(self, session: CypherSession, found: FoundIndex) -> None:
        statement = version_statement(found.number, self.dialect_of(session))
        [rows] = await session.run(statement)
        if await settled_version(session, statement, rows) != found.version:
            raise IndexChangedError(f"version {found.version} is not the newest any more")

    async def file_paths(self, session: CypherSession, found: FoundIndex) -> list[str]:
        text = "MATCH (f:ClewFile {index: $index}) WHERE f.block = 0 RETURN f.path"
        [rows] = await session.run(CypherStatement(text, {"index": found.number}))
        return [stored_text(path) for (path,) in rows if path != PLACES]

    async def read_file(self, session: CypherSession, found: FoundIndex, path: str) -> bytes:
        values = {"index": found.number, "path": keepable(path)}
        text = "MATCH (f:ClewFile {index: $index}) WHERE f.path = $path "
        [blocks] = await session.run(
            CypherStatement(text + "RETURN f.block, f.blocks, f.written ORDER BY f.block", values)
        )
        if [block for block, *_ in blocks] != list(range(blocks[0][1] if blocks else 1)):
            raise IndexChangedError(f"the file {path} is being cleared away")
        parts = []
        for block, _, written in blocks:  # one by one: a large file is not in memory twice
            one = CypherStatement(
                text + "AND f.block = $block AND f.written = $written RETURN f.data",
                {**values, "block": block, "written": written},
            )
            [rows] = await session.run(one)
            if not rows:
                raise IndexChangedError(f"the file {path} is being cleared away")
            parts.append(bytes_of_text(rows[0][0]))
        return b"".join(parts)

    async def read_vectors(
        self, session: CypherSession, found: FoundIndex, numbers: Rows
    ) -> Vectors:
        generation = await self._generation(session, found)
        dialect = self.dialect_of(session)
        columns = {"number": ("number", "n.number"), "vector": ("text", "n.data")}
        text = (
            f"UNWIND $places AS place {dialect.seek.format('n', 'place')} "
            f"{dialect.returned(columns)}"
        )
        places = generation.places(numbers)
        [rows] = await session.run(CypherStatement(text, {"places": places, "index": found.number}))
        read = dialect.read(columns, rows)
        vectors = np.zeros((len(numbers), found.dimension), np.float32)
        order = np.searchsorted(numbers, read["number"])
        vectors[order] = vectors_of_texts(read["vector"], found.dimension)
        return freeze(vectors, np.float32)

    async def store(
        self,
        session: CypherSession,
        corpus: CorpusFigures,
        stems: Sequence[str] = (),
        where: Wanted | None = None,
        read_later: ReadVectors | None = None,
    ) -> CypherStore:
        found = FoundIndex(corpus.number, corpus.version, corpus.nodes, corpus.dimension)
        generation = await self._generation(session, found)
        return CypherStore(
            session,
            self.dialect_of(session),
            generation,
            corpus.dimension,
            corpus.count,
            corpus.canonical,
            corpus.passage_vectors,
            self._kept_of(generation, corpus.version, corpus.dimension),
        )

    async def end(self, session: CypherSession) -> None:  # noqa: B027 - there is nothing to do
        """Do nothing: a statement that reads is a transaction of its own."""

    def _kept_of(self, generation: Generation, version: int, dimension: int) -> KeptGeneration:
        """Return what is kept of a version; an older one than the newest has its own, for once."""
        newest, number = self._newest, generation.number
        is_same = newest is not None and newest.index == number
        if newest is not None and is_same and newest.version == version:
            return newest
        if newest is not None and is_same and newest.version < version:
            changed = generation.changed_since(newest.version, version)
            kept = newest.after(version, changed)
        else:
            kept = KeptGeneration(number, version, dimension)
        if newest is None or not is_same or newest.version < version:
            self._newest = kept
        return kept

    async def write(
        self,
        session: CypherSession,
        found: FoundGeneration,
        index: IndexContents,
        before: Graph | None,
        root: Path,
    ) -> None:
        dialect = self.dialect_of(session)
        if before is not None:
            live = await self._generation(session, found)
            old = open_numbering(await self.read_file(session, found, NUMBERING))
            change = change_of(before, old, index.graph)
            if change is not None and await write_change(
                session, dialect, found, index, change, live, root
            ):
                return
        await write_generation(session, dialect, found, index, root)

    async def _generation(self, session: CypherSession, found: FoundIndex) -> Generation:
        key = found.number, found.version
        known = self._generations.get(key)
        if known is None:
            known = open_generation(found.number, await self.read_file(session, found, PLACES))
            await self.check_current(session, found)
            while len(self._generations) >= KEPT:
                self._generations.pop(next(iter(self._generations)), None)
            self._generations[key] = known
        return known


def key_of(address: Address) -> str:
    """Return the key of an index in its database: its tenant and its name."""
    return keepable(json.dumps([address.tenant, address.name]))
