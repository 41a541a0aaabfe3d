"""A context to look at: as a flowchart in Mermaid's language, as a networkx graph, as one page of HTML; and where its items stand."""

from clew.show.flowchart import mermaid
from clew.show.network import to_networkx
from clew.show.page import html
from clew.show.place import lines_of, place_of
from clew.show.way import told

__all__ = ["html", "lines_of", "mermaid", "place_of", "to_networkx", "told"]
