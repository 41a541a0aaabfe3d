"""The facts of an index in PostgreSQL, whose vectors are kept by whoever asks, where they are few.

A thread reads them beside the questions, which the database compares them for until they are there.
Where the index was written since, those facts alone are read that another transaction has written.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.forking import renew_after_fork
from clew.graph import Ragged, freeze, offsets_of
from clew.remote.fact_vectors import FACT_BYTES, SOURCES, FactEnds, FactVectors
from clew.remote.session import BoundStatement, Table
from clew.remote.values import NumberList, read_numbers, read_vectors

Run = Callable[..., Awaitable[list[Table]]]

BLOCK = 2000  # facts that come as one value
LISTED = (  # facts with vectors, no more than so many, and the transactions that wrote them
    "SELECT string_agg(int4send(number), ''::bytea), string_agg(int8send(writer), ''::bytea) "
    "FROM (SELECT number, xmin::text::bigint AS writer FROM clew_fact "
    "WHERE index = %s AND vector IS NOT NULL LIMIT %s) AS facts"
)
COLUMNS = (
    *("n.number", "n.subject", "n.object"),
    *(f"coalesce(n.read_from[{place}], 0)" for place in range(1, SOURCES + 1)),
)
READ = (
    "SELECT string_agg(ends, ''::bytea), string_agg(vector, ''::bytea) "
    f"FROM (SELECT {' || '.join(f'int4send({column})' for column in COLUMNS)} AS ends, "
    "vector_send(n.vector) AS vector FROM unnest(%s::int[]) AS w(number) "
    "JOIN clew_fact n ON n.index = %s AND n.number = w.number) AS facts"
)


@dataclass(frozen=True, eq=False)
class FactsOfVersion:
    """The facts of one version of one index.

    Attributes:
        index: The number of the index.
        version: Its version.
        numbers: int32 [f], those with vectors, ascending; None where they are too many to keep.
        writers: int64 [f], the transaction that wrote each.
        vectors: Their vectors, once they were read.
    """

    index: int
    version: int
    numbers: NDArray[np.int32] | None
    writers: NDArray[np.int64]
    vectors: FactVectors | None = None

    @property
    def are_few(self) -> bool:
        """Whether they may be kept."""
        return self.numbers is not None


class KeptFacts:
    """What is kept of the facts of the newest version that was asked; threads share it.

    Args:
        max_bytes: Bytes of vectors that are kept at most.

    Attributes:
        questions: How many have come.
    """

    def __init__(self, max_bytes: int = FACT_BYTES) -> None:
        self._max_bytes = max_bytes
        self.questions = 0
        self._newest: FactsOfVersion | None = None
        self._read: FactsOfVersion | None = None  # the newest whose vectors were read
        self._failure: Exception | None = None  # of the thread, until a question has warned of it
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Have new locks and no thread, as a process that was forked has none."""
        self._reading, self._starting = threading.Lock(), threading.Lock()
        self._thread: threading.Thread | None = None

    def read_beside(self, work: Callable[[], None]) -> None:
        """Have a thread read facts, unless one does. What ended the last one is warned of.

        Args:
            work: Reads them.
        """
        with self._starting:
            if self._thread is not None and self._thread.is_alive():
                return
            failure, self._failure = self._failure, None
            self._thread = threading.Thread(
                target=self._work, args=(work,), name="clew facts", daemon=True
            )
            self._thread.start()
        if failure is not None:
            warnings.warn(
                "the facts of the index could not be read beside the questions, for which the "
                f"database compares them: {type(failure).__name__}: {failure}; they are read again",
                RuntimeWarning,
                stacklevel=2,
            )

    def _work(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - the next question warns of it
            self._failure = error

    def finish(self, seconds: float) -> None:
        """Wait until no thread reads any more, so many seconds at most."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)

    def of(self, index: int, version: int) -> FactsOfVersion | None:
        """Return the facts of exactly this version of exactly this index; None where unknown.

        Those of an index that had too many stay too many: they are not counted at every change.
        """
        newest = self._newest
        if newest is None or newest.index != index:
            return None
        return newest if newest.version == version or not newest.are_few else None

    def listing(self, index: int, dimension: int) -> BoundStatement:
        """Return what lists the facts of an index, up to as many as may be kept and one more.

        Args:
            index: The number of the index.
            dimension: The width of its vectors.
        """
        return BoundStatement(LISTED, (index, self.limit(dimension) + 1))

    def limit(self, dimension: int) -> int:
        """Return how many facts are kept at most."""
        return self._max_bytes // max(1, 4 * dimension)

    def listed(self, index: int, version: int, rows: Table, dimension: int) -> FactsOfVersion:
        """Return the facts of a version, as yet without their vectors.

        Args:
            index: The number of the index.
            version: Its version.
            rows: What the listing has returned of this version.
            dimension: The width of its vectors.
        """
        [(numbers, writers)] = rows
        found = read_numbers(numbers)
        of_facts = np.frombuffer(writers or b"", ">i8").astype(np.int64)
        order = np.argsort(found)
        facts = FactsOfVersion(index, version, freeze(found[order], np.int32), of_facts[order])
        if len(found) > self.limit(dimension):
            facts = FactsOfVersion(index, version, None, of_facts[:0])
        newest = self._newest
        if newest is None or newest.index != index or newest.version < version:
            self._newest = facts
        return facts

    async def read(self, run: Run, facts: FactsOfVersion, dimension: int) -> FactVectors | None:
        """Return the vectors of few facts, of which those are read that are not known.

        None while another thread reads them.

        Args:
            run: Returns the rows of statements, which see the version of these facts.
            facts: The facts, which may be kept.
            dimension: The width of vectors.
        """
        if facts.numbers is None or not self._reading.acquire(blocking=False):
            return None
        try:
            known = self._known(facts)
            missing = facts.numbers
            if known is not None:
                missing = np.setdiff1d(missing, known.ends.numbers, assume_unique=True)
            blocks = [missing[start : start + BLOCK] for start in range(0, len(missing), BLOCK)]
            found = await run(
                *(
                    BoundStatement(READ, (NumberList(freeze(block, np.int32)), facts.index))
                    for block in blocks
                )
            )
            parts = [] if known is None else [known]
            parts += [_facts_of(ends, vectors, dimension) for [(ends, vectors)] in found]
            every = FactVectors.joined(parts, dimension)
            every.prepare()
            read = replace(facts, vectors=every)
            self._read = read
            if self._newest is facts:
                self._newest = read
            return every
        finally:
            self._reading.release()

    def _known(self, facts: FactsOfVersion) -> FactVectors | None:
        """Return the vectors that were read of an earlier version and are the same in this one."""
        read = self._read
        if (
            read is None
            or read.vectors is None
            or read.numbers is None
            or facts.numbers is None
            or read.index != facts.index
        ):
            return None
        _, ours, theirs = np.intersect1d(
            facts.numbers, read.numbers, assume_unique=True, return_indices=True
        )
        stays = theirs[facts.writers[ours] == read.writers[theirs]]
        if len(stays) == len(read.numbers):
            return read.vectors
        return read.vectors.taken(freeze(np.sort(stays), np.int32))


def _facts_of(ends: bytes | None, vectors: bytes | None, dimension: int) -> FactVectors:
    """Return facts of what `READ` has returned of them."""
    columns = read_numbers(ends).reshape(-1, len(COLUMNS))
    sources = columns[:, 3:]
    is_there = sources > 0
    return FactVectors(
        FactEnds.of_columns(
            columns, Ragged(offsets_of(is_there.sum(axis=1)), freeze(sources[is_there], np.int32))
        ),
        read_vectors(vectors, np.ones(len(columns), np.bool_), dimension),
    )
