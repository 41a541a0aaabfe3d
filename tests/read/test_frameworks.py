"""The objects of both frameworks come in by their looks, with their place, and go out untouched."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from clew import Index
from clew.graph import heading_of
from clew.link import Next
from clew.read import Splitter, load_documents, read_nodes

TEXT = "\n\n".join(
    f"Paragraph {i} tells of the moon. Crater {i} is {i * 7} miles wide. It ends here."
    for i in range(24)
)
MARKDOWN = "# Moon\nIntro.\n\n## Seas\nMare.\n\n```\n# code\n```\n\n# Sun\nHot."


@pytest.fixture
def llama():
    """LlamaIndex, where it is installed."""
    schema = pytest.importorskip(
        "llama_index.core.schema", reason="llama-index-core is not installed"
    )
    parser = pytest.importorskip(
        "llama_index.core.node_parser", reason="llama-index-core is not installed"
    )
    return SimpleNamespace(**vars(schema), parser=parser)


@pytest.fixture
def langchain():
    """LangChain's documents, where they are installed."""
    return pytest.importorskip("langchain_core.documents", reason="langchain-core is not installed")


def test_frameworks_are_met_without_being_imported():
    code = "import sys, clew.read; clew.read.load_documents(['a']); print([m for m in sys.modules if m.startswith(('llama', 'langchain'))])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def test_what_a_llamaindex_node_knows_comes_along(llama):
    node = llama.TextNode(
        text="The moon.", id_="n1", metadata={"author": "A", "secret": "S"}, embedding=[3.0, 4.0]
    )
    node.excluded_embed_metadata_keys = ["secret"]
    before = node.to_json()

    (document,) = load_documents([llama.NodeWithScore(node=node, score=0.5)]).documents

    assert (document.id, document.text, document.embedded_as) == (
        "n1",
        "The moon.",
        "author: A\n\nThe moon.",
    )
    assert document.original is node
    assert document.vector.tolist() == pytest.approx([0.6, 0.8])
    document.metadata["author"] = "B"
    assert node.to_json() == before
    assert load_documents(node).documents[0].id == "n1", "one node by itself will do"
    assert (
        load_documents([llama.IndexNode(text="See there.", index_id="q", id_="i")])
        .documents[0]
        .text
        == "See there."
    )
    plain = load_documents([llama.Document(text="All of it.", id_="d")]).documents[0]
    assert (plain.id, plain.source, plain.embedded_as, plain.vector) == ("d", None, None, None)


def test_nodes_without_text_are_said_to_be_skipped(llama):
    nodes = [
        llama.ImageNode(image_path="moon.png", id_="i"),
        llama.TextNode(text=" ", id_="e"),
        llama.TextNode(text="Yes.", id_="t"),
    ]
    documents, skipped, _ = load_documents(nodes)
    assert [d.id for d in documents] == ["t"]
    assert skipped == [("i", "this ImageNode has no text"), ("e", "this TextNode has no text")]


@pytest.mark.parametrize("embedding", [[0.0, 0.0], [float("nan"), 1.0], []])
def test_a_vector_that_is_none_is_refused_by_name(llama, embedding):
    with pytest.raises(ValueError, match="embedding of node 'n'"):
        load_documents([llama.TextNode(text="x", id_="n", embedding=embedding)])


@pytest.mark.parametrize("overlap", [0, 20])
def test_pieces_of_llamaindexs_sentence_splitter_know_their_place(llama, overlap):
    source = llama.Document(text=TEXT, id_="moon", metadata={"title": "Moon"})
    nodes = llama.parser.SentenceSplitter(
        chunk_size=60, chunk_overlap=overlap
    ).get_nodes_from_documents([source])

    documents = load_documents(nodes).documents
    graph = read_nodes(documents, count=len)

    assert all(
        TEXT[d.span[0] : d.span[1]] == d.text and d.source == "moon" and not d.heading
        for d in documents
    )
    follow = Next().on(graph)
    assert [
        (graph.ids[a], graph.ids[b]) for a, b in zip(follow.tails, follow.heads, strict=True)
    ] == [(a.node_id, b.node_id) for a, b in pairwise(nodes)]
    assert {graph.ids[row] for row in graph.documents} == {"moon"}
    assert {heading_of(graph, row) for row in graph.rows("passage")} == {"Moon"}


def hierarchy(llama):
    sizes = {
        f"chunk_size_{n}": llama.parser.SentenceSplitter(
            chunk_size=n, chunk_overlap=0, include_metadata=False
        )
        for n in (200, 80, 40)
    }
    parser = llama.parser.HierarchicalNodeParser(node_parser_ids=list(sizes), node_parser_map=sizes)
    return parser.get_nodes_from_documents([llama.Document(text=TEXT, id_="moon")])


def test_containers_of_llamaindexs_hierarchy_are_headings_and_offsets_those_in_the_source(llama):
    nodes = hierarchy(llama)
    leaves = {node.node_id for node in llama.parser.get_leaf_nodes(nodes)}

    documents = load_documents(nodes).documents
    graph = read_nodes(documents, count=len)

    assert {d.id for d in documents if not d.heading} == leaves
    assert [d.id for d in documents] == [node.node_id for node in nodes]
    assert all(d.text == TEXT[d.span[0] : d.span[1]] for d in documents if not d.heading)
    assert any(
        node.start_char_idx != d.span[0] for node, d in zip(nodes, documents, strict=True)
    ), "the nodes' own are those in the parent"
    assert all(
        0 < len(d.text) <= 80 and d.original.text.startswith(d.text[:20])
        for d in documents
        if d.heading
    )
    row = {id: i for i, id in enumerate(graph.ids)}
    for node in nodes:
        above = node.parent_node.node_id if node.parent_node else "moon"
        assert graph.ids[graph.parents[row[node.node_id]]] == above


def test_leaves_whose_containers_did_not_come_have_no_place_that_could_be_wrong(llama):
    leaves = llama.parser.get_leaf_nodes(hierarchy(llama))
    documents = load_documents(leaves).documents
    assert all(d.span is None and not d.heading for d in documents if d.original.parent_node)
    graph = read_nodes(documents, count=len)
    assert len(
        set(zip(graph.documents.tolist(), map(tuple, graph.spans.tolist()), strict=True))
    ) == len(graph)


def test_children_and_followers_are_known_from_either_side(llama):
    key, info = llama.NodeRelationship, llama.RelatedNodeInfo
    top = llama.TextNode(
        id_="t",
        text="x" * 100,
        relationships={key.CHILD: [info(node_id="a"), info(node_id="b"), info(node_id="gone")]},
    )
    nodes = [
        top,
        llama.TextNode(id_="a", text="A.", relationships={key.NEXT: info(node_id="b")}),
        llama.TextNode(id_="b", text="B."),
    ]
    of = {d.id: d for d in load_documents(nodes).documents}
    assert (of["a"].parent, of["b"].parent, of["b"].previous) == ("t", "t", "a")
    assert of["t"].heading
    assert of["t"].text == "x" * 79 + "…"


def test_sections_of_llamaindexs_markdown_parser_come_in(llama):
    nodes = llama.parser.MarkdownNodeParser().get_nodes_from_documents(
        [llama.Document(text=MARKDOWN, id_="m")]
    )
    documents = load_documents(nodes).documents
    assert [d.text for d in documents] == [MARKDOWN[d.span[0] : d.span[1]] for d in documents]
    assert [d.metadata["header_path"] for d in documents] == ["/", "/Moon/", "/"]


def test_a_container_is_called_by_its_headings_or_its_title(llama):
    info, key = llama.RelatedNodeInfo, llama.NodeRelationship
    for metadata, wanted in [
        ({"header_path": "/A/B/", "title": "T"}, "A > B"),
        ({"header_path": "/", "title": "T"}, "T"),
        ({}, "First"),
    ]:
        nodes = [
            llama.TextNode(id_="t", text="\n# First\nSecond", metadata=metadata),
            llama.TextNode(id_="c", text="c", relationships={key.PARENT: info(node_id="t")}),
        ]
        assert load_documents(nodes).documents[0].text == wanted


def test_a_langchain_document_comes_in_under_its_id_or_a_stable_one(langchain):
    given = langchain.Document(page_content="The moon.", metadata={"a": 1, "b": {"x", "y"}}, id="7")
    bare = langchain.Document(page_content="The moon.", metadata={"a": 1, "b": {"x", "y"}})
    turned = langchain.Document(page_content="The moon.", metadata={"b": {"y", "x"}, "a": 1})
    other = langchain.Document(page_content="The moon.", metadata={"a": 2})

    first, second, third = load_documents([given, bare, other]).documents

    assert (first.id, first.text, first.metadata, first.span, first.source) == (
        "7",
        "The moon.",
        {"a": 1, "b": {"x", "y"}},
        None,
        None,
    )
    assert first.original is given
    assert first.metadata is not given.metadata
    assert second.id == load_documents(turned).documents[0].id != third.id
    assert second.id.startswith("text-")
    assert load_documents([langchain.Document(page_content="", id="e")]).skipped == [
        ("e", "this Document has no text")
    ]


def chunks(langchain, *sources, size=200, overlap=60, **more):
    splitters = pytest.importorskip(
        "langchain_text_splitters", reason="langchain-text-splitters is not installed"
    )
    splitter = splitters.RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=overlap, **more
    )
    return splitter.split_documents(
        [langchain.Document(page_content=text, metadata=metadata) for text, metadata in sources]
    )


def test_chunks_of_langchain_know_their_place_where_they_say_their_source(langchain):
    pages = [
        (TEXT, {"source": "moon.pdf", "page": 0}),
        (TEXT.upper(), {"source": "moon.pdf", "page": 1}),
        (MARKDOWN, {"source": "b.md"}),
    ]
    documents = load_documents(chunks(langchain, *pages, add_start_index=True)).documents
    whole = {"moon.pdf#page=0": TEXT, "moon.pdf#page=1": TEXT.upper(), "b.md": MARKDOWN}
    assert {d.source for d in documents} == set(whole)
    assert all(whole[d.source][d.span[0] : d.span[1]] == d.text for d in documents)
    assert {d.format for d in documents if d.source == "b.md"} == {"markdown"}

    without = load_documents(chunks(langchain, *pages)).documents
    assert {(d.source, d.span) for d in without} == {(None, None)}


def test_a_source_that_is_but_a_label_of_many_texts_is_no_place(langchain):
    sources = [
        (TEXT, {"source": "news", "n": 0}),
        (TEXT.replace("moon", "star"), {"source": "news", "n": 1}),
        (TEXT, {"source": "moon"}),
    ]
    documents = load_documents(chunks(langchain, *sources, add_start_index=True)).documents
    assert {d.source for d in documents} == {None, "moon"}
    assert all((d.span is None) == (d.source is None) for d in documents)


def test_indexes_of_both_frameworks_answer_with_the_callers_objects(llama, langchain):
    nodes = llama.parser.SentenceSplitter(chunk_size=60, chunk_overlap=10).get_nodes_from_documents(
        [llama.Document(text=TEXT, id_="m")]
    )
    for objects in (
        nodes,
        hierarchy(llama),
        chunks(langchain, (TEXT, {"source": "moon"}), add_start_index=True),
    ):
        context = Index.from_documents(objects).ask(
            "How wide is Crater 13?", recipe="bm25", limit=2
        )
        assert any(
            "Crater 13 " in item.original.text
            if hasattr(item.original, "text")
            else item.original.page_content
            for item in context
        )
        assert all(any(item.original is one for one in objects) for item in context)


def test_vectors_of_nodes_are_used_as_they_are(llama):
    rng = np.random.default_rng(1)
    nodes = [
        llama.TextNode(text=f"Word {i}.", id_=str(i), embedding=rng.normal(size=4).tolist())
        for i in range(3)
    ]
    graph = read_nodes(load_documents(nodes).documents, count=len)
    wanted = np.array([node.embedding for node in nodes])
    assert np.allclose(
        graph.vectors, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6
    )


def test_a_framework_text_can_be_cut_further(langchain):
    documents = load_documents(
        [langchain.Document(page_content=MARKDOWN, metadata={"source": "a/moon.md"}, id="m")]
    ).documents
    graph = read_nodes(documents, splitter=Splitter(50), count=len)
    assert [graph.texts[row] for row in graph.rows("section")] == ["Moon", "Seas", "Sun"]
    assert graph.originals[int(graph.rows("document")[0])] is documents[0].original


def test_headings_that_stand_only_in_the_metadata_become_containers(llama, langchain):
    splitters = pytest.importorskip(
        "langchain_text_splitters", reason="langchain-text-splitters is not installed"
    )
    text = (
        "# Moon\n\nIt is far.\n\n## Seas\n\nThey are dry.\n\n## Craters\n\nMany.\n\n# Sun\n\nHot.\n"
    )
    chunks = splitters.MarkdownHeaderTextSplitter(
        [("#", "Header 1"), ("##", "Header 2")]
    ).split_text(text)
    nodes = llama.parser.MarkdownNodeParser().get_nodes_from_documents(
        [llama.Document(text=text, id_="m")]
    )
    wanted = {"far": "Moon", "dry": "Moon > Seas", "Many": "Moon > Craters", "Hot": "Sun"}
    for objects in (chunks, nodes):
        index = Index.from_documents(objects)
        graph = index.graph
        of = {
            row: next(word for word in wanted if word in graph.texts[row])
            for row in graph.rows("passage").tolist()
        }
        assert {word: heading_of(graph, row) for row, word in of.items()} == wanted
        assert sorted(graph.texts[row] for row in graph.rows("section")) == [
            "Craters",
            "Moon",
            "Seas",
            "Sun",
        ]
        assert index.ask("Are the seas dry?", recipe="kurisu", limit=1).items[0].original in objects
        fewer = index.delete(
            next(document.id for document in index.documents if "Hot" in document.text)
        )
        assert "Sun" not in fewer.graph.texts
