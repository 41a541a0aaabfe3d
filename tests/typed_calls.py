"""What a caller's editor accepts and refuses: mypy reads this file, and nothing runs it.

A line that is marked as wrong has to be refused, since mypy complains of a mark that is not needed.
"""

from __future__ import annotations

from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms.llm import LLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index.postprocessor.clew import ClewPostprocessor
from llama_index.retrievers.clew import ClewPGRetriever
from llama_index.retrievers.clew import ClewRetriever as LlamaIndexRetriever

import clew


def of_clew(embeddings: Embeddings, embed_model: BaseEmbedding, chat: BaseChatModel) -> None:
    """Call clew itself."""
    index = clew.Index.from_documents(["a"], embedder=embeddings, extractor=clew.Names(), count=len)
    clew.Index.from_documents(["a"], embedder=embed_model, count="cl100k_base")
    clew.Index.from_documents(["a"], embedder=lambda texts: [[1.0] for _ in texts], count=str.split)
    clew.Index.from_documents(["a"], embedder="all-MiniLM-L6-v2", extractor=lambda text: [])
    clew.Index.from_documents(["a"], embedder=1)  # type: ignore[arg-type]
    clew.Index.from_documents(["a"], count=1)  # type: ignore[arg-type]
    clew.Index.from_documents(["a"], extractor="names")  # type: ignore[arg-type]
    clew.Index.from_documents(["a"], facts={"a": [("Anna", "knows", "Ben")]})
    clew.Index.from_documents(["a"], facts=[("Anna", "knows", "Ben")])  # type: ignore[arg-type]
    clew.Document("a", "Anna knows Ben.", facts=[("Anna", "knows", "Ben")])
    clew.Document("a", "Anna knows Ben.", facts=[("Anna", "knows")])  # type: ignore[list-item]
    index.ask("a", recipe="bm25", where={"year": [2020, 2021]}, model=chat)
    index.ask("a", recipe=clew.recipes.get("bm25"), where=lambda metadata: metadata["year"] > 2020)
    index.ask("a", recipe=1)  # type: ignore[arg-type]
    index.ask("a", model=1)  # type: ignore[arg-type]
    index.ask("a", where="year")  # type: ignore[arg-type]
    index.ask("a", limits=3)  # type: ignore[call-arg]
    clew.narrow("a", [("b", 0.5)], embedder=embeddings, recipe="bm25", model=str.upper)


def of_langchain(index: clew.Index, embeddings: Embeddings, chat: BaseChatModel) -> None:
    """Call the retriever and the compressor of LangChain."""
    retriever = ClewRetriever(index=index, recipe="bm25", model=chat, k=3, filter={"year": 2020})
    ClewRetriever(index=index, recipe=clew.recipes.get("bm25"), model=str.upper)
    ClewRetriever(index=index, recipe=1)  # type: ignore[arg-type]
    ClewRetriever(index=index, model=1)  # type: ignore[arg-type]
    ClewRetriever.from_texts(["a"], embeddings, [{"year": 2020}], k=3, recipe="bm25", budget=None)
    ClewRetriever.from_texts(["a"], 1)  # type: ignore[arg-type]
    retriever.context("a", k=3, filter=lambda metadata: metadata["year"] > 2020)
    ClewCompressor(embeddings=embeddings, count=len, facts={"a": [("Anna", "knows", "Ben")]})
    ClewCompressor(embeddings=1)  # type: ignore[arg-type]
    ClewCompressor(facts=["Anna knows Ben"])  # type: ignore[arg-type]


def of_llama_index(index: VectorStoreIndex, embed_model: BaseEmbedding, llm: LLM) -> None:
    """Call the retrievers and the postprocessor of LlamaIndex."""
    nodes = [TextNode(text="a")]
    retriever = LlamaIndexRetriever.from_nodes(nodes, embed_model, recipe="bm25", llm=llm)
    retriever.with_options(recipe="dense", budget=None, filters=MetadataFilters(filters=[]))
    retriever.with_options(recipe=1)  # type: ignore[arg-type]
    retriever.with_options(llm=1)  # type: ignore[arg-type]
    LlamaIndexRetriever.from_index(index, edges=[("links", "url")], hops=0)
    LlamaIndexRetriever.from_index(nodes)  # type: ignore[arg-type]
    LlamaIndexRetriever.from_index(index, edges=["links"])  # type: ignore[list-item]
    LlamaIndexRetriever.from_documents([], 1)  # type: ignore[arg-type]
    ClewPGRetriever(index.property_graph_store, embed_model, "bm25", 2000, llm=llm)  # type: ignore[attr-defined]
    ClewPostprocessor(recipe="bm25", embed_model=embed_model, llm=llm, count=str.split)
    ClewPostprocessor(recipe=1)  # type: ignore[arg-type]
    ClewPostprocessor(llm=1)  # type: ignore[arg-type]
    LlamaIndexRetriever.from_documents([], splitter=SentenceSplitter())
