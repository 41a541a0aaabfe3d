"""An index that nobody uses any more is gone at once, and not when garbage is next collected."""

from __future__ import annotations

import gc
import weakref

import pytest

import clew
from clew import Document
from clew.graph import Graph
from clew.index import in_place

RECIPES = ("hipporag", "bm25", "mmr", "budgeted", "agrag", "kurisu", "da_rag", "enterprise")
TEXTS = [
    f"# Part {i}\nAnna {name} of {town} met Ben Okri there in {1900 + i}. See part {i + 1}."
    for i, (name, town) in enumerate(
        [(name, town) for name in ("Bell", "Stone", "Marsh") for town in ("Rome", "Lund", "Cork")]
    )
]


@pytest.fixture(autouse=True)
def by_counting_alone(monkeypatch):
    """The collector does nothing, and small indexes are changed in place."""
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    monkeypatch.setattr(in_place, "MAX_CHANGED", 9.0)
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    gc.collect()


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("extractor", [None, clew.Names()])
def test_an_index_goes_when_its_successor_takes_its_place(recipe, extractor, tmp_path):
    documents = [Document(f"d{i}", text) for i, text in enumerate(TEXTS)]
    index = clew.Index.from_documents(documents[:-2], extractor=extractor)
    gone: list[weakref.ref[object]] = []
    for change in (
        lambda index: index.add([documents[-2]]),
        lambda index: index.upsert([Document("d0", "Ben Okri left Rome.")]),
        lambda index: index.delete(["d1"]),
        lambda index: index.compact(),
        lambda _: clew.Index.load(tmp_path),
    ):
        assert len(index.ask("Who met Ben Okri in Lund?", recipe=recipe))
        index.save(tmp_path)
        gone += [weakref.ref(index), weakref.ref(index.graph), weakref.ref(index.graph._parts)]
        index = change(index)
    assert [one() is None for one in gone] == [True] * 15


def test_a_graph_made_in_a_change_goes_too():
    documents = [Document(f"d{i}", text) for i, text in enumerate(TEXTS)]
    index = clew.Index.from_documents(documents[:3], extractor=clew.Names())
    index.ask("Who met Ben Okri?")

    def n_graphs() -> int:
        return sum(isinstance(one, Graph) for one in gc.get_objects())

    index = index.add([documents[3]])
    index.ask("Who met Ben Okri?")
    before = n_graphs()
    for document in documents[4:]:
        index = index.add([document])
        index.ask("Who met Ben Okri?")
    assert n_graphs() == before


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_a_filter_made_goes_with_it(recipe):
    documents = [
        Document(f"d{i}", text, {"even": i % 2 == 0, "i": i}) for i, text in enumerate(TEXTS)
    ]
    index = clew.Index.from_documents(documents)
    index.ask("Who met Ben Okri?", recipe=recipe, where={"even": True})
    known = weakref.ref(index), weakref.ref(index.graph)
    del index
    assert [one() for one in known] == [None, None]


def test_what_parts_hold_of_a_graph_still_works_when_the_graph_is_gone():
    graph = Graph.of(["Anna left.", "Ben came."], ids=["a", "b"])
    own = graph.for_parts
    assert own.for_parts is own
    assert own.row("b") == 1
    assert graph.kept_parts() == own.kept_parts() != []
    gone = weakref.ref(graph)
    del graph
    assert gone() is None
    assert own.row("a") == 0
    assert own.texts == ("Anna left.", "Ben came.")
