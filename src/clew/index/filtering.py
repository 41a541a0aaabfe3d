"""Filters: which nodes of a graph may be read, and the index that is left of them, equal to one built of those alone."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clew.embedding.attach import attach_vectors
from clew.graph import Edges, Graph, Mask
from clew.index.build import edges_by

if TYPE_CHECKING:
    from clew.index.index import Index

MOST = 8  # filtered indexes that are remembered: a service with many tenants must not keep a graph for each
Where = Mapping[str, Any] | Callable[[Mapping[str, Any]], bool]


def filtered_index(index: Index, where: Where) -> Index:
    """Return the index of what a filter allows; it is asked about the metadata of content alone.

    Args:
        where: a function of a passage's metadata, or a mapping of wanted values (a list means any of its values; of metadata that is a
            list, one of its values has to be wanted).
    """
    if not callable(where) and not isinstance(where, Mapping):
        raise TypeError(
            f"a filter is a mapping of wanted metadata values or a function of the metadata; got a {type(where).__name__}"
        )
    test = where if callable(where) else _matches(where)
    if index.documents:
        allowed = np.array(
            [document.heading or bool(test(document.metadata)) for document in index.documents],
            np.bool_,
        )
    else:
        content = index.graph.content.tolist()
        allowed = np.array(
            [not content[row] or bool(test(m)) for row, m in enumerate(index.graph.metadata)],
            np.bool_,
        )
    return index if allowed.all() else index.graph.part(_Filters()).get(index, allowed)


def _matches(wanted: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    several = {
        key: list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
        for key, value in wanted.items()
    }
    return lambda metadata: all(
        key in metadata and any(value in values for value in _several(metadata[key]))
        for key, values in several.items()
    )


def _several(value: Any) -> Any:
    return (value, *value) if isinstance(value, (list, tuple, set, frozenset)) else (value,)


@dataclass(frozen=True)
class _Filters:
    """The part that remembers filtered indexes."""

    def compute(self, graph: Graph) -> _Recent:
        return _Recent(threading.Lock(), OrderedDict())


@dataclass(frozen=True, eq=False)
class _Recent:
    """The last few filtered indexes, by what was allowed."""

    lock: threading.Lock
    indexes: OrderedDict[Any, Index]

    def get(self, index: Index, allowed: Mask) -> Index:
        key = np.packbits(allowed).tobytes(), index.embedder, index.links
        with self.lock:
            if key in self.indexes:
                self.indexes.move_to_end(key)
                return self.indexes[key]
        made = (
            _of_documents(index, allowed)
            if index.documents
            else _of_graph(index, index.graph.filtered(allowed))
        )
        with self.lock:  # not held while it was made: another filter need not wait, and two who want the same get the same
            self.indexes[key] = made
            while len(self.indexes) > MOST:
                self.indexes.popitem(last=False)
        return made


def _of_documents(index: Index, allowed: Mask) -> Index:
    """Made again of the allowed documents, since so much may have come from the others: spellings, weights, a fitted embedder."""
    left = tuple(
        document for document, stays in zip(index.documents, allowed.tolist(), strict=True) if stays
    )
    if all(document.heading for document in left):
        return replace(
            index, graph=index.graph.filtered(np.zeros(len(index.graph), np.bool_)), documents=()
        )
    ids = {document.id for document in left}
    free = tuple(
        writer for writer in index.generators if getattr(writer, "model", None) is None
    )  # a filter must not cost the caller money
    made = index.rebuild(
        left, {id: said for id, said in index.facts.items() if id in ids}, writers=free, free=True
    )
    out = [repr(writer) for writer in index.generators if writer not in free]
    why = "it asks a language model, which a filter must not, or was not given again"
    return replace(made, failed=(*made.failed, *((name, why) for name in out)))


def _of_graph(index: Index, left: Graph) -> Index:
    """Edges of a kind that depends on the whole corpus, and the fitted embedder, are made again."""
    embedder = index.embedder
    if index.fitted and left.content.any():
        embedder, left = attach_vectors(left, None)
    wide = {link.kind for link in index.links if link.corpus_wide}
    again = [
        edges_by(link, left) for link in index.links if link.kind in wide
    ]  # a kind goes as a whole: whoever makes it is asked again
    stay = left.edges.take(np.flatnonzero(~left.edges.kinds.mask(*wide)))
    graph, learned = index.learned.on(left.with_edges(Edges.join([stay, *again])))
    return replace(index, graph=graph, embedder=embedder, learned=learned)
