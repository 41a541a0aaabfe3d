"""For a vector store you already have: clew finds what its nearest documents lead to."""

import re
import zlib

from langchain_clew import ClewRetriever
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


register = {
    "MV Alcyone": "MV Alcyone is a ferry to the islands. Its captain is Ada Brandt.",
    "MV Borealis": "MV Borealis is a ferry to the islands. Its captain was born in a storm.",
    "MV Cormorant": "MV Cormorant is a ferry to the mainland. Its captain was born at sea.",
    "MV Dunlin": "MV Dunlin is a ferry to the mainland. It has no captain at present.",
    "Ada Brandt": "Ada Brandt grew up in Tromsø and learnt to sail from her aunt.",
    "Emil Voss": "Emil Voss grew up in Bergen and repairs engines.",
}
documents = [Document(f"{name}\n{text}", id=name) for name, text in register.items()]
store = InMemoryVectorStore.from_documents(documents, Words())
question = "Where was the captain of the ferry MV Alcyone born or brought up?"

print("The nearest three of the store:")
for document in store.similarity_search(question, k=3):
    print(f"  {document.id}")

retriever = ClewRetriever.from_vectorstore(store, candidates=3, budget=100)
context = retriever.context(question)
looked_for = context.trace[0].notes["further"][0]["looked for"]
print(f"\nThey lead to {', '.join(looked_for)}. What a model reads, within 100 tokens:")
for document in retriever.invoke(question, explain=True):
    print(f"  {document.id}: {document.metadata['clew_why']}")
