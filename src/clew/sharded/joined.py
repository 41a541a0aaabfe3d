"""What is known of several shards, and what was pulled from each, as that of one index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise
from statistics import fmean
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from clew.embedding.embedder import Embedder
from clew.embedding.static import MAX_WORDS, StaticEmbedding
from clew.graph import (
    AnyVectors,
    Edges,
    Facts,
    Floats,
    Graph,
    Labels,
    Ragged,
    Rows,
    VectorColumn,
    freeze,
    has_vector,
    offsets_of,
)
from clew.index.drift import joined_drift
from clew.overlap import TextKeysPart
from clew.relevance import MAX_SAMPLE
from clew.remote.corpus import CorpusFigures
from clew.remote.numbers import is_among
from clew.remote.protocol import PulledNodes
from clew.seed.cohesion import Cohesion
from clew.sharded.late_rows import FewVectors, LabelsOfMany, TextsInColumns, VectorsInColumns
from clew.sharded.numbering import ShardNumbers, renumbered


def join_corpora(corpora: Sequence[CorpusFigures], numbers: ShardNumbers) -> CorpusFigures:
    """Return what is known of all shards.

    Args:
        corpora: What is known of each.
        numbers: Their numbers.

    Raises:
        ValueError: The shards differ in what questions are asked with.
    """
    first = corpora[0]
    for i, other in enumerate(corpora[1:], 1):
        _check_alike(first, other, i)
    parts = [numbers.of_shard(one.passages, i) for i, one in enumerate(corpora)]
    summaries = [numbers.of_shard(one.summaries, i) for i, one in enumerate(corpora)]
    documents, n_documents = _documents_of(corpora)
    return replace(
        first,
        version=sum(one.version for one in corpora),
        nodes=sum(one.nodes for one in corpora),
        embedder=_join_embedders([one.embedder for one in corpora]),
        languages=tuple(dict.fromkeys(chain.from_iterable(one.languages for one in corpora))),
        passages=freeze(np.concatenate(parts), np.int32),
        lengths=freeze(np.concatenate([one.lengths for one in corpora]), np.float64),
        documents=documents,
        n_documents=n_documents,
        **_sample_of(corpora, numbers),
        is_of_code=_weighted(corpora, [one.is_of_code for one in corpora]),
        has_reports=any(one.has_reports for one in corpora),
        untrusted=any(one.untrusted for one in corpora),
        n_entities=_count_entities(corpora),
        entities=freeze([], np.int32),
        entity_keys=np.zeros(0, np.int64),
        summaries=freeze(np.concatenate(summaries), np.int32),
        runs=_runs_of(corpora),
        cohesion=_cohesion_of(corpora),
        has_bare_names=any(one.has_bare_names for one in corpora),
        drift=joined_drift([one.drift for one in corpora], sum(map(len, parts))),
    )


def _check_alike(first: CorpusFigures, other: CorpusFigures, place: int) -> None:
    pairs: tuple[tuple[str, object, object], ...] = (
        ("the embedder", first.embedder.name, other.embedder.name),
        ("the width of vectors", first.dimension, other.dimension),
        ("the tokenizer (count=)", first.count, other.count),
        ("canonical=", first.canonical, other.canonical),
    )
    for what, one, two in pairs:
        if one != two:
            raise ValueError(
                f"shards are asked with one and the same of everything, but {what} of the first is "
                f"{one!r}, and that of shard {place} is {two!r}: give it to `open`, or build the "
                "shards alike"
            )


def _count_entities(corpora: Sequence[CorpusFigures]) -> int:
    """Return how many entities there are: one that several shards name is one, if it is known."""
    if any(len(one.entity_keys) != one.n_entities for one in corpora):  # as of a database
        return sum(one.n_entities for one in corpora)
    keys = np.sort(np.concatenate([one.entity_keys for one in corpora]))
    return int(np.count_nonzero(np.diff(keys))) + bool(len(keys))


def _documents_of(corpora: Sequence[CorpusFigures]) -> tuple[NDArray[np.int64], int]:
    """Return the document of every passage, and how many there are; 0 where none is in one."""
    if not any(one.n_documents for one in corpora):
        return np.zeros(sum(len(one.passages) for one in corpora), np.int64), 0
    parts, n = [], 0
    for one in corpora:
        alone = not one.n_documents  # each passage of the shard is a document of its own
        own = np.arange(len(one.passages), dtype=np.int64) if alone else one.documents
        parts.append(own + n)
        n += len(own) if alone else one.n_documents
    return np.concatenate(parts), n


def _runs_of(corpora: Sequence[CorpusFigures]) -> NDArray[np.int64] | None:
    """Return the run of neighbours of every passage; None where a shard does not know them."""
    parts, n = [], 0
    for one in corpora:
        if one.runs is None:
            return None
        parts.append(one.runs + n)
        n += int(one.runs[-1]) + 1 if len(one.runs) else 0
    return np.concatenate(parts)


def _cohesion_of(corpora: Sequence[CorpusFigures]) -> Cohesion:
    """Return the mean cohesion of the shards, each by its passages."""
    sizes = [len(one.passages) for one in corpora]
    if not any(sizes):
        return corpora[0].cohesion
    neighbours = [one.cohesion.neighbours for one in corpora]
    documents = [one.cohesion.documents for one in corpora]
    return Cohesion(fmean(neighbours, sizes), fmean(documents, sizes))


def _sample_of(corpora: Sequence[CorpusFigures], numbers: ShardNumbers) -> dict[str, Any]:
    """Return the sample of all passages: of each shard as much as it has of them."""
    total = sum(len(one.passages) for one in corpora)
    parts, sampled = [], []
    for i, one in enumerate(corpora):
        wanted = len(one.sample)
        if total > MAX_SAMPLE:
            wanted = min(wanted, round(MAX_SAMPLE * len(one.passages) / total))
        places = np.linspace(0, len(one.sample) - 1, wanted).round().astype(np.int64)
        parts.append(one.sample[places])
        sampled.append(numbers.of_shard(one.sampled[places], i))
    return {
        "sample": freeze(np.concatenate(parts), np.float32),
        "sampled": freeze(np.concatenate(sampled), np.int32),
    }


def _weighted(corpora: Sequence[CorpusFigures], values: Sequence[bool]) -> bool:
    """Return whether what is true of a shard is true of most passages."""
    sizes = [len(one.passages) for one in corpora]
    return 2 * sum(n for n, value in zip(sizes, values, strict=True) if value) > sum(sizes)


def _join_embedders(embedders: Sequence[Embedder]) -> Embedder:
    """Return what embeds a question for all shards.

    The embedded default is weighted by the counts of all shards.
    """
    fitted = [one.fitted for one in embedders]
    if not all(isinstance(one, StaticEmbedding) for one in fitted):
        return embedders[0]
    return Embedder.of(_join_static([one for one in fitted if isinstance(one, StaticEmbedding)]))


def _join_static(parts: Sequence[StaticEmbedding]) -> StaticEmbedding:
    counts: dict[str, int] = {}
    for part in parts:
        for word, count in zip(part.vocabulary, part.word_counts.tolist(), strict=True):
            counts[word] = counts.get(word, 0) + count
    words = tuple(sorted(counts, key=lambda word: (-counts[word], word))[:MAX_WORDS])
    n = sum(part.n_texts for part in parts)
    weights = [part.n_texts / n if n else 0.0 for part in parts]
    mean = sum(
        (
            weight * part.mean.astype(np.float64)
            for weight, part in zip(weights, parts, strict=True)
        ),
        start=np.zeros(len(parts[0].mean)),
    )
    return StaticEmbedding(
        n,
        words,
        freeze([counts[word] for word in words], np.int32),
        freeze(sum(part.piece_counts.astype(np.int64) for part in parts), np.int32),
        freeze(mean, np.float32),
    )


def join_pulled(
    parts: Sequence[PulledNodes],
    numbers: ShardNumbers,
    corpora: Sequence[CorpusFigures],
    languages: Sequence[str],
    repeated: Rows | None = None,
) -> PulledNodes:
    """Return what was pulled from all shards as what one index would give.

    An entity, or a fact, that several shards have comes once, read from the passages of all.

    Args:
        parts: What was pulled from each shard.
        numbers: The numbers of the shards.
        corpora: What is known of each shard.
        languages: Those of all shards.
        repeated: int32, the nodes that may have an id of another node, ascending; None for all.

    Raises:
        ValueError: Two shards have a passage or a document of one id.
    """
    own = [numbers.of_shard(part.numbers, i) for i, part in enumerate(parts)]
    found, first, place = np.unique(np.concatenate(own), return_index=True, return_inverse=True)
    starts = offsets_of([len(part.numbers) for part in parts])
    rows = [
        freeze(place[a:b], np.int32) for a, b in pairwise(starts)
    ]  # of each part, the row that each of its nodes has in the whole
    graphs = [part.graph for part in parts]
    facts, fact_rows = _join_facts(graphs, rows)
    graph = _join_nodes(graphs, rows, first, len(found))
    if repeated is None or is_among(found, repeated).any():
        _check_ids(graph.ids)
    graph = graph.unchecked(facts=facts, edges=_join_edges(graphs, rows, fact_rows))
    keys = [part.known_part(TextKeysPart()) for part in graphs]
    known = [some for some in keys if some is not None]
    if len(known) == len(keys):
        graph.set_part(TextKeysPart(), np.concatenate(known)[first])
    kinds = tuple(sorted({kind for part in parts for kind in part.kinds}))
    joined = PulledNodes(
        freeze(found, np.int32),
        graph,
        _summed([part.mentions for part in parts], rows, len(found)),
        np.concatenate([part.contents for part in parts])[first],
        _languages_of(parts, corpora, languages)[first],
    )
    words = [part.linked_words for part in parts if part.linked_words is not None]
    if len(words) == len(parts):
        joined = replace(joined, linked_words=np.concatenate(words)[first])
    if all(part.strengths is not None for part in parts):
        joined = joined.with_strengths(kinds, _strengths_of(parts, rows, kinds, len(found)))
    return joined


def _summed(values: Sequence[NDArray[np.int64]], rows: Sequence[Rows], n: int) -> NDArray[np.int64]:
    sums = np.bincount(np.concatenate(rows), np.concatenate(values), n)
    return sums.astype(np.int64)


def _strengths_of(
    parts: Sequence[PulledNodes], rows: Sequence[Rows], kinds: tuple[str, ...], n: int
) -> Floats:
    sums = np.zeros((n, len(kinds)))
    for part, own in zip(parts, rows, strict=True):
        for column, kind in enumerate(part.kinds):
            assert part.strengths is not None, "only where all say"
            sums[own, kinds.index(kind)] += part.strengths[:, column]  # of each node once
    return sums


def _languages_of(
    parts: Sequence[PulledNodes], corpora: Sequence[CorpusFigures], languages: Sequence[str]
) -> NDArray[np.int8]:
    place = {name: i for i, name in enumerate(languages)}
    columns = []
    for part, corpus in zip(parts, corpora, strict=True):
        codes = np.array([place[name] for name in corpus.languages] or [0], np.int8)
        columns.append(codes[part.languages])
    return np.concatenate(columns)


def _join_nodes(graphs: Sequence[Graph], rows: Sequence[Rows], first: Any, n: int) -> Graph:  # noqa: ANN401 - places
    """Return the nodes of all parts without facts and edges; what comes twice as it first is."""
    owners = np.repeat(np.arange(len(graphs)), [len(own) for own in rows])[first]
    places = np.concatenate([np.arange(len(own)) for own in rows])[first]

    def values(column: str) -> list[Any]:
        whole = list(chain.from_iterable(getattr(graph, column) for graph in graphs))
        return [whole[i] for i in first.tolist()]

    def joined_rows(column: str) -> Rows:
        parts = [
            renumbered(getattr(graph, column), own) for graph, own in zip(graphs, rows, strict=True)
        ]
        return freeze(np.concatenate(parts)[first], np.int32)

    def array(column: str, dtype: type[np.generic]) -> Any:  # noqa: ANN401 - an array of it
        return freeze(np.concatenate([getattr(graph, column) for graph in graphs])[first], dtype)

    return graphs[0].unchecked(  # as each part, which fits together
        ids=TextsInColumns([graph.ids for graph in graphs], owners, places),
        kinds=Labels.join([graph.kinds for graph in graphs]).take(first),
        texts=TextsInColumns([graph.texts for graph in graphs], owners, places),
        vectors=_vectors_of([graph.vectors for graph in graphs], rows, n),
        tokens=array("tokens", np.int32),
        documents=joined_rows("documents"),
        parents=joined_rows("parents"),
        previous=joined_rows("previous"),
        spans=array("spans", np.int32),
        references=tuple(values("references")),
        read_from=_join_lists([graph.read_from for graph in graphs], rows, rows, n),
        generated=array("generated", np.bool_),
        metadata=tuple(values("metadata")),
        originals=tuple(values("originals")),
    )


def _check_ids(ids: Sequence[str]) -> None:
    """Raise ValueError where two nodes have the same id."""
    counted = sorted(ids)
    twice = next((one for one, other in pairwise(counted) if one == other), None)
    if twice is not None:
        raise ValueError(
            f"two shards have a node of the id {twice!r}, and each document belongs to one shard: "
            "delete it from the others; where these are two files of one path in their folders, "
            "ask the folders themselves, or make one index of a folder above both: either tells "
            "them apart"
        )


def _vectors_of(parts: Sequence[AnyVectors], rows: Sequence[Rows], n: int) -> VectorColumn:
    """Return a vector for each row: of those that come for it, the first that is not 0."""
    owners, places = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    for place, (part, own) in reversed([*enumerate(zip(parts, rows, strict=True))]):
        there = np.flatnonzero(has_vector(part))
        owners[own[there]], places[own[there]] = place, there
    return VectorColumn([VectorsInColumns(parts, owners, places)])


def _join_lists(
    parts: Sequence[Ragged], owners: Sequence[Rows], rows: Sequence[Rows], n: int
) -> Ragged:
    """Return the lists of all parts, those of one owner one after the other."""
    owner = np.concatenate([own[part.owners] for part, own in zip(parts, owners, strict=True)])
    value = np.concatenate(
        [renumbered(part.values, to) for part, to in zip(parts, rows, strict=True)]
    )
    order = np.argsort(owner, kind="stable")
    return Ragged(
        freeze(offsets_of(np.bincount(owner, minlength=n)), np.int64),
        freeze(value[order], np.int32),
    )


def _join_facts(graphs: Sequence[Graph], rows: Sequence[Rows]) -> tuple[Facts, list[Rows]]:
    """Return the facts of all parts, each once, and of each part the row of each of its facts."""
    parts = [graph.facts for graph in graphs]
    subjects = np.concatenate([own[one.subjects] for one, own in zip(parts, rows, strict=True)])
    objects = np.concatenate([own[one.objects] for one, own in zip(parts, rows, strict=True)])
    relations = _joined_relations([one.relations for one in parts])
    known = relations.numbers if isinstance(relations, LabelsOfMany) else relations.codes
    first, row_of = _first_of_each([subjects, objects, known])
    starts = offsets_of([len(one) for one in parts])
    fact_rows = [freeze(row_of[a:b], np.int32) for a, b in pairwise(starts)]
    owners = np.searchsorted(starts, first, side="right") - 1
    near = [FewVectors.of(one.vectors) for one in parts]
    whole = Facts(
        cast(
            "tuple[str, ...]",
            TextsInColumns([one.texts for one in parts], owners, first - starts[owners]),
        ),
        VectorColumn([FewVectors.joined(near, fact_rows, len(first))]),
        freeze(subjects[first], np.int32),
        freeze(objects[first], np.int32),
        relations.take(first),
        _join_lists([one.read_from for one in parts], fact_rows, rows, len(first)),
    )
    return whole, fact_rows


def _joined_relations(parts: Sequence[Labels]) -> Labels:
    """Return labels one after the other; those of shards in folders have the same numbers."""
    late = [part for part in parts if isinstance(part, LabelsOfMany)]
    if len(late) == len(parts) and all(part.words is late[0].words for part in late):
        numbers = np.concatenate([part.numbers for part in late])
        return LabelsOfMany(late[0].words, freeze(numbers, np.int32))
    return Labels.join(parts)


def _first_of_each(columns: Sequence[NDArray[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the rows that no earlier one is equal to, and which each is equal to.

    Args:
        columns: int [n] each, the values of the rows.

    Example:
        >>> _first_of_each([np.array([2, 1, 2]), np.array([0, 0, 0])])
        (array([0, 1]), array([0, 1, 0]))
    """
    key = columns[0].astype(np.int64)
    for column in columns[1:]:
        size = int(column.max(initial=0)) + 1
        if int(key.max(initial=0)) >= 2**62 // size:
            key = np.unique(key, return_inverse=True)[1]
        key = key * size + column
    order = np.argsort(key)
    ascending = key[order]
    begins = np.flatnonzero(np.append(np.ones(min(1, len(key))), ascending[1:] != ascending[:-1]))
    first = np.minimum.reduceat(order, begins) if len(order) else order
    place = np.empty(len(order), np.int64)
    place[order] = np.repeat(first, np.diff(begins, append=len(order)))
    is_first = place == np.arange(len(place))
    return np.flatnonzero(is_first), (np.cumsum(is_first) - 1)[place]


def _join_edges(graphs: Sequence[Graph], rows: Sequence[Rows], fact_rows: Sequence[Rows]) -> Edges:
    """Return the edges of all parts.

    An edge between two entities that no passage states is the same in every shard that has both.
    """
    parts = [
        replace(
            graph.edges,
            tails=renumbered(graph.edges.tails, own),
            heads=renumbered(graph.edges.heads, own),
            facts=renumbered(graph.edges.facts, of_fact),
            read_from=graph.edges.read_from.renumbered(own),
        )
        for graph, own, of_fact in zip(graphs, rows, fact_rows, strict=True)
    ]
    edges = Edges.join(parts)
    alone = np.flatnonzero((edges.facts < 0) & (edges.read_from.lengths == 0))
    keys = np.stack([edges.tails[alone], edges.heads[alone], edges.kinds.codes[alone]], axis=1)
    order = np.lexsort((-edges.weights[alone], *keys.T[::-1]))
    same = np.zeros(len(order), np.bool_)
    same[1:] = (keys[order][1:] == keys[order][:-1]).all(axis=1)
    stays = np.ones(len(edges), np.bool_)
    stays[alone[order[same]]] = False
    return edges if stays.all() else edges.take(np.flatnonzero(stays))
