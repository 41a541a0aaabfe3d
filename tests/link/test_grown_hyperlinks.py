"""Links of a graph that grows or shrinks are those of the graph made at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph import Edges, Graph, NodeChange
from clew.link import Hyperlink

NAMES = (
    "a.md", "a.rst", "b/a.md", "b/index.md", "b/c/README.rst", "b/c/d.md", "index.md", "b", "e f.md",
    "https://x.org", "https://x.org/b/", "pkg/__init__.py", "pkg/mod.py", "/a.md", "text-0a1b",
    "b/u\u0308.md", "\u00e9/a.md",
)  # fmt: skip
LINKS = (
    "a", "a.md", "../a.md#x", "..", ".", "b/", "b/..", "./c", "../b/c/", "e%20f.md", "%2E%2E", "#top",
    "https://x.org/b", "https://x.org", "module:pkg", "module:pkg.mod", "/a", "D.md", "d", "mod",
    "a.md#some-words", "d#x", "ref:l", "ref:m", "label:l", "label:m", "anchor:x", "/", "b/c/d/..",
    "a.md?#x", "b//", "b/./", " a.md", "a.md?q#x", "https://x.org/#top", "//", "b/c/d?#x",
    "note:a", "note:A.md", "note:D#some words", "note:b/a", "note:c", "note:#x", "note:mod", "note:E f",
    "\u00fc.md", "b/u\u0308", "b/%C3%BC.md#x", "note:\u00dc", "e\u0301/a.md", "../e%CC%81/a", "note:E\u0301/a",
)  # fmt: skip
document = st.tuples(
    st.lists(st.sampled_from(LINKS), max_size=4),
    st.sampled_from(
        [{}, {}, {"module": "pkg.mod"}, {"url": "https://x.org/b"}, {"source": "b/a.md"}]
    ),
)


def graph_of(ids, documents):
    """Documents, each with a section and in it a passage that has its links and names."""
    n = len(documents)
    firsts = np.arange(n) * 3
    return Graph.of(
        [text for row in range(n) for text in (f"text {row}", "Some words", f"It is {row}.")],
        ids=[name for id in ids for name in (id, f"{id}#s", f"{id}#0")],
        kinds=["document", "section", "passage"] * n,
        documents=np.repeat(firsts, 3),
        parents=[row for first in firsts.tolist() for row in (-1, first, first + 1)],
        references=tuple(refs for links, _ in documents for refs in ((), (), tuple(links))),
        metadata=tuple(one for _, metadata in documents for one in (metadata, {}, {})),
    )


def pairs_of(edges):
    assert set(edges.kinds) <= {"hyperlink"}
    return list(zip(edges.tails.tolist(), edges.heads.tolist(), strict=True))


@given(st.permutations(NAMES), st.lists(document, min_size=2, max_size=9), st.data())
def test_links_of_a_graph_that_grew_are_those_of_all_at_once(names, documents, data):
    ids = names[: len(documents)]
    n = data.draw(st.integers(1, len(documents) - 1))
    base, graph = graph_of(ids[:n], documents[:n]), graph_of(ids, documents)
    grown = Hyperlink().grow(graph, Hyperlink().on(base), len(base))
    assert pairs_of(grown) == pairs_of(Hyperlink().on(graph))


@given(st.permutations(NAMES), st.lists(document, min_size=2, max_size=9), st.data())
def test_links_of_a_graph_that_shrank_are_those_of_the_rest(names, documents, data):
    ids = names[: len(documents)]
    stays = np.array(data.draw(st.lists(st.booleans(), min_size=len(ids), max_size=len(ids))))
    base = graph_of(ids, documents)
    rest = graph_of(*([one for one, stay in zip(some, stays, strict=True) if stay]
                      for some in (ids, documents)))  # fmt: skip
    is_left = np.repeat(stays, 3)
    row_now = np.cumsum(is_left) - 1
    before = pairs_of(Hyperlink().on(base))
    left = [(row_now[t], row_now[h]) for t, h in before if is_left[t] and is_left[h]]
    bereft = np.zeros(len(rest), np.bool_)
    bereft[[row_now[t] for t, h in before if is_left[t] and not is_left[h]]] = True
    edges = Edges.of("hyperlink", *(np.array([pair[i] for pair in left], int) for i in (0, 1)))
    wanted = pairs_of(Hyperlink().on(rest))
    assert pairs_of(Hyperlink().shrink(rest, edges, bereft)) == wanted
    change = NodeChange(base, rest, rest, is_left)  # of few that are left, their names are read
    assert pairs_of(Hyperlink().exchange(change, edges, bereft)) == wanted


@pytest.mark.parametrize("seed", range(200))
def test_links_after_documents_went_and_others_came_are_those_of_all_at_once(seed):
    draw = np.random.default_rng(seed)
    ids = draw.permutation(NAMES).tolist()[: draw.integers(4, 12)]
    metadata = ({}, {}, {"module": "pkg.mod"}, {"url": "https://x.org/b"}, {"source": "b/a.md"})
    documents = [
        (draw.choice(LINKS, draw.integers(0, 12)).tolist(), metadata[draw.integers(5)]) for _ in ids
    ]
    n = int(draw.integers(3, len(ids) + 1))
    stays = draw.random(n) < 0.7
    again = [i for i in np.flatnonzero(~stays).tolist() if draw.random() < 0.3]  # with other links
    kept = np.flatnonzero(stays).tolist()
    some = [*kept, *again, *range(n, len(ids))]
    linked = [*(documents[i] for i in kept), *(documents[-1 - i] for i in again), *documents[n:]]
    base, graph = graph_of(ids[:n], documents[:n]), graph_of([ids[i] for i in some], linked)
    is_left = np.repeat(stays, 3)
    row_now, n_left = np.cumsum(is_left) - 1, 3 * len(kept)
    before = pairs_of(Hyperlink().on(base))
    left = [(row_now[t], row_now[h]) for t, h in before if is_left[t] and is_left[h]]
    bereft = np.zeros(n_left, np.bool_)
    bereft[[row_now[t] for t, h in before if is_left[t] and not is_left[h]]] = True
    edges = Edges.of("hyperlink", *(np.array([pair[i] for pair in left], int) for i in (0, 1)))
    change = NodeChange(base, base.filtered(is_left), graph, is_left)
    changed = Hyperlink().exchange(change, edges, bereft)
    assert pairs_of(changed) == pairs_of(Hyperlink().on(graph))


def test_no_other_links_are_read_again_than_what_a_change_may_concern(monkeypatch):
    links = [["b.md"], ["zz.md"], ["a.md"], ["a"]]
    documents = [(some, {}) for some in links]
    ids = ["a.md", "b.md", "zz.md", "c.md"]
    base, graph = graph_of(ids[:2], documents[:2]), graph_of(ids[:3], documents[:3])
    whole = graph_of(ids, documents)
    before, after = Hyperlink().on(base), Hyperlink().on(whole)
    read = []
    make = Hyperlink._edges_of

    def noted(self, graph, rows, names=None):
        read.append(list(rows))
        return make(self, graph, rows, names)

    monkeypatch.setattr(Hyperlink, "_edges_of", noted)
    assert pairs_of(before) == [(2, 3)]
    assert pairs_of(Hyperlink().grow(graph, before, len(base))) == [(2, 3), (5, 6), (8, 0)]
    assert pairs_of(after) == [(2, 3), (5, 6), (8, 0), (11, 0)]
    none = np.zeros(9, np.bool_)
    left = after.take(np.arange(3))
    assert pairs_of(Hyperlink().shrink(graph, left, none)) == [(2, 3), (5, 6), (8, 0)]
    assert read == [[5, 8]]
