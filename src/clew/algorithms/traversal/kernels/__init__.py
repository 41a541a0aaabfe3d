"""Compiled loops of the searches."""
