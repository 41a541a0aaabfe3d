"""A context to look at: as a flowchart in Mermaid's language, as a networkx graph, as one page of HTML."""

from clew.show.flowchart import mermaid
from clew.show.network import to_networkx
from clew.show.page import html
from clew.show.way import told

__all__ = ["html", "mermaid", "to_networkx", "told"]
