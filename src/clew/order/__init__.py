"""In what order should it be read?  subgraph -> reading."""

from clew.order.by_attention import ByAttention
from clew.order.by_document import ByDocument
from clew.order.by_graph import ByGraph
from clew.order.by_prize import ByPrize
from clew.order.facts_first import FactsFirst
from clew.order.reports_last import ReportsLast
from clew.order.sandwich import Sandwich
from clew.order.thread import Thread

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
