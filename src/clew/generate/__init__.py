"""Texts that are generated from a graph, with a language model or without, and stored in it."""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.generate.descriptions import Descriptions
    from clew.generate.reports import Reports
    from clew.generate.summaries import Summaries
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "descriptions": "Descriptions",
            "reports": "Reports",
            "summaries": "Summaries",
        },
    )

__all__ = ["Descriptions", "Reports", "Summaries"]
