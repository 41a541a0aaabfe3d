"""Compiled loops of transport."""
