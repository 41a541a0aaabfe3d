"""The source of a node: the document, with all that is in it, that one author answers for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from clew.graph.columns import Mask, Ragged, Rows, freeze
from clew.graph.graph import Graph
from clew.text.numbering import Numbering

NAME_KEYS = ("path", "file_path", "source")  # metadata by which files and frameworks name a source
NO_SOURCE = -1


@dataclass(frozen=True, eq=False)
class Sources:
    """The source of every node and fact.

    Attributes:
        names: the name of every source: its path, or else the id of its document.
        of_nodes: int32 [n], the source of every node, -1 for none or several.
        of_facts: int32 [m], the source of every fact, -1 for none or several.
    """

    names: tuple[str, ...]
    of_nodes: Rows
    of_facts: Rows

    def name(self, source: int) -> str | None:
        """Return the name of a source; None for -1."""
        return None if source == NO_SOURCE else self.names[source]


@dataclass(frozen=True)
class SourcesPart:
    """The part that is the `Sources` of a graph.

    What is read comes from its outermost container, and containers and pieces that name one file
    (`path`, `file_path` or `source` in their metadata) are one source. Where all is then one
    source, as below a container for everything, containers alone count, and where they are one,
    the documents that the texts were cut from. An entity, a fact or a generated text that was read
    in several sources is from none of them.

    Example:
        >>> named = {"path": "a"}
        >>> graph = Graph.of(["Io.", "Io is a moon.", "Dry."], metadata=(named, named, {}))
        >>> graph.part(SourcesPart()).of_nodes.tolist(), graph.part(SourcesPart()).names
        ([0, 0, 1], ('a', '2'))
    """

    def compute(self, graph: Graph) -> Sources:
        content = np.flatnonzero(graph.content)
        outermost = _outermost(graph)
        names = _names_of(graph, content, outermost)
        for rows in (outermost, graph.documents):
            if len(set(names)) < 2:
                names = [graph.ids[row] for row in rows[content].tolist()]
        numbers = Numbering[str]()
        return _sources(graph, content, numbers.of_all(names), tuple(numbers))

    def grow(self, graph: Graph, base: Graph, before: Sources) -> Sources:
        """Return what `compute` returns."""
        content, outermost = np.flatnonzero(graph.content), _outermost(graph)
        old, new = np.split(content, [np.searchsorted(content, len(base))])
        if not _have_own_names(graph, old, outermost, before.of_nodes):
            return self.compute(graph)
        numbers = Numbering({name: number for number, name in enumerate(before.names)})
        of_new = numbers.of_all(_names_of(graph, new, outermost))
        of_content = np.append(before.of_nodes[old], of_new)
        return _sources(graph, content, of_content, tuple(numbers))

    def shrink(self, graph: Graph, base: Graph, stays: Mask, before: Sources) -> Sources:
        """Return what `compute` returns; all is named again where a container goes alone."""
        content, of_nodes = np.flatnonzero(graph.content), before.of_nodes[stays]
        if not stays[_above(base)[stays]].all() or not _have_own_names(
            graph, content, _outermost(graph), of_nodes
        ):
            return self.compute(graph)
        left, firsts, own = np.unique(of_nodes[content], return_index=True, return_inverse=True)
        order = np.argsort(firsts)
        number = np.empty(len(left), np.int32)
        number[order] = np.arange(len(left))
        names = tuple(before.names[source] for source in left[order].tolist())
        return _sources(graph, content, number[own], names)


def _above(graph: Graph) -> NDArray[np.int64]:
    """Return what is directly around every node, or the document that it was cut from, or it."""
    above = np.where(graph.parents >= 0, graph.parents, graph.documents)
    return np.where(above >= 0, above, np.arange(len(graph)))


def _outermost(graph: Graph) -> NDArray[np.int64]:
    """Return the outermost container of every node, or the document that it was cut from, or it."""
    outermost = _above(graph)
    for _ in range(len(graph).bit_length()):  # each time twice as far up
        before, outermost = outermost, outermost[outermost]
        if np.array_equal(before, outermost):
            break
    return outermost


def _names_of(graph: Graph, rows: NDArray[np.int64], outermost: NDArray[np.int64]) -> list[str]:
    """Return the name of the source of each of some rows."""
    ends, places = np.unique(outermost[rows], return_inverse=True)
    of_ends = [_named_in(graph.metadata[end]) for end in ends.tolist()]
    names = list(map(of_ends.__getitem__, places.tolist()))
    if None not in of_ends:
        return cast("list[str]", names)
    return [  # what a container does not name, the row in it names, or else the container's id
        name or _named_in(graph.metadata[row]) or graph.ids[end]
        for name, row, end in zip(names, rows.tolist(), outermost[rows].tolist(), strict=True)
    ]


def _have_own_names(
    graph: Graph, content: NDArray[np.int64], outermost: NDArray[np.int64], of_nodes: Rows
) -> bool:
    """Return whether sources are known to have the names that `_names_of` returns.

    They have them where these are several, so that two show it.

    Args:
        graph: the graph.
        content: some of its content.
        outermost: the outermost container of every node.
        of_nodes: the source of each of the nodes, or of the first ones.
    """
    others = content[of_nodes[content] != of_nodes[content[:1]]]
    if not len(others) or graph.read_from.lengths[content].any():
        return False
    one, other = _names_of(graph, np.append(content[:1], others[:1]), outermost)
    return one != other


def _sources(
    graph: Graph, content: NDArray[np.int64], of_content: Rows, names: tuple[str, ...]
) -> Sources:
    """Return the sources of all nodes and facts, by those of the content."""
    of_nodes = np.full(len(graph), NO_SOURCE, np.int32)
    of_nodes[content] = of_content
    read = graph.read_from.lengths > 0
    of_nodes[read] = _common_source(graph.read_from, of_nodes)[read]
    of_facts = _common_source(graph.facts.read_from, of_nodes)
    return Sources(names, freeze(of_nodes, np.int32), freeze(of_facts, np.int32))


def _named_in(metadata: Mapping[str, object]) -> str | None:
    """Return the name of a source that metadata have."""
    for key in NAME_KEYS if metadata else ():
        name = metadata.get(key)
        if isinstance(name, str) and name:
            return name
    return None


def _common_source(read_from: Ragged, of_nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the one source of all rows of each list, -1 where there are several or none."""
    common = np.full(len(read_from), NO_SOURCE, np.int32)
    lengths = read_from.lengths
    lists = np.flatnonzero(lengths)
    if len(lists):
        common[lists] = of_nodes[read_from.values[read_from.starts[lists]]]
    longer = np.flatnonzero(lengths > 1)  # few are
    if len(longer):
        several = read_from.take(longer)
        sources = of_nodes[several.values]
        lowest = np.minimum.reduceat(sources, several.starts[:-1])
        highest = np.maximum.reduceat(sources, several.starts[:-1])
        common[longer] = np.where(lowest == highest, lowest, NO_SOURCE)
    return common
