"""Prizes as shares of the best, raised to a power: twice as near is worth more than twice as much.

A selection that adds prizes up takes two passages of half the prize for one of the whole. Cosines
and scaled scores lie too near to each other for that to hold of what they stand for, the chance
that a passage is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.algorithms.ranking import sharpen
from clew.graph import Floats, Graph
from clew.types import Query, Seeds


@dataclass(frozen=True)
class Power:
    """Replace every prize by (prize / best prize) ** exponent; the best becomes 1, the order stays.

    Attributes:
        exponent: above 0; 1 only scales, and 8 makes 0.43 of nine tenths of the best.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Seeds
        >>> prizes = np.array([2.0, 1.0, 0.0])
        >>> spread = Power(2.0).on(Graph.of(["a", "b", "c"]))
        >>> spread(Query("?"), Seeds(prizes), prizes).tolist()
        [1.0, 0.25, 0.0]
    """

    exponent: float = 8.0

    def __post_init__(self) -> None:
        if not self.exponent > 0:
            raise ValueError(f"exponent must be above 0, not {self.exponent}")

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Floats]:
        def spread(query: Query, seeds: Seeds, prizes: Floats) -> Floats:
            return sharpen(prizes, self.exponent)

        return spread
