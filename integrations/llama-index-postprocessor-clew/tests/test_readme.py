"""What the README shows works as it stands."""

from __future__ import annotations

import re
from pathlib import Path

from llama_index.core import Settings, VectorStoreIndex
from llama_index.core.llms import MockLLM

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


def test_every_example_runs(nodes, embed_model, question, monkeypatch):
    monkeypatch.setattr(Settings, "_llm", MockLLM())
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    world = {"vector_store_index": index, "question": question}
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(compile(example, "README.md", "exec"), world)
    assert len(world["nodes"]) == 5
    assert world["context"].ids == [node.node_id for node in world["nodes"]]
    assert world["query_engine"].query(question).source_nodes
