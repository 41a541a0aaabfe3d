"""What a database that holds an index can be asked: few questions, each for many rows at once.

A node has a number that it keeps. Numbers ascend in the order of the index. The rules of every
database:

- without numbers nothing comes, and the database is not asked;
- names are never a part of a statement, and values are bound to it;
- `where` holds for seeds and for both ends of every edge; what cannot be enforced is refused;
- what a bound has cut off is counted;
- of equal weights the lower number comes first; what is not finite is an error.

The methods are coroutines, so that a database may be asked with and without an event loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from clew.graph import Floats, Graph, Rows, Vectors, freeze

Wanted = Mapping[str, object]
"""Wanted values of metadata by key, as in `clew.index.QueryOptions`."""


@dataclass(frozen=True)
class Capabilities:
    """What a database can do.

    Attributes:
        enforces_where: Whether it can keep to wanted values of metadata.
        searches_vectors: Whether it finds the nearest vectors.
        snapshot: Whether all that one question sees is of one moment.
        is_async: Whether it can be asked without a thread.
        spreads_masses: Whether `expand` takes the masses of nodes.
    """

    enforces_where: bool
    searches_vectors: bool
    snapshot: bool
    is_async: bool
    spreads_masses: bool = False


@dataclass(frozen=True, eq=False)
class Near:
    """The nodes or facts that are nearest to a question.

    Attributes:
        numbers: int32 [k], the nearest first, and the farthest of all facts as the last one.
        ends: int32, nodes that belong to them: the ends of facts, and the passages of these.
        cosines: float64 [k], with the question; empty where nobody says.
        pairs: int32 [k, 2], of facts their subjects and objects; empty where nobody says.
    """

    numbers: Rows
    ends: Rows
    cosines: Floats = field(default_factory=lambda: freeze([], np.float64))
    pairs: Rows = field(default_factory=lambda: freeze(np.zeros((0, 2)), np.int32))


@dataclass(frozen=True, eq=False)
class FoundSeeds:
    """What a question leads to directly.

    Attributes:
        version: That of the index.
        passages: The nearest passages.
        facts: The nearest facts.
        postings: Of each stem that some passage has, by its key: the passages, int32 ascending, and
            how often each has it.
        allowed: int32, the passages that `where` allows, ascending; None where it allows all.
    """

    version: int
    passages: Near
    facts: Near
    postings: Mapping[bytes, tuple[Rows, Floats]]
    allowed: Rows | None


@dataclass(frozen=True, eq=False)
class Expansion:
    """The nodes that edges lead to.

    Attributes:
        numbers: int32, each once, ascending.
        weights: float64, the sum of the weights of the edges that lead to each, or the mass that
            comes to it, where masses were given.
        cut: How many nodes had more edges than were followed.
    """

    numbers: Rows
    weights: Floats
    cut: int


@dataclass(frozen=True, eq=False)
class PulledNodes:
    """Nodes, and the facts and edges among them.

    Attributes:
        numbers: int32 [n], ascending, of the nodes.
        graph: Their graph: row `i` is node `numbers[i]`.
        mentions: int64 [n], how many passages of the whole index each was read from.
        contents: int64 [n], how many passages of the whole index are directly in each.
        languages: int8 [n], the place of each node's language among those of the index.
        strengths: float64 [n, kinds], the sum of the weights of each node's edges in the whole
            index, by their kind; None where nobody says.
        kinds: The kinds of these.
        linked_words: int32 [n], as `clew.seed.in_own_words.LinkedWordsPart` has them; None where
            nobody says.
    """

    numbers: Rows
    graph: Graph
    mentions: np.ndarray[Any, np.dtype[np.int64]]
    contents: np.ndarray[Any, np.dtype[np.int64]]
    languages: np.ndarray[Any, np.dtype[np.int8]]
    strengths: Floats | None = None
    kinds: tuple[str, ...] = ()
    linked_words: Rows | None = None

    def with_strengths(self, kinds: Sequence[str], strengths: Floats) -> PulledNodes:
        """Return the nodes with the strengths that they have in the whole index.

        Args:
            kinds: See `kinds`.
            strengths: See `strengths`.
        """
        return replace(self, kinds=tuple(kinds), strengths=strengths)


class GraphStore(Protocol):
    """A database that holds an index."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        ...

    async def version(self) -> int:
        """Return the version of the index, which every write raises."""
        ...

    async def seeds(
        self,
        vector: Vectors | None,
        stems: Sequence[bytes],
        passages: int,
        facts: int,
        where: Wanted | None = None,
    ) -> FoundSeeds:
        """Return what a question leads to directly.

        Args:
            vector: The question's, float32 [d]; None for none.
            stems: The keys of its stems.
            passages: How many of the nearest passages.
            facts: How many of the nearest facts.
            where: What may be read; None for everything.
        """
        ...

    async def expand(
        self,
        numbers: Rows,
        per_node: int,
        without: Sequence[str] = (),
        where: Wanted | None = None,
        masses: Floats | None = None,
    ) -> Expansion:
        """Return the nodes that edges join with these, in either direction.

        Args:
            numbers: The nodes.
            per_node: How many edges of one node are followed in each direction, the strongest
                first.
            without: Kinds of edge that are not followed.
            where: What may be read; None for everything.
            masses: float64, one a node, which it gives to its neighbours by the weights of all its
                edges that may be followed; only where the database `spreads_masses`.
        """
        ...

    async def nodes(
        self, numbers: Rows, fact_vectors: Rows | None = None, where: Wanted | None = None
    ) -> PulledNodes:
        """Return nodes with what contains them, and the facts and edges among them.

        Args:
            numbers: The nodes.
            fact_vectors: The facts whose vectors are read, int32; None for all. The others, which
                the question is far from, have rows of zeros.
            where: What may be read; None for everything.
        """
        ...
