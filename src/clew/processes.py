"""Work divided among processes: the result is what one process returns, whatever their number.

The processes are this program's own, or those of an executor (see `clew.cluster`).

The process that asks for the work does a part of it, and starts others as new interpreters beside
it. None is forked, so threads are safe, and none runs the caller's script again, so a script needs
no `if __name__ == "__main__"`. The others end with the block that they were started in, and with
this process, whichever way it ends: they read from a pipe, and its end is theirs.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import IO, Any, Generic, TypeVar, cast

from clew.cluster import EndedProcessError, results_in_order
from clew.garbage import collecting_rarely
from clew.version import __version__

Item = TypeVar("Item")
Batch = TypeVar("Batch")
Result = TypeVar("Result")

BATCH_SIZE = 100_000  # of the items that a process is given at once: some tenths of a second
LAST_SHARE = 16  # times that what is left is at least as large as a batch
MIN_SIZE = 1_000_000  # of the items for each process: less is done before another has started
MAX_SENT = 2  # batches that a process has at once, so that it need not wait for the next
MOST_SENT = 1_000_000  # bytes of a function that an executor is sent with every batch
WAIT = 0.1  # seconds between two looks at what other processes have done
PIPE_BYTES = 2**20  # what anybody's pipe may hold on Linux
LENGTH = struct.Struct("<Q")
NAMES = ("python", "pypy")  # how the program of an interpreter is called
NO_PYTHON = "this program is no Python that can be started again"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # their buffers take memory
START = """
import sys
sys.path[:] = {path!r}
from clew.processes import serve
serve()
"""
READY, DONE, FAILED, UNFIT = range(4)  # what a process answers

logger = logging.getLogger(__name__)


@contextmanager
def working(
    number: int | Executor | None,
    *,
    is_asked: bool = True,
    meanwhile: Callable[[], object] | None = None,
) -> Iterator[None]:
    """Have `map_items` divide its work within this block.

    Args:
        number: The processes that work at once, this one included, or an executor with its own;
            None for this one alone, unless a block inside says otherwise. Within another block that
            of the outer one counts.
        is_asked: Whether somebody asked for so many. If nobody did, no program is started that
            does not go by the name of Python, and where one process works alone, nobody is told.
        meanwhile: What a thread of this process does once others have been started, such as to load
            what is needed next: nobody else can, and they do more of the work instead. Its errors
            are left to who needs it.

    Example:
        >>> with working(2):
        ...     map_items(abs, [1, -2], sizes=[1, 1])
        [1, 2]
    """
    if _CURRENT.get() is not None or number is None:
        yield
        return
    team = (
        _Elsewhere(number) if isinstance(number, Executor) else _Team(number, is_asked, meanwhile)
    )
    token = _CURRENT.set(team)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        team.end()


def start_others(size_up_to: Callable[[int], int]) -> None:
    """Start the other processes of the block around, while it is not yet known what they do.

    A new process takes tenths of a second until it can work.

    Args:
        size_up_to: Returns how large the items are together that `map_items` will be given, in
            characters or bytes. It is called with a number from which on it need not be exact.

    Example:
        >>> start_others(lambda enough: enough)  # outside `working` there are none
    """
    if isinstance(team := _CURRENT.get(), _Team):
        team.start(count_others([size_up_to(team.number * MIN_SIZE)]))


def end_others() -> None:
    """End the other processes of the block around, which has no more work for them.

    One that `begin_elsewhere` has given work goes on.
    """
    if (team := _CURRENT.get()) is not None:
        team.end_idle()


def begin_elsewhere(function: Callable[[Item], Result], item: Item) -> WorkElsewhere[Result] | None:
    """Have another process that `map_items` has started do some work, while this one goes on.

    Args:
        function: As in `map_items`.
        item: What it is called with.

    Returns:
        The work, which ends with the block around at the latest; None where no process is free.

    Example:
        >>> begin_elsewhere(abs, -2) is None  # outside `working`
        True
    """
    team = _CURRENT.get()
    return team.begin(function, item) if isinstance(team, _Team) else None


def begin_items(
    function: Callable[[Item], Result], items: Sequence[Item], *, sizes: Sequence[int]
) -> ItemsBegun[Result] | None:
    """Have other processes that `map_items` has started work on items, while this one goes on.

    They begin once they have done what they were given before.

    Args:
        function: As in `map_items`.
        items: What it is called with.
        sizes: How large each item is, in characters or bytes.

    Returns:
        The work, which ends with the block around at the latest; None where there is no process.

    Example:
        >>> begin_items(abs, [1, -2], sizes=[1, 1]) is None  # outside `working`
        True
    """
    team = _CURRENT.get()
    return team.begin_items(function, items, sizes) if isinstance(team, _Team) else None


def map_items(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    sizes: Sequence[int],
    update: Callable[[int], object] = lambda _: None,
    done: Callable[[Sequence[Item], Sequence[Result]], object] = lambda *_: None,
) -> list[Result]:
    """Return the results of a function for all items, in their order.

    Other processes are started within `working`, where the items are large enough together. What
    cannot be sent to them is done by this one.

    Args:
        function: A function of a module, or a `functools.partial` of one, that changes nothing.
        items: What it is called with.
        sizes: How large each item is, in characters or bytes.
        update: Called with numbers of items that are done, by the thread that asks.
        done: Called with items and their results as soon as these are there, by any thread.

    Raises:
        Exception: What the function raises for the first item for which it does.
        EndedProcessError: Another process was ended, as where memory runs out.
    """
    team, others = _CURRENT.get(), count_others(sizes)
    if isinstance(team, _Elsewhere):
        return team.map(function, items, _batches(sizes), update, done)
    if team is None or others < 1:
        return list(_one_by_one(function, items, update, done))
    return team.map(function, items, _batches(sizes), others, update, done)


def count_others(sizes: Sequence[int]) -> int:
    """Return how many other processes `map_items` works with.

    Args:
        sizes: How large each item is, in characters or bytes.

    Example:
        >>> count_others([10_000_000])  # outside `working`
        0
    """
    team = _CURRENT.get()
    if isinstance(team, _Elsewhere):
        return 1
    return 0 if team is None else max(0, min(team.number, sum(sizes) // MIN_SIZE) - 1)


def works_elsewhere() -> bool:
    """Return whether `run_batches` has its work done by an executor.

    Example:
        >>> works_elsewhere()
        False
    """
    return isinstance(_CURRENT.get(), _Elsewhere)


class SharedValue(Generic[Item]):
    """A value that every batch needs: it is pickled once, and read once where it arrives.

    Args:
        value: The value, which nobody changes.

    Example:
        >>> pickle.loads(pickle.dumps(SharedValue("sea"))).value
        'sea'
    """

    def __init__(self, value: Item) -> None:
        self.value = value

    @cached_property
    def packed(self) -> bytes:
        """The pickled value."""
        return pickle.dumps(self.value, pickle.HIGHEST_PROTOCOL)

    def __reduce__(self) -> tuple[Callable[[bytes], SharedValue[Any]], tuple[bytes]]:
        return _unpacked, (self.packed,)


@lru_cache(maxsize=2)
def _unpacked(packed: bytes) -> SharedValue[Any]:
    return SharedValue(pickle.loads(packed))  # noqa: S301  # from the process that asks


def run_batches(
    function: Callable[[Batch], Result],
    batches: Iterable[Batch],
    done: Callable[[Batch, Result], object] = lambda *_: None,
) -> Iterator[Result]:
    """Yield what a function returns of each batch, in their order.

    It is called elsewhere where `working` has an executor, and else here, one batch at a time: a
    model is not loaded by several processes of one machine.

    Args:
        function: A function of one batch, which is sent along with each.
        batches: What it is called with, one after the other.
        done: Called with each batch and its result as soon as that is there.

    Raises:
        Exception: What the function raises.
        EndedProcessError: As `map_items`.

    Example:
        >>> list(run_batches(sum, [[1, 2], [3]]))
        [3, 3]
    """
    team = _CURRENT.get()
    if isinstance(team, _Elsewhere) and team.takes(function):
        checked = partial(_checked, function, __version__)
        yield from results_in_order(team.executor, checked, batches, done)
        return
    for batch in batches:
        result = function(batch)
        done(batch, result)
        yield result


@collecting_rarely()  # while modules are loaded, too
def serve() -> None:
    """Work for the process that started this one, until that ends."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anyone prints goes where errors go, and not among the answers
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive_all, args=(requests, inbox), daemon=True).start()
    _answer_with(answers, (READY, None))
    function: Callable[[Any], Any] | None = None
    while True:
        answer: tuple[int, Any]
        try:
            request = pickle.loads(inbox.get())  # noqa: S301  # from the process that started us
        except Exception as error:  # noqa: BLE001  # such as a function of the caller's script
            answer = UNFIT, f"{type(error).__name__}: {error}"
        else:
            if callable(request):
                function = request
                continue
            if function is None:  # it was unfit, which is said once more
                answer = UNFIT, "the function could not be read"
            else:
                answer = _answer(function, request)
        _answer_with(answers, answer)


def _answer_with(answers: IO[bytes], answer: tuple[int, Any]) -> None:
    """Send an answer, or end this process where nobody reads it."""
    try:
        _send(answers, pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))
    except OSError:
        os._exit(0)


def _answer(function: Callable[[Any], Any], items: Sequence[Any]) -> tuple[int, Any]:
    try:
        return DONE, [function(item) for item in items]
    except Exception as error:  # noqa: BLE001  # raised again where the result is wanted
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301  # our own
        except Exception:  # noqa: BLE001  # an exception that does not come back as it was
            return FAILED, RuntimeError(f"{type(error).__name__}: {error}")
        return FAILED, error


def _receive_all(requests: IO[bytes], inbox: queue.SimpleQueue[bytes]) -> None:
    while (request := _receive(requests)) is not None:
        inbox.put(request)
    os._exit(0)  # whatever is being done: nobody wants it any more


def _one_by_one(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    update: Callable[[int], object],
    done: Callable[[Sequence[Item], Sequence[Result]], object],
) -> Iterator[Result]:
    for item in items:
        result = function(item)
        done([item], [result])
        yield result
        update(1)


def _batches(sizes: Sequence[int]) -> list[slice]:
    """Return neighbouring items that are together as large as a batch.

    The last ones are smaller, so that all processes come to an end at about the same time.
    """
    batches: list[slice] = []
    first, size, left = 0, 0, sum(sizes)
    for i, own in enumerate(sizes):
        size += own
        if size >= min(BATCH_SIZE, left // LAST_SHARE) or i == len(sizes) - 1:
            batches.append(slice(first, i + 1))
            first, size, left = i + 1, 0, left - size
    return batches


class _Elsewhere:
    """The processes of an executor."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor

    def map(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        batches: Sequence[slice],
        update: Callable[[int], object],
        done: Callable[[Sequence[Item], Sequence[Result]], object] = lambda *_: None,
    ) -> list[Result]:
        """Return what `map_items` returns."""
        if not self.takes(function):
            return list(_one_by_one(function, items, update, done))
        results = list[Result]()
        every = partial(_each, function, __version__)
        for some in results_in_order(self.executor, every, (items[batch] for batch in batches)):
            done(items[len(results) : len(results) + len(some)], some)
            results += some
            update(len(some))
        return results

    def end(self) -> None:
        """Leave the executor as it is: it is the caller's."""

    end_idle = end

    def takes(self, function: Callable[..., object]) -> bool:
        """Return whether a function can be sent with every batch; log why not."""
        try:
            size = len(pickle.dumps(function))
        except Exception as error:  # noqa: BLE001  # whatever pickling raises
            _say_alone(f"{type(error).__name__}: {error}")
            return False
        if size > MOST_SENT:
            _say_alone(
                f"{size / 1e6:.0f} MB would be sent with every batch; give the name of a model, or "
                "a function of a module, which are loaded there"
            )
        return size <= MOST_SENT


def _each(function: Callable[[Item], Result], version: str, items: Sequence[Item]) -> list[Result]:
    _check_version(version)
    return [function(item) for item in items]


def _checked(function: Callable[[Batch], Result], version: str, batch: Batch) -> Result:
    _check_version(version)
    return function(batch)


def _check_version(version: str) -> None:
    if version != __version__:
        raise RuntimeError(
            f"a process of the executor has clew {__version__}, and the one that asks {version}: "
            "install the same version in both"
        )


class _Other:
    """Another process, which works for this one."""

    def __init__(self) -> None:
        import subprocess  # which takes longer to load than most of the work of one process

        self._last: threading.Thread | None = None  # which has it do some work
        self._ends = self._has_ended = False
        self._changing = threading.Lock()
        new_group: dict[str, Any] = (  # Ctrl-C is for this process, which ends the others
            {"process_group": 0}
            if os.name == "posix"
            else {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        )
        self._process = subprocess.Popen(  # noqa: S603  # of this interpreter
            [_interpreter(), "-c", START.format(path=list(sys.path))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | ONE_THREAD,
            **new_group,
        )
        for pipe in (self._process.stdin, self._process.stdout):
            _widen(pipe)
        self.is_ready = False

    def begin(self, work: Callable[[], object], *, ends: bool = False) -> threading.Thread | None:
        """Return a new thread that has the process do some work, behind what it has begun.

        Args:
            work: The work.
            ends: Whether the process ends with it, or with what is begun behind it.

        Returns:
            The thread; None where the process has ended so.
        """
        with self._changing:
            if self._has_ended:
                return None
            before, self._ends = self._last, self._ends or ends
            self._last = thread = threading.Thread(
                target=self._run, args=(work, before), daemon=True
            )
            thread.start()
            return thread

    def _run(self, work: Callable[[], object], before: threading.Thread | None) -> None:
        if before is not None:
            before.join()
        work()
        with self._changing:
            if self._ends and self._last is threading.current_thread():
                self._has_ended = True
                self.end()

    def send(self, request: bytes) -> None:
        assert self._process.stdin is not None
        _send(self._process.stdin, request)

    def receive(self) -> tuple[int, Any] | None:
        """Return the next answer; None where the process has ended."""
        assert self._process.stdout is not None
        answer = _receive(self._process.stdout)
        return None if answer is None else pickle.loads(answer)  # noqa: S301  # of our own process

    def wait_until_ready(self) -> bool:
        """Return whether the process has started."""
        if not self.is_ready:
            self.is_ready = self.receive() is not None
        return self.is_ready

    def end(self) -> int:
        """End the process, and return its exit code, or -n for a signal n that has ended it."""
        with suppress(OSError):
            self._process.kill()
        code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            # What was not sent goes nowhere. Two threads that close at once leave one a ValueError.
            with suppress(OSError, ValueError):
                pipe.close()
        return code

    def exit_code(self) -> int:
        """Return the exit code of a process that has closed its pipe."""
        from subprocess import TimeoutExpired

        with suppress(TimeoutExpired):
            return self._process.wait(1)
        return self.end()


class WorkElsewhere(Generic[Result]):
    """Work that another process does, which ends with it, or with items that are begun behind it.

    Args:
        other: The process.
        function: What is called there.
        item: What with.
    """

    def __init__(self, other: _Other, function: Callable[[Item], Result], item: Item) -> None:
        self.other, self._value = other, cast("Result | None", None)
        self._thread = other.begin(partial(self._run, function, item), ends=True)

    def _run(self, function: Callable[[Item], Result], item: Item) -> None:
        with suppress(Exception):  # what it is for is then done by who wants it
            if self.other.wait_until_ready():
                self.other.send(pickle.dumps(function))
                self.other.send(pickle.dumps([item], pickle.HIGHEST_PROTOCOL))
                answer = self.other.receive()
                if answer is not None and answer[0] == DONE:
                    self._value = answer[1][0]

    def result(self) -> Result | None:
        """Wait for the result and return it; None where the other process has not come to one."""
        if self._thread is not None:
            self._thread.join()
        return self._value

    def end(self) -> None:
        """End the process, whatever it has come to."""
        self.other.end()


class ItemsBegun(Generic[Result]):
    """Work on items that other processes have begun.

    Args:
        job: The work.
        threads: Send it to the other processes.
        say_unfit: Called with the reason where they cannot do it.
    """

    def __init__(
        self,
        job: _Job,
        threads: Sequence[threading.Thread],
        say_unfit: Callable[[str], object],
    ) -> None:
        self._job, self._threads, self._say_unfit = job, threads, say_unfit

    def results(self) -> list[Result]:
        """Do with them what is left, and return the results, in the order of the items.

        Raises:
            Exception: As `map_items`.
        """
        results = self._job.work(self._threads)
        if self._job.unfit:
            self._say_unfit(self._job.unfit)
        return results

    def ready(self) -> list[Result | None]:
        """Return the results that are there, in the order of the items; None for the others."""
        return self._job.ready()

    def in_turn(self) -> Iterator[Result]:
        """Yield the results in the order of the items, each as soon as it is there.

        What is yielded is not kept. Between two results this process works on items itself.

        Raises:
            Exception: As `map_items`.
        """
        yield from self._job.in_turn(self._threads)
        if self._job.unfit:
            self._say_unfit(self._job.unfit)


class _Team:
    """This process and others, which are started when they are needed first."""

    def __init__(
        self, number: int, is_asked: bool, meanwhile: Callable[[], object] | None = None
    ) -> None:
        self.number, self.is_asked, self._meanwhile = number, is_asked, meanwhile
        self._others: list[_Other] = []
        self._under_way: list[WorkElsewhere[Any]] = []

    def map(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        batches: Sequence[slice],
        others: int,
        update: Callable[[int], object],
        done: Callable[[Sequence[Item], Sequence[Result]], object],
    ) -> list[Result]:
        """Return what `map_items` returns, with so many other processes."""
        job = _Job(function, items, batches, self.is_asked, done)
        try:
            if reason := job.unfit or self.start(others):
                self._say_alone(reason)
                others = 0
            threads = _begun(job.work_in, self._others[:others])
            if threads:
                self._do_meanwhile()
            results = job.work(threads, update)
        except BaseException:
            self.end()
            raise
        if job.unfit:
            self._say_alone(job.unfit)
            self.end()
        return results

    def _do_meanwhile(self) -> None:
        """Begin what is to be done while others work, once."""
        work, self._meanwhile = self._meanwhile, None
        if work is None:
            return

        def run() -> None:
            with suppress(Exception):
                work()

        threading.Thread(target=run, daemon=True).start()

    def begin_items(
        self, function: Callable[[Item], Result], items: Sequence[Item], sizes: Sequence[int]
    ) -> ItemsBegun[Result] | None:
        """Return what the function of this name returns."""
        others = [*self._others, *(work.other for work in self._under_way)]
        if not others:
            return None
        job = _Job(function, items, _batches(sizes), self.is_asked)

        def work_in(other: _Other) -> None:
            if not job.unfit:
                job.work_in(other)
            if job.unfit:  # an answer that nobody waits for may be under way
                other.end()

        threads = _begun(work_in, others)
        return ItemsBegun(job, threads, self._say_alone) if threads else None

    def begin(self, function: Callable[[Item], Result], item: Item) -> WorkElsewhere[Result] | None:
        """Return what `begin_elsewhere` returns."""
        if not self._others:
            return None
        work = WorkElsewhere(self._others.pop(), function, item)
        self._under_way.append(work)
        return work

    def end_idle(self) -> None:
        """End the other processes that have no work."""
        for other in self._others:
            other.end()
        self._others.clear()

    def end(self) -> None:
        """End the other processes."""
        self.end_idle()
        for work in self._under_way:
            work.end()
        self._under_way.clear()

    def _say_alone(self, reason: str) -> None:
        if self.is_asked:
            _say_alone(reason)

    def start(self, others: int) -> str:
        """Start processes until there are so many, and return why there cannot be, or ""."""
        if getattr(sys, "frozen", False) or not _interpreter():
            return NO_PYTHON
        if not self.is_asked and not Path(_interpreter()).name.lower().startswith(NAMES):
            return NO_PYTHON
        try:
            while len(self._others) < others:
                self._others.append(_Other())
        except OSError as error:
            return f"{type(error).__name__}: {error}"
        return ""


def _begun(work_in: Callable[[_Other], object], others: Sequence[_Other]) -> list[threading.Thread]:
    """Return the threads that have other processes do some work, of those that have not ended."""
    threads = (other.begin(partial(work_in, other)) for other in others)
    return [thread for thread in threads if thread is not None]


def _interpreter() -> str:
    """Return the path of Python, or ""; a program around it names it to `multiprocessing`."""
    from multiprocessing.spawn import get_executable

    return os.fsdecode(get_executable() or "")


def _say_alone(reason: str) -> None:
    logger.warning("one process does the work of several, as others cannot: %s", reason)


def _wait_for_one(threads: Sequence[threading.Thread]) -> bool:
    """Wait a moment for a thread that is alive, and return whether one was.

    It may end at any time, so it is asked once.
    """
    thread = next((one for one in threads if one.is_alive()), None)
    if thread is not None:
        thread.join(WAIT)
    return thread is not None


class _Job:
    """A function, its items, and what is done of them.

    Batches are handed out in their order. One that comes back undone is handed out again.

    Attributes:
        unfit: Why other processes cannot do this; "" where they can.
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        batches: Sequence[slice],
        is_asked: bool,
        done: Callable[[Sequence[Any], Sequence[Any]], object] = lambda *_: None,
    ) -> None:
        self.unfit, self._is_asked, self._done_with = "", is_asked, done
        self._function, self._items, self._batches = function, items, batches
        self._lock = threading.Lock()
        self._waiting = list(range(len(batches)))[::-1]
        self._results: dict[int, list[Any]] = {}
        self._errors: dict[int, BaseException] = {}
        self._done = 0  # items
        try:
            self._sent_function = pickle.dumps(function)
        except Exception as error:  # noqa: BLE001  # whatever pickling raises
            self.unfit = f"{type(error).__name__}: {error}"

    def work(
        self,
        threads: Sequence[threading.Thread],
        update: Callable[[int], object] = lambda _: None,
    ) -> list[Any]:
        """Work until all is done, here and in the threads that send to other processes."""
        shown = 0
        while True:
            if (batch := self._take()) is not None:
                self._work_here(batch)
            elif not (_wait_for_one(threads) or self._is_left()):
                break
            update(self._done - shown)
            shown = self._done
        if self._errors:
            raise self._errors[min(self._errors)]
        return [one for i in range(len(self._batches)) for one in self._results[i]]

    def ready(self) -> list[Any]:
        """Return the results that are there; None for the others."""
        nothing = [[None] * len(self._items[batch]) for batch in self._batches]
        return [one for i, none in enumerate(nothing) for one in self._results.get(i, none)]

    def in_turn(self, threads: Sequence[threading.Thread]) -> Iterator[Any]:
        """Yield what `work` returns, one result after the other."""
        for batch in range(len(self._batches)):
            while batch not in self._results:
                if (own := self._take()) is not None:
                    self._work_here(own)
                elif not _wait_for_one(threads) and self._errors and not self._is_left():
                    raise self._errors[min(self._errors)]
            yield from self._results.pop(batch)

    def work_in(self, other: _Other) -> None:
        """Have another process work until nothing is left to hand out; run in a thread."""
        sent: list[int] = []
        try:
            if not other.wait_until_ready():
                self.unfit = f"a new process ended with exit code {other.exit_code()}"
                return
            other.send(self._sent_function)
            while True:
                while len(sent) < MAX_SENT and (batch := self._take()) is not None:
                    sent.append(batch)
                    other.send(pickle.dumps(self._items[self._batches[batch]], 5))
                if not sent:
                    return
                if not self._keep(sent[0], other.receive(), other):
                    return
                del sent[0]
        except BrokenPipeError:
            if sent:
                self._fail(sent[0], other)
            else:
                self.unfit = f"a process ended with exit code {other.exit_code()}"
        except Exception as error:  # noqa: BLE001  # items that cannot be pickled
            self.unfit = f"{type(error).__name__}: {error}"
        finally:
            self._give_back(sent)

    def _keep(self, batch: int, answer: tuple[int, Any] | None, other: _Other) -> bool:
        """Keep what a process has answered, and return whether it can go on."""
        if answer is None:
            self._fail(batch, other)
            return False
        kind, value = answer
        if kind == UNFIT:
            self.unfit = value
            return False
        if kind == FAILED:
            self._errors[batch] = value
        else:
            self._results[batch] = value
            self._done_with(self._items[self._batches[batch]], value)
            with self._lock:
                self._done += len(value)
        return True

    def _fail(self, batch: int, other: _Other) -> None:
        code = other.exit_code()
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        if not self._is_asked:  # what it had is done here
            self.unfit = f"a process was ended {how}"
            return
        self._errors[batch] = EndedProcessError(
            f"a process that did a part of the work was ended {how}, as happens where memory runs "
            "out: give less at once, or fewer processes (processes=1 has none beside this one)"
        )

    def _work_here(self, batch: int) -> None:
        try:
            own = [self._function(item) for item in self._items[self._batches[batch]]]
        except Exception as error:  # noqa: BLE001  # raised if nothing before it fails
            self._errors[batch] = error
            return
        self._results[batch] = own
        self._done_with(self._items[self._batches[batch]], own)
        with self._lock:
            self._done += len(own)

    def _take(self) -> int | None:
        """Return the next batch, unless one before it has failed."""
        with self._lock:
            return self._waiting.pop() if self._waiting and self._is_wanted() else None

    def _is_left(self) -> bool:
        with self._lock:
            return bool(self._waiting) and self._is_wanted()

    def _is_wanted(self) -> bool:
        return not self._errors or self._waiting[-1] < min(self._errors)

    def _give_back(self, batches: Sequence[int]) -> None:
        with self._lock:
            undone = [one for one in batches if one not in self._errors]
            self._waiting = sorted([*self._waiting, *undone], reverse=True)


def _widen(pipe: IO[bytes] | None) -> None:
    """Let a pipe hold a whole message, where the system can.

    Who writes one waits until it has been read but for what the pipe holds, 64 KB. A thread that
    reads it waits for Python's lock after each part, while another thread of its process works.
    """
    if sys.platform == "linux" and pipe is not None:
        import fcntl

        with suppress(OSError):  # such as where the user has many pipes
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _send(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(LENGTH.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes | None:
    """Return the next message; None at the end."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    message = pipe.read(length)
    return message if len(message) == length else None


_CURRENT: ContextVar[_Team | _Elsewhere | None] = ContextVar("processes", default=None)
