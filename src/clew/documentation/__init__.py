"""Documentation out of what an index holds (Kurisu-G2, appendix D)."""

from clew.documentation.documentation import (
    Documentation,
    estimate_documentation,
    write_documentation,
)

__all__ = ["Documentation", "estimate_documentation", "write_documentation"]
