"""HippoRAG 2's seed: the question touches the nearest facts, and weakly every passage like it.

Gutierrez et al., "From RAG to memory" (HippoRAG 2), arXiv 2502.14802, section 3:

    score(entity)  = mean score of its nearest facts / number of passages that mention it
    score(passage) = passage_weight * similarity

Scores of facts and similarities of passages are scaled to [0, 1] first, over all facts and over
all passages.

As in the paper, the question's language model filters the facts, where it has one; where it chooses
none, the passages are scored as `Dense` does. The paper has facts of every passage, too. Without
the one or the other the walk ends up where facts happen to be; `RecognisedFacts` makes up for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.cosines import cosines
from clew.algorithms.ranking import min_max_scale
from clew.graph import AnyVectors, Floats, Graph, Rows, freeze
from clew.seed._fact_filter import NONE_CHOSEN, choose_facts
from clew.seed._shared import FactRanking, entity_scores, nearest_of_best
from clew.seed.dense import Dense
from clew.types import Query, Seeds


@dataclass(frozen=True)
class LinkedFacts:
    """Score the entities of the nearest facts, and the passages; terminals are those entities.

    Without facts, or without a vector of the question, the passages are scored as `Dense` does.

    Attributes:
        max_facts: how many facts the question is mapped to, and how many of their entities count.
        passage_weight: the factor on the passages' scaled similarities, >= 0.
        kinds: the kinds of node that count as passages.
        asks: let the question's language model, where it has one, choose among the nearest facts.
            An answer that cannot be read removes none.

    Example:
        >>> import numpy as np
        >>> import clew
        >>> documents = [clew.Document("ben", "Ben lives on Corfu."), "Cats sleep."]
        >>> facts = {"ben": [("Ben", "lives on", "Corfu")]}
        >>> index = clew.Index.from_documents(documents, facts=facts)
        >>> vector = np.float32(index.embedder.embed_question("Where does Ben live?"))
        >>> seeds = LinkedFacts().on(index.graph)(clew.Query("Where does Ben live?", vector))
        >>> sorted(index.graph.texts[row] for row in seeds.terminals)
        ['Ben', 'Corfu']
    """

    max_facts: int = 5
    passage_weight: float = 0.05
    kinds: tuple[str, ...] = ("passage",)
    asks: bool = True

    @property
    def asks_model(self) -> bool:
        """Whether the question's language model may choose among the facts."""
        return self.asks

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        facts, dense, rows = (
            FactRanking.of(graph),
            Dense(self.kinds).on(graph),
            graph.rows(*self.kinds),
        )
        vectors = graph.vectors_of(*self.kinds)

        def passages_alone(query: Query, why: str) -> Seeds:
            passages = dense(query)
            note = f"{why}: the passages alone are the seeds"
            return Seeds(passages.scores, notes={**passages.notes, "fallback": note})

        def find_seeds(query: Query) -> Seeds:
            vector = query.vector_for_facts
            if query.fact_likeness is not None and len(graph.facts):
                ranked, scores = nearest_of_best(graph, query, dense(query).scores, self.max_facts)
            else:
                obstacle = facts.obstacle(vector)
                if vector is None or obstacle:
                    return passages_alone(query, obstacle)
                ranked, scores = facts.nearest(vector, self.max_facts)
            nearest, scores = freeze(ranked[scores > 0], np.int32), scores[scores > 0]
            choice = choose_facts(graph, query, nearest, asks=self.asks)
            if choice.mask is not None:
                nearest, scores = freeze(nearest[choice.mask], np.int32), scores[choice.mask]
                if not len(nearest):
                    return passages_alone(query, NONE_CHOSEN)
            means, terminals = entity_scores(graph, nearest, scores, self.max_facts)
            similar = _scaled_similarities(len(graph), query, rows, vectors)
            return Seeds(
                means + self.passage_weight * similar,
                terminals,
                nearest,
                freeze(scores, np.float64),
                choice.notes,
            )

        return find_seeds


def _scaled_similarities(n: int, query: Query, rows: Rows, vectors: AnyVectors) -> Floats:
    """Return the similarity of every passage, scaled to [0, 1] over all passages; 0 elsewhere.

    Negative cosines count: the least similar passage gets 0.
    """
    similar = np.zeros(n)
    if query.candidate_scores is not None:
        similar[list(query.candidate_scores)] = min_max_scale(list(query.candidate_scores.values()))
    elif query.vector is not None:
        similar[rows] = min_max_scale(cosines(vectors, query.vector))
    return similar
