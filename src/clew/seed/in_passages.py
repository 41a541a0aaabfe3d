"""Sentences that count as much as their passage does, each by how near it is beside the others.

A sentence says too little to be found by itself: what it is about stands in the passage around it,
and in that passage's headings and document. So a passage is found by all of these, and in it the
sentence by its own words and vector. That is one step of a descent, Kurisu-G2 (ICLR 2026 submission
18441), section 2.2: a child is compared with its siblings, not with the corpus.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from clew.graph import Graph
from clew.seed.blend import Blend
from clew.seed.bm25 import BM25
from clew.seed.dense import Dense
from clew.seed.in_documents import InDocuments
from clew.types import Query, Seed, Seeds

SENTENCES = ("sentence",)


@dataclass(frozen=True)
class InPassages:
    """Score by another seed, and the sentences of a passage by shares of its score.

    The sentence that is nearest to the question has the score of its passage; the others have less.
    Where none is near, none has a score. Where there are no sentences, the scores stay as they are.

    Attributes:
        seed: the other seed; what it says of sentences is not used.
        sentences: scores sentences, >= 0; they are compared within one passage alone.

    Example:
        >>> from clew import Graph, Query
        >>> graph = Graph.of(["It sails. It sails at ten.", "It sails.", "It sails at ten."],
        ...                  kinds=["passage", "sentence", "sentence"], parents=[-1, 0, 0])
        >>> seeds = InPassages(BM25(), BM25(kinds=SENTENCES)).on(graph)(Query("sails at ten"))
        >>> seeds.scores.round(2).tolist()
        [0.39, 0.06, 0.39]
    """

    seed: Seed = InDocuments()
    sentences: Seed = Blend((Dense(SENTENCES), BM25(kinds=SENTENCES)))

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_around = self.seed.on(graph)
        rows = graph.rows(*SENTENCES)
        rows = rows[graph.parents[rows] >= 0]
        if not len(rows):
            return find_around
        find_sentences, passages = self.sentences.on(graph), graph.parents[rows]

        def find_seeds(query: Query) -> Seeds:
            around, own = find_around(query), find_sentences(query).scores[rows]
            nearest = np.zeros(len(graph))
            np.maximum.at(nearest, passages, own)
            share = np.divide(own, nearest[passages], out=np.zeros(len(own)), where=own > 0)
            scores = around.scores.copy()
            scores[rows] = share * scores[passages]
            return replace(around, scores=scores)

        return find_seeds
