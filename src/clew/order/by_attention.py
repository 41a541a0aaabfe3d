"""The best where the model looks most, by a position-bias curve that its user has measured.

A curve gives, for equal steps from the beginning of a context to its end, how much a model makes of what stands there; for instance its
accuracy when the answer is placed there (Liu et al., "Lost in the middle", TACL 2024, figure 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Floats, Graph
from clew.order.by_prize import content_of, facts_of, ranked
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class ByAttention:
    """The best item at the place with the highest value of the curve, the second best at the next, and so on; facts first.

    Attributes:
        curve: two or more values, first place to last, any scale; between them it is taken to be straight. The
            middle of an item's place counts, items counted as equally long. Places of equal value are taken from the front.
    """

    curve: tuple[float, ...] = (1.0, 0.0)

    def __post_init__(self) -> None:
        if len(self.curve) < 2 or not np.isfinite(self.curve).all():
            raise ValueError(
                f"a curve has at least two finite values, from the first place to the last; got {self.curve!r}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        steps = np.linspace(0, 1, len(self.curve))

        def read(query: Query, prizes: Floats, chosen: Subgraph) -> Reading:
            falling = ranked(content_of(graph, chosen), prizes)
            n = len(falling)
            places = (np.arange(n) + 0.5) / max(n, 1)
            order = np.empty(n, np.int64)
            order[top_k(np.interp(places, steps, self.curve))] = np.arange(n)
            return Reading.of(falling[order], facts_of(graph, chosen))

        return read
