"""Personalised PageRank: the full vector to a proven error, the proven best rows, and a walk with uniform jumps."""
