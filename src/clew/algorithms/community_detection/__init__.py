"""Communities by modularity: Louvain (Blondel et al. 2008) and Leiden (Traag et al. 2019)."""

from clew.algorithms.community_detection.modularity import (
    METHODS,
    CommunityDetection,
    CommunityHierarchy,
    detect_communities,
    modularity,
    propagate_labels,
)

__all__ = [
    "METHODS",
    "CommunityDetection",
    "CommunityHierarchy",
    "detect_communities",
    "modularity",
    "propagate_labels",
]
