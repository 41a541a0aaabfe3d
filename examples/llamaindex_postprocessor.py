"""For an index you already have: clew selects within a budget what a VectorStoreIndex finds."""

import inspect
import re
import statistics
import zlib

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.postprocessor.clew import ClewPostprocessor


class Words(BaseEmbedding):
    """A bag of hashed words, in the place of a model."""

    def _get_text_embedding(self, text: str) -> list[float]:
        vector = [1e-6] * 512
        for word in re.findall(r"\w+", text.lower()):
            vector[zlib.crc32(word.encode()) % 512] += 1.0
        return vector

    _get_query_embedding = _get_text_embedding

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


documents = [
    Document(id_=name, text=inspect.getdoc(getattr(statistics, name)) or "")
    for name in statistics.__all__
]
index = VectorStoreIndex.from_documents(documents, embed_model=Words())
clew = ClewPostprocessor(budget=600)  # without `embed_model`, clew fits its own to the nodes

question = "Which average should I use for speeds and other rates?"
candidates = index.as_retriever(similarity_top_k=12).retrieve(question)
selected = clew.postprocess_nodes(candidates, query_str=question)
print(f"{len(candidates)} nodes were found; {len(selected)} are read within 600 tokens:")
for node in selected:
    print(f"  {node.score:.3f}  {node.node.metadata['clew_role']:<5} {node.text.splitlines()[0]}")

engine = index.as_query_engine(llm=MockLLM(), similarity_top_k=12, node_postprocessors=[clew])
print("\nWhat the model is given:\n")
print(engine.query(question))
