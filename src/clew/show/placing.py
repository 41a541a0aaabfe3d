"""Places for the boxes of a drawing, the labels between them, and the bends of long lines.

A column of boxes for each number of hops from the question; between two of them a column of labels.
A line within a column bows to the right, where its label is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

from clew.show.layers import Segment, heights_of_columns, ordered_columns

MARGIN, COLUMN_GAP = 8.0, 24.0  # pixels
BEND_SIZE = 4.0  # pixels that a long line takes in a column which it only crosses
PATH_WEIGHT, OTHER_WEIGHT = 4.0, 1.0  # how straight a line should be
BROAD = 8  # lines from one box, from which on it stands beside the first of them
LOOSE = 0.1  # how straight all lines of a broad fan but its first should be, together
FIRST_SHARE, BEND_WEIGHT = 0.5, 8.0  # less before its label, more where it crosses columns


class Sized(Protocol):
    """Anything with a size in pixels."""

    @property
    def width(self) -> float: ...
    @property
    def height(self) -> float: ...


class Node(Sized, Protocol):
    """A box: the id of its node, its number if it is an item, and the paths that pass it."""

    @property
    def id(self) -> str: ...
    @property
    def rank(self) -> int | None: ...
    @property
    def paths(self) -> Sequence[int]: ...


class Join(Sized, Protocol):
    """A line between two boxes, which has the size of its label."""

    @property
    def tail(self) -> str: ...
    @property
    def head(self) -> str: ...
    @property
    def paths(self) -> Sequence[int]: ...


@dataclass(frozen=True)
class Area:
    """A rectangle: its upper left corner and its size, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x of its right side."""
        return self.x + self.width

    @property
    def middle(self) -> float:
        """The y of its middle."""
        return self.y + self.height / 2


class Stop(NamedTuple):
    """A level piece of a line, within one column: from `left` to `right` at the height `y`."""

    left: float
    right: float
    y: float


Strand = tuple[Stop, ...]  # from left to right; between two stops a curve in the gap of two columns


@dataclass(frozen=True)
class Placed:
    """Where all of a drawing is.

    Attributes:
        boxes: The area of each box, in order.
        labels: The area of each line's label, in order.
        strands: What each line is drawn of: one strand from box to box, through its label; or two
            to its label, where both boxes are in one column.
        width: Of the drawing, in pixels.
        height: Of the drawing, in pixels.
    """

    boxes: tuple[Area, ...]
    labels: tuple[Area, ...]
    strands: tuple[tuple[Strand, ...], ...]
    width: float
    height: float


def place(boxes: Sequence[Node], lines: Sequence[Join], hops: Mapping[str, int]) -> Placed:
    """Return where the boxes, the labels and the bends of the lines are.

    Args:
        boxes: In the order in which they stand from above where nothing crosses.
        lines: No line leads from a box to itself; a tail has no more hops than its head.
        hops: By id of a box; its column.
    """
    number_of = {box.id: at for at, box in enumerate(boxes)}
    sizes = [(box.width, box.height) for box in boxes]
    column_of = [2 * hops[box.id] for box in boxes]
    segments: list[Segment] = []
    passed: list[list[list[int]]] = []  # by line and strand, the things that it passes
    label_of: list[int] = []
    for line in lines:
        tail, head = number_of[line.tail], number_of[line.head]
        between = range(column_of[tail] + 1, max(column_of[head], column_of[tail] + 2))
        first = len(sizes)
        label_of.append(first)
        for at in between:
            is_label = at == between[0]
            sizes.append((line.width, line.height) if is_label else (0.0, BEND_SIZE))
            column_of.append(at)
        chain = [tail, *range(first, len(sizes)), head]
        weight = PATH_WEIGHT if line.paths else OTHER_WEIGHT
        if column_of[head] == column_of[tail]:
            segments += [Segment(tail, first, weight), Segment(head, first, weight)]
            passed.append([[tail, first], [head, first]])
        else:
            segments += [
                Segment(left, right, BEND_WEIGHT if min(left, right) >= len(boxes) else weight)
                for left, right in pairwise(chain[1:])
            ]
            segments.append(Segment(tail, first, FIRST_SHARE * weight))
            passed.append([chain])
    main = {at for at, box in enumerate(boxes) if box.rank or box.paths}
    for line, chains in zip(lines, passed, strict=True):
        main.update(*chains if line.paths else ())
    columns, areas, width, height = _areas(column_of, segments, sizes, main)
    strands = tuple(
        tuple(_strand([(columns[column_of[at]], areas[at]) for at in chain]) for chain in chains)
        for chains in passed
    )
    labels = tuple(areas[label] for label in label_of)
    return Placed(tuple(areas[: len(boxes)]), labels, strands, width, height)


def _strand(passed: Sequence[tuple[Stop, Area]]) -> Strand:
    """Return the strand through some things: from the right side of the first to the last one."""
    (start, tail), *between, (end, head) = passed
    return (
        Stop(tail.right, start.right, tail.middle),
        *(Stop(column.left, column.right, thing.middle) for column, thing in between),
        Stop(end.left, head.x, head.middle),
    )


def _areas(
    column_of: Sequence[int],
    segments: Sequence[Segment],
    sizes: Sequence[tuple[float, float]],
    first: AbstractSet[int],
) -> tuple[list[Stop], list[Area], float, float]:
    """Return the sides of each column, the area of each thing, and the width and height of all."""
    columns: list[list[int]] = [[] for _ in range(max(column_of) + 1)]
    for thing, at in enumerate(column_of):
        columns[at].append(thing)
    columns = _in_reading_order(columns, segments, first)
    segments = list(_from_above(columns, segments))
    heights = heights_of_columns(columns, segments, [height for _, height in sizes])
    areas = [Area(0.0, 0.0, 0.0, 0.0)] * len(sizes)
    left = MARGIN
    sides = []
    for column in columns:
        wide = max((sizes[thing][0] for thing in column), default=0.0)
        for thing in column:
            width, height = sizes[thing]
            width = width or wide  # a bend crosses all of its column
            x = left + (wide - width) / 2
            areas[thing] = Area(round(x, 1), heights[thing] - height / 2 + MARGIN, width, height)
        sides.append(Stop(left, left + wide, 0.0))
        left += wide + (COLUMN_GAP if column else 0.0)
    bottom = max(area.y + area.height for area in areas)
    return sides, areas, round(left - COLUMN_GAP + MARGIN, 1), round(bottom + MARGIN, 1)


def _in_reading_order(
    columns: Sequence[list[int]], segments: Sequence[Segment], first: AbstractSet[int]
) -> list[list[int]]:
    """Order what the paths pass by the paths alone, so that items are in reading order if they can.

    What only belongs to other lines takes its place among them then.
    """
    paths = [segment for segment in segments if first >= {segment.left, segment.right}]
    ordered = ordered_columns([[at for at in column if at in first] for column in columns], paths)
    both = [
        main + [at for at in column if at not in first]
        for main, column in zip(ordered, columns, strict=True)
    ]
    return ordered_columns(both, segments, first)


def _from_above(columns: Sequence[list[int]], segments: Sequence[Segment]) -> Iterator[Segment]:
    """Yield the segments; of a broad fan hardly any but the first one pulls at its beginning.

    So the beginning stands where reading begins, and not in the middle of a long column.
    """
    place = {thing: y for column in columns for y, thing in enumerate(column)}
    fans: dict[int, list[Segment]] = {}
    for segment in segments:
        fans.setdefault(segment.left, []).append(segment)
    for fan in fans.values():
        top = min(fan, key=lambda segment: place[segment.right])
        for segment in fan:
            is_loose = len(fan) > BROAD and segment is not top
            weight = LOOSE / len(fan) if is_loose else segment.weight
            yield segment._replace(weight=weight)
