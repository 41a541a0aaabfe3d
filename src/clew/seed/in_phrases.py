"""Passages that have what a question writes together, such as a version, or puts between quotes.

The parts of "3.0.0", "config.py" or "192.168.0.1" are common: every list of changes has a 3 and
zeros. Together they are rare, and often the whole point (a phrase query; Manning, Raghavan and
Schütze, "Introduction to Information Retrieval", 2008, section 2.4). See `clew.seed.phrases`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from clew.graph import Graph, canonical_text
from clew.seed.blend import best_of
from clew.seed.in_prose import InProse
from clew.seed.phrases import phrases_of, weigh_phrase
from clew.types import Query, Seed, Seeds

FILE_SHARE = 0.5  # of the best score, which the passages of a file have at least
CODE_GAIN = 0.25  # the most that a rare code adds to the factor 1


@dataclass(frozen=True)
class InPhrases:
    """Score by another seed, and higher what has the phrases of the question.

    A phrase is a version, an address or a date in digits, the name of a file, which all passages of
    that file have, a letter with signs (C++, C#), or words between straight quotation marks that
    are no title. A passage with it in its heading has its score multiplied by 1 and a share of
    `gain`, which is the more, the rarer the phrase is. With it in the text alone the share is three
    tenths of that, unless it has signs or stands between quotation marks. What is in a file that is
    named has half of the best score at least.

    A code is a phrase, too: what is written of letters and digits, a long number with signs inside,
    an option of a command, an e-mail address, and a name of a program where no symbols were read.
    What has one that few passages have is above all that has none, in the order of the other seed;
    one that many passages have counts next to nothing.

    Attributes:
        seed: the other seed.
        gain: the most that a phrase adds to the factor 1, >= 0.

    Example:
        >>> from clew import Graph, Query
        >>> from clew.seed import BM25
        >>> graph = Graph.of(["Version 2.0.3", "Version 3.0.0 has 2 new signs"])
        >>> BM25().on(graph)(Query("Is it new in 3.0.0?")).scores.round(2).tolist()
        [0.26, 0.49]
        >>> InPhrases(BM25()).on(graph)(Query("Is it new in 3.0.0?")).scores.round(2).tolist()
        [0.26, 0.79]
    """

    seed: Seed = InProse()
    gain: float = 2.0

    def __post_init__(self) -> None:
        if not self.gain >= 0:
            raise ValueError(
                f"gain is what a phrase adds to the factor 1, at least 0; got {self.gain!r}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_alone = self.seed.on(graph)

        def find_seeds(query: Query) -> Seeds:
            seeds = find_alone(query)
            phrases = phrases_of(canonical_text(graph, query.text))
            if not phrases:  # as most questions
                return seeds
            scores = np.array(seeds.scores, dtype=np.float64)
            for phrase in phrases:
                weights, is_named = weigh_phrase(graph, phrase, seeds.scores)
                best = best_of(seeds.scores)
                if phrase.is_code:  # above the others, which stay near to the best all the same
                    # Several have it: what else the question says decides which of them is first.
                    share = (1 + np.minimum(1, seeds.scores / best)) / 2
                    scores = np.maximum(scores, best * weights) * (1 + CODE_GAIN * share * weights)
                    continue
                scores *= 1 + self.gain * weights
                scores[is_named] = np.maximum(scores[is_named], FILE_SHARE * best)
            return replace(seeds, scores=scores)

        return find_seeds
