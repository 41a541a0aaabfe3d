"""Personalised PageRank: the full vector to a proven error, the proven best rows, uniform jumps.

- `pagerank` and `pageranks` solve for the full vector, by Chebyshev's semi-iteration (Golub and
  Varga 1961) or Gauss and Seidel, with a bound on the error.
- `top_pagerank` finds the best rows by a forward push (Andersen, Chung and Lang 2006), and proves
  them.
- `pagerank_with_jumps` is AGRAG's walk (arXiv 2511.05549, eq. 4), in which every row is reached.
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.algorithms.pagerank.full import Walk, WalkPart, build_walk, pagerank, pageranks
    from clew.algorithms.pagerank.top import TopPageRank, top_pagerank
    from clew.algorithms.pagerank.uniform_jumps import (
        Jumps,
        JumpsPart,
        build_jumps,
        pagerank_over,
        pagerank_with_jumps,
    )
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "full": "Walk WalkPart build_walk pagerank pageranks",
            "top": "TopPageRank top_pagerank",
            "uniform_jumps": "Jumps JumpsPart build_jumps pagerank_over pagerank_with_jumps",
        },
    )

__all__ = [
    "Jumps",
    "JumpsPart",
    "TopPageRank",
    "Walk",
    "WalkPart",
    "build_jumps",
    "build_walk",
    "pagerank",
    "pagerank_over",
    "pagerank_with_jumps",
    "pageranks",
    "top_pagerank",
]
