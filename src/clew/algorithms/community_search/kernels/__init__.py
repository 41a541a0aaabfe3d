"""Compiled loops of truss decomposition and Q-Peel."""
