"""The pieces of documents as a graph of them has them, so that nothing is cut twice."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clew.document import Document
from clew.graph import Graph, texts_at
from clew.read.assembly import ID_ENDINGS
from clew.read.pieces import Piece, Split


@dataclass(frozen=True, eq=False)
class CutBefore:
    """A splitter, with what it cut some documents into before: they are not cut again.

    They are where the splitter is not clew's own, which may cut otherwise now.

    Attributes:
        splitter: Cuts the others; None keeps each whole.
        pieces: The pieces of those documents, by their ids.
    """

    splitter: Split | None
    pieces: Mapping[str, Sequence[Piece]]


def pieces_in(
    graph: Graph, documents: Iterable[Document], row_of: Mapping[str, int]
) -> dict[str, Sequence[Piece]]:
    """Return the pieces that documents were cut into, by the documents' ids.

    A document whose nodes are not those that `assemble` makes of pieces is left out.

    Args:
        graph: The graph of these documents, and perhaps of others.
        documents: The documents.
        row_of: The row of each of the documents that the graph has.

    Example:
        >>> from clew.read import read_nodes
        >>> document = Document("moon", "The moon is far.")
        >>> graph = read_nodes([document], count=len)
        >>> pieces_in(graph, [document], {"moon": 0})["moon"][0].text
        'The moon is far.'
    """
    pieces: dict[str, Sequence[Piece]] = {}
    ends = [*np.flatnonzero(np.diff(graph.documents)) + 1, len(graph)]
    for document in documents:
        row = row_of.get(document.id, -1)
        if row < 0:
            continue
        if graph.kinds[row] == "document":
            behind = int(ends[bisect_right(ends, row)])
            found = _pieces_of_container(graph, row, behind)
            if [piece.kind for piece in found] != ["passage"]:  # which would be a whole document
                pieces[document.id] = found
        elif graph.texts[row] == document.text:
            links = graph.references[row]
            whole = Piece("passage", document.text, 0, len(document.text), references=links)
            pieces[document.id] = [whole]
    return pieces


def _pieces_of_container(graph: Graph, top: int, behind: int) -> list[Piece]:
    """Return the pieces of a document, which stand behind it in their order.

    Args:
        graph: The graph.
        top: The row of the document.
        behind: The row behind the last one that is in it without a break.
    """
    pieces: list[Piece] = []
    first, id = top + 1, graph.ids[top]
    parents = (graph.parents[first:behind] - first).tolist()
    spans = graph.spans[first:behind].tolist()
    rows = range(first, behind)
    texts = zip(texts_at(graph.ids, rows), texts_at(graph.texts, rows), strict=True)
    for row, above, (start, end), (own_id, text) in zip(rows, parents, spans, texts, strict=True):
        kind = graph.kinds[row]
        if own_id != f"{id}#{start}-{end}{ID_ENDINGS.get(kind, '')}" or start == end:
            break  # another document's, or a section that only metadata name
        parent = above if above >= 0 else None
        pieces.append(Piece(kind, text, start, end, parent, graph.references[row]))
    return pieces
