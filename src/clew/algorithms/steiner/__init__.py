"""Steiner trees over compressed rows, and the greedy expansion of a tree."""
