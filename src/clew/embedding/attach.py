"""The vectors of a graph: one for every text that is compared with a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clew.embedding.bag_making import fit_bags
from clew.embedding.bag_table import BagTable
from clew.embedding.compact import is_compact
from clew.embedding.counted_beside import CountsBeside
from clew.embedding.embedded_texts import rows_to_embed, texts_to_embed
from clew.embedding.embedder import Embedder, EmbedderSource, embed_batches, fit_default
from clew.embedding.general import GeneralEmbedding
from clew.embedding.known_counts import KnownCounts
from clew.embedding.late_bags import LateBags, LateBagSegment, LateTexts
from clew.embedding.static import CountsOf, StaticEmbedding
from clew.embedding.word_vectors import MissingVectorsError
from clew.graph import (
    EMPTY,
    AnyVectors,
    BareSegment,
    DeferredSegment,
    DenseSegment,
    Graph,
    VectorColumn,
    Vectors,
    VectorSegment,
    are_consecutive,
    freeze,
    has_vector,
    seal,
    texts_with_headings,
    with_bare_rows,
    with_rows,
)
from clew.progress import progress_bar


def attach_vectors(
    graph: Graph,
    embedder: EmbedderSource | None = None,
    *,
    replacement_texts: Mapping[str, str] | None = None,
    known: Mapping[str, Vectors] | None = None,
    compact: bool | Literal["late"] = False,
    counts: CountsOf | CountsBeside | None = None,
    progress: bool = False,
) -> tuple[Embedder, Graph]:
    """Return the embedder, and the graph with a vector for every content node, entity and fact.

    A node that has a vector keeps it, and facts that all have one keep theirs.

    Args:
        graph: the graph.
        embedder: what `Embedder.of` takes. None fits the embedded default on the passages; then
            every vector is computed anew, since a question can be compared with no others.
        replacement_texts: id -> the text to embed in place of the node's own.
        known: text -> its vector, which is not computed again.
        compact: make vectors as bags of words, but for a small graph, where None stands for the
            embedder; see `clew.embedding.compact`. "late" makes those of names and facts when one
            is first asked for.
        counts: counts texts for the embedded default, and then the facts' vectors are made when
            they are first asked for, unless they are bags; None for `TextCounts.of`, and all at
            once. Those of the passages, which other processes have begun, are for `compact` alone.
        progress: whether to show a progress bar.

    Example:
        >>> graph = Graph.of(["Anna", "Ben"])
        >>> attach_vectors(graph, lambda texts: [[3, 4] for _ in texts])[1].vectors
        array([[0.6, 0.8],
               [0.6, 0.8]], dtype=float32)
    """
    beside = counts if isinstance(counts, CountsBeside) else None
    counts = None if isinstance(counts, CountsBeside) else counts
    if embedder is None:
        if compact and is_compact(graph):
            with suppress(MissingVectorsError):  # which the next lines log
                instead = replacement_texts or EMPTY
                late = compact == "late"
                return _attach_bags(graph, instead, beside, counts, progress, late)
        graph = _without_vectors(graph)
        if (made_of_counts := _attach_counted(graph, counts, replacement_texts)) is not None:
            return made_of_counts
        passages = texts_with_headings(graph, graph.rows("passage").tolist())
        attached, known = fit_default(passages, counts)
    else:
        attached = Embedder.of(embedder)
    if isinstance(attached.fitted, GeneralEmbedding) and not (known or graph.vectors.shape[1]):
        return attached, _with_general_vectors(graph, attached.fitted, replacement_texts or EMPTY)
    instead = replacement_texts or EMPTY
    return attached, _with_missing_vectors(graph, attached, instead, known or {}, counts, progress)


def _with_missing_vectors(
    graph: Graph,
    attached: Embedder,
    replacement_texts: Mapping[str, str],
    known: Mapping[str, Vectors],
    counts: CountsOf | None,
    progress: bool,
) -> Graph:
    """Return the graph with a vector for every node and fact that has none, batch by batch.

    Args:
        graph: the graph.
        attached: what embeds the texts.
        replacement_texts: as in `attach_vectors`.
        known: as in `attach_vectors`.
        counts: as in `attach_vectors`.
        progress: as in `attach_vectors`.
    """
    by_counts, rows = _by_counts(attached, counts), rows_to_embed(graph)
    late_names = _late_names(graph, attached, rows, replacement_texts, counts)
    if late_names is not None:
        rows = rows[: len(rows) - late_names.shape[0]]
    texts = texts_to_embed(graph, rows.tolist(), replacement_texts)
    is_there = has_vector(graph.vectors)[rows]
    bare, kept_rows = rows[~is_there], rows[is_there]
    bare_texts = [texts[i] for i in np.flatnonzero(~is_there).tolist()]
    kept, first = _kept(graph.vectors, kept_rows, bare)
    made = _made_facts(graph, attached, counts)
    fact_texts = graph.facts.texts if made is None else ()
    missing = [t for t in dict.fromkeys([*bare_texts, *fact_texts]) if t not in known]
    width = graph.vectors.shape[1] if is_there.any() else _width_of(known)
    place_of = {text: place for place, text in enumerate(missing)}
    # Batches go where they belong at once: all of them beside the results would take twice as much.
    of_nodes = _Gathered(bare_texts, bare - first, place_of)
    of_facts = _Gathered(fact_texts, np.arange(len(fact_texts)), place_of)
    n_nodes = len(graph) - first - (0 if late_names is None else late_names.shape[0])
    vectors, fact_vectors = (
        np.zeros((n, width or 0), np.float32) for n in (n_nodes, len(fact_texts))
    )
    for start, batch in embed_batches(by_counts, missing, width=width, progress=progress):
        if not start:
            vectors = np.zeros((n_nodes, batch.shape[1]), np.float32)
            fact_vectors = np.zeros((len(fact_texts), batch.shape[1]), np.float32)
        of_nodes.fill(vectors, start, batch)
        of_facts.fill(fact_vectors, start, batch)
    if kept is None and len(kept_rows):
        vectors[kept_rows] = graph.vectors[kept_rows]
    of_nodes.fill_known(vectors, known)
    of_facts.fill_known(fact_vectors, known)
    whole: AnyVectors = seal(vectors) if kept is None else with_rows(kept, seal(vectors))
    if late_names is not None:
        whole = VectorColumn([*VectorColumn.of(whole).segments, late_names])
    own = seal(fact_vectors) if made is None else made
    return graph.unchecked(vectors=whole, facts=replace(graph.facts, vectors=own))


def attach_vectors_but_of_names(
    graph: Graph,
    embedder: Embedder,
    *,
    replacement_texts: Mapping[str, str] = EMPTY,
    known: Mapping[str, Vectors] = EMPTY,
    progress: bool = False,
) -> Graph:
    """Return the graph with a vector for every content node; entities and facts get none.

    Args:
        graph: the graph, whose nodes keep the vectors that they have.
        embedder: what embeds the texts.
        replacement_texts: as in `attach_vectors`.
        known: as in `attach_vectors`.
        progress: as in `attach_vectors`.

    Example:
        >>> graph = Graph.of(["Anna met Ben.", "Anna"], kinds=["passage", "entity"])
        >>> embedder = Embedder.of(lambda texts: [[3, 4] for _ in texts])
        >>> attach_vectors_but_of_names(graph, embedder).vectors[:].tolist()
        [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    is_bare = graph.kinds.mask("entity")
    places = np.cumsum(~is_bare) - 1  # among the others
    rows = np.setdiff1d(rows_to_embed(graph), np.flatnonzero(is_bare))
    is_there = has_vector(graph.vectors)[rows]
    bare, kept = rows[~is_there], rows[is_there]
    texts = texts_to_embed(graph, bare.tolist(), replacement_texts)
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    width = graph.vectors.shape[1] if len(kept) else _width_of(known)
    gathered = _Gathered(texts, places[bare], {text: i for i, text in enumerate(missing)})
    vectors = np.zeros((np.count_nonzero(~is_bare), width or 0), np.float32)
    for start, batch in embed_batches(embedder, missing, width=width, progress=progress):
        if not start and not width:
            vectors = np.zeros((len(vectors), batch.shape[1]), np.float32)
        gathered.fill(vectors, start, batch)
    if len(kept):
        vectors[places[kept]] = graph.vectors[kept]
    gathered.fill_known(vectors, known)
    of_facts = VectorColumn([BareSegment(len(graph.facts), vectors.shape[1])])
    return graph.unchecked(
        vectors=with_bare_rows(seal(vectors), is_bare),
        facts=replace(graph.facts, vectors=of_facts),
    )


def _without_vectors(graph: Graph) -> Graph:
    nothing = freeze(np.zeros((len(graph.facts), 0)), np.float32)
    return replace(
        graph,
        vectors=freeze(np.zeros((len(graph), 0)), np.float32),
        facts=replace(graph.facts, vectors=nothing),
    )


def _attach_counted(
    graph: Graph, counts: CountsOf | None, replacement_texts: Mapping[str, str] | None
) -> tuple[Embedder, Graph] | None:
    """Return the embedded default and the graph with its vectors, without making known texts.

    None stands for a graph of which not only passages get vectors, or whose nodes are not known.

    Args:
        graph: a graph without vectors.
        counts: counts texts.
        replacement_texts: as in `attach_vectors`.
    """
    rows = graph.rows("passage").astype(np.int64)
    if not isinstance(counts, KnownCounts) or not counts.knows_nodes or replacement_texts:
        return None
    if not np.array_equal(rows_to_embed(graph), rows):
        return None
    try:
        fitted, made = StaticEmbedding.fit_and_embed_counted(counts.of_nodes(graph, rows))
    except MissingVectorsError:  # which `fit_default` logs
        return None
    embedder, vectors = Embedder.of(fitted), made
    if len(rows) < len(graph):
        vectors = np.zeros((len(graph), made.shape[1]), np.float32)
        vectors[rows] = made
    of_facts = _made_facts(graph, embedder, counts)
    facts = graph.facts if of_facts is None else replace(graph.facts, vectors=of_facts)
    return embedder, graph.unchecked(vectors=seal(vectors), facts=facts)


def _with_general_vectors(
    graph: Graph, fitted: GeneralEmbedding, replacement_texts: Mapping[str, str]
) -> Graph:
    """Return a graph of candidates with its vectors.

    Those of nodes are made when one is first asked for: candidates are compared with the question
    by the scores that they came with, and few methods compare a name with anything.

    Args:
        graph: a graph without vectors.
        fitted: what embeds its texts.
        replacement_texts: as in `attach_vectors`.
    """
    rows, first, facts = rows_to_embed(graph), _first_name(graph), graph.facts.texts
    if facts:
        fitted.centre_on(facts)
    segments = list[DenseSegment]()
    for start, end in ((0, first), (first, len(graph))):
        if end > start:
            own, shape = rows[(rows >= start) & (rows < end)], (end - start, fitted.dimensions)
            texts = partial(texts_to_embed, graph, own.tolist(), replacement_texts)
            make = partial(_made_of, fitted, texts, own - start, shape)
            segments.append(DeferredSegment(shape, make))
    made = fitted(facts) if facts else freeze(np.zeros((0, fitted.dimensions)), np.float32)
    of_facts = replace(graph.facts, vectors=made)
    return graph.unchecked(vectors=VectorColumn(segments), facts=of_facts)


def _made_of(
    fitted: GeneralEmbedding,
    texts: Callable[[], list[str]],
    places: NDArray[np.int64],
    shape: tuple[int, int],
) -> Vectors:
    """Return the vectors of nodes, of which those at some places have a text."""
    made = fitted(texts())
    if len(places) == shape[0]:
        return made
    vectors = np.zeros(shape, np.float32)
    vectors[places] = made
    return seal(vectors)


def _kept(
    vectors: AnyVectors, rows: NDArray[np.int64], bare: NDArray[np.int64]
) -> tuple[AnyVectors | None, int]:
    """Return the vectors that stay as they are, and the row behind them; None and 0 for none.

    They are those of a column in segments, before the first row that gets one.
    """
    first = int(bare.min(initial=len(vectors)))
    if not isinstance(vectors, VectorColumn) or rows.max(initial=-1) >= first:
        return None, 0
    return vectors.take(np.arange(first)), first


def _attach_bags(
    graph: Graph,
    replacement_texts: Mapping[str, str],
    beside: CountsBeside | None,
    counts_of: CountsOf | None,
    progress: bool,
    late_names: bool,
) -> tuple[Embedder, Graph]:
    """Return the embedded default, and the graph with its vectors as bags of words.

    Args:
        graph: the graph.
        replacement_texts: as in `attach_vectors`.
        beside: the counts of the passages that other processes have begun.
        counts_of: counts texts; None for `TextCounts.of`.
        progress: whether to show a progress bar.
        late_names: whether the vectors of names and facts wait until something compares them.

    Raises:
        MissingVectorsError: its word vectors are not installed.
    """
    facts, first = graph.facts, _first_name(graph) if late_names else len(graph)
    rows = rows_to_embed(graph)
    rows, names = rows[rows < first], rows[rows >= first]
    if beside is None:
        texts = texts_to_embed(graph, rows.tolist(), replacement_texts)
    else:
        texts = beside.texts_of(graph, rows, replacement_texts)
    if replacement_texts:
        passages = texts_with_headings(graph, graph.rows("passage").tolist())
    else:  # all passages are among the rows
        are_passages = graph.kinds.mask("passage")[rows].tolist()
        passages = list(compress(texts, are_passages))
    place_of = {text: place for place, text in reversed(list(enumerate(passages)))}
    nothing = ""  # the text of what has no vector
    fact_texts = () if late_names else facts.texts
    others = [t for t in dict.fromkeys([*texts, *fact_texts, nothing]) if t not in place_of]
    place_of.update((text, len(passages) + place) for place, text in enumerate(others))
    n_made = 0  # which come first
    if not late_names:
        n_made = 1 + max((place_of[text] for text in texts), default=-1)
    total = len(passages) + len(others)
    make: Callable[[], Sequence[str]] = partial(
        _names_and_facts, graph, names.tolist(), replacement_texts
    )
    late_counts = counts_of
    if late_names and beside is not None and beside.has_begun:
        late_counts = counted_late = beside.begin_late(make())
        make = counted_late.texts
    with progress_bar(shown=progress, total=total, label="embedding", unit="text") as bar:
        counted = None if beside is None else beside.batches_of(passages)
        fitted, segment = fit_bags(passages, others, bar.update, n_made, counted, counts_of)
    of_nodes = np.full(first, place_of[nothing])
    of_nodes[rows] = [place_of[text] for text in texts]
    vectors: list[VectorSegment] = [segment.take(of_nodes)]
    if late_names:
        bounds = [0, len(names), len(names) + len(facts)]
        late = LateTexts(segment.table, make, late_counts, bounds)
        if len(names):
            vectors.append(LateBagSegment(LateBags(late, 0), np.arange(len(names))))
        own = VectorColumn([LateBagSegment(LateBags(late, 1), np.arange(len(facts)))])
    else:
        of_facts = np.array([place_of[text] for text in facts.texts], np.int64)
        own = VectorColumn([segment.take(of_facts)])
    facts = replace(facts, vectors=own)
    return Embedder.of(fitted), replace(graph, vectors=VectorColumn(vectors), facts=facts)


def _names_and_facts(
    graph: Graph, names: list[int], replacement_texts: Mapping[str, str]
) -> list[str]:
    return [*texts_to_embed(graph, names, replacement_texts), *graph.facts.texts]


def _first_name(graph: Graph) -> int:
    """Return the row behind which all nodes are entities, as those are that were read."""
    others = np.flatnonzero(~graph.kinds.mask("entity"))
    return int(others[-1]) + 1 if len(others) else 0


def _made_facts(graph: Graph, embedder: Embedder, counts: CountsOf | None) -> AnyVectors | None:
    """Return the vectors of facts that need no batches; None for none."""
    facts, fitted = graph.facts, embedder.fitted
    if len(facts) and has_vector(facts.vectors).all():
        return facts.vectors
    if counts is None or not isinstance(fitted, StaticEmbedding):
        return None
    if not is_compact(graph):
        shape = len(facts), fitted.dimensions
        return VectorColumn([DeferredSegment(shape, partial(_vectors_of, fitted, facts.texts))])
    bounds = [0, len(facts)]
    texts = partial(tuple, facts.texts)
    late = LateTexts(BagTable(fitted, ()), texts, None, bounds, rounded=True)
    return VectorColumn([LateBagSegment(LateBags(late), np.arange(len(facts)))])


def _late_names(
    graph: Graph,
    embedder: Embedder,
    rows: NDArray[np.int64],
    replacement_texts: Mapping[str, str],
    counts: CountsOf | None,
) -> DeferredSegment | None:
    """Return the vectors of the entities behind all other nodes, made when one is asked for.

    Few questions compare a name with anything. None stands for none, and where texts are counted by
    reading them.

    Args:
        graph: the graph.
        embedder: what embeds its texts.
        rows: the rows that get vectors, all entities among them.
        replacement_texts: as in `attach_vectors`.
        counts: counts texts by what is known.
    """
    fitted, names = embedder.fitted, rows[rows >= _first_name(graph)].tolist()
    if counts is None or not isinstance(fitted, StaticEmbedding) or not names:
        return None

    texts = partial(texts_to_embed, graph, names, replacement_texts)
    make = partial(_vectors_of, fitted, texts)
    return DeferredSegment((len(names), fitted.dimensions), make)


def _vectors_of(
    fitted: StaticEmbedding, texts: Sequence[str] | Callable[[], Sequence[str]]
) -> Vectors:
    """Return the vectors of texts; a function of a module is pickled, and none in another is."""
    return fitted(texts() if callable(texts) else texts)


def _by_counts(embedder: Embedder, counts: CountsOf | None) -> Embedder:
    """Return an embedder that has texts counted by another function, where it is the default."""
    fitted = embedder.fitted
    if counts is None or not isinstance(fitted, StaticEmbedding):
        return embedder
    return replace(embedder, embed_texts=lambda texts: fitted.vectors_of(counts(texts)))


def _width_of(vectors: Mapping[str, Vectors]) -> int | None:
    return len(next(iter(vectors.values()))) if vectors else None


class _Gathered:
    """Rows of an array that are the vectors of texts.

    Args:
        texts: the text of each row.
        rows: the rows of the array.
        place_of: the place of a text among those that are embedded; the others are known.
    """

    def __init__(
        self, texts: Sequence[str], rows: NDArray[np.integer], place_of: Mapping[str, int]
    ) -> None:
        places = np.array([place_of.get(text, -1) for text in texts], np.int64)
        order = np.argsort(places, kind="stable")
        self._rows, self._places = rows[order], places[order]
        n_known = int(np.searchsorted(self._places, 0))
        self._known = [(rows[i], texts[i]) for i in order[:n_known].tolist()]

    def fill(self, array: Vectors, start: int, batch: Vectors) -> None:
        """Put the vectors of the texts from a place on into their rows."""
        first, behind = np.searchsorted(self._places, [start, start + len(batch)])
        rows, places = self._rows[first:behind], self._places[first:behind] - start
        if len(rows) and are_consecutive(rows) and are_consecutive(places):  # as most are
            array[rows[0] : rows[-1] + 1] = batch[places[0] : places[-1] + 1]
        else:
            array[rows] = batch[places]

    def fill_known(self, array: Vectors, known: Mapping[str, Vectors]) -> None:
        """Put the vectors that are known already into their rows."""
        for row, text in self._known:
            array[row] = known[text]
