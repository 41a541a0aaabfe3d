"""clew as the retriever of a LlamaIndex query engine.

A mock model repeats its prompt instead of an answer.
"""

import inspect
import statistics

from llama_index.core import Document, get_response_synthesizer
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.retrievers.clew import ClewRetriever

documents = [
    Document(
        id_=name,
        text=inspect.getdoc(getattr(statistics, name)) or "",
        metadata={"module": "statistics"},
    )
    for name in statistics.__all__
]

# Without `embed_model`, clew fits its own to the documents.
retriever = ClewRetriever.from_documents(documents, budget=600)
engine = RetrieverQueryEngine(retriever, get_response_synthesizer(llm=MockLLM()))

answer = engine.query("Which average should I use for speeds and other rates?")
print(answer)
print("\nsources, in reading order:")
for source in answer.source_nodes:
    node = source.node
    rank, role = node.metadata["clew_rank"], node.metadata["clew_role"]
    print(f"  {rank}  {node.node_id:<16} {role}  {source.score:.3f}")
