"""The text of a document as its passages and what is between them: no text is kept twice."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from clew.document import Document
from clew.graph import Graph
from clew.store.column_kinds import Texts
from clew.store.saved_index import SavedIndex


def parts_of_documents(index: SavedIndex) -> list[list[str]]:
    """Return the parts that make the text of each document of an index, one behind the other."""
    graph = index.graph
    is_piece = graph.kinds.mask("passage") & (graph.documents != np.arange(len(graph)))
    rows = np.flatnonzero(is_piece)
    rows = rows[np.lexsort((graph.spans[rows, 0], graph.documents[rows]))]
    owners = graph.documents[rows]
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    ids = Texts().take(graph.ids, owners[starts].astype(np.int64))
    pieces = dict(zip(ids, np.split(rows, starts[1:]), strict=True)) if len(rows) else {}
    return [_parts(one, graph, pieces.get(one.id, ())) for one in index.documents]


def _parts(document: Document, graph: Graph, rows: Iterable[int]) -> list[str]:
    """Return the passages of a document, and what is before, between and behind them.

    A passage that is not in its place, as another document's that was cut from this one, is none.
    """
    text, parts, behind = document.text, list[str](), 0
    for row in rows:
        start, end = graph.spans[row].tolist()
        passage = graph.texts[row]
        if start < behind or text[start:end] != passage:
            continue
        parts += [text[behind:start], passage]
        behind = end
    return [part for part in (*parts, text[behind:]) if part]
