"""Numbers in the place of words: what is counted afterwards is counted on arrays."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=Hashable)


class Numbering(dict[T, int]):
    """The number of each thing, in the order in which they are first asked for.

    Example:
        >>> numbers = Numbering[str]()
        >>> numbers["sea"], numbers["sky"], numbers["sea"], list(numbers)
        (0, 1, 0, ['sea', 'sky'])
    """

    def __missing__(self, thing: T) -> int:
        number = self[thing] = len(self)
        return number

    def of_all(self, things: Sequence[T]) -> NDArray[np.int32]:
        """Return the numbers of things; all that are new get theirs at once, in half the time.

        Example:
            >>> Numbering[str]({"sky": 0}).of_all(["sea", "sky", "sea"])
            array([1, 0, 1], dtype=int32)
        """
        new = [thing for thing in dict.fromkeys(things) if thing not in self]
        self.update(zip(new, count(len(self)), strict=False))
        return np.fromiter(map(self.__getitem__, things), np.int32, len(things))

    def of_lists(self, lists: Iterable[Iterable[T]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the numbers of all things in several lists, and where each list starts and ends.

        Example:
            >>> Numbering[str]().of_lists([["sea", "sky", "sea"], [], ["sea"]])
            (array([0, 1, 0, 0], dtype=int32), array([0, 3, 3, 4]))
        """
        numbers, starts = array("i"), [0]
        number_of = self.__getitem__
        for things in lists:
            numbers.extend(map(number_of, things))
            starts.append(len(numbers))
        return np.array(numbers, np.int32), np.array(starts, np.int64)


class SharedNumbering(Generic[T]):
    """The number of each thing, for several threads at once; some numbers may be left out.

    No lock is held, so that a fork finds none.

    Attributes:
        numbers: The number of each thing; one that is looked up gets one.
        things: The thing of each number.

    Example:
        >>> shared = SharedNumbering[str]()
        >>> shared.of(["sea", "sky", "sea"]), shared.things[1]
        ([0, 1, 0], 'sky')
    """

    def __init__(self) -> None:
        self.things: dict[int, T] = {}
        self.numbers: dict[T, int] = _GivenNumbers(self.things)

    def of(self, things: Iterable[T]) -> list[int]:
        """Return the numbers of things, after those that are new have got one."""
        return list(map(self.numbers.__getitem__, things))

    def array_of(self, things: Collection[T]) -> NDArray[np.int32]:
        """Return the same as int32 [n].

        Example:
            >>> SharedNumbering[str]().array_of(["sea", "sky", "sea"])
            array([0, 1, 0], dtype=int32)
        """
        return np.fromiter(map(self.numbers.__getitem__, things), np.int32, len(things))


class _GivenNumbers(dict[T, int]):
    """Numbers that are given as things are looked up.

    Args:
        things: Where the thing of each number is put.
    """

    def __init__(self, things: dict[int, T]) -> None:
        super().__init__()
        self._things, self._next = things, count()

    def __missing__(self, thing: T) -> int:
        number = next(self._next)
        self._things[number] = thing  # before anyone can see the number
        return self.setdefault(thing, number)  # of two threads, the first gives a thing its number


class GrownNumbers(Mapping[T, int]):
    """The numbers of things, and of others behind them; those that were there are not copied.

    Args:
        before: The numbers that were there, from 0 on.

    Example:
        >>> grown = GrownNumbers({"sea": 0})
        >>> grown.setdefault("sky", 1), grown.setdefault("sea", 2), dict(grown)
        (1, 0, {'sea': 0, 'sky': 1})
    """

    def __init__(self, before: Mapping[T, int]) -> None:
        self._before, self._added = before, dict[T, int]()
        if isinstance(before, GrownNumbers):
            self._before, self._added = before._before, dict(before._added)

    def setdefault(self, thing: T, number: int) -> int:
        """Return the number of a thing; one that has none gets this one, behind all others."""
        known = self.get(thing)
        return self._added.setdefault(thing, number) if known is None else known

    def __getitem__(self, thing: T) -> int:
        number = self._added.get(thing)
        return self._before[thing] if number is None else number

    def __iter__(self) -> Iterator[T]:
        return chain(self._before, self._added)

    def __len__(self) -> int:
        return len(self._before) + len(self._added)

    @property
    def stored(self) -> object:
        """What the numbers are found by; see `clew.graph.sizes`."""
        return self._before, self._added

    def __reduce__(self) -> tuple[type[dict[T, int]], tuple[dict[T, int]]]:
        return dict, (dict(self),)


class ChosenNumbers(Mapping[T, int]):
    """New numbers for some things of a numbering, in an order; few of them are ever asked for.

    Args:
        numbering: The numbers of more things.
        chosen: int32 [n], those of the things that get the numbers from 0 on.

    Example:
        >>> shared = SharedNumbering[str]()
        >>> chosen = ChosenNumbers(shared, np.array(shared.of(["sea", "sky", "isle"])[:0:-1]))
        >>> dict(chosen), "sea" in chosen
        ({'isle': 0, 'sky': 1}, False)
    """

    def __init__(self, numbering: SharedNumbering[T], chosen: NDArray[np.integer]) -> None:
        self._numbering, self._chosen = numbering, chosen
        self._number_of = np.full(int(chosen.max(initial=-1)) + 1, -1, np.int32)
        self._number_of[chosen] = np.arange(len(chosen), dtype=np.int32)

    def __getitem__(self, thing: T) -> int:
        known = self._numbering.numbers.get(thing, -1)
        number = int(self._number_of[known]) if 0 <= known < len(self._number_of) else -1
        if number < 0:
            raise KeyError(thing)
        return number

    def __iter__(self) -> Iterator[T]:
        return map(self._numbering.things.__getitem__, self._chosen.tolist())

    def __len__(self) -> int:
        return len(self._chosen)
