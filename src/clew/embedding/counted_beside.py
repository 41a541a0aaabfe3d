"""Words are counted for the embedded default by all processes that have read files.

The process that builds needs the counts of all passages before it can make a vector. Their texts
are known as soon as files are cut, so that other processes begin to count while this one reads
facts and puts the graph together, or, where they read names along, once these are read. It counts
along once it needs the counts.

Names and facts are counted likewise, while the graph is embedded and linked. Nobody waits for them:
what has not been counted by the end of the build is counted when something compares it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clew.embedding.bag_making import narrowed
from clew.embedding.bags import BATCH
from clew.embedding.compact import is_large
from clew.embedding.embedded_texts import texts_to_embed
from clew.embedding.static import TextCounts, widened
from clew.graph import Graph
from clew.processes import ItemsBegun, begin_items, end_others

PART = 1024  # texts that a process counts at once, some hundredths of a second
LAST_PART = 256  # the same of what comes last, so that no process waits long for another
LATE_PART = 16_384  # names or facts that a process counts at once, about as long as such a part


class CountsBeside:
    """The counts of the passages of a graph, which other processes may have begun.

    Example:
        >>> beside = CountsBeside()
        >>> beside.begin(Graph.of(["Anna", "Ben"]), {})  # a small graph, outside `working`
        >>> beside.has_begun, beside.batches_of(["Anna", "Ben"]) is None
        (False, True)
    """

    def __init__(self) -> None:
        self._nodes: Graph | None = None  # whose passages' texts these are
        self._texts: list[str] = []
        self._work: ItemsBegun[TextCounts] | None = None
        self._counts_late = False

    @property
    def has_begun(self) -> bool:
        """Whether other processes count."""
        return self._work is not None

    def begin(self, nodes: Graph, replacement_texts: Mapping[str, str]) -> None:
        """Have other processes count, if there are any, and enough to count.

        Args:
            nodes: A graph without vectors.
            replacement_texts: id -> the text to embed in place of the node's own.
        """
        if self.has_begun or not is_large(nodes):
            return
        self._nodes = nodes
        self._texts = texts_to_embed(nodes, nodes.rows("passage").tolist(), replacement_texts)
        parts = [self._texts[start:end] for start, end in pairwise(_bounds(len(self._texts)))]
        sizes = [sum(map(len, part)) for part in parts]
        self._work = begin_items(count_part, parts, sizes=sizes)

    def texts_of(
        self, graph: Graph, rows: NDArray[np.int64], replacement_texts: Mapping[str, str]
    ) -> list[str]:
        """Return what `texts_to_embed` does; those of a graph's passages are not made once more.

        Args:
            graph: The graph.
            rows: The nodes.
            replacement_texts: As in `begin`.
        """
        if graph is self._nodes and np.array_equal(rows, graph.rows("passage")):
            return self._texts
        return texts_to_embed(graph, rows.tolist(), replacement_texts)

    def batches_of(self, texts: Sequence[str]) -> Iterator[TextCounts] | None:
        """Return what `TextCounts.of` returns of each `BATCH` of texts; None where others do not.

        The other processes end, unless they have been given something else.

        Args:
            texts: The passages, as they are embedded.
        """
        work, self._work = self._work, None
        if work is None:
            return None
        counted = work.results() if self._texts == texts else None
        self._nodes, self._texts = None, []  # they are not needed any more
        if not self._counts_late:
            end_others()
        return None if counted is None else _in_batches(counted)

    def begin_late(self, texts: Sequence[str]) -> LateCounts:
        """Have the other processes, which count passages, go on with texts that are needed later.

        Args:
            texts: The texts.
        """
        self._counts_late = True
        return LateCounts(texts)


class LateCounts:
    """Counts texts, as `TextCounts.of` does, of which other processes count some before.

    Args:
        texts: The texts; each is counted once.

    Example:
        >>> late = LateCounts(["Anna", "Ben", "Anna"])  # outside `working` nobody else counts
        >>> late(["Anna", "Ben"]).terms
        ['anna', 'ben']
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._given, self._texts = texts, list(dict.fromkeys(texts))
        starts = range(0, len(self._texts), LATE_PART)
        self._parts = [self._texts[start : start + LATE_PART] for start in starts]
        sizes = [sum(map(len, part)) for part in self._parts]
        self._work = begin_items(count_part, self._parts, sizes=sizes)

    def texts(self) -> Sequence[str]:
        """Return the texts as they were given."""
        return self._given

    def __call__(self, texts: Sequence[str]) -> TextCounts:
        """Return the counts of the distinct texts, in their order, or of any other texts.

        They are as `narrowed` returns them.
        """
        if self._work is None or self._texts != texts or not texts:  # as of code, without names
            return count_part(texts)
        ready = zip(self._parts, self._work.ready(), strict=True)
        counted = [count_part(part) if done is None else done for part, done in ready]
        return narrowed(TextCounts.joined(counted))


def _bounds(n: int) -> list[int]:
    """Return where the parts of so many texts start, and where the last one ends.

    Each batch is several whole parts.

    Example:
        >>> bounds = _bounds(BATCH + 300)
        >>> bounds[:3], bounds[-3:] == [BATCH, BATCH + LAST_PART, BATCH + 300]
        ([0, 1024, 2048], True)
    """
    batches = range(0, n, BATCH)
    starts = [start for one in batches for start in range(one, min(one + BATCH, n), PART)]
    finer = [
        bound
        for start, end in pairwise([*starts[-2:], n])
        for bound in range(start, end, LAST_PART)
    ]
    return [*starts[:-2], *finer, n]


def count_part(texts: Sequence[str]) -> TextCounts:
    """Return the counts of texts as they are sent to another process.

    Example:
        >>> counted = count_part(["Anna met Anna."])
        >>> counted.terms, counted.of_terms.values
        (['anna', 'met'], array([2, 1], dtype=uint8))
    """
    return narrowed(TextCounts.of(texts))


def _in_batches(parts: list[TextCounts]) -> Iterator[TextCounts]:
    parts.reverse()
    while parts:
        own, n = list[TextCounts](), 0
        while parts and n < BATCH:
            own.append(widened(parts.pop()))
            n += len(own[-1])
        yield TextCounts.joined(own) if len(own) > 1 else own[0]
