"""Vectors that documents bring: another one makes another document, in an index of any size."""

from __future__ import annotations

import numpy as np
import pytest

from clew import Document, Index, Splitter
from clew.index import in_place
from tests.conftest import hashed_words

TEXTS = {"a": "Anna sails to Corfu.", "b": "Ben lives on Delos.", "c": "The quay is of stone."}
OTHERS = dict(zip(TEXTS, np.eye(3, 24, dtype=np.float32), strict=True))


@pytest.fixture(params=[False, True], ids=["built whole", "in place"], autouse=True)
def sizes(request, monkeypatch):
    """Every change is made as in a small index, and as in a large one."""
    if request.param:
        monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
        monkeypatch.setattr(in_place, "MAX_CHANGED", 1e9)


def embed(texts):
    return hashed_words(texts)


def documents(vectors):
    return [Document(id, text, vector=vectors.get(id)) for id, text in TEXTS.items()]


def vectors_of(index):
    return {id: np.asarray(index.graph.vectors[index.graph.row(id)]) for id in TEXTS}


@pytest.mark.parametrize("is_saved", [False, True])
@pytest.mark.parametrize("change", [Index.upsert, Index.sync])
def test_another_vector_is_taken_and_the_same_changes_nothing(tmp_path, change, is_saved):
    def opened(index):
        if not is_saved:
            return index
        index.save(tmp_path / "index")
        return Index.load(tmp_path / "index", embedder=embed)

    index = opened(Index.from_documents(documents({"a": OTHERS["a"]}), embedder=embed))
    assert change(index, documents({"a": OTHERS["a"].copy()})) is index
    assert change(index, documents({})) is index
    own = vectors_of(index)
    assert change(index, documents({"b": own["b"]})) is index
    given = {"a": OTHERS["c"], "b": OTHERS["b"].astype(np.float64)}
    changed = opened(change(index, documents(given)))
    expected = own | given
    assert all(np.array_equal(each, expected[id]) for id, each in vectors_of(changed).items())
    assert change(changed, documents(given)) is changed


@pytest.mark.parametrize("is_fitted", [False, True])
@pytest.mark.parametrize("wrong", [np.full(24, np.nan), np.full(24, 3.0)])
def test_a_vector_that_a_build_refuses_is_refused(wrong, is_fitted):
    how = {} if is_fitted else {"embedder": embed}
    with pytest.raises(ValueError, match="must be finite rows of length 1"):
        Index.from_documents(documents({"a": wrong}), **how)
    index = Index.from_documents(documents({}), **how)
    for change in (index.upsert, index.sync):
        with pytest.raises(ValueError, match="must be finite rows of length 1"):
            change(documents({"a": wrong}))


def test_a_vector_of_another_dimension_is_refused():
    index = Index.from_documents(documents({"a": OTHERS["a"]}), embedder=embed)
    with pytest.raises(ValueError, match="dimension"):
        index.upsert(documents({"b": np.eye(7)[0]}))


def test_vectors_that_are_not_used_make_no_other_document():
    fitted = Index.from_documents(documents({}))
    assert fitted.upsert(documents(OTHERS)) is fitted
    width = fitted.graph.vectors.shape[1]
    new = Document("new", "A zebra crossed the sea.", vector=np.eye(width, dtype=np.float32)[0])
    one, other = (fitted.add([each]) for each in (new, Document("new", new.text)))
    assert np.allclose(one.graph.vectors[one.graph.row("new")], other.graph.vectors[-1])
    long = " ".join(f"Ferry {n} sails." for n in range(40))
    cut = Index.from_documents(
        [Document("a", long, vector=OTHERS["a"])], embedder=embed, splitter=Splitter(12)
    )
    assert cut.upsert([Document("a", long, vector=OTHERS["b"])]) is cut
