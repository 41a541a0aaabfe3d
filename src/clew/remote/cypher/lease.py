"""The right to write an index: one writer has it at a time, and it ends if that falls silent."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from clew.remote.cypher.dialect import Dialect
from clew.remote.cypher.statement import CypherSession, CypherStatement
from clew.remote.session import finish

SECONDS = 60.0
"""How long a writer may be silent before another takes its turn."""

RENEWALS = 6  # in these seconds
PATIENCE = (0.02, 0.5)  # seconds between two requests for a lease, at first and at most


HELD = (
    # What is set first is locked, so that no other writer has been between the two.
    "MATCH (l:ClewLock {key: $key}) SET l.asked = l.asked + 1 WITH l WHERE l.holder = $holder"
)
"""The beginning of a statement that does nothing but where the lease is held."""


@dataclass(frozen=True)
class LeaseKeeper:
    """What takes leases of an index.

    Attributes:
        dialect: That of the database.
        key: The key of the index.
        is_unavailable: Whether an error says that the database cannot be reached.
    """

    dialect: Dialect
    key: str
    is_unavailable: Callable[[Exception], bool]

    async def take(self, session: CypherSession) -> Lease:
        """Return a lease, once there is none of another writer.

        Args:
            session: A session of its own: the lease is renewed by it, in a thread.
        """
        holder, wait = secrets.token_hex(16), PATIENCE[0]
        text = (
            # What is set first is locked, so that no other writer has been between the two.
            "MATCH (l:ClewLock {key: $key}) SET l.asked = l.asked + 1 "
            f"WITH l WHERE l.until < {self.dialect.clock} "
            f"SET l.holder = $holder, l.until = {self.dialect.clock} + $milliseconds "
            "RETURN l.holder"
        )
        values = {"key": self.key, "holder": holder, "milliseconds": round(1000 * SECONDS)}
        while True:
            [rows] = await session.run(CypherStatement(text, values, writes=True))
            if rows:
                return Lease(self, session, holder)
            time.sleep(wait * (0.5 + secrets.randbelow(1000) / 1000))
            wait = min(2 * wait, PATIENCE[1])


class Lease:
    """A lease that is renewed until it ends.

    Args:
        keeper: What it was taken by.
        session: What it is renewed by.
        holder: Who has it.
    """

    def __init__(self, keeper: LeaseKeeper, session: CypherSession, holder: str) -> None:
        self.key, self.holder = keeper.key, holder
        self._keeper, self._session, self._ended = keeper, session, threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True, name="clew-lease")
        self._thread.start()

    def _renew(self) -> None:
        text = (
            "MATCH (l:ClewLock {key: $key}) WHERE l.holder = $holder "
            f"SET l.until = {self._keeper.dialect.clock} + $milliseconds"
        )
        while not self._ended.wait(SECONDS / RENEWALS):
            self._set(text, {"milliseconds": round(1000 * SECONDS)})

    def end(self) -> None:
        """Let the next writer have its turn."""
        self._ended.set()
        self._thread.join()
        self._set(
            "MATCH (l:ClewLock {key: $key}) WHERE l.holder = $holder "
            "SET l.holder = '', l.until = 0",
            {},
        )

    def _set(self, text: str, values: dict[str, object]) -> None:
        """Change the lease; where the database is gone, it ends by itself."""
        values = {"key": self.key, "holder": self.holder, **values}
        try:
            finish(self._session.run(CypherStatement(text, values, writes=True)))
        except Exception as error:
            if not self._keeper.is_unavailable(error):
                raise


def lost_lease(key: str) -> BlockingIOError:
    """Return the error that another writer has taken the turn of this one."""
    return BlockingIOError(
        f"another process writes the index {key}, since this one was silent for more than "
        f"{SECONDS:.0f} seconds, or was interrupted; nothing was changed: try again"
    )
