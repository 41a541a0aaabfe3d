"""What is kept of one version of an index by whoever asks it in a graph database.

What was read of a version holds for that version alone: where the index was written since, nothing
that was kept is used any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.remote.kept_rows import MAX_BYTES, KeptRow, RowsOfVersion
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
        max_bytes: How many bytes are kept at most.
    """

    def __init__(self, index: int, version: int, max_bytes: int = MAX_BYTES) -> None:
        self.index, self.version = index, version
        self._of_neighbours = int(OF_NEIGHBOURS * max_bytes)
        self.rows: RowsOfVersion[KeptRow] = RowsOfVersion(
            index, version, (), max_bytes - self._of_neighbours
        )
        self._names: dict[int, str] = {}
        self._followed: tuple[object, RowsOfVersion[KeptNeighbours]] | None = None

    def neighbours(self, per_node: int, without: Sequence[str]) -> RowsOfVersion[KeptNeighbours]:
        """Return the neighbours that are kept; of other bounds than the last ones none are.

        Args:
            per_node: How many edges of a node are followed in each direction.
            without: The kinds of edge that are not followed.
        """
        followed, bounds = self._followed, (per_node, *sorted(without))
        if followed is None or followed[0] != bounds:
            rows: RowsOfVersion[KeptNeighbours] = RowsOfVersion(
                self.index, self.version, (), self._of_neighbours
            )
            followed = self._followed = bounds, rows
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
