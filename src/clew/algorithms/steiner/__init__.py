"""Steiner trees over compressed rows, and the greedy expansion of a tree.

- `steiner_forest` joins terminals by Mehlhorn 1988, Kou, Markowsky and Berman 1981, Takahashi and
  Matsuyama 1980, or exactly by Dreyfus and Wagner 1971.
- `expand_tree` grows such a tree as AGRAG does (arXiv 2511.05549, Algorithm 1, lines 11 to 15).
- `LazyLengths` are edge lengths by a query vector (AGRAG, eq. 6), measured only where a search
  needs them.
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.algorithms.steiner.expansion import RULES, ExpandedTree, edge_weight, expand_tree
    from clew.algorithms.steiner.forest import METHODS, SteinerForest, slot_sources, steiner_forest
    from clew.algorithms.steiner.lengths import LazyLengths
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "expansion": "RULES ExpandedTree edge_weight expand_tree",
            "forest": "METHODS SteinerForest slot_sources steiner_forest",
            "lengths": "LazyLengths",
        },
    )

__all__ = [
    "METHODS",
    "RULES",
    "ExpandedTree",
    "LazyLengths",
    "SteinerForest",
    "edge_weight",
    "expand_tree",
    "slot_sources",
    "steiner_forest",
]
