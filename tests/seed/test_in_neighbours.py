"""Passages beside their neighbours: BM25 by the book, over texts that are joined word by word."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clew import Document, Index, Splitter
from clew.graph import Graph
from clew.remote.corpus import key_of_stem
from clew.seed import BM25, InNeighbours
from clew.seed.in_neighbours import runs_of
from clew.sharded.index_store import IndexStore, figures_of
from clew.types import Query
from tests.conftest import hashed_words

WORD = st.sampled_from(["red", "blue", "fox", "sky", "ferry"])
DOCUMENTS = st.lists(
    st.lists(st.lists(WORD, min_size=1, max_size=4), min_size=1, max_size=6),
    min_size=2,
    max_size=4,
)
QUESTION = ["red", "fox", "fox"]


def graph_of(documents):
    """The graph of documents of passages, and a passage in no document before and behind them."""
    texts, kinds, parents = ["red sky"], ["passage"], [-1]
    for passages in documents:
        top = len(texts)
        texts += ["", *(" ".join(passage) for passage in passages)]
        kinds += ["document"] + ["passage"] * len(passages)
        parents += [-1] + [top] * len(passages)
    return Graph.of([*texts, "red"], kinds=[*kinds, "passage"], parents=[*parents, -1])


def scores_by_the_book(documents, shares, k1=1.5, b=0.75):
    """The score of every passage with its neighbours, whose words come in fractions."""
    bags = []
    for passages in ([["red", "sky"]], *documents, [["red"]]):
        for i in range(len(passages)):
            bag = Counter()
            for j, passage in enumerate(passages):
                share = 1 if i == j else ([0, *shares, *[0] * 9][abs(i - j)])
                for word in passage:
                    bag[word] += share
            bags.append(bag)
    alone = [set(p) for passages in ([["red", "sky"]], *documents, [["red"]]) for p in passages]
    n, mean = len(bags), sum(sum(bag.values()) for bag in bags) / len(bags)
    asked = [word for word in QUESTION if any(word in words for words in alone)]
    rare = [word for word in asked if 2 * sum(word in words for words in alone) <= n]
    scores = []
    for bag in bags:
        norm = k1 * (1 - b + b * sum(bag.values()) / mean)
        score = 0.0
        for word in rare or asked:
            n_with = sum(word in words for words in alone)
            idf = math.log(1 + (n - n_with + 0.5) / (n_with + 0.5)) if n_with else 0.0
            score += idf * bag[word] / (bag[word] + norm)
        scores.append(score)
    return np.array(scores)


@given(
    DOCUMENTS,
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([(), (1.0,), (1.0, 0.5, 0.2)]),
    st.sampled_from([0.0, 0.4, 0.9]),
)
def test_a_passage_has_its_own_score_and_a_share_of_that_with_its_neighbours(
    documents, weight, shares, far
):
    graph, query = graph_of(documents), Query(" ".join(QUESTION))
    alone = BM25().on(graph)(query).scores
    found = InNeighbours(BM25(), weight, shares, far).on(graph)(query).scores
    rows = graph.rows("passage")
    assert not np.delete(found, rows).any()  # a container is not read
    together = scores_by_the_book(documents, shares)
    expected = alone[rows]
    if weight:
        expected = alone[rows] / alone.max() + weight * together / together.max()
        expected = np.where(alone[rows] > 0, expected / (1 + weight), 0)
        most = alone[rows] / alone.max() * expected.max()
        assume(not np.isclose(alone[rows] / alone.max(), far, rtol=1e-6).any())
        is_far = alone[rows] < far * alone.max()
        expected[is_far] = np.minimum(expected[is_far], most[is_far])
    assert found[rows] == pytest.approx(expected, rel=1e-5)


@given(st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.integers(1, 3)), max_size=9))
def test_a_run_goes_on_within_a_section_and_from_one_that_has_a_single_passage(places):
    """Sections are told apart by their document, as in a graph, and stand in any order."""
    sections = [10 * document + section for document, section in places]
    runs = runs_of(np.array([d for d, _ in places], np.int64), np.array(sections, np.int32))
    assert len(runs) == len(places)
    for i, (before, behind) in enumerate(pairwise(places)):
        is_alone = 1 in (sections.count(sections[i]), sections.count(sections[i + 1]))
        goes_on = before[0] == behind[0] >= 0 and (before == behind or is_alone)
        assert runs[i + 1] - runs[i] == (not goes_on)


def test_an_index_that_was_written_before_runs_were_known_is_asked_without_them():
    texts = ["They sail at ten.", "To Corfu.", "They run to Corfu."]
    documents = [Document("ferries", " ".join(texts[:2])), Document("trains", texts[2])]
    index = Index.from_documents(documents, splitter=Splitter(6), embedder=hashed_words)
    figures, rows = figures_of(index, 0), index.graph.rows("passage")
    assert figures.runs.tolist() == [0, 0, 1]
    everything = np.arange(len(index.graph), dtype=np.int32)
    found = {}
    for name, known in (("now", figures), ("before", replace(figures, runs=None))):
        pulled = asyncio.run(IndexStore(index).nodes(everything))
        stems = known.stems_of("Corfu, ten")
        seeds = asyncio.run(IndexStore(index).seeds(None, [key_of_stem(s) for s in stems], 0, 0))
        known.put_on(pulled, known.words(stems, seeds.postings))
        find = InNeighbours(BM25(), far=0).on(pulled.graph)
        found[name] = find(Query("Corfu, ten")).scores[rows]
    whole = InNeighbours(BM25(), far=0).on(index.graph)(Query("Corfu, ten")).scores[rows]
    assert found["now"] == pytest.approx(whole)
    assert found["before"] == pytest.approx(
        BM25().on(index.graph)(Query("Corfu, ten")).scores[rows]
    )
    assert found["before"] != pytest.approx(whole)


def test_passages_without_documents_and_candidates_of_another_retriever_keep_their_scores():
    flat = Graph.of(["red fox", "blue sky", "fox"])
    query = Query("fox")
    alone = BM25().on(flat)(query).scores
    assert InNeighbours(BM25()).on(flat)(query).scores.tolist() == alone.tolist()
    graph = graph_of([[["red", "fox"], ["blue"]], [["fox"]]])
    candidates = Query("fox", candidate_scores=dict.fromkeys(graph.rows("passage").tolist(), 1.0))
    alone = BM25().on(graph)(candidates).scores
    assert InNeighbours(BM25()).on(graph)(candidates).scores.tolist() == alone.tolist()


def boats_between(*, places):
    """A page of ferries in two passages each: where it goes, and from which quay it sails."""
    berth = "It has the same berth in the winter and in the summer, and nobody is asked to book. "
    parts = []
    for place, hour in places:
        parts.append(f"The ferry goes to {place} each day but on Sundays. {8 * berth}")
        parts.append(
            f"It sails at {hour} from the old quay, and comes back in the evening. {8 * berth}"
        )
        parts += [f"{word} {9 * berth}" for word in ("Later", "Often", "Seldom")]
    return "\n\n".join(parts)


@pytest.mark.parametrize(("place", "hour"), [("Corfu", "ten"), ("Paxos", "noon")])
def test_of_two_passages_alike_the_one_whose_neighbour_says_the_rest_comes_first(
    tmp_path, place, hour
):
    page = boats_between(places=[("Corfu", "ten"), ("Paxos", "noon")])
    (tmp_path / "boats.md").write_text(f"# Boats\n\n{page}")
    (tmp_path / "trains.md").write_text("# Trains\n\nThey run.")
    index = Index.from_documents(tmp_path)
    found = index.ask(f"When does the ferry to {place} sail from the old quay?", limit=20).items
    quays = [item for item in found if "old quay" in item.text]
    assert len(quays) == 2
    assert f"at {hour}" in max(quays, key=lambda item: item.score).text


def test_weights_and_shares_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"at least 0, shares .* got -1, \(1.0, 0.5\) and 0.4"):
        InNeighbours(weight=-1)
    with pytest.raises(ValueError, match=r"from 0 to 1; got 0.3, \(2,\) and 0.4"):
        InNeighbours(shares=(2,))
    with pytest.raises(ValueError, match=r"below which .* from 0 to 1; got 0.3, .* and 40"):
        InNeighbours(far=40)


def test_a_passage_of_an_entry_keeps_its_score_and_other_passages_count_it_as_a_neighbour():
    """`open` and `shut` are entries of a reference, and the two passages before them are not."""
    signed = ["open(path)\n\nReturn a stream of bytes.", "shut(stream)\n\nWrite what waits."]
    graph = Graph.of(
        [
            "Files",
            "A stream has bytes.",
            "Write them.",
            "open",
            signed[0],
            "shut",
            *signed[1:],
            "",
            "Red",
        ],
        kinds=[
            *["document", "passage", "passage"],
            *["section", "passage"] * 2,
            "document",
            "passage",
        ],
        parents=[-1, 0, 0, 0, 3, 0, 5, -1, 7],
    )
    query = Query("write the bytes of a stream")
    alone = BM25().on(graph)(query).scores
    found = InNeighbours(BM25()).on(graph)(query).scores
    assert found[[4, 6]] == pytest.approx(alone[[4, 6]] / alone.max())
    assert found[2] > alone[2] / alone.max()
    unsigned = graph.unchecked(texts=(*graph.texts[:6], "Write what waits.", *graph.texts[7:]))
    alone = BM25().on(unsigned)(query).scores
    found = InNeighbours(BM25()).on(unsigned)(query).scores
    assert found[6] != pytest.approx(alone[6] / alone.max())
