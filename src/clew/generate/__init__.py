"""Texts that are generated from a graph, with a language model or without, and stored in it."""

from clew.generate.descriptions import Descriptions
from clew.generate.reports import Reports
from clew.generate.summaries import Summaries

__all__ = ["Descriptions", "Reports", "Summaries"]
