"""What stages look for in all passages, as columns, so that the first question need not.

A large index has them. They are read where the same version of clew has saved them: another one
might find something else, and looks again.
"""

from __future__ import annotations

import math
from collections.abc import Container
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph, Mask, freeze
from clew.overlap import Duplicates, DuplicatesPart
from clew.seed.bm25 import InvertedIndexPart
from clew.seed.cohesion import Cohesion
from clew.seed.in_documents import CohesionPart
from clew.seed.in_own_words import WITHOUT_LINKS, LinkedWordsPart
from clew.seed.section_sizes import LEAD_IN, OF_LIST, SectionSizesPart
from clew.store.tables import ColumnReader, ColumnWriter
from clew.version import __version__

FOUND = 3
"""Raised when a part is computed in another manner between two versions of clew."""

MADE_BY = f"{__version__} {FOUND}"
NAME = "stages.made_by"  # a column that an index saved by an earlier version does not have
LINKED_WORDS, SECTION_SIZES = LinkedWordsPart(), SectionSizesPart()
COHESION, DUPLICATES = CohesionPart(), DuplicatesPart()


def write_stage_parts(writer: ColumnWriter, graph: Graph) -> None:
    """Write what stages look for in all passages."""
    writer.texts(NAME, [MADE_BY])
    writer.numbers("stages.linked_words", graph.part(LINKED_WORDS), np.int32)
    writer.numbers("stages.section_sizes", graph.part(SECTION_SIZES), np.int64)
    cohesion, duplicates = graph.part(COHESION), graph.part(DUPLICATES)
    writer.numbers("stages.cohesion", [cohesion.neighbours, cohesion.documents], np.float64)
    writer.numbers("stages.copies", duplicates.rows, np.int64)
    writer.numbers("stages.copies.first", duplicates.first[duplicates.rows], np.int64)


def restore_stage_parts(reader: ColumnReader, has: Container[str], graph: Graph) -> None:
    """Give a loaded graph what this version of clew has saved with it.

    Args:
        reader: Reads the arrays.
        has: The names that there are.
        graph: The graph, with its words.

    Raises:
        ValueError: The columns do not fit together.
    """
    if NAME not in has or graph.known_part(InvertedIndexPart()) is None:
        return
    if reader.texts(NAME) != (MADE_BY,):
        return
    n = len(graph)
    words = _read(reader, "linked_words", n, WITHOUT_LINKS, math.inf)
    sizes = _read(reader, "section_sizes", n, OF_LIST, max(n, LEAD_IN))
    cohesion = _read(reader, "cohesion", 2, 0, 1)
    copies = _read(reader, "copies", None, 0, n - 1)
    first = _read(reader, "copies.first", len(copies), 0, n - 1)
    graph.set_part(LINKED_WORDS, freeze(words, np.int32))
    graph.set_part(SECTION_SIZES, np.asarray(sizes, np.int64))
    graph.set_part(COHESION, Cohesion(*cohesion.tolist()))
    graph.set_part(DUPLICATES, _duplicates(copies.astype(np.int64), first.astype(np.int64), n))


def carry_stage_parts(graph: Graph, left: Graph, base: Graph, stays: Mask) -> None:
    """Give a graph what stages have looked for in one before, where a part of it is enough.

    Args:
        graph: The nodes that stay, in their order, and new ones.
        left: The nodes that stay.
        base: The graph before.
        stays: bool [nodes of base], which nodes do.
    """
    parts: tuple[Any, ...] = LINKED_WORDS, SECTION_SIZES
    for part in parts:
        before = base.known_part(part)
        if before is not None:
            graph.set_part(part, part.grow(graph, left, part.shrink(left, base, stays, before)))


def _duplicates(copies: NDArray[np.int64], first: NDArray[np.int64], n: int) -> Duplicates:
    """Return the copies, group by group, by the first row of each one's group."""
    starts = np.flatnonzero(np.diff(first, prepend=-1))
    groups = {
        int(first[start]): tuple(copies[start:end].tolist())
        for start, end in pairwise([*starts.tolist(), len(first)])
    }
    if len(groups) != len(starts) or any(
        len(rows) < 2 or rows[0] != row or sorted({*rows}) != [*rows]
        for row, rows in groups.items()
    ):
        raise ValueError("stages.copies are no groups of copies")
    all_first = np.arange(n)
    all_first[copies] = first
    return Duplicates(freeze(all_first, np.int64), freeze(copies, np.int64), groups)


def _read(
    reader: ColumnReader, name: str, length: int | None, least: float, most: float
) -> NDArray[Any]:
    """Return a column of numbers between two bounds, and of this length where one is given."""
    numbers = reader.numbers(f"stages.{name}")
    is_long = length is None or len(numbers) == length
    if not is_long or not bool(((numbers >= least) & (numbers <= most)).all()):
        raise ValueError(f"stages.{name} is not of the passages of this index")
    return numbers
