"""The results of parts, which are kept with a graph: its only cache."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from itertools import count
from typing import Any, NamedTuple, Protocol

from clew.forking import renew_after_fork
from clew.graph.sizes import SizeEstimate

MISSING: Any = object()
TEXT_COLUMNS = frozenset(("ids", "kinds", "texts", "canonical"))
MAX_RESULTS = 32  # of one class of part: recipes of many values, as in a sweep, do not pile up
MAX_BYTES = 64 * 2**20  # of one class of part, where the graph itself is not larger


class MeasuredColumns(NamedTuple):
    """What the columns of a graph keep.

    Attributes:
        own_bytes: their estimated bytes.
        ids: the ids of the objects that they consist of.
    """

    own_bytes: int
    ids: set[int]


class Computing(Protocol):
    """A graph, as what keeps the results of its parts sees it."""

    @property
    def measured_columns(self) -> MeasuredColumns: ...

    @property
    def value_ids(self) -> set[int]: ...

    def is_of(self, value: object, /) -> bool: ...

    def compute_part(self, part: Any, /) -> Any:  # noqa: ANN401  # of any type
        ...


class PartCache:
    """The results of a graph's parts. A copy of it, also a pickled one, starts empty.

    A part is computed by one thread, under a lock of its own, while other parts go on. Of each
    class of part at most `MAX_RESULTS` results are kept, and at most `MAX_BYTES`, or twice the
    bytes of the graph where that is more: those of least recent use go first, the last one stays.
    What several results share counts for the first one.

    Dictionaries are plain ones: an interrupt that comes while a part is hashed or compared leaves
    them whole, an `OrderedDict` not.

    Args:
        of_texts: What keeps the parts that go by texts alone; None for a new one.
    """

    def __init__(self, of_texts: PartCache | None = None) -> None:
        self._of_texts = of_texts
        self._results: dict[type, dict[Any, Any]] = {}
        self._last_use: dict[Any, int] = {}  # of parts, a higher number for a later one
        self._uses = count()
        self._sizes: dict[Any, tuple[int, set[int]]] = {}  # of results that were computed here
        self._counted: set[int] = set()  # ids of what these sizes count
        self._unmeasured: list[tuple[object, object]] = []  # parts and results
        self._max_bytes = 0
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Forget who computes what: after a fork, what other threads compute is computed again."""
        self._locks: dict[Any, threading.RLock] = {}
        self._guard = threading.Lock()  # of the two dictionaries, never held while computing

    def __reduce__(self) -> tuple[type[PartCache], tuple[()]]:
        return PartCache, ()

    def result(self, part: Any, graph: Computing) -> Any:  # noqa: ANN401  # of its own type
        """Return the part's result for the graph, computed at the first call by one thread."""
        kept = self._results.get(type(part))
        found = MISSING if kept is None else kept.get(part, MISSING)
        if found is MISSING:
            return self._computed(part, graph)
        if kept is not None and len(kept) > 1:
            self._last_use[part] = next(self._uses)
        return found

    @property
    def of_texts(self) -> PartCache:
        """What keeps the parts that go by texts alone, which graphs of the same texts share."""
        with self._guard:
            if self._of_texts is None:
                self._of_texts = _TextParts()
            return self._of_texts

    def known(self, part: Any) -> Any:  # noqa: ANN401  # of its own type
        """Return the part's result where it is there already, or None."""
        kept = self._keeper_of(part)._results.get(type(part))
        return None if kept is None else kept.get(part)

    def put(self, part: object, result: object) -> None:
        """Store a result that is known already."""
        keeper = self._keeper_of(part)
        with keeper._guard:
            keeper._results.setdefault(type(part), {})[part] = result

    def items(self) -> list[tuple[Any, Any]]:
        """Return the parts whose results are kept, each with its result."""
        with self._guard:
            own = [item for kept in self._results.values() for item in kept.items()]
        return own if self._of_texts is None else own + self._of_texts.items()

    def _keeper_of(self, part: object) -> PartCache:
        """Return what keeps a part: this cache, or that of the texts."""
        return self.of_texts if getattr(part, "of_texts", False) else self

    def _computed(self, part: Any, graph: Computing) -> Any:  # noqa: ANN401  # of its own type
        keeper = self._keeper_of(part)
        if keeper is not self:
            return keeper.result(part, graph)
        with self._guard:
            lock = self._locks.setdefault(part, threading.RLock())
        with lock:
            kept: Mapping[Any, Any] = self._results.get(type(part), {})
            result = kept.get(part, MISSING)
            if result is not MISSING:
                return result
            try:
                result = graph.compute_part(part)
            except BaseException:  # it leaves nothing behind, and is tried again at the next call
                with self._guard:
                    self._locks.pop(part, None)
                raise
            with self._guard:
                self._results.setdefault(type(part), {})[part] = result
                self._last_use[part] = next(self._uses)
                self._unmeasured.append((part, result))
                if self._may_be_too_large(type(part), graph):
                    self._measure_all(graph)
                    self._forget_oldest(type(part))
                self._locks.pop(part, None)
        return result

    def kept_bytes(self, graph: Computing, columns: MeasuredColumns) -> int:
        """Return the estimated bytes of all results that were computed here.

        Args:
            graph: the graph whose parts these are.
            columns: what its columns keep.
        """
        with self._guard:
            self._measure_all(graph, columns)
            own = sum(size for size, _ in self._sizes.values())
        return own + (0 if self._of_texts is None else self._of_texts.kept_bytes(graph, columns))

    def _may_be_too_large(self, kind: type, graph: Computing) -> bool:
        """Return whether results of a class of part may be beyond the bounds.

        They are not where they are small with all that others share but the graph itself, which may
        hold the caller's objects. Nothing else is measured then.
        """
        results = self._results[kind]
        if len(results) == 1:  # one alone always stays
            return False
        if self._sizes or len(results) > MAX_RESULTS:
            return True
        estimate = SizeEstimate(graph.value_ids, stop=graph.is_of)
        return sum(map(estimate.bytes_of, results.values())) > MAX_BYTES

    def _measure_all(self, graph: Computing, columns: MeasuredColumns | None = None) -> None:
        """Measure what has come since the last time: a graph of one question never needs it."""
        waiting, self._unmeasured = self._unmeasured, []
        if waiting and not self._max_bytes:
            columns = columns or graph.measured_columns
            self._max_bytes = max(MAX_BYTES, 2 * columns.own_bytes)
            self._counted |= columns.ids | graph.value_ids
        for part, result in waiting:
            self._measure(part, result, graph)

    def _measure(self, part: object, result: object, graph: Computing) -> None:
        """Note the bytes that a result keeps and no other result and no graph does."""
        estimate = SizeEstimate(self._counted, stop=graph.is_of)
        self._sizes[part] = estimate.bytes_of(result), estimate.found
        self._counted |= estimate.found

    def _forget_oldest(self, kind: type) -> None:
        """Let results of a class of part go until it is within both bounds."""
        results = self._results[kind]
        total = sum(self._sizes[part][0] for part in results if part in self._sizes)
        while len(results) > MAX_RESULTS or (len(results) > 1 and total > self._max_bytes):
            part = min(results, key=lambda one: self._last_use.get(one, -1))
            del results[part]
            self._last_use.pop(part, None)
            size, found = self._sizes.pop(part, (0, set()))
            self._counted -= found
            total -= size


class BorrowedParts:
    """The results of a graph's parts, for what is one of them: it does not keep the others.

    Args:
        parts: What keeps them. Once that is gone, this keeps its own.
    """

    def __init__(self, parts: PartCache) -> None:
        self._lender = weakref.ref(parts)
        self._own: PartCache | None = None

    def result(self, part: Any, graph: Computing) -> Any:  # noqa: ANN401  # of its own type
        """Return the part's result; see `PartCache`, also for what follows."""
        return self._keeper.result(part, graph)

    @property
    def of_texts(self) -> PartCache:
        return self._keeper.of_texts

    def known(self, part: Any) -> Any:  # noqa: ANN401  # of its own type
        return self._keeper.known(part)

    def put(self, part: object, result: object) -> None:
        self._keeper.put(part, result)

    def items(self) -> list[tuple[Any, Any]]:
        return self._keeper.items()

    def kept_bytes(self, graph: Computing, columns: MeasuredColumns) -> int:
        return self._keeper.kept_bytes(graph, columns)

    @property
    def _keeper(self) -> PartCache:
        keeper = self._lender()
        if keeper is None:  # two threads may make one each: a part is computed twice then
            keeper = self._own = self._own or PartCache()
        return keeper


class _TextParts(PartCache):
    """The results of parts that go by texts alone."""

    def _keeper_of(self, part: object) -> PartCache:
        return self
