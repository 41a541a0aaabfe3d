"""Documentation of what an index holds (Kurisu-G2, appendix D)."""

from clew.documentation.documentation import Documentation
from clew.documentation.question_graphs import QuestionGraphs
from clew.documentation.write import (
    DocumentationEstimate,
    estimate_documentation,
    write_documentation,
)

__all__ = [
    "Documentation",
    "DocumentationEstimate",
    "QuestionGraphs",
    "estimate_documentation",
    "write_documentation",
]
