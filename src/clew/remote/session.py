"""A connection to PostgreSQL that is asked several things in one round trip, in a loop or not.

The coroutines of a database wait only for a `Session`. A `BlockingSession` never waits in the
sense of a loop, so that `finish` runs such a coroutine to its end as a plain call.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from selectors import EVENT_READ, DefaultSelector
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    import psycopg

Result = TypeVar("Result")
Table = list[tuple[Any, ...]]

TIMEOUT = 10  # seconds that a question waits for a connection
LOOK_SECONDS = 1.0  # between two looks at a connection that is waited for
CONNECTIONS = 8  # that wait for the next question
SETTINGS = (  # HNSW finds no more than ef_search; a statement is planned once for a connection
    "SET hnsw.ef_search = 200",
    "SET plan_cache_mode = force_generic_plan",
    "SET jit = off",
)


class DatabaseUnavailableError(ConnectionError):
    """The database of an index cannot be reached, or has gone away."""


@dataclass(frozen=True)
class BoundStatement:
    """A statement with its values.

    Attributes:
        sql: It has no value in it, only places for them.
        values: What is bound to these places.
    """

    sql: str
    values: tuple[object, ...] = ()


BEGIN = BoundStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
COMMIT = BoundStatement("COMMIT")

Answers = Callable[[], Awaitable[list[Table]]]
"""Waits for the rows of statements that were sent."""


class Session(Protocol):
    """What answers statements."""

    round_trips: int

    async def run(self, *statements: BoundStatement) -> list[Table]:
        """Return the rows of each statement, all in one round trip."""
        ...

    async def send(self, *statements: BoundStatement) -> Answers:
        """Send statements, which the database answers meanwhile; what is returned waits for it.

        Several may be sent before the first is waited for. Then all of them are waited for.
        """
        ...


class BlockingSession:
    """A session over a connection that blocks.

    Args:
        connection: The connection, in a transaction or before one.
        begin: What begins the transaction, together with what is asked first; None where the
            connection begins it.
    """

    def __init__(
        self, connection: psycopg.Connection[Any], begin: BoundStatement | None = None
    ) -> None:
        self.connection = connection
        self.round_trips = 0
        self._begin, self._is_begun, self._is_ending = begin, False, False
        self._sent: ExitStack | None = None  # a pipeline whose answers nobody has waited for

    async def run(self, *statements: BoundStatement) -> list[Table]:
        """Return the rows of each statement, all in one round trip."""
        if len(statements) > 1 or self._begin is not None or self._sent is not None:
            return await (await self.send(*statements))()
        self.round_trips += 1
        return [_rows(_execute(self.connection, one)) for one in statements]

    async def send(self, *statements: BoundStatement) -> Answers:
        """Send statements, which the database answers meanwhile; see `Session`."""
        cursors = self._send(*statements)

        async def answers() -> list[Table]:
            self.settle()
            return [_rows(cursor) for cursor in cursors]

        return answers

    def _send(self, *statements: BoundStatement) -> list[psycopg.Cursor[Any]]:
        if self._sent is None:
            self.round_trips += 1
            self._sent = ExitStack()
            self._sent.enter_context(self.connection.pipeline())
        begin, self._begin = self._begin, None
        if begin is not None:
            self._is_begun = True
            _execute(self.connection, begin)
        return [_execute(self.connection, one) for one in statements]

    def settle(self) -> None:
        """Wait for the answers to what was sent."""
        sent, self._sent = self._sent, None
        if sent is not None:
            sent.close()

    async def end(self) -> None:
        """Send the end of the transaction that the session began; nothing more is asked."""
        self.settle()
        if self._is_begun:
            self._is_begun, self._is_ending = False, True
            # Not in a pipeline, which would wait for it: nothing comes back that is of use.
            self.connection.pgconn.send_query(COMMIT.sql.encode())
            self.connection.pgconn.flush()

    def close(self) -> None:
        """End the transaction, and wait for what was sent."""
        finish(self.end())
        if self._is_ending:
            self._is_ending = False
            _finish_query(self.connection)


class AsyncSession:
    """A session over a connection that waits in an event loop; it reads.

    Args:
        connection: The connection, before a transaction.
        begin: What begins the transaction, together with what is asked first.
    """

    def __init__(self, connection: psycopg.AsyncConnection[Any], begin: BoundStatement) -> None:
        self.connection = connection
        self.round_trips = 0
        self._begin: BoundStatement | None = begin
        self._is_begun = False
        self._sent: AsyncExitStack | None = None  # as in `BlockingSession`

    async def run(self, *statements: BoundStatement) -> list[Table]:
        """Return the rows of each statement, all in one round trip."""
        return await (await self.send(*statements))()

    async def send(self, *statements: BoundStatement) -> Answers:
        """Send statements, which the database answers meanwhile; see `Session`."""
        cursors = await self._send(*statements)

        async def answers() -> list[Table]:
            await self.settle()
            return [await cursor.fetchall() if cursor.description else [] for cursor in cursors]

        return answers

    async def _send(self, *statements: BoundStatement) -> list[psycopg.AsyncCursor[Any]]:
        if self._sent is None:
            self.round_trips += 1
            self._sent = AsyncExitStack()
            await self._sent.enter_async_context(self.connection.pipeline())
        begin, self._begin = self._begin, None
        if begin is not None:
            self._is_begun = True
            await self._execute(begin)
        return [await self._execute(one) for one in statements]

    async def _execute(self, one: BoundStatement) -> psycopg.AsyncCursor[Any]:
        return await self.connection.execute(cast("Any", one.sql), one.values or None, binary=True)

    async def settle(self) -> None:
        """Wait for the answers to what was sent."""
        sent, self._sent = self._sent, None
        if sent is not None:
            await sent.aclose()

    async def end(self) -> None:
        """Send the end of the transaction; nothing more is asked."""
        if self._is_begun:
            self._is_begun = False
            await self._send(COMMIT)

    async def close(self) -> None:
        """End the transaction, and wait for what was sent."""
        await self.end()
        await self.settle()


def _finish_query(connection: psycopg.Connection[Any]) -> None:
    """Wait for the end of a query that was sent without a cursor, and returns nothing.

    Raises:
        psycopg.OperationalError: It failed.
    """
    import psycopg

    client = connection.pgconn
    client.consume_input()  # most often it has ended, and nobody waits
    while client.is_busy():
        client.flush()
        with DefaultSelector() as waiting:
            waiting.register(client.socket, EVENT_READ)
            waiting.select(LOOK_SECONDS)
        client.consume_input()
    while (result := client.get_result()) is not None:
        if result.status != psycopg.pq.ExecStatus.COMMAND_OK:
            reason = result.error_message.decode("utf-8", "replace")
            raise psycopg.OperationalError(reason)


def _rows(cursor: psycopg.Cursor[Any]) -> Table:
    return cursor.fetchall() if cursor.description else []


def _execute(connection: psycopg.Connection[Any], one: BoundStatement) -> psycopg.Cursor[Any]:
    return connection.execute(cast("Any", one.sql), one.values or None, binary=True)


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

    One that has failed is closed, and those that wait are, too: the database has gone away. So a
    failure is an error at once, and the next question connects anew.

    Args:
        database: What the client connects to.

    Raises:
        ModuleNotFoundError: The client is not installed.
    """

    def __init__(self, database: str) -> None:
        try:
            import psycopg
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "an index in PostgreSQL needs psycopg: install clew[postgres]", name=error.name
            ) from None
        self._client, self._database = psycopg, database
        self._idle: list[psycopg.Connection[Any]] = []  # lists are safe among threads
        self._async_idle: dict[object, list[psycopg.AsyncConnection[Any]]] = {}

    @contextmanager
    def reading(self) -> Iterator[BlockingSession]:
        """Give a session that reads one moment of the database."""
        with self._session(is_reading=True) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[BlockingSession]:
        """Give a session whose changes are made all at its end, or none of them."""
        with self._session(is_reading=False) as session:
            yield session

    @contextmanager
    def _session(self, *, is_reading: bool) -> Iterator[BlockingSession]:
        with self._failures():
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._client.connect(self._database, connect_timeout=TIMEOUT)
                _configure(connection)
            try:
                if connection.autocommit != is_reading:  # who reads begins it together with more
                    connection.autocommit = is_reading
                session = BlockingSession(connection, BEGIN if is_reading else None)
                yield session
                session.close()
                if not is_reading:
                    connection.commit()
            except self._client.OperationalError:
                connection.close()
                self.close()
                raise
            except BaseException:
                connection.close()  # its transaction goes with it, whatever state it is in
                raise
            self._idle.append(connection)
            while len(self._idle) > CONNECTIONS:
                self._idle.pop().close()

    @asynccontextmanager
    async def areading(self) -> AsyncIterator[AsyncSession]:
        """Give a session that reads one moment of the database, in the event loop that runs."""
        import asyncio

        idle = self._async_idle.setdefault(asyncio.get_running_loop(), [])
        with self._failures():
            if idle:
                connection = idle.pop()
            else:
                connect = self._client.AsyncConnection.connect
                connection = await connect(self._database, connect_timeout=TIMEOUT)
                await _aconfigure(connection)
            try:
                session = AsyncSession(connection, BEGIN)
                yield session
                await session.close()
            except BaseException:
                await connection.close()
                while idle:
                    await idle.pop().close()
                raise
            idle.append(connection)

    def close(self) -> None:
        """Close the connections that wait; those of an event loop are closed by `aclose`."""
        while self._idle:
            self._idle.pop().close()

    async def aclose(self) -> None:
        """Close the connections that wait, of this event loop and of none."""
        import asyncio

        for connection in self._async_idle.pop(asyncio.get_running_loop(), []):
            await connection.close()
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
        connection.execute(cast("Any", setting))
    found = connection.execute("SELECT oid FROM pg_type WHERE typname = 'vector'").fetchone()
    register(connection.adapters, found[0] if found else 0)
    connection.commit()


async def _aconfigure(connection: psycopg.AsyncConnection[Any]) -> None:
    from clew.remote.values import register

    for setting in SETTINGS:
        await connection.execute(cast("Any", setting))
    cursor = await connection.execute("SELECT oid FROM pg_type WHERE typname = 'vector'")
    found = await cursor.fetchone()
    register(connection.adapters, found[0] if found else 0)
    await connection.commit()
    await connection.set_autocommit(True)  # a session begins its transaction
