"""Texts of documents that are made when they are asked for, and ids that are counted unmade."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

from clew import Document, Index, Splitter
from clew.embedding import compact
from clew.store import tables
from clew.store.text_column import StringTable, TextColumn


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.setattr(compact, "MIN_ROWS", 0)
    monkeypatch.setattr(compact, "MIN_COMPACT", 0)
    monkeypatch.setattr(tables, "MIN_STORED", 0)
    documents = [
        Document(
            f"{i}",
            f"# Ferry {i}\n\nIt sails at {i}.\n\n## Fares — Ö\n\nA ticket is {i} €. \n",
            {"number": i},
            format="markdown",
        )
        for i in range(30)
    ]
    index = Index.from_documents(documents, splitter=Splitter(tokens=12))
    index.save(tmp_path)
    return documents, Index.load(tmp_path)


def test_a_question_makes_the_texts_of_the_documents_that_are_read_alone(saved):
    documents, index = saved
    assert not [one.id for one in index.documents if "text" in vars(one)]
    context = index.ask("When does ferry 7 sail?", limit=2)
    made = {one.id for one in index.documents if "text" in vars(one)}
    assert made <= {id.partition("#")[0] for id in context.ids} != set()
    assert [one.text for one in index.documents] == [one.text for one in documents]


def test_a_document_without_its_text_is_the_document(saved):
    documents, index = saved
    copied = pickle.loads(pickle.dumps(index.documents))
    assert copied == index.documents == tuple(documents)
    assert copy.copy(index.documents[3]) == documents[3]
    changed = replace(index.documents[4], metadata={})
    assert changed == replace(documents[4], metadata={})
    with pytest.raises(AttributeError, match="a document has no 'title'"):
        _ = index.documents[5].title


def test_an_index_that_was_loaded_is_saved_whole_as_it_was(saved, tmp_path):
    documents, index = saved
    replace(index, saved_as=None).save(tmp_path / "again")
    assert Index.load(tmp_path / "again", verify="full").documents == tuple(documents)


def test_different_texts_are_counted_without_being_made():
    table = StringTable(np.frombuffer(b"seaisle", np.uint8), np.array([0, 3, 7]))
    for codes in ([], [0], [1, 0], [1, 1], [0, 1, 0]):
        for others in ((), ("port",), ("sea",), ("port", "port")):
            column = TextColumn(table, np.array(codes, np.int32), others)
            assert column.count_distinct() == len(set(column))
