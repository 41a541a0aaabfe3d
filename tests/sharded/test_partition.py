"""Which shard each document goes to."""

from __future__ import annotations

import networkx
import pytest

import clew
from clew.sharded import divide, partition_by_components, partition_by_hash, read_partition


def chains():
    """Forty documents in ten chains of facts, of different lengths."""
    facts, n = {}, 0
    for chain in range(10):
        for step in range(chain % 4 + 1):
            facts[f"d{n}"] = [(f"P{chain} {step}", "knows", f"P{chain} {step + 1}")]
            n += 1
    documents = [clew.Document(id, f"{triples[0][0]} knows.") for id, triples in facts.items()]
    return documents, facts


def test_no_edge_leads_from_a_component_to_another_shard_and_shards_are_alike_in_size():
    documents, facts = chains()
    graph = clew.Index.from_documents(documents, facts=facts).graph
    found = partition_by_components(graph, 3)
    assert set(found) == {document.id for document in documents}
    plain = networkx.Graph()
    plain.add_nodes_from(graph.ids)
    for tail, head, kind in zip(
        graph.edges.tails, graph.edges.heads, graph.edges.kinds, strict=True
    ):
        if kind != "similar":
            plain.add_edge(graph.ids[tail], graph.ids[head])
    for component in networkx.connected_components(plain):
        assert len({found[id] for id in component if id in found}) <= 1
    sizes = [len(shard) for shard in divide(documents, found)]
    assert sum(sizes) == len(documents)
    assert max(sizes) - min(sizes) <= 4  # the longest chain


def test_a_hash_moves_no_document_when_others_come():
    before = partition_by_hash([f"d{i}" for i in range(1000)], 4)
    after = partition_by_hash([f"d{i}" for i in reversed(range(2000))], 4)
    assert before == {id: after[id] for id in before}
    counts = [list(before.values()).count(shard) for shard in range(4)]
    assert min(counts) > 200
    with pytest.raises(ValueError, match="at least 1; got 0"):
        partition_by_hash(["a"], 0)


def test_a_partition_that_another_program_wrote_is_read(tmp_path):
    file = tmp_path / "partition.csv"
    file.write_text('id,community\n"a, b",1\nc,0\n', encoding="utf-8")
    assert read_partition(file) == {"a, b": 1, "c": 0}
    documents = [clew.Document("c", "Three."), clew.Document("a, b", "One.")]
    assert [[one.id for one in shard] for shard in divide(documents, read_partition(file))] == [
        ["c"],
        ["a, b"],
    ]
    file.write_text("a,1\nb,x\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: wanted an id and a whole number"):
        read_partition(file)
    file.write_text("a,1\na,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="'a' is in two partitions, 1 and 2"):
        read_partition(file)
    with pytest.raises(KeyError, match="which shard the document 'd'"):
        divide([clew.Document("d", "Four.")], {"c": 0})
