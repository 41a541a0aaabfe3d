"""Where the nodes of a generation are in the database, and how its vectors are searched."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.graph import Rows, freeze
from clew.remote.cypher.nearest import GenerationVectors
from clew.remote.cypher.statement import PlainNumbers
from clew.remote.database import FoundIndex
from clew.store.packing import pack, unpack

PLACES = "places"
"""The file of a generation that says where its nodes are, beside those of the saved index."""


@dataclass(frozen=True)
class FoundGeneration(FoundIndex):
    """Where the generation of an index is that is asked.

    Attributes:
        key: The key of the index.
    """

    key: str


@dataclass(frozen=True, eq=False)
class Generation:
    """One writing of an index.

    Attributes:
        number: Its number.
        nodes: int32 [n], the numbers of its nodes, ascending.
        ids: int64 [n], the place of each; none where places are made of the numbers.
        n_facts: How many facts it has; their numbers are 1 to that.
        slot: The number in the names of what finds its nearest vectors approximately.
        is_approximate: Whether passages, and whether facts, are found so.
        kept: Its vectors, once they were read; empty before, and where the database searches them.
    """

    number: int
    nodes: Rows
    ids: NDArray[np.int64]
    n_facts: int
    slot: int
    is_approximate: tuple[bool, bool]
    kept: list[GenerationVectors] = field(default_factory=list)

    def places(self, numbers: ArrayLike) -> list[Any]:
        """Return the places of nodes; a number that no node has has none."""
        some = np.asarray(numbers, np.int64)
        if not len(self.nodes):
            return []
        at = np.minimum(np.searchsorted(self.nodes, some), len(self.nodes) - 1)
        is_there = self.nodes[at] == some
        if not len(self.ids):
            return [key_of_node(self.number, one) for one in some[is_there].tolist()]
        return PlainNumbers(self.ids[at[is_there]].tolist())


def key_of_node(generation: int, number: int) -> str:
    """Return the key of a node, by which it is found."""
    return f"{generation}:{number}"


def pack_generation(one: Generation) -> NDArray[np.uint8]:
    """Return the file that `open_generation` opens."""
    settings = np.array([one.n_facts, one.slot, *one.is_approximate], np.int64)
    return pack({"nodes": np.asarray(one.nodes), "ids": one.ids, "settings": settings})


def open_generation(number: int, data: bytes) -> Generation:
    """Return the generation of a number whose file was read."""
    arrays = unpack(np.frombuffer(data, np.uint8))
    n_facts, slot, passages, facts = arrays["settings"].tolist()
    return Generation(
        number,
        freeze(arrays["nodes"], np.int32),
        freeze(arrays["ids"], np.int64),
        n_facts,
        slot,
        (bool(passages), bool(facts)),
    )


def label_of(slot: int, what: str) -> str:
    """Return the label of nodes that a vector index has; `what` is Passage or Fact."""
    return f"ClewNear{what}{slot:d}"
