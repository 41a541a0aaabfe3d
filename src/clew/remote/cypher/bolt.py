"""Databases behind Bolt, such as Neo4j and Memgraph, as ones that hold indexes.

Each statement is a transaction of its own. A write makes its rows beside those that are asked, and
one statement shows them, so that no transaction grows with the index.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from functools import partial
from typing import Any, cast
from urllib.parse import unquote, urlsplit, urlunsplit

from clew.remote.address import Address
from clew.remote.cypher.cypher_database import CypherDatabase
from clew.remote.cypher.dialect import MEMGRAPH, NEO4J, Dialect
from clew.remote.cypher.statement import CypherRows, CypherStatement, HeldLease
from clew.remote.session import TIMEOUT

CONFLICTS = 20
"""How often a statement is sent again that met another one which writes the same nodes."""

PAUSE = 0.02  # seconds between the first two of these


class BoltSession:
    """A session over a driver that blocks.

    Args:
        driver: The driver.
        database: The name of the database; None for the server's own choice.
    """

    def __init__(self, driver: Any, database: str | None) -> None:  # noqa: ANN401
        self.driver, self.database = driver, database
        self.round_trips = 0
        self.lease: HeldLease | None = None

    async def run(
        self, *statements: CypherStatement, seconds: float | None = None
    ) -> list[CypherRows]:
        """Return the rows of each statement; each is a round trip."""
        return [self._rows(one, seconds) for one in statements]

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def _rows(self, one: CypherStatement, seconds: float | None) -> CypherRows:
        query, values, access = _prepared(one, seconds)
        for attempt in range(CONFLICTS):
            self.round_trips += 1
            try:
                with self.driver.session(database=self.database, **access) as session:
                    rows: CypherRows = session.run(query, values).values()
                    return rows
            except _conflicts():
                if not one.writes or attempt == CONFLICTS - 1:
                    raise
                time.sleep(_pause(attempt))
        raise AssertionError("a statement was neither run nor refused")


class AsyncBoltSession(BoltSession):
    """A session over a driver that waits in an event loop; it only reads."""

    async def run(
        self, *statements: CypherStatement, seconds: float | None = None
    ) -> list[CypherRows]:
        """Return the rows of each statement; each is a round trip."""
        found = []
        for one in statements:
            query, values, access = _prepared(one, seconds)
            self.round_trips += 1
            async with self.driver.session(database=self.database, **access) as session:
                result = await session.run(query, values)
                found.append(await result.values())
        return found

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class BoltDatabase(CypherDatabase):
    """Indexes in a database behind Bolt.

    Args:
        address: `bolt://user:password@host:port/database?index=name&tenant=name`, or with another
            scheme of the driver: `neo4j`, `bolt+s`, `neo4j+s`.

    Raises:
        ModuleNotFoundError: The driver is not installed.
    """

    def __init__(self, address: Address) -> None:
        try:
            import neo4j
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"an index at {address.scheme}:// needs the driver of Neo4j: install clew[neo4j]",
                name=error.name,
            ) from None
        super().__init__(address)
        parts = urlsplit(address.database)
        user, password = (unquote(one or "") for one in (parts.username, parts.password))
        host = parts.netloc.rpartition("@")[2]
        own: dict[str, Any] = {
            "uri": urlunsplit((parts.scheme, host, "", "", "")),
            "auth": (user, password) if user else None,
            "connection_timeout": TIMEOUT,
        }
        self._database = unquote(parts.path.strip("/")) or None
        self._neo4j = neo4j
        self._make = partial(neo4j.GraphDatabase.driver, **own)
        self._amake = partial(neo4j.AsyncGraphDatabase.driver, **own)
        self._driver: Any = None
        self._drivers: dict[object, Any] = {}
        self._dialect: Dialect | None = None

    def dialect_of(self, session: object) -> Dialect:
        if isinstance(session, AsyncBoltSession):
            return NEO4J  # in what is read there is no difference
        if self._dialect is None:
            assert isinstance(session, BoltSession)
            agent = session.driver.get_server_info().agent
            self._dialect = MEMGRAPH if "Memgraph" in agent else NEO4J
        return self._dialect

    def session(self) -> BoltSession:
        if self._driver is None:
            self._driver = self._make()
        return BoltSession(self._driver, self._database)

    def asession(self) -> AsyncBoltSession:
        loop = asyncio.get_running_loop()
        if loop not in self._drivers:
            self._drivers[loop] = self._amake()
        return AsyncBoltSession(self._drivers[loop], self._database)

    def close(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            driver.close()

    async def aclose(self) -> None:
        driver = self._drivers.pop(asyncio.get_running_loop(), None)
        if driver is not None:
            await driver.close()
        self.close()

    def is_unavailable(self, error: Exception) -> bool:
        errors = self._neo4j.exceptions
        kinds = errors.ServiceUnavailable, errors.SessionExpired, errors.AuthError
        return isinstance(error, kinds)

    def is_late(self, error: Exception) -> bool:
        errors = self._neo4j.exceptions
        return isinstance(error, errors.Neo4jError) and "TransactionTimedOut" in str(error.code)

    def is_set_up(self, error: Exception) -> bool:
        code = getattr(error, "code", "") or ""
        return "AlreadyExists" in code or "already exists" in str(error)


def _prepared(
    one: CypherStatement, seconds: float | None
) -> tuple[Any, dict[str, object], dict[str, str]]:
    import neo4j

    access = neo4j.WRITE_ACCESS if one.writes else neo4j.READ_ACCESS
    query = neo4j.Query(cast("Any", one.text), timeout=seconds)
    return query, dict(one.values), {"default_access_mode": access}


def _conflicts() -> tuple[type[Exception], ...]:
    """Return the errors of a statement that met another one which writes the same."""
    from neo4j.exceptions import ConstraintError, TransientError

    return ConstraintError, TransientError


def _pause(attempt: int) -> float:
    return float(PAUSE * min(2**attempt, 32) * (0.5 + secrets.randbelow(1000) / 1000))
