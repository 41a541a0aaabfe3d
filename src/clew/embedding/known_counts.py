"""The counts of texts that a saved index has as bags, so that a filter counts none of them again.

The embedded default is fitted again on what a filter allows. The words of a text are the same then;
only what they weigh is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.embedding.bags import BagSegment
from clew.embedding.embedded_texts import rows_to_embed, texts_to_embed
from clew.embedding.late_bags import LateBagSegment
from clew.embedding.static import TextCounts
from clew.graph import AnyVectors, Graph, Mask, VectorColumn, row_mask, texts_at


@dataclass(frozen=True, eq=False)
class KnownBags:
    """Bags by the texts that they are of.

    Attributes:
        segment: the bags.
        row_of: the row of each text.
    """

    segment: BagSegment
    row_of: Mapping[str, int]

    def counts(self, texts: Sequence[str]) -> TextCounts:
        """Return the counts of texts, all of which are known."""
        rows = np.fromiter(map(self.row_of.__getitem__, texts), np.int64, len(texts))
        segment = self.segment
        return segment.table.counts(segment.pieces.take(rows), segment.terms.take(rows))


def known_counts(graph: Graph, stays: Mask, replacement_texts: Mapping[str, str]) -> KnownCounts:
    """Return what counts the texts of some nodes, and of what was read of these, by known bags.

    Args:
        graph: the graph of these nodes and of others.
        stays: bool [nodes], which nodes are meant.
        replacement_texts: id -> the text that is embedded in place of the node's own.
    """
    is_known = stays | row_mask(graph.read_from.owners_of(stays), len(graph))
    rows = rows_to_embed(graph)
    rows = rows[is_known[rows]]
    is_name = graph.kinds.mask("entity")[rows]

    def known_in(own_rows: NDArray[np.int64]) -> list[KnownBags]:
        sources = list[KnownBags]()
        for start, segment in _bags_of(graph.vectors):
            own = _with_bags(segment, own_rows, start)
            texts = texts_to_embed(graph, (own + start).tolist(), replacement_texts)
            sources.append(KnownBags(segment, dict(zip(texts, own.tolist(), strict=True))))
        return sources

    def of_names_and_facts() -> list[KnownBags]:
        sources = known_in(rows[is_name])
        facts = np.unique(graph.facts.read_from.owners_of(stays))
        for start, segment in _bags_of(graph.facts.vectors):
            own = _with_bags(segment, facts, start)
            texts = texts_at(graph.facts.texts, (own + start).tolist())
            sources.append(KnownBags(segment, dict(zip(texts, own.tolist(), strict=True))))
        return sources

    return KnownCounts(known_in(rows[~is_name]), of_names_and_facts)


class KnownCounts:
    """Counts texts: those that are known by their bags, and the others by reading them.

    Args:
        sources: the bags.
        more: returns further ones, which are looked for where a text is in none of these.

    Example:
        >>> KnownCounts([])(["a red fox"]).terms
        ['a', 'fox', 'red']
    """

    def __init__(
        self,
        sources: Sequence[KnownBags],
        more: Callable[[], Sequence[KnownBags]] | None = None,
    ) -> None:
        self._of_some = _Sources(sources)
        self._more = more

    @cached_property
    def _of_all(self) -> _Sources:
        return _Sources([*self._of_some.sources, *(self._more() if self._more else ())])

    def __call__(self, texts: Sequence[str]) -> TextCounts:
        """Return what `TextCounts.of` returns."""
        known = self._of_some
        if self._more is not None and not all(map(known.number_of.__contains__, texts)):
            known = self._of_all
        source_of = known.numbers(texts)
        nobody = len(known.sources)
        parts, places = list[TextCounts](), list[NDArray[np.int64]]()
        for number in np.unique(source_of).tolist():
            own = np.flatnonzero(source_of == number)
            some = [texts[i] for i in own.tolist()]
            is_known = number < nobody
            parts.append(known.sources[number].counts(some) if is_known else TextCounts.of(some))
            places.append(own)
        if len(parts) < 2:
            return parts[0] if parts else TextCounts.of(texts)
        return TextCounts.joined(parts).take(np.argsort(np.concatenate(places)))


class _Sources:
    """Bags, and which of them know each text.

    Args:
        sources: the bags.
    """

    def __init__(self, sources: Sequence[KnownBags]) -> None:
        self.sources = sources
        self.number_of: dict[str, int] = {}  # the first that knows a text
        for number, one in reversed(list(enumerate(sources))):
            self.number_of.update(dict.fromkeys(one.row_of, number))

    def numbers(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Return the place of the bags that know each text; that behind all for none."""
        found = map(self.number_of.get, texts, repeat(len(self.sources)))
        return np.fromiter(found, np.int64, len(texts))


def _bags_of(vectors: AnyVectors) -> Iterator[tuple[int, BagSegment]]:
    """Yield the bags of a column that are there, each with the row that it starts from."""
    start = 0
    for segment in VectorColumn.of(vectors).segments:
        if isinstance(segment, BagSegment):
            yield start, segment
        elif isinstance(segment, LateBagSegment) and segment.is_made:
            yield start, segment.bags
        start += segment.shape[0]


def _with_bags(segment: BagSegment, rows: NDArray[Any], start: int) -> NDArray[Any]:
    """Return those of some rows that have a bag in a segment, as rows of that."""
    first, last = np.searchsorted(rows, [start, start + segment.shape[0]])
    own = rows[first:last] - start
    has_bag: Mask = segment.scales[own, 2] != 0
    return own[has_bag]
