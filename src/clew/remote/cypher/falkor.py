"""FalkorDB as a database that holds indexes: connections and statements.

A statement is all or nothing there, and sees one moment; there are no transactions of several. So
a write makes its rows beside those that are asked, and one statement shows them. What a killed
server has kept is the matter of its own configuration: without `appendonly yes` it may have lost
the last versions, but has each of them whole.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

from clew.remote.address import Address
from clew.remote.cypher.cypher_database import CypherDatabase
from clew.remote.cypher.dialect import FALKORDB
from clew.remote.cypher.statement import (
    CypherRows,
    CypherStatement,
    HeldLease,
    PlainKeys,
    PlainNumbers,
)
from clew.remote.database import IndexChangedError
from clew.remote.session import TIMEOUT

PORT, GRAPH = 6379, "clew"
NO_GRAPH = "empty key"  # in what the server says where there is no graph of the name
NO_VECTORS = "db.idx.vector.queryNodes"  # where a generation has been cleared away
TIMED_OUT = "Query timed out"
PLAIN = frozenset({1, 2, 3, 4, 5})  # types of values that come as what they are: no lists, no nodes


class FalkorSession:
    """A session over a client that blocks.

    Args:
        client: The client of Redis.
        graph: The name of the graph.
    """

    def __init__(self, client: Any, graph: str) -> None:  # noqa: ANN401
        self.client, self.graph = client, graph
        self.round_trips = 0
        self.lease: HeldLease | None = None

    async def run(
        self, *statements: CypherStatement, seconds: float | None = None
    ) -> list[CypherRows]:
        """Return the rows of each statement, all in one round trip."""
        self.round_trips += 1
        with self.client.pipeline(transaction=False) as pipeline:
            for one in statements:
                pipeline.execute_command(*_command(self.graph, one, seconds))
            replies = pipeline.execute(raise_on_error=False)
        return [_rows(reply) for reply in replies]

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)


class AsyncFalkorSession(FalkorSession):
    """A session over a client that waits in an event loop."""

    async def run(
        self, *statements: CypherStatement, seconds: float | None = None
    ) -> list[CypherRows]:
        """Return the rows of each statement, all in one round trip."""
        self.round_trips += 1
        async with self.client.pipeline(transaction=False) as pipeline:
            for one in statements:
                pipeline.execute_command(*_command(self.graph, one, seconds))
            replies = await pipeline.execute(raise_on_error=False)
        return [_rows(reply) for reply in replies]

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class FalkorDatabase(CypherDatabase):
    """Indexes in FalkorDB.

    Args:
        address: `falkordb://user:password@host:port/graph?index=name&tenant=name`.

    Raises:
        ModuleNotFoundError: The client is not installed.
    """

    def __init__(self, address: Address) -> None:
        try:
            import falkordb.helpers  # noqa: F401 - it writes what is bound, see `_command`
            import redis.asyncio
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "an index in FalkorDB needs its client: install clew[falkordb]", name=error.name
            ) from None
        super().__init__(address)
        parts = urlsplit(address.database)
        own: dict[str, Any] = {
            "host": parts.hostname or "localhost",
            "port": parts.port or PORT,
            "username": unquote(parts.username) if parts.username else None,
            "password": unquote(parts.password) if parts.password else None,
            "socket_connect_timeout": TIMEOUT,
            # The server knows how long a statement may take; one that writes may take long.
            "socket_timeout": None,
            "socket_keepalive": True,
            "decode_responses": True,
            "protocol": 2,
        }
        self._graph = unquote(parts.path.strip("/")) or GRAPH
        self._errors = redis.exceptions
        # A statement that writes is never sent twice, and what fails is an error at once.
        never = redis.retry.Retry(redis.backoff.NoBackoff(), 0)
        anever = redis.asyncio.retry.Retry(redis.backoff.NoBackoff(), 0)
        # The client's own class asks the server as it is made, also in an event loop: that blocks.
        self._make = partial(redis.Redis, **own, retry=never)
        self._amake = partial(redis.asyncio.Redis, **own, retry=anever)
        self._client: Any = None
        self._clients: dict[object, Any] = {}

    def dialect_of(self, session: object) -> Any:  # noqa: ANN401
        return FALKORDB

    def session(self) -> FalkorSession:
        if self._client is None:
            self._client = self._make()
        return FalkorSession(self._client, self._graph)

    def asession(self) -> AsyncFalkorSession:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self._amake()
        return AsyncFalkorSession(self._clients[loop], self._graph)

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()
        self.close()

    def is_unavailable(self, error: Exception) -> bool:
        return isinstance(error, (self._errors.ConnectionError, self._errors.TimeoutError))

    def is_late(self, error: Exception) -> bool:
        return isinstance(error, self._errors.ResponseError) and TIMED_OUT in str(error)

    def is_set_up(self, error: Exception) -> bool:
        return "already indexed" in str(error)


def _command(graph: str, one: CypherStatement, seconds: float | None) -> list[Any]:
    header = " ".join(f"{name}={_written(value)}" for name, value in one.values.items())
    text = f"CYPHER {header} {one.text}" if header else one.text
    command = ["GRAPH.QUERY" if one.writes else "GRAPH.RO_QUERY", graph, text, "--compact"]
    return command if seconds is None else [*command, "timeout", max(1, round(1000 * seconds))]


def _written(value: object) -> str:
    """Return a value as it stands in the head of a statement."""
    from falkordb.helpers import stringify_param_value

    # Of plain values the client writes what Python does, but looks at each.
    is_plain = isinstance(value, (PlainNumbers, PlainKeys))
    return repr(value) if is_plain else str(stringify_param_value(value))


def _rows(reply: Any) -> CypherRows:  # noqa: ANN401
    if isinstance(reply, Exception):
        if NO_GRAPH in str(reply):
            return []
        if NO_VECTORS in str(reply):
            raise IndexChangedError("what finds the nearest vectors is being cleared away")
        raise reply
    if len(reply) == 1:  # figures of what was written, and no rows
        return []
    return [[_value(cell) for cell in row] for row in reply[1]]


def _value(cell: Sequence[Any]) -> Any:  # noqa: ANN401
    kind, value = cell
    if kind not in PLAIN:
        raise TypeError(f"a statement returned a value of the type {kind}, which it must not")
    if kind == 4:
        return value in ("true", b"true")
    return value
