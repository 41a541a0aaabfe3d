"""The passages that are read of paths: the ends of all paths first, then back to their beginnings.

Kurisu-G2 (ICLR 2026 submission 18441), section 2.3: the end of a path is its smallest and most
precise node, its beginning the broadest. All paths are read back at the same pace, so that no path
uses the room that the end of another needs, and what they have at one level is read by prize. A
fused node is read as its members. No text is read twice: a passage replaces its sentences.

Where ends are sentences, they are read with the sentences around them, and leave a share of the
room to whole passages: many passages by what is nearest in them, and the best of these in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Floats, Graph, Mask
from clew.methods.kurisu.hierarchy import DocumentTree, IntRows
from clew.methods.kurisu.parameters import DescentParameters
from clew.methods.kurisu.traversal import Path, PathNode

MAX_REJECTED = 100  # what still fits, but far down the ranking, is not worth its tokens
# To rank a large corpus costs more than to rank as many passages as nearly every context holds.
FIRST = 500


class PassageSelection:
    """The passages chosen so far, in the order they were chosen, and the room that is left.

    Attributes:
        rows: the chosen rows; a dictionary for its order.
        tokens_left: tokens for more passages.
        max_rows: the most rows.
        rejected: rows that did not fit, with the reason.
    """

    def __init__(
        self, graph: Graph, tree: DocumentTree, offered: Mask, tokens: int, max_rows: int
    ) -> None:
        self.graph, self.tree, self.offered = graph, tree, offered
        self.tokens_left, self.max_rows = tokens, max_rows
        self.rows: dict[int, None] = {}
        self.rejected: dict[int, str] = {}
        self._contents: dict[int, list[int]] = {}  # chosen rows by the container they are in
        self._rejected_before_last = 0

    @property
    def is_full(self) -> bool:
        return len(self.rejected) >= MAX_REJECTED or len(self.rows) >= self.max_rows

    def add(self, row: int) -> bool:
        """Choose a row in the place of its contents; return whether it was chosen.

        A row that does not fit is rejected. A row that is not offered, or whose container is
        chosen, is left out without a reason.
        """
        container = int(self.tree.containers[row])
        if row in self.rows or row in self.rejected:
            return False
        if container in self.rows or not self.offered[row]:
            return False
        contents = self._contents.get(row, [])
        tokens = int(self.graph.tokens[row])
        freed = int(self.graph.tokens[contents].sum()) if contents else 0
        room = self.tokens_left + freed
        if tokens > room:
            self.rejected[row] = f"its {tokens} tokens do not fit in the {room} left"
            return False
        for sentence in contents:
            del self.rows[sentence]
        self.rows[row] = None
        self.tokens_left += freed - tokens
        self._contents.setdefault(container, []).append(row)
        self._contents.pop(row, None)
        self._rejected_before_last = len(self.rejected)
        return True

    def add_all(self, rows: Iterable[int], max_rows: int | None = None) -> None:
        """Choose these rows, the first ones first, until no more, or `max_rows`, are wanted."""
        wanted = self.max_rows if max_rows is None else len(self.rows) + max_rows
        for row in rows:
            if self.is_full or len(self.rows) >= wanted:
                return
            self.add(row)

    def dropped(self) -> list[tuple[int, str]]:
        """Return the rows that did not fit, with the reasons.

        Of the rows behind the last one chosen, only the first was kept out by the room alone.
        """
        considered = list(self.rejected.items())[: self._rejected_before_last + 1]
        return [(row, reason) for row, reason in considered if row not in self.rows]


def read_paths(
    selection: PassageSelection,
    paths: Sequence[Path],
    prizes: Floats,
    parameters: DescentParameters,
    within: IntRows | None = None,
) -> None:
    """Add the passages of the paths, and then of the rest of the corpus, while they fit.

    Args:
        selection: what is chosen already; it grows.
        paths: of one question.
        prizes: of all nodes, float64 [n].
        parameters: `max_path_nodes`, `fill`, `broad` and `window` say what is read.
        within: the passages that the rest is of; None for the whole corpus.
    """
    graph, tree, content = selection.graph, selection.tree, selection.graph.content
    nodes = [
        [step.node for step in (path if parameters.broad else path[::-1])][
            : parameters.max_path_nodes
        ]
        for path in paths
    ]
    for place, level in enumerate(_levels(nodes)):
        rows = list(_rows_of_level(tree, level, prizes, content))
        if _are_sentences(selection, rows).any() and parameters.max_path_nodes != 1:
            if place == 0 and not parameters.broad and not _are_read_whole(selection, rows):
                _add_excerpts(selection, rows, parameters)
                continue
            rows = _passages_of(selection, rows)
        for row in rows:
            if selection.is_full:
                return
            if selection.add(row) and place == 0 and parameters.window:
                selection.add_all(neighbours(graph, tree, row, parameters.window))
    if parameters.max_path_nodes is None and (parameters.fill or not selection.rows):
        rest = _rest_of_corpus(tree, prizes, content, within)
        selection.add_all(rest, None if parameters.fill else 1)


def _are_sentences(selection: PassageSelection, rows: Sequence[int]) -> Mask:
    """Return which rows are inside a passage."""
    alone = np.array(rows, np.int64)
    inside: Mask = selection.tree.passages_of(alone, selection.graph.content) != alone
    return inside


def _passages_of(selection: PassageSelection, rows: Sequence[int]) -> list[int]:
    """Return the passages that these rows are, or are sentences of, each once."""
    passages = selection.tree.passages_of(np.array(rows, np.int64), selection.graph.content)
    return list(dict.fromkeys(passages.tolist()))


def _are_read_whole(selection: PassageSelection, rows: Sequence[int]) -> bool:
    """Return whether passages are read at once: all fit, or a number of passages is wanted."""
    graph = selection.graph
    wanted = [row for row in _passages_of(selection, rows) if selection.offered[row]]
    fit = int(graph.tokens[wanted].sum()) <= selection.tokens_left
    return fit or selection.max_rows < len(graph)


def _add_excerpts(
    selection: PassageSelection, rows: Sequence[int], parameters: DescentParameters
) -> None:
    """Add rows, each sentence with those around it, until the share of ends is used."""
    graph, tree = selection.graph, selection.tree
    to_leave = selection.tokens_left * (1 - parameters.end_share)
    for row, is_sentence in zip(rows, _are_sentences(selection, rows), strict=True):
        around = parameters.sentence_window if is_sentence else parameters.window
        group = [row, *neighbours(graph, tree, row, around)]
        tokens = int(graph.tokens[[each for each in group if each not in selection.rows]].sum())
        if selection.rows and selection.tokens_left - tokens < to_leave:
            return
        selection.add_all(group)


def _rest_of_corpus(
    tree: DocumentTree, prizes: Floats, content: Mask, within: IntRows | None
) -> Iterator[int]:
    in_content = (tree.containers >= 0) & content[tree.containers]
    rest = content & (prizes > 0) & ~in_content
    if within is not None:
        rest &= np.isin(np.arange(len(rest)), within)
    return _best_first(np.flatnonzero(rest), prizes)


def fused_groups(paths: Sequence[Path], chosen: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """Return for every fused node its members that are chosen, where these are at least two."""
    read = set(chosen)
    nodes = dict.fromkeys(step.node for path in paths for step in path)
    groups = (tuple(sorted(row for row in node.rows if row in read)) for node in nodes)
    return tuple(rows for rows in groups if len(rows) > 1)


def _levels(paths: list[list[PathNode]]) -> Iterator[list[PathNode]]:
    """Yield the first nodes of all paths, then the second of all, and so on; each node once."""
    seen: set[PathNode] = set()
    for level in zip_longest(*paths):
        new = [node for node in level if node is not None and node not in seen]
        seen.update(new)
        yield new


def _rows_of_level(
    tree: DocumentTree, nodes: Sequence[PathNode], prizes: Floats, content: Mask
) -> Iterator[int]:
    """Yield the content of these nodes, of most prize first; equal prizes in the paths' order."""
    inside = [tree.content_within(np.array(node.rows), content) for node in nodes]
    rows = np.concatenate([np.zeros(0, np.int64), *inside])
    first = np.sort(np.unique(rows, return_index=True)[1])
    yield from _best_first(rows[first], prizes)


def _best_first(rows: IntRows, prizes: Floats) -> Iterator[int]:
    first = rows[top_k(prizes[rows], FIRST)]
    yield from first.tolist()
    if len(rows) > FIRST:
        yield from rows[top_k(prizes[rows])][FIRST:].tolist()


def neighbours(graph: Graph, tree: DocumentTree, row: int, window: int) -> list[int]:
    """Return up to `window` rows of content on either side of one in its container, nearest first.

    Args:
        graph: the graph.
        tree: its document hierarchy.
        row: content.
        window: how many.
    """
    container = int(tree.containers[row])
    if container < 0 or not window:
        return []
    slots = slice(tree.starts[container], tree.starts[container + 1])
    contents = tree.heads[slots][tree.contains[slots]]
    contents = contents[graph.content[contents]]
    contents = contents[np.lexsort((contents, graph.spans[contents, 0]))]
    place = int(np.flatnonzero(contents == row)[0])
    places = [place + sign * distance for distance in range(1, window + 1) for sign in (-1, 1)]
    return [int(contents[at]) for at in places if 0 <= at < len(contents)]
