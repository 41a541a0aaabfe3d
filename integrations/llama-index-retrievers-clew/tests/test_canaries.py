"""What the filters forbid is nowhere in what a retriever returns, also of a hierarchy of nodes."""

from __future__ import annotations

import pytest
from llama_index.core.schema import NodeRelationship, TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
from llama_index.retrievers.clew import ClewRetriever

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
