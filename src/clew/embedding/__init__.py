"""Embedders: those of both frameworks and others, the embedded default, and the vectors of a graph."""
