"""Maximal marginal relevance."""
