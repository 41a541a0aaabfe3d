"""AGRAG's seed: the question is mapped to the facts most like it, whose ends must be joined.

AGRAG (arXiv 2511.05549), fact linking. As with its authors, the question's language model filters
the facts, where it has one. `recognised` does so without one, by the names in the question. Where
a question names symbols of source code, the facts that it asks for come first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.cosines import cosines
from clew.algorithms.ranking import sharpen, top_k
from clew.graph import Floats, Graph, Mask, freeze, has_vector
from clew.seed._fact_filter import choose_facts
from clew.seed._shared import add_notes, fact_cosines, names_mentioned
from clew.seed._symbols import NO_FACTS, find_asked_facts, raise_by
from clew.seed.dense import Dense
from clew.types import Query, Seed, Seeds


@dataclass(frozen=True)
class MappedFacts:
    """Name the ends of the nearest facts as terminals; scores are those of the passages.

    The terminals are the ends of the nearest facts, the nearest fact's first, then the nearest
    `passages`. Where the question is mapped to no fact, the terminals are the `max_facts` nearest
    passages, and the trace says so.

    Attributes:
        max_facts: how many facts the question is mapped to; only a positive cosine counts.
        passages: how many passages are terminals too.
        recognised: map the question only to facts that its names lead to, where no language model
            has chosen them.
        passage_seed: the seed that scores the passages.
        exponent: the power that the passages' scores are raised to; 1 leaves them as they are.
        scale_by_coverage: where facts were read from only a share of the passages most like the
            question, map it to that share of `max_facts`. Facts of other passages would lead away
            from the passages that have none.
        symbols: put the facts about source code first that the question asks for, where it names
            symbols: see `clew.Symbols`.
        asks: let the question's language model, where it has one, choose among the nearest facts.
            An answer that cannot be read removes none.

    Example:
        >>> import numpy as np
        >>> import clew
        >>> documents = [clew.Document("ben", "Ben lives on Corfu."), "Many cats sleep all day."]
        >>> facts = {"ben": [("Ben", "lives on", "Corfu")]}
        >>> index = clew.Index.from_documents(documents, facts=facts)
        >>> vector = np.float32(index.embedder.embed_question("Where does Ben live?"))
        >>> seeds = MappedFacts(2).on(index.graph)(clew.Query("Where does Ben live?", vector))
        >>> [index.graph.texts[row] for row in seeds.terminals]
        ['Ben', 'Corfu']
    """

    max_facts: int = 5
    passages: int = 0
    recognised: bool = False
    passage_seed: Seed = Dense()
    exponent: float = 1.0
    scale_by_coverage: bool = True
    symbols: bool = True
    asks: bool = True

    @property
    def asks_model(self) -> bool:
        """Whether the question's language model may choose among the facts."""
        return self.asks

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        facts, passage_seed = graph.facts, self.passage_seed.on(graph)
        has_vectors = bool(has_vector(facts.vectors).any())
        find_asked = find_asked_facts(graph)
        has_facts = np.zeros(len(graph), np.bool_)
        has_facts[facts.read_from.values] = True

        def find_seeds(query: Query) -> Seeds:
            passages = passage_seed(query)
            weights = (
                sharpen(passages.scores, self.exponent) if self.exponent != 1 else passages.scores
            )
            notes: dict[str, Any] = dict(passages.notes)
            share = covered_share(weights, has_facts, 2 * self.max_facts)
            if not self.scale_by_coverage:
                share = 1.0
            elif len(facts) and share < 1:
                notes["covered"] = share
            scores = _likeness_of_facts(graph, query, passages.scores, has_vectors=has_vectors)
            mapped = top_k(scores, round(self.max_facts * share))
            mapped = mapped[scores[mapped] > 0]
            choice = choose_facts(graph, query, freeze(mapped, np.int32), asks=self.asks)
            if choice.mask is not None:
                mapped = mapped[choice.mask]
            elif self.recognised:
                mapped = mapped[names_mentioned(graph, mapped, query.text)]
            add_notes(notes, choice.notes)
            asked = find_asked(query.text) if self.symbols else NO_FACTS
            if len(asked.facts):
                notes["facts about symbols"] = len(asked.facts)
                mapped = np.array(list(dict.fromkeys([*asked.facts[: self.max_facts], *mapped])))
                scores[asked.facts] = np.maximum(scores[asked.facts], asked.scores)
                weights = raise_by(weights, asked.passage_scores(graph))
            if not len(mapped):
                _note_fallback(notes, has_facts=len(facts) > 0)
            ends = np.stack([facts.subjects[mapped], facts.objects[mapped]], axis=1).ravel()
            ranked = top_k(weights, self.passages if len(mapped) else self.max_facts)
            nearest = ranked[weights[ranked] > 0]
            terminals = list(dict.fromkeys([*ends.tolist(), *nearest.tolist()]))
            return Seeds(
                weights,
                freeze(terminals, np.int32),
                freeze(mapped, np.int32),
                freeze(scores[mapped], np.float64),
                notes,
            )

        return find_seeds


def _likeness_of_facts(
    graph: Graph, query: Query, passage_scores: Floats, *, has_vectors: bool
) -> Floats:
    """Return the cosine of every fact with the question, 0 where it is negative or not known.

    Args:
        graph: the graph of the facts.
        query: the question.
        passage_scores: the scores of the passages, by which few facts are compared where none has a
            vector.
        has_vectors: whether some have.
    """
    facts, vector = graph.facts, query.vector_for_facts
    scores = (
        np.maximum(cosines(facts.vectors, vector), 0)
        if has_vectors and vector is not None
        else np.zeros(len(facts))
    )
    if query.fact_likeness is not None:
        rows, near = fact_cosines(graph, query, passage_scores)
        scores[rows] = np.maximum(near, 0)
    return scores


def covered_share(scores: Floats, has_facts: Mask, k: int) -> float:
    """Return from which share of the `k` best passages facts were read.

    It is 1 where that cannot be said: no passage scores, or there are no facts at all.

    Example:
        >>> import numpy as np
        >>> covered_share(np.array([0.9, 0.8, 0.1]), np.array([True, False, True]), k=2)
        0.5
    """
    nearest = top_k(scores, k)
    nearest = nearest[scores[nearest] > 0]
    return float(has_facts[nearest].mean()) if len(nearest) and has_facts.any() else 1.0


def _note_fallback(notes: dict[str, Any], *, has_facts: bool) -> None:
    """Say that passages are the terminals, after what the passages' own seed has said."""
    why = "the question is mapped to none of the facts" if has_facts else "the graph has no facts"
    add_notes(notes, {"fallback": f"{why}: passages are joined"})
