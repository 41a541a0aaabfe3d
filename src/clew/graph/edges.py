"""Facts and edges, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph.columns import Labels, Ragged, Rows, Vectors, freeze


@dataclass(frozen=True, eq=False)
class Facts:
    """What is said in the passages: a text, a unit vector (or zeros), subject and object rows, a relation, and where it was read."""

    texts: tuple[str, ...] = ()
    vectors: Vectors = field(default_factory=lambda: freeze(np.zeros((0, 0)), np.float32))
    subjects: Rows = field(default_factory=lambda: freeze([], np.int32))
    objects: Rows = field(default_factory=lambda: freeze([], np.int32))
    relations: Labels = field(default_factory=lambda: Labels.of(()))
    read_from: Ragged = field(default_factory=lambda: Ragged.empty(0))

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, eq=False)
class Edges:
    """Links between nodes: from `tails` to `heads`, with a kind, an affinity in (0, 1], the fact it states (or -1), where it was read."""

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
        tails: Any,
        heads: Any,
        weights: Any = 1.0,
        facts: Any = None,
        read_from: Ragged | None = None,
    ) -> Edges:
        """Return edges of one kind; `weights` may be one number, `facts` and `read_from` default to none."""
        tails = freeze(tails, np.int32)
        m = len(tails)
        return cls(
            tails,
            freeze(heads, np.int32),
            Labels.of([kind] * m),
            freeze(np.broadcast_to(np.asarray(weights, np.float32), (m,)), np.float32),
            freeze(np.full(m, -1) if facts is None else facts, np.int32),
            Ragged.empty(m) if read_from is None else read_from,
        )

    @classmethod
    def join(cls, parts: Sequence[Edges]) -> Edges:
        if not parts:
            return cls()
        return cls(
            freeze(np.concatenate([p.tails for p in parts]), np.int32),
            freeze(np.concatenate([p.heads for p in parts]), np.int32),
            Labels.join([p.kinds for p in parts]),
            freeze(np.concatenate([p.weights for p in parts]), np.float32),
            freeze(np.concatenate([p.facts for p in parts]), np.int32),
            Ragged.join([p.read_from for p in parts]),
        )

    def take(self, rows: NDArray[Any]) -> Edges:
        return Edges(
            freeze(self.tails[rows], np.int32),
            freeze(self.heads[rows], np.int32),
            self.kinds.take(rows),
            freeze(self.weights[rows], np.float32),
            freeze(self.facts[rows], np.int32),
            self.read_from.take(rows),
        )

    def __len__(self) -> int:
        return len(self.tails)
