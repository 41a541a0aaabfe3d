"""What is made of a graph or of contexts, with a language model's help or without: the kinds of Write stage, and documentation."""

from clew.write.descriptions import Descriptions
from clew.write.documentation import Documentation, document, estimate
from clew.write.globally import GlobalAnswer, Point, answer_globally
from clew.write.reports import Reports
from clew.write.summaries import Summaries

__all__ = ["Descriptions", "Documentation", "GlobalAnswer", "Point", "Reports", "Summaries", "answer_globally", "document", "estimate"]
