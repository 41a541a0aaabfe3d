"""clew as the retriever of a LlamaIndex query engine, with a mock model that repeats its prompt in the place of an answer."""

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

retriever = ClewRetriever.from_documents(
    documents, budget=600
)  # embed_model=None: clew's own, fitted to the documents
engine = RetrieverQueryEngine(retriever, get_response_synthesizer(llm=MockLLM()))

answer = engine.query("Which average should I use for speeds and other rates?")
print(answer)
print("\nsources, in reading order:")
for found in answer.source_nodes:
    print(
        f"  {found.node.metadata['clew_rank']}  {found.node.node_id:<16} {found.node.metadata['clew_role']}  {found.score:.3f}"
    )
