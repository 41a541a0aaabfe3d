"""What travels through the stages, the protocols of the stages, and the glossary.

    documents -link-> graph
    question -seed-> seeds -spread-> prizes -select-> subgraph -order-> reading -render-> context

A stage is a frozen dataclass whose fields are its parameters. `on(graph)` binds it to a graph and
returns a plain function for question time. These functions have types here: `BoundSeed`,
`BoundSpread`, `BoundSelect`, `BoundOrder`.

Glossary:
    prize: the worth of a node for this question, float64, >= 0.
    weight: the affinity of an edge, float32 in (0, 1]; the higher, the closer.
    length: the distance along an edge, > 0; the lower, the closer.
    tokens: the cost of a node as it is rendered.
    budget: the number of tokens that a context may have.
    row: a node's index in the columns of the graph.
    slot: a place in the compressed rows of an adjacency; it stands for one neighbour of one row.
    seed: a node that the question leads to directly.
    terminal: a row that must be joined with the others, as named by the seed stage.
    start row: a row that a search or a walk begins from.
    bridge: a row that is selected because it joins others, and that no later stage may drop.
    connector: an entity, heading or community. Paths pass through it freely; it costs tokens only
        when it is rendered.
    relevance: how similar a node or fact is to the question.
    path: rows, each joined to the next by an edge.
    trace: what each stage reports of its work. Nothing reads it to decide anything.
    part: a value that is computed once per graph; see `clew.graph.Part`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from clew.algorithms.cosines import Compared
from clew.algorithms.nearest.hnsw import HNSW
from clew.algorithms.ranking import top_k
from clew.context import Context
from clew.graph import (
    EMPTY,
    Edges,
    Floats,
    Generated,
    Graph,
    Mask,
    NodeChange,
    Rows,
    Vectors,
    freeze,
    seal,
)

DEFAULT_RECIPE = "hipporag"  # it finds more than "fused", with facts and in long documents
UNLIMITED = 2**31 - 1  # a budget that no context reaches: tokens are counted in 32 bits


def _no_rows() -> Rows:
    return freeze([], np.int32)


def _no_scores() -> Floats:
    return freeze([], np.float64)


@dataclass(frozen=True, eq=False)
class Query:
    """A question, with what a stage may need to answer it.

    Attributes:
        text: the question.
        vector: float32 [d], a unit vector, to compare with passages and entities; None for none.
        fact_vector: float32 [d], the vector to compare with facts; None where that is `vector`.
        embed: texts -> unit rows [m, d], for texts that are made at question time.
        fact_likeness: texts of facts -> their cosines with the question, float32 [m], where the
            facts of the graph have no vectors; None where they have some, or are not compared.
        model: the caller's language model, or None.
        limit: the wanted number of items, or None.
        deadline: seconds that a solver may take, or None.
        max_share: the share of the page that one source may have, in (0, 1], or None.
        untrusted: whether that holds for a single passage, too, since strangers may have written
            it; else a source may have one in any case.
        nearest: the approximate index that seeds by similarity use instead of measuring all, or
            None.
        candidate_scores: row -> score, where the candidates come from another retriever. A seed by
            similarity uses these scores in place of its own search.
        by_rank: whether these scores say no more than the order in which the candidates came.
        vector_weight: how much similarity by vectors counts beside words, as a share of what a
            method gives it; below 1 where the embedder hardly knows the question's language, above
            1 where the caller gives one and the question is in English.
        compared: the products of `vector` with all passages, where they are known already.
        relevance: how relevant each passage is; None where that is not known.
        min_relevance: passages that are less relevant are not read; None for all.
        style: how the page is printed, for selectors that count what an entry costs there; None
            where nothing is printed. An entry then costs its `Graph.tokens`.

    Example:
        >>> query = Query("Who knows Anna?", vector=np.array([1, 0], np.float32))
        >>> query.vector_for_facts
        array([1., 0.], dtype=float32)
    """

    text: str
    vector: Vectors | None = None
    fact_vector: Vectors | None = None
    embed: Callable[[list[str]], Vectors] | None = None
    fact_likeness: Callable[[list[str]], Vectors] | None = None
    model: object | None = None
    limit: int | None = None
    deadline: float | None = None
    max_share: float | None = None
    untrusted: bool = False
    nearest: HNSW | None = None
    candidate_scores: Mapping[int, float] | None = None
    by_rank: bool = False
    vector_weight: float = 1.0
    compared: Compared | None = None
    relevance: Relevance | None = None
    min_relevance: float | None = None
    style: PageStyle | None = None

    @property
    def vector_for_facts(self) -> Vectors | None:
        """The vector that is compared with facts: `fact_vector`, or else `vector`."""
        return self.vector if self.fact_vector is None else self.fact_vector


@dataclass(frozen=True, eq=False)
class Seeds:
    """The nodes and facts that the question leads to directly.

    Attributes:
        scores: float64 [n], >= 0, for every node.
        terminals: rows that must be joined, best first. A seed stage names them; nothing infers
            them from the scores.
        facts: the facts that the question is mapped to, best first.
        fact_scores: float64, the score of each of these facts.
        notes: for the trace.

    Example:
        >>> seeds = Seeds(np.array([0.0, 2.0, 1.0]))
        >>> seeds.start_rows(seeds.scores, 5)
        array([1, 2], dtype=int32)
    """

    scores: Floats
    terminals: Rows = field(default_factory=_no_rows)
    facts: Rows = field(default_factory=_no_rows)
    fact_scores: Floats = field(default_factory=_no_scores)
    notes: Mapping[str, Any] = field(default_factory=lambda: EMPTY)

    def start_rows(self, relevance: Floats, max_rows: int) -> Rows:
        """Return the rows that a search begins from, best first.

        These are the terminals if there are any, or else the rows of the highest relevance.

        Args:
            relevance: float64 [n], a score for every row; a row of 0 is no start row.
            max_rows: the largest number of rows.
        """
        if len(self.terminals):
            return self.terminals[:max_rows]
        rows = top_k(relevance, max_rows).astype(np.int32)
        return rows[relevance[rows] > 0]


@dataclass(frozen=True, eq=False)
class Prizes:
    """The result of a spread stage that reports its work.

    Attributes:
        values: float64 [n], >= 0, the prize of every node.
        notes: for the trace.
    """

    values: Floats
    notes: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, eq=False)
class Subgraph:
    """A part of a graph, with what its selector knows of it.

    Attributes:
        nodes: rows of the graph.
        edges: rows of the graph's edges.
        required: nodes that no later stage may drop (bridges).
        groups: nodes that are read as one, each a tuple of rows.
        value: the selector's objective, or None.
        bound: a proven upper bound on the objective, or None.
        extra_prizes: row -> prize, for selected nodes without a prize of their own (reports).
        missing: pairs of terminals that the graph does not join.
        dropped: nodes that were wanted and left out, each with the reason.
        edge_costs: edge -> its cost for this question, where the selector prices edges.
        paths: row -> the score of the seed and the rows from there to the node, where the selector
            knows its path.
        connection: what joins the content, where the selector promises that it is connected. The
            page keeps the promise when it drops an entry or adds one.
        notes: for the trace.
        rewards: tail row (-1 for the root of the corpus), head row and change of strength, for
            each edge that an adaptive selector teaches; None for a selector that teaches nothing.
        grafts: tail row, head row and strength of each link that the selector made for this
            question and followed.

    Example:
        >>> chosen = Subgraph(np.array([2, 5], np.int32), required=np.array([5], np.int32))
        >>> len(chosen.edges), chosen.rewards
        (0, None)
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
    rewards: tuple[tuple[int, int, float], ...] | None = None
    grafts: tuple[tuple[int, int, float], ...] = ()
    connection: Connection | None = None


@dataclass(frozen=True, eq=False)
class Reading:
    """What is read, in order.

    Entry `i` is the node `nodes[i]`, or the fact `facts[i]` where `nodes[i]` is -1.

    Attributes:
        nodes: int32, rows of nodes, or -1.
        facts: int32, rows of facts, or -1.

    Example:
        >>> reading = Reading.of(nodes=[3, 4], facts=[7])
        >>> reading.nodes, reading.facts
        (array([-1,  3,  4], dtype=int32), array([ 7, -1, -1], dtype=int32))
    """

    nodes: Rows
    facts: Rows

    @classmethod
    def of(cls, nodes: ArrayLike = (), facts: ArrayLike = ()) -> Reading:
        """Return the reading of these facts, followed by these nodes."""
        nodes, facts = np.asarray(nodes, np.int32), np.asarray(facts, np.int32)
        if not len(facts):
            return cls(freeze(nodes, np.int32), seal(np.full(len(nodes), -1, np.int32)))
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


BoundSeed: TypeAlias = Callable[[Query], Seeds]
"""question -> seeds"""

BoundSpread: TypeAlias = Callable[[Query, Seeds, Floats], Floats | Prizes]
"""question, seeds, prizes -> prizes"""

BoundSelect: TypeAlias = Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]
"""question, seeds, prizes, candidates, budget in tokens -> subgraph"""

BoundOrder: TypeAlias = Callable[[Query, Floats, Subgraph], Reading]
"""question, prizes, subgraph -> reading"""

BoundMethod: TypeAlias = Callable[[Query, int], Context]
"""question, budget in tokens -> context"""


class PageStyle(Protocol):
    """How the entries of a page are printed; `clew.render.Render` is one."""

    def heading_line(self, graph: Graph, node: int) -> str:
        """Return the line above a run of nodes with this heading; empty for none."""
        ...

    def node_entry(self, graph: Graph, node: int, number: int) -> str:
        """Return a node as it is printed, without the line of its heading."""
        ...

    def fact_entry(self, graph: Graph, fact: int, number: int) -> str:
        """Return a fact as it is printed."""
        ...


class Relevance(Protocol):
    """How relevant each passage is to a question; `clew.relevance.QuestionRelevance` is one."""

    def of(self, rows: Rows) -> Floats:
        """Return the relevance of nodes, each in [0, 1]; NaN for what is no passage."""
        ...


class Connection(Protocol):
    """What joins the content of a page."""

    def reached(self, rows: Rows) -> Mask:
        """Return, for each of these rows, whether it is connected where no others are read."""
        ...


class Link(Protocol):
    """Which nodes are joined?  nodes -> edges, once, when the graph is built."""

    @property
    def kind(self) -> str:
        """The kind of all edges that it makes."""
        ...

    @property
    def corpus_wide(self) -> bool:
        """Whether an edge depends on more nodes than its two ends (nearest neighbours, rarity).

        Such edges are made anew when nodes are added, deleted or filtered.
        """
        ...

    def on(self, graph: Graph) -> Edges:
        """Return the edges of this graph."""
        ...


@runtime_checkable
class ChangingLink(Link, Protocol):
    """A link whose edges can be made of those of the graph before a change.

    One that makes all anew may say so by an attribute `grows`, False: an index then does that when
    something first asks for edges of its kind, or for all.
    """

    def grow(self, graph: Graph, before: Edges, n_before: int) -> Edges:
        """Return the edges of a graph to which nodes were added.

        Args:
            graph: the graph.
            before: the edges of the graph before.
            n_before: the number of its nodes, which come first.
        """
        ...

    def shrink(self, graph: Graph, left: Edges, bereft: Mask) -> Edges:
        """Return the edges of a graph from which nodes were taken.

        Args:
            graph: the graph.
            left: those of the edges before whose ends are still there.
            bereft: bool [nodes], True for a node that had an edge to one that is gone.
        """
        ...


@runtime_checkable
class ExchangingLink(ChangingLink, Protocol):
    """A link that follows a change that takes nodes and adds others in one step."""

    def exchange(self, change: NodeChange, left: Edges, bereft: Mask) -> Edges:
        """Return the edges of `change.graph`: what `grow` makes of what `shrink` returns.

        Args:
            change: the nodes before and after.
            left: those of the edges before whose ends are still there.
            bereft: bool [nodes that stay], True for a node that had an edge to one that is gone.
        """
        ...


@runtime_checkable
class DeferrableLink(Link, Protocol):
    """A link whose edges may be made when something first asks for edges of its kind, or for all.

    It makes them of the nodes and facts alone, and raises no error that a reader has to know of.
    One that finds the edges from some nodes sooner than all edges may have a method `among(graph,
    rows)` that returns those, in their order: what shows the edges of a context asks it.
    """

    @property
    def deferred(self) -> bool:
        """Whether they are."""
        ...


class Generate(Protocol):
    """Which texts can be made of the graph?  passages -> texts, once, after the graph is linked.

    A stage that asks a language model has it as its field `model`. If that is None, it works
    without one. A stage may also have `update(graph, before)`, which `Index.add` calls in the place
    of `on(graph)`, with the graph before the documents came, and its generated texts.
    """

    def on(self, graph: Graph) -> Generated:
        """Return the texts of this graph."""
        ...


class Seed(Protocol):
    """Where does the question meet the graph?  question -> seeds."""

    def on(self, graph: Graph) -> BoundSeed:
        """Return the function that answers questions about this graph."""
        ...


class Spread(Protocol):
    """What else is worth reading, given the links?  prizes -> prizes.

    The result is an array of prizes, or `Prizes` with notes for the trace.
    """

    def on(self, graph: Graph) -> BoundSpread:
        """Return the function that spreads prizes over this graph."""
        ...


class Select(Protocol):
    """Which part of the graph is worth the budget?  prizes, candidates, budget -> subgraph."""

    def on(self, graph: Graph) -> BoundSelect:
        """Return the function that selects from this graph."""
        ...


class Order(Protocol):
    """In what order should it be read?  subgraph -> reading."""

    def on(self, graph: Graph) -> BoundOrder:
        """Return the function that orders parts of this graph."""
        ...


class Method(Protocol):
    """What can be asked: question, budget -> context. A `Pipeline` is a method.

    A stage or method that asks the question's language model says so: `asks_model` is True.
    """

    def on(self, graph: Graph) -> BoundMethod:
        """Return the function that answers questions about this graph."""
        ...


@dataclass(frozen=True)
class BoundMethodPart:
    """The part that is a method bound to a graph.

    Attributes:
        method: the method; hashable.
    """

    method: Method

    def compute(self, graph: Graph) -> BoundMethod:
        return self.method.on(graph)


def may_ask_model(method: object) -> bool:
    """Return whether a method, or one of its stages, may ask the language model of a question.

    One of clew's own says so, in `asks_model`, and one that does not ask may have stages that do.
    One of the caller's own may ask, unless it says that it does not.

    Example:
        >>> from clew import recipes
        >>> may_ask_model(recipes.get("da_rag")), may_ask_model(recipes.get("dense"))
        (True, False)
    """
    is_own = type(method).__module__.partition(".")[0] in ("clew", "builtins")
    if getattr(method, "asks_model", not is_own):
        return True
    if isinstance(method, tuple):
        return any(may_ask_model(one) for one in method)
    if not (is_own and is_dataclass(method)):
        return False
    return any(may_ask_model(getattr(method, field.name)) for field in fields(method))
