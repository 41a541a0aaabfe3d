"""Engines for the parts of an index that lives, beside what clew has: words, vectors, columns."""
