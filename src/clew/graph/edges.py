"""Facts and edges, in columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.graph.columns import (
    Labels,
    Mask,
    Ragged,
    Rows,
    Vectors,
    are_consecutive,
    freeze,
    row_mask,
    seal,
)
from clew.graph.vector_column import AnyVectors


@dataclass(frozen=True, eq=False)
class Facts:
    """The facts that were read in the passages: subject, relation, object. Fact `i` is entry `i`.

    Attributes:
        texts: the fact as a sentence.
        vectors: float32 [m, d], unit rows; a row of zeros means "no vector"; as those of a graph.
        subjects: int32 [m], the row of the subject.
        objects: int32 [m], the row of the object.
        relations: the relation's label.
        read_from: the rows of the passages that the fact was read from.

    Example:
        >>> facts = Facts(
        ...     ("Anna knows Ben",),
        ...     freeze([[1.0]], np.float32),
        ...     freeze([0], np.int32),
        ...     freeze([1], np.int32),
        ...     Labels.of(["knows"]),
        ...     Ragged.of([[2]]),
        ... )
        >>> len(facts), facts.relations[0]
        (1, 'knows')
    """

    texts: tuple[str, ...] = ()
    vectors: AnyVectors = field(default_factory=lambda: freeze(np.zeros((0, 0)), np.float32))
    subjects: Rows = field(default_factory=lambda: freeze([], np.int32))
    objects: Rows = field(default_factory=lambda: freeze([], np.int32))
    relations: Labels = field(default_factory=lambda: Labels.of(()))
    read_from: Ragged = field(default_factory=lambda: Ragged.empty(0))

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges between nodes. Edge `i` is entry `i`.

    Attributes:
        tails: int32 [m], the row that the edge starts from.
        heads: int32 [m], the row that the edge leads to.
        kinds: the kind of the edge: "contains", "next", "mentions", "fact", ...
        weights: float32 [m], affinities in (0, 1].
        facts: int32 [m], the fact that the edge states, or -1.
        read_from: the rows of the passages that the edge was read from.

    Example:
        >>> edges = Edges.of("next", [0, 1], [1, 2], 0.5)
        >>> len(edges), edges.kinds[0], edges.weights
        (2, 'next', array([0.5, 0.5], dtype=float32))
    """

    tails: Rows = field(default_factory=lambda: freeze([], np.int32))
    heads: Rows = field(default_factory=lambda: freeze([], np.int32))
    kinds: Labels = field(default_factory=lambda: Labels.of(()))
    weights: Vectors = field(default_factory=lambda: freeze([], np.float32))
    facts: Rows = field(default_factory=lambda: freeze([], np.int32))
    read_from: Ragged = field(default_factory=lambda: Ragged.empty(0))

    @classmethod
    def of(
        cls,
        kind: str,
        tails: ArrayLike,
        heads: ArrayLike,
        weights: ArrayLike = 1.0,
        facts: ArrayLike | None = None,
        read_from: Ragged | None = None,
    ) -> Edges:
        """Return edges of one kind.

        Args:
            kind: the kind of all edges.
            tails: the rows that the edges start from.
            heads: the rows that the edges lead to.
            weights: affinities in (0, 1], or one number for all edges.
            facts: the facts that the edges state; None for no facts.
            read_from: the passages that the edges were read from; None for no passages.
        """
        tails = freeze(tails, np.int32)
        m = len(tails)
        return cls(
            tails,
            freeze(heads, np.int32),
            Labels.alike(kind, m),
            freeze(np.broadcast_to(np.asarray(weights, np.float32), (m,)), np.float32),
            seal(np.full(m, -1, np.int32)) if facts is None else freeze(facts, np.int32),
            Ragged.empty(m) if read_from is None else read_from,
        )

    @classmethod
    def join(cls, parts: Sequence[Edges]) -> Edges:
        """Return the edges of all parts, one part after the other."""
        if not parts:
            return cls()
        return cls(
            seal(np.concatenate([part.tails for part in parts])),
            seal(np.concatenate([part.heads for part in parts])),
            Labels.join([part.kinds for part in parts]),
            seal(np.concatenate([part.weights for part in parts])),
            seal(np.concatenate([part.facts for part in parts])),
            Ragged.join([part.read_from for part in parts]),
        )

    def take(self, rows: NDArray[Any]) -> Edges:
        """Return the chosen edges; consecutive ones are not copied."""
        is_run = rows.dtype != np.bool_ and are_consecutive(rows)
        some = slice(int(rows[0]), int(rows[-1]) + 1) if is_run else rows
        return Edges(
            seal(self.tails[some]),
            seal(self.heads[some]),
            self.kinds.take(some),
            seal(self.weights[some]),
            seal(self.facts[some]),
            self.read_from.take(rows),
        )

    def inside(self, inside: Mask) -> Edges:
        """Return the edges between different rows of some.

        Args:
            inside: bool [nodes], which the rows are.

        Example:
            >>> edges = Edges.of("next", [0, 1, 2], [1, 2, 2])
            >>> edges.inside(np.array([False, True, True])).heads
            array([2], dtype=int32)
        """
        tails, heads = self.tails, self.heads
        leaving = np.flatnonzero(inside[tails])
        tails, heads = tails[leaving], heads[leaving]
        return self.take(leaving[inside[heads] & (tails != heads)])

    def among(self, rows: Rows, n_nodes: int) -> Edges:
        """Return the edges that join some rows, in their order.

        Args:
            rows: different rows.
            n_nodes: the number of nodes.
        """
        return self.inside(row_mask(rows, n_nodes))

    def between(self, start: int, end: int) -> Edges:
        """Return the edges from one on, and before another; the columns are not copied.

        A kind that none of them has may still be among the names.
        """
        some = slice(start, end)
        return Edges(
            self.tails[some],
            self.heads[some],
            self.kinds.between(start, end),
            self.weights[some],
            self.facts[some],
            self.read_from.between(start, end),
        )

    @property
    def kind_names(self) -> tuple[str, ...]:
        """The kinds that there are, sorted, and those of edges that are not made yet."""
        return self.kinds.names

    def of_kinds(self, names: Collection[str] | None) -> Edges:
        """Return edges that hold all of these kinds, and perhaps others: no late ones in vain.

        Args:
            names: the kinds; None for all.
        """
        return self

    def in_whole(self, some: Edges, lists: Ragged) -> Ragged:
        """Return lists of rows of some edges as lists of rows of these.

        Args:
            some: what `of_kinds` has returned.
            lists: rows of those.
        """
        return lists

    def __len__(self) -> int:
        return len(self.tails)
