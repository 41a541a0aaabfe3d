"""Edges between similar passages follow changes once they are asked for, as if they did at once."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import Document, Index, Names
from clew.graph import DeferredEdges
from clew.index import changed_edges
from clew.link import Similar
from tests.graph.test_deferred_edges import check_alike
from tests.store.test_changes import every_size

WORDS = [
    "harbour",
    "ferry",
    "anchor",
    "gull",
    "rope",
    "tide",
    "crane",
    "mast",
    "island",
    "lighthouse",
    "fog",
    "net",
]


def document(number, name=None):
    draw = np.random.default_rng(number)
    return Document(name or f"d{number}", " ".join(draw.choice(WORDS, 6)) + f" {number % 7}.")


def scattered(texts):
    """A vector of each text, of which no two are equally near to a third."""
    draws = [np.random.default_rng(zlib.crc32(text.encode())) for text in texts]
    return np.stack([draw.normal(size=16) for draw in draws])


def build(numbers):
    index = Index.from_documents(
        [document(number) for number in numbers], embedder=scattered, links=[Similar(k=3)]
    )
    assert len(index.graph.edges)
    return index


def waits(index):
    edges = index.graph.edges
    return isinstance(edges, DeferredEdges) and bool(edges.waiting)


CHANGES = st.lists(
    st.sampled_from(["add", "delete", "upsert", "ask", "two"]), min_size=1, max_size=14
)


@given(CHANGES, st.integers(0, 99))
@settings(max_examples=40)
def test_they_are_those_that_follow_each_change_at_once(changes, seed):
    with pytest.MonkeyPatch.context() as patch:
        every_size(patch)
        built = build(range(30))
        late = at_once = built
        draw, new = np.random.default_rng(seed), 100
        for change in changes:
            names = [one.id for one in late.documents]
            some = draw.choice(names, 2, replace=False).tolist()
            new += 1
            for is_late in (True, False):
                with patch.context() as other:
                    if not is_late:
                        other.setattr(changed_edges, "_edges_that_wait", lambda *_: {})
                    index = late if is_late else at_once
                    if change == "add":
                        index = index.add([document(new)])
                    elif change == "delete":
                        index = index.delete(some[:1])
                    elif change == "two":
                        index = index.delete(some).add([document(new)])
                    elif change == "upsert":
                        index = index.upsert([document(new, some[0])])
                    elif is_late:
                        index.graph.links()
                    late, at_once = (index, at_once) if is_late else (late, index)
        assert late.changed == at_once.changed
        assert not waits(at_once)
        check_alike(late.graph.edges, at_once.graph.edges)
        assert late.ask("ferry rope", recipe="agrag").ids == (
            at_once.ask("ferry rope", recipe="agrag").ids
        )


def test_no_change_compares_passages_until_somebody_asks(monkeypatch):
    every_size(monkeypatch)
    index, made = build(range(30)), []

    def note(name):
        method = getattr(Similar, name)
        monkeypatch.setattr(Similar, name, lambda *given: made.append(name) or method(*given))

    for name in ("on", "grow", "shrink", "exchange_some"):
        note(name)
    index = index.delete(["d3"]).add([document(50)])
    assert waits(index)
    assert made == []
    assert index.ask("ferry", recipe="bm25").ids
    assert made == []
    assert len(index.graph.edges)
    assert made == ["exchange_some"]
    made.clear()
    index = index.add([document(60)]).delete(["d9"]).add([document(61)])
    assert len(index.graph.edges)
    assert made == ["exchange_some"], "they follow several changes at once"
    made.clear()
    for number in range(12):
        index = index.add([document(70 + number)])
    assert len(index.graph.edges)
    assert made == ["on"], "after changes of many they are made anew"


def test_they_follow_those_that_somebody_asks_for_after_the_change(monkeypatch):
    """Questions go on to the index before while the next one is made."""
    every_size(monkeypatch)
    built = Index.from_documents(
        [document(number) for number in range(30)], embedder=scattered, links=[Similar(k=3)]
    )
    assert waits(built)
    later = built.delete(["d3"]).add([document(50)]).upsert([document(51, "d7")])
    made, on = [], Similar.on
    monkeypatch.setattr(Similar, "on", lambda *given: made.append(given) or on(*given))
    assert len(built.graph.edges)
    assert len(made) == 1
    assert waits(later)
    check_alike(later.graph.edges, later.compact().graph.edges)
    assert len(made) == 2, "of these the index that was built anew has made all"


@pytest.mark.parametrize("is_asked", [True, False])
def test_a_context_shows_its_edges_without_all_that_wait(monkeypatch, is_asked):
    every_size(monkeypatch)
    people = [
        Document(f"p{i}", f"Anna Berg met Ben Ito in Corfu {i}, by {WORDS[i % 12]}.")
        for i in range(30)
    ]
    index = Index.from_documents(people[:20], extractor=Names())
    if is_asked:
        assert len(index.graph.edges)
        index = index.delete(["p4"]).add(people[20:])
    made = []
    for name in ("on", "grow", "shrink"):
        method = getattr(Similar, name)
        monkeypatch.setattr(
            Similar, name, lambda *given, method=method: made.append(given) or method(*given)
        )
    context = index.ask("Who met Anna Berg by the ferry?", recipe="bm25", limit=8)
    edges = context.edges
    assert made == []
    assert waits(index)
    assert {"similar"} <= {edge.kind for edge in edges}
    assert len(index.graph.edges)
    assert made
    again = index.ask("Who met Anna Berg by the ferry?", recipe="bm25", limit=8)
    assert edges == again.edges


def test_a_save_has_them_follow_what_came_since_the_last_one(tmp_path, monkeypatch):
    every_size(monkeypatch)
    people = [
        Document(f"p{i}", f"Anna Berg met Ben Ito in Corfu {i}, by {WORDS[i % 12]}.")
        for i in range(30)
    ]
    index, made, grow = Index.from_documents(people[:20], extractor=Names()), [], Similar.grow
    index.save(tmp_path)
    monkeypatch.setattr(Similar, "grow", lambda *given: made.append(given) or grow(*given))
    for number in range(20, 30):
        index = index.add([people[number]])
        index.save(tmp_path)
        assert len(made) == number - 19
        assert waits(index), "no save makes edges between names that are alike"
    loaded = Index.load(tmp_path)
    check_alike(loaded.graph.edges, index.graph.edges)
