"""In what order should it be read?  subgraph -> reading."""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.order.by_attention import ByAttention
    from clew.order.by_document import ByDocument
    from clew.order.by_graph import ByGraph
    from clew.order.by_prize import ByPrize
    from clew.order.facts_first import FactsFirst
    from clew.order.reports_last import ReportsLast
    from clew.order.sandwich import Sandwich
    from clew.order.thread import Thread
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "by_attention": "ByAttention",
            "by_document": "ByDocument",
            "by_graph": "ByGraph",
            "by_prize": "ByPrize",
            "facts_first": "FactsFirst",
            "reports_last": "ReportsLast",
            "sandwich": "Sandwich",
            "thread": "Thread",
        },
    )

__all__ = [
    "ByAttention",
    "ByDocument",
    "ByGraph",
    "ByPrize",
    "FactsFirst",
    "ReportsLast",
    "Sandwich",
    "Thread",
]
