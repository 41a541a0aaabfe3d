"""What is kept of one version of an index by whoever asks it in a graph database.

What was read of a version holds for a later one where the generation says which nodes and facts
are other in it; else nothing that was kept is used any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.graph import Rows
from clew.remote.fact_vectors import FactVectors
from clew.remote.kept_rows import MAX_BYTES, KeptValues, RowsOfVersion, no_rows
from clew.remote.packed_rows import code_of_kind

OF_NEIGHBOURS = 1 / 8  # of the bytes; rows have the others
OVERHEAD = 250  # bytes that Python takes for the neighbours of a node beside what it holds


@dataclass(frozen=True, slots=True)
class KeptNeighbours:
    """The strongest neighbours of a node, of those that are followed.

    Attributes:
        heads: Where edges from it lead, the strongest first: int32 [m, 2], the number of the node
            and the bits of the weight.
        tails: Where edges to it come from, in the same way.
    """

    heads: bytes
    tails: bytes

    @property
    def count(self) -> int:
        """How many there are in both directions."""
        return (len(self.heads) + len(self.tails)) // 8

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return OVERHEAD + len(self.heads) + len(self.tails)


class KeptGeneration:
    """The rows and the neighbours that are kept of one version of one index; threads share them.

    Args:
        index: The number of the generation.
        version: The version of the index.
        dimension: The width of its vectors.
        max_bytes: How many bytes are kept at most.

    Attributes:
        questions: How many have come, of this version and of those of which something is kept.
        facts: The vectors of facts, once they were read.
    """

    def __init__(
        self, index: int, version: int, dimension: int, max_bytes: int = MAX_BYTES
    ) -> None:
        self.index, self.version = index, version
        self._max_bytes = max_bytes
        self._of_neighbours = int(OF_NEIGHBOURS * max_bytes)
        self.rows: RowsOfVersion = no_rows(
            index, version, (), dimension, max_bytes - self._of_neighbours
        )
        self._names: dict[int, str] = {}
        self.questions = 0
        self.facts: FactVectors | None = None
        self._followed: tuple[object, KeptValues[KeptNeighbours]] | None = None

    def after(self, version: int, changed: tuple[Rows, Rows] | None) -> KeptGeneration:
        """Return what is kept of a later version.

        Args:
            version: The later version.
            changed: The nodes and the facts that are other there; None where nobody knows.
        """
        columns = self.rows.table.columns
        kept = KeptGeneration(self.index, version, columns.dimension, self._max_bytes)
        if changed is None:
            return kept
        nodes, facts = changed
        kept.rows = self.rows.after(version, (), nodes.tolist())
        kept._names = dict(self._names)
        kept.questions = self.questions
        if self.facts is not None:
            kept.facts = self.facts.without(facts)
        if self._followed is not None:
            bounds, followed = self._followed
            kept._followed = bounds, followed.without(nodes.tolist())
        return kept

    def neighbours(self, per_node: int, without: Sequence[str]) -> KeptValues[KeptNeighbours]:
        """Return the neighbours that are kept; of other bounds than the last ones none are.

        Args:
            per_node: How many edges of a node are followed in each direction.
            without: The kinds of edge that are not followed.
        """
        followed, bounds = self._followed, (per_node, *sorted(without))
        if followed is None or followed[0] != bounds:
            followed = self._followed = bounds, KeptValues(self._of_neighbours)
        return followed[1]

    @property
    def kinds(self) -> list[str]:
        """The kinds of the nodes and edges that were read so far."""
        return list(self._names.values())

    def add_kinds(self, names: Iterable[str]) -> None:
        """Note kinds of nodes or edges, before a row that has them is kept.

        Raises:
            ValueError: Two kinds have the same code.
        """
        for name in names:
            known = self._names.setdefault(code_of_kind(name), name)
            if known != name:
                raise ValueError(f"two kinds have the same code; rename one: {known}, {name}")
