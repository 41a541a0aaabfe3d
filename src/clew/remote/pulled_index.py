"""What is common to indexes of which a question reads a part: one in a database, and several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Unpack

from numpy.typing import ArrayLike

from clew.context import Context
from clew.document import Document
from clew.embedding.embedder import Embedder
from clew.index.config import IndexConfig
from clew.index.question import QueryKeywords, QueryOptions, Where
from clew.read import Triple
from clew.remote.corpus import CorpusFigures
from clew.remote.reading import as_contents


class PulledIndex(ABC):
    """An index of which a question pulls the part that it may need; both frameworks ask it."""

    @abstractmethod
    def ask(
        self,
        question: str,
        *,
        vector: ArrayLike | None = None,
        options: QueryOptions | None = None,
        **keywords: Unpack[QueryKeywords],
    ) -> Context:
        """Return the context for a question; see `clew.Index.ask`."""

    @abstractmethod
    async def aask(
        self,
        question: str,
        *,
        vector: ArrayLike | None = None,
        options: QueryOptions | None = None,
        **keywords: Unpack[QueryKeywords],
    ) -> Context:
        """Return what `ask` returns without blocking the event loop."""

    @abstractmethod
    def upsert(
        self, documents: object, *, facts: Mapping[str, Iterable[Triple]] | None = None
    ) -> None:
        """Add documents, and put those of a known id in its place."""

    @abstractmethod
    def delete(self, ids: str | Iterable[str] | None = None, *, where: Where | None = None) -> None:
        """Delete documents by their ids or their metadata."""

    @property
    @abstractmethod
    def document_of(self) -> Mapping[str, Document]:
        """The documents by their ids."""

    @abstractmethod
    def _known(self) -> CorpusFigures:
        """Return what is known of the whole index, which is read where it is not."""

    @property
    def config(self) -> IndexConfig:
        """What questions are asked with: the tokenizer, the embedder, whose documents they are."""
        known = self._known()
        return as_contents(known, known.no_nodes).config

    @property
    def embedder(self) -> Embedder:
        """What questions are embedded with."""
        return self._known().embedder

    @property
    def fitted(self) -> bool:
        """Whether the embedder is the embedded default, which is fitted again on every change."""
        return self._known().embedder.fitted is not None

    def embed_question(self, question: str) -> ArrayLike:
        """Return the question's vector, of its canonical text, as the embedder gives it."""
        known = self._known()
        vector: ArrayLike = known.embedder.embed_question(known.searched(question))
        return vector

    async def aembed_question(self, question: str) -> ArrayLike:
        """Return what `embed_question` returns without blocking the event loop."""
        import asyncio

        known = self._known()
        if known.embedder.aembed_question is None:
            return await asyncio.to_thread(self.embed_question, question)
        vector: ArrayLike = await known.embedder.aembed_question(known.searched(question))
        return vector
