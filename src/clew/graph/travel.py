"""What travels through the stages at question time: the question, where it touches the graph, and the part chosen so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clew.graph.columns import Floats, Rows, Vectors, frozen


class _Nothing(Mapping[str, Any]):
    """A mapping of nothing that nobody can write to; unlike Python's own it can be copied and pickled."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"

    def __hash__(self) -> int:
        return 0

    def __reduce__(self) -> str:
        return "NOTHING"


NOTHING: Mapping[str, Any] = _Nothing()
UNLIMITED = 2**31 - 1  # a budget that no context reaches: tokens are counted in 32 bits


def _no_rows() -> Rows:
    return frozen([], np.int32)


def _no_scores() -> Floats:
    return frozen([], np.float64)


@dataclass(frozen=True, eq=False)
class Query:
    """A question, and what a stage may need to answer it.

    `vector` is a unit float32 [d] or None; `fact_vector` is the question as the embedder sees it beside facts (the same unless it
    has its own). `embed` turns texts made at question time into unit rows [m, d]. `model` is the caller's language model or None.
    `limit` is the wanted number of items or None. `deadline` is in seconds, opt-in. `given` maps rows to scores when the candidates
    come from another retriever: a seed by similarity uses them in the place of its own search.
    """

    text: str
    vector: Vectors | None = None
    fact_vector: Vectors | None = None
    embed: Callable[[list[str]], Vectors] | None = None
    model: Any = None
    limit: int | None = None
    deadline: float | None = None
    given: Mapping[int, float] | None = None


@dataclass(frozen=True, eq=False)
class Seeds:
    """Where the question touches the graph.

    `weights` is float64 [n], >= 0. `terminals` are the rows that must be joined, best first: named by the seed, never inferred from
    the weights. `facts` are the facts the question was mapped to, best first, with their `fact_scores`. `notes` goes to the trace.
    """

    weights: Floats
    terminals: Rows = field(default_factory=_no_rows)
    facts: Rows = field(default_factory=_no_rows)
    fact_scores: Floats = field(default_factory=_no_scores)
    notes: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, eq=False)
class Subgraph:
    """A part of a graph, and what its selector knows of it.

    `nodes` and `edges` are rows of the graph. `kept` are nodes that no later stage may drop (bridges). `groups` are nodes that are
    read as one, each a tuple of rows. `value` and `bound` are the selector's objective and a proven upper bound on it.
    `worth` are prizes of chosen nodes of which the spread ones know nothing, such as reports, by row.
    `missing` are pairs of terminals that the graph cannot join. `dropped` are nodes that were wanted and could not be had, each with
    the reason. `costs` are, where the selector prices edges, what its own cost for this question, by row. `ways` are, where the selector
    knows how it came to a node, the score of the first touch and the rows from there to it.
    `trace` is what the selector has to say of its work.
    """

    nodes: Rows
    edges: Rows = field(default_factory=_no_rows)
    kept: Rows = field(default_factory=_no_rows)
    groups: tuple[tuple[int, ...], ...] = ()
    value: float | None = None
    bound: float | None = None
    worth: Mapping[int, float] = field(default_factory=dict)
    missing: tuple[tuple[int, int], ...] = ()
    dropped: tuple[tuple[int, str], ...] = ()
    costs: Mapping[int, float] = field(default_factory=dict)
    ways: Mapping[int, tuple[float, tuple[int, ...]]] = field(default_factory=dict)
    trace: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, eq=False)
class Reading:
    """What is read, in order: entry `i` is the node `nodes[i]`, or the fact `facts[i]` where `nodes[i]` is -1."""

    nodes: Rows
    facts: Rows

    @classmethod
    def of(cls, nodes: Any = (), facts: Any = ()) -> Reading:
        """Return the reading that has `facts` first, then `nodes`."""
        nodes, facts = np.asarray(nodes, np.int32), np.asarray(facts, np.int32)
        return cls(
            frozen(np.concatenate([np.full(len(facts), -1, np.int32), nodes]), np.int32),
            frozen(np.concatenate([facts, np.full(len(nodes), -1, np.int32)]), np.int32),
        )

    @classmethod
    def join(cls, parts: Sequence[Reading]) -> Reading:
        """Return the readings one after the other."""
        nodes, facts = [part.nodes for part in parts], [part.facts for part in parts]
        return cls(frozen(np.concatenate(nodes), np.int32), frozen(np.concatenate(facts), np.int32))

    def __len__(self) -> int:
        return len(self.nodes)
