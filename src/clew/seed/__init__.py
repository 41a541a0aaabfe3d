"""Where does the question touch the graph?  question -> seeds."""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.seed.blend import Blend
    from clew.seed.bm25 import BM25
    from clew.seed.dense import Dense
    from clew.seed.in_definitions import InDefinitions
    from clew.seed.in_documents import InDocuments
    from clew.seed.in_neighbours import InNeighbours
    from clew.seed.in_own_words import InOwnWords
    from clew.seed.in_passages import InPassages
    from clew.seed.in_phrases import InPhrases
    from clew.seed.in_prose import InProse
    from clew.seed.in_sections import InSections
    from clew.seed.in_summaries import InSummaries
    from clew.seed.linked_facts import LinkedFacts
    from clew.seed.mapped_facts import MappedFacts
    from clew.seed.reciprocal_rank import ReciprocalRank
    from clew.seed.recognised_facts import RecognisedFacts
    from clew.seed.top_seeds import TopSeeds
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "blend": "Blend",
            "bm25": "BM25",
            "dense": "Dense",
            "in_definitions": "InDefinitions",
            "in_documents": "InDocuments",
            "in_neighbours": "InNeighbours",
            "in_own_words": "InOwnWords",
            "in_passages": "InPassages",
            "in_phrases": "InPhrases",
            "in_prose": "InProse",
            "in_sections": "InSections",
            "in_summaries": "InSummaries",
            "linked_facts": "LinkedFacts",
            "mapped_facts": "MappedFacts",
            "reciprocal_rank": "ReciprocalRank",
            "recognised_facts": "RecognisedFacts",
            "top_seeds": "TopSeeds",
        },
    )

__all__ = [
    "BM25",
    "Blend",
    "Dense",
    "InDefinitions",
    "InDocuments",
    "InNeighbours",
    "InOwnWords",
    "InPassages",
    "InPhrases",
    "InProse",
    "InSections",
    "InSummaries",
    "LinkedFacts",
    "MappedFacts",
    "ReciprocalRank",
    "RecognisedFacts",
    "TopSeeds",
]
