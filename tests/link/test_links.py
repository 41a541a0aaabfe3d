"""Every kind of link by its definition, on small graphs."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Document, Index, Splitter
from clew.graph import Facts, Graph, Labels, Ragged, freeze
from clew.link import Contains, Fact, Hyperlink, Mentions, Next, Shared, Similar, Synonym, shared


def triples(edges, graph, weights=False):
    named = [(graph.ids[t], graph.ids[h]) for t, h in zip(edges.tails, edges.heads, strict=True)]
    return (
        [(*pair, round(float(w), 6)) for pair, w in zip(named, edges.weights, strict=True)]
        if weights
        else named
    )


def graph_with_entities(passages, read_from):
    """`passages` texts and one entity for each list of passages it was read from."""
    n = len(passages)
    return Graph.of(
        [*passages, *(f"entity {i}" for i in range(len(read_from)))],
        ids=[*(f"p{i}" for i in range(n)), *(f"e{i}" for i in range(len(read_from)))],
        kinds=["passage"] * n + ["entity"] * len(read_from),
        read_from=Ragged.of([*[()] * n, *read_from]),
    )


def test_contains_and_next_are_the_documents_own_structure():
    graph = Graph.of(
        ["title", "one", "two", "alone"],
        ids=["d", "d1", "d2", "x"],
        kinds=["document", "passage", "passage", "passage"],
        parents=[-1, 0, 0, -1],
        previous=[-1, -1, 1, -1],
    )
    assert triples(Contains().on(graph), graph) == [("d", "d1"), ("d", "d2")]
    assert triples(Next().on(graph), graph) == [("d1", "d2")]
    assert set(Contains().on(graph).kinds) == {"contains"}
    assert set(Next().on(graph).kinds) == {"next"}


def test_mentions_lead_from_a_passage_to_what_was_read_from_it_and_die_with_it():
    graph = graph_with_entities(["a", "b"], [[0], [0, 1]])
    edges = Mentions().on(graph)
    assert sorted(triples(edges, graph)) == [("p0", "e0"), ("p0", "e1"), ("p1", "e1")]
    assert [part.tolist() for part in map(edges.read_from.__getitem__, range(3))] == [
        [t] for t in edges.tails.tolist()
    ]
    assert triples(
        graph.with_edges(edges).filtered([False, True, True, True]).edges,
        graph.filtered([False, True, True, True]),
    ) == [("p1", "e1")]


def test_a_fact_is_an_edge_for_every_passage_it_was_read_from_and_one_without_any():
    graph = graph_with_entities(["a", "b"], [[0], [0, 1]])
    facts = Facts(
        ("e0 r e1", "e1 r e0"), freeze(np.zeros((2, 0)), np.float32), freeze([2, 3], np.int32), freeze([3, 2], np.int32),
        Labels.of(["r", "r"]), Ragged.of([[1, 0], []]),
    )  # fmt: skip
    graph = Graph.of(
        graph.texts, ids=graph.ids, kinds=list(graph.kinds), read_from=graph.read_from, facts=facts
    )
    edges = Fact().on(graph)
    assert triples(edges, graph) == [("e0", "e1"), ("e0", "e1"), ("e1", "e0")]
    assert edges.facts.tolist() == [0, 0, 1]
    assert [edges.read_from[i].tolist() for i in range(3)] == [[1], [0], []]


@given(
    st.lists(st.lists(st.integers(0, 5), max_size=5), max_size=6),
    st.integers(1, 4),
    st.sampled_from([0, shared.MAX_PLAIN]),  # by arrays, and one by one
)
def test_shared_weighs_what_two_passages_have_in_common_by_its_rarity(read_from, most, plain):
    graph = graph_with_entities(["text"] * 6, read_from)
    expected = {}
    for p, q in combinations(range(6), 2):
        product = 1.0
        for passages in map(set, read_from):
            if {p, q} <= passages and len(passages) <= most:
                product *= 1 - 1 / len(passages)
        if product < 1:
            expected[f"p{p}", f"p{q}"] = pytest.approx(1 - product, abs=1e-6)
    with patch.object(shared, "MAX_PLAIN", plain):
        edges = Shared(most).on(graph)
    assert {(a, b): w for a, b, w in triples(edges, graph, weights=True)} == expected


def test_similar_joins_passages_alone_and_weighs_by_cosine():
    vectors = [[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    graph = Graph.of(
        ["a", "b", "c", "name", "none"],
        ids=list("abcen"),
        kinds=["passage"] * 3 + ["entity", "passage"],
        vectors=vectors,
    )
    assert triples(Similar(k=1).on(graph), graph, weights=True) == [
        ("a", "b", 0.8),
        ("b", "a", 0.8),
        ("c", "b", 0.6),
    ]
    assert triples(Similar(k=5, min_similarity=0.7).on(graph), graph) == [("a", "b"), ("b", "a")]


def test_synonyms_join_names_that_are_alike_and_a_short_one_starts_none():
    vectors = [[1.0, 0.0], [0.96, 0.28], [1.0, 0.0], [1.0, 0.0]]
    graph = Graph.of(
        ["Anna Bell", "Ann Bell", "A!", "Anna Bell wrote."],
        ids=list("xyzp"),
        kinds=["entity"] * 3 + ["passage"],
        vectors=vectors,
    )
    assert triples(Synonym(0.9).on(graph), graph, weights=True) == [
        ("x", "z", 1.0), ("x", "y", 0.96), ("y", "x", 0.96), ("y", "z", 0.96),
    ]  # fmt: skip
    assert triples(Synonym(0.99).on(graph), graph) == [("x", "z")]


WORDS = ("the", "Bell", "bells", "Anna", "Ann", "Öland", "北京", "AB", "of", "x")


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=12, unique=True),
    st.integers(1, 12),
    st.sampled_from([0.3, 0.75, 0.9]),
)
def test_synonyms_by_words_have_the_cosine_of_their_stems_weights(names, k, least):
    stems = {"bells": "bell", "öland": "öland", "北京": "北京"}
    bags = [
        Counter(
            part
            for word in name.lower().split()
            for part in (("北", "北京", "京") if word == "北京" else (stems.get(word, word),))
        )
        for name in names
    ]
    n_names = Counter(stem for bag in bags for stem in bag)
    weights = [
        {
            stem: (1 + math.log(times))
            * math.log1p((len(names) + 1000 - n_names[stem] + 0.5) / (n_names[stem] + 0.5)) ** 1.5
            for stem, times in bag.items()
        }
        for bag in bags
    ]
    expected = {}
    for i, own in enumerate(weights):
        cosines = [
            (
                sum(own[stem] * other.get(stem, 0) for stem in own)
                / max(math.hypot(*own.values()) * math.hypot(*other.values()), 1e-9)
            )
            for other in weights
        ]
        near = [j for j, cosine in enumerate(cosines) if j != i and cosine >= least - 1e-6]
        near.sort(key=lambda j: (-round(cosines[j], 6), j))
        if sum(map(str.isalnum, names[i])) >= 3:
            expected |= {(str(i), str(j)): pytest.approx(cosines[j], abs=1e-6) for j in near[:k]}
    graph = Graph.of(names, kinds="entity")
    edges = Synonym(least, k, by="words").on(graph)
    assert {(a, b): w for a, b, w in triples(edges, graph, weights=True)} == expected


def test_synonyms_are_by_vectors_or_by_words():
    with pytest.raises(ValueError, match="got 'letters'"):
        Synonym(by="letters")


def test_hyperlinks_are_found_by_id_by_url_and_by_relative_path():
    graph = Graph.of(
        ["index", "guide", "far", "piece"],
        ids=["docs/index.md", "docs/use/guide.md", "far.md", "far.md#0-5"],
        documents=[0, 1, 2, 2],
        references=(
            ("use/guide.md#top", "nowhere.md", "docs/index.md", "#here"),
            ("../index.md", "https://far.example/x/"),
            (),
            ("docs/index%2Emd", "far.md"),
        ),
        metadata=({}, {}, {"url": "https://far.example/x"}, {}),
    )
    assert triples(Hyperlink().on(graph), graph) == [
        ("docs/index.md", "docs/use/guide.md"),
        ("docs/use/guide.md", "docs/index.md"),
        ("docs/use/guide.md", "far.md"),
        ("far.md#0-5", "docs/index.md"),
    ]


@pytest.mark.parametrize("written", ["Fa\u0308hre.md", "F%C3%A4hre.md", "note:f\u00e4hre"])
@pytest.mark.parametrize("named", ["Fa\u0308hre.md", "F\u00e4hre.md"])
def test_a_link_leads_to_a_name_whose_marks_another_system_writes_apart(written, named):
    graph = Graph.of(
        ["From here.", "By ferry.", "Not here."],
        ids=["u\u0308ber/index.md", f"\u00fcber/{named}", named],
        references=((written,), (), ()),
    )
    edges = Hyperlink().on(graph)
    assert (edges.tails.tolist(), edges.heads.tolist()) == ([0], [1])


def test_a_hyperlink_with_an_anchor_leads_to_the_section_with_that_heading():
    pages = {
        "a/tide.md": "# Tide\n\nSee [low](#low-tide), [sail](../b.html#sail.Set), [x](../b.html#x).\n\n"
        "## Low *tide*\n\nThe [tide](#tide) is low. See [itself](#low-tide).",
        "b.html": "# Sails\n\n## sail.Set(n=1)\n\nSets.\n\n## ebb\n\n[low](a/tide#Low_tide).\n\n"
        "## low tide\n\n[term](#term-ebb).",
    }
    documents = [Document(id, text, format="markdown") for id, text in pages.items()]
    index = Index.from_documents(documents, splitter=Splitter(tokens=64), links=(Hyperlink(),))
    sections = {
        (graph_id.partition("#")[0], text): graph_id
        for graph_id, kind, text in zip(
            index.graph.ids, index.graph.kinds, index.graph.texts, strict=True
        )
        if kind == "section"
    }
    found = [
        (tail.partition("#")[0], head) for tail, head in triples(index.graph.edges, index.graph)
    ]
    assert sorted(found) == sorted(
        [
            ("a/tide.md", sections["a/tide.md", "Low tide"]),
            ("a/tide.md", sections["b.html", "sail.Set(n=1)"]),
            ("a/tide.md", "b.html"),
            ("b.html", sections["a/tide.md", "Low tide"]),
            ("b.html", sections["b.html", "ebb"]),
        ]
    ), "nothing leads to what it is in"
    one, other = documents
    grown = Index.from_documents([one], splitter=Splitter(tokens=64), links=(Hyperlink(),))
    grown = grown.add([other])
    assert triples(grown.graph.edges, grown.graph) == triples(index.graph.edges, index.graph)


@pytest.mark.parametrize(
    "link",
    [
        *(Contains(), Next(), Mentions(), Fact(), Shared(), Similar(), Hyperlink()),
        *(Synonym(), Synonym(by="words")),
    ],
    ids=repr,
)
@pytest.mark.parametrize("texts", [[], ["alone"]], ids=["empty", "one"])
def test_where_there_is_nothing_to_join_nothing_is_joined(link, texts):
    graph = Graph.of(texts)
    edges = link.on(graph)
    assert len(edges) == 0
    assert len(graph.with_edges(edges).links().targets) == 0
