"""References that may mean names are found as if each were looked at."""

from __future__ import annotations

import posixpath

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clew.graph import Graph
from clew.link import Hyperlink
from clew.link._link_search import WrittenLinks, WrittenLinksPart

PIECES = ("a", "b.md", "a.py", "/", "//", ".", "..", "#", "%2E", "?", " ", "\n", ":", "module:", "note:", "https://x.org/", "__init__.py", "é", "B")  # fmt: skip
REFERENCE = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
NODES = st.lists(st.lists(REFERENCE, max_size=4).map(tuple), min_size=1, max_size=5)
IDS = ("a", "b.md", "c/a", "c/b.md", "c/index.md", "é", "a/a.py", "a/__init__.py", "c/ab.md", " a", "x\ny")  # fmt: skip


@given(
    st.lists(REFERENCE, min_size=1, max_size=12).map(tuple),
    st.sampled_from(IDS),
    st.sampled_from(["", "c/d/"]),
)
def test_every_link_to_a_document_is_among_those_that_may_mean_it(references, id, folder):
    """What links lead to is found by the edges of a graph that has all of them."""
    graph = Graph.of(["one", "other"], ids=[f"{folder}zz.md", id], references=(references, ()))
    led = [
        reference
        for reference in references
        if len(
            Hyperlink().on(
                Graph.of(
                    ["one", "other"], ids=[f"{folder}zz.md", id], references=((reference,), ())
                )
            )
        )
    ]
    stem, _ = posixpath.splitext(id)
    shorter = [stem, posixpath.dirname(id)] if id.endswith("index.md") else [stem]
    names = {posixpath.basename(posixpath.normpath(one)) for one in (id, *shorter)}
    names |= {f"note:{posixpath.basename(one).lower()}" for one in shorter}
    assert set(led) <= graph.part(WrittenLinksPart()).that_may_mean(names, ())


@given(NODES, NODES, st.sets(st.sampled_from(["a", "b.md", "B", "a.py", "note:a", "d"])))
def test_references_of_nodes_that_came_are_found_like_those_of_all(some, others, names):
    whole = WrittenLinks.of([*some, *others]).that_may_mean(names, {"ref:a"})
    assert WrittenLinks.of(some).more(others).that_may_mean(names, {"ref:a"}) == whole


def test_other_links_are_not_looked_at():
    plain = [
        "a.md",
        "b/a.md#top",
        "a.md/",
        "xa.md",
        "a.mdx",
        "https://x.org/a.md",
        "#a.md",
        "a.md/b",
    ]
    found = WrittenLinks.of([plain]).that_may_mean({"a.md"}, ())
    assert found == {"a.md", "b/a.md#top", "a.md/", "https://x.org/a.md"}
    assert WrittenLinks.of([plain]).that_may_mean((), ()) == set()
    labels = WrittenLinks.of([("ref:a", "ref:b", "label:a")])
    assert labels.that_may_mean((), {"ref:a"}) == {"ref:a"}


def test_links_that_come_and_go_for_ever_are_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr("clew.link._link_search.MIN_FIRST", 3)
    part, base = WrittenLinksPart(), Graph.of(["here"], ids=["d"], references=(("x.md",),))
    links = part.compute(base)
    for number in range(20):
        graph = Graph.of(
            ["here", "new"], ids=["d", "e"], references=(("x.md",), (f"a{number}.md",))
        )
        links = part.grow(graph, base, links)
        assert links.that_may_mean({f"a{number}.md"}, ()) == {f"a{number}.md"}
        assert links.that_may_mean({"x.md"}, ()) == {"x.md"}
        assert len(links.references) <= 6
        links = part.shrink(base, graph, np.array([True, False]), links)
