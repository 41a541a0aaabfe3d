"""Embedders, clew's own and those of other libraries, and the vectors of a graph."""
