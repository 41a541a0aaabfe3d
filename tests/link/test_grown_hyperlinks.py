"""Links of a graph that grows are those of the graph made at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clew.graph import Graph
from clew.link import Hyperlink

NAMES = (
    "a.md", "a.rst", "b/a.md", "b/index.md", "b/c/README.rst", "b/c/d.md", "index.md", "b", "e f.md",
    "https://x.org", "https://x.org/b/", "pkg/__init__.py", "pkg/mod.py", "/a.md", "text-0a1b",
)  # fmt: skip
LINKS = (
    "a", "a.md", "../a.md#x", "..", ".", "b/", "b/..", "./c", "../b/c/", "e%20f.md", "%2E%2E", "#top",
    "https://x.org/b", "https://x.org", "module:pkg", "module:pkg.mod", "/a", "D.md", "d", "mod",
)  # fmt: skip
document = st.tuples(
    st.lists(st.sampled_from(LINKS), max_size=3),
    st.sampled_from(
        [{}, {}, {"module": "pkg.mod"}, {"url": "https://x.org/b"}, {"source": "b/a.md"}]
    ),
)


def graph_of(ids, documents):
    """Documents, each with a passage in it that has its links."""
    n = len(documents)
    owners = np.repeat(np.arange(n) * 2, 2)
    return Graph.of(
        [f"text {row}" for row in range(2 * n)],
        ids=[name for id in ids for name in (id, f"{id}#0")],
        kinds=["document", "passage"] * n,
        documents=owners,
        references=tuple(refs for links, _ in documents for refs in ((), tuple(links))),
        metadata=tuple(one for _, metadata in documents for one in (metadata, {})),
    )


@given(st.permutations(NAMES), st.lists(document, min_size=2, max_size=9), st.data())
def test_links_of_a_graph_that_grew_are_those_of_all_at_once(names, documents, data):
    ids = names[: len(documents)]
    n = data.draw(st.integers(1, len(documents) - 1))
    base, graph = graph_of(ids[:n], documents[:n]), graph_of(ids, documents)
    before = Hyperlink().on(base)
    grown, at_once = Hyperlink().grow(graph, before, len(base)), Hyperlink().on(graph)
    assert grown.tails.tolist() == at_once.tails.tolist()
    assert grown.heads.tolist() == at_once.heads.tolist()
    assert list(grown.kinds) == list(at_once.kinds)


def test_links_are_not_read_again_for_a_document_that_none_may_name(monkeypatch):
    documents = [(["b.md"], {}), ([], {}), (["a.md"], {})]
    base, graph = (
        graph_of(["a.md", "b.md"], documents[:2]),
        graph_of(["a.md", "b.md", "zz"], documents),
    )
    before = Hyperlink().on(base)
    monkeypatch.setattr(Hyperlink, "on", None)
    grown = Hyperlink().grow(graph, before, len(base))
    assert list(zip(grown.tails.tolist(), grown.heads.tolist(), strict=True)) == [(1, 2), (5, 0)]
