"""Texts that are generated from a graph and added to it: reports, titles, descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from clew.graph.columns import EMPTY, Labels, Ragged, freeze
from clew.graph.core import GraphColumns
from clew.graph.edges import Edges
from clew.graph.graph import Graph, Part
from clew.graph.part_cache import PartCache
from clew.graph.vector_column import with_rows
from clew.usage import NO_USAGE, Usage

Result = TypeVar("Result", covariant=True)
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Generated:
    """New texts for a graph, each with its sources.

    Attributes:
        ids: the ids of the m new nodes.
        kinds: their kinds: "report", "description", ...
        texts: their texts.
        read_from: for each, the rows of the passages it is made of, at least one. A new text is
            removed with the first of them.
        metadata: for each, what a reader may want to know, such as a level and a size; () for
            nothing.
        edges: edges between the new texts, and between them and the graph. New text `i` is row
            `n + i`, where the graph has `n` nodes.
        failed: texts that could not be generated: what they were to be made of, and the reason.
        usage: the calls and tokens of language models.

    Example:
        >>> report = Generated(("r0",), ("report",), ("Anna knows Ben.",), [[0]])
        >>> len(report)
        1
    """

    ids: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    read_from: Sequence[Sequence[int]] = ()
    metadata: tuple[Mapping[str, Any], ...] = ()
    edges: Edges = field(default_factory=Edges)
    failed: tuple[tuple[str, str], ...] = ()
    usage: Usage = NO_USAGE

    def __len__(self) -> int:
        return len(self.ids)


@runtime_checkable
class ExtendablePart(Protocol[Value]):
    """A part whose result for an overlay can be computed from its result for the base."""

    def compute(self, graph: Graph) -> Value:
        """Return the part's result for this graph."""
        ...

    def extend(self, graph: Graph, base: Graph, before: Value) -> Value:
        """Return what `compute(graph)` returns.

        Args:
            graph: an overlay.
            base: the graph that it adds to.
            before: what `compute(base)` returns.
        """
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Overlay(Graph):
    """A graph with new texts after its own nodes, for one question: fast to build, not validated.

    Its `vectors` are those of the base alone. An `ExtendablePart` starts from its result for the
    base, any other part is computed anew.

    Attributes:
        base: the graph without the new texts.
    """

    base: Graph = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_parts", PartCache())

    def compute_part(self, part: Part[Result]) -> Result:
        """Return `part.compute(self)`, from the base's result where that can be."""
        if not isinstance(part, ExtendablePart):
            return super().compute_part(part)
        own, base = self.for_parts, self.base
        extended: Result = part.extend(own, base.for_parts, base.part(part))
        return extended


def add_generated(graph: Graph, generated: Generated) -> Graph:
    """Return the graph with the new texts after its own nodes, without vectors.

    Raises:
        ValueError: the columns have different lengths, an id is taken, or a text has no sources.

    Example:
        >>> graph = Graph.of(["Anna knows Ben."])
        >>> report = Generated(("r0",), ("report",), ("About Anna.",), [[0]])
        >>> add_generated(graph, report).texts
        ('Anna knows Ben.', 'About Anna.')
    """
    no_vectors = np.zeros((len(generated), graph.vectors.shape[1]), np.float32)
    vectors = with_rows(graph.vectors, no_vectors)
    return replace(graph, vectors=vectors, **_extended_columns(graph, generated))


def overlay_generated(graph: Graph, generated: Generated) -> Overlay:
    """Return the graph with the new texts after its own nodes, for one question: see `Overlay`.

    Raises:
        ValueError: the columns have different lengths, a text has no sources, or an edge joins two
            old nodes.

    Example:
        >>> graph = Graph.of(["Anna knows Ben."])
        >>> report = Generated(("r0",), ("report",), ("About Anna.",), [[0]])
        >>> overlay_generated(graph, report).content
        array([ True, False])
    """
    upper_ends = np.maximum(generated.edges.tails, generated.edges.heads)
    if (upper_ends < len(graph)).any():
        raise ValueError("an edge of an overlay has one of its new texts at an end")
    columns = {column.name: getattr(graph, column.name) for column in fields(GraphColumns)}
    return Overlay(**(columns | _extended_columns(graph, generated)), base=graph)


def _extended_columns(graph: Graph, generated: Generated) -> dict[str, Any]:
    """The columns of the graph with the new texts, except the vectors."""
    m = len(generated)
    metadata = generated.metadata or (EMPTY,) * m
    _check(generated, metadata)
    none = np.full(m, -1)
    tokens = [graph.count(f"- {text}\n") for text in generated.texts]
    spans: ArrayLike = [(0, len(text)) for text in generated.texts] or np.zeros((0, 2))
    read_from = Ragged.of([[int(row) for row in rows] for rows in generated.read_from])
    added_edges = len(generated.edges) > 0
    return {
        "ids": graph.ids + generated.ids,
        "kinds": Labels.join([graph.kinds, Labels.of(generated.kinds)]),
        "texts": graph.texts + generated.texts,
        "tokens": freeze(np.concatenate([graph.tokens, tokens]), np.int32),
        "documents": freeze(np.concatenate([graph.documents, none]), np.int32),
        "parents": freeze(np.concatenate([graph.parents, none]), np.int32),
        "previous": freeze(np.concatenate([graph.previous, none]), np.int32),
        "spans": freeze(np.concatenate([graph.spans, spans]), np.int32),
        "references": graph.references + ((),) * m,
        "read_from": Ragged.join([graph.read_from, read_from]),
        "generated": freeze(np.concatenate([graph.generated, np.ones(m)]), np.bool_),
        "metadata": graph.metadata + tuple(metadata),
        "originals": graph.originals + (None,) * m,
        "edges": Edges.join([graph.edges, generated.edges]) if added_edges else graph.edges,
    }


def _check(generated: Generated, metadata: Sequence[Mapping[str, Any]]) -> None:
    columns = (generated.kinds, generated.texts, generated.read_from, metadata)
    lengths = {len(column) for column in columns}
    if lengths - {len(generated)}:
        raise ValueError(
            f"{len(generated)} ids came for {sorted(lengths)} kinds, texts, sources or metadata: "
            "wanted as many of each"
        )
    for id, rows in zip(generated.ids, generated.read_from, strict=True):
        if not len(rows):
            raise ValueError(f"a text is made of at least one passage; {id!r} names none")
