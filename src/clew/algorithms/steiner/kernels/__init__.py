"""Compiled loops of Steiner trees: lengths, searches, spanning forests."""
