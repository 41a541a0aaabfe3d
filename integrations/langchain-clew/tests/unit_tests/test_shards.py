"""Several indexes behind one retriever."""

from __future__ import annotations

import pytest
from langchain_clew import ClewRetriever
from langchain_core.documents import Document

import clew
from clew.sharded import ShardedIndex


@pytest.fixture
def sharded():
    shards = [
        clew.Index.from_documents(
            [clew.Document("ferries", "Ferries sail at ten.", {"by": "sea"})]
        ),
        clew.Index.from_documents([clew.Document("trains", "Trains run at noon.", {"by": "land"})]),
    ]
    with ShardedIndex.open(shards) as opened:
        yield opened


def test_shards_are_asked_filtered_and_read_as_one_index(sharded):
    retriever = ClewRetriever(index=sharded, k=1)
    [found] = retriever.invoke("When do trains run?")
    assert (found.id, found.page_content) == ("trains", "Trains run at noon.")
    by_sea = ClewRetriever(index=sharded, filter={"by": "sea"}, min_relevance=0)
    assert [one.id for one in by_sea.invoke("When do trains run at ten?")] == ["ferries"]
    assert [one.id for one in retriever.get_by_ids(["ferries", "nothing"])] == ["ferries"]


async def test_they_are_awaited(sharded):
    [found] = await ClewRetriever(index=sharded, k=1).ainvoke("When do ferries sail?")
    assert found.id == "ferries"


def test_what_is_added_says_where_it_belongs(sharded):
    with pytest.raises(TypeError, match="a shard is changed by itself"):
        ClewRetriever(index=sharded).add_documents([Document("A tram.", id="tram")])
