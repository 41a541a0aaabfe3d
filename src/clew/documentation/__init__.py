"""Documentation of what an index holds (Kurisu-G2, appendix D)."""

from clew.documentation.documentation import Documentation
from clew.documentation.write import (
    DocumentationEstimate,
    estimate_documentation,
    write_documentation,
)

__all__ = [
    "Documentation",
    "DocumentationEstimate",
    "estimate_documentation",
    "write_documentation",
]
