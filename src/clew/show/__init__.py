"""A context to look at: as a flowchart in Mermaid's language, as a networkx graph, as one page of HTML; and where its items stand."""

from clew.show.flowchart import mermaid
from clew.show.location import lines_of, location_of
from clew.show.network import to_networkx
from clew.show.page import html
from clew.show.paths import path_in_words

__all__ = ["html", "lines_of", "location_of", "mermaid", "path_in_words", "to_networkx"]
