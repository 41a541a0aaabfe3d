"""What is connected to what?  nodes -> edges, once, when the graph is built"""

from clew.link.hyperlink import Hyperlink
from clew.link.layers import Alike, Related
from clew.link.said import Fact, Mentions
from clew.link.shared import Shared
from clew.link.short_form import ShortForm
from clew.link.similar import Similar, Synonym
from clew.link.structure import Contains, Next

__all__ = [
    "Alike",
    "Contains",
    "Fact",
    "Hyperlink",
    "Mentions",
    "Next",
    "Related",
    "Shared",
    "ShortForm",
    "Similar",
    "Synonym",
]
