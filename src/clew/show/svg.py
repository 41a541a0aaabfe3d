"""The small graph of a context as an SVG drawing: one column per hop from the question, each in reading order.

A spring layout of a star says nothing; columns say how far from the question everything lies, and the same context gives the same picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from clew.show.paths import shortened

if TYPE_CHECKING:
    import networkx

WIDE, HIGH = 220, 44  # a box, in pixels
APART, BETWEEN = 80, 14  # between columns, between boxes of a column
LETTERS = {"name": 29, "said": 33}  # that fit in a box; what is wider (other scripts) is clipped

Places = Mapping[str, tuple[float, float]]


def svg(network: networkx.MultiDiGraph[str]) -> str:
    """Return the drawing of a graph made by `to_networkx`; an item's box links to `#item-{rank}`."""
    columns = _columns(network)
    width = len(columns) * (WIDE + APART) - APART + 60
    height = max(len(column) for column in columns) * (HIGH + BETWEEN) + BETWEEN
    places: dict[str, tuple[float, float]] = {}
    for x, column in enumerate(columns):
        room = height / len(column)
        for y, name in enumerate(column):
            places[name] = (x * (WIDE + APART) + 4, (y + 0.5) * room - HIGH / 2)
    size = (
        f'viewBox="0 0 {width} {height:.0f}" width="{width}" style="min-width:{0.75 * width:.0f}px"'
    )
    lines = [f'<svg {size} role="img" aria-label="The way from the question to every item">']
    lines += [_line(places, tail, head, edge) for tail, head, edge in network.edges(data=True)]
    lines += [_box(places[name], node) for name, node in network.nodes(data=True)]
    return "\n".join([*lines, "</svg>"])


def _columns(network: networkx.MultiDiGraph[str]) -> list[list[str]]:
    """The nodes by their number of hops from the question, each column in reading order; a connector stands by what it leads to."""
    import networkx

    question = network.graph["question"]
    whole = network.to_undirected(as_view=True)
    ways = networkx.subgraph_view(
        network, filter_edge=lambda a, b, key: network.edges[a, b, key]["way"]
    )
    hops = networkx.single_source_shortest_path_length(ways, question)
    rank = {name: node.get("rank", len(network)) for name, node in network.nodes(data=True)}
    for name in rank:
        if "rank" not in network.nodes[name]:
            after = networkx.descendants(ways, name) | set(whole[name])
            rank[name] = min(
                (network.nodes[other].get("rank", len(network)) for other in after),
                default=len(network),
            )
    for name in network:
        if name not in hops:  # a connector on no way stands beyond what it joins
            hops[name] = 1 + max((hops[other] for other in whole[name] if other in hops), default=0)
    ordered = sorted(network, key=lambda name: (hops[name], rank[name], name))
    return [
        column
        for depth in range(max(hops.values()) + 1)
        if (column := [name for name in ordered if hops[name] == depth])
    ]


def _line(places: Places, tail: str, head: str, edge: Mapping[str, Any]) -> str:
    (x1, y1), (x2, y2) = sorted((places[tail], places[head]))
    y1, y2 = y1 + HIGH / 2, y2 + HIGH / 2
    if x1 == x2:  # within a column: a bow to the right
        x1, x2 = x1 + WIDE, x2 + WIDE
        bow = 20 + min(40.0, abs(y2 - y1) / 6)
        curve = (
            f"M{x1:.0f},{y1:.1f} C{x1 + bow:.0f},{y1:.1f} {x2 + bow:.0f},{y2:.1f} {x2:.0f},{y2:.1f}"
        )
    else:
        x1, middle = x1 + WIDE, (x1 + WIDE + x2) / 2
        curve = f"M{x1:.0f},{y1:.1f} C{middle:.0f},{y1:.1f} {middle:.0f},{y2:.1f} {x2:.0f},{y2:.1f}"
    said = escape(
        f"{edge['kind']} {edge['weight']:.2f}" + (f": {edge['text']}" if edge["text"] else "")
    )
    return (
        f'<path class="{"way" if edge["way"] else "tie"}" d="{curve}"><title>{said}</title></path>'
    )


def _box(place: tuple[float, float], node: Mapping[str, Any]) -> str:
    x, y = place
    name, said = (
        (f"{node['rank']} · {node['title']}", node["text"])
        if "rank" in node
        else _in_two(node["text"])
    )
    lines = [(name, "name"), (said, "said")] if said else [(name, "name")]
    texts = "".join(
        f'<text class="{style}" x="10" y="{18 + 16 * i if said else 27}">{escape(shortened(line, LETTERS[style]))}</text>'
        for i, (line, style) in enumerate(lines)
    )
    whole = f"<title>{escape(shortened(node['text'], 400))}</title>"
    shape = f'<rect x="{x:.0f}" y="{y:.1f}" width="{WIDE}" height="{HIGH}" rx="7"/>'
    clipped = f'<svg x="{x:.0f}" y="{y:.1f}" width="{WIDE - 6}" height="{HIGH}">{texts}</svg>'
    box = f'<g class="node {escape(node["role"])}">{whole}{shape}{clipped}</g>'
    return f'<a href="#item-{node["rank"]}">{box}</a>' if "rank" in node else box


def _in_two(text: str) -> tuple[str, str]:
    """A question or a name that does not fit on one line goes on in the next."""
    first = shortened(text, LETTERS["name"])
    return (
        (first, "")
        if not first.endswith("…")
        else (first[:-1], " ".join(text.split())[len(first) - 1 :].strip())
    )
