"""Methods that are not a plain pipeline of stages, and the stages that only they have."""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.methods.da_rag import CommunitySearch, DaRag
    from clew.methods.kurisu import Descent
    from clew.methods.router import Router
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "da_rag": "CommunitySearch DaRag",
            "kurisu": "Descent",
            "router": "Router",
        },
    )

__all__ = ["CommunitySearch", "DaRag", "Descent", "Router"]
