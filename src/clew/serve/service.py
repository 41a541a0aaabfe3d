"""What runs behind the routes: questions in a bounded queue, answers of a model as they come."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from clew.cores import usable_cores
from clew.deadline import Deadline, DeadlineError
from clew.model import TIMEOUT, ModelError
from clew.serve.measurements import Measurements
from clew.serve.served_index import ServedIndex
from clew.serve.work_queue import STOPPING, QueueFullError, WorkQueue

Result = TypeVar("Result")

MAX_WAITING = 64  # questions
MAX_ANSWERS = 16  # of a language model at once: they wait for it, and cost no processor
MAX_CHANGES = 16  # that wait; they are made one at a time


@dataclass(frozen=True)
class Service:
    """A served index with its queues and its measurements.

    Attributes:
        served: The index.
        questions: Where questions are looked up.
        answers: Where a language model answers.
        changes: Where documents come and go.
        measurements: What is counted.
        is_stopping: Set once the server stops.
    """

    served: ServedIndex
    questions: WorkQueue
    answers: WorkQueue
    changes: WorkQueue
    measurements: Measurements
    is_stopping: threading.Event = field(default_factory=threading.Event)
    _waited_for: set[asyncio.Future[Any]] = field(default_factory=set)

    @classmethod
    def of(
        cls, served: ServedIndex, workers: int | None = None, max_waiting: int = MAX_WAITING
    ) -> Service:
        """Return the service of an index.

        Args:
            served: The index.
            workers: How many questions are looked up at once; None for one a core.
            max_waiting: How many may wait beside them.
        """
        questions = WorkQueue(workers or usable_cores(), max_waiting, "questions")
        return cls(
            served,
            questions,
            WorkQueue(MAX_ANSWERS, max_waiting, "answers"),
            WorkQueue(1, MAX_CHANGES, "changes"),
            Measurements(served, questions),
        )

    async def look_up(self, route: str, work: Callable[[float], Result]) -> Result:
        """Return what a function returns, once it is its turn.

        Args:
            route: What it is counted as.
            work: Takes the seconds that are left for it; the wait counts.

        Raises:
            QueueFullError: Too many wait.
            DeadlineError: It waited for as long as it may take.
        """
        deadline = Deadline.after(self.served.options.deadline)

        def run() -> Result:
            left = deadline.remaining()
            if not left:
                raise DeadlineError("the question waited until its deadline: ask again later")
            return work(left)

        with self.measurements.question(route):
            return await self._result(self.questions, run)

    async def change(self, work: Callable[[], Result]) -> Result:
        """Return what a function returns that changes the index, after all changes before it."""
        return await self._result(self.changes, work)

    async def pieces(self, route: str, make: Callable[[], Iterator[str]]) -> AsyncIterator[str]:
        """Yield what an iterator yields that waits for a language model.

        Where the reader goes, it is given up at its next piece.

        Args:
            route: What an error is counted as.
            make: Returns the iterator.

        Raises:
            ModelError: No piece came within the model's time.
            QueueFullError: Too many wait.
        """
        loop, gone = asyncio.get_running_loop(), threading.Event()
        arrived = asyncio.Queue[str | None]()

        def send(piece: str | None) -> None:
            with suppress(RuntimeError):  # the server has stopped
                loop.call_soon_threadsafe(arrived.put_nowait, piece)

        def run() -> None:
            for piece in make():
                if gone.is_set():
                    return
                send(piece)

        model = self.served.options.model
        seconds = TIMEOUT if model is None or model.timeout is None else model.timeout
        with self.measurements.answer(route):
            future = self.answers.submit(run)
            future.add_done_callback(lambda _: send(None))
            try:
                while (piece := await self._unless_stopping(arrived.get(), seconds)) is not None:
                    yield piece
                future.result()
            except TimeoutError:
                raise ModelError(f"the model gave nothing within {seconds:g} seconds") from None
            finally:
                gone.set()
                future.cancel()

    def give_up(self) -> None:
        """Have all that is waited for end with the word that the server is stopping."""
        self.is_stopping.set()
        for future in list(self._waited_for):
            future.cancel()

    async def _result(self, queue: WorkQueue, work: Callable[[], Result]) -> Result:
        return await self._unless_stopping(asyncio.wrap_future(queue.submit(work)))

    async def _unless_stopping(
        self, waiting: Awaitable[Result], seconds: float | None = None
    ) -> Result:
        """Return what comes, unless the server stops before."""
        future = asyncio.ensure_future(waiting)
        self._waited_for.add(future)
        try:
            return await asyncio.wait_for(future, seconds)
        except asyncio.CancelledError:
            if self.is_stopping.is_set():
                raise QueueFullError(STOPPING) from None
            raise
        finally:
            self._waited_for.discard(future)

    def close(self, seconds: float = 0.0) -> bool:
        """Take nothing more, and return whether what runs ended within some seconds."""
        questions, changes = self.questions.close(seconds), self.changes.close(seconds)
        return self.answers.close(0.0) and questions and changes
