"""A context as boxes and lines with places: the question on the left, then what it leads to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from clew.show.drawable import Drawable
from clew.show.lettering import width_of, wrapped
from clew.show.network import network_to_draw, path_edges
from clew.show.placing import Placed, place
from clew.show.reach import hops_from_question, reading_ranks
from clew.show.wording import link_in_words
from clew.text.spans import Span

if TYPE_CHECKING:
    import networkx

ITEM_WIDTH, QUESTION_WIDTH, MAX_NAME_WIDTH, MAX_LABEL_WIDTH = 216.0, 152.0, 160.0, 150.0  # pixels
TEXT_SIZE, LABEL_SIZE, LINE_HEIGHT, PADDING = 12.0, 11.0, 16.0, 9.0  # pixels
BOLD = 1.08  # how much wider bold letters are


@dataclass(frozen=True)
class Box:
    """A box of the drawing: the question, an item, or a name on a path.

    Attributes:
        id: The id of the node.
        role: The role of the item; "question" or "connector" for what is none.
        rank: The number of the item, from 1, or None.
        title: What stands in bold, line by line.
        detail: What stands below, line by line.
        full: All of its text.
        share: Its score as a share of the highest one, in [0, 1].
        width: Pixels.
        height: Pixels.
        paths: The numbers of the items whose paths pass through it.
    """

    id: str
    role: str
    rank: int | None
    title: tuple[str, ...]
    detail: tuple[str, ...]
    full: str
    share: float
    width: float
    height: float
    paths: tuple[int, ...] = ()


@dataclass(frozen=True)
class Line:
    """A line of the drawing: all that joins two boxes.

    Attributes:
        tail: The id of the node on the left; of two in a column the upper one.
        head: The id of the node on the right.
        label: What stands on it, line by line.
        full: All that it says.
        weight: In [0, 1].
        paths: The numbers of the items whose paths have it; none beside the paths.
        width: Of the label, in pixels.
        height: Of the label, in pixels.
    """

    tail: str
    head: str
    label: tuple[str, ...]
    full: str
    weight: float
    paths: tuple[int, ...]
    width: float
    height: float


@dataclass(frozen=True)
class Drawing:
    """Boxes and lines with their places.

    Attributes:
        boxes: In reading order, the question first.
        lines: Those of the paths first.
        placed: Where all of them are.
        left_out: How many edges beside the paths are not drawn.
    """

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    placed: Placed
    left_out: int


def drawing_of(context: Drawable, max_edges: int, matches: Mapping[int, Span]) -> Drawing:
    """Return the drawing of a context.

    Args:
        context: What to draw.
        max_edges: How many edges beside the paths are drawn at most, the strongest first.
        matches: The sentence that an item's box shows, as its place in the text, by the item's
            number; other boxes show the beginning.
    """
    network, left_out = network_to_draw(context, max_edges)
    hops, ranks = hops_from_question(network), reading_ranks(network)
    order = sorted(network, key=lambda node: (hops[node], ranks[node], node))
    lines = _lines(context, network, {id: (hops[id], at) for at, id in enumerate(order)})
    passing: dict[str, set[int]] = {}
    for line in lines:
        for end in (line.tail, line.head):
            passing.setdefault(end, set()).update(line.paths)
    top = max((item.score for item in context), default=0.0)
    boxes = [
        replace(_box(id, network.nodes[id], top, matches), paths=tuple(sorted(passing.get(id, ()))))
        for id in order
    ]
    placed = place(boxes, lines, hops)
    return Drawing(tuple(boxes), tuple(lines), placed, left_out)


@dataclass
class _Joint:
    """What is known of a line while its edges are gathered."""

    words: dict[str, None]
    weight: float
    paths: set[int]


def _lines(
    context: Drawable, network: networkx.MultiDiGraph[str], place_of: Mapping[str, tuple[int, int]]
) -> list[Line]:
    """Return one line for each two nodes that anything joins, those on paths first."""
    joints: dict[tuple[str, str], _Joint] = {}
    for rank, tail, head, kind, text, weight, forward in _edges(context, network):
        is_turned = place_of[tail] > place_of[head]
        ends = (head, tail) if is_turned else (tail, head)
        joint = joints.setdefault(ends, _Joint({}, 0.0, set()))
        if text == network.nodes[head]["text"]:  # the box of a fact says it already
            kind, text = "touches" if tail == network.graph["question"] else "states", ""
        joint.words[link_in_words(kind, text, weight, forward=forward != is_turned)] = None
        joint.weight = max(joint.weight, min(1.0, weight))
        joint.paths |= {rank} if rank else set()
    lines = [_line(*ends, joint) for ends, joint in joints.items() if ends[0] != ends[1]]
    return sorted(lines, key=lambda line: not line.paths)


def _edges(
    context: Drawable, network: networkx.MultiDiGraph[str]
) -> Iterator[tuple[int, str, str, str, str, float, bool]]:
    """Yield the edges: the item whose path has it (0 for none), its ends, and what it says."""
    for rank, item in enumerate(context, 1):
        for edge in path_edges(item, network.graph["question"]):
            yield (rank, *edge)
    for tail, head, edge in network.edges(data=True):
        if not edge["on_path"]:
            yield 0, tail, head, edge["kind"], edge["text"], edge["weight"], True


def _line(tail: str, head: str, joint: _Joint) -> Line:
    full = "; ".join(joint.words)
    label = wrapped(full, MAX_LABEL_WIDTH, LABEL_SIZE, 6 if joint.paths else 3)
    width = max((width_of(line, LABEL_SIZE) for line in label), default=0.0) + 8
    height = (LABEL_SIZE + 3) * len(label) + 2
    paths = tuple(sorted(joint.paths))
    return Line(tail, head, tuple(label), full, joint.weight, paths, width, height)


def _box(id: str, node: Mapping[str, Any], top: float, matches: Mapping[int, Span]) -> Box:
    rank: int | None = node.get("rank")
    if rank is None:
        is_question = node["role"] == "question"
        width = QUESTION_WIDTH if is_question else MAX_NAME_WIDTH
        title = wrapped(
            node["text"], width - 2 * PADDING, BOLD * TEXT_SIZE, 8 if is_question else 3
        )
        if not is_question:
            width = (
                max((width_of(line, BOLD * TEXT_SIZE) for line in title), default=0.0) + 3 * PADDING
            )
        return _sized(id, node, width, title, ())
    name = str(node["title"]).split(" > ")[-1]
    start, end = matches.get(rank, (0, len(node["text"])))
    room = ITEM_WIDTH - 2 * PADDING
    is_fact = node["role"] == "fact"
    name = node["text"] if is_fact else name
    title = wrapped(f"{rank} · {name}", room, BOLD * TEXT_SIZE, 4 if is_fact else 2)
    detail = [] if is_fact else wrapped(node["text"][start:end], room, TEXT_SIZE, 2)
    share = max(0.0, node["score"] / top) if top > 0 else 0.0
    return _sized(id, node, ITEM_WIDTH, title, detail, share)


def _sized(
    id: str,
    node: Mapping[str, Any],
    width: float,
    title: Sequence[str],
    detail: Sequence[str],
    share: float = 0.0,
) -> Box:
    height = LINE_HEIGHT * (len(title) + len(detail) or 1) + PADDING
    lines = tuple(title), tuple(detail)
    return Box(
        id, node["role"], node.get("rank"), *lines, node["text"], share, round(width, 1), height
    )
