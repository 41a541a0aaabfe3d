"""How much memory a value keeps, estimated by its arrays, texts and containers."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_SAMPLE = 40  # members of a long container that are looked at; the others count as these do
MAX_DEPTH = 12
LEAVES = frozenset((int, float, complex, bool, str, bytes, type(None)))


@dataclass
class SizeEstimate:
    """What a value keeps in memory that nothing else keeps.

    Attributes:
        known: the ids of objects that something else keeps; they count nothing.
        stop: whether a value, and what is behind it, is left out.
        found: the ids of the objects that were counted.

    Example:
        >>> import numpy as np
        >>> array, estimate = np.zeros(1000), SizeEstimate()
        >>> 8000 <= estimate.bytes_of((array, array)) < 9000
        True
        >>> SizeEstimate(known={id(array)}).bytes_of([array]) < 200
        True
    """

    known: AbstractSet[int] = frozenset()
    stop: Callable[[object], bool] = lambda _value: False
    found: set[int] = field(default_factory=set)

    def bytes_of(self, value: object, depth: int = 0) -> int:
        """Return the estimated bytes of a value, each object counted once."""
        if type(value) in LEAVES:  # most are, and asking for abstract classes takes longer
            return sys.getsizeof(value) if depth <= MAX_DEPTH else 0
        if isinstance(value, np.ndarray):
            return self._array_bytes(value)
        if id(value) in self.found or id(value) in self.known or depth > MAX_DEPTH:
            return 0
        if isinstance(value, (type, ModuleType)) or self.stop(value):
            return 0
        own = sys.getsizeof(value, 64)
        self.found.add(id(value))
        if isinstance(value, Mapping):
            if (stored := getattr(value, "stored", None)) is not None:
                return own + self.bytes_of(stored, depth + 1)  # it makes its values of that
            keys, values = _sample(value.keys(), len(value)), _sample(value.values(), len(value))
            return own + self._scaled([*keys, *values], len(value), depth)
        if isinstance(value, (list, tuple, set, frozenset)):
            return own + self._scaled(_sample(value, len(value)), len(value), depth)
        return own + self._sum_of(_parts(value), depth + 1)

    def _array_bytes(self, array: NDArray[Any]) -> int:
        while isinstance(array.base, np.ndarray):  # a view keeps all that it looks at
            array = array.base
        if id(array) in self.found or id(array) in self.known:
            return 0
        self.found.add(id(array))
        return int(array.nbytes) + 128

    def _scaled(self, sample: list[object], length: int, depth: int) -> int:
        total = self._sum_of(sample, depth + 1)
        return total if length <= MAX_SAMPLE else total * length // MAX_SAMPLE

    def _sum_of(self, values: list[object], depth: int) -> int:
        """Return the bytes of values; most are leaves, for which a call would take the longest."""
        leaves = [value for value in values if type(value) in LEAVES]
        total = sum(map(sys.getsizeof, leaves)) if depth <= MAX_DEPTH else 0
        if len(leaves) < len(values):
            for value in values:
                if type(value) not in LEAVES:
                    total += self.bytes_of(value, depth)
        return total


def _sample(values: Iterable[object], length: int) -> list[object]:
    """Return the first of a container's values; all of them, where they are few.

    Another thread may change the container meanwhile. Those until then are sample enough.
    """
    sample: list[object] = []
    with suppress(RuntimeError):
        sample.extend(islice(values, min(length, MAX_SAMPLE)))
    return sample


def _parts(value: object) -> list[object]:
    """Return what a function or an object refers to."""
    if isinstance(value, FunctionType):
        return [_content(cell) for cell in value.__closure__ or ()]
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    parts = list(getattr(value, "__dict__", {}).copy().values())
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        parts += [
            getattr(value, name, None) for name in ([slots] if isinstance(slots, str) else slots)
        ]
    return parts


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # a name that has no value yet
        return None
