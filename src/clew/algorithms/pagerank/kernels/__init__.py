"""Compiled loops of PageRank."""
