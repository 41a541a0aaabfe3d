"""Links of one's own, whose edges have a kind that their class's name does not tell: filtered, saved and refused by that kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew.link
from clew import Document, Index
from clew.graph import Edges, Graph
from clew.index.filtering import filtered_index
from clew.link import Next


@dataclass(frozen=True)
class Neighbours:
    """A ring over the nodes there are: who stands beside whom depends on all of them."""

    kind: ClassVar[str] = "beside"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        rows = np.arange(len(graph))
        return Edges.of(self.kind, rows, np.roll(rows, -1), 1 / len(graph))


@dataclass(frozen=True)
class Last:
    """To the last node from each before it, of the ring's kind, though the edges by themselves would not be corpus-wide."""

    kind: ClassVar[str] = "beside"
    corpus_wide: ClassVar[bool] = False

    def on(self, graph: Graph) -> Edges:
        return Edges.of(
            self.kind, np.arange(len(graph) - 1), [len(graph) - 1] * (len(graph) - 1), 0.5
        )


def graph_of(numbers: Any) -> Graph:
    numbers = sorted(numbers)
    vectors = np.full((len(numbers), 6), 6**-0.5)
    return Graph.of(
        [f"text {i}" for i in numbers],
        ids=[f"n{i}" for i in numbers],
        vectors=vectors,
        metadata=tuple({"number": i} for i in numbers),
    )


def edges_of(graph: Graph) -> list[Any]:
    edges = graph.edges
    rows = zip(edges.tails, edges.heads, edges.kinds, edges.weights, strict=True)
    return sorted((graph.ids[t], graph.ids[h], kind, round(float(w), 6)) for t, h, kind, w in rows)


@given(st.sets(st.integers(0, 5), min_size=1))
@pytest.mark.parametrize(
    "links", [(Neighbours(),), (Neighbours(), Last())], ids=["one link", "two of one kind"]
)
def test_a_filter_leaves_the_edges_of_an_index_of_the_allowed_alone(links, numbers):
    whole, alone = (
        Index.from_graph(graph_of(some), embedder=embed_six, links=links)
        for some in (range(6), numbers)
    )
    assert edges_of(filtered_index(whole, {"number": sorted(numbers)}).graph) == edges_of(
        alone.graph
    )


def embed_six(texts: list[str]) -> Any:
    return np.ones((len(texts), 6))


def test_three_of_five_nodes_have_the_three_edges_of_their_own_ring():
    whole = Index.from_graph(graph_of(range(5)), embedder=embed_six, links=(Neighbours(),))
    left = filtered_index(whole, {"number": [0, 1, 2]}).graph
    assert edges_of(left) == [
        ("n0", "n1", "beside", 0.333333),
        ("n1", "n2", "beside", 0.333333),
        ("n2", "n0", "beside", 0.333333),
    ]


def test_every_link_of_clews_own_makes_edges_of_its_kind(embed):
    index = Index.from_documents(
        [
            Document("a", "Anna knows Ben. See [b](b)."),
            Document("b", "Ben Carter knows Anna."),
            Document("c", "Anna knows Ben Carter."),
        ],
        facts={id: [("Anna", "knows", "Ben"), ("Ben Carter", "knows", "Anna")] for id in "abc"},
        embedder=embed,
        splitter=clew.Splitter(8),
        links=[getattr(clew.link, name)() for name in clew.link.__all__],
    )
    kinds = [getattr(clew.link, name).kind for name in clew.link.__all__]
    assert len(set(kinds)) == len(kinds)
    assert set(index.graph.edges.kinds.names) <= set(kinds)


@dataclass(frozen=True)
class Stray(Neighbours):
    def on(self, graph: Graph) -> Edges:
        return Edges.of("elsewhere", [0], [0])


class Silent:
    corpus_wide = True

    def on(self, graph: Graph) -> Edges:
        return Edges()


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (Stray(), "Stray has kind 'beside' and made edges of elsewhere"),
        (Silent(), "a link says the kind of its edges.*Silent has None"),
    ],
)
def test_a_link_without_a_kind_or_with_edges_of_another_is_refused(embed, link, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Index.from_documents(
            [Document("a", "sea"), Document("b", "island")], embedder=embed, links=(link,)
        )
    with pytest.raises((TypeError, ValueError), match=message):
        Index.from_graph(graph_of(range(3)), embedder=embed_six, links=(link,))


def test_a_saved_index_knows_the_kind_of_a_link_of_ones_own(tmp_path, monkeypatch):
    links = (Neighbours(), Next())
    Index.from_graph(graph_of(range(5)), embedder=embed_six, links=links).save(tmp_path)
    loaded = Index.load(tmp_path, embedder=embed_six, links=links)
    assert len(filtered_index(loaded, {"number": [0, 1, 2]}).graph.edges) == 3
    monkeypatch.setattr(Neighbours, "kind", "ring")
    with pytest.raises(
        ValueError,
        match=r"edges of the kind 'beside' by .*Neighbours\(\), and the one given makes 'ring'",
    ):
        Index.load(tmp_path, embedder=embed_six, links=links)
