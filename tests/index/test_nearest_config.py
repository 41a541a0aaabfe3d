"""The approximate index of the configuration: from the presets, both frameworks, the command and a saved index."""

from __future__ import annotations

import tempfile
import zlib
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core import documents as langchain_core
from llama_index.core import Document as LlamaDocument

import clew
from clew.algorithms.nearest import hnsw
from clew.algorithms.nearest.hnsw import HNSWIndex
from clew.cli import main
from clew.graph import Graph
from clew.index import in_place
from clew.store import saving

if find_spec("faiss") is None:
    pytest.skip("the approximate index is an extra", allow_module_level=True)

N = 400


def noisy(texts):
    """A vector of its own for each text."""
    return np.stack([np.random.default_rng(sum(map(ord, text))).normal(size=16) for text in texts])


def distinct(texts):
    """A vector of its own for each text; those of texts of the same letters differ, too."""
    seeds = [zlib.crc32(text.encode()) for text in texts]
    return np.stack([np.random.default_rng(seed).normal(size=16) for seed in seeds])


def documents():
    return [clew.Document(f"d{i}", f"Ferry {i} sails to port {i * 7}.") for i in range(N)]


@pytest.fixture(scope="module")
def index():
    nearest = clew.HNSW(ef_search=400)
    return clew.Index.from_documents(documents(), embedder=noisy, links=(), nearest=nearest)


def searches(context):
    return [str(step.notes["search"]) for step in context.trace if "search" in step.notes]


PRESETS = ("dense", "fused", "mmr", "baseline", "lightweight", "enterprise", "agentic", "journey")


@pytest.mark.parametrize("recipe", [*PRESETS, "da_rag"])
def test_the_presets_search_the_index_of_the_configuration_and_say_so(index, recipe):
    question = "Which ferry sails to port 77?"
    (search,) = searches(index.ask(question, recipe=recipe))
    assert "by an approximate index" in search
    # With as many candidates as there are rows and a connected graph, the search is exact.
    exact = clew.Index.from_documents(documents(), embedder=noisy, links=())
    limit = {"limit": 5} if recipe in ("dense", "baseline") else {}
    if limit:
        assert (
            index.ask(question, recipe=recipe, **limit).ids
            == exact.ask(question, recipe=recipe, **limit).ids
        )
    assert not searches(exact.ask(question, recipe=recipe))


def test_a_filter_and_other_kinds_are_measured_exactly(index):
    assert not searches(index.ask("Which ferry?", recipe="dense", where=lambda metadata: True))
    assert not searches(index.ask("Which ferry?", recipe="kurisu"))
    with pytest.raises(TypeError, match=r"clew\.HNSW"):
        clew.Index.from_documents(["The sea."], nearest="hnsw")


def test_a_saved_index_brings_the_links_back_and_none_are_made_again(index, tmp_path, monkeypatch):
    index.save(tmp_path / "saved")
    question = "Which ferry sails to port 77?"
    before = index.ask(question, recipe="dense", limit=20)
    made = []
    monkeypatch.setattr(HNSWIndex, "add", lambda *args: made.append(args))
    loaded = clew.Index.load(tmp_path / "saved", embedder=noisy)
    assert (
        loaded.config.nearest
        == index.config.nearest
        == clew.HNSW(ef_search=400, kinds=("passage",))
    )
    after = loaded.ask(question, recipe="dense", limit=20)
    assert (after.ids, searches(after)) == (before.ids, searches(before))
    assert not made
    one, other = (some.graph.part(index.config.nearest) for some in (index, loaded))
    for query in noisy([f"question {i}" for i in range(20)]).astype(np.float32):
        query /= np.linalg.norm(query)
        assert [a.tolist() for a in one.search(query, 10)] == [
            a.tolist() for a in other.search(query, 10)
        ]


def test_an_index_that_changes_has_a_new_approximate_index_of_what_it_holds(index):
    changed = index.delete(["d3"]).add([clew.Document("new", "A new ferry sails.")])
    nearest = changed.graph.part(changed.config.nearest)
    assert sorted(nearest.rows.tolist()) == changed.graph.rows("passage").tolist()
    assert changed.ask("A new ferry sails.", recipe="baseline").ids[0] == "new"


def finds_the_nearest(index, seed):
    """The approximate index is there, and with enough candidates it finds what measuring all does."""
    graph, options = index.graph, index.config.nearest
    nearest = graph.known_part(options)
    assert nearest is not None
    rows = graph.rows("passage")
    assert sorted(nearest.rows[~nearest.deleted].tolist()) == rows.tolist()
    assert len(nearest) == len(rows)
    query = np.random.default_rng(seed).normal(size=16).astype(np.float32)
    query /= np.linalg.norm(query)
    exact = np.asarray(graph.vectors)[rows] @ query
    best = rows[np.argsort(-exact, kind="stable")][:10].tolist()
    assert nearest.search(query, 10, ef=10 * N)[0].tolist() == best


@settings(max_examples=8, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 8), st.booleans()), min_size=1, max_size=6
    )
)
def test_the_approximate_index_goes_on_with_an_index_that_changes_and_is_saved(steps):
    """Documents go and come, and now and then all is saved: as changes, or whole, and opened again."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(in_place, "MIN_PASSAGES", 0)
        patch.setattr(in_place, "MAX_CHANGED", 1e9)
        patch.setattr(saving, "MIN_BYTES", 0)
        patch.setattr(hnsw, "MAX_DELETED", 1)
        options = clew.HNSW(ef_search=10 * N)
        index = clew.Index.from_documents(
            documents()[:60], embedder=distinct, links=(), nearest=options
        )
        index.graph.part(index.config.nearest)
        index.save(folder)
        for number, (gone, new, whole) in enumerate(steps):
            before, ids = index, [document.id for document in index.documents]
            index = index.delete(ids[: min(gone, len(ids) - 1)]) if gone else index
            came = [clew.Document(f"n{number}-{i}", f"Boat {number} {i}") for i in range(new)]
            index = index.add(came) if came else index
            finds_the_nearest(index, number)
            finds_the_nearest(before, number)
            patch.setattr(saving, "MAX_SHARE", 0.0 if whole else 1e9)
            patch.setattr(saving, "MAX_BYTES", 0)
            index.save(folder)
            with pytest.MonkeyPatch.context() as opening:
                opening.setattr(clew.HNSW, "compute", lambda *args: pytest.fail("made anew"))
                index = clew.Index.load(folder, embedder=distinct)
            finds_the_nearest(index, number)


def test_links_that_faiss_cannot_read_are_made_anew(index, tmp_path, monkeypatch, caplog):
    index.save(tmp_path / "saved")

    def unreadable(*args):
        raise ValueError("another version")

    monkeypatch.setattr(HNSWIndex, "from_bytes", unreadable)
    loaded = clew.Index.load(tmp_path / "saved", embedder=noisy)
    assert "is made anew: another version" in caplog.text
    question = "Which ferry sails to port 77?"
    assert loaded.ask(question, recipe="dense").ids == index.ask(question, recipe="dense").ids


def test_links_of_other_rows_are_refused():
    vectors = np.eye(4, dtype=np.float32)
    nearest = clew.HNSW().compute(Graph.of(list("abcd"), vectors=vectors))
    links = nearest.to_bytes()
    again = HNSWIndex.from_bytes(clew.HNSW(), links, vectors, range(4))
    assert again.search(vectors[2], 1)[0].tolist() == [2]
    for rows, width in ((3, 4), (4, 3)):
        with pytest.raises(ValueError, match="not an index of"):
            HNSWIndex.from_bytes(clew.HNSW(), links, vectors[:rows, :width], range(rows))
    with pytest.raises(ValueError, match="cannot read"):
        HNSWIndex.from_bytes(clew.HNSW(), links[:40], vectors, range(4))


def test_both_frameworks_pass_it_on():
    langchain = pytest.importorskip("langchain_clew")
    llama_index = pytest.importorskip("llama_index.retrievers.clew")
    how = {"embedder": noisy, "nearest": clew.HNSW(), "recipe": "dense"}
    pieces = [langchain_core.Document(id=d.id, page_content=d.text) for d in documents()[:50]]
    nodes = [LlamaDocument(id_=d.id, text=d.text) for d in documents()[:50]]
    embedder = how.pop("embedder")
    one = langchain.ClewRetriever.from_documents(pieces, embedder, **how)
    other = llama_index.ClewRetriever.from_documents(nodes, embedder, **how)
    for retriever in (one, other):
        assert retriever.index.config.nearest == clew.HNSW(kinds=("passage",))
        assert searches(retriever.index.ask("Which ferry?", recipe="dense"))


def test_the_command_makes_saves_and_uses_it(tmp_path, capsys):
    (tmp_path / "ferries.md").write_text("\n\n".join(d.text for d in documents()[:40]))
    saved = tmp_path / "saved"
    typed = ["index", str(tmp_path / "ferries.md"), "-o", str(saved), "--nearest", "hnsw:m=8"]
    assert main(typed) == 0
    assert clew.Index.load(saved).config.nearest == clew.HNSW(m=8, kinds=("passage",))
    assert main(["ask", str(saved), "Which ferry?", "--recipe", "dense", "--explain"]) == 0
    assert "approximate index, HNSW(m=8" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*typed[:-1], "hnsw:k=8"])
    assert "ef_search" in capsys.readouterr().err
