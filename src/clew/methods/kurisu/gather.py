"""What is read of paths: the ends of all first, then what is around these, and so on back to the beginning, while it fits.

Kurisu-G2 (ICLR 2026 submission 18441), section 2.3: the end of a path holds the least and most to the point, its beginning the most. Of
several paths each is as far back as the others, so that none takes the room for what is around its end from the end of another. A fused
node is read as its members. Text is read once: a passage takes the place of its sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import top_k
from clew.graph import Floats, Graph, Mask
from clew.methods.kurisu.hierarchy import DocumentTree
from clew.methods.kurisu.path import DescentStep, Stop

IntRows = NDArray[np.int64]
REACH = 100  # something that still fits, but far down the ranking, is not worth its tokens
FIRST = 500  # ranking all of a large corpus costs more than ranking as many as nearly every context holds


class Gathered:
    """What is chosen so far: rows in the order they were taken, what was passed over, and the tokens and places left."""

    def __init__(
        self, graph: Graph, tree: DocumentTree, offered: Mask, tokens: int, places: int
    ) -> None:
        self.graph, self.tree, self.offered = graph, tree, offered
        self.left, self.places = tokens, places
        self.rows: dict[int, None] = {}
        self.parts: dict[int, list[int]] = {}  # chosen sentences by the passage they are in
        self.passed: dict[int, str] = {}
        self.before_last = 0

    @property
    def full(self) -> bool:
        return len(self.passed) >= REACH or len(self.rows) >= self.places

    def take(self, row: int) -> bool:
        """Take a row in the place of what is in it, and return True; or pass it over if it does not fit."""
        around = int(self.tree.above[row])
        if row in self.rows or row in self.passed or around in self.rows or not self.offered[row]:
            return False
        inside = self.parts.get(row, [])
        tokens = int(self.graph.tokens[row])
        freed = int(self.graph.tokens[inside].sum()) if inside else 0
        if tokens > self.left + freed:
            self.passed[row] = f"its {tokens} tokens do not fit in the {self.left + freed} left"
            return False
        for part in inside:
            del self.rows[part]
        self.rows[row] = None
        self.left += freed - tokens
        self.parts.setdefault(around, []).append(row)
        self.parts.pop(row, None)
        self.before_last = len(self.passed)
        return True

    def dropped(self) -> list[tuple[int, str]]:
        """What did not fit; of that behind the last one taken only the first was kept out by the room alone."""
        return [
            item
            for item in list(self.passed.items())[: self.before_last + 1]
            if item[0] not in self.rows
        ]


def gather(
    graph: Graph,
    tree: DocumentTree,
    paths: Sequence[Sequence[DescentStep]],
    prizes: Floats,
    found: Gathered,
    *,
    last: int | None,
    broad: bool,
    window: int,
) -> None:
    """Read along the paths, step by step of all, into `found`.

    Args:
        last: how many nodes of a path are read; None for all of them, and then the rest of the corpus. broad: begin at its beginning.
        window: read so many neighbours too, before and after, of what is read of the first node.
    """
    content = graph.content
    for place, stop in _in_turn(
        [[step.stop for step in (path if broad else path[::-1])][:last] for path in paths]
    ):
        for row in _ranked(tree.within(np.array(stop.rows), content), stop, prizes, content):
            if found.full:
                return
            if found.take(row) and place == 0 and window:
                for near in _near(graph, tree, row, window):
                    if not found.full:
                        found.take(near)
    if last is None:
        outer = np.flatnonzero(content & (prizes > 0) & ~((tree.above >= 0) & content[tree.above]))
        for row in _best_first(outer, prizes):
            if found.full:
                return
            found.take(row)


def groups_of(
    paths: Sequence[Sequence[DescentStep]], chosen: Iterable[int]
) -> tuple[tuple[int, ...], ...]:
    """Return the members of every fused node that are read."""
    read = set(chosen)
    fused = (
        tuple(sorted(row for row in stop.rows if row in read))
        for stop in dict.fromkeys(step.stop for path in paths for step in path)
    )
    return tuple(rows for rows in fused if len(rows) > 1)


def _in_turn(stops: list[list[Stop]]) -> Iterator[tuple[int, Stop]]:
    """What all paths end with, then what is before that on all of them, and so on; each stop once."""
    seen: set[Stop] = set()
    for place, level in enumerate(zip_longest(*stops)):
        for stop in level:
            if stop is not None and stop not in seen:
                seen.add(stop)
                yield place, stop


def _ranked(rows: IntRows, stop: Stop, prizes: Floats, content: Mask) -> Iterator[int]:
    """The members that are content, as they were fused, then the content of the others by prize."""
    own = [row for row in stop.rows if content[row]]
    yield from own
    if len(rows) > len(own):
        yield from _best_first(rows if not own else rows[~np.isin(rows, own)], prizes)


def _best_first(rows: IntRows, prizes: Floats) -> Iterator[int]:
    first = rows[top_k(prizes[rows], FIRST)]
    yield from first.tolist()
    if len(rows) > FIRST:
        yield from rows[top_k(prizes[rows])][FIRST:].tolist()


def _near(graph: Graph, tree: DocumentTree, row: int, window: int) -> list[int]:
    """The neighbours of a row in its container, nearest first."""
    above = int(tree.above[row])
    if above < 0:
        return []
    heads = tree.heads[tree.starts[above] : tree.starts[above + 1]][
        tree.contains[tree.starts[above] : tree.starts[above + 1]]
    ]
    heads = heads[graph.content[heads]]
    heads = heads[np.lexsort((heads, graph.spans[heads, 0]))]
    at = int(np.flatnonzero(heads == row)[0])
    places = [at + sign * step for step in range(1, window + 1) for sign in (-1, 1)]
    return [int(heads[place]) for place in places if 0 <= place < len(heads)]
