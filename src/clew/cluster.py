"""Executors of `concurrent.futures`, the seam to other people's clusters.

Dask has an executor (`client.get_executor(retries=3)`), as MPI has (`mpi4py.futures`). Ray and
Spark have none, so that theirs are here. An index takes any of them as its `processes`: files are
read, texts are cut, names are found and vectors are made there, and the index is the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any, ParamSpec, Protocol, TypeVar

__all__ = ["RayExecutor", "SparkExecutor"]

Batch = TypeVar("Batch")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

MOST_WAITING = 64  # batches that are with an executor, or done and waiting for one before them


class EndedProcessError(RuntimeError):
    """A process that did a part of the work has ended before its time."""


def results_in_order(
    executor: Executor,
    function: Callable[[Batch], Result],
    batches: Iterable[Batch],
    done: Callable[[Batch, Result], object] = lambda *_: None,
) -> Iterator[Result]:
    """Yield what a function returns of each batch, in the order of the batches.

    Args:
        executor: What calls the function, elsewhere.
        function: A function that can be pickled.
        batches: What it is called with; they are taken when there is room for more.
        done: Called with each batch and its result as soon as that is there, in any order.

    Raises:
        Exception: What the function raises, for the first batch for which it does.
        EndedProcessError: The executor has lost its processes, and gives up.

    Example:
        >>> with ThreadPoolExecutor() as threads:
        ...     list(results_in_order(threads, len, ["sea", "moon"]))
        [3, 4]
    """
    coming = iter(batches)
    running: dict[Future[Result], Batch] = {}
    order: deque[Future[Result]] = deque()
    try:
        while True:
            for batch in islice(coming, MOST_WAITING - len(order)):
                future = executor.submit(function, batch)
                running[future] = batch
                order.append(future)
            if not order:
                return
            wait(running, return_when=FIRST_COMPLETED)
            for future in [one for one in running if one.done()]:
                batch = running.pop(future)
                if future.exception() is None:
                    done(batch, future.result())
            while order and order[0] not in running:
                yield order.popleft().result()
    except BrokenExecutor as error:
        raise EndedProcessError(
            f"the executor {type(executor).__name__} has lost a process, as happens where memory "
            f"runs out, and gives up ({error}): give it less at once, or one that tries again"
        ) from error
    finally:
        for future in running:
            future.cancel()


class SparkRows(Protocol):
    """An RDD of Spark."""

    def map(self, f: Callable[[Any], Any], /) -> SparkRows:
        """Return the rows that a function makes of these."""
        ...

    def collect(self) -> list[Any]:
        """Return the rows."""
        ...


class SparkContext(Protocol):
    """A `SparkContext` of Spark."""

    def parallelize(self, c: Iterable[object], numSlices: int, /) -> SparkRows:  # noqa: N803
        """Return rows in so many parts."""
        ...


class RayExecutor(Executor):
    """The cluster of Ray as an executor. A task whose process is lost is done again.

    Args:
        **options: Those of `ray.remote`, such as `num_gpus=1`.

    Example:
        >>> from clew.cluster import RayExecutor
        >>> index = Index.from_documents(
        ...     "handbook", processes=RayExecutor(num_gpus=1)
        ... )  # doctest: +SKIP
    """

    def __init__(self, **options: object) -> None:
        ray = import_module("ray")
        if not ray.is_initialized():
            ray.init()
        self._call = ray.remote(**{"max_retries": 3, **options})(_called)

    def submit(
        self,
        fn: Callable[Arguments, Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Future[Result]:
        """Have a function called by a process of the cluster."""
        future: Future[Result] = self._call.remote(partial(fn, *args, **kwargs)).future()
        return future


class SparkExecutor(Executor):
    """The cluster of Spark as an executor: a job of one task for each call.

    Args:
        context: A `SparkContext`; `SparkSession.sparkContext` is one.
        jobs: How many jobs run at once, at least 1; as many as the cluster has cores.

    Example:
        >>> from clew.cluster import SparkExecutor
        >>> index = Index.from_documents(
        ...     "handbook", processes=SparkExecutor(spark.sparkContext, jobs=40)
        ... )  # doctest: +SKIP
    """

    def __init__(self, context: SparkContext, jobs: int) -> None:
        self._context, self._threads = context, ThreadPoolExecutor(jobs)

    def submit(
        self,
        fn: Callable[Arguments, Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Future[Result]:
        """Have a function called by a process of the cluster."""
        return self._threads.submit(self._collect, partial(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for the jobs that run. The context stays as it is."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)

    def _collect(self, call: Callable[[], Result]) -> Result:
        result: Result = self._context.parallelize([call], 1).map(_called).collect()[0]
        return result


def _called(call: Callable[[], Result]) -> Result:
    return call()
