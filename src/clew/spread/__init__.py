"""What else is worth reading, given the links?  prizes -> prizes.

`BreadthFirst` and `BestFirst` are no stages: they are the searches by which `LocalPageRank` finds
its neighbourhood. `Cues` and `ModelIntent` weigh the types of edge for `BestFirst`.
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.spread._intents import Cues, ModelIntent
    from clew.spread._searches import BestFirst, BreadthFirst
    from clew.spread.influence import Influence
    from clew.spread.local_pagerank import LocalPageRank
    from clew.spread.pagerank import PageRank
    from clew.spread.power import Power
    from clew.spread.rank_discount import RankDiscount
    from clew.spread.substance import Substance
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "_intents": "Cues ModelIntent",
            "_searches": "BestFirst BreadthFirst",
            "influence": "Influence",
            "local_pagerank": "LocalPageRank",
            "pagerank": "PageRank",
            "power": "Power",
            "rank_discount": "RankDiscount",
            "substance": "Substance",
        },
    )

__all__ = [
    "BestFirst",
    "BreadthFirst",
    "Cues",
    "Influence",
    "LocalPageRank",
    "ModelIntent",
    "PageRank",
    "Power",
    "RankDiscount",
    "Substance",
]
