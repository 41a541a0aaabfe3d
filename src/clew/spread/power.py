"""Prizes as shares of the best, to a power: twice as near is worth more than twice as much.

A selection that adds prizes up takes two passages of half the worth for one; cosines and scaled scores lie too near to each other for
that to be true of what they stand for, the chance that a passage is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.algorithms.ranking import sharpened
from clew.graph import Floats, Graph
from clew.types import Query, Seeds


@dataclass(frozen=True)
class Power:
    """Replace every prize by (prize / best prize) ** sharpness; the best becomes 1, the order stays.

    Attributes:
        sharpness: > 0; 1 only scales, 8 makes 0.9 of the best worth 0.43 of it.
    """

    exponent: float = 8.0

    def __post_init__(self) -> None:
        if not self.exponent > 0:
            raise ValueError(f"sharpness must be above 0, not {self.exponent}")

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Floats]:
        def spread(query: Query, seeds: Seeds, prizes: Floats) -> Floats:
            return sharpened(prizes, self.exponent)

        return spread
