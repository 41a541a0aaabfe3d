"""A context to look at: as a Mermaid flowchart, a networkx graph or a page of HTML.

`location_of` and `path_in_words` say where an item stands in its document and why it was selected.
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.show.drawable import Drawable
    from clew.show.flowchart import to_mermaid
    from clew.show.location import lines_of, location_of
    from clew.show.network import to_networkx
    from clew.show.page import to_html
    from clew.show.page_file import check_writable, framed, write_html
    from clew.show.paths import path_in_words
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "drawable": "Drawable",
            "flowchart": "to_mermaid",
            "location": "lines_of location_of",
            "network": "to_networkx",
            "page": "to_html",
            "page_file": "check_writable framed write_html",
            "paths": "path_in_words",
        },
    )

__all__ = [
    "Drawable",
    "check_writable",
    "framed",
    "lines_of",
    "location_of",
    "path_in_words",
    "to_html",
    "to_mermaid",
    "to_networkx",
    "write_html",
]
