"""What an index holds, as one value that building, changing and filtering work on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from clew.document import Document
from clew.embedding.embedded_texts import texts_embedded_as
from clew.embedding.embedder import Embedder
from clew.graph import EMPTY, Graph, Mask, texts_at
from clew.index.config import ExtractorLike, IndexConfig
from clew.index.learning import Learned
from clew.index.locating import files_in_pieces
from clew.index.metadata_values import MetadataValues
from clew.index.reader import config_after, leaves_names_bare
from clew.read import FileReading, Knowledge, Split, Triple
from clew.text.code_languages import is_source_code
from clew.types import Generate, Link
from clew.usage import NO_USAGE, Usage

OF_DOCUMENTS = (
    "document_of",
    "files_in_pieces",
    "related_documents",
    "are_containers",
    "n_of_code",
    "metadata_values",
)
"""What goes by the documents alone, and is found out once for all indexes that have these."""

Failures = tuple[tuple[str, str], ...]
"""What could not be read or generated, each with the reason."""


@dataclass(frozen=True, eq=False)
class IndexContents:
    """Everything that an index holds; `clew.Index` adds what can be done with it.

    Attributes:
        graph: What questions are answered from.
        config: What the index is made with.
        documents: What was indexed. Empty for an index of a graph.
        facts: Triples (subject, relation, object) that came with the documents, by document id.
        fitted_embedder: The embedded default, fitted on the passages that there were when the index
            was built whole. None where the configuration has an embedder.
        extracted: Triples that the extractor read, by the key of the passage.
        knowledge: What all passages have taught the extractor, so that it can read a few more
            alone. None where it reads each by itself, or all together again.
        skipped: Files and texts that were not indexed, each with the reason.
        files: What each file gave when it was read, by its path: `sync` and `upsert` do not open
            it again while it has not changed. Files that changed within seconds of being read are
            left out.
        failed: Passages that could not be read and texts that could not be generated, each with the
            reason.
        learned: Strengths of edges that questions have taught.
        usage: The calls and tokens of language models since the index was made or loaded.
        changed: Passages that were added and deleted in place since the index was built whole.
        saved_as: Where the index was loaded from, or saved to, before the changes since, as the
            store knows it: the next save there writes these alone. None for nowhere, and after the
            index was built whole.
        follows: The place and the generation that the index, or the one that it was changed from,
            was loaded from or saved to last, or the newest one there where an earlier one was
            loaded by its number; a save logs it where another came there since. None for nowhere.
    """

    graph: Graph
    config: IndexConfig
    documents: tuple[Document, ...] = ()
    facts: Mapping[str, Sequence[Triple]] = field(default_factory=lambda: EMPTY)
    fitted_embedder: Embedder | None = None
    extracted: Mapping[str, Sequence[Triple]] = field(default_factory=lambda: EMPTY, repr=False)
    knowledge: Knowledge | None = field(default=None, repr=False)
    skipped: Failures = ()
    files: Mapping[str, FileReading] = field(default_factory=lambda: EMPTY, repr=False)
    failed: Failures = ()
    learned: Learned = field(default_factory=Learned, repr=False)
    usage: Usage = field(default=NO_USAGE, repr=False)
    changed: int = 0
    saved_as: object = field(default=None, repr=False)
    follows: tuple[str, int] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the fields, since questions add to what else is known."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def replaced(self, **values: object) -> Self:
        """Return the index with some fields in place of its own, all but the documents.

        What is known of these stays known.
        """
        changed = replace(self, **values)  # type: ignore[arg-type]  # each of its field's type
        known = {name: self.__dict__[name] for name in OF_DOCUMENTS if name in self.__dict__}
        changed.__dict__.update(known)
        return changed

    def follow_documents(
        self, before: IndexContents, gone: Collection[str], came: Sequence[Document]
    ) -> None:
        """Take over what is known of the documents before a change.

        Args:
            before: The index before the change.
            gone: The ids of the documents that went.
            came: What came behind those that stay, by other ids.
        """
        known = before.__dict__
        if "document_of" not in known:
            return
        document_of = {**before.document_of}
        went = [document_of.pop(id) for id in gone]
        document_of.update((one.id, one) for one in came)
        self.__dict__["document_of"] = document_of
        if "related_documents" in known:
            stay = [one for one in before.related_documents if one.id not in gone]
            self.__dict__["related_documents"] = (*stay, *filter(_is_related, came))
        if "embedded_as" in known:
            left = {id: text for id, text in before.embedded_as.items() if id not in gone}
            self.__dict__["embedded_as"] = left | texts_embedded_as(came)
        if "n_of_code" in known:
            self.__dict__["n_of_code"] = before.n_of_code - _n_of_code(went) + _n_of_code(came)

    @property
    def embedder(self) -> Embedder:
        """What questions are embedded with."""
        embedder = self.config.embedder or self.fitted_embedder
        assert embedder is not None, "building an index fits the embedder that nobody gave"
        if not self.fitted or not self.changed:
            return embedder
        from clew.embedding.reweighted import embedder_now  # it loads what counts words

        return embedder_now(self.graph) or embedder

    @property
    def fitted(self) -> bool:
        """Whether the embedder is the embedded default, which is fitted again on every change."""
        return self.config.embedder is None

    @cached_property
    def document_of(self) -> Mapping[str, Document]:
        """The documents by their ids."""
        return {document.id: document for document in self.documents}

    @cached_property
    def files_in_pieces(self) -> frozenset[str]:
        """The files that several documents say that they are from."""
        return files_in_pieces(self.documents)

    @cached_property
    def document_rows(self) -> NDArray[np.int64]:
        """The rows of the nodes that the documents are: int64 [documents]; -1 for none.

        Documents mostly have the order of their nodes. Then no id is looked up, which takes ten
        times as long.
        """
        graph, ids = self.graph, [document.id for document in self.documents]
        rows = np.flatnonzero(graph.documents == np.arange(len(graph)))
        if len(rows) == len(ids) and list(texts_at(graph.ids, rows.tolist())) == ids:
            return rows
        found = map(graph.find_row, ids)
        return np.array([-1 if row is None else row for row in found], np.int64)

    @cached_property
    def related_documents(self) -> tuple[Document, ...]:
        """The documents that are inside others, follow others or are pieces of others."""
        return tuple(filter(_is_related, self.documents))

    @cached_property
    def embedded_as(self) -> Mapping[str, str]:
        """The texts that are embedded in place of the documents' own, by id."""
        return texts_embedded_as(self.documents)

    @cached_property
    def are_containers(self) -> Mask:
        """Which documents are containers: bool [documents]."""
        return np.array([document.heading for document in self.documents], np.bool_)

    @cached_property
    def metadata_values(self) -> MetadataValues:
        """The documents by the values of their metadata."""
        return MetadataValues(self.documents)

    @cached_property
    def n_of_code(self) -> int:
        """How many documents are source code."""
        return _n_of_code(self.documents)

    @property
    def is_of_code(self) -> bool:
        """Whether most documents are source code."""
        return 2 * self.n_of_code > len(self.documents)

    @cached_property
    def has_many_entities(self) -> bool:
        """Whether there are more entities than passages, as where names are read in prose."""
        return len(self.graph.rows("entity")) > len(self.graph.rows("passage"))

    @cached_property
    def built_with(self) -> IndexConfig:
        """The configuration, with what reads facts here where the documents have decided it."""
        return config_after(self.config, self.knowledge)

    @property
    def has_bare_names(self) -> bool:
        """Whether names, and facts about them, have no vectors; see `leaves_names_bare`."""
        return not self.fitted and leaves_names_bare(self.config, self.built_with)

    @property
    def extractor(self) -> ExtractorLike | None:
        """What reads facts out of the passages."""
        return self.built_with.extractor

    @property
    def splitter(self) -> Split | None:
        """What cuts documents into passages."""
        return self.config.splitter

    @property
    def links(self) -> tuple[Link, ...]:
        """The kinds of edge that are made."""
        return self.built_with.links

    @property
    def generators(self) -> tuple[Generate, ...]:
        """What makes texts of what the graph holds."""
        return self.config.generators


def _is_related(one: Document) -> bool:
    return one.source is not None or one.parent is not None or one.previous is not None


def _n_of_code(documents: Sequence[Document]) -> int:
    return sum(is_source_code(one.format, one.metadata) for one in documents)
