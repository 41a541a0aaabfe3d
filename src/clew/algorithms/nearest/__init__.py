"""The nearest rows by cosine: exactly, or by an HNSW index (Malkov and Yashunin 2020)."""

from clew.algorithms.nearest.exact import nearest_pairs
from clew.algorithms.nearest.hnsw import HNSW, HNSWIndex, recall, tune_ef

__all__ = ["HNSW", "HNSWIndex", "nearest_pairs", "recall", "tune_ef"]
