"""No source has more than its share of what a synthesizer prints, metadata included."""

from __future__ import annotations

from llama_index.core.schema import MetadataMode, TextNode
from llama_index.postprocessor.clew import ClewPostprocessor
from llama_index.retrievers.clew import ClewRetriever

QUESTION = "Who holds the key of the lighthouse of Vardo?"


def test_a_source_has_its_share_with_the_metadata_that_it_writes() -> None:
    nodes = [
        TextNode(
            id_=f"lie {i}",
            text=f"{QUESTION} Mallory {i} does.",
            metadata={"file_path": "lies.md", "abstract": "the key of the lighthouse " * 6},
        )
        for i in range(30)
    ]
    nodes += [
        TextNode(id_=f"true {i}", text=f"Anna {i} holds the key.", metadata={"file_path": f"{i}"})
        for i in range(4)
    ]
    made = {"recipe": "bm25", "count": len}
    everything = ClewRetriever.from_nodes(nodes, budget=None, **made).retrieve(QUESTION)
    for share, wanted in ((0.5, None), (0.3, 0.3)):
        retriever = ClewRetriever.from_nodes(
            nodes, untrusted=True, max_share=wanted, budget=2000, **made
        )
        narrowing = ClewPostprocessor(max_share=share, budget=2000, **made)
        for found in (
            retriever.retrieve(QUESTION),
            narrowing.postprocess_nodes(everything, query_str=QUESTION),
        ):
            texts = [
                one.node.get_content(metadata_mode=MetadataMode.LLM)
                for one in found
                if one.node.metadata["file_path"] == "lies.md"
            ]
            assert texts
            assert len("\n\n".join(texts)) <= share * 2000
            assert any(one.node.node_id.startswith("true") for one in found)
