"""Filters: which passages may be read, and the index of those alone, equal to one built of them.

An index of documents is built again of the allowed documents, since so much may come from the
others: spellings of names, weights of corpus-wide edges, a fitted embedder. An index of a graph
keeps its nodes, and makes again what depends on the whole corpus.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from clew.embedding.attach import attach_vectors
from clew.graph import Edges, Graph, Mask
from clew.index.build import edges_by
from clew.index.changes import rebuild
from clew.index.contents import IndexContents
from clew.index.question import Where

Contents = TypeVar("Contents", bound=IndexContents)

MAX_FILTERED = 8
"""Filtered indexes that are remembered for a graph: a service with many tenants must not keep a
graph for each of them."""

ASKS_A_MODEL = "it asks a language model, which a filter must not, or was not given again"
COLLECTIONS = (list, tuple, set, frozenset)


def filtered_index(index: Contents, where: Where) -> Contents:
    """Return the index of what a filter allows.

    Args:
        index: What is filtered.
        where: A function of a passage's metadata, or a mapping of wanted values. A list means any
            of its values. Of metadata that is a list, one of its values has to be wanted. Headings
            are not asked about.

    Raises:
        TypeError: The filter is neither a mapping nor a function.

    Example:
        >>> from clew import Document, Index
        >>> documents = [Document("a", "The sea.", {"year": 1}), Document("b", "An island.")]
        >>> filtered_index(Index.from_documents(documents), {"year": [1, 2]}).graph.ids
        ('a',)
    """
    allowed = _allowed(index, _test_of(where))
    if allowed.all():
        return index
    cache = index.graph.part(FilteredIndexesPart())
    return cache.get(index, allowed, _filter_documents if index.documents else _filter_graph)


def _test_of(where: Where) -> Callable[[Mapping[str, object]], bool]:
    if callable(where):
        return where
    if not isinstance(where, Mapping):
        raise TypeError(
            "a filter is a mapping of wanted metadata values or a function of the metadata; "
            f"got a {type(where).__name__}"
        )
    wanted = {
        key: list(value) if isinstance(value, COLLECTIONS) else [value]
        for key, value in where.items()
    }
    return lambda metadata: all(
        key in metadata and any(value in values for value in _values(metadata[key]))
        for key, values in wanted.items()
    )


def _values(value: object) -> tuple[object, ...]:
    """Return what a value of metadata is compared as: itself, and its items where it has some."""
    return (value, *value) if isinstance(value, COLLECTIONS) else (value,)


def _allowed(index: IndexContents, test: Callable[[Mapping[str, object]], bool]) -> Mask:
    """Return what the test allows: of the documents where there are any, or else of the nodes."""
    if index.documents:
        return np.array(
            [document.heading or bool(test(document.metadata)) for document in index.documents],
            np.bool_,
        )
    content = index.graph.content.tolist()
    return np.array(
        [not content[row] or bool(test(m)) for row, m in enumerate(index.graph.metadata)],
        np.bool_,
    )


@dataclass(frozen=True)
class FilteredIndexesPart:
    """The part that remembers the last few filtered indexes of a graph.

    Attributes:
        max_indexes: How many are remembered. The one that was not used for longest goes first.

    Example:
        >>> Graph.of(["The sea."]).part(FilteredIndexesPart()).max_indexes
        8
    """

    max_indexes: int = MAX_FILTERED

    def compute(self, graph: Graph) -> FilteredIndexes:
        return FilteredIndexes(self.max_indexes)


@dataclass(frozen=True, eq=False)
class FilteredIndexes:
    """Filtered indexes, by the index that was filtered and by what was allowed.

    Attributes:
        max_indexes: How many are remembered.
        lock: Guards `indexes`. It is never held while an index is filtered, so no question waits
            for the filter of another.
        indexes: The one that was used last stands last.
    """

    max_indexes: int
    lock: threading.Lock = field(default_factory=threading.Lock)
    indexes: OrderedDict[tuple[IndexContents, bytes], IndexContents] = field(
        default_factory=OrderedDict
    )

    def get(
        self, index: Contents, allowed: Mask, compute: Callable[[Contents, Mask], Contents]
    ) -> Contents:
        """Return the filtered index, computed if it is not remembered.

        Two threads that ask for the same at once may both compute it; their results are equal.
        """
        key = (index, np.packbits(allowed).tobytes())
        with self.lock:
            if key in self.indexes:
                self.indexes.move_to_end(key)
                return self.indexes[key]  # type: ignore[return-value]  # computed of this index
        filtered = compute(index, allowed)
        with self.lock:
            self.indexes[key] = filtered
            while len(self.indexes) > self.max_indexes:
                self.indexes.popitem(last=False)
        return filtered


def _filter_documents(index: Contents, allowed: Mask) -> Contents:
    """Return the index of the allowed documents, built again without asking a language model."""
    documents = tuple(
        document
        for document, is_allowed in zip(index.documents, allowed.tolist(), strict=True)
        if is_allowed
    )
    if all(document.heading for document in documents):
        nothing = np.zeros(len(index.graph), np.bool_)
        return replace(index, graph=index.graph.filtered(nothing), documents=())
    ids = {document.id for document in documents}
    facts = {id: triples for id, triples in index.facts.items() if id in ids}
    free = tuple(g for g in index.generators if getattr(g, "model", None) is None)
    left_out = [repr(generator) for generator in index.generators if generator not in free]
    without_models = replace(index, config=replace(index.config, generators=free))
    filtered = rebuild(without_models, documents, facts, ask_models=False)
    reasons = ((name, ASKS_A_MODEL) for name in left_out)
    return replace(filtered, failed=(*filtered.failed, *reasons))


def _filter_graph(index: Contents, allowed: Mask) -> Contents:
    """Return the index of the allowed nodes, with what depends on the whole corpus made again."""
    graph, embedder = index.graph.filtered(allowed), index.fitted_embedder
    if index.fitted and graph.content.any():
        embedder, graph = attach_vectors(graph, None)
    corpus_wide = {link.kind for link in index.links if link.corpus_wide}
    # A kind goes as a whole, so every link that makes it is asked again.
    again = [edges_by(link, graph) for link in index.links if link.kind in corpus_wide]
    remaining = graph.edges.take(np.flatnonzero(~graph.edges.kinds.mask(*corpus_wide)))
    graph, learned = index.learned.on(graph.with_edges(Edges.join([remaining, *again])))
    return replace(index, graph=graph, fitted_embedder=embedder, learned=learned)
