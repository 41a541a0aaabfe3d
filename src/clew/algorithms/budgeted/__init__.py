"""The connected rows of most prize within a token budget: heuristics, bounds and proofs."""
