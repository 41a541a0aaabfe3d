"""Numbers in the place of words: what is counted afterwards is counted on arrays."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable
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
