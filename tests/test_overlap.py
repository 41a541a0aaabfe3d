"""What lies within what."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew import overlap
from clew.graph import Graph
from clew.overlap import DuplicatesPart, OverlapFilter, may_overlap, overlaps

SPANS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 6)).map(lambda s: (s[0], s[0] + s[1])),
    min_size=1,
    max_size=25,
)


@given(SPANS)
def test_a_node_is_taken_unless_it_contains_or_lies_in_one_that_is(spans):
    graph = Graph.of(
        [f"text {i}" for i in range(len(spans))], spans=spans, documents=[0] * len(spans)
    )
    overlap, taken = OverlapFilter(graph), []
    for row, (start, end) in enumerate(spans):
        nests = any((s <= start and end <= e) or (start <= s and e <= end) for s, e in taken)
        assert overlap.accept(row) is not nests
        if not nests:
            taken.append((start, end))


@given(
    st.lists(
        st.tuples(st.integers(-1, 2), st.integers(0, 5), st.integers(0, 3), st.sampled_from("abc")),
        max_size=7,
    ),
    st.randoms(use_true_random=False),
)
def test_nodes_may_overlap_where_one_of_them_is_refused(nodes, chance):
    whole = [(-1, 0, 9, f"whole {i}") for i in range(3)]
    nodes = [
        *whole,
        *((*own, f"{text}{i * (text != 'c')}") for i, (*own, text) in enumerate(nodes)),
    ]
    graph = Graph.of(
        [text for *_, text in nodes],
        documents=[document for document, *_ in nodes],
        spans=[(start, start + length) for _, start, length, _ in nodes],
    )
    order = chance.sample(range(3, len(nodes)), len(nodes) - 3)
    accept = OverlapFilter(graph).accept
    refused = not all(accept(row) for row in order)
    assert may_overlap(graph, np.array(order, np.int32)) is refused
    accepted, accept = [], OverlapFilter(graph).accept
    for row in order:
        is_new = accept(row)
        assert overlaps(graph, row, np.array(accepted, np.int32)) is not is_new
        accepted += [row] * is_new


def test_nodes_of_other_documents_and_of_none_are_apart():
    graph = Graph.of(["a", "b", "anna"], kinds=["passage", "passage", "entity"], spans=[(0, 5)] * 3)
    overlap = OverlapFilter(graph)
    assert [overlap.accept(row) for row in (0, 1, 2, 2)] == [True, True, True, False]


def test_copies_are_those_of_one_kind_under_one_heading_and_the_best_of_them_alone_has_its_prize():
    kinds = ["section", "section", "passage", "passage", "passage", "passage", "sentence"]
    texts = ["One", "Two", "same", "same ", "same", "other", "same"]
    graph = Graph.of(texts, kinds=kinds, parents=[-1, -1, 0, 0, 1, 0, 0])
    copies = graph.part(DuplicatesPart())
    assert dict(copies.groups) == {2: (2, 3)}
    assert (copies.copies_of(2), copies.copies_of(3), copies.copies_of(4)) == ([3], [2], [])
    assert copies.without_lower_copies(np.array([0.1, 0.1, 0.2, 0.3, 0.1, 0.1, 0.1])).tolist() == [
        0.1,
        0.1,
        0,
        0.3,
        0.1,
        0.1,
        0.1,
    ]
    assert copies.without_lower_copies(np.full(7, 0.5)).tolist() == [
        0.5,
        0.5,
        0.5,
        0,
        0.5,
        0.5,
        0.5,
    ]
    overlap = OverlapFilter(graph)
    assert [overlap.accept(row) for row in (3, 2, 4, 6)] == [True, False, True, True]


def test_the_same_text_in_files_of_other_titles_is_read_once_and_in_other_sections_apart():
    warranty = "The warranty covers the battery for two years."
    files = {
        "a.txt": warranty,
        "b.txt": warranty,
        "c.md": f"# The large one\n\n{warranty}\n\n## Abroad\n\n{warranty}\n",
        "d.md": f"# The small one\n\n## Abroad\n\n{warranty}\n",
    }
    index = clew.Index.from_documents(
        [
            clew.Document(
                name, text, {"title": title}, format="markdown" if "md" in name else "text"
            )
            for (name, text), title in zip(
                files.items(), ("One", "Two", "The large one", "The small one"), strict=True
            )
        ],
        splitter=clew.Splitter(12),
    )
    context = index.ask("How long is the battery covered?", recipe="fused")
    assert [item.text for item in context] == [warranty] * 2
    assert sum("Abroad" in item.heading for item in context) == 1


LONG = (
    "The ferries to the mainland leave from the north quay every two hours, and in a storm the red "
    "flag is raised. No ferry leaves until it is lowered again, which the harbour master decides."
)


@pytest.mark.parametrize("together", [2, 8192])
def test_a_text_with_other_line_ends_is_a_copy(monkeypatch, together):
    monkeypatch.setattr(overlap, "TOGETHER", together)
    wrapped = [textwrap.fill(LONG, width) for width in (40, 72, 200)]
    other = textwrap.fill(LONG.replace("red", "old"), 72)  # as long, and it begins alike
    graph = Graph.of([LONG, *wrapped, other, f"{LONG}\n\nMore.", f"{LONG} More."])
    copies = graph.part(DuplicatesPart())
    assert copies.first.tolist() == [0, 0, 0, 0, 4, 5, 6]
    assert copies.copies_of(2) == [0, 1, 3]


def test_a_copy_may_break_its_first_line_early():
    graph = Graph.of([LONG.replace(" ", "\n", 1), LONG, f"  {LONG}\n"])
    assert graph.part(DuplicatesPart()).copies_of(0) == [1, 2]


def test_indented_lines_are_not_read_as_one():
    lines = ["for boat in boats_of_the_harbour:", "    sail(boat)", "rest()"]
    other = [*lines[:2], "     rest()"]
    texts = ["\n".join(lines), " ".join(lines), "\n".join(other), "\n".join(lines)]
    first = Graph.of(texts).part(DuplicatesPart()).first.tolist()
    assert first == [0, 1, 2, 0]


def test_a_reflowed_text_is_read_once(tmp_path):
    (tmp_path / "README.md").write_text(f"{LONG}\n", encoding="utf-8")
    (tmp_path / "README.txt").write_text(f"{textwrap.fill(LONG, 60)}\n", encoding="utf-8")
    index = clew.Index.from_documents([tmp_path], splitter=clew.Splitter())
    found = index.ask("When do ferries leave?")
    assert len(found) == 1
    assert len(found.dropped) == 1


@pytest.mark.parametrize(
    ("name", "tells"),
    [
        *((name, True) for name in ("branch", "year", "author", "valid_from", "Category", "版")),
        *(
            (name, False)
            for name in ("file_path", "pageLabel", "chunk-id", "source", "lastModified")
        ),
        *(
            (name, False)
            for name in ("_id", "DOCUMENT_ID", "title", "loc.lines", "seq_num", "docId")
        ),
        *((name, False) for name in ("clew_rank", "clew_role", "clew_why", "clew_heading")),
        (2024, True),  # as YAML has a year
    ],
)
def test_what_metadata_say_sets_equal_texts_apart_and_where_they_come_from_does_not(name, tells):
    values = "Cork", "Bari", "Riga"
    documents = [
        clew.Document(value, "Open from ten to five.", {name: value}, source="hours")
        for value in values
    ]
    found = clew.Index.from_documents(documents).ask("When is it open?")
    assert [item.metadata[name] for item in found] == list(values if tells else values[:1])
    same = [clew.Document(value, "Open from ten to five.", {name: 3}) for value in values]
    assert len(clew.Index.from_documents(same).ask("When is it open?").items) == 1
