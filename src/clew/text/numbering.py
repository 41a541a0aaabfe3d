"""Numbers in the place of words: what is counted afterwards is counted on arrays."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

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

    def of_each(self, things: Sequence[T]) -> NDArray[np.int32]:
        """Return the numbers of things: int32 [n].

        Example:
            >>> Numbering[str]().of_each(["sea", "sky", "sea"])
            array([0, 1, 0], dtype=int32)
        """
        new = [thing for thing in dict.fromkeys(things) if thing not in self]
        self.update(zip(new, range(len(self), len(self) + len(new)), strict=True))
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
