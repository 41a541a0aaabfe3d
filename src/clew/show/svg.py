"""A drawing as SVG: boxes, the lines between them, and on each line what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from clew.show.drawing import LABEL_SIZE, LINE_HEIGHT, PADDING, Box, Drawing, Line
from clew.show.escaping import escaped
from clew.show.paths import shorten
from clew.show.placing import Area, Strand
from clew.show.wording import role_of

MAX_TOOLTIP = 400  # letters
MIN_WIDTH, MAX_WIDTH = 0.9, 5.0  # pixels, of a line of weight 0 and of one of weight 1
MAX_OTHER_WIDTH = 2.5  # likewise, beside the paths
MIN_STRENGTH, MAX_STRENGTH = 0.35, 1.0  # how opaque, likewise
MIN_SHADE, MAX_SHADE = 0.05, 0.42  # how opaque the fill of a box is, by its score


def to_svg(drawing: Drawing) -> str:
    """Return a drawing as an element of SVG, which works without script.

    The box of an item is a link to `#item-{rank}`. For a script, boxes and lines have the numbers
    of the items whose paths pass them (`data-paths`), boxes the place of their node (`data-node`),
    and lines those of both ends (`data-ends`).
    """
    placed = drawing.placed
    number_of = {box.id: at for at, box in enumerate(drawing.boxes)}
    label = "The paths from the question to the items"
    size = f"{placed.width:g} {placed.height:g}"
    lines = list(zip(drawing.lines, placed.labels, placed.strands, strict=True))
    opening = (
        f'<svg class="drawing" viewBox="0 0 {size}" width="{placed.width:g}" '
        f'height="{placed.height:g}" role="group" aria-label="{label}">'
    )
    parts = [
        opening,
        *(_curve(line, strands, number_of) for line, _, strands in reversed(lines)),
        *(_label(line, area, number_of) for line, area, _ in lines if line.label),
        *(
            _box(at, box, area)
            for at, (box, area) in enumerate(zip(drawing.boxes, placed.boxes, strict=True))
        ),
        "</svg>",
    ]
    return "\n".join(parts)


def _curve(line: Line, strands: Sequence[Strand], number_of: Mapping[str, int]) -> str:
    """A line along its strands, wide and dark by its weight."""
    most = MAX_WIDTH if line.paths else MAX_OTHER_WIDTH
    wide = MIN_WIDTH + (most - MIN_WIDTH) * line.weight
    strength = MIN_STRENGTH + (MAX_STRENGTH - MIN_STRENGTH) * line.weight
    return (
        f'<path class="{_line_class(line)}" {_line_data(line, number_of)} '
        f'd="{" ".join(map(_along, strands))}" stroke-width="{wide:.2f}" '
        f'stroke-opacity="{strength:.2f}"/>'
    )


def _along(strand: Strand) -> str:
    """The commands that draw a strand: level in a column, and curved between two."""
    first = strand[0]
    parts = [f"M{first.left:.1f},{first.y:.1f} H{first.right:.1f}"]
    for one, other in pairwise(strand):
        middle = (one.right + other.left) / 2
        parts.append(
            f"C{middle:.1f},{one.y:.1f} {middle:.1f},{other.y:.1f} {other.left:.1f},{other.y:.1f} "
            f"H{other.right:.1f}"
        )
    return " ".join(parts)


def _label(line: Line, area: Area, number_of: Mapping[str, int]) -> str:
    x, first = area.x + area.width / 2, area.y + LABEL_SIZE
    texts = "".join(
        f'<text x="{x:g}" y="{first + i * (LABEL_SIZE + 3):g}">{escaped(text)}</text>'
        for i, text in enumerate(line.label)
    )
    tooltip = f"<title>{escaped(shorten(line.full, MAX_TOOLTIP))}</title>"
    return (
        f'<g class="{_line_class(line)} label" {_line_data(line, number_of)}>{tooltip}'
        f"{_rectangle(area, 3)}{texts}</g>"
    )


def _box(at: int, box: Box, area: Area) -> str:
    rows = [(text, "name") for text in box.title] + [(text, "detail") for text in box.detail]
    texts = "".join(
        f'<text class="{style}" x="{PADDING:g}" y="{LINE_HEIGHT * (i + 1):g}">'
        f"{escaped(text)}</text>"
        for i, (text, style) in enumerate(rows)
    )
    tooltip = f"<title>{escaped(shorten(box.full, MAX_TOOLTIP))}</title>"
    clipped = (  # letters may be wider than was thought
        f'<svg x="{area.x:g}" y="{area.y:g}" width="{area.width - 4:g}" '
        f'height="{area.height:g}">{texts}</svg>'
    )
    shade = MIN_SHADE + (MAX_SHADE - MIN_SHADE) * box.share
    fill = f'<g class="shade" fill-opacity="{shade:.2f}">{_rectangle(area, 7)}</g>'
    data = f'data-node="{at}" data-paths="{_numbers(box.paths)}"'
    group = (
        f'<g class="node {escaped(box.role)}" {data}>{tooltip}'
        f"{_rectangle(area, 7)}{fill if box.rank else ''}{clipped}</g>"
    )
    if box.rank is None:
        return group
    spoken = escaped(f"Item {box.title[0]}, {role_of(box.role).name}")
    return f'<a href="#item-{box.rank}" data-rank="{box.rank}" aria-label="{spoken}">{group}</a>'


def _rectangle(area: Area, radius: int) -> str:
    return (
        f'<rect x="{area.x:g}" y="{area.y:g}" width="{area.width:g}" '
        f'height="{area.height:g}" rx="{radius}"/>'
    )


def _line_class(line: Line) -> str:
    return "line onpath" if line.paths else "line other"


def _line_data(line: Line, number_of: Mapping[str, int]) -> str:
    ends = f"{number_of[line.tail]} {number_of[line.head]}"
    return f'data-ends="{ends}" data-paths="{_numbers(line.paths)}"'


def _numbers(paths: tuple[int, ...]) -> str:
    return " ".join(map(str, paths))
