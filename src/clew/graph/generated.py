"""Texts that are made of what a graph holds, and kept in it: reports, titles, descriptions."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from clew.graph.columns import EMPTY, Labels, Ragged, freeze
from clew.graph.core import Graph, Made, Part
from clew.graph.edges import Edges


@dataclass(frozen=True, eq=False)
class Generated:
    """New texts, each with what it was made of.

    `ids`, `kinds` ("report", "description", ...) and `texts` are of equal length m. `read_from` are, for each, the rows of the passages
    it was made of, at least one: it goes with the first of them. `metadata` is what a reader may want to know of it, such as a level and a
    size. `edges` may join them to each other and to the graph: the i-th new text is the row n + i. `failed` are texts that could not be
    made, by what they were to be made of, with the reason.
    """

    ids: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    read_from: Sequence[Sequence[int]] = ()
    metadata: tuple[Mapping[str, Any], ...] = ()
    edges: Edges = field(default_factory=Edges)
    failed: tuple[tuple[str, str], ...] = ()

    def __len__(self) -> int:
        return len(self.ids)


def add_generated(graph: Graph, written: Generated) -> Graph:
    """Return the graph with the new texts after its own nodes, without vectors.

    Raises:
        ValueError: columns of different lengths, an id that is taken, a text that was made of nothing.
    """
    vectors = freeze(
        np.concatenate([graph.vectors, np.zeros((len(written), graph.vectors.shape[1]))]),
        np.float32,
    )
    return replace(graph, vectors=vectors, **_columns(graph, written))


@dataclass(frozen=True, eq=False, repr=False)
class Overlay(Graph):
    """A graph with new texts behind its own nodes, for one question: made in little time, and not checked again.

    Its `vectors` are those of the base alone. A part with `grown(graph, base, before)` is made of what it was for the base.
    """

    base: Graph = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_parts", {})
        object.__setattr__(self, "_lock", threading.RLock())

    def part(self, part: Part[Made]) -> Made:
        """Return what `part.compute(self)` gives, computed once, from the base's where that can be."""
        grown = getattr(part, "grown", None)
        made: Made = super().part(part if grown is None else _Grown(part))
        return made


@dataclass(frozen=True)
class _Grown:
    """A part of an overlay, made of its base's."""

    part: Any

    def compute(self, graph: Graph) -> Any:
        base = graph.base  # type: ignore[attr-defined]  # an overlay
        return self.part.grown(graph, base, base.part(self.part))


def overlaid(graph: Graph, written: Generated) -> Overlay:
    """Return the graph with the new texts after its own nodes, for one question: see `Overlay`.

    Raises:
        ValueError: as in `extended`; an edge that joins none of the new texts.
    """
    if (
        len(written.edges)
        and (np.maximum(written.edges.tails, written.edges.heads) < len(graph)).any()
    ):
        raise ValueError("an edge of an overlay has one of its new texts at an end")
    return Overlay(
        **({f.name: getattr(graph, f.name) for f in fields(Graph)} | _columns(graph, written)),
        base=graph,
    )


def _columns(graph: Graph, written: Generated) -> dict[str, Any]:
    """The columns of the graph with the new texts, but for the vectors."""
    m, nowhere = len(written), np.full(len(written), -1)
    metadata = written.metadata or (EMPTY,) * m
    lengths = {
        len(column) for column in (written.kinds, written.texts, written.read_from, metadata)
    }
    if lengths - {m}:
        raise ValueError(
            f"{m} ids came for {sorted(lengths)} kinds, texts, sources or metadata: wanted as many of each"
        )
    if empty := [
        id for id, rows in zip(written.ids, written.read_from, strict=True) if not len(rows)
    ]:
        raise ValueError(f"a text is made of at least one passage; {empty[0]!r} names none")
    added = Ragged.of([[int(row) for row in rows] for rows in written.read_from])
    return {
        "ids": graph.ids + written.ids,
        "kinds": Labels.join([graph.kinds, Labels.of(written.kinds)]),
        "texts": graph.texts + written.texts,
        "tokens": freeze(
            np.concatenate([graph.tokens, [graph.count(f"- {text}\n") for text in written.texts]]),
            np.int32,
        ),
        "documents": freeze(np.concatenate([graph.documents, nowhere]), np.int32),
        "parents": freeze(np.concatenate([graph.parents, nowhere]), np.int32),
        "previous": freeze(np.concatenate([graph.previous, nowhere]), np.int32),
        "spans": freeze(
            np.concatenate(
                [graph.spans, [(0, len(text)) for text in written.texts] or np.zeros((0, 2))]
            ),
            np.int32,
        ),
        "references": graph.references + ((),) * m,
        "read_from": Ragged.join([graph.read_from, added]),
        "generated": freeze(np.concatenate([graph.generated, np.ones(m)]), np.bool_),
        "metadata": graph.metadata + tuple(metadata),
        "originals": graph.originals + (None,) * m,
        "edges": Edges.join([graph.edges, written.edges]) if len(written.edges) else graph.edges,
    }
