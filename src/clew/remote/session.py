"""A connection to PostgreSQL that is asked several things in one round trip, with or without a loop.

The coroutines of a database wait only in `Session.run`. A `BlockingSession` never waits in the
sense of a loop, so that `finish` runs such a coroutine to its end as a plain call.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, LiteralString, Protocol, TypeVar, cast

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import AsyncConnectionPool, ConnectionPool

Result = TypeVar("Result")
Table = list[tuple[Any, ...]]

TIMEOUT = 10.0  # seconds that a question waits for a connection
CONNECTIONS = 8  # at most, of one process with one loop
SETTINGS = (  # HNSW finds no more than ef_search; a partial index needs the values at planning time
    "SET hnsw.ef_search = 200",
    "SET plan_cache_mode = force_custom_plan",
    "SET jit = off",
)


class DatabaseUnavailableError(ConnectionError):
    """The database of an index cannot be reached, or has gone away."""


@dataclass(frozen=True)
class Statement:
    """A statement with its values.

    Attributes:
        sql: It has no value in it, only places for them.
        values: What is bound to these places.
    """

    sql: str
    values: tuple[object, ...] = ()


class Session(Protocol):
    """What answers statements."""

    round_trips: int

    async def run(self, *statements: Statement) -> list[Table]:
        """Return the rows of each statement, all in one round trip."""
        ...


class BlockingSession:
    """A session over a connection that blocks.

    Args:
        connection: The connection, in a transaction or before one.
    """

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self.round_trips = 0

    async def run(self, *statements: Statement) -> list[Table]:
        """Return the rows of each statement, all in one round trip."""
        self.round_trips += 1
        if len(statements) == 1:
            cursors = [_execute(self.connection, statements[0])]
        else:
            with self.connection.pipeline():
                cursors = [_execute(self.connection, one) for one in statements]
        return [cursor.fetchall() if cursor.description else [] for cursor in cursors]


class AsyncSession:
    """A session over a connection that waits in an event loop.

    Args:
        connection: The connection, in a transaction or before one.
    """

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self.connection = connection
        self.round_trips = 0

    async def run(self, *statements: Statement) -> list[Table]:
        """Return the rows of each statement, all in one round trip."""
        self.round_trips += 1
        cursors = []
        async with self.connection.pipeline():
            for one in statements:
                sql = cast("LiteralString", one.sql)
                cursors.append(
                    await self.connection.execute(sql, one.values or None, binary=True)
                )
        return [await cursor.fetchall() if cursor.description else [] for cursor in cursors]


def _execute(connection: psycopg.Connection[Any], one: Statement) -> psycopg.Cursor[Any]:
    return connection.execute(cast("LiteralString", one.sql), one.values or None, binary=True)


def finish(work: Coroutine[Any, Any, Result]) -> Result:
    """Return what a coroutine returns that waits for nothing but a `BlockingSession`."""
    try:
        work.send(None)
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        work.close()
    raise RuntimeError("a coroutine over a blocking connection waited for something else")


class Connections:
    """The connections of one process to one database; they are made when they are needed.

    Args:
        database: What the client connects to.

    Raises:
        ModuleNotFoundError: The client is not installed.
    """

    def __init__(self, database: str) -> None:
        try:
            import psycopg
            import psycopg_pool
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "an index in PostgreSQL needs psycopg: install clew[postgres]", name=error.name
            ) from None
        self._client, self._pools, self._database = psycopg, psycopg_pool, database
        self._blocking: ConnectionPool[Any] | None = None
        self._async: tuple[object, AsyncConnectionPool[Any]] | None = None

    def _options(self, configure: Callable[..., Any]) -> dict[str, Any]:
        return {
            "conninfo": self._database,
            "min_size": 0,
            "max_size": CONNECTIONS,
            "timeout": TIMEOUT,
            "configure": configure,
            "kwargs": {"connect_timeout": int(TIMEOUT)},
            "open": False,
            "reconnect_timeout": TIMEOUT / 2,
        }

    @contextmanager
    def reading(self) -> Iterator[BlockingSession]:
        """Give a session that reads one moment of the database."""
        with self._session() as session:
            session.connection.isolation_level = self._client.IsolationLevel.REPEATABLE_READ
            session.connection.read_only = True
            yield session

    @contextmanager
    def writing(self) -> Iterator[BlockingSession]:
        """Give a session whose changes are made all at its end, or none of them."""
        with self._session() as session:
            session.connection.isolation_level = None
            session.connection.read_only = None
            yield session

    @contextmanager
    def _session(self) -> Iterator[BlockingSession]:
        if self._blocking is None:
            self._blocking = self._pools.ConnectionPool(**self._options(_configure))
            self._blocking.open()
        with self._failures(), self._blocking.connection() as connection:
            yield BlockingSession(connection)

    @asynccontextmanager
    async def areading(self) -> AsyncIterator[AsyncSession]:
        """Give a session that reads one moment of the database, in the event loop that runs."""
        import asyncio

        loop = asyncio.get_running_loop()
        if self._async is None or self._async[0] is not loop:
            pool = self._pools.AsyncConnectionPool(**self._options(_aconfigure))
            await pool.open()
            self._async = loop, pool
        with self._failures():
            async with self._async[1].connection() as connection:
                level = self._client.IsolationLevel.REPEATABLE_READ
                await connection.set_isolation_level(level)
                await connection.set_read_only(True)
                yield AsyncSession(connection)

    def forget_broken(self) -> None:
        """Replace connections that the database has closed."""
        if self._blocking is not None:
            self._blocking.check()

    async def aforget_broken(self) -> None:
        """Replace connections of the event loop that the database has closed."""
        if self._async is not None:
            await self._async[1].check()

    def close(self) -> None:
        """Close the connections; those of an event loop are closed by `aclose`."""
        if self._blocking is not None:
            self._blocking.close()
            self._blocking = None

    async def aclose(self) -> None:
        """Close all connections."""
        if self._async is not None:
            await self._async[1].close()
            self._async = None
        self.close()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except self._client.OperationalError as error:
            if isinstance(error, self._client.errors.QueryCanceled):
                raise TimeoutError("the deadline passed while the database was asked") from error
            reason = str(error).strip().partition("\n")[0]
            raise DatabaseUnavailableError(
                f"the database of the index cannot be reached: {reason}; nothing was changed: "
                "try again once it runs"
            ) from error


def _configure(connection: psycopg.Connection[Any]) -> None:
    from clew.remote.values import register

    for setting in SETTINGS:
        connection.execute(cast("LiteralString", setting))
    found = connection.execute("SELECT oid FROM pg_type WHERE typname = 'vector'").fetchone()
    register(connection.adapters, found[0] if found else 0)
    connection.commit()


async def _aconfigure(connection: psycopg.AsyncConnection[Any]) -> None:
    from clew.remote.values import register

    for setting in SETTINGS:
        await connection.execute(cast("LiteralString", setting))
    cursor = await connection.execute("SELECT oid FROM pg_type WHERE typname = 'vector'")
    found = await cursor.fetchone()
    register(connection.adapters, found[0] if found else 0)
    await connection.commit()
