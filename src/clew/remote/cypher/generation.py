"""Where the nodes of a generation are in the database, and how its vectors are searched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.graph import Rows, distinct, expand_ranges, freeze
from clew.remote.cypher.nearest import GenerationVectors
from clew.remote.cypher.statement import PlainKeys
from clew.remote.database import FoundIndex
from clew.remote.rows import NUMBERED, RowNumbers
from clew.store.graph_tables import EDGES, FACTS, NODES
from clew.store.packing import pack, unpack
from clew.store.row_changes import runs_of

PLACES = "places"
"""The file of a generation that says where its nodes are, beside those of the saved index."""


KEPT_CHANGES = 64
"""Changes that a generation tells of; who has read nothing since forgets all that was read."""


@dataclass(frozen=True)
class FoundGeneration(FoundIndex):
    """Where the generation of an index is that is asked.

    Attributes:
        key: The key of the index.
    """

    key: str


@dataclass(frozen=True, eq=False)
class VersionChange:
    """What a change has made other, for those who keep what they have read.

    Attributes:
        version: The version that came of it.
        nodes: int32, nodes that are new, gone, or have other values, facts or edges, ascending.
        facts: int32, facts that are new, gone, or have other values, ascending.
    """

    version: int
    nodes: Rows
    facts: Rows


@dataclass(frozen=True, eq=False)
class Generation:
    """One version of one writing of a whole index.

    Attributes:
        number: The number of the writing.
        nodes: int32 [n], the numbers of its nodes, ascending.
        facts: int32 [f], those of its facts, ascending.
        slot: The number in the names of what finds its nearest vectors approximately.
        is_approximate: Whether passages, and whether facts, are found so.
        changes: What the last changes have made other, one after the other up to this version.
        kept: Its vectors, once they were read; empty before, and where the database searches them.
    """

    number: int
    nodes: Rows
    facts: Rows
    slot: int
    is_approximate: tuple[bool, bool]
    changes: tuple[VersionChange, ...] = ()
    kept: list[GenerationVectors] = field(default_factory=list)

    def changed_since(self, version: int, now: int) -> tuple[Rows, Rows] | None:
        """Return the nodes and the facts that are other than in an earlier version.

        None where nobody says so any more.

        Args:
            version: The earlier version.
            now: That of this generation.
        """
        some = [one for one in self.changes if version < one.version <= now]
        if [one.version for one in some] != list(range(version + 1, now + 1)):
            return None
        nodes = distinct(np.concatenate([np.zeros(0, np.int32), *(one.nodes for one in some)]))
        facts = distinct(np.concatenate([np.zeros(0, np.int32), *(one.facts for one in some)]))
        return freeze(nodes, np.int32), freeze(facts, np.int32)

    def places(self, numbers: ArrayLike) -> PlainKeys:
        """Return the keys by which nodes are found; a number that no node has has none."""
        some = np.asarray(numbers, np.int64)
        if not len(self.nodes):
            return PlainKeys()
        at = np.minimum(np.searchsorted(self.nodes, some), len(self.nodes) - 1)
        return keys_of(self.number, some[self.nodes[at] == some].tolist())


@dataclass(frozen=True, eq=False)
class RowNumbering:
    """The numbers of the rows of a generation, which its writers know.

    Attributes:
        numbers: Those of every row, in the order of the graph.
        next_numbers: By table, the lowest number that no row has had.
    """

    numbers: RowNumbers
    next_numbers: dict[str, int]


def key_of_node(generation: int, number: int) -> str:
    """Return the key of a node, by which it is found."""
    return f"{generation}:{number}"


def keys_of(generation: int, numbers: Iterable[int]) -> PlainKeys:
    """Return the keys of nodes, or of facts."""
    return PlainKeys(key_of_node(generation, number) for number in numbers)


def pack_generation(one: Generation) -> NDArray[np.uint8]:
    """Return the file that `open_generation` opens."""
    settings = np.array([one.slot, *one.is_approximate], np.int64)
    runs = {NODES: _runs(one.nodes), FACTS: _runs(one.facts)}
    changes: dict[str, NDArray[Any]] = {
        "versions": np.array([change.version for change in one.changes], np.int64),
        **_packed_lists("changed nodes", [change.nodes for change in one.changes]),
        **_packed_lists("changed facts", [change.facts for change in one.changes]),
    }
    return pack({**runs, "settings": settings, **changes})


def open_generation(number: int, data: bytes) -> Generation:
    """Return the generation of a number whose file was read."""
    arrays = unpack(np.frombuffer(data, np.uint8))
    slot, passages, facts = arrays["settings"].tolist()
    return Generation(
        number,
        _rows(arrays[NODES]),
        _rows(arrays[FACTS]),
        slot,
        (bool(passages), bool(facts)),
        tuple(_changes(arrays)),
    )


def _changes(arrays: dict[str, NDArray[Any]]) -> Iterator[VersionChange]:
    versions = arrays.get("versions")  # who wrote it may not have known of changes
    if versions is None:
        return
    lists = (_unpacked_lists(arrays, name) for name in ("changed nodes", "changed facts"))
    for version, nodes, facts in zip(versions.tolist(), *lists, strict=True):
        yield VersionChange(version, nodes, facts)


def _packed_lists(name: str, lists: Sequence[Rows]) -> dict[str, NDArray[np.int32]]:
    values = np.concatenate([np.zeros(0, np.int32), *lists]).astype(np.int32)
    return {name: values, f"lengths of {name}": np.array([len(one) for one in lists], np.int32)}


def _unpacked_lists(arrays: dict[str, NDArray[Any]], name: str) -> list[Rows]:
    ends = np.cumsum(arrays[f"lengths of {name}"].astype(np.int64))
    return [freeze(one, np.int32) for one in np.split(arrays[name], ends)[:-1]]


def pack_numbering(one: RowNumbering) -> NDArray[np.uint8]:
    """Return the file that `open_numbering` opens."""
    runs = {table: _runs(one.numbers.of(table)) for table in NUMBERED}
    next_numbers = np.array([one.next_numbers[table] for table in NUMBERED], np.int64)
    return pack({**runs, "next": next_numbers})


def open_numbering(data: bytes) -> RowNumbering:
    """Return the numbering whose file was read."""
    arrays = unpack(np.frombuffer(data, np.uint8))
    numbers = RowNumbers(*(_rows(arrays[table]) for table in (NODES, FACTS, EDGES)))
    return RowNumbering(numbers, dict(zip(NUMBERED, arrays["next"].tolist(), strict=True)))


def _runs(numbers: Rows) -> NDArray[np.int32]:
    """Return numbers as runs of consecutive ones, of which a small change leaves most as they are.

    The first number of each run, and how many it has: int32 [runs, 2].
    """
    bounds = runs_of(np.asarray(numbers, np.int64))
    runs = np.stack([numbers[bounds[:-1]], np.diff(bounds)], axis=1)
    return runs.astype(np.int32, copy=False)


def _rows(runs: NDArray[np.int32]) -> Rows:
    return freeze(expand_ranges(runs[:, 0], runs[:, 1]), np.int32)


def label_of(slot: int, what: str) -> str:
    """Return the label of nodes that a vector index has; `what` is Passage or Fact."""
    return f"ClewNear{what}{slot:d}"
