"""Vectors that are made when one is first asked for: many questions compare nothing with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from clew.graph.columns import Vectors
from clew.graph.vector_column import DenseSegment


class DeferredSegment(DenseSegment):
    """Rows that are an array from the time on that one of them is asked for.

    Args:
        shape: the number of rows, and of dimensions.
        make: returns the rows, float32 [n, d], each of length 1 or zeros.

    Example:
        >>> import numpy as np
        >>> segment = DeferredSegment((2, 2), lambda: np.eye(2, dtype=np.float32))
        >>> segment.is_made, segment[:1].tolist(), segment.is_made
        (False, [[1.0, 0.0]], True)
    """

    def __init__(self, shape: tuple[int, int], make: Callable[[], Vectors]) -> None:
        self.__dict__.update(_shape=shape, _make=make)

    @property
    def shape(self) -> tuple[int, int]:
        shape: tuple[int, int] = self.__dict__["_shape"]
        return shape

    @property
    def is_made(self) -> bool:
        """Whether the rows were asked for."""
        return "array" in self.__dict__

    @cached_property
    def array(self) -> Vectors:
        made: Vectors = self.__dict__["_make"]()
        return made

    def release_pages(self) -> None:
        """Do nothing: no file is mapped."""
