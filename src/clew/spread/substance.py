"""Prizes that count what there is to read: a scrap of text is worth a part of its relevance.

A selection that adds prizes up buys scraps: a title, a line of a list or a signature costs few
tokens, and has the relevance of its words. But an answer takes some room. So a text has its whole
prize from a number of tokens on, and below that a share of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.graph import Floats, Graph
from clew.types import Query, Seeds


@dataclass(frozen=True)
class Substance:
    """Multiply every prize by min(tokens, full) / full.

    Attributes:
        full: tokens from which on a text has its whole prize, at least 1.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Seeds
        >>> prizes = np.array([0.8, 0.8, 0.8])
        >>> graph = Graph.of(["a scrap", "a text", "a long text"], tokens=[16, 64, 200])
        >>> Substance(64).on(graph)(Query("?"), Seeds(prizes), prizes).round(2).tolist()
        [0.2, 0.8, 0.8]
    """

    full: int = 128

    def __post_init__(self) -> None:
        if self.full < 1:
            raise ValueError(f"full is a number of tokens of at least 1, not {self.full}")

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Floats]:
        shares = np.minimum(graph.tokens, self.full) / self.full

        def spread(query: Query, seeds: Seeds, prizes: Floats) -> Floats:
            return prizes * shares

        return spread
