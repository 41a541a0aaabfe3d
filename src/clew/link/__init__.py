"""Which nodes are joined?  nodes -> edges, once, when the graph is built.

Every `Link` is a frozen dataclass with `kind`, the kind of all edges that it makes, and
`corpus_wide`, whether an edge depends on more nodes than its two ends.
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.link.alike import Alike
    from clew.link.contains import Contains
    from clew.link.fact import Fact
    from clew.link.hyperlink import Hyperlink
    from clew.link.mentions import Mentions
    from clew.link.next import Next
    from clew.link.related import Related
    from clew.link.shared import Shared
    from clew.link.short_form import ShortForm
    from clew.link.similar import Similar
    from clew.link.synonym import Synonym
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "alike": "Alike",
            "contains": "Contains",
            "fact": "Fact",
            "hyperlink": "Hyperlink",
            "mentions": "Mentions",
            "next": "Next",
            "related": "Related",
            "shared": "Shared",
            "short_form": "ShortForm",
            "similar": "Similar",
            "synonym": "Synonym",
        },
    )

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
