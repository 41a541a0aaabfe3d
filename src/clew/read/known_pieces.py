"""The pieces of documents as a graph of them has them, so that nothing is cut twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from clew.document import Document
from clew.graph import Graph, expand_ranges, offsets_of, texts_at
from clew.read.assembly import ID_ENDINGS
from clew.read.pieces import Piece, Split
from clew.text.estimate import estimate_tokens


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
    found = [(row_of[one.id], one) for one in documents if one.id in row_of]
    found.sort(key=itemgetter(0))
    rows = np.array([row for row, _ in found], np.int64)
    is_container = graph.kinds.mask("document")[rows]
    ends = np.append(np.flatnonzero(np.diff(graph.documents)) + 1, len(graph))
    behind = ends[np.searchsorted(ends, rows, side="right")]
    columns = _PieceColumns.of(graph, rows[is_container] + 1, behind[is_container])
    texts = iter(texts_at(graph.texts, rows[~is_container].tolist()))
    tokens = graph.tokens if graph.count is estimate_tokens else None
    for (row, document), is_cut, end in zip(
        found, is_container.tolist(), behind.tolist(), strict=True
    ):
        if is_cut:
            own = columns.pieces_of(document.id, row, end)
            if [piece.kind for piece in own] != ["passage"]:  # which would be a whole document
                pieces[document.id] = own
        elif next(texts) == document.text:
            text, links = document.text, graph.references[row]
            n_tokens = None if tokens is None else tokens.item(row)
            whole = Piece("passage", text, 0, len(text), references=links, tokens=n_tokens)
            pieces[document.id] = [whole]
    return pieces


@dataclass(frozen=True, eq=False)
class _PieceColumns:
    """What the nodes behind some documents have, of all these together.

    Attributes:
        first_of: The place of the first node behind each document, by the row of that node.
        kinds: Their kinds.
        ids: Their ids.
        texts: Their texts.
        parents: The rows of what is around them.
        spans: Their places in the documents.
        references: Their link targets.
        tokens: Their estimated tokens, or None.
    """

    first_of: Mapping[int, int]
    kinds: Sequence[str]
    ids: Sequence[str]
    texts: Sequence[str]
    parents: Sequence[int]
    spans: Sequence[Sequence[int]]
    references: Sequence[tuple[str, ...]]
    tokens: Sequence[int | None]

    @classmethod
    def of(
        cls, graph: Graph, firsts: NDArray[np.integer], behind: NDArray[np.integer]
    ) -> _PieceColumns:
        """Return the columns of runs of nodes.

        Args:
            graph: The graph.
            firsts: The first node of each run, ascending.
            behind: The row behind the last one of each.
        """
        rows = expand_ranges(firsts, behind - firsts)
        listed, places = rows.tolist(), offsets_of(behind - firsts).tolist()
        return cls(
            dict(zip(firsts.tolist(), places, strict=False)),
            [graph.kinds.names[code] for code in graph.kinds.codes[rows].tolist()],
            texts_at(graph.ids, listed),
            texts_at(graph.texts, listed),
            graph.parents[rows].tolist(),
            graph.spans[rows].tolist(),
            [graph.references[row] for row in listed],
            graph.tokens[rows].tolist() if graph.count is estimate_tokens else [None] * len(rows),
        )

    def pieces_of(self, id: str, top: int, behind: int) -> list[Piece]:
        """Return the pieces of a document, which stand behind it in their order.

        Args:
            id: The id of the document.
            top: The row of the document.
            behind: The row behind the last one that is in it without a break.
        """
        pieces, first = list[Piece](), top + 1
        begin = self.first_of[first]
        for place in range(begin, begin + behind - first):
            kind, (start, end) = self.kinds[place], self.spans[place]
            if start == end or self.ids[place] != f"{id}#{start}-{end}{ID_ENDINGS.get(kind, '')}":
                break  # another document's, or a section that only metadata name
            above = self.parents[place] - first
            parent = above if above >= 0 else None
            text, links = self.texts[place], self.references[place]
            pieces.append(Piece(kind, text, start, end, parent, links, self.tokens[place]))
        return pieces
