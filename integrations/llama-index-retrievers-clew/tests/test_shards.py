"""Several indexes behind one retriever."""

from __future__ import annotations

import pytest
from llama_index.core.schema import Document
from llama_index.retrievers.clew import ClewRetriever

import clew
from clew.sharded import ShardedIndex


@pytest.fixture
def sharded():
    shards = [
        clew.Index.from_documents([clew.Document("ferries", "Ferries sail at ten.")]),
        clew.Index.from_documents([clew.Document("trains", "Trains run at noon.")]),
    ]
    with ShardedIndex.open(shards) as opened:
        yield opened


async def test_shards_are_asked_as_one_index_with_and_without_an_event_loop(sharded):
    retriever = ClewRetriever(index=sharded, similarity_top_k=1)
    [found] = retriever.retrieve("When do trains run?")
    assert (found.node.node_id, found.node.get_content()) == ("trains", "Trains run at noon.")
    [found] = await retriever.aretrieve("When do ferries sail?")
    assert found.node.node_id == "ferries"


def test_what_is_inserted_says_where_it_belongs(sharded):
    with pytest.raises(TypeError, match="or each shard by itself"):
        ClewRetriever(index=sharded).insert(Document(text="A tram.", id_="tram"))
