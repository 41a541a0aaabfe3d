"""The graph that every method reads. It is immutable: a change makes the next graph.

What a stage needs once per graph (an inverted index, an adjacency) is a *part*: a frozen, hashable
value with `compute(graph)`. `Graph.part` computes it at its first use and keeps the result. That is
the only cache of a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from clew.graph import interchange
from clew.graph.adjacency import Adjacency, Links
from clew.graph.columns import Mask, Rows, freeze, seal
from clew.graph.core import CONNECTORS, GraphColumns
from clew.graph.edges import Edges
from clew.graph.filtering import columns_left
from clew.graph.part_cache import TEXT_COLUMNS, BorrowedParts, MeasuredColumns, PartCache
from clew.graph.sizes import SizeEstimate
from clew.graph.validate import validate, validate_edges
from clew.graph.vector_column import AnyVectors, take_vectors
from clew.text.estimate import estimate_tokens

if TYPE_CHECKING:
    import networkx
    import rustworkx

Result = TypeVar("Result", covariant=True)

NO_COLUMNS = frozenset(("_parts", "_for_parts", "_compute"))
"""What a graph holds beside its columns."""


class Part(Protocol[Result]):
    """What is computed once per graph. A part is hashable, and equal parts have equal results.

    One with a class variable `of_texts` that is True goes by `TEXT_COLUMNS` alone. Graphs that have
    these in common, and other edges or vectors, share its result.
    """

    def compute(self, graph: Graph) -> Result:
        """Return the part's result for this graph."""
        ...


class Graph(GraphColumns):
    """Nodes, facts and edges, in columns; immutable. See `GraphColumns` for the columns.

    Example:
        >>> graph = Graph.of(["one", "two"], edges=Edges.of("next", [0], [1]))
        >>> graph
        Graph(2 passage; 0 facts, 1 edges)
        >>> graph.links().neighbours(0)
        array([1], dtype=int32)
        >>> graph.filtered([True, False]).texts
        ('one',)
    """

    _parts: PartCache | BorrowedParts  # no column: it is not compared, replaced or saved

    def __post_init__(self) -> None:
        object.__setattr__(self, "_parts", PartCache())
        validate(self)

    def __getstate__(self) -> dict[str, Any]:
        own = self.__dict__.copy()  # at once: another thread may find out what is no column
        columns = {name: value for name, value in own.items() if name not in NO_COLUMNS}
        return {**columns, "_parts": PartCache()}

    def __repr__(self) -> str:
        kinds = ", ".join(f"{int(self.kinds.mask(k).sum()):,} {k}" for k in self.kinds.names)
        return f"Graph({kinds or 'empty'}; {len(self.facts):,} facts, {len(self.edges):,} edges)"

    @property
    def own_bytes(self) -> int:
        """The estimated bytes of the columns, without the caller's own objects and metadata."""
        return self.measured_columns.own_bytes

    @property
    def kept_bytes(self) -> int:
        """The estimated bytes of the columns, and of the results of parts that are kept."""
        columns = self.measured_columns
        return columns.own_bytes + self._parts.kept_bytes(self, columns)

    @property
    def measured_columns(self) -> MeasuredColumns:
        """What the columns keep, without the caller's own objects and metadata."""
        estimate = SizeEstimate()
        others = {"metadata", "originals", "count", "canonical", *NO_COLUMNS}
        own = self.__dict__.copy()  # at once: another thread may find out what is no column
        columns = [value for name, value in own.items() if name not in others]
        return MeasuredColumns(sum(map(estimate.bytes_of, columns)), estimate.found)

    @property
    def value_ids(self) -> set[int]:
        """The ids of the columns, the caller's own objects and metadata among them."""
        return set(map(id, self.__dict__.copy().values()))

    @property
    def for_parts(self) -> Graph:
        """This graph as its parts are computed of it: the same columns and results of parts.

        A result may hold it, and most do. The graph, which keeps the result, is not kept by that:
        it goes with the last that uses it, and not when the collector next looks at everything.
        """
        own: Graph | None = self.__dict__.get("_for_parts")
        if isinstance(self._parts, BorrowedParts):  # it is that itself
            return self
        if own is None:
            own = object.__new__(type(self))
            own.__dict__.update(self.__dict__, _parts=BorrowedParts(self._parts))
            self.__dict__["_for_parts"] = own
        return own

    def is_of(self, value: object) -> bool:
        """Return whether a value is this graph, or what its parts are computed of."""
        return value is self or value is self.__dict__.get("_for_parts")

    def part(self, part: Part[Result]) -> Result:
        """Return `part.compute(self)`, computed once per graph; `part` must be hashable."""
        result: Result = self._parts.result(part, self)
        return result

    def known_part(self, part: Part[Result]) -> Result | None:
        """Return the result of a part where it is computed already; None where it is not."""
        known: Result | None = self._parts.known(part)
        return known

    def set_part(self, part: Part[Result], result: object) -> None:
        """Store the result of a part that was computed before, such as one saved with the graph.

        Args:
            part: the part.
            result: what `part.compute(self)` returns.
        """
        self._parts.put(part, result)

    def compute_part(self, part: Part[Result]) -> Result:
        """Return `part.compute(self)`, computed anew; see `part`."""
        own = self.for_parts
        compute = own.__dict__.get("_compute")
        result: Result = part.compute(own) if compute is None else compute(part)
        return result

    @contextmanager
    def computing_by(self, compute: Callable[[Any], Any]) -> Iterator[None]:
        """Compute parts by another function than their own, for as long as the context lasts.

        Args:
            compute: part -> what `part.compute(self)` returns.
        """
        own = self.for_parts.__dict__
        own["_compute"] = compute
        try:
            yield
        finally:
            del own["_compute"]

    def kept_parts(self) -> list[tuple[Any, Any]]:
        """Return the parts whose results are kept, each with its result."""
        return self._parts.items()

    def has(self, id: str) -> bool:
        """Return whether a node has this id."""
        return id in self.part(_RowOfIdPart())

    def find_row(self, id: str) -> int | None:
        """Return the row of the node with this id; None where no node has it.

        Example:
            >>> graph = Graph.of(["Anna", "Ben"], ids=["a", "b"])
            >>> graph.find_row("b"), graph.find_row("c")
            (1, None)
        """
        return self.part(_RowOfIdPart()).get(id)

    def row(self, id: str) -> int:
        """Return the row of the node with this id.

        Raises:
            KeyError: no node has this id.
        """
        row = self.find_row(id)
        if row is None:
            raise KeyError(f"no node with id {id!r} among the {len(self):,} of this graph")
        return row

    def rows(self, *kinds: str) -> Rows:
        """Return the rows of the nodes of these kinds."""
        return np.flatnonzero(self.kinds.mask(*kinds)).astype(np.int32)

    def vectors_of(self, *kinds: str) -> AnyVectors:
        """Return the vectors of the nodes of these kinds, by `rows(*kinds)`; one copy for all."""
        return self.part(_VectorsPart(kinds))

    @property
    def content(self) -> Mask:
        """True for the documents' own content; False for connectors and generated texts."""
        return self.part(_ContentPart())

    def links(
        self,
        kinds: Sequence[str | tuple[str, float]] | None = None,
        *,
        directed: bool = False,
        merge: str = "max",
    ) -> Links:
        """Return the adjacency over the chosen kinds of edge, in compressed rows, computed once.

        Args:
            kinds: the kinds of edge, or pairs of a kind and a factor for its weights; None for all
                kinds.
            directed: follow edges from tail to head only.
            merge: the weight of parallel edges: "max" for the strongest, "sum" for their sum.
        """
        return self.part(Adjacency(None if kinds is None else tuple(kinds), directed, merge))

    def with_edges(self, edges: Edges) -> Graph:
        """Return this graph with `edges` in place of its own."""
        graph = self.unchecked(edges=edges)
        validate_edges(graph)
        return graph

    def unchecked(self, **columns: object) -> Graph:
        """Return this graph with other columns, which are known to fit together.

        Args:
            **columns: the columns, by name.
        """
        graph = object.__new__(type(self))
        graph.__dict__.update(self.__dict__, **columns)
        graph.__dict__.pop("_compute", None)
        graph.__dict__.pop("_for_parts", None)
        of_texts = self._parts.of_texts if TEXT_COLUMNS.isdisjoint(columns) else None
        object.__setattr__(graph, "_parts", PartCache(of_texts))
        return graph

    def filtered(self, allowed: ArrayLike) -> Graph:
        """Return the graph without the forbidden nodes and without what was read only from them.

        Entities and facts are removed with the last passage they were read from, a generated text
        with the first, a container with the last of its contents, an edge with either end.

        Args:
            allowed: bool [n], False for a forbidden node.
        """
        columns = columns_left(self, np.asarray(allowed, np.bool_))
        return self.unchecked(**columns) if columns else self

    @classmethod
    def from_triples(
        cls,
        triples: Sequence[tuple[str, str, str]],
        *,
        embed: Callable[[list[str]], ArrayLike] | None = None,
    ) -> Graph:
        """Return the graph of facts alone, with one entity node per name.

        Args:
            triples: subject, relation and object of each fact.
            embed: texts -> unit rows, for the names and the facts; None for no vectors.

        Example:
            >>> Graph.from_triples([("Anna", "knows", "Ben")])
            Graph(2 entity; 1 facts, 1 edges)
        """
        return interchange.from_triples(cls, triples, embed)

    @classmethod
    def from_networkx(
        cls, network: networkx.Graph[Any], *, count: Callable[[str], int] = estimate_tokens
    ) -> Graph:
        """Return the graph of a networkx graph.

        Node attributes: `kind` (default "passage"), `text` (default the name) and `vector`. The
        others become metadata. Edge attributes: `kind`, `weight` in (0, 1], and `relation` or
        `fact` (a text). An edge with either of the last two states a fact. None, and NaN in the
        place of a text, count as missing.

        Args:
            network: the graph, directed or not; parallel edges are kept.
            count: the tokenizer, text -> number of tokens.

        Raises:
            ValueError: two nodes have one name as text, or a vector or weight is of another form.
        """
        return interchange.from_networkx(cls, network, count)

    @classmethod
    def from_rustworkx(
        cls,
        network: rustworkx.PyGraph[Any, Any] | rustworkx.PyDiGraph[Any, Any],
        *,
        count: Callable[[str], int] = estimate_tokens,
    ) -> Graph:
        """Return the graph of a rustworkx graph.

        Args:
            network: the graph, directed or not. A payload is a dictionary of the attributes that
                `from_networkx` reads (a node's may have an `id`), or else a node's name and an
                edge's weight.
            count: the tokenizer, text -> number of tokens.
        """
        return interchange.from_rustworkx(cls, network, count)

    def to_networkx(self) -> networkx.MultiDiGraph[Any]:
        """Return a `networkx.MultiDiGraph` with nodes named by id; see `from_networkx`.

        Node attributes are `kind`, `text`, `tokens`, `vector` (where there is one) and the
        metadata. Edge attributes are `kind`, `weight` and, where the edge states a fact, its
        `relation` and, as `fact`, its text.
        """
        return interchange.to_networkx(self)

    def to_rustworkx(self) -> rustworkx.PyDiGraph[Any, Any]:
        """Return a `rustworkx.PyDiGraph` whose node index is the row; payloads are dictionaries."""
        return interchange.to_rustworkx(self)


@dataclass(frozen=True)
class _VectorsPart:
    """The part behind `Graph.vectors_of`."""

    kinds: tuple[str, ...]

    def compute(self, graph: Graph) -> AnyVectors:
        return take_vectors(graph.vectors, graph.rows(*self.kinds))


@dataclass(frozen=True)
class _ContentPart:
    """The part behind `Graph.content`."""

    def compute(self, graph: Graph) -> Mask:
        return freeze(~graph.kinds.mask(*CONNECTORS) & ~graph.generated, np.bool_)

    def extend(self, graph: Graph, base: Graph, before: Mask) -> Mask:
        generated = np.zeros(len(graph) - len(base), np.bool_)  # every new node is generated
        return freeze(np.append(before, generated), np.bool_)


@runtime_checkable
class SearchableTexts(Protocol):
    """Texts, such as ids, that are found without a table of them all."""

    def places(self) -> Callable[[str], int | None]:
        """Return the function from a text to its place; None for one that is not there."""
        ...


@dataclass(frozen=True, eq=False)
class _RowOfId:
    """The row of each id: of the first ids by a function, of those that came later by a table.

    Attributes:
        first: from an id to the row that it had at first.
        later: the rows of the ids that came later.
        numbers: where each of the first rows is now, or -1; None where all are where they were.
    """

    first: Callable[[str], int | None]
    later: Mapping[str, int]
    numbers: Rows | None = None

    def get(self, id: str) -> int | None:
        row = self.later.get(id)
        if row is None:
            row = self.first(id)
            if row is not None and self.numbers is not None:
                row = int(self.numbers[row])
        return None if row is None or row < 0 else row

    def __contains__(self, id: str) -> bool:
        return self.get(id) is not None


@dataclass(frozen=True)
class _RowOfIdPart:
    """The part behind `Graph.row`."""

    def compute(self, graph: Graph) -> _RowOfId:
        ids: object = graph.ids
        if isinstance(ids, SearchableTexts):
            return _RowOfId(ids.places(), {})
        return _RowOfId({id: row for row, id in enumerate(graph.ids)}.get, {})

    def grow(self, graph: Graph, base: Graph, before: _RowOfId) -> _RowOfId:
        came = {graph.ids[row]: row for row in range(len(base), len(graph))}
        return _RowOfId(before.first, {**before.later, **came}, before.numbers)

    def shrink(self, graph: Graph, base: Graph, stays: Mask, before: _RowOfId) -> _RowOfId:
        if 2 * len(graph) < len(base):
            return self.compute(graph)  # so that the ids of a large graph are not kept for a few
        new = np.where(stays, np.cumsum(stays, dtype=np.int32) - np.int32(1), np.int32(-1))
        later = {id: int(new[row]) for id, row in before.later.items() if stays[row]}
        numbers = before.numbers
        if numbers is None:
            numbers = new[: len(base) - len(before.later)]
        else:
            numbers = np.where(numbers >= 0, new[numbers], np.int32(-1))
        return _RowOfId(before.first, later, seal(numbers))
