"""The graph that every method reads: columns of nodes, facts and edges, none of which ever changes.

A change (a filter, an addition, a deletion) makes the next graph. What a stage needs once per graph (an inverted index, an adjacency)
is a *part*: a frozen, hashable value with `compute(graph)`, computed at its first use and kept here. It is the only cache in the library.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from clew.graph.adjacency import Adjacency, Links
from clew.graph.columns import EMPTY, Labels, Mask, Ragged, Rows, Vectors, freeze
from clew.graph.edges import Edges, Facts
from clew.text.tokens import estimate_tokens

CONNECTORS = (
    "entity",
    "document",
    "section",
    "community",
)  # passed through freely, never read as content of their own

Made = TypeVar("Made", covariant=True)


class Part(Protocol[Made]):
    """Something computed once per graph."""

    def compute(self, graph: Graph) -> Made: ...


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes, facts and edges, in columns; immutable.

    Attributes (n nodes, row `i` of each column is node `i`):
        ids: unique names. kinds: "passage", "sentence", "section", "document", "entity", ... texts: what is read; a heading for a
            container, a name for an entity. vectors: float32 [n, d], unit rows; a row of zeros means "no vector".
        tokens: int32 [n], what the node costs as it is rendered, by `count`.
        documents: row of the owning document (a passage that is a whole document owns itself), -1 for an entity.
        parents, previous: row of the container, and of the node before it in reading order, or -1, as the documents have it.
        spans: int32 [n, 2], start and end of the text in its document.
        references: per node, the link targets written in it. read_from: per node, the passages an entity or a made text comes from.
        made: True for a text that clew or a model made out of others (it goes with the first of them; all else goes with its last).
        metadata, originals: the caller's own, untouched.
        facts, edges: see there. count: the tokenizer, text -> number of tokens.
        canonical: text -> the text by which it is found, in the place of the one that is read; None leaves texts as they are.
    """

    ids: tuple[str, ...]
    kinds: Labels
    texts: tuple[str, ...]
    vectors: Vectors
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
        vectors: Any = None,
        count: Callable[[str], int] = estimate_tokens,
        **columns: Any,
    ) -> Graph:
        """Return a graph of these nodes; a column that is not given gets its plain default (no parent, no span, own document)."""
        n = len(texts)
        labels = Labels.of([kinds] * n if isinstance(kinds, str) else kinds)
        spans, tokens = columns.pop("spans", None), columns.pop("tokens", None)
        lengths = [(0, len(text)) for text in texts]
        nowhere = np.full(n, -1)
        return cls(
            ids=tuple(str(i) for i in range(n)) if ids is None else tuple(ids),
            kinds=labels,
            texts=tuple(texts),
            vectors=freeze(np.zeros((n, 0)) if vectors is None else vectors, np.float32),
            tokens=freeze(
                [count(f"- {text}\n") for text in texts] if tokens is None else tokens, np.int32
            ),
            documents=freeze(
                columns.pop("documents", np.where(labels.mask("entity"), -1, np.arange(n))),
                np.int32,
            ),
            parents=freeze(columns.pop("parents", nowhere), np.int32),
            previous=freeze(columns.pop("previous", nowhere), np.int32),
            spans=freeze(lengths if spans is None else spans, np.int32)
            if n
            else freeze([], np.int32, (0, 2)),
            references=columns.pop("references", ((),) * n),
            read_from=columns.pop("read_from", Ragged.empty(n)),
            generated=freeze(columns.pop("generated", np.zeros(n)), np.bool_),
            metadata=columns.pop("metadata", (EMPTY,) * n),
            originals=columns.pop("originals", (None,) * n),
            count=count,
            **columns,
        )

    def __post_init__(self) -> None:
        from clew.graph.validate import validate

        object.__setattr__(self, "_parts", {})
        object.__setattr__(self, "_lock", threading.RLock())
        validate(self)

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in self.__dict__.items() if name not in ("_parts", "_lock")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _parts={}, _lock=threading.RLock())

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{int(self.kinds.mask(k).sum()):,} {k}" for k in self.kinds.names)
        return f"Graph({kinds or 'empty'}; {len(self.facts):,} facts, {len(self.edges):,} edges)"

    def part(self, part: Part[Made]) -> Made:
        """Return what `part.compute(self)` gives, computed once; `part` must be hashable."""
        parts: dict[Any, Any] = self._parts  # type: ignore[attr-defined]  # set in __post_init__: not a field, not compared, not copied
        if part not in parts:
            with self._lock:  # type: ignore[attr-defined]  # as above
                if part not in parts:
                    parts[part] = part.compute(self)
        return parts[part]  # type: ignore[no-any-return]  # the dictionary is of any part

    def row(self, id: str) -> int:
        """Return the row of the node with this id."""
        rows = self.part(_RowOfId())
        if id not in rows:
            raise KeyError(f"no node with id {id!r} among the {len(self):,} of this graph")
        return rows[id]

    def rows(self, *kinds: str) -> Rows:
        """Return the rows of the nodes of these kinds."""
        return np.flatnonzero(self.kinds.mask(*kinds)).astype(np.int32)

    @property
    def content(self) -> Mask:
        """True for the documents' own content, False for connectors (entities, documents, sections, communities) and for made texts."""
        return self.part(_Content())

    def links(
        self,
        kinds: Sequence[str | tuple[str, float]] | None = None,
        *,
        directed: bool = False,
        merge: str = "max",
    ) -> Links:
        """Return the adjacency over the chosen kinds of edge, in compressed rows, computed once.

        Args:
            kinds: the kinds of edge, or pairs of a kind and the factor its weights are multiplied by; None for all kinds.
            directed: follow edges from tail to head only.
            merge: what parallel edges become, "max" (the strongest) or "sum".
        """
        return self.part(Adjacency(None if kinds is None else tuple(kinds), directed, merge))

    def with_edges(self, edges: Edges) -> Graph:
        """Return this graph with `edges` in the place of its own."""
        return replace(self, edges=edges)

    def filtered(self, allowed: Any) -> Graph:
        """Return the graph without the forbidden nodes, and without everything that was read only from them.

        Args:
            allowed: bool [n]; what is False is forbidden. Entities and facts go with the last passage they were read from, a made
                text with the first, a container with the last of its contents, an edge with either end.
        """
        from clew.graph.filtering import filtered_graph

        return filtered_graph(self, np.asarray(allowed, np.bool_))

    @classmethod
    def from_triples(
        cls,
        triples: Sequence[tuple[str, str, str]],
        *,
        embed: Callable[[list[str]], Any] | None = None,
    ) -> Graph:
        """Return the graph of facts (subject, relation, object) alone, one entity node per name."""
        from clew.graph.interchange import from_triples

        return from_triples(triples, embed)

    @classmethod
    def from_networkx(cls, network: Any, *, count: Callable[[str], int] = estimate_tokens) -> Graph:
        """Return the graph of a networkx graph.

        Node attributes that are read: `kind` (default "passage"), `text` (default the name), `vector`; the rest becomes metadata. Edge
        attributes: `kind`, `weight` in (0, 1], `relation` or `fact` (a text), which make the edge state a fact.
        """
        from clew.graph.interchange import from_networkx

        return from_networkx(network, count)

    @classmethod
    def from_rustworkx(
        cls, network: Any, *, count: Callable[[str], int] = estimate_tokens
    ) -> Graph:
        """Return the graph of a rustworkx graph, directed or not; payloads are dictionaries as for networkx, or names and weights."""
        from clew.graph.interchange import from_rustworkx

        return from_rustworkx(network, count)

    def to_networkx(self) -> Any:
        """Return a `networkx.MultiDiGraph` with every column as an attribute."""
        from clew.graph.interchange import to_networkx

        return to_networkx(self)

    def to_rustworkx(self) -> Any:
        """Return a `rustworkx.PyDiGraph` whose node index is the row and whose payloads are dictionaries."""
        from clew.graph.interchange import to_rustworkx

        return to_rustworkx(self)


@dataclass(frozen=True)
class _Content:
    def compute(self, graph: Graph) -> Mask:
        return freeze(~graph.kinds.mask(*CONNECTORS) & ~graph.generated, np.bool_)

    def grown(self, graph: Graph, base: Graph, before: Mask) -> Mask:
        return freeze(
            np.append(before, np.zeros(len(graph) - len(base), np.bool_)), np.bool_
        )  # what is new was made


@dataclass(frozen=True)
class _RowOfId:
    def compute(self, graph: Graph) -> dict[str, int]:
        return {id: row for row, id in enumerate(graph.ids)}
