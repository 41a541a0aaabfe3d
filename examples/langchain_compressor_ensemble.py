"""Two retrievers find, clew selects.

    pip install langchain-classic

ClewCompressor brings what an EnsembleRetriever finds under a budget and into reading order.
"""

import inspect
import re
import statistics
import zlib

from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever
from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore


class Words(Embeddings):
    """A bag of hashed words, in the place of a model."""

    def embed_query(self, text: str) -> list[float]:
        vector = [1e-6] * 512
        for word in re.findall(r"\w+", text.lower()):
            vector[zlib.crc32(word.encode()) % 512] += 1.0
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


documents = [
    Document(id=name, page_content=inspect.getdoc(getattr(statistics, name)) or "")
    for name in statistics.__all__
]
near = InMemoryVectorStore.from_documents(documents, Words()).as_retriever(search_kwargs={"k": 8})
words = ClewRetriever.from_documents(documents, recipe="bm25", k=8)
both = EnsembleRetriever(retrievers=[near, words], weights=[0.5, 0.5])
retriever = ContextualCompressionRetriever(
    base_compressor=ClewCompressor(budget=500, explain=True), base_retriever=both
)

question = "Which average should I use for speeds and other rates?"
count = len(both.invoke(question))
print(f"the ensemble finds {count} documents; within 500 tokens clew keeps, in reading order:")
for document in retriever.invoke(question):
    first_line = document.page_content.splitlines()[0]
    print(f"  {document.id:<16} {document.metadata['clew_role']:<5} {first_line}")
