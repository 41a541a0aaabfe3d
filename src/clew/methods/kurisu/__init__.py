"""Kurisu-G2 (ICLR 2026 submission 18441): a descent through the hierarchy of documents.

Where each part of the paper is:
- Algorithms 1 and 2, traversal with fusion and grafting: `traversal`;
- the parameters of appendix B.1.1: `parameters`;
- edge lengths and the fused Gromov-Wasserstein distance, section 2.2: `surroundings` and
  `clew.algorithms.transport`;
- what is read of a path, section 2.3: `passages`;
- what the documents around passages add to their prizes, which is ours: `clew.seed.in_documents`;
- how strengths of edges evolve, section 2.3.2 and appendix B.3: `edge_learning`;
- how fast a path narrows and what that costs, appendices C.1 and C.2: `branching`;
- question clusters and documentation, section 2.4 and Algorithms 3 to 10: `clew.documentation`.
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.methods.kurisu.descent import Descent
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "descent": "Descent",
        },
    )

__all__ = ["Descent"]
