"""What a retriever asks, while documents come and go.

Retrievers that were made of one another by `with_options` share it. A question under way keeps the
index that it started with; one that begins after a change sees the change.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.indices.base import BaseIndex
from llama_index.core.schema import BaseNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.retrievers.clew.candidates import (
    Candidates,
    listed_ids,
    nodes_with_vectors,
    without_vector,
)

import clew
from clew.adapters import IndexConfig, renew_after_fork
from clew.remote import PulledIndex


@dataclass(frozen=True, eq=False)
class Held:
    """What a question is asked of.

    Attributes:
        index: The index, or the candidates of a vector store. None where there is no node.
        own_nodes: The caller's nodes by id, where a loaded index has none.
    """

    index: clew.Index | PulledIndex | Candidates | None
    own_nodes: Mapping[str, BaseNode] = field(default_factory=dict)


def listed_in(index: BaseIndex[Any]) -> dict[str, str | None] | None:
    """Return the ids of the nodes that an index lists, in its order, and what their hashes are.

    A docstore in memory keeps these, so that a node of the same id that says something else is
    known without being read. They are None of another docstore, which would be asked over a network
    at every question. The whole is None where the index has no list.
    """
    ids = listed_ids(index)
    if ids is None:
        return None
    hashes: dict[str, str | None] = dict.fromkeys(ids)
    docstore = index.docstore
    if isinstance(docstore, SimpleDocumentStore):
        # It gives one id for each hash: nodes that say the same are asked for one by one.
        known = {id: hash for hash, id in docstore.get_all_document_hashes().items()}
        for id in ids:
            hashes[id] = known[id] if id in known else docstore.get_document_hash(id)
    return hashes


def _are_same(
    listed: Mapping[str, str | None] | None, seen: Mapping[str, str | None] | None
) -> bool:
    """Return whether the same nodes are listed in the same order."""
    return listed == seen and [*(listed or ())] == [*(seen or ())]


@dataclass(eq=False)
class Living:
    """An index that can be changed, or that follows an index of LlamaIndex's.

    Attributes:
        held: What is asked now.
        followed: The index of LlamaIndex's whose nodes are read again when others are listed there,
            or the same ones say something else.
        prepare: What is done to each of its nodes.
        seen: What `listed_in` gave when it was read.
        config: What the index is made with, where there is no node and some come.
        lock: Held while the index is changed.
    """

    held: Held
    followed: BaseIndex[Any] | None = None
    prepare: Callable[[BaseNode], BaseNode] = without_vector
    seen: Mapping[str, str | None] | None = None
    config: IndexConfig | None = None
    lock: AbstractContextManager[bool] = field(default_factory=threading.RLock, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.held.index, clew.Index):
            self.config = self.held.index.config
            if not len(self.held.index.graph):
                self.held = Held(None)
        if self.followed is not None:
            self.seen = listed_in(self.followed)
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Release the lock: after a fork, no other thread is there to do so."""
        self.lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the lock."""
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.renew_locks()
        renew_after_fork(self)

    def __deepcopy__(self, memo: dict[int, object]) -> Living:
        """Share what is asked and followed; a change of the one is none of the other."""
        return copy.copy(self)

    def now(self) -> Held:
        """Return what a question is asked of, once it is what the followed index holds."""
        if self.followed is not None and not _are_same(listed_in(self.followed), self.seen):
            self.refresh()
        return self.held

    def refresh(self) -> None:
        """Read the nodes of the followed index again; those that have not changed cost nothing."""
        if self.followed is None:
            return
        with self.lock:
            seen = listed_in(self.followed)
            listed = nodes_with_vectors(self.followed) if seen else None
            nodes = [*map(self.prepare, listed or [])]
            if not any(node.get_content().strip() for node in nodes):
                nodes = []  # as an index that was emptied
            self._change(lambda index: index.sync(nodes) if nodes else None, nodes)
            self.seen = seen

    def upsert(self, documents: Sequence[BaseNode]) -> None:
        """Put documents or nodes in the place of those of the same ids, or beside the others.

        In the place of one without text there is nothing to read.
        """
        with self.lock:
            self._own_documents()
            some = {one.node_id for one in documents if one.get_content().strip()}
            blank = sorted({one.node_id for one in documents} - some)

            def change(index: clew.Index) -> clew.Index | None:
                gone = [id for id in blank if id in index.document_of]
                if not some and len(gone) == len(index.documents):
                    return None
                changed = index.upsert(documents)
                return changed.delete(gone) if gone else changed

            self._change(change, documents if some else ())

    def delete(self, ids: Iterable[str]) -> None:
        """Let the documents of these ids go; one that is not there is gone already."""
        with self.lock:
            known = {document.id for document in self._own_documents()}
            gone = [id for id in dict.fromkeys(ids) if id in known]
            left = len(known) > len(gone)
            if gone:
                self._change(lambda index: index.delete(gone) if left else None, ())

    def pieces_of(self, ref_doc_id: str) -> dict[str, object]:
        """Return a document and the nodes that were cut from it, by their ids, in their order."""
        documents, index = self._own_documents(), self.held.index
        if not isinstance(index, clew.Index):
            return {}
        nodes = dict(zip(index.graph.ids, index.graph.originals, strict=True))
        nodes |= self.held.own_nodes
        return {
            one.id: nodes.get(one.id)
            for one in documents
            if ref_doc_id in (one.id, getattr(nodes.get(one.id), "ref_doc_id", None))
        }

    def _own_documents(self) -> Sequence[clew.Document]:
        index = self.held.index
        if self.followed is not None or isinstance(index, Candidates):
            raise TypeError(
                "this retriever answers from an index of LlamaIndex's: insert and delete there, "
                "and the next question sees it"
            )
        if isinstance(index, PulledIndex):
            raise TypeError(
                "this retriever answers from an index in a database, or from shards: upsert and "
                "delete there (RemoteIndex.upsert, RemoteIndex.delete, or each shard by itself), "
                "and the next question sees it"
            )
        return () if index is None else index.documents

    def _change(
        self,
        change: Callable[[clew.Index], clew.Index | None],
        nodes: Sequence[BaseNode],
    ) -> None:
        """Change the index, or make one of these nodes where there is none."""
        index = self.held.index
        if not isinstance(index, clew.Index):
            made = clew.Index.from_documents(nodes, config=self.config) if nodes else None
            self.held = Held(made)
            return
        changed = change(index)
        if changed is index:
            return
        before, after = index.document_of, {} if changed is None else changed.document_of
        own = self.held.own_nodes
        self.held = Held(
            changed, {id: own[id] for id in own if id in after and after[id] is before.get(id)}
        )
