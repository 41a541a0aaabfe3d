"""Changes of a large index in place, in time that grows with the change.

What depends on all documents is exact (the frequencies of words, the nearest neighbours of given
vectors; the weights and the mean of the embedded default where its vectors are bags, see
`clew.embedding.reweighted`), but for two things. Where vectors are numbers, as an earlier version
saved them, or have an approximate index, those of the default stay weighted as when the index was
last built whole, and so do everywhere those by which similar passages are linked. And no passage
that was there is read again by an extractor of all passages together, such as `clew.Names`: what it
has learnt grows and shrinks with the passages (`clew.read.Knowledge`), and new ones are read by
that, but what they teach about the others is not followed there: a word that was a name stays one.
So an index is built whole again when a tenth of it has changed, and by `Index.compact`. Nodes keep
their order, and new ones come last. A small index is always built whole.

A document may come to a container that is there, as a row to its file, or go from it. One that
follows another, or is a piece of it, changes with all of these alone; see `clew.index.chains`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import compress
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.nearest.hnsw import HNSW
from clew.document import Document
from clew.embedding.attach import attach_vectors, attach_vectors_but_of_names
from clew.embedding.embedded_texts import texts_embedded_as
from clew.embedding.known_counts import known_counts
from clew.graph import (
    Edges,
    Graph,
    Mask,
    NodeChange,
    carry_grown_parts,
    carry_shrunk_parts,
    distinct,
    freeze,
    row_mask,
    texts_at,
    with_nodes,
)
from clew.graph.filtering import node_columns_left, surviving_rows
from clew.index.build import KnownResults, embed_and_link, read_graph
from clew.index.chains import is_container
from clew.index.changed_edges import follow_one_by_one, with_edges_after
from clew.index.contents import Failures, IndexContents
from clew.index.given_facts import facts_left
from clew.index.reader import config_for
from clew.index.weights import with_weights_as_built, with_weights_of_now
from clew.processes import working
from clew.read import (
    CachedExtractor,
    CannotLearnError,
    Knowledge,
    Passage,
    Triple,
    as_learning,
    is_corpus_wide,
    passages_of_rows,
)
from clew.text.words import fold_case
from clew.usage import metered

Contents = TypeVar("Contents", bound=IndexContents)

MIN_PASSAGES = 1000
"""Passages below which an index is built whole: that takes a second or less."""

MAX_CHANGED = 0.1
"""The share of the passages that may change before an index is built whole."""

MAX_LOOKED_UP = 64
"""Documents whose nodes are looked up one by one; for more, all ids are compared."""


def with_documents_in_place(
    index: Contents,
    documents: Sequence[Document],
    facts: Mapping[str, Sequence[Triple]],
    progress: bool = False,
) -> Contents | None:
    """Return the index with more documents; None where it has to be built whole.

    Args:
        index: The index before.
        documents: What comes.
        facts: Triples by document id, of these documents alone.
        progress: Whether to show bars on stderr.
    """
    return exchanged_in_place(index, (), documents, facts, progress)


def without_documents_in_place(index: Contents, ids: Collection[str]) -> Contents | None:
    """Return the index without some documents; None where it has to be built whole."""
    return exchanged_in_place(index, ids, (), {})


def exchanged_in_place(
    index: Contents,
    ids: Collection[str],
    documents: Sequence[Document],
    facts: Mapping[str, Sequence[Triple]],
    progress: bool = False,
) -> Contents | None:
    """Return the index with documents in place of others; None where it has to be built whole.

    It is what it would be if the others were deleted first, but what a graph holds of its nodes is
    found once.

    Args:
        index: The index before.
        ids: The ids of the documents that go; none where nothing does.
        documents: What comes; none where nothing does.
        facts: Triples by document id, of what comes alone.
        progress: Whether to show bars on stderr.
    """
    if not _can_change(index):
        return None
    index = with_weights_as_built(index)
    if ids and documents and follow_one_by_one(index.links):
        fewer = exchanged_in_place(index, ids, (), {})
        return None if fewer is None else exchanged_in_place(fewer, (), documents, facts, progress)
    base = index.graph
    after, stays = index, np.ones(len(base), np.bool_)
    if ids:
        reduced = _without_ids(index, ids, documents)
        if reduced is None:
            return None
        after, stays = reduced
    left = after.graph
    if documents:
        if ids:
            carry_shrunk_parts(left, base, stays)
        extended = _with_more(after, documents, facts, progress)
        if extended is None:
            return None
        after = extended
    graph = with_edges_after(NodeChange(base, left, after.graph, stays), index.links)
    if documents:
        if ids:
            carry_shrunk_parts(left, base, stays)  # what links have asked for meanwhile
        carry_grown_parts(graph, left)
    else:
        carry_shrunk_parts(graph, base, stays)
    changed = replace(after, graph=graph)
    changed.follow_documents(index, ids, documents)
    return with_weights_of_now(changed)


def _with_more(
    index: Contents,
    documents: Sequence[Document],
    facts: Mapping[str, Sequence[Triple]],
    progress: bool,
) -> Contents | None:
    """Return the index with more documents, but not their edges; see `with_documents_in_place`."""
    base, config = index.graph, index.built_with
    around = _containers_around(index, documents)
    if around is None:
        return None
    extractor = CachedExtractor(
        config.extractor,
        index.extracted,
        None,
        progress,
        known=index.knowledge,
        passages_of=_passages_of(index),
    )
    with metered(config.count) as meter:
        try:
            more = read_graph([*around, *documents], facts, config, extractor, progress)
        except CannotLearnError:
            return None
        n_new = int(more.kinds.mask("passage").sum())
        containers = [document.id for document in around]
        others = np.flatnonzero(~more.kinds.mask("entity")).tolist()
        taken = {more.ids[row] for row in others if base.has(more.ids[row])}
        if taken - set(containers) or not _is_little(index, n_new):
            return None
        if index.fitted:  # whose vectors can be compared with no others
            more = more.unchecked(vectors=freeze(np.zeros((len(more), 0)), np.float32))
        with working(config.processes):
            instead = texts_embedded_as(documents)
            if index.has_bare_names:
                more = attach_vectors_but_of_names(
                    more, index.embedder, replacement_texts=instead, progress=progress
                )
            else:
                embedder = index.embedder
                _, more = attach_vectors(
                    more, embedder, replacement_texts=instead, progress=progress
                )
    if base.vectors.shape[1] != more.vectors.shape[1]:
        return None
    return replace(
        index,
        graph=with_nodes(base, more, containers),
        documents=(*index.documents, *documents),
        facts={**index.facts, **facts},
        extracted={**index.extracted, **extractor.read_triples},
        failed=(*index.failed, *extractor.failed),
        knowledge=extractor.knowledge,
        usage=index.usage + meter.usage,
        changed=index.changed + n_new,
    )


def _without_ids(
    index: Contents, ids: Collection[str], coming: Sequence[Document]
) -> tuple[Contents, Mask] | None:
    """Return the index without some documents, but not its edges, and which of its nodes stay.

    It is None where it has to be built whole.

    Args:
        index: The index.
        ids: Those of the documents that go.
        coming: What comes in their place.
    """
    is_gone = np.array([document.id in ids for document in index.documents], np.bool_)
    forbidden = _nodes_of(index, is_gone, coming)
    if forbidden is None:
        return None
    gone = np.flatnonzero(forbidden & index.graph.kinds.mask("passage")).tolist()
    if not _is_little(index, len(gone)):
        return None
    knowledge: Knowledge | None = None
    if index.knowledge is not None:
        learning = as_learning(index.extractor)
        assert learning is not None, "an index without such an extractor does not change in place"
        passages = passages_of_rows(index.graph, gone, index.document_of)
        knowledge = learning.forget(passages, index.knowledge)
        if knowledge is None:
            return None
    left, stays = _without(index, is_gone, forbidden)
    return replace(left, knowledge=knowledge, changed=index.changed + len(gone)), stays


def filtered_in_place(index: Contents, allowed: Mask) -> Contents | None:
    """Return the index as if some documents had never come; None where it has to be built whole.

    That is where there are names, which are spelt as the first document spells them, and where the
    extractor has learnt from all passages together.

    Args:
        index: The index.
        allowed: bool [documents], which of its documents stay.
    """
    index, extractor = with_weights_as_built(index), index.extractor
    may_know_of_others = bool(index.graph.kinds.mask("entity").any()) or (
        extractor is not None and is_corpus_wide(extractor) and not _has_learnt_nothing(index)
    )
    may_know_of_others = may_know_of_others or _is_read_otherwise(index, allowed)
    forbidden = None if may_know_of_others else _nodes_of(index, ~allowed)
    if forbidden is None:
        return None
    if index.fitted:
        return _fitted_again(index, allowed, forbidden)
    left, stays = _without(index, ~allowed, forbidden)
    left = replace(left, graph=_keeping_texts(left.graph))
    change = NodeChange(index.graph, left.graph, left.graph, stays)
    graph = with_edges_after(change, index.links, waits=True)
    carry_shrunk_parts(graph, index.graph, stays)
    return replace(left, graph=graph)


def _is_read_otherwise(index: IndexContents, allowed: Mask) -> bool:
    """Whether some documents by themselves have another reader than they have with the others."""
    if index.config.extractor == index.extractor:  # which no document decides
        return False
    documents = list(compress(index.documents, allowed.tolist()))
    facts = facts_left(index.facts, documents)
    return config_for(index.config, documents, facts).extractor != index.extractor


def _fitted_again(index: Contents, allowed: Mask, forbidden: Mask) -> Contents:
    """Return the index of some documents, whose embedder is fitted on their passages alone.

    Args:
        index: The index, whose graph has neither names nor facts.
        allowed: bool [documents], those that stay.
        forbidden: bool [nodes], the nodes of the others.
    """
    base, documents = index.graph, tuple(compress(index.documents, allowed.tolist()))
    stays = surviving_rows(base, ~forbidden)
    without_vectors = freeze(np.zeros((len(base), 0)), np.float32)
    nodes = base.unchecked(edges=Edges(), vectors=without_vectors).filtered(stays)
    counts = known_counts(base, stays, texts_embedded_as(documents), nodes)
    embedder, graph = embed_and_link(
        nodes, documents, index.built_with, KnownResults(counts=counts)
    )
    carry_shrunk_parts(graph, base, stays, left_out=(HNSW,))
    return replace(index, graph=graph, documents=documents, fitted_embedder=embedder, changed=0)


def _keeping_texts(graph: Graph) -> Graph:
    """Return a graph that makes its stored texts once, since most are read several times."""
    keeping_texts: Callable[[], tuple[str, ...]] | None
    keeping_texts = getattr(graph.texts, "keeping_texts", None)
    return graph if keeping_texts is None else graph.unchecked(texts=keeping_texts())


def _nodes_of(index: IndexContents, is_gone: Mask, coming: Sequence[Document] = ()) -> Mask | None:
    """Return the nodes of some documents; None where the index has to be built whole without.

    Args:
        index: The index.
        is_gone: bool [documents], which documents go.
        coming: What comes in their place.
    """
    if not _can_change(index):
        return None
    if related := index.related_documents:
        gone = {one.id for one in compress(index.documents, is_gone.tolist())}
        some = [one for one in related if one.id in gone]
        left = [one for one in related if one.id not in gone]
        filled = {one.parent for one in (*left, *coming)}  # an empty container would go with it
        inside = [one for one in some if one.parent in filled and is_container(index, one.parent)]
        if _name(left, gone) or _name(some, index.document_of.keys() - gone, inside):
            return None
    base, rows = index.graph, _rows_of_documents(index, is_gone)
    if (rows < 0).any():
        return None
    nodes = row_mask(rows, len(base))
    nodes |= (base.documents >= 0) & nodes[base.documents]
    if related and index.facts:
        sources = {one.source for one in some if one.source in index.facts}
        if sources - {one.source for one in left} or _state(index, nodes, sources):
            return None  # a fact of the source is read from another piece then
    return nodes


def _rows_of_documents(index: IndexContents, chosen: Mask) -> NDArray[np.int64]:
    """Return the rows of the nodes that some documents are; -1 for none: int64 [chosen]."""
    if np.count_nonzero(chosen) > MAX_LOOKED_UP:
        return index.document_rows[chosen]
    found = [index.graph.find_row(one.id) for one in compress(index.documents, chosen.tolist())]
    return np.array([-1 if row is None else row for row in found], np.int64)


def _state(index: IndexContents, nodes: Mask, ids: Collection[str | None]) -> bool:
    """Whether one of the facts that were given for some ids was read from some nodes.

    Args:
        index: The index.
        nodes: bool [nodes], those that are looked at.
        ids: What the facts were given for.
    """
    graph, facts = index.graph, index.graph.facts
    rows = distinct(facts.read_from.owners_of(nodes)).tolist() if ids else []
    if not rows:
        return False
    stated = {
        (
            fold_case(graph.texts[facts.subjects[row]]),
            facts.relations[row],
            fold_case(graph.texts[facts.objects[row]]),
        )
        for row in rows
    }
    return any(
        (fold_case(subject), " ".join(relation.split()), fold_case(object)) in stated
        for id, triples in index.facts.items()
        if id in ids
        for subject, relation, object in triples
    )


def _without(index: Contents, is_gone: Mask, forbidden: Mask) -> tuple[Contents, Mask]:
    """Return the index without some documents, but not its edges, and which of its nodes stay.

    Args:
        index: The index.
        is_gone: bool [documents], those that go.
        forbidden: bool [nodes], their nodes.
    """
    base = index.graph
    left = tuple(compress(index.documents, (~is_gone).tolist()))
    facts = facts_left(index.facts, left)
    stays = surviving_rows(base, ~forbidden)
    columns = {} if stays.all() else node_columns_left(base, stays)
    graph = base.unchecked(**columns, edges=Edges())
    extracted, failed = _reading_left(index, forbidden)
    changed = replace(
        index, graph=graph, documents=left, facts=facts, extracted=extracted, failed=failed
    )
    return changed, stays


def _reading_left(
    index: IndexContents, forbidden: Mask
) -> tuple[Mapping[str, Sequence[Triple]], Failures]:
    """Return what an extractor has read in the passages that stay, and what failed of them.

    What it reads is kept by the title and the text of a passage, which several may share.

    Args:
        index: The index before.
        forbidden: bool [nodes], those that go.
    """
    extracted, failed = index.extracted, index.failed
    if not extracted and not failed:
        return extracted, failed
    graph, is_passage = index.graph, index.graph.kinds.mask("passage")
    gone = np.flatnonzero(forbidden & is_passage).tolist()
    if failed:
        ids = set(texts_at(graph.ids, gone))
        failed = tuple(one for one in failed if one[0] not in ids)
    if extracted:
        keys = _keys_of(index, gone) & extracted.keys()
        texts = set(texts_at(graph.texts, gone)) if keys else set[str]()
        stay = np.flatnonzero(~forbidden & is_passage).tolist() if keys else []
        alike = [
            row
            for row, text in zip(stay, texts_at(graph.texts, stay), strict=True)
            if text in texts
        ]
        keys -= _keys_of(index, alike)
        extracted = {key: triples for key, triples in extracted.items() if key not in keys}
    return extracted, failed


def _keys_of(index: IndexContents, rows: Sequence[int]) -> set[str]:
    return {one.key for one in passages_of_rows(index.graph, rows, index.document_of)}


def _can_change(index: IndexContents) -> bool:
    """Whether nothing in the index is made of all its documents by other code than clew's own."""
    extractor = index.extractor
    return (
        len(index.documents) > 0
        and int(index.graph.kinds.mask("passage").sum()) >= MIN_PASSAGES
        and not index.config.generators
        and not index.learned
        and (extractor is None or not is_corpus_wide(extractor) or _is_learning_on(index))
    )


def _is_learning_on(index: IndexContents) -> bool:
    """Whether it is known what all passages have taught the extractor, in the form that it has."""
    learning, known = as_learning(index.extractor), index.knowledge
    return learning is not None and known is not None and known.form == learning.knowledge_form


def _has_learnt_nothing(index: IndexContents) -> bool:
    """Whether it is known that no passage has taught the extractor anything, as prose `Symbols`."""
    return _is_learning_on(index) and index.knowledge is not None and index.knowledge.is_empty


def _passages_of(index: IndexContents) -> Callable[[Collection[str]], list[Passage]]:
    """Return the function that returns the passages of some documents, as an extractor has them."""

    def passages_of(ids: Collection[str]) -> list[Passage]:
        graph = index.graph
        containers = [graph.row(id) for id in ids if graph.has(id)]
        is_one = graph.kinds.mask("passage") & np.isin(graph.documents, containers)
        return passages_of_rows(graph, np.flatnonzero(is_one).tolist(), index.document_of)

    return passages_of


def _is_little(index: IndexContents, changed: int) -> bool:
    passages = int(index.graph.kinds.mask("passage").sum())
    return index.changed + changed <= MAX_CHANGED * passages


def _containers_around(
    index: IndexContents, documents: Sequence[Document]
) -> Sequence[Document] | None:
    """Return what is in the index around new documents, as the file is around its rows.

    None where one of them has to do with what is in the index in another way: it follows that, is a
    piece of it or around it. The outermost containers come first.
    """
    if _name(index.related_documents, {one.id for one in documents}):
        return None
    if not any(one.parent or one.previous or one.source for one in documents):
        return ()
    known, around = index.document_of, dict[str, Document]()
    inside = [one for one in documents if one.parent in known]
    if _name(documents, known.keys(), inside):
        return None
    for one in inside:
        above = one.parent
        while above is not None and above not in around:
            if not is_container(index, above):
                return None
            around[above] = known[above]
            above = known[above].parent if known[above].parent in known else None
    return tuple(reversed(around.values()))


def _name(
    documents: Sequence[Document], ids: AbstractSet[str], inside: Sequence[Document] = ()
) -> bool:
    """Return whether one of the documents is inside one of others, follows it, or is a piece of it.

    Args:
        documents: The documents.
        ids: The others.
        inside: Those of the documents that may be inside one.
    """
    free = {document.id for document in inside}
    return any(
        (document.parent in ids and document.id not in free)
        or document.previous in ids
        or document.source in ids
        for document in documents
    )
