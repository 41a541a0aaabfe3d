"""What the filters forbid is nowhere in what a retriever returns, also of a hierarchy of nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.simple import SimpleVectorStore
from llama_index.core.vector_stores.types import (
    MetadataFilter,
    MetadataFilters,
    VectorStoreQueryResult,
)
from llama_index.retrievers.clew import ClewRetriever
from pydantic import PrivateAttr

import clew
from clew.store import disk

QUESTION = "What fee does the harbour of Corfu take in winter?"
TENANT_A = MetadataFilters(filters=[MetadataFilter(key="tenant", value="a")])


def canaries(value, seen=None):
    """Every text with a canary that can be reached from an object, but not through an index."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, (int, float, type, clew.Index)):
        return []
    seen.add(id(value))
    if isinstance(value, str):
        return [value] if "canary" in value.lower() else []
    if isinstance(value, dict):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set)):
        parts = list(value)
    else:
        parts = [*getattr(value, "__dict__", {}).values()]
    return [found for part in parts for found in canaries(part, seen)]


def hierarchy():
    """A forbidden parent without a heading, with pages of two tenants that point at one another."""
    parent = TextNode(
        id_="canary-parent",
        text="Canary: the harbour of Corfu takes a secret fee.",
        metadata={"tenant": "b", "secret": "canary-metadata"},
    )
    pages = [
        TextNode(
            id_=f"canary-{i}" if i % 2 else f"page-{i}",
            text=f"{'Canary' if i % 2 else 'Corfu'}: the harbour takes a fee of {i} in winter.",
            metadata={"tenant": "b", "secret": f"canary-{i}"} if i % 2 else {"tenant": "a"},
        )
        for i in range(6)
    ]
    parent.relationships[NodeRelationship.CHILD] = [p.as_related_node_info() for p in pages]
    for i, page in enumerate(pages):
        page.relationships[NodeRelationship.PARENT] = parent.as_related_node_info()
        page.relationships[NodeRelationship.SOURCE] = parent.as_related_node_info()
        if i:
            page.relationships[NodeRelationship.PREVIOUS] = pages[i - 1].as_related_node_info()
        if i < 5:
            page.relationships[NodeRelationship.NEXT] = pages[i + 1].as_related_node_info()
    return [parent, *pages]


@pytest.mark.parametrize(("recipe", "explain"), [("hipporag", True), ("kurisu", False)])
def test_no_canary_is_in_nodes_or_context(tmp_path, monkeypatch, recipe, explain):
    retriever = ClewRetriever.from_nodes(hierarchy(), recipe=recipe, explain=explain)
    monkeypatch.setattr(disk, "sync", lambda _: None)
    retriever.persist(tmp_path)
    for asked in (retriever, ClewRetriever.from_persist_dir(tmp_path)):
        filtered = asked.with_options(filters=TENANT_A)
        nodes = filtered.retrieve(QUESTION)
        assert {one.node_id for one in nodes} == {"page-0", "page-2", "page-4"}
        assert canaries(nodes) == []
        assert canaries(filtered.context(QUESTION)) == []
    assert hierarchy()[1] == retriever.index.graph.originals[1], "the caller's own stay as they are"


def related_to_others():
    """Two allowed pages: around them are nodes that are in no index, or forbidden."""
    source = RelatedNodeInfo(
        node_id="handbook", metadata={"tenant": "a", "secret": "canary in the source"}
    )
    pages = [
        TextNode(id_=f"page-{i}", text=f"The harbour takes a fee of {i}.", metadata={"tenant": "a"})
        for i in range(2)
    ]
    for page in pages:
        page.relationships = {
            NodeRelationship.SOURCE: source,
            NodeRelationship.PARENT: RelatedNodeInfo(node_id="canary-parent"),
            NodeRelationship.NEXT: RelatedNodeInfo(
                node_id="canary-next", metadata={"text": "canary"}
            ),
            NodeRelationship.CHILD: [RelatedNodeInfo(node_id="canary-child")],
        }
    pages[1].relationships[NodeRelationship.PREVIOUS] = pages[0].as_related_node_info()
    return pages


class KeepsText(SimpleVectorStore):
    """A vector store that gives back its own nodes, as hosted ones do, and filters by itself."""

    stores_text: bool = True
    _nodes: dict = PrivateAttr(default_factory=dict)

    def add(self, nodes, **kwargs):
        self._nodes |= {node.node_id: node for node in nodes}
        return super().add(nodes)

    def query(self, query, **kwargs):
        found = super().query(replace(query, node_ids=None))
        return VectorStoreQueryResult(
            [self._nodes[id] for id in found.ids], found.similarities, found.ids
        )


@pytest.mark.parametrize("where", ["a vector store", "nodes"])
async def test_no_relationship_leads_past_a_filter(embed_model, where):
    if where == "nodes":
        retriever = ClewRetriever.from_nodes(related_to_others(), embed_model)
    else:
        storage = StorageContext.from_defaults(vector_store=KeepsText())
        index = VectorStoreIndex(
            related_to_others(), storage_context=storage, embed_model=embed_model
        )
        retriever = ClewRetriever.from_index(index)
        assert not isinstance(retriever.index, clew.Index)
    filtered = retriever.with_options(filters=TENANT_A)
    for found in (filtered.retrieve(QUESTION), await filtered.aretrieve(QUESTION)):
        assert {one.node_id for one in found} == {"page-0", "page-1"}
        assert canaries(found) == []
        related = {one.node_id: one.node.relationships for one in found}
        assert related["page-1"][NodeRelationship.PREVIOUS].node_id == "page-0"
        assert found[0].node.ref_doc_id == "handbook"
    unfiltered = retriever.retrieve(QUESTION)
    assert NodeRelationship.PARENT in unfiltered[0].node.relationships
