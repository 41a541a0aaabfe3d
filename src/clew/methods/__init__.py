"""Methods that are not a plain pipeline of stages, and the stages that only they have."""

from clew.methods.da_rag import CommunitySearch, DaRag
from clew.methods.kurisu import Descent
from clew.methods.router import Router

__all__ = ["CommunitySearch", "DaRag", "Descent", "Router"]
