"""The source of a node: the document, with all that is in it, that one author answers for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.graph.columns import Ragged, Rows, freeze
from clew.graph.graph import Graph

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
        content, documents = np.flatnonzero(graph.content), graph.documents
        above = np.where(graph.parents >= 0, graph.parents, documents)
        above = np.where(above >= 0, above, np.arange(len(graph)))
        outermost = above
        for _ in range(len(graph).bit_length()):  # each time twice as far up
            outermost = outermost[outermost]
        ends, metadata = outermost[content].tolist(), graph.metadata
        names = [  # most rows of many graphs have no metadata, and get the id at once
            graph.ids[end]
            if not (metadata[row] or metadata[end])
            else _source_name(graph, row, end)
            for row, end in zip(content.tolist(), ends, strict=True)
        ]
        for rows in (outermost, documents):
            if len(set(names)) < 2:
                names = [graph.ids[row] for row in rows[content].tolist()]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        of_nodes = np.full(len(graph), NO_SOURCE, np.int32)
        of_nodes[content] = [numbers[name] for name in names]
        read = graph.read_from.lengths > 0
        of_nodes[read] = _common_source(graph.read_from, of_nodes)[read]
        of_facts = _common_source(graph.facts.read_from, of_nodes)
        return Sources(tuple(numbers), freeze(of_nodes, np.int32), freeze(of_facts, np.int32))


def _source_name(graph: Graph, row: int, outermost: int) -> str:
    """Return the name of a row's source: as its container names it, as it does, or the id."""
    for metadata in (graph.metadata[outermost], graph.metadata[row]):
        for key in NAME_KEYS:
            name = metadata.get(key)
            if isinstance(name, str) and name:
                return name
    return graph.ids[outermost]


def _common_source(read_from: Ragged, of_nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the one source of all rows of each list, -1 where there are several or none."""
    common = np.full(len(read_from), NO_SOURCE, np.int32)
    lists = np.flatnonzero(read_from.lengths)
    if len(lists):
        sources = of_nodes[read_from.values]
        lowest = np.minimum.reduceat(sources, read_from.starts[lists])
        highest = np.maximum.reduceat(sources, read_from.starts[lists])
        common[lists] = np.where(lowest == highest, lowest, NO_SOURCE)
    return common
