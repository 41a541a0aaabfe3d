"""The part of a stored graph that a question may need, frontier by frontier and within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Floats, Graph, Rows, Vectors, freeze
from clew.relevance import MAX_COVERING
from clew.remote.corpus import CorpusFigures, key_of_stem
from clew.remote.protocol import GraphStore, Wanted
from clew.seed.bm25 import InvertedIndex


@dataclass(frozen=True)
class Bounds:
    """How much of a stored graph a question pulls at most.

    Attributes:
        passages: the nearest passages, and as many with the question's words, at least 1.
        facts: the nearest facts, at least 1.
        per_node: edges of a node that are followed in each direction, at least 1.
        nodes: nodes in all, at least 1; what contains them comes besides.
        hops: how often edges are followed, >= 0.
        without: kinds of edge that are not followed. What contains a node comes anyway, and what is
            similar to a passage that is near is mostly near itself.
    """

    passages: int = 100
    facts: int = 30
    per_node: int = 16
    nodes: int = 1000
    hops: int = 2
    without: tuple[str, ...] = ("contains", "similar")

    def __post_init__(self) -> None:
        for name in ("passages", "facts", "per_node", "nodes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is at least 1; got {getattr(self, name)}")
        if self.hops < 0:
            raise ValueError(f"hops is at least 0; got {self.hops}")


@dataclass(frozen=True, eq=False)
class WorkingSubgraph:
    """A part of a stored graph, which knows the frequencies of the whole.

    Attributes:
        graph: The part.
        version: The version of the index that it is a part of.
        notes: What the bounds have cut off, for the trace.
    """

    graph: Graph
    version: int
    notes: Mapping[str, Any]


async def pull(
    store: GraphStore,
    corpus: CorpusFigures,
    question: str,
    vector: Vectors | None,
    bounds: Bounds,
    where: Wanted | None = None,
) -> WorkingSubgraph | None:
    """Return the working subgraph of a question, in `hops` + 3 round trips.

    None where the index was written since the figures of its corpus were read.

    Args:
        store: The database.
        corpus: What is known of the whole index.
        question: The text of the question.
        vector: Its vector, a unit row; None for none.
        bounds: How much is pulled at most.
        where: What may be read; None for everything.

    Raises:
        ValueError: The store cannot keep to `where`.
    """
    if where is not None and not store.capabilities.enforces_where:
        raise ValueError("this database cannot keep to a filter, so nothing is read from it")
    stems = corpus.stems_of(question)
    keys = [key_of_stem(stem) for stem in stems]
    found = await store.seeds(vector, keys, bounds.passages, bounds.facts, where)
    if found.version != corpus.version:
        return None
    words = corpus.words(stems, found.postings)
    by_words = _by_words(corpus, words, bounds.passages, found.allowed)
    seeds = np.concatenate([found.passages.numbers, found.facts.ends, by_words])
    pulled = freeze(list(dict.fromkeys(seeds.tolist())), np.int32)
    frontier, cut, beyond = pulled, 0, 0
    for _ in range(bounds.hops):
        if not len(frontier) or len(pulled) >= bounds.nodes:
            break
        expansion = await store.expand(frontier, bounds.per_node, bounds.without, where)
        cut += expansion.cut
        is_new = ~np.isin(expansion.numbers, pulled)
        new, weights = expansion.numbers[is_new], expansion.weights[is_new]
        order = np.lexsort((new, -weights))
        room = max(0, bounds.nodes - len(pulled))
        beyond += max(0, len(new) - room)
        frontier = freeze(new[order[:room]], np.int32)
        pulled = freeze(np.concatenate([pulled, frontier]), np.int32)
    nodes = await store.nodes(freeze(np.sort(pulled), np.int32), found.facts.numbers, where)
    corpus.put_on(nodes, words)
    notes = {"nodes": len(nodes.graph), "edges": len(nodes.graph.edges)}
    if cut:
        notes["nodes with edges that were cut"] = cut
    if beyond:
        notes["nodes beyond the bound"] = beyond
    return WorkingSubgraph(nodes.graph, found.version, notes)


def _by_words(corpus: CorpusFigures, words: InvertedIndex, k: int, allowed: Rows | None) -> Rows:
    """Return the best passages by BM25, and those with most of the question's words."""
    if not words.stems or not len(corpus.passages):
        return freeze([], np.int32)
    numbers = list(words.stems.values())
    scores, covered = words.postings.bm25(numbers, 1.5, 0.75), words.postings.covered(numbers)[0]
    if allowed is not None:
        is_allowed = np.isin(corpus.passages, allowed)
        scores, covered = np.where(is_allowed, scores, 0), np.where(is_allowed, covered, 0)
    best = [_best(scores, k), _best(covered, MAX_COVERING)]
    return freeze(corpus.passages[np.concatenate(best)], np.int32)


def _best(scores: Floats, k: int) -> Rows:
    rows = top_k(scores, k)
    return freeze(rows[scores[rows] > 0], np.int32)
