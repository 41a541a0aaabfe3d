"""A retriever that was saved gives the same nodes when it is opened, down to what only LlamaIndex knows of them."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import threading
from datetime import date
from pathlib import Path

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters
from llama_index.retrievers.clew import ClewRetriever

import clew
from clew.store import disk

RECENT = MetadataFilters(
    filters=[
        MetadataFilter(key="year", value=1930, operator=FilterOperator.GT),
        MetadataFilters(
            filters=[MetadataFilter(key="tags", value=["cows"], operator=FilterOperator.ANY)],
            condition="not",
        ),
    ]
)


@pytest.fixture
def chunks(documents):
    documents[0].excluded_llm_metadata_keys = ["year"]
    return SentenceSplitter(chunk_size=40, chunk_overlap=0).get_nodes_from_documents(documents)


def test_it_gives_the_same_nodes_with_the_same_options(tmp_path, chunks, embed_model, question):
    saved = ClewRetriever.from_nodes(
        chunks, embed_model, recipe="mmr", budget=300, similarity_top_k=5, filters=RECENT
    )
    wanted = saved.retrieve(question)
    saved.persist(tmp_path / "there")
    embed_model.seen.clear()
    opened = ClewRetriever.from_persist_dir(tmp_path / "there", embed_model)
    assert (
        len([text for _, text in embed_model.seen if text in {chunk.text for chunk in chunks}]) <= 1
    )
    assert (opened.recipe, opened.budget, opened.similarity_top_k, opened.filters) == (
        "mmr",
        300,
        5,
        RECENT,
    )
    assert len(wanted) == 5
    assert opened.retrieve(question) == wanted
    opened.persist(tmp_path / "again")
    assert (
        ClewRetriever.from_persist_dir(tmp_path / "again", embed_model, budget=None).retrieve(
            question
        )
        == wanted
    )


def test_the_embedder_fitted_on_the_texts_is_saved_with_them(tmp_path, documents, facts, question):
    saved = ClewRetriever.from_documents(documents, facts=facts, recipe="hipporag")
    saved.persist(tmp_path)
    assert ClewRetriever.from_persist_dir(tmp_path).retrieve(question) == saved.retrieve(question)


def test_it_may_lie_beside_the_files_of_a_storage_context(tmp_path, nodes, embed_model, question):
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    saved = ClewRetriever.from_index(index, candidates=None)
    index.storage_context.persist(str(tmp_path))
    saved.persist(tmp_path)
    StorageContext.from_defaults(persist_dir=str(tmp_path))
    opened = ClewRetriever.from_persist_dir(tmp_path, embed_model)
    assert [one.node_id for one in opened.retrieve(question)] == [
        one.node_id for one in saved.retrieve(question)
    ]


def test_what_cannot_be_saved_or_opened_is_said(tmp_path, documents, embed_model):
    retriever = ClewRetriever.from_documents(documents, embed_model)
    with pytest.raises(TypeError, match="by its name"):
        retriever.with_options(recipe=clew.recipes.get("dense")).persist(tmp_path)
    dated = TextNode(text="The fee.", id_="fee", metadata={"since": date(2020, 1, 1)})
    with pytest.raises(ValueError, match=r"document 'fee': metadata\['since'\] is a date"):
        ClewRetriever.from_nodes([dated]).persist(tmp_path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError, match="it has no clew_index"):
        ClewRetriever.from_persist_dir(tmp_path)
    retriever.persist(tmp_path)
    with pytest.raises(TypeError, match="budgett"):
        ClewRetriever.from_persist_dir(tmp_path, embed_model, budgett=1)
    with pytest.raises(ValueError, match=r"as from_persist_dir\(persist_dir, embed_model=\.\.\.\)"):
        ClewRetriever.from_persist_dir(tmp_path)
    ClewRetriever.from_documents(documents, count=len).persist(tmp_path)
    with pytest.raises(ValueError, match=r"as from_persist_dir\(persist_dir, count=\.\.\.\)"):
        ClewRetriever.from_persist_dir(tmp_path)


def crowns(number, filters=None):
    """A retriever over one node that tells a number, with filters of its own."""
    node = TextNode(
        id_="fee", text=f"The fee is {number} crowns.", metadata={"tenant": "a", "number": number}
    )
    return ClewRetriever.from_nodes([node], count=len, filters=filters)


def tenant(name):
    return MetadataFilters(filters=[MetadataFilter(key="tenant", value=name)])


CHANGES = (
    (disk, "create"),
    (disk, "write"),
    (disk, "rename"),
    (disk, "sync_folder"),
    (Path, "write_text"),
    (Path, "replace"),
)
"""The calls by which a persist changes the disk."""


def persist_counted(retriever, folder, before):
    """Persist, and call `before` with the number of each change of the disk before it is made.

    What other threads write is not counted: a compiler beside saves what it has compiled.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "sync", lambda _: None)
        numbers, own = itertools.count(1), threading.get_ident()

        def counted(change):
            def call(*arguments):
                if threading.get_ident() == own:
                    before(next(numbers))
                return change(*arguments)

            return call

        for owner, name in CHANGES:
            patch.setattr(owner, name, counted(getattr(owner, name)))
        retriever.persist(folder)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="what is killed is forked")
@pytest.mark.parametrize("apart", [40, pytest.param(4, marks=pytest.mark.slow)])
def test_a_persist_that_is_killed_leaves_one_whole_state(tmp_path, apart):
    """Killed at each of the last changes of the disk, and at some of those before them."""
    old, new, seen = crowns(3, tenant("a")), crowns(103, tenant("b")), []
    old.persist(tmp_path / "old")
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    persist_counted(new, tmp_path / "new", seen.append)
    changes, states = seen[-1], set()
    for at in sorted({*range(1, changes, apart), *range(changes - 5, changes + 1)}):
        folder = tmp_path / str(at)
        shutil.copytree(tmp_path / "old", folder)
        child = os.fork()
        if child == 0:  # pragma: no cover
            persist_counted(new, folder, lambda number, at=at: number == at and os._exit(9))
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        opened = ClewRetriever.from_persist_dir(folder, count=len)
        number = 103 if "103" in opened.index.graph.texts[0] else 3
        assert opened._living.held.own_nodes["fee"].metadata["number"] == number
        assert opened.filters == tenant("b" if number == 103 else "a")
        states.add(number)
    assert states == {3, 103}


def test_a_changed_byte_anywhere_is_named(tmp_path):
    crowns(3, tenant("a")).persist(tmp_path)
    for file in [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "LOCK"]:
        raw = file.read_bytes()
        file.write_bytes(raw.replace(b'"a"', b'"b"') if b'"a"' in raw else raw[:-1] + b"\x7f")
        with pytest.raises(ValueError, match=re.escape(file.name)):
            ClewRetriever.from_persist_dir(tmp_path, count=len)
        file.write_bytes(raw)
    assert len(ClewRetriever.from_persist_dir(tmp_path, count=len).retrieve("fee?")) == 1


def persist_as_before(retriever, folder):
    """Write the layout of version 0.1: nodes and options as files beside the index."""
    retriever.index.save(folder / "clew_index")
    store = SimpleDocumentStore()
    store.add_documents([one for one in retriever.index.graph.originals if one is not None])
    options = retriever._options() | {"llm": None, "filters": retriever.filters.model_dump()}
    (folder / "clew_nodes.json").write_text(json.dumps(store.to_dict()))
    (folder / "clew_retriever.json").write_text(json.dumps(options))


def test_a_folder_of_an_earlier_version_opens_with_a_warning_and_is_new_when_persisted(tmp_path):
    old = crowns(3, tenant("a"))
    persist_as_before(old, tmp_path)
    with pytest.warns(UserWarning, match="have no checksum: check that filters="):
        opened = ClewRetriever.from_persist_dir(tmp_path, count=len)
    assert opened.filters == tenant("a")
    assert opened.retrieve("Which fee?") == old.retrieve("Which fee?")
    opened.persist(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["clew_index"]
    again = ClewRetriever.from_persist_dir(tmp_path, count=len)
    assert again.retrieve("Which fee?") == old.retrieve("Which fee?")


def test_old_nodes_beside_a_new_index_are_refused(tmp_path):
    persist_as_before(crowns(3, tenant("a")), tmp_path)
    crowns(103).index.save(tmp_path / "clew_index")
    with pytest.raises(ValueError, match=r"clew_nodes\.json has the node 'fee' of another index"):
        ClewRetriever.from_persist_dir(tmp_path, count=len)
    (tmp_path / "clew_retriever.json").write_text("{}")
    with pytest.raises(ValueError, match=r"clew_retriever\.json is damaged"):
        ClewRetriever.from_persist_dir(tmp_path, count=len)


def test_an_index_that_was_saved_over_a_retriever_has_no_nodes(tmp_path):
    retriever = crowns(3)
    retriever.persist(tmp_path)
    retriever.index.save(tmp_path / "clew_index")
    with pytest.raises(ValueError, match="was saved without a retriever"):
        ClewRetriever.from_persist_dir(tmp_path, count=len)
    opened = ClewRetriever.from_persist_dir(tmp_path, count=len, generation=1)
    assert [one.node_id for one in opened.retrieve("Which fee?")] == ["fee"]
