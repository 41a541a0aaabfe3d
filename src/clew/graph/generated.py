"""Texts that are made of what a graph holds, and kept in it: reports, titles, descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clew.graph.columns import EMPTY, Labels, Ragged, freeze
from clew.graph.edges import Edges

if TYPE_CHECKING:
    from clew.graph.core import Graph


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
    return replace(
        graph,
        ids=graph.ids + written.ids,
        kinds=Labels.join([graph.kinds, Labels.of(written.kinds)]),
        texts=graph.texts + written.texts,
        vectors=freeze(
            np.concatenate([graph.vectors, np.zeros((m, graph.vectors.shape[1]))]), np.float32
        ),
        tokens=freeze(
            np.concatenate([graph.tokens, [graph.count(f"- {text}\n") for text in written.texts]]),
            np.int32,
        ),
        documents=freeze(np.concatenate([graph.documents, nowhere]), np.int32),
        parents=freeze(np.concatenate([graph.parents, nowhere]), np.int32),
        previous=freeze(np.concatenate([graph.previous, nowhere]), np.int32),
        spans=freeze(
            np.concatenate(
                [graph.spans, [(0, len(text)) for text in written.texts] or np.zeros((0, 2))]
            ),
            np.int32,
        ),
        references=graph.references + ((),) * m,
        read_from=Ragged.join([graph.read_from, added]),
        generated=freeze(np.concatenate([graph.generated, np.ones(m)]), np.bool_),
        metadata=graph.metadata + tuple(metadata),
        originals=graph.originals + (None,) * m,
        edges=Edges.join([graph.edges, written.edges]) if len(written.edges) else graph.edges,
    )
