"""What travels through the stages, and the protocols that the stages keep.

documents -link-> graph; question -seed-> seeds -spread-> prizes -select-> subgraph -order-> reading -render-> context

A stage is a frozen dataclass whose fields are its parameters. `on(graph)` binds it to a graph and returns a plain function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import EMPTY, Edges, Floats, Generated, Graph, Rows, Vectors, freeze

if TYPE_CHECKING:
    from clew.context import Context

UNLIMITED = 2**31 - 1  # a budget that no context reaches: tokens are counted in 32 bits


def _no_rows() -> Rows:
    return freeze([], np.int32)


def _no_scores() -> Floats:
    return freeze([], np.float64)


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
    candidate_scores: Mapping[int, float] | None = None


@dataclass(frozen=True, eq=False)
class Seeds:
    """Where the question touches the graph.

    `weights` is float64 [n], >= 0. `terminals` are the rows that must be joined, best first: named by the seed, never inferred from
    the weights. `facts` are the facts the question was mapped to, best first, with their `fact_scores`. `notes` goes to the trace.
    """

    scores: Floats
    terminals: Rows = field(default_factory=_no_rows)
    facts: Rows = field(default_factory=_no_rows)
    fact_scores: Floats = field(default_factory=_no_scores)
    notes: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


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
    required: Rows = field(default_factory=_no_rows)
    groups: tuple[tuple[int, ...], ...] = ()
    value: float | None = None
    bound: float | None = None
    extra_prizes: Mapping[int, float] = field(default_factory=dict)
    missing: tuple[tuple[int, int], ...] = ()
    dropped: tuple[tuple[int, str], ...] = ()
    edge_costs: Mapping[int, float] = field(default_factory=dict)
    paths: Mapping[int, tuple[float, tuple[int, ...]]] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


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
            freeze(np.concatenate([np.full(len(facts), -1, np.int32), nodes]), np.int32),
            freeze(np.concatenate([facts, np.full(len(nodes), -1, np.int32)]), np.int32),
        )

    @classmethod
    def join(cls, parts: Sequence[Reading]) -> Reading:
        """Return the readings one after the other."""
        nodes, facts = [part.nodes for part in parts], [part.facts for part in parts]
        return cls(freeze(np.concatenate(nodes), np.int32), freeze(np.concatenate(facts), np.int32))

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, eq=False)
class Prizes:
    """What a spread stage gives that has something to say of its work: `values`, float64 [n], >= 0, and `notes` for the trace."""

    values: Floats
    notes: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


def start_rows(seeds: Seeds, relevance: Floats, max_rows: int) -> Rows:
    """Return the rows that something begins from: the seed's terminals, where it names any, or else those worth most; best first."""
    if len(seeds.terminals):
        return seeds.terminals[:max_rows]
    rows = top_k(relevance, max_rows).astype(np.int32)
    return rows[relevance[rows] > 0]


class Link(Protocol):
    """What is connected to what?  nodes -> edges, once, when the graph is built.

    `kind` is the kind of all edges that it makes. `corpus_wide` says whether the edge between two nodes depends on other nodes too
    (nearest neighbours, rarity), so that the edges of this kind must be made again when nodes come or go.
    """

    @property
    def kind(self) -> str: ...
    @property
    def corpus_wide(self) -> bool: ...
    def on(self, graph: Graph) -> Edges: ...


class Generate(Protocol):
    """What can be made of what the graph holds?  passages -> texts that are kept in it, once, after it is linked.

    One that asks a language model has it as its `model`; where that is None, it has a way without.
    """

    def on(self, graph: Graph) -> Generated: ...


class Seed(Protocol):
    """Where does the question touch the graph?"""

    def on(self, graph: Graph) -> Callable[[Query], Seeds]: ...


class Spread(Protocol):
    """What else is worth reading, given the links?  prizes -> prizes; `Prizes` where there is something to say of them in the trace."""

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Floats | Prizes]: ...


class Select(Protocol):
    """Which part of the graph is worth the budget?  prizes, candidates, budget -> subgraph"""

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]: ...


class Order(Protocol):
    """In what order should it be read?  subgraph -> reading"""

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]: ...


class Method(Protocol):
    """Anything that can be asked: question, budget in tokens -> context. A pipeline is one."""

    def on(self, graph: Graph) -> Callable[[Query, int], Context]: ...


@dataclass(frozen=True)
class BoundMethod:
    """The part that is a method bound to a graph."""

    method: Method

    def compute(self, graph: Graph) -> Callable[[Query, int], Context]:
        return self.method.on(graph)
