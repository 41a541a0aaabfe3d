"""Which names every passage has: the inverse of `Graph.read_from`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clew.graph.columns import Mask, Ragged, freeze

if TYPE_CHECKING:
    from clew.graph.graph import Graph


@dataclass(frozen=True)
class MentionedEntitiesPart:
    """The part that has for every node the entities that were read from it, ascending.

    Example:
        >>> from clew.graph import Graph
        >>> graph = Graph.of(["Anna left.", "Anna"], kinds=["passage", "entity"],
        ...                  read_from=Ragged.of([[], [0]]))
        >>> graph.part(MentionedEntitiesPart())[0].tolist()
        [1]
    """

    def compute(self, graph: Graph) -> Ragged:
        is_entity: Mask = graph.kinds.mask("entity")
        sources = graph.read_from
        of_entity = is_entity[sources.owners] if len(sources.values) else np.zeros(0, np.bool_)
        passages, entities = sources.values[of_entity], sources.owners[of_entity]
        order = np.lexsort((entities, passages))
        starts = np.zeros(len(graph) + 1, np.int64)
        np.cumsum(np.bincount(passages, minlength=len(graph)), out=starts[1:])
        return Ragged(freeze(starts, np.int64), freeze(entities[order], np.int32))
