"""The columns of a graph, and nothing else: what checks, filters and converts them stands above."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from clew.graph.columns import EMPTY, Labels, Mask, Ragged, Rows, freeze, seal
from clew.graph.edges import Edges, Facts
from clew.graph.vector_column import AnyVectors
from clew.text.estimate import estimate_tokens
from clew.text.tokens import count_listed

# Nodes that a path passes through freely. They are never read as content of their own.
CONNECTORS = ("entity", "document", "section", "community")

GraphT = TypeVar("GraphT", bound="GraphColumns")


class OptionalColumns(TypedDict, total=False):
    """The columns that `Graph.of` has a default for; see `Graph` for what they mean."""

    tokens: ArrayLike | None
    documents: ArrayLike
    parents: ArrayLike
    previous: ArrayLike
    spans: ArrayLike | None
    references: tuple[tuple[str, ...], ...]
    read_from: Ragged
    generated: ArrayLike
    metadata: tuple[Mapping[str, Any], ...]
    originals: tuple[Any, ...]
    facts: Facts
    edges: Edges
    canonical: Callable[[str], str] | None


@dataclass(frozen=True, eq=False, repr=False)
class GraphColumns:
    """Nodes, facts and edges, in columns: row `i` of every column of nodes is node `i`.

    `clew.graph.Graph` is these columns with what can be asked of them.

    Attributes:
        ids: unique names.
        kinds: "passage", "sentence", "section", "document", "entity", ...
        texts: what is read; the heading of a container, the name of an entity.
        vectors: float32 [n, d], unit rows; a row of zeros means "no vector". An array, or a
            `VectorColumn` where the graph has grown, which `np.asarray` makes an array of.
        tokens: int32 [n], the cost of the node as it is rendered, by `count`.
        documents: int32 [n], the row of the owning document, -1 for an entity. A passage that is a
            whole document owns itself.
        parents: int32 [n], the row of the container, or -1.
        previous: int32 [n], the row of the node before this one in reading order, or -1.
        spans: int32 [n, 2], start and end of the text in its document.
        references: the link targets that are written in the node's text, and the names that
            links lead to it by (`link_targets`).
        read_from: the passages that an entity or a generated text comes from.
        generated: bool [n], True for a text that clew or a model made of others. It is removed with
            the first of its sources; anything else is removed with its last source.
        metadata: the caller's own, never changed.
        originals: the caller's own objects, never changed.
        facts: the facts that were read in the passages.
        edges: the edges between nodes.
        count: the tokenizer, text -> number of tokens.
        canonical: text -> the text that is searched in place of the one that is read; None for the
            text itself.
    """

    ids: tuple[str, ...]
    kinds: Labels
    texts: tuple[str, ...]
    vectors: AnyVectors
    tokens: Rows
    documents: Rows
    parents: Rows
    previous: Rows
    spans: Rows
    references: tuple[tuple[str, ...], ...]
    read_from: Ragged
    generated: Mask
    metadata: tuple[Mapping[str, Any], ...]
    originals: tuple[Any, ...]
    facts: Facts = field(default_factory=Facts)
    edges: Edges = field(default_factory=Edges)
    count: Callable[[str], int] = estimate_tokens
    canonical: Callable[[str], str] | None = None

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        kinds: Sequence[str] | str = "passage",
        vectors: ArrayLike | None = None,
        count: Callable[[str], int] = estimate_tokens,
        **columns: Unpack[OptionalColumns],
    ) -> Self:
        """Return a graph of these nodes.

        Args:
            texts: the texts of the nodes.
            ids: their names; None numbers them from "0".
            kinds: their kinds, or one kind for all.
            vectors: float [n, d], unit rows or zeros; None for no vectors.
            count: the tokenizer, text -> number of tokens.
            **columns: the other columns, by name. A missing one gets its plain default: no parent,
                the whole text as span, every node but an entity its own document, no facts, no
                edges.

        Raises:
            TypeError: there is no column of such a name.
            ValueError: the columns do not fit together.

        Example:
            >>> from clew.graph import Graph
            >>> Graph.of(["Anna met Ben.", "Anna"], kinds=["passage", "entity"])
            Graph(1 entity, 1 passage; 0 facts, 0 edges)
        """
        known = OptionalColumns.__annotations__
        if unknown := sorted(columns.keys() - known.keys()):
            raise TypeError(f"a graph has no {', '.join(unknown)}; it has {', '.join(known)}")
        n = len(texts)
        labels = Labels.alike(kinds, n) if isinstance(kinds, str) else Labels.of(kinds)
        tokens, spans = columns.get("tokens"), columns.get("spans")
        if tokens is None:
            tokens = count_listed(texts, count)
        if spans is None:
            spans = np.zeros((n, 2), np.int32)
            spans[:, 1] = np.fromiter(map(len, texts), np.int32, n)
        own_documents = np.where(labels.mask("entity"), -1, np.arange(n, dtype=np.int32))
        none = seal(np.full(n, -1, np.int32))
        return cls(
            ids=tuple(str(i) for i in range(n)) if ids is None else tuple(ids),
            kinds=labels,
            texts=tuple(texts),
            vectors=freeze(np.zeros((n, 0)) if vectors is None else vectors, np.float32),
            tokens=freeze(tokens, np.int32),
            documents=freeze(columns.get("documents", own_documents), np.int32),
            parents=freeze(columns.get("parents", none), np.int32),
            previous=freeze(columns.get("previous", none), np.int32),
            spans=freeze(spans, np.int32) if n else freeze([], np.int32, (0, 2)),
            references=columns.get("references", ((),) * n),
            read_from=columns.get("read_from", Ragged.empty(n)),
            generated=freeze(columns.get("generated", np.zeros(n, np.bool_)), np.bool_),
            metadata=columns.get("metadata", (EMPTY,) * n),
            originals=columns.get("originals", (None,) * n),
            facts=columns.get("facts", Facts()),
            edges=columns.get("edges", Edges()),
            count=count,
            canonical=columns.get("canonical"),
        )

    def __post_init__(self) -> None:
        """Do nothing: a class above checks its columns here."""

    def __len__(self) -> int:
        return len(self.ids)
