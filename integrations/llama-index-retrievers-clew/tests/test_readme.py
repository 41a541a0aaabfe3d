"""What the README shows works as it stands."""

from __future__ import annotations

import re
from pathlib import Path

from llama_index.core import PropertyGraphIndex, Settings, VectorStoreIndex
from llama_index.core.indices.property_graph import ImplicitPathExtractor
from llama_index.core.llms import MockLLM
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


def test_every_example_runs(documents, nodes, embed_model, question, monkeypatch):
    monkeypatch.setattr(Settings, "_llm", MockLLM())
    world = {
        "documents": documents,
        "embed_model": embed_model,
        "vector_store_index": VectorStoreIndex(nodes, embed_model=embed_model),
        "index": PropertyGraphIndex(
            nodes, kg_extractors=[ImplicitPathExtractor()], embed_kg_nodes=False, use_async=False
        ),
        "filters": MetadataFilters(filters=[MetadataFilter(key="kind", value="person")]),
    }
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(examples) == 3
    for example in examples:
        exec(compile(example, "README.md", "exec"), world)
    assert world["nodes"]
    assert world["sub"].retrieve(question)
