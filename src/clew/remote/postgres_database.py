"""PostgreSQL as a database that holds indexes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from clew.graph import Graph, Rows, Vectors
from clew.index.contents import IndexContents
from clew.remote.address import Address
from clew.remote.corpus import CorpusFigures, key_of_stem
from clew.remote.database import AnySession, FoundIndex, missing_index
from clew.remote.kept_facts import FactsOfVersion, KeptFacts
from clew.remote.kept_rows import KeptRows
from clew.remote.late_vectors import ReadVectors, VectorsLater
from clew.remote.postgres import VECTORS_OF_NODES, PostgresStore
from clew.remote.protocol import Wanted
from clew.remote.schema import check_schema, make_schema
from clew.remote.session import TIMEOUT, BlockingSession, BoundStatement, Connections, finish
from clew.remote.values import NumberList, read_vectors
from clew.remote.writing import read_file, write_index

ENTER = (
    "INSERT INTO clew_index (tenant, name, version, dimension, nodes) "
    "VALUES (%s, %s, 0, 0, 0) ON CONFLICT (tenant, name) DO NOTHING"
)
FIND = "SELECT id, version, nodes, dimension FROM clew_index WHERE tenant = %s AND name = %s"


class PostgresDatabase(Connections):
    """Indexes in PostgreSQL: a session is a transaction, and one that reads sees one moment.

    Args:
        address: That of an index in it.
    """

    def __init__(self, address: Address) -> None:
        super().__init__(address.database)
        self._kept_rows, self._kept_facts = KeptRows(), KeptFacts()

    async def check_schema(self, session: AnySession) -> bool:
        return await check_schema(session)

    async def enter(self, session: BlockingSession, address: Address) -> None:
        await make_schema(session)
        await session.run(BoundStatement(ENTER, (address.tenant, address.name)))

    async def find(
        self,
        session: AnySession,
        address: Address,
        *,
        to_write: bool = False,
    ) -> FoundIndex:
        sql = FIND + " FOR UPDATE" if to_write else FIND
        [rows] = await session.run(BoundStatement(sql, (address.tenant, address.name)))
        if not rows:
            raise KeyError(missing_index(address))
        return FoundIndex(*rows[0])

    async def check_current(self, session: AnySession, found: FoundIndex) -> None:
        """Do nothing: a transaction that reads sees one moment of the database."""

    async def file_paths(self, session: AnySession, found: FoundIndex) -> list[str]:
        sql = "SELECT DISTINCT path FROM clew_file WHERE index = %s"
        [rows] = await session.run(BoundStatement(sql, (found.number,)))
        return [path for (path,) in rows]

    async def read_file(self, session: AnySession, found: FoundIndex, path: str) -> bytes:
        return await read_file(session, found.number, path)

    async def read_vectors(self, session: AnySession, found: FoundIndex, numbers: Rows) -> Vectors:
        [[[has, vectors]]] = await session.run(
            BoundStatement(VECTORS_OF_NODES, (found.number, NumberList(numbers)))
        )
        return read_vectors(vectors, np.array(has or [], np.bool_), found.dimension)

    async def store(
        self,
        session: AnySession,
        corpus: CorpusFigures,
        stems: Sequence[str] = (),
        where: Wanted | None = None,
        read_later: ReadVectors | None = None,
    ) -> PostgresStore:
        later = None
        if read_later is not None:
            later = VectorsLater(corpus.passages, read_later, corpus.passage_vectors)
        store = PostgresStore(
            *(session, corpus.number, corpus.dimension, corpus.count, corpus.canonical),
            *(self._kept_rows, corpus.passage_vectors, len(corpus.passages)),
            *(corpus.version, self._kept_facts, self._read_facts_of(corpus)),
            vectors_later=later,
        )
        if stems:
            await store.begin([key_of_stem(stem) for stem in stems], where)
        return store

    def _read_facts_of(self, corpus: CorpusFigures) -> Callable[[FactsOfVersion], None]:
        """Return what has a thread read the vectors of facts, by a connection of its own."""

        def read(facts: FactsOfVersion) -> None:
            with self.reading() as session:
                store = PostgresStore(session, facts.index, corpus.dimension, corpus.count)
                if finish(store.version()) == facts.version:  # else a later question lists others
                    finish(self._kept_facts.read(session.run, facts, corpus.dimension))

        return lambda facts: self._kept_facts.read_beside(lambda: read(facts))

    async def end(self, session: AnySession) -> None:
        await session.end()

    def close(self) -> None:
        """Close the connections that wait, once no thread reads facts by one of them."""
        self._kept_facts.finish(TIMEOUT)
        super().close()

    async def write(
        self,
        session: BlockingSession,
        found: FoundIndex,
        index: IndexContents,
        before: Graph | None,
        root: Path,
    ) -> None:
        await write_index(session, found.number, index, before, root)
