"""The question touches the near facts that its names lead to, and the passages most like it.

HippoRAG 2 (arXiv 2502.14802) lets a language model say which of the nearest facts belong to the
question, its recognition memory, and ranks by the passages alone where none does. So does this
where the question has a model. Without one, a fact is recognised by name: the question mentions its
subject or its object, or those of another near fact that shares an end with it.

The paper weighs passages by 0.05 times their similarity, so that their part of the walk's starts
grows with the corpus, and spreads it over all of them. Here their part is a fixed share, and goes
to the nearest: facts that nobody has looked through must not outweigh them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.algorithms.ranking import sharpen
from clew.graph import Floats, Graph, freeze
from clew.seed._fact_filter import NONE_CHOSEN, choose_facts
from clew.seed._shared import (
    FactRanking,
    add_notes,
    entity_scores,
    names_mentioned,
    nearest_of_best,
)
from clew.seed._symbols import SymbolTablePart, find_asked_facts, sharpen_by
from clew.seed.blend import Blend
from clew.types import Query, Seed, Seeds


@dataclass(frozen=True)
class RecognisedFacts:
    """Score the entities of the recognised facts and the passages, 1 in all.

    Terminals are those entities, best first. Where no fact is recognised, the passages have the
    whole score.

    Attributes:
        max_facts: how many of the nearest facts may be recognised, and how many entities count.
        passage_share: the passages' part of the score, in [0, 1], where a fact is recognised.
        passage_seed: the seed that scores the passages.
        exponent: the power that the passages' scores are raised to; the higher, the more goes to
            the best of them.
        symbol_share: the part of the score, in [0, 1], that goes to the passages from which the
            facts about source code were read that the question asks for, where it names symbols:
            see `clew.Symbols`.
        asks: let the question's language model, where it has one, recognise the facts. Where its
            answer cannot be read, names do.

    Example:
        >>> import numpy as np
        >>> import clew
        >>> documents = [clew.Document("ben", "Ben lives on Corfu."), "Cats sleep."]
        >>> facts = {"ben": [("Ben", "lives on", "Corfu")]}
        >>> index = clew.Index.from_documents(documents, facts=facts)
        >>> vector = np.float32(index.embedder.embed_question("Where does Ben live?"))
        >>> seeds = RecognisedFacts().on(index.graph)(clew.Query("Where does Ben live?", vector))
        >>> [index.graph.facts.texts[fact] for fact in seeds.facts]
        ['Ben lives on Corfu']
    """

    max_facts: int = 5
    passage_share: float = 0.5
    passage_seed: Seed = Blend()
    exponent: float = 8.0
    symbol_share: float = 0.7
    asks: bool = True

    @property
    def asks_model(self) -> bool:
        """Whether the question's language model may recognise the facts."""
        return self.asks

    def __post_init__(self) -> None:
        if not 0 <= self.passage_share <= 1:
            raise ValueError(
                "passage_share is the passages' part of the score, from 0 to 1; "
                f"got {self.passage_share}"
            )
        if not 0 <= self.symbol_share <= 1:
            raise ValueError(
                "symbol_share is the part of the score for facts about source code, from 0 to 1; "
                f"got {self.symbol_share}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_by_likeness, find_asked = self._by_likeness(graph), find_asked_facts(graph)

        def find_seeds(query: Query) -> Seeds:
            asked = find_asked(query.text)
            seeds = find_by_likeness(query, len(asked.facts) > 0)
            if not len(asked.facts) or not self.symbol_share:
                return seeds
            written = sharpen_by(asked.passage_scores(graph), seeds.scores)
            others = ~np.isin(seeds.facts, asked.facts)
            ends = np.stack([graph.facts.subjects[asked.facts], graph.facts.objects[asked.facts]])
            return replace(
                seeds,
                scores=(1 - self.symbol_share) * _shares(seeds.scores)
                + self.symbol_share * _shares(written),
                terminals=freeze(
                    list(dict.fromkeys([*ends.T.ravel().tolist(), *seeds.terminals.tolist()])),
                    np.int32,
                ),
                facts=freeze([*asked.facts, *seeds.facts[others]], np.int32),
                fact_scores=freeze([*asked.scores, *seeds.fact_scores[others]], np.float64),
                notes={**seeds.notes, "facts about symbols": len(asked.facts)},
            )

        return find_seeds

    def _by_likeness(self, graph: Graph) -> Callable[[Query, bool], Seeds]:
        every, passage_seed = FactRanking.of(graph), self.passage_seed.on(graph)
        # Names of source code are words of prose, too ("open", "close"): a word in a question shows
        # that a fact about people is meant, but not that one about a function is.
        of_code = graph.part(SymbolTablePart()).is_about_code(graph)
        of_prose = replace(every, has_vector=every.has_vector & ~of_code)

        def find_seeds(query: Query, asks_for_symbols: bool) -> Seeds:
            facts = every if self.asks and query.model is not None else of_prose
            vector = query.vector_for_facts
            obstacle = facts.obstacle(vector)
            are_bare = query.fact_likeness is not None and len(graph.facts) > 0
            near = None
            if vector is not None and not obstacle and not are_bare:
                near = facts.begin_nearest(vector, self.max_facts)
            passages = passage_seed(query)
            notes: dict[str, Any] = dict(passages.notes)

            def without_facts(scores: Floats, why: str) -> Seeds:
                add_notes(notes, {"fallback": f"{why}: the passages alone are the seeds"})
                return Seeds(scores, notes=notes)

            similar = _shares(sharpen(passages.scores, self.exponent))
            if are_bare:
                left_out = None if facts is every else of_code
                most_like = passages.scores, self.max_facts
                ranked, scores = nearest_of_best(graph, query, *most_like, left_out)
            elif near is None:
                is_alone = asks_for_symbols or not len(graph.facts)
                return without_facts(passages.scores if is_alone else similar, obstacle)
            else:
                ranked, scores = near.result()
            is_near = scores > 0  # before names: a fact that is not near links none
            ranked, scores = ranked[is_near], scores[is_near]
            choice = choose_facts(graph, query, freeze(ranked, np.int32), asks=self.asks)
            add_notes(notes, choice.notes)
            recognised, why = choice.mask, NONE_CHOSEN
            if recognised is None:
                recognised = names_mentioned(graph, ranked, query.text)
                why = "none of the nearest facts is recognised"
            nearest, scores = freeze(ranked[recognised], np.int32), scores[recognised]
            if not len(nearest):
                return without_facts(similar, why)
            means, terminals = entity_scores(graph, nearest, scores, self.max_facts)
            mixed = self.passage_share * similar
            mixed[terminals] += (1 - self.passage_share) * (means[terminals] / means.sum())
            return Seeds(
                mixed,
                terminals,
                nearest,
                freeze(scores, np.float64),
                notes,
            )

        return find_seeds


def _shares(scores: Floats) -> Floats:
    """Return the scores divided by their sum; all zeros stay as they are."""
    total = scores.sum()
    return scores / total if total > 0 else scores
