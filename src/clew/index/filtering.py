"""Filters: which passages may be read, and the index of those alone, equal to one built of them.

An index of documents is built again of the allowed documents, since so much may come from the
others: spellings of names, weights of corpus-wide edges, a fitted embedder. An index of a graph
keeps its nodes, and makes again what depends on the whole corpus.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, TypeVar

import numpy as np

from clew.document import Document
from clew.embedding.attach import attach_vectors
from clew.embedding.embedded_texts import texts_embedded_as
from clew.embedding.known_counts import known_counts
from clew.forking import renew_after_fork
from clew.garbage import collecting_rarely
from clew.graph import Edges, Graph, Mask, freeze, row_mask
from clew.index.build import KnownResults, edges_by
from clew.index.changes import known_vectors, rebuild
from clew.index.contents import IndexContents
from clew.index.in_place import filtered_in_place
from clew.index.learning import Learned
from clew.index.metadata_values import Test
from clew.index.question import Where, metadata_test, plain_answers
from clew.index.weights import with_weights_as_built
from clew.read import pieces_in, without_relationships
from clew.seed.known_words import carry_words

Contents = TypeVar("Contents", bound=IndexContents)

MAX_FILTERED = 8
"""Filtered indexes that are remembered for a graph: a service with many tenants must not keep a
graph for each of them."""

MAX_FILTERED_BYTES = 256 * 2**20
"""Bytes that these may keep together, where the graph that is filtered is not itself larger."""

ASKS_A_MODEL = "it asks a language model, which a filter must not, or was not given again"


@collecting_rarely()
def filtered_index(index: Contents, where: Where) -> Contents:
    """Return the index of what a filter allows.

    A container that the filter does not allow goes with its text, title, metadata and id, and what
    is allowed in it stands by itself. What questions taught the whole index is left out, since the
    forbidden had a part in it.

    Args:
        index: What is filtered.
        where: A function of a passage's metadata, or a mapping of wanted values. A list means any
            of its values. Of metadata that is a list, one of its values has to be wanted. A
            container is asked about as a passage is, unless one that is allowed tells all that it
            tells; one without metadata is allowed with all of its contents.

    Raises:
        TypeError: The filter is neither a mapping nor a function.

    Example:
        >>> from clew import Document, Index
        >>> documents = [Document("a", "The sea.", {"year": 1}), Document("b", "An island.")]
        >>> filtered_index(Index.from_documents(documents), {"year": [1, 2]}).graph.ids
        ('a',)
    """
    allowed = _allowed(index, where)
    if allowed.all():
        return index
    cache = index.graph.part(FilteredIndexesPart())
    return cache.get(index, allowed, _filter_documents if index.documents else _filter_graph)


def _allowed(index: IndexContents, where: Where) -> Mask:
    """Return what a filter allows: of the documents where there are any, or else of the nodes."""
    if index.documents:
        return _allowed_documents(index, where)
    return _allowed_nodes(index.graph, metadata_test(where))


def _allowed_documents(index: IndexContents, where: Where) -> Mask:
    documents, are_containers = index.documents, index.are_containers
    asked = ~are_containers if are_containers.any() else None
    allowed = index.metadata_values.allowed(where, asked)
    if asked is None:
        return allowed

    def shown(place: int) -> tuple[str, Mapping[str, object]]:
        document = documents[place]
        return document.text, document.metadata

    return _with_containers(
        are_containers,
        allowed,
        _contents_of(documents),
        shown,
        metadata_test(where),
    )


def _allowed_nodes(graph: Graph, test: Test) -> Mask:
    """Return which nodes the test allows.

    Entities and generated texts without metadata stay or go with what they were read from.
    """
    container = graph.kinds.mask("document", "section", "community") & ~graph.generated
    asked = graph.content | (~container & np.array([bool(m) for m in graph.metadata], np.bool_))
    answers = [not asked[row] or test(m) for row, m in enumerate(graph.metadata)]
    allowed = np.array(plain_answers(answers), np.bool_)
    contents: dict[int, list[int]] = {}
    for row in np.flatnonzero(~container).tolist():
        own, above = {int(graph.documents[row])}, int(graph.parents[row])
        while above >= 0:
            own.add(above)
            above = int(graph.parents[above])
        for around in own - {-1, row}:
            contents.setdefault(around, []).append(row)

    def shown(row: int) -> tuple[str, Mapping[str, object]]:
        return graph.texts[row], graph.metadata[row]

    return _with_containers(container, allowed & ~container, contents, shown, test)


def _with_containers(
    is_container: Mask,
    allowed: Mask,
    contents: Mapping[int, Sequence[int]],
    shown: Callable[[int], tuple[str, Mapping[str, object]]],
    test: Test,
) -> Mask:
    """Return what is allowed, containers too.

    Args:
        is_container: Which entries are containers.
        allowed: Which of the others are allowed.
        contents: The others in each container.
        shown: Returns the text and the metadata of an entry. Most texts are not looked at, and
            those of a saved index are made when they are.
        test: The filter.
    """
    result = allowed.copy()
    for row in np.flatnonzero(is_container).tolist():
        inside = contents.get(row, ())
        text, metadata = shown(row)
        told = (shown(i)[1] for i in inside if allowed[i])
        if any(_tells_all(other, text, metadata) for other in told):
            result[row] = True
        elif metadata:
            [result[row]] = plain_answers([test(metadata)])
        else:
            result[row] = bool(allowed[list(inside)].all())
    return result


def _tells_all(metadata: Mapping[str, object], text: str, container: Mapping[str, object]) -> bool:
    """Return whether the metadata of a content have all that its container shows.

    That are the container's metadata, and its text, as a part of one of the values.
    """
    rest = {key: value for key, value in container.items() if key != "title" or value != text}
    has_text = any(isinstance(value, str) and text in value for value in metadata.values())
    return has_text and all(
        key in metadata and metadata[key] == value for key, value in rest.items()
    )


def _contents_of(documents: Sequence[Document]) -> dict[int, list[int]]:
    """Return the passages in each container, also those in the containers in it, by position.

    Where no document is a container by itself, nothing is returned.
    """
    contents: dict[int, list[int]] = {}
    if not any(document.heading for document in documents):
        return contents
    position = {document.id: i for i, document in enumerate(documents)}
    for i, document in enumerate(documents):
        if document.heading:
            continue
        waiting, seen = [document.parent, document.source], set[str | None]([None, document.id])
        while waiting:
            around = waiting.pop()
            if around in seen or around not in position:
                continue
            seen.add(around)
            contents.setdefault(position[around], []).append(i)
            above = documents[position[around]]
            waiting += [above.parent, above.source]
    return contents


@dataclass(frozen=True)
class FilteredIndexesPart:
    """The part that remembers the last few filtered indexes of a graph.

    Attributes:
        max_indexes: How many are remembered. The one that was not used for longest goes first.
        max_bytes: What they keep together, by an estimate, with all that was computed for questions
            to them; twice the bytes of the graph where that is more. The last one stays.

    Example:
        >>> Graph.of(["The sea."]).part(FilteredIndexesPart()).max_indexes
        8
    """

    max_indexes: int = MAX_FILTERED
    max_bytes: int = MAX_FILTERED_BYTES

    def compute(self, graph: Graph) -> FilteredIndexes:
        return FilteredIndexes(self.max_indexes, max(self.max_bytes, 2 * graph.own_bytes))


Key = tuple[weakref.ref[IndexContents], bytes]


@dataclass(eq=False)
class FilteredIndexes:
    """Filtered indexes, by the index that was filtered and by what was allowed.

    The index that was filtered is not kept by that.

    Attributes:
        max_indexes: How many are remembered.
        max_bytes: What they may keep together.
        lock: Guards `indexes`. It is never held while an index is filtered, so no question waits
            for the filter of another.
        indexes: The one that was used last stands last.
        sizes: What those keep that were not asked since they were measured.
    """

    max_indexes: int
    max_bytes: int
    lock: threading.Lock = field(default_factory=threading.Lock)
    indexes: OrderedDict[Key, IndexContents] = field(default_factory=OrderedDict)
    sizes: dict[Key, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Release the lock: after a fork, no other thread is there to do so."""
        self.lock = threading.Lock()

    def get(
        self, index: Contents, allowed: Mask, compute: Callable[[Contents, Mask], Contents]
    ) -> Contents:
        """Return the filtered index, computed if it is not remembered.

        Two threads that ask for the same at once may both compute it; their results are equal.
        """
        key = (weakref.ref[IndexContents](index), np.packbits(allowed).tobytes())
        with self.lock:
            if key in self.indexes:
                self.indexes.move_to_end(key)
                self.sizes.pop(key, None)
                return self.indexes[key]  # type: ignore[return-value]  # computed of this index
        filtered = compute(index, allowed)
        with self.lock:
            self.sizes.pop(key, None)  # another thread may have computed it, too
            for one, known in self.indexes.items():
                if one not in self.sizes:
                    self.sizes[one] = known.graph.kept_bytes
            self.indexes[key] = filtered  # of which nothing is computed yet
            total = sum(self.sizes.values())
            if 2 * total > self.max_bytes:  # else it has room: two of the whole graph would
                total += filtered.graph.own_bytes
            while len(self.indexes) > self.max_indexes or (
                len(self.indexes) > 1 and total > self.max_bytes
            ):
                oldest, _ = self.indexes.popitem(last=False)
                total -= self.sizes.pop(oldest, 0)
        return filtered


def _filter_documents(index: Contents, allowed: Mask) -> Contents:
    """Return the index of the allowed documents, built again without asking a language model."""
    index = with_weights_as_built(index)
    documents = tuple(compress(index.documents, allowed.tolist()))
    if all(document.heading for document in documents):
        nothing = np.zeros(len(index.graph), np.bool_)
        return replace(index, graph=index.graph.filtered(nothing), documents=())
    in_place = filtered_in_place(index, allowed)
    if in_place is not None:
        return in_place
    came, ids = index.document_of.keys(), {document.id for document in documents}
    forbidden = came - ids
    base = index.graph
    rows = zip(documents, index.document_rows[allowed].tolist(), strict=True)
    row_of = {one.id: row for one, row in rows if row >= 0}
    stays = row_mask([*row_of.values()], len(base))
    stays |= (base.documents >= 0) & stays[base.documents]
    counts = known_counts(base, stays, texts_embedded_as(documents)) if index.fitted else None
    known = KnownResults(
        vectors=known_vectors(index, stays),
        pieces=pieces_in(base, documents, row_of),
        counts=counts,
    )
    documents = tuple(_without_others(document, ids, came, forbidden) for document in documents)
    ids = {document.id for document in documents if not document.heading}
    ids |= {documents[i].id for i in _contents_of(documents)}
    facts = {id: triples for id, triples in index.facts.items() if id in ids}
    free = tuple(g for g in index.generators if getattr(g, "model", None) is None)
    left_out = [repr(generator) for generator in index.generators if generator not in free]
    config = replace(index.config, generators=free)
    without_models = replace(index, config=config, learned=Learned())
    filtered = rebuild(without_models, documents, facts, ask_models=False, known=known)
    carry_words(filtered.graph, base, stays)
    reasons = ((name, ASKS_A_MODEL) for name in left_out)
    return replace(filtered, failed=(*filtered.failed, *reasons))


def _filter_graph(index: Contents, allowed: Mask) -> Contents:
    """Return the index of the allowed nodes, with what depends on the whole corpus made again."""
    graph = _outside_containers(index.graph, allowed).filtered(allowed)
    embedder = index.fitted_embedder
    if index.fitted and graph.content.any():
        embedder, graph = attach_vectors(graph, None)
    corpus_wide = {link.kind for link in index.links if link.corpus_wide}
    # A kind goes as a whole, so every link that makes it is asked again.
    again = [edges_by(link, graph) for link in index.links if link.kind in corpus_wide]
    remaining = graph.edges.take(np.flatnonzero(~graph.edges.kinds.mask(*corpus_wide)))
    graph = index.learned.off(graph.with_edges(Edges.join([remaining, *again])))
    return replace(index, graph=graph, fitted_embedder=embedder, learned=Learned())


def _outside_containers(graph: Graph, allowed: Mask) -> Graph:
    """Return the graph with what is allowed in forbidden documents as documents of their own."""
    rows = np.arange(len(graph), dtype=np.int32)
    owner_goes = (graph.documents >= 0) & ~allowed[graph.documents]
    alone = allowed & owner_goes & ~graph.kinds.mask("document", "section", "community")
    if not alone.any():
        return graph
    spans = graph.spans.copy()
    spans[alone] = [(0, len(graph.texts[row])) for row in np.flatnonzero(alone)]
    documents = np.where(alone, rows, graph.documents)
    return replace(graph, documents=freeze(documents, np.int32), spans=freeze(spans, np.int32))


def _without_others(
    document: Document,
    allowed: AbstractSet[str],
    came: AbstractSet[str],
    forbidden: AbstractSet[str],
) -> Document:
    """Return a document that names no forbidden one as what it is in or follows.

    Args:
        document: An allowed one.
        allowed: The ids of what the filter allows.
        came: The ids of all documents.
        forbidden: Those of them that are not allowed.
    """
    changes: dict[str, Any] = {
        name: None
        for name in ("parent", "previous", "source")
        if getattr(document, name) in forbidden
    }
    if "source" in changes:
        changes["span"] = None
    original = without_relationships(document.original, allowed, came)
    if original is not document.original:
        changes["original"] = original
    return replace(document, **changes) if changes else document
