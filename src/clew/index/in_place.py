"""Changes of a large index in place, in time that grows with the change.

What depends on all documents is exact (the frequencies of words, the nearest neighbours; the
weights and the mean of the embedded default where its vectors are bags, see
`clew.embedding.reweighted`), but for two things. Where vectors are numbers, as in an index of less
than 1,000 nodes, those of the default stay weighted as when the index was last built whole. And no
passage that was there is read again by an extractor of all passages together, such as
`clew.Names`: what it has learnt grows and shrinks with the passages (`clew.read.Knowledge`), and
new ones are read by that, but what they teach about the others is not followed there: a word that
was a name stays one. So an index is built whole again when a tenth of it has changed, and by
`Index.compact`. Nodes keep their order, and new ones come last. A small index is always built
whole.

A document may come to a container that is there, as a row to its file, or go from it. One that
follows another, or is a piece of it, changes with all of these alone; see `clew.index.chains`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import TypeVar, cast

import numpy as np

from clew.algorithms.nearest.hnsw import HNSW
from clew.document import Document
from clew.embedding.attach import attach_vectors
from clew.embedding.embedded_texts import texts_embedded_as
from clew.embedding.known_counts import known_counts
from clew.graph import (
    DeferredEdges,
    Edges,
    Graph,
    LateEdges,
    Mask,
    carry_grown_parts,
    carry_shrunk_parts,
    freeze,
    row_mask,
    seal,
    texts_at,
    with_nodes,
)
from clew.graph.filtering import surviving_rows
from clew.index.build import KnownResults, checked_edges, edges_by, embed_and_link, read_graph
from clew.index.chains import is_container
from clew.index.contents import Failures, IndexContents
from clew.index.given_facts import facts_left
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
from clew.types import ChangingLink, Link
from clew.usage import metered

Contents = TypeVar("Contents", bound=IndexContents)

MIN_PASSAGES = 1000
"""Passages below which an index is built whole: that takes a second or less."""

MAX_WAITING = 8
"""Changes that edges follow one by one; after more, to make them anew takes as long."""

MAX_CHANGED = 0.1
"""The share of the passages that may change before an index is built whole."""


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
    index = with_weights_as_built(index)
    base, config = index.graph, index.config
    around = _containers_around(index, documents) if _can_change(index) else None
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
            _, more = attach_vectors(
                more,
                index.embedder,
                replacement_texts=texts_embedded_as(documents),
                progress=progress,
            )
    if base.vectors.shape[1] != more.vectors.shape[1]:
        return None
    graph = with_nodes(base, more, containers)
    edges, late = _edges_to_change(base, config.links)
    edges, waiting = _edges_that_wait(base, edges, config.links)
    parts = [
        waiting[link.kind].grown(graph, len(base))
        if link.kind in waiting
        else _grown_edges(link, graph, edges, late, len(base))
        for link in config.links
    ]
    graph = _with_parts(graph, parts)
    carry_grown_parts(graph, base)
    return with_weights_of_now(
        replace(
            index,
            graph=graph,
            documents=(*index.documents, *documents),
            facts={**index.facts, **facts},
            extracted={**index.extracted, **extractor.read_triples},
            failed=(*index.failed, *extractor.failed),
            knowledge=extractor.knowledge,
            usage=index.usage + meter.usage,
            changed=index.changed + n_new,
        )
    )


def without_documents_in_place(
    index: Contents, ids: Collection[str], coming: Sequence[Document] = ()
) -> Contents | None:
    """Return the index without some documents; None where it has to be built whole.

    Args:
        index: The index before.
        ids: Those of the documents that go.
        coming: What comes in their place.
    """
    index = with_weights_as_built(index)
    is_gone = np.array([document.id in ids for document in index.documents], np.bool_)
    forbidden = _nodes_of(index, is_gone, coming)
    if forbidden is None:
        return None
    gone = np.flatnonzero(forbidden & index.graph.kinds.mask("passage")).tolist()
    if not _is_little(index, len(gone)):
        return None
    knowledge: Knowledge | None = None
    if index.knowledge is not None:
        learning = as_learning(index.config.extractor)
        assert learning is not None, "an index without such an extractor does not change in place"
        passages = passages_of_rows(index.graph, gone, index.document_of)
        knowledge = learning.forget(passages, index.knowledge)
        if knowledge is None:
            return None
    left = _without(index, is_gone, forbidden)
    return with_weights_of_now(
        replace(left, knowledge=knowledge, changed=index.changed + len(gone))
    )


def filtered_in_place(index: Contents, allowed: Mask) -> Contents | None:
    """Return the index as if some documents had never come; None where it has to be built whole.

    That is where there are names, which are spelt as the first document spells them, and where the
    extractor has learnt from all passages together.

    Args:
        index: The index.
        allowed: bool [documents], which of its documents stay.
    """
    index, extractor = with_weights_as_built(index), index.config.extractor
    may_know_of_others = bool(index.graph.kinds.mask("entity").any()) or (
        extractor is not None and is_corpus_wide(extractor) and not _has_learnt_nothing(index)
    )
    forbidden = None if may_know_of_others else _nodes_of(index, ~allowed)
    if forbidden is None:
        return None
    if index.fitted:
        return _fitted_again(index, allowed, forbidden)
    return _without(index, ~allowed, forbidden, waits=True)


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
    embedder, graph = embed_and_link(nodes, documents, index.config, KnownResults(counts=counts))
    carry_shrunk_parts(graph, base, stays, left_out=(HNSW,))
    return replace(index, graph=graph, documents=documents, fitted_embedder=embedder, changed=0)


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
    base, rows = index.graph, index.document_rows[is_gone]
    if (rows < 0).any():
        return None
    nodes = row_mask(rows, len(base))
    nodes |= (base.documents >= 0) & nodes[base.documents]
    if related and index.facts:
        sources = {one.source for one in some if one.source in index.facts}
        if sources - {one.source for one in left} or _state(index, nodes, sources):
            return None  # a fact of the source is read from another piece then
    return nodes


def _state(index: IndexContents, nodes: Mask, ids: Collection[str | None]) -> bool:
    """Whether one of the facts that were given for some ids was read from some nodes.

    Args:
        index: The index.
        nodes: bool [nodes], those that are looked at.
        ids: What the facts were given for.
    """
    graph, facts = index.graph, index.graph.facts
    rows = np.unique(facts.read_from.owners_of(nodes)).tolist() if ids else []
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


def _without(index: Contents, is_gone: Mask, forbidden: Mask, *, waits: bool = False) -> Contents:
    """Return the index without some documents.

    Args:
        index: The index.
        is_gone: bool [documents], those that go.
        forbidden: bool [nodes], their nodes.
        waits: Whether what is left of edges that a build makes late is found late, too.
    """
    base = index.graph
    left = tuple(compress(index.documents, (~is_gone).tolist()))
    facts = facts_left(index.facts, left)
    stays = surviving_rows(base, ~forbidden)
    edges, late = _edges_to_change(base, index.config.links)
    waiting: dict[str, _WaitingEdges] = {}
    if not waits:
        edges, waiting = _edges_that_wait(base, edges, index.config.links)
    linked = base.unchecked(edges=edges)
    graph = linked.filtered(~forbidden)
    parts = [
        waiting[link.kind].shrunk(graph, stays)
        if link.kind in waiting
        else _shrunk_edges(link, graph, linked, stays, late, waits=waits)
        for link in index.config.links
    ]
    graph = _with_parts(graph, parts)
    carry_shrunk_parts(graph, base, stays)
    extracted, failed = _reading_left(index, forbidden)
    return replace(
        index, graph=graph, documents=left, facts=facts, extracted=extracted, failed=failed
    )


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
    extractor = index.config.extractor
    return (
        len(index.documents) > 0
        and int(index.graph.kinds.mask("passage").sum()) >= MIN_PASSAGES
        and not index.config.generators
        and not index.learned
        and (extractor is None or not is_corpus_wide(extractor) or _is_learning_on(index))
    )


def _is_learning_on(index: IndexContents) -> bool:
    """Whether it is known what all passages have taught the extractor, in the form that it has."""
    learning, known = as_learning(index.config.extractor), index.knowledge
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
    known, around = index.document_of, dict[str, Document]()
    inside = [one for one in documents if one.parent in known]
    if _name(index.documents, {one.id for one in documents}) or _name(
        documents, known.keys(), inside
    ):
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


def _with_parts(graph: Graph, parts: Sequence[Edges | LateEdges]) -> Graph:
    """Return the graph with edges, of which some are made when something first asks for them."""
    early = graph.with_edges(Edges.join([part for part in parts if isinstance(part, Edges)]))
    are_late = any(isinstance(part, LateEdges) for part in parts)
    return graph.unchecked(edges=DeferredEdges(parts)) if are_late else early


def _made_anew(link: Link, graph: Graph) -> LateEdges:
    """Return the edges of a link that makes all of them anew: of several changes, the last does."""
    return LateEdges(link.kind, partial(checked_edges, link, graph.unchecked(edges=Edges())))


def _edges_to_change(base: Graph, links: Sequence[Link]) -> tuple[Edges, set[str]]:
    """Return the edges of which those after a change are made, and the kinds that are not there.

    What nobody has asked for is not made for a change, and all edges of links that make them anew
    are left out: those that go by all names are made late, and others, such as those of facts, at
    once.
    """
    edges = base.edges.of_kinds(())
    late = {*base.edges.kind_names} - {*edges.kinds.names}
    late |= {link.kind for link in links if not getattr(link, "grows", True)}
    followed = {link.kind for link in links if _follows(link)}
    late -= followed & {*edges.kinds.names}
    anew = {link.kind for link in links} - followed
    if not anew.isdisjoint(edges.kinds.names):
        edges = edges.take(np.flatnonzero(~edges.kinds.mask(*anew)))
    return edges, late


@dataclass(frozen=True)
class _WaitingEdges:
    """Edges of a link after some changes, which follow these once something asks for them.

    Attributes:
        link: Makes them of those before a change.
        edges: Those before the first change.
        steps: What makes them after each change.
    """

    link: ChangingLink
    edges: Edges
    steps: tuple[Callable[[Edges], Edges], ...] = ()

    def __call__(self) -> Edges:
        edges = self.edges
        for step in self.steps:
            edges = step(edges)
        return edges

    def grown(self, graph: Graph, n_before: int) -> LateEdges:
        """Return the edges of a graph with more nodes."""
        nodes = graph.unchecked(edges=Edges())
        return self._after(nodes, lambda edges: self.link.grow(nodes, edges, n_before))

    def shrunk(self, graph: Graph, stays: Mask) -> LateEdges:
        """Return the edges of a graph with fewer nodes."""
        nodes = graph.unchecked(edges=Edges())

        def shrink(edges: Edges) -> Edges:
            tail_stays, head_stays = stays[edges.tails], stays[edges.heads]
            bereft = row_mask(edges.tails[tail_stays & ~head_stays], len(stays))[stays]
            number = np.cumsum(stays, dtype=np.int32) - np.int32(1)
            left = edges.take(np.flatnonzero(tail_stays & head_stays))
            left = replace(left, tails=seal(number[left.tails]), heads=seal(number[left.heads]))
            return self.link.shrink(nodes, left, bereft)

        return self._after(nodes, shrink)

    def _after(self, nodes: Graph, step: Callable[[Edges], Edges]) -> LateEdges:
        """Return the edges after one change more; after many, all of them are made anew."""
        if len(self.steps) == MAX_WAITING:
            return _made_anew(self.link, nodes)
        return LateEdges(self.link.kind, replace(self, steps=(*self.steps, step)))


def _edges_that_wait(
    base: Graph, edges: Edges, links: Sequence[Link]
) -> tuple[Edges, dict[str, _WaitingEdges]]:
    """Return the edges that follow a change at once, and by their kind those that do it late.

    Those are the edges that a build makes late, too, where none states a fact or has a source.

    Args:
        base: The graph before the change.
        edges: Its edges, but for those that are made late.
        links: What made them.
    """
    before = base.edges if isinstance(base.edges, DeferredEdges) else None
    late = {} if before is None else before.waiting
    made = {} if before is None else before.made_apart  # as for a save
    waiting = {kind: make for kind, make in late.items() if isinstance(make, _WaitingEdges)}
    kinds = [link.kind for link in links]
    for link in links:
        changing = _as_changing(link) if getattr(link, "deferred", False) else None
        is_one = kinds.count(link.kind) == 1 and link.kind not in waiting
        if changing is None or not is_one or not _follows(link):
            continue
        are_own = edges.kinds.mask(link.kind)
        own = made[link.kind] if link.kind in made else edges.take(np.flatnonzero(are_own))
        if len(own) and (own.facts < 0).all() and not len(own.read_from.values):
            waiting[link.kind] = _WaitingEdges(changing, own)
            edges = edges.take(np.flatnonzero(~are_own))
    return edges, waiting


def _follows(link: Link) -> bool:
    """Whether a link makes its edges after a change of those before."""
    return _as_changing(link) is not None and getattr(link, "grows", True)


def _as_changing(link: Link) -> ChangingLink | None:
    """Return a link that makes its edges of those before; asking the protocol takes longer."""
    changes = hasattr(link, "grow") and hasattr(link, "shrink")
    return cast("ChangingLink", link) if changes else None


def _grown_edges(
    link: Link, graph: Graph, edges: Edges, late: Collection[str], n_before: int
) -> Edges | LateEdges:
    if link.kind in late:
        return _made_anew(link, graph)
    changing = _as_changing(link)
    if changing is None:
        return edges_by(link, graph)
    before = edges.take(np.flatnonzero(edges.kinds.mask(link.kind)))
    return changing.grow(graph, before, n_before)


def _shrunk_edges(
    link: Link, graph: Graph, base: Graph, stays: Mask, late: Collection[str], *, waits: bool
) -> Edges | LateEdges:
    if link.kind in late:
        return _made_anew(link, graph)
    changing = _as_changing(link)
    if changing is None:
        return edges_by(link, graph)
    left = graph.edges.take(np.flatnonzero(graph.edges.kinds.mask(link.kind)))
    if getattr(link, "by_sources", False):
        bereft = base.read_from.lengths[stays] != graph.read_from.lengths
    else:
        edges = base.edges.take(np.flatnonzero(base.edges.kinds.mask(link.kind)))
        lost = stays[edges.tails] & ~stays[edges.heads]
        bereft = row_mask(edges.tails[lost], len(base))[stays]
    if waits and getattr(link, "deferred", False):
        nodes = graph.unchecked(edges=Edges())  # it holds no edge for longer than is needed
        return LateEdges(link.kind, partial(changing.shrink, nodes, left, bereft))
    return changing.shrink(graph, left, bereft)
