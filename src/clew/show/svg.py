"""A context as an SVG drawing: a column for each number of hops, in it the nodes in reading order.

A spring layout of a star says nothing. Columns show how far from the question every node is, and
the same context always gives the same picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from clew.show.paths import shorten

if TYPE_CHECKING:
    import networkx

BOX_WIDTH, BOX_HEIGHT = 220, 44  # pixels
COLUMN_GAP, BOX_GAP = 80, 14  # pixels between columns, and between the boxes of a column
MAX_LETTERS = {"name": 29, "detail": 33}  # that fit in a box; wider scripts are clipped
MAX_TOOLTIP = 400  # letters

Corners = Mapping[str, tuple[float, float]]  # of the boxes, the upper left one by node


def to_svg(network: networkx.MultiDiGraph[str]) -> str:
    """Return the drawing of a graph made by `to_networkx`.

    The box of an item links to `#item-{rank}`.
    """
    columns = _columns(network)
    width = len(columns) * (BOX_WIDTH + COLUMN_GAP) - COLUMN_GAP + 60
    height = max(len(column) for column in columns) * (BOX_HEIGHT + BOX_GAP) + BOX_GAP
    corners: dict[str, tuple[float, float]] = {}
    for x, column in enumerate(columns):
        share = height / len(column)
        for y, id in enumerate(column):
            top = (y + 0.5) * share - BOX_HEIGHT / 2
            corners[id] = (x * (BOX_WIDTH + COLUMN_GAP) + 4, top)
    label = "The path from the question to every item"
    opening = (
        f'<svg viewBox="0 0 {width} {height:.0f}" width="{width}" '
        f'style="min-width:{0.75 * width:.0f}px" role="img" aria-label="{label}">'
    )
    curves = [_curve(corners, tail, head, edge) for tail, head, edge in network.edges(data=True)]
    boxes = [_box(corners[id], node) for id, node in network.nodes(data=True)]
    return "\n".join([opening, *curves, *boxes, "</svg>"])


def _columns(network: networkx.MultiDiGraph[str]) -> list[list[str]]:
    """The nodes by their number of hops from the question, each column in reading order.

    A connector stands beside the first item that it leads to.
    """
    hops = _hops_from_question(network)
    rank = _reading_ranks(network)
    ordered = sorted(network, key=lambda node: (hops[node], rank[node], node))
    columns = [
        [id for id in ordered if hops[id] == depth] for depth in range(max(hops.values()) + 1)
    ]
    return [column for column in columns if column]


def _path_view(network: networkx.MultiDiGraph[str]) -> networkx.MultiDiGraph[str]:
    """The graph of the paths alone."""
    import networkx

    return networkx.subgraph_view(
        network, filter_edge=lambda tail, head, key: network.edges[tail, head, key]["on_path"]
    )


def _hops_from_question(network: networkx.MultiDiGraph[str]) -> dict[str, int]:
    import networkx

    question = network.graph["question"]
    neighbours = network.to_undirected(as_view=True)
    hops = dict(networkx.single_source_shortest_path_length(_path_view(network), question))
    for id in network:
        if id not in hops:  # a connector on no path stands beyond what it joins
            joined = (hops[other] for other in neighbours[id] if other in hops)
            hops[id] = 1 + max(joined, default=0)
    return hops


def _reading_ranks(network: networkx.MultiDiGraph[str]) -> dict[str, int]:
    """The place of each item; of a connector, that of the first item that it leads to."""
    import networkx

    paths = _path_view(network)
    neighbours = network.to_undirected(as_view=True)
    last = len(network)
    ranks: dict[str, int] = {}
    for id, node in network.nodes(data=True):
        if "rank" in node:
            ranks[id] = node["rank"]
        else:
            after = networkx.descendants(paths, id) | set(neighbours[id])
            ranks[id] = min(
                (network.nodes[other].get("rank", last) for other in after), default=last
            )
    return ranks


def _curve(corners: Corners, tail: str, head: str, edge: Mapping[str, Any]) -> str:
    """An edge, from the right side of the box in front to the left side of the one behind."""
    (x1, y1), (x2, y2) = sorted((corners[tail], corners[head]))
    y1, y2 = y1 + BOX_HEIGHT / 2, y2 + BOX_HEIGHT / 2
    same_column = x1 == x2
    x1 += BOX_WIDTH
    if same_column:  # a bow to the right
        x2 = x1
        bow = 20 + min(40.0, abs(y2 - y1) / 6)
        bend1, bend2 = x1 + bow, x2 + bow
    else:
        bend1 = bend2 = (x1 + x2) / 2
    curve = f"M{x1:.0f},{y1:.1f} C{bend1:.0f},{y1:.1f} {bend2:.0f},{y2:.1f} {x2:.0f},{y2:.1f}"
    text = f": {edge['text']}" if edge["text"] else ""
    tooltip = escape(f"{edge['kind']} {edge['weight']:.2f}{text}")
    style = "path" if edge["on_path"] else "other"
    return f'<path class="{style}" d="{curve}"><title>{tooltip}</title></path>'


def _box(corner: tuple[float, float], node: Mapping[str, Any]) -> str:
    x, y = corner
    if "rank" in node:
        name, detail = f"{node['rank']} · {node['title']}", node["text"]
    else:
        name, detail = _two_lines(node["text"])
    lines = [(name, "name"), (detail, "detail")] if detail else [(name, "name")]
    texts = "".join(
        f'<text class="{style}" x="10" y="{18 + 16 * i if detail else 27}">'
        f"{escape(shorten(line, MAX_LETTERS[style]))}</text>"
        for i, (line, style) in enumerate(lines)
    )
    tooltip = f"<title>{escape(shorten(node['text'], MAX_TOOLTIP))}</title>"
    shape = f'<rect x="{x:.0f}" y="{y:.1f}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="7"/>'
    size = f'width="{BOX_WIDTH - 6}" height="{BOX_HEIGHT}"'
    clipped = f'<svg x="{x:.0f}" y="{y:.1f}" {size}>{texts}</svg>'
    box = f'<g class="node {escape(node["role"])}">{tooltip}{shape}{clipped}</g>'
    return f'<a href="#item-{node["rank"]}">{box}</a>' if "rank" in node else box


def _two_lines(text: str) -> tuple[str, str]:
    """The text on one line, or on two where one is too short for it."""
    first = shorten(text, MAX_LETTERS["name"])
    if not first.endswith("…"):
        return first, ""
    rest = " ".join(text.split())[len(first) - 1 :].strip()
    return first[:-1], rest
