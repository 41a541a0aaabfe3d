"""Compiled loops of the Steiner trees."""
