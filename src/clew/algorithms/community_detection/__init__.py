"""Communities by modularity: Louvain and Leiden."""
