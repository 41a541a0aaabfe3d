"""Where things stand in the drawing: nothing overlaps, nothing is outside, and every path is drawn."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.context import Context
from clew.items import ContextEdge, Hop, Item
from clew.show.drawing import drawing_of
from clew.show.layers import Segment, crossings, heights_of_columns, ordered_columns
from clew.show.lettering import width_of, wrapped

NAMES = [f"p{i}" for i in range(7)] + [f"entity:e{i}" for i in range(4)] + ["guide.md"]
TEXTS = st.sampled_from(["", "Anna married Ben", "a " * 60, "日本語" * 30, "x" * 200])


@st.composite
def contexts(draw) -> Context:
    """Items whose paths pass through items and names, in any order, and edges between all of them."""
    items = []
    for id in draw(st.lists(st.sampled_from(NAMES[:7]), unique=True, min_size=1)):
        middle = draw(st.lists(st.sampled_from(NAMES), max_size=3))
        stops = [*(name for name in middle if name != id), id]
        if not draw(st.integers(0, 6)):
            stops = []
        texts = [draw(TEXTS) for _ in stops]
        sources = ["question", *stops]
        kinds = ["touches"] + ["mentions", "similar", "fact"] * 2
        hops = [
            Hop(source, kind, stop, text, draw(st.floats(0, 3)), draw(st.booleans()))
            for source, stop, text, kind in zip(sources, stops, texts, kinds, strict=False)
        ]
        score = draw(st.floats(0, 1))
        items.append(Item(id, draw(TEXTS), score, "seed", "passage", 3, why=tuple(hops)))
    ends = st.sampled_from(NAMES)
    edges = draw(st.lists(st.builds(ContextEdge, ends, ends, st.sampled_from(["next", "similar", "mentions"]), st.floats(0.01, 1), TEXTS), max_size=14))  # fmt: skip
    return Context(tuple(items), "", 0, None, draw(TEXTS), "", tuple(edges))


def points(strand) -> list[tuple[float, float]]:
    """Points along a strand, close to each other, by De Casteljau's construction."""
    found = []
    for stop in strand:
        found += [(stop.left + share * (stop.right - stop.left), stop.y) for share in (0, 0.25, 0.5, 0.75, 1)]  # fmt: skip
    for one, other in pairwise(strand):
        middle = (one.right + other.left) / 2
        corners = [(one.right, one.y), (middle, one.y), (middle, other.y), (other.left, other.y)]
        for step in range(41):
            row = corners
            while len(row) > 1:
                row = [
                    tuple((1 - step / 40) * a + step / 40 * b for a, b in zip(p, q, strict=True))
                    for p, q in pairwise(row)
                ]
            found.append(row[0])
    return found


@given(contexts())
def test_nothing_overlaps_and_nothing_is_outside(context):
    drawing = drawing_of(context, 9, {})
    placed = drawing.placed
    areas = [*placed.boxes, *placed.labels]
    for one, other in combinations(areas, 2):
        assert (
            one.x + one.width < other.x or other.x + other.width < one.x
            or one.y + one.height < other.y or other.y + other.height < one.y
        )  # fmt: skip
    for area in areas:
        assert area.x >= 0
        assert area.x + area.width <= placed.width
        assert area.y >= 0
        assert area.y + area.height <= placed.height


@given(contexts())
def test_a_line_joins_its_boxes_and_passes_no_other_box_and_no_other_label(context):
    drawing = drawing_of(context, 9, {})
    area_of = dict(zip((box.id for box in drawing.boxes), drawing.placed.boxes, strict=True))
    for at, (line, strands) in enumerate(zip(drawing.lines, drawing.placed.strands, strict=True)):
        label = drawing.placed.labels[at]
        own = [area_of[line.tail], area_of[line.head], label]
        others = [area for area in (*area_of.values(), *drawing.placed.labels) if area not in own]
        ends = {(strand[i].left if i == 0 else strand[i].right, strand[i].y) for strand in strands for i in (0, -1)}  # fmt: skip
        tail, head = area_of[line.tail], area_of[line.head]
        assert (tail.x + tail.width, tail.y + tail.height / 2) in ends
        if len(strands) == 1:
            assert (head.x, head.y + head.height / 2) in ends
        else:
            assert (head.x + head.width, head.y + head.height / 2) in ends
        for strand in strands:
            for x, y in points(strand):
                assert not any(
                    area.x < x < area.x + area.width and area.y < y < area.y + area.height
                    for area in others
                )


@given(contexts())
def test_every_hop_of_every_path_is_a_line_that_knows_its_item(context):
    drawing = drawing_of(context, 0, {})
    question = drawing.boxes[0].id
    lines = {frozenset((line.tail, line.head)): line for line in drawing.lines}
    assert len(lines) == len(drawing.lines)
    expected = {}
    for rank, item in enumerate(context, 1):
        stops = [question, *(hop.target for hop in item.why)]
        for one, other in pairwise(stops):
            if one != other:
                expected.setdefault(frozenset((one, other)), set()).add(rank)
    assert {pair: set(line.paths) for pair, line in lines.items()} == expected
    for box in drawing.boxes:
        passing = {rank for pair, ranks in expected.items() if box.id in pair for rank in ranks}
        assert set(box.paths) == passing


@given(contexts())
def test_the_same_context_is_drawn_the_same(context):
    assert drawing_of(context, 9, {}) == drawing_of(context, 9, {})


def crossings_of(columns, segments) -> int:
    """By trying every pair of lines between the same two columns."""
    at = {thing: (x, y) for x, column in enumerate(columns) for y, thing in enumerate(column)}
    return sum(
        at[a][0] == at[c][0] and (at[a][1] - at[c][1]) * (at[b][1] - at[d][1]) < 0
        for (a, b, _), (c, d, _) in combinations(segments, 2)
    )


@given(st.sets(st.tuples(st.integers(0, 3), st.integers(4, 7)), min_size=1))
def test_crossings_are_counted_and_never_more_than_before(pairs):
    segments = [Segment(a, b, 1.0) for a, b in sorted(pairs)]
    columns = [[0, 1, 2, 3], [4, 5, 6, 7]]
    ordered = ordered_columns(columns, segments)
    assert [sorted(column) for column in ordered] == columns
    assert crossings(ordered, segments) == crossings_of(ordered, segments)
    assert crossings(ordered, segments) <= crossings_of(columns, segments)


def test_the_order_is_kept_where_nothing_crosses_and_found_where_nothing_need_cross():
    star = [Segment(0, i, 1.0) for i in range(1, 6)]
    assert ordered_columns([[0], [1, 2, 3, 4, 5]], star) == [[0], [1, 2, 3, 4, 5]]
    for order in permutations(range(3, 6)):  # each of three things has its own partner
        segments = [Segment(i, other, 1.0) for i, other in enumerate(order)]
        assert crossings_of(ordered_columns([[0, 1, 2], [3, 4, 5]], segments), segments) == 0


def test_heights_are_the_least_total_length_that_a_search_of_all_whole_numbers_finds():
    sizes, columns = [4.0, 4.0, 4.0, 4.0], [[0, 1], [2, 3]]
    segments = [Segment(0, 2, 1.0), Segment(1, 2, 1.0), Segment(1, 3, 3.0)]

    def length(heights) -> float:
        return sum(s.weight * abs(heights[s.left] - heights[s.right]) for s in segments)

    apart = 4 + 14
    best = min(
        length((a, a + b, c, c + d))
        for a in range(2, 30, 2) for b in range(apart, 30, 2) for c in range(2, 30, 2) for d in range(apart, 30, 2)
    )  # fmt: skip
    heights = heights_of_columns(columns, segments, sizes)
    assert length(heights) == pytest.approx(best, abs=0.2)  # they are rounded


@given(st.text(max_size=80), st.floats(20, 200), st.integers(1, 4))
def test_lines_of_text_fit_and_lose_nothing_but_what_is_cut(text, pixels, most):
    lines = wrapped(text, pixels, 12, most)
    assert len(lines) <= most
    assert all(len(line) <= 2 or width_of(line, 12) <= pixels + 0.5 for line in lines)
    whole = "".join(text.split())
    joined = "".join("".join(lines).split())
    assert joined == whole or (joined.endswith("…") and whole.startswith(joined[:-1]))


def test_items_stand_in_reading_order_beside_a_question_that_is_as_high_as_the_first():
    """Links beside the paths, however many, do not move the items of a star."""
    items = tuple(
        Item(f"p{i}", "text", 0.5, "seed", "passage", 3, why=(Hop("question", "touches", f"p{i}"),))
        for i in range(12)
    )
    edges = tuple(ContextEdge(f"p{i}", f"p{11 - i}", "similar", 0.9) for i in range(6))
    drawing = drawing_of(Context(items, "", 0, None, "Who?", "", edges), 9, {})
    boxes = dict(zip((box.rank for box in drawing.boxes), drawing.placed.boxes, strict=True))
    heights = [boxes[rank].y for rank in range(1, 13)]
    assert heights == sorted(heights)
    assert boxes[None].middle == pytest.approx(boxes[1].middle, abs=0.2)
