"""The nearest rows by cosine: exactly, or by an HNSW index (Malkov and Yashunin 2020)."""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.algorithms.nearest.exact import nearest_pairs
    from clew.algorithms.nearest.hnsw import HNSW, HNSWIndex, recall, tune_ef
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "exact": "nearest_pairs",
            "hnsw": "HNSW HNSWIndex recall tune_ef",
        },
    )

__all__ = ["HNSW", "HNSWIndex", "nearest_pairs", "recall", "tune_ef"]
